"""Micro-aggregation: everybody in a class gets the same value, which is computed from the values of all.

A column that is aggregated tells numbers that a hierarchy would blur, such as the mean age of a class. Its
values can no longer tell the members of a class apart. But an aggregate is not true of each member, and it is
computed from the rows of the table only: it says nothing of a population.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table import Column
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import group_codes, sum_by_group

Numbers = npt.NDArray[np.float64]


class Aggregation(StrEnum):
    """What the values of a class become."""

    MEAN = "mean"
    GEOMETRIC_MEAN = "geometric-mean"
    MEDIAN = "median"
    MODE = "mode"
    INTERVAL = "interval"
    SET = "set"

    @classmethod
    def parse(cls, text: str) -> Aggregation:
        """The aggregation with this name."""
        try:
            return cls(text)
        except (ValueError, RecursionError):  # what is nested deeply cannot even be told
            raise ParameterError(
                "recoding.unknown-aggregation-use",
                "unknown aggregation '{text}': use {what}",
                text=text,
                what=", ".join(cls),
            ) from None

    @property
    def promise(self) -> str:
        """What is written, in the reader's words."""
        return {
            Aggregation.MEAN: "the mean of the group",
            Aggregation.GEOMETRIC_MEAN: "the geometric mean of the group",
            Aggregation.MEDIAN: "the median of the group",
            Aggregation.MODE: "the most frequent value of the group",
            Aggregation.INTERVAL: "the least and the greatest value of the group",
            Aggregation.SET: "all values of the group",
        }[self]


@dataclasses.dataclass(frozen=True, eq=False)
class Aggregates:
    """The aggregates of a column.

    Attributes:
        function: what was computed.
        of_class: the value that each class gets; missing where all its values are.
        error: how far the aggregates are from the values, see `aggregate`.
        measure: what the error is.
    """

    function: Aggregation
    of_class: pa.Array
    error: float
    measure: str


@dataclasses.dataclass(frozen=True, eq=False)
class _Entries:
    """The values of each class in ascending order with how often they occur; missing ones are left out."""

    classes: Codes
    codes: Codes
    counts: Counts
    sizes: Counts
    """The rows of each class that have a value."""


def aggregate(
    column: Column,
    function: Aggregation,
    classes: Codes,
    num_classes: int,
    weights: Counts,
    order: Sequence[str] | None = None,
) -> Aggregates:
    """Aggregate the values of each class.

    Missing values are passed over; so a class has a missing aggregate only if all its values are missing.
    Of several most frequent values the first is taken, of two middle ones their mean, or the first where
    values are no numbers. The error is, over all rows with a value x and the aggregate a,

    - for numbers, the sum of (x - a)² / the sum of (x - the mean of all)²: 0 if nothing is lost, 1 if the
      aggregates tell no more than the mean of all (*squared error*);
    - for intervals, the mean of their width / that of the whole column (*width*);
    - for sets, the mean of (values in the set - 1) / (values in the column - 1) (*width*);
    - for other values, the share of rows with x other than a (*misses*).

    Args:
        column: the values.
        function: what to compute.
        classes: the class of each row.
        num_classes: how many classes there are.
        weights: how often each row counts; rows that are not released count 0.
        order: the values that are no numbers, in their order.
    """
    numbers = column.numbers
    place = _places(column, function, numbers, order)
    entries = _entries(column, numbers, place, classes, num_classes, weights)
    if function is Aggregation.INTERVAL:
        return _intervals(column, numbers, place, entries)
    if function is Aggregation.SET:
        return _sets(column, entries)
    if numbers is None or function is Aggregation.MODE:
        chosen = _modes(entries) if function is Aggregation.MODE else _middle(entries, upper=False)
        of_class = column.values.take(pa.array(entries.codes[chosen])) if len(chosen) else column.values[:0]
        values = _spread(of_class, entries)
        if numbers is None:
            missed = entries.codes != entries.codes[_at_class(chosen, entries)]
            return Aggregates(function, values, _mean(entries, missed), "misses")
        found = numbers[entries.codes[chosen]]
    else:
        values_of_entries = numbers[entries.codes]
        if function is Aggregation.MEDIAN:
            low, high = _middle(entries, upper=False), _middle(entries, upper=True)
            found = (values_of_entries[low] + values_of_entries[high]) / 2
        elif function is Aggregation.MEAN:
            found = _means(entries, values_of_entries)
        else:
            if np.any(values_of_entries <= 0):
                raise ParameterError(
                    "recoding.column-numbers-not-above-0",
                    "the column '{column}' has numbers that are not above 0, so they have no geometric "
                    "mean: use mean or median",
                    column=column.name,
                )
            found = np.exp(_means(entries, np.log(values_of_entries)))
        values = _spread(_as_values(found, column.values.type), entries)
    return Aggregates(function, values, _squared_error(entries, numbers, found), "squared error")


def _places(
    column: Column, function: Aggregation, numbers: Numbers | None, order: Sequence[str] | None
) -> npt.NDArray[np.int64]:
    """The place of each value in ascending order."""
    if numbers is not None or function in (Aggregation.MODE, Aggregation.SET):
        return np.arange(column.cardinality)
    if function in (Aggregation.MEAN, Aggregation.GEOMETRIC_MEAN):
        raise ColumnError(
            "recoding.column-no-numbers-no-use",
            "the column '{column}' has no numbers and so no {function}: use mode",
            column=column.name,
            function=function,
        )
    if order is None:
        raise ColumnError(
            "recoding.values-no-order-needs",
            "the values of '{column}' have no order, which {function} needs: give the column a hierarchy {{"
            ' builder = "ordered", order = [...] }}, or use mode',
            column=column.name,
            function=function,
        )
    rank = {value: position for position, value in enumerate(order)}
    return np.array([rank.get(label, len(rank)) for label in column.labels])


