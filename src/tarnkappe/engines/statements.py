"""The statements that engines run, as Ibis expressions: the same for every engine.

Generalization is a join with a table of levels for every quasi-identifier, suppression a join with the table
of the classes that are kept. Columns are numbered inside the statement, so no name of the data can collide
with one of ours, and Ibis quotes the names that it keeps.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ibis
import ibis.expr.datatypes as kinds
import pyarrow as pa

from tarnkappe.table.encoding import Codes

LEVELS = "tarnkappe_levels_{}"
KEPT = "tarnkappe_kept"
NO_LABEL = -1
"""The number of the label of a value that was not there when the tuples were counted: no class has it."""


@dataclasses.dataclass(frozen=True, eq=False)
class LevelTable:
    """How the values of one column are released.

    Attributes:
        column: its name.
        values: the distinct values of the source; a missing one is the last.
        codes: the label of each value, as a number.
        shown: what a row with this value shows in the release.
        own: whether that is the value itself (level 0).
    """

    column: str
    values: pa.Array
    codes: Codes
    shown: pa.Array
    own: bool

    @property
    def missing(self) -> int | None:
        """The place of the missing value, None where no value is missing."""
        last = len(self.values) - 1
        return last if last >= 0 and not self.values[last].is_valid else None

    @property
    def present(self) -> int:
        """How many values there are without the missing one."""
        return len(self.values) - (self.missing is not None)


@dataclasses.dataclass(frozen=True, eq=False)
class ReleasePlan:
    """A release, as instructions for an engine.

    Attributes:
        columns: the columns to release, in their order: identifiers are not among them.
        levels: how each quasi-identifier is released.
        kept: the classes that are released: for each quasi-identifier the labels of all of them, as numbers.
        shuffle: whether the rows come in a random order, else in that of the source.
        key: what makes that order unpredictable: fresh from the operating system for every release.
    """

    columns: tuple[str, ...]
    levels: tuple[LevelTable, ...]
    kept: tuple[Codes, ...]
    shuffle: bool = True
    key: str = dataclasses.field(default_factory=lambda: secrets.token_hex(16), repr=False)


def unused(name: str, names: Iterable[str]) -> str:
    """A name like this one that is not among the others, whatever the case of their letters.

    >>> unused("n", ["age", "N"])
    'n_'
    """
    taken = {other.casefold() for other in names}
    while name.casefold() in taken:
        name += "_"
    return name


def in_words(expression: Any, dialect: str) -> str:
    """An expression in the SQL of an engine."""
    return str(ibis.to_sql(expression, dialect=dialect, pretty=False))


def counting(relation: str, names: Sequence[str], count: str) -> Any:
    """The distinct combinations of some columns, and how often each occurs."""
    table = _table(relation, names)
    return table.group_by(list(names)).aggregate(**{count: table.count()})


def repeating(relation: str, names: Sequence[str]) -> Any:
    """How many rows agree in all these columns with another that is counted already."""
    table = _table(relation, names)
    table = table.select(**{f"c{place}": table[name] for place, name in enumerate(names)})
    named = table.filter(ibis.or_(*(column.notnull() for column in map(table.__getitem__, table.columns))))
    people = named.group_by(list(named.columns)).aggregate(n=named.count())
    return people.aggregate(repeated=(people.n - 1).sum())


def releasing(relation: str, plan: ReleasePlan, row: str, digest: Callable[[Any], Any]) -> Any:
    """The rows of the release, in their order: that of a keyed hash of their numbers, or of the numbers.

    A value that was not there when the tuples were counted has no label, so its rows are in no class that is
    kept; that rows are missing is noticed when the release is verified.
    """
    source = _table(relation, [*plan.columns, row])
    place = {name: f"c{index}" for index, name in enumerate(plan.columns)}
    rows = source.select(**{place[name]: source[name] for name in plan.columns}, row=source[row])
    kept = ibis.table({f"q{index}": kinds.int32 for index in range(len(plan.levels))}, name=KEPT)
    joined, in_a_class, shown = rows, [], {}
    for index, level in enumerate(plan.levels):
        own, table = rows[place[level.column]], _level_table(index, level)
        joined = joined.left_join(table, own == table[f"v{index}"])
        # With a number in place of no label, no engine can take the outer join for an inner one and begin
        # with joining the small tables, which together have far more rows than there are.
        label, text = ibis.coalesce(table[f"k{index}"], NO_LABEL), table[f"s{index}"]
        if level.missing is not None:
            label = ibis.cases((own.isnull(), int(level.codes[level.missing])), else_=label)
            if not level.own:
                text = ibis.cases((own.isnull(), level.shown[level.missing].as_py()), else_=text)
        in_a_class.append(label == kept[f"q{index}"])
        shown[level.column] = text
    order = digest(ibis.literal(plan.key) + rows["row"].cast("string")) if plan.shuffle else rows["row"]
    released = {place[name]: shown.get(name, rows[place[name]]) for name in plan.columns}
    chosen = joined.inner_join(kept, in_a_class).select(**released, row=order).order_by("row")
    return chosen.select(**{name: chosen[place[name]] for name in plan.columns})


def level_rows(index: int, level: LevelTable) -> pa.Table:
    """A table of levels as the statement joins it; a missing value is dealt with in the statement."""
    some = slice(0, level.present)
    return pa.table(
        {
            f"v{index}": level.values[some],
            f"k{index}": pa.array(level.codes[some], pa.int32()),
            f"s{index}": level.shown[some],
        }
    )


def kept_rows(plan: ReleasePlan) -> pa.Table:
    """The table of the classes that are kept."""
    return pa.table({f"q{index}": pa.array(codes, pa.int32()) for index, codes in enumerate(plan.kept)})


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def left(text: str, digits: int) -> str:  # type: ignore[empty-body]
    """The first characters of a text, in every dialect."""


def _table(relation: str, names: Sequence[str]) -> Any:
    """A relation of an engine; what its types are is the engine's business."""
    return ibis.table(dict.fromkeys(names, kinds.unknown), name=relation)


def _level_table(index: int, level: LevelTable) -> Any:
    shown = kinds.unknown if level.own else kinds.string
    columns = {f"v{index}": kinds.unknown, f"k{index}": kinds.int32, f"s{index}": shown}
    return ibis.table(columns, name=LEVELS.format(index))
