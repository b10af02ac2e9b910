"""What an anonymization returns: the release and everything that is known about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.lattice import Problem, Solution
from tarnkappe.privacy.verify import Verification
from tarnkappe.risk import AttackResult
from tarnkappe.table import State, Table


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """A verified release.

    Attributes:
        input: the table as it was read.
        release: the rows that may leave the house.
        problem: what was solved.
        solution: what the search found.
        state: the classes of the release.
        hierarchies: how each column was generalized.
        population: the population, generalized as the release, if there is one.
        withheld: columns that models judge but that are not released (who a row is about), row by row.
        seconds: how long each stage took.
        verified: what the independent path found for each model.
        attacks: the attacks that were tried on the release, and what they got.
        output: where the release was written.
    """

    input: Table
    release: Table
    problem: Problem
    solution: Solution
    state: State
    hierarchies: Mapping[str, Hierarchy]
    population: Table | None
    withheld: pa.Table
    seconds: Mapping[str, float]
    verified: tuple[Verification, ...] = ()
    attacks: tuple[AttackResult, ...] = ()
    output: str | None = None

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier."""
        assert self.solution.best is not None
        return dict(zip(self.problem.quasi_identifiers, self.solution.best.node, strict=True))

    @property
    def loss(self) -> float:
        """The loss of the release."""
        assert self.solution.best is not None
        return self.solution.best.loss

    @property
    def suppressed(self) -> int:
        """How many rows were suppressed."""
        return self.state.suppressed_rows

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "levels": self.levels,
            "loss": self.loss,
            "loss_measure": self.problem.loss.name,
            "suppressed": self.suppressed,
            "suppression_limit": self.problem.suppression_limit,
            "rows": self.input.num_rows,
            "released_rows": self.release.num_rows,
            "classes": self.state.num_kept,
            "nodes": self.solution.nodes,
            "checked": self.solution.checked,
            "rolled_up": self.solution.rolled_up,
            "seconds": {stage: round(seconds, 6) for stage, seconds in self.seconds.items()},
            "verified": [
                {
                    "model": v.model.name,
                    **{key: _plain(value) for key, value in v.model.parameters.items()},
                    "value": v.value,
                    "holds": v.holds,
                }
                for v in self.verified
            ],
            "attacks": [
                {"attack": a.attack, **a.parameters, "victims": a.victims, "share": a.share}
                for a in self.attacks
            ],
            "algorithm": self.solution.algorithm,
            "optimal": self.solution.optimal,
            "output": self.output,
        }

    def __str__(self) -> str:
        levels = ", ".join(f"{name} {level}" for name, level in self.levels.items())
        checks = "; ".join(f"{v.model}: {v.value:g}" for v in self.verified if v.value is not None)
        rows = f"{self.release.num_rows:,} of {self.input.num_rows:,} rows"
        found, proven = self.solution, "proven optimal" if self.solution.optimal else "not proven optimal"
        return "\n".join(
            [
                f"{rows} in {self.state.num_kept:,} classes",
                f"levels: {levels}",
                f"{self.problem.loss.name}: {self.loss:,.6g} ({proven}, {found.checked:,} of "
                f"{found.nodes:,} nodes checked by {found.algorithm})",
                f"verified: {checks}",
            ]
        )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
