"""Statistics from peer to peer: every institution counts its own patients, adds noise, and shows the others.

There is no central collector. The institutions agree on what is counted and on all values that are counted,
so the presence of a figure tells nothing of a patient. Each adds noise (OpenDP) to its own counts before
anybody sees them: with or without any one patient, what it shows is nearly as likely. It is paid for once
from a budget, and costs nothing more however many institutions read it. Each then adds up what all have
shown.

Sums of noisy counts are off by at most what `noise_bound` says (but for one time in a million), so what the
check concludes from them it concludes from bounds, as from all statistics.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.algebra.noisy.mechanisms import laplace
from tarnkappe.errors import InputError, JobError, ParameterError
from tarnkappe.exchange.sections import built, read_toml, refuse_unknown
from tarnkappe.exchange.statistics.profile import Fits, compared
from tarnkappe.exchange.statistics.store import EVERYBODY, LEAST_POPULATION, PopulationFigure
from tarnkappe.job.release import plain
from tarnkappe.state.statement import Statement
from tarnkappe.table.encoding import Codes, as_text

MOST_CELLS = 100_000
DOUBT = 1e-6
"""How probably a bound on the noise may be wrong."""
OUTSIDE = -1


@dataclasses.dataclass(frozen=True)
class CountTable:
    """One table of counts.

    Attributes:
        of: the attributes by whose values people are counted.
        given: the attribute whose values are conditions; without one it is about everybody.
    """

    of: tuple[str, ...]
    given: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", tuple(self.of))
        if not self.of or len(set(self.attributes)) < len(self.attributes):
            raise ParameterError(
                "exchange.table-counts-names-some", "a table of counts names some attributes, each once"
            )

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes of the table, the condition first."""
        return (self.given, *self.of) if self.given else self.of


@dataclasses.dataclass(frozen=True)
class CountingPlan:
    """What the institutions have agreed to count.

    Attributes:
        values: by attribute, all values that are counted, ranges of numbers among them.
        tables: the tables of counts.
    """

    values: Mapping[str, tuple[str, ...]]
    tables: tuple[CountTable, ...]

    def __post_init__(self) -> None:
        if not self.tables:
            raise ParameterError(
                "exchange.plan-shared-statistics-no-tables", "the plan of the shared statistics has no tables"
            )
        for table in self.tables:
            for name in table.attributes:
                if not self.values.get(name):
                    raise ParameterError(
                        "exchange.plan-shared-statistics-names",
                        "the plan of the shared statistics names no values of '{name}'",
                        name=name,
                    )
            if self.cells(table) > MOST_CELLS:
                raise ParameterError(
                    "exchange.table-shared-statistics-more-cells",
                    "a table of the shared statistics has more than {most_cells} cells",
                    most_cells=MOST_CELLS,
                )

    @classmethod
    def load(cls, path: str | Path) -> CountingPlan:
        """Read a plan: a section [values] and one [[tables]] for each table."""
        content = read_toml(path, "plan of the shared statistics")
        refuse_unknown(content, ("values", "tables"), f"section of {path}")
        values = {str(name): tuple(map(str, said)) for name, said in content.get("values", {}).items()}
        if not isinstance(content.get("tables", []), list):
            raise JobError(
                "exchange.write-tables-table", "{path}: write [[tables]] for each table", path=path
            )
        return cls(
            values,
            tuple(built(CountTable, said, f"[[tables]] of {path}") for said in content.get("tables", [])),
        )

    @property
    def digest(self) -> str:
        """Stands for the whole plan: only figures by the same plan can be added up."""
        return Statement("plan of statistics", dataclasses.asdict(self)).digest

    @property
    def attributes(self) -> tuple[str, ...]:
        """Everything that is counted by."""
        return tuple(dict.fromkeys(name for table in self.tables for name in table.attributes))

    def cells(self, table: CountTable) -> int:
        """How many cells a table has."""
        return math.prod(len(self.values[name]) for name in table.attributes)

    def keys(self, table: CountTable) -> list[tuple[str, ...]]:
        """The cells of a table, by their values."""
        return list(itertools.product(*(self.values[name] for name in table.attributes)))


@dataclasses.dataclass(frozen=True)
class Shown:
    """What one institution has shown: noisy counts, in the order of the plan's cells.

    Attributes:
        institution: whose patients were counted.
        plan: the digest of the plan.
        epsilon: what it promises its patients: all tables together.
        counts: for each table its cells.
        made: when.
    """

    institution: str
    plan: str
    epsilon: Fraction
    counts: tuple[tuple[int, ...], ...]
    made: datetime

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "institution": self.institution,
            "plan": self.plan,
            "epsilon": str(self.epsilon),
            "counts": [list(cells) for cells in self.counts],
            "made": self.made.isoformat(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], plan: CountingPlan) -> Shown:
        """From plain data, as another institution sends it; anything amiss is refused."""
        try:
            made = datetime.fromisoformat(data["made"])
            shown = cls(
                str(data["institution"]),
                str(data["plan"]),
                Fraction(str(data["epsilon"])),
                tuple(tuple(int(cell) for cell in cells) for cells in data["counts"]),
                made,
            )
            right = made <= datetime.now(UTC) and shown.epsilon > 0
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise InputError("exchange.no-shared-statistics", "these are no shared statistics") from None
        if shown.plan != plan.digest or [len(cells) for cells in shown.counts] != list(
            map(plan.cells, plan.tables)
        ):
            raise InputError(
                "exchange.statistics-counted-another-plan",
                "these statistics were counted by another plan: agree on one first",
            )
        if not right:
            raise InputError(
                "exchange.statistics-future-promise",
                "these statistics are from the future, or promise nothing",
            )
        return shown


