"""Several sensitive columns: one is kept whole, the others are partly suppressed.

A table may be diverse in each sensitive column and yet disclose one through another: whoever can rule out
one diagnosis may be left with a single medication. This method keeps the main column complete, suppresses
cells of the others, and falsifies no correlation.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError, GuaranteeError, InputError
from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.evaluate import needed_distributions
from tarnkappe.privacy.model import as_names
from tarnkappe.privacy.requiring import require, require_whole
from tarnkappe.table import SUPPRESSED, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import as_text, encode_column
from tarnkappe.table.grouping import group_codes, sort_pairs_by_group

GROUP = "group id"


class Rounding(StrEnum):
    """How a share of some rows becomes a number of rows."""

    CEILING = "ceiling"
    """Protects values that occur once in a group."""
    FLOOR = "floor"
    """Leaves values that occur once in a group as they are."""

    def of(self, number: Fraction) -> int:
        """The number of rows."""
        return math.ceil(number) if self is Rounding.CEILING else math.floor(number)


@dataclasses.dataclass(frozen=True)
class Detection:
    """Where one sensitive column is not diverse for who knows the others.

    Attributes:
        model: the diversity that is asked for, given the other columns.
        groups: the ids of the groups that do not have it.
    """

    model: DistinctDiversity
    groups: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class PartlySuppressed:
    """What was done.

    Attributes:
        data: the table, with the suppressed cells as '*'; the columns that lost cells are text.
        suppressed: the rows in which the other sensitive columns were suppressed.
        detected: what the detection rule still finds afterwards, for each sensitive column.
    """

    data: pa.Table
    suppressed: Mask
    detected: tuple[Detection, ...]

    @property
    def safe(self) -> bool:
        """Whether the detection rule finds nothing any more."""
        return not any(detection.groups for detection in self.detected)


def cells_to_suppress(l: int, rows: int, rounding: Rounding = Rounding.CEILING) -> int:
    """In how many of the rows of a group that share a main value the other columns are suppressed.

    >>> [cells_to_suppress(3, rows) for rows in (1, 2, 3, 4)]
    [1, 2, 2, 3]
    """
    return rounding.of((1 - Fraction(1, l)) * rows)


def protect_several(
    data: pa.Table,
    group_ids: Sequence[int] | pa.Array,
    main: str,
    others: Sequence[str],
    l: int,
    *,
    rounding: Rounding = Rounding.CEILING,
    seed: int | None = None,
) -> PartlySuppressed:
    """Suppress the other sensitive columns in a share of 1 - 1/l of the rows of each main value in a group.

    The groups must be l-diverse in the main column. Which rows lose their cells is random: by the operating
    system's randomness, or by a seed for tests. Afterwards the detection rule is run again; what it still
    finds is told and not repaired.
    """
    require_whole("several sensitive columns", "l", l, 2)
    require(
        bool(others),
        "privacy.several-sensitive-columns-name",
        "several sensitive columns: name the other sensitive columns",
    )
    others = as_names(others)
    groups = _encode(data, group_ids, (main, *others))
    _require_diversity(groups, main, l)
    chance: random.Random = random.SystemRandom() if seed is None else random.Random(seed)  # noqa: S311
    codes = [groups.columns[GROUP].codes, groups.columns[main].codes]
    pairs = group_codes(codes, [groups.columns[GROUP].cardinality, groups.columns[main].cardinality])
    order, offsets = sort_pairs_by_group(pairs.ids, pairs.num_groups)
    suppressed = np.zeros(data.num_rows, dtype=bool)
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        rows = order[begin:end].tolist()
        suppressed[chance.sample(rows, cells_to_suppress(l, len(rows), Rounding(rounding)))] = True
    for name in others:
        index = data.column_names.index(name)
        kept = pc.if_else(pa.array(suppressed), SUPPRESSED, as_text(data.column(name)))
        data = data.set_column(index, name, kept)
    return PartlySuppressed(data, suppressed, detect(data, group_ids, (main, *others), l))


def detect(
    data: pa.Table, group_ids: Sequence[int] | pa.Array, sensitive: Sequence[str], l: int
) -> tuple[Detection, ...]:
    """For each sensitive column, the groups that are not l-diverse in it if the others are known.

    The others are counted as quasi-identifiers. That is stricter than an attacker who can rule out one value.
    """
    tuples = _encode(data, group_ids, as_names(sensitive))
    models = [
        DistinctDiversity(name, l, given=tuple(other for other in sensitive if other != name))
        for name in sensitive
    ]
    classes = tuples.classes([GROUP], distributions=needed_distributions(models))
    ids = tuples.columns[GROUP].values.take(pa.array(classes.label_codes(0))).to_pylist()
    detections = []
    for model in models:
        visible = classes.distributions[model.distributions[0]].sizes > 0
        bad = np.flatnonzero(visible & ~model.holds(classes)).tolist()
        detections.append(Detection(model, tuple(sorted(ids[index] for index in bad))))
    return tuple(detections)


def _encode(data: pa.Table, group_ids: Sequence[int] | pa.Array, sensitive: tuple[str, ...]) -> Tuples:
    ids = group_ids if isinstance(group_ids, pa.Array) else pa.array(group_ids, pa.int64())
    if len(ids) != data.num_rows:
        raise InputError(
            "privacy.group-ids-rows",
            "there are {ids} group ids for {num_rows} rows",
            ids=len(ids),
            num_rows=data.num_rows,
        )
    for name in sensitive:
        if name not in data.column_names:
            raise ColumnError(
                "privacy.several-sensitive-table-no-column", "the table has no column '{name}'", name=name
            )
    if len(set(sensitive)) < len(sensitive):
        raise ColumnError("privacy.sensitive-column-named-twice", "a sensitive column is named twice")
    columns = [encode_column(name, data.column(name)) for name in sensitive]
    return Tuples.of_rows([encode_column(GROUP, pa.chunked_array([ids])), *columns])


def _require_diversity(tuples: Tuples, main: str, l: int) -> None:
    model = DistinctDiversity(main, l)
    classes = tuples.classes([GROUP], distributions=model.distributions)
    bad = int(np.count_nonzero(~model.holds(classes)))
    if bad:
        raise GuaranteeError(
            "privacy.groups-fewer-values-make",
            "{bad} {bad:group has|groups have} fewer than {l} values of '{main}': make {bad:it|them} "
            "diverse in it first",
            bad=bad,
            l=l,
            main=main,
        )
