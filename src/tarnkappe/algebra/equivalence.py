"""The equivalence checker: are two plans equal, partially equal, or different, and where?

Plans are evaluated exactly (distributions, not samples) on *all* small relations of a `WorldSpace`. A
difference that is found is a counterexample for good. That none is found proves equality on these relations
only; that it holds on all is what the rules' justifications are for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tarnkappe.algebra.distribution import OutcomeDistribution, Rows
from tarnkappe.algebra.kinds import (
    EQUAL,
    NOT_EQUAL,
    Groups,
    Kind,
    partial_generalization,
    partial_slicing,
    refinement,
)
from tarnkappe.algebra.nodes import Generalization, Plan, Relation, SlicingNode
from tarnkappe.algebra.semantics import possible_degree, possible_result
from tarnkappe.algebra.space import WorldSpace, small_spaces
from tarnkappe.algebra.world import World
from tarnkappe.errors import ColumnError


class EquivalenceVerdict(StrEnum):
    """What the checker found."""

    EQUAL = "equal"
    PARTIALLY_EQUAL = "partially equal"
    DIFFERENT = "different"


@dataclass(frozen=True)
class Counterexample:
    """Relations on which two plans differ, with everything that either may return."""

    plans: tuple[Plan, Plan]
    world: World
    left: OutcomeDistribution
    right: OutcomeDistribution

    def as_dict(self) -> dict[str, Any]:
        """The counterexample for machines."""
        return {
            "relations": {name: [list(row) for row in rows] for name, rows in self.world.relations.items()},
            "left": _machine(self.left),
            "right": _machine(self.right),
        }

    def __str__(self) -> str:
        nodes = (node for plan in self.plans for node in plan.walk())
        columns = {node.name: node.columns for node in nodes if isinstance(node, Relation)}
        data = [f"  {name} = {_shown(columns[name], rows)}" for name, rows in self.world.relations.items()]
        left, right = _outcomes(self.left), _outcomes(self.right)
        return "\n".join(["on the relations", *data, "the left returns", *left, "and the right", *right])


@dataclass(frozen=True)
class EquivalenceFinding:
    """How equal two plans are on all worlds of a space.

    Attributes:
        kind: the strongest kind that held in every world.
        worlds: how many worlds were compared.
        undefined: how many were left out because neither plan may run (fewer rows than k or a bucket).
        one_sided: how many were left out because only one of them may run.
        difference: the smallest world in which the plans are not equal, if there is one.
        degrees: the least size of a class in the generalized columns that either plan may release.
        rows: the most rows of a relation that were tried.
        incomplete: in how many of the worlds values may be missing.
        nullable: the columns that were tried with missing values.
        notes: what was changed in the plans to make them small enough.
    """

    kind: Kind
    worlds: int
    undefined: int
    one_sided: int
    difference: Counterexample | None
    degrees: tuple[int | None, int | None]
    rows: int
    incomplete: int = 0
    nullable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> EquivalenceVerdict:
        """Equal, partially equal or different."""
        if self.kind == EQUAL:
            return EquivalenceVerdict.EQUAL
        return EquivalenceVerdict.DIFFERENT if self.kind == NOT_EQUAL else EquivalenceVerdict.PARTIALLY_EQUAL

    def as_dict(self) -> dict[str, Any]:
        """The finding for machines."""
        return {
            "verdict": self.verdict.value,
            "kind": str(self.kind),
            "worlds": self.worlds,
            "rows": self.rows,
            "worlds_with_null": self.incomplete,
            "tried_with_null": list(self.nullable),
            "undefined": self.undefined,
            "one_sided": self.one_sided,
            "degrees": list(self.degrees),
            "difference": self.difference and self.difference.as_dict(),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        left_out = self.undefined + self.one_sided
        lines = [
            f"{self.kind}: compared on {self.worlds} worlds with relations of up to {self.rows} rows"
            + (f", {left_out} left out because a plan has no result there" if left_out else "")
        ]
        if self.incomplete:
            lines.append(f"{self.incomplete} of them with NULL in {', '.join(self.nullable)}")
        if None not in self.degrees:
            least, other = self.degrees
            lines.append(f"released classes have at least {least} rows on the left, {other} on the right")
        return "\n".join([*lines, *self.notes, *([str(self.difference)] if self.difference else [])])


def compare(left: Plan, right: Plan, *spaces: WorldSpace) -> EquivalenceFinding:
    """Compare two plans on all small relations: those of the spaces, or complete and incomplete ones.

    >>> from tarnkappe.algebra.nodes import Randomization, Union
    >>> r, s = Relation("r", ("A",)), Relation("s", ("A",))
    >>> late = Randomization.of(Union(r, s), {"A": "1/4"})
    >>> early = Union(Randomization.of(r, {"A": "1/4"}), Randomization.of(s, {"A": "1/4"}))
    >>> compare(late, early).verdict.value, compare(late, Union(r, s)).verdict.value
    ('equal', 'different')
    """
    if left.schema != right.schema:
        raise ColumnError(
            "algebra.two-plans-return-different",
            "the two plans return different columns, so there is nothing to compare",
        )
    spaces = spaces or small_spaces(left, right)
    columns = generalized(left, right)
    tally = _Tally([EQUAL, *_weaker(left, right)])
    incomplete = 0
    for space in spaces:
        complete = tally.worlds
        for world in space.worlds(left, right):
            sides = [possible_result(plan, world) for plan in (left, right)]
            if None in sides:
                tally.left_out(both=sides == [None, None])
                continue
            results = [side for side in sides if side is not None]
            tally.count(Counterexample((left, right), world, results[0], results[1]), columns)
            if tally.kinds[0] == NOT_EQUAL:
                break
        incomplete += tally.worlds - complete if space.nullable else 0
        if tally.kinds[0] == NOT_EQUAL:
            break
    return EquivalenceFinding(
        tally.kinds[0],
        tally.worlds,
        tally.undefined,
        tally.one_sided,
        tally.difference,
        (tally.degrees[0], tally.degrees[1]) if columns else (None, None),
        max(space.rows for space in spaces),
        incomplete,
        tuple(sorted({column for space in spaces for column in space.nullable})) if incomplete else (),
    )


@dataclass
class _Tally:
    """What the worlds seen so far have shown."""

    kinds: list[Kind]
    worlds: int = 0
    undefined: int = 0
    one_sided: int = 0
    difference: Counterexample | None = None
    degrees: list[int | None] = field(default_factory=lambda: [None, None])

    def left_out(self, *, both: bool) -> None:
        self.undefined += both
        self.one_sided += not both

    def count(self, seen: Counterexample, columns: frozenset[str]) -> None:
        self.worlds += 1
        self.kinds = [kind for kind in self.kinds if kind.holds(seen.left, seen.right)] or [NOT_EQUAL]
        if self.kinds[0] != EQUAL:
            self.difference = self.difference if self.difference and self.kinds[0] != NOT_EQUAL else seen
        for side, result in enumerate((seen.left, seen.right)):
            found = possible_degree(result, columns) if columns else None
            least = self.degrees[side]
            self.degrees[side] = found if least is None else least if found is None else min(least, found)


def generalized(*plans: Plan) -> frozenset[str]:
    """The generalized columns that all these plans return."""
    nodes = (node for plan in plans for node in plan.walk())
    named = (node.attributes for node in nodes if isinstance(node, Generalization))
    return frozenset[str]().union(*named).intersection(*(plan.schema for plan in plans))


def _weaker(left: Plan, right: Plan) -> Iterator[Kind]:
    """The partial kinds that two plans may have, by the operators in them."""
    columns = generalized(left, right)
    if columns:
        yield partial_generalization(columns)
    groups: Groups = frozenset({left.schema})
    for node in (*left.walk(), *right.walk()):
        if isinstance(node, SlicingNode):
            groups = refinement(groups, [*node.groups, left.schema - node.attributes])
    if len(groups) > 1:
        yield partial_slicing(groups)


def _shown(columns: tuple[str, ...], rows: Rows) -> str:
    body = ", ".join("(" + ", ".join("NULL" if c is None else str(c) for c in row) + ")" for row in rows)
    return f"({', '.join(columns)}): {body or 'no rows'}"


def _machine(result: OutcomeDistribution) -> list[dict[str, Any]]:
    ordered = sorted(result, key=lambda outcome: (-outcome[1], repr(outcome[0])))
    return [
        {
            "rows": [
                {c: None if cell is None else str(cell) for c, cell in zip(result.columns, row, strict=True)}
                for row in rows
            ],
            "probability": str(p),
        }
        for rows, p in ordered
    ]


def _outcomes(result: OutcomeDistribution, most: int = 6) -> list[str]:
    likeliest = sorted(result, key=lambda outcome: (-outcome[1], repr(outcome[0])))
    lines = [f"  {_shown(result.columns, rows)} with probability {p}" for rows, p in likeliest[:most]]
    return [*lines, f"  and {len(likeliest) - most} more"] if len(likeliest) > most else lines
