"""Rows as they are written when not all of them are at the same levels.

A row is recoded at the levels of the pass that kept it. Rows with the same values of the quasi-identifiers go
the same way, so this is one function of these values, for the table and for a population alike. Classes are
those of the written values: what two passes write alike is one class, whatever the levels it came from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.lattice import Node
from tarnkappe.privacy import Model, needed_distributions, protect
from tarnkappe.recoding.climbed import climbed_levels
from tarnkappe.table import MISSING, SUPPRESSED, ClassState, Column, Levels, Tuples, encoding
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import group_codes

LEFT_OUT = -1
"""The pass of a row that no pass kept."""

LEFT_OUT_LABEL = "(suppressed)"
"""How a row that is left out is shown, where it must be shown at all."""

Parts = npt.NDArray[np.int32]
"""For each row (of the table, then of a population) the pass that kept it."""

Bounds = npt.NDArray[np.float64]


def split(
    rows: Tuples, quasi_identifiers: Sequence[str], nodes: Sequence[Node], models: Sequence[Model]
) -> Parts:
    """Apply one node after the other: each keeps the classes that meet the models and leaves the others."""
    parts: Parts = np.full(rows.num_tuples, LEFT_OUT, dtype=np.int32)
    for number, node in enumerate(nodes):
        left = parts == LEFT_OUT
        table = rows if left.all() else rows.part(left)
        classes = table.classes(quasi_identifiers, node, needed_distributions(models))
        parts[left & protect(classes, models).kept[classes.ids]] = number
    return parts


@dataclasses.dataclass(frozen=True, eq=False)
class Extents:
    """How much each written value may stand for.

    Attributes:
        leaves: how many values of the hierarchy.
        bounds: the least and the greatest number among them; looked at where the hierarchy has numbers.
    """

    leaves: Counts
    bounds: Bounds


@dataclasses.dataclass(frozen=True, eq=False)
class WrittenColumn:
    """One quasi-identifier as it is written.

    Attributes:
        codes: for each row, the code of its value.
        values: the values as they are written, by code.
        left_out: the code of rows that are not written, if there are any.
        extents: how much each value may stand for, where the hierarchy alone does not tell; what is no label
            of the hierarchy may otherwise stand for anything.
    """

    codes: Codes
    values: pa.Array
    left_out: int | None = None
    extents: Extents | None = None

    def rows(self, start: int, stop: int) -> pa.Array:
        """The values of some rows."""
        return self.values.take(pa.array(self.codes[start:stop], pa.int32()))

    @property
    def labels(self) -> tuple[str, ...]:
        """The values as text."""
        texts = [MISSING if text is None else text for text in encoding.as_text(self.values).to_pylist()]
        if self.left_out is not None:
            texts[self.left_out] = LEFT_OUT_LABEL
        return tuple(texts)


def write_column(
    column: Column,
    levels: Sequence[int],
    parts: Parts,
    *,
    starred: bool = False,
    suppressed: bool = False,
    as_text: bool = False,
) -> WrittenColumn:
    """A quasi-identifier, each row at the level of its pass.

    Args:
        column: the values.
        levels: the level of the column in each pass.
        parts: the pass of each row.
        starred: whether rows that no pass kept are written as '*'; otherwise they are left out.
        suppressed: whether the whole column is written as '*'.
        as_text: whether rows that are left out must be shown, as those of a population are.
    """
    own = column.levels
    assert own is not None, "a quasi-identifier has a hierarchy"
    used = sorted({levels[part] for part in np.unique(parts).tolist() if part != LEFT_OUT})
    left = parts == LEFT_OUT
    if suppressed:
        values = pa.array([SUPPRESSED])
        codes_at = {level: np.zeros(column.cardinality, np.int32) for level in used}
    elif len(used) == 1 and not ((starred or as_text) and left.any()):
        values = column.values if used[0] == 0 else pa.array(own.labels[used[0]], pa.string())
        codes_at = {used[0]: own.maps[used[0]]}
    else:
        values, codes_at = _one_text(column, used)
    codes = np.zeros(len(parts), dtype=np.int32)
    for number, level in enumerate(levels):
        chosen = parts == number
        if chosen.any():
            codes[chosen] = codes_at[level][column.codes[chosen]]
    if not left.any():
        return WrittenColumn(codes, values)
    codes[left] = values.index(SUPPRESSED).as_py() if starred else len(values)
    if starred:
        return WrittenColumn(codes, values)
    nothing = pa.array([LEFT_OUT_LABEL]) if as_text else pa.nulls(1, values.type)
    return WrittenColumn(codes, pa.concat_arrays([values, nothing]), left_out=len(values))


def _one_text(column: Column, used: Sequence[int]) -> tuple[pa.Array, dict[int, Codes]]:
    """The labels of some levels and '*' as one list of texts, each once, and the code of each value in it."""
    own = column.levels
    assert own is not None
    place: dict[str, int] = {}
    for level in used:
        for label in own.labels[level]:
            place.setdefault(label, len(place))
    place.setdefault(SUPPRESSED, len(place))
    codes_at = {
        level: np.array([place[label] for label in own.labels[level]], dtype=np.int32)[own.maps[level]]
        for level in used
    }
    is_missing = 0 in used and column.values.null_count > 0
    return pa.array(
        [None if is_missing and text == MISSING else text for text in place], pa.string()
    ), codes_at


def leave_out(written: WrittenColumn, column: Column, kept: Mask, *, as_text: bool = False) -> WrittenColumn:
    """The same column without the rows that are not kept; with `as_text` they must be shown all the same."""
    if kept.all():
        return written
    values = encoding.as_text(written.values) if as_text else written.values
    nothing = pa.array([LEFT_OUT_LABEL]) if as_text else pa.nulls(1, values.type)
    place, extents = len(values), written.extents
    if extents is not None:
        assert column.levels is not None, "a quasi-identifier has a hierarchy"
        extents = Extents(
            np.append(extents.leaves, column.levels.domain_size),
            np.vstack([extents.bounds, [whole_bounds(column.levels)]]),
        )
    codes = np.where(kept, written.codes, place).astype(np.int32)
    return WrittenColumn(codes, pa.concat_arrays([values, nothing]), place, extents)


def written_state(
    rows: Tuples, written: Mapping[str, WrittenColumn], distributions: Sequence[tuple[str, ...]]
) -> ClassState:
    """The classes of the written values; all are kept but the rows that are left out.

    So that every loss can measure them, a column has on level 0 the pairs of an original and a written value,
    on level 1 the written values and above them a root.
    """
    columns = dict(rows.columns)
    for name, own in written.items():
        columns[name] = _paired(columns[name], own)
    tuples = dataclasses.replace(rows, columns=columns)
    classes = tuples.classes(tuple(written), (1,) * len(written), distributions)
    kept = classes.released.copy()
    first = next(iter(written.values()))
    if first.left_out is not None:
        kept &= classes.label_codes(0) != first.left_out
    return ClassState(classes, kept)


def _paired(column: Column, written: WrittenColumn) -> Column:
    own = column.levels
    assert own is not None
    pairs = group_codes([column.codes, written.codes], [column.cardinality, len(written.values)])
    originals, codes = column.codes[pairs.representatives], written.codes[pairs.representatives]
    extents = written.extents or known_extents(own, written.labels)
    labels = written.labels
    words = [labels[code] for code in codes.tolist()]
    climbed = climbed_levels(own, originals, words, extents.leaves[codes])
    levels = Levels(
        maps=(np.arange(len(codes), dtype=np.int32), codes, np.zeros(len(codes), np.int32)),
        labels=(tuple(column.labels[code] for code in originals.tolist()), written.labels, (SUPPRESSED,)),
        leaves=(np.ones(len(codes), np.int64), extents.leaves, np.array([own.domain_size], np.int64)),
        bounds=None
        if own.bounds is None
        else (own.bounds[0][originals], extents.bounds, np.array([whole_bounds(own)], np.float64)),
        climbed=(np.zeros(len(codes), np.int64), climbed, np.full(len(codes), own.height, np.int64)),
    )
    return Column(column.name, pairs.ids, column.values.take(pa.array(originals)), levels)


def known_extents(levels: Levels, labels: Sequence[str]) -> Extents:
    """How many values each label may stand for, and the least and the greatest number among them.

    A label that stands on several levels counts as the most general of them, since a reader cannot tell.
    What is no label of the hierarchy may stand for anything.
    """
    leaves: dict[str, int] = {}
    bounds: dict[str, tuple[float, float]] = {}
    for level in range(levels.height + 1):
        for code, label in enumerate(levels.labels[level]):
            leaves[label] = max(int(levels.leaves[level][code]), leaves.get(label, 0))
            if levels.bounds is not None:
                low, high = bounds.get(label, (np.nan, np.nan))
                least, most = levels.bounds[level][code]
                bounds[label] = float(np.fmin(low, least)), float(np.fmax(high, most))
    leaves[SUPPRESSED], whole = levels.domain_size, whole_bounds(levels)
    return Extents(
        np.array([leaves.get(label, levels.domain_size) for label in labels], dtype=np.int64),
        np.array([bounds.get(label, whole) for label in labels], dtype=np.float64).reshape(-1, 2),
    )


def whole_bounds(levels: Levels) -> tuple[float, float]:
    """The least and the greatest number of a hierarchy."""
    if levels.bounds is None:
        return np.nan, np.nan
    return float(np.fmin.reduce(levels.bounds[-1][:, 0])), float(np.fmax.reduce(levels.bounds[-1][:, 1]))