def _entries(
    column: Column,
    numbers: Numbers | None,
    place: npt.NDArray[np.int64],
    classes: Codes,
    num_classes: int,
    weights: Counts,
) -> _Entries:
    has_value = np.asarray(pc.is_valid(column.values)) if numbers is None else ~np.isnan(numbers)
    rows = np.flatnonzero(has_value[column.codes] & (weights > 0))
    own, codes = classes[rows], column.codes[rows]
    pairs = group_codes([own, codes], [max(num_classes, 1), column.cardinality])
    counts = sum_by_group(pairs.ids, weights[rows], pairs.num_groups)
    own, codes = own[pairs.representatives], codes[pairs.representatives]
    ascending = np.lexsort((place[codes], own))
    own, codes, counts = own[ascending], codes[ascending], counts[ascending]
    return _Entries(own, codes, counts, sum_by_group(own, counts, num_classes))


def _modes(entries: _Entries) -> npt.NDArray[np.int64]:
    """The entry of each class with values that is the most frequent, the first of equals."""
    by_frequency = np.lexsort((np.arange(len(entries.codes)), -entries.counts, entries.classes))
    first = np.unique(entries.classes[by_frequency], return_index=True)[1]
    return by_frequency[first]


def _middle(entries: _Entries, *, upper: bool) -> npt.NDArray[np.int64]:
    """The entry of each class with values in which the middle of its rows lies."""
    present = np.flatnonzero(entries.sizes)
    until = np.cumsum(entries.counts)
    before = np.concatenate([[0], np.cumsum(entries.sizes[present])])[:-1]
    size = entries.sizes[present]
    return np.asarray(np.searchsorted(until, before + (size // 2 if upper else (size - 1) // 2), "right"))


def _means(entries: _Entries, values: Numbers) -> Numbers:
    sums = np.bincount(entries.classes, entries.counts * values, len(entries.sizes))
    present = np.flatnonzero(entries.sizes)
    return np.asarray(sums[present] / entries.sizes[present])


def _intervals(
    column: Column, numbers: Numbers | None, place: npt.NDArray[np.int64], entries: _Entries
) -> Aggregates:
    present = np.flatnonzero(entries.sizes)
    first = np.searchsorted(entries.classes, present, "left")
    last = np.searchsorted(entries.classes, present, "right") - 1
    texts = [
        f"[{column.labels[low]}, {column.labels[high]}]"
        for low, high in zip(entries.codes[first].tolist(), entries.codes[last].tolist(), strict=True)
    ]
    position = place.astype(np.float64) if numbers is None else numbers
    at = position[entries.codes]
    widths = (at[last] - at[first])[_at_class(np.arange(len(present)), entries)]
    whole = float(at.max() - at.min()) if len(at) else 0.0
    error = _mean(entries, widths) / whole if whole else 0.0
    return Aggregates(Aggregation.INTERVAL, _spread(pa.array(texts, pa.string()), entries), error, "width")


def _sets(column: Column, entries: _Entries) -> Aggregates:
    """All values of each class, each once; which of them occurs how often is not told."""
    present = np.flatnonzero(entries.sizes)
    starts = np.searchsorted(entries.classes, present, "left")
    labels = [column.labels[code] for code in entries.codes.tolist()]
    parts = np.split(np.arange(len(labels)), starts[1:]) if len(present) else []
    texts = ["{" + ", ".join(labels[place] for place in part.tolist()) + "}" for part in parts]
    values = np.array([len(part) for part in parts], np.int64)
    others = len(np.unique(entries.codes)) - 1
    hidden = (values - 1)[_at_class(np.arange(len(present)), entries)] if len(present) else np.zeros(0)
    error = _mean(entries, hidden.astype(np.float64)) / others if others > 0 else 0.0
    return Aggregates(Aggregation.SET, _spread(pa.array(texts, pa.string()), entries), error, "width")


def _at_class(of_present: npt.NDArray[np.int64], entries: _Entries) -> npt.NDArray[np.int64]:
    """What each class with values has, for each of its entries."""
    rank = np.cumsum(entries.sizes > 0) - 1
    return np.asarray(of_present[rank[entries.classes]])


def _spread(of_present: pa.Array, entries: _Entries) -> pa.Array:
    """The aggregates of classes with values, as those of all classes."""
    has_value = entries.sizes > 0
    rank = np.where(has_value, np.cumsum(has_value) - 1, 0)
    return of_present.take(pa.array(rank, pa.int64(), mask=~has_value))


def _mean(entries: _Entries, of_entry: npt.NDArray[np.bool_] | Numbers) -> float:
    rows = int(entries.counts.sum())
    return float((entries.counts * of_entry).sum()) / rows if rows else 0.0


def _squared_error(entries: _Entries, numbers: Numbers, found: Numbers) -> float:
    values = numbers[entries.codes]
    center = _mean(entries, values)
    whole = float((entries.counts * (values - center) ** 2).sum())
    aggregates = found[_at_class(np.arange(len(found)), entries)] if len(found) else found
    return float((entries.counts * (values - aggregates) ** 2).sum()) / whole if whole else 0.0


def _as_values(numbers: Numbers, kind: pa.DataType) -> pa.Array:
    """Numbers as values of a column: days as dates, seconds as times, anything else as a fraction."""
    if pa.types.is_date(kind):
        return pa.array(np.rint(numbers).astype(np.int32)).cast(pa.date32()).cast(kind)
    if pa.types.is_timestamp(kind):
        micro = pa.array(np.rint(numbers * 1e6).astype(np.int64))
        return micro.cast(pa.timestamp("us", kind.tz)).cast(kind, safe=False)
    return pa.array(numbers, pa.float64())