def count(people: pa.Table, plan: CountingPlan, institution: str, epsilon: Fraction) -> Shown:
    """Count the patients of an institution, one row each, and add noise.

    A patient is in one cell of each table at most, so each table is given its share of the epsilon.

    Args:
        people: the columns of the plan.
        plan: what is counted.
        institution: whose patients they are.
        epsilon: what all tables together may spend. It must have been spent before.
    """
    if not epsilon > 0:
        raise ParameterError("exchange.epsilon-greater-0", "an epsilon is greater than 0")
    codes = {name: _codes(people.column(name), plan.values[name]) for name in plan.attributes}
    noisy = []
    for table in plan.tables:
        cells, inside = np.zeros(people.num_rows, np.int64), np.ones(people.num_rows, dtype=bool)
        for name in table.attributes:
            cells = cells * len(plan.values[name]) + codes[name]
            inside &= codes[name] != OUTSIDE
        counted = np.bincount(cells[inside], minlength=plan.cells(table))
        noisy.append(tuple(laplace(counted.tolist(), 1, epsilon / len(plan.tables))))
    return Shown(institution, plan.digest, epsilon, tuple(noisy), datetime.now(UTC))


def combined(several: Sequence[Shown], plan: CountingPlan) -> list[PopulationFigure]:
    """The figures of all institutions together, where they are about enough people to be statistics."""
    facts: list[PopulationFigure] = []
    scales = [len(plan.tables) / float(shown.epsilon) for shown in several]
    names = ", ".join(sorted(shown.institution for shown in several))
    source = f"patients of {names}, counted with noise"
    since = max((shown.made for shown in several), default=datetime.now(UTC)).date()
    for number, table in enumerate(plan.tables):
        sums = np.sum([shown.counts[number] for shown in several], axis=0)
        parts = len(plan.values[table.given]) if table.given else 1
        keys = np.array(plan.keys(table), dtype=object).reshape(parts, -1, len(table.attributes))
        doubt = DOUBT / (sums.size + parts)
        off, off_total = (noise_bound(scales, each, doubt) for each in (1, sums.size // parts))
        for cells, own in zip(sums.reshape(parts, -1), keys, strict=True):
            total = int(cells.sum())
            if total - off_total < LEAST_POPULATION:
                continue
            condition = (table.given, str(own[0][0])) if table.given else EVERYBODY
            for cell, key in zip(cells.tolist(), own, strict=True):
                values = dict(zip(table.of, map(str, key[-len(table.of) :]), strict=True))
                facts.append(_fact(condition, values, cell, total, off, off_total, source, since))
    return facts


def _fact(
    condition: tuple[str, str],
    values: Mapping[str, str],
    cell: int,
    total: int,
    off: float,
    off_total: float,
    source: str,
    since: date,
) -> PopulationFigure:
    share = min(max(cell / total, 0.0), 1.0)
    least = max((cell - off) / (total + off_total), 0.0)
    most = min((cell + off) / (total - off_total), 1.0)
    return PopulationFigure(condition, values, share, total, source, since, max(share - least, most - share))


def noise_bound(scales: Sequence[float], cells: int, doubt: float) -> float:
    """By how much a sum of so many noisy cells of each institution is off at most, but for a doubt.

    Of few, none is off by more than its own tail allows. A sum of many independent Laplace variables with
    scales b has tails P(|S| > t) <= 2 exp(-t² / 8v²) for every v of at least the root of their sum of squares
    and every t up to v² √8 / max b.

    >>> round(noise_bound([1.0], 1, 1e-6), 1), round(noise_bound([1.0], 100, 1e-6), 1)
    (14.5, 107.7)
    """
    need = math.log(2 / doubt)
    spread = math.sqrt(cells * sum(scale**2 for scale in scales))
    many = math.sqrt(8 * need) * max(spread, max(scales) * math.sqrt(need))
    few = cells * sum(scales) * math.log(2 * cells * len(scales) / doubt)
    return min(few, many)


def _codes(column: pa.ChunkedArray, values: Sequence[str]) -> Codes:
    """The place of every cell among the values that are counted, as itself or in a range."""
    texts = as_text(plain(column)).combine_chunks().dictionary_encode()
    places = [OUTSIDE if text is None else _place(text, values) for text in texts.dictionary.to_pylist()]
    found = np.array([*places, OUTSIDE], np.int32)
    return found[np.asarray(texts.indices.fill_null(len(places)), dtype=np.int64)]


def _place(text: str, values: Sequence[str]) -> int:
    if text in values:
        return values.index(text)
    return next(
        (place for place, value in enumerate(values) if compared(text, value) is Fits.INSIDE), OUTSIDE
    )
