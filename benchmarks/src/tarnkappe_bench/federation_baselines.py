"""What parties can do without a protocol: anonymize at home and put the results together.

It is there to be compared with. Horizontally every party loses more than it had to; vertically the parts
of a table that are anonymous one by one need not be anonymous together, so the parties must take turns, or
leave the classes of the first one as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import NoSolutionError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.lattice import AutoSearch, SearchProblem
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model, needed_distributions, protect
from tarnkappe.table import SUPPRESSED, Column, Levels, Tuples
from tarnkappe.table.encoding import Codes, encode_column

CLASSES = "\0classes"


@dataclasses.dataclass(frozen=True, eq=False)
class Baseline:
    """A table that was put together from parts.

    Attributes:
        release: the rows that are left, quasi-identifiers as text.
        levels: for each part the levels of its quasi-identifiers.
        loss: non-uniform entropy of the whole, that of suppressed rows included: the bits that it takes to
            get the original values back.
    """

    release: pa.Table
    levels: tuple[dict[str, int], ...]
    loss: float


def anonymize_then_concatenate(
    parts: Sequence[pa.Table],
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model],
    loss: Loss,
    suppression_limit: float = 0.0,
) -> Baseline:
    """Every party anonymizes its rows by itself; parties may end at different levels."""
    pieces, written, levels = [], [], []
    for part in parts:
        rows = rows_of_part(part, hierarchies)
        problem = SearchProblem(
            rows.distinct(), _known(part, hierarchies), tuple(models), loss, suppression_limit
        )
        node = _best(problem)
        chosen = dict(zip(problem.quasi_identifiers, node, strict=True))
        kept = _kept(rows, chosen, models)
        shown = generalized(part, rows, chosen)
        pieces.append(shown.filter(pa.array(kept)))
        written.append(_suppressed(shown, chosen, kept))
        levels.append(chosen)
    loss_of_all = cell_entropy(pa.concat_tables(parts), pa.concat_tables(written), levels[0])
    return Baseline(pa.concat_tables(pieces), tuple(levels), loss_of_all)


def anonymize_in_turns(
    parts: Sequence[pa.Table],
    key: str,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model],
    loss: Loss,
) -> Baseline:
    """The first party anonymizes its columns; each further one so far that the classes of all before survive.

    The classes of the parties before it are one more column to it, which cannot be generalized. That tells
    every party who is in a class with whom.
    """
    parts = [part.sort_by(key) for part in parts]
    classes: Codes = np.zeros(parts[0].num_rows, np.int32)
    levels: list[dict[str, int]] = []
    columns: dict[str, pa.ChunkedArray] = {}
    originals: dict[str, pa.ChunkedArray] = {}
    for part in parts:
        own = part.drop_columns([key])
        rows = rows_of_part(own, hierarchies)
        known = _known(own, hierarchies)
        before = Column(CLASSES, classes, pa.array([str(i) for i in range(int(classes.max()) + 1)]))
        rows = Tuples({**rows.columns, CLASSES: before.with_levels(_fixed(before))}, rows.counts)
        problem = SearchProblem(rows.distinct(), (CLASSES, *known), tuple(models), loss)
        chosen = dict(zip(problem.quasi_identifiers, _best(problem), strict=True))
        classes = rows.classes(list(chosen), list(chosen.values())).ids
        levels.append({name: level for name, level in chosen.items() if name != CLASSES})
        written = generalized(own, rows, levels[-1])
        columns |= dict(zip(written.column_names, written.columns, strict=True))
        originals |= dict(zip(own.column_names, own.columns, strict=True))
    release = pa.table(columns)
    every = {name: level for each in levels for name, level in each.items()}
    return Baseline(release, tuple(levels), cell_entropy(pa.table(originals), release, every))


def anonymize_then_join(
    parts: Sequence[pa.Table],
    key: str,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model],
    loss: Loss,
    suppression_limit: float = 0.0,
) -> Baseline:
    """The first party anonymizes its columns; the others generalize just so far that no class of it is split.

    So whatever holds of its classes holds of the joined ones, also what is promised of a sensitive column:
    who has that goes first. The rows that it suppresses nobody releases.
    """
    first, *others = (part.sort_by(key).drop_columns([key]) for part in parts)
    rows = rows_of_part(first, hierarchies)
    problem = SearchProblem(
        rows.distinct(), _known(first, hierarchies), tuple(models), loss, suppression_limit
    )
    levels = [dict(zip(problem.quasi_identifiers, _best(problem), strict=True))]
    kept = _kept(rows, levels[0], models)
    classes = rows.classes(list(levels[0]), list(levels[0].values())).ids[kept]
    pieces = [generalized(first, rows, levels[0])]
    for part in others:
        rows = rows_of_part(part, hierarchies)
        names = _known(part, hierarchies)
        levels.append({name: _least_unsplitting(rows.columns[name], classes, kept) for name in names})
        pieces.append(generalized(part, rows, levels[-1]))
    original = _beside([first, *others])
    release = _beside(pieces)
    every = {name: level for each in levels for name, level in each.items()}
    loss_of_all = cell_entropy(original, _suppressed(release, every, kept), every)
    return Baseline(release.filter(pa.array(kept)), tuple(levels), loss_of_all)


def _least_unsplitting(column: Column, classes: Codes, kept: list[bool]) -> int:
    """The lowest level at which all rows of a class have the same label."""
    assert column.levels is not None
    codes, number = column.codes[kept], len(np.unique(classes))
    pairs = (np.column_stack([classes, labels[codes]]) for labels in column.levels.maps)
    return next(level for level, each in enumerate(pairs) if len(np.unique(each, axis=0)) == number)


def _beside(parts: Sequence[pa.Table]) -> pa.Table:
    return pa.table({name: part.column(name) for part in parts for name in part.column_names})


def cell_entropy(original: pa.Table, release: pa.Table, quasi_identifiers: Mapping[str, int]) -> float:
    """Non-uniform entropy of a release whose cells may be at different levels.

    The sum over all cells of log2 of (rows with the same label / those of them with the same value).
    """
    total = 0.0
    for name in quasi_identifiers:
        value = encode_column(name, original.column(name))
        label = encode_column(name, release.column(name))
        pairs = label.codes.astype(np.int64) * value.cardinality + value.codes
        _, inverse, together = np.unique(pairs, return_inverse=True, return_counts=True)
        total += float(np.log2(label.counts()[label.codes] / together[inverse]).sum())
    return total


def rows_of_part(part: pa.Table, hierarchies: Mapping[str, Hierarchy]) -> Tuples:
    """The rows of a part, encoded."""
    columns = [encode_column(name, part.column(name)) for name in part.column_names]
    return Tuples.of_rows([hierarchies[c.name].attach(c) if c.name in hierarchies else c for c in columns])


def _known(part: pa.Table, hierarchies: Mapping[str, Hierarchy]) -> tuple[str, ...]:
    return tuple(name for name in part.column_names if name in hierarchies)


def _fixed(column: Column) -> Levels:
    ones = np.ones(column.cardinality, np.int64)
    return Levels((np.arange(column.cardinality, dtype=np.int32),), (column.labels,), (ones,))


def _best(problem: SearchProblem) -> tuple[int, ...]:
    best = AutoSearch().run(problem).best
    if best is None:
        raise NoSolutionError(
            "bench.parties-cannot-keep-promise",
            "one of the parties cannot keep the promise with its part alone",
        )
    return best.node


def _suppressed(shown: pa.Table, quasi_identifiers: Mapping[str, int], kept: list[bool]) -> pa.Table:
    """Rows that are not kept tell nothing of their quasi-identifiers."""
    for name in quasi_identifiers:
        hidden = pc.if_else(pa.array(kept), shown.column(name), SUPPRESSED)
        shown = shown.set_column(shown.column_names.index(name), name, hidden)
    return shown


def _kept(rows: Tuples, levels: Mapping[str, int], models: Sequence[Model]) -> list[bool]:
    classes = rows.classes(list(levels), list(levels.values()), needed_distributions(models))
    return [bool(kept) for kept in protect(classes, models).kept[classes.ids]]


def generalized(part: pa.Table, rows: Tuples, levels: Mapping[str, int]) -> pa.Table:
    """A part with its columns at some levels."""
    data = {}
    for name in part.column_names:
        column, level = rows.columns[name], levels.get(name, 0)
        data[name] = part.column(name)
        if column.levels is not None:
            labels = pa.array(column.levels.labels[level], pa.string())
            data[name] = pa.chunked_array([labels.take(pa.array(column.levels.maps[level][column.codes]))])
    return pa.table(data)
