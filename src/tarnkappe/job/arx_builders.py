"""Functional hierarchies of ARX (.ahs): what makes a hierarchy of values, as one of our builders.

Labels are ours: ARX writes the interval from 0 to 5 as `[0, 5[`, we as `0-4`. What they mean is the same.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate, pairwise
from operator import mul
from typing import Any, Final

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.hierarchy import BUILDERS, Builder
from tarnkappe.table.formats.java_stream import (
    JavaEnum,
    JavaObject,
    java_list,
    java_mapping,
    read_java_stream,
    unboxed,
)

MOST_LEVELS: Final = 60
MOST_CUTS: Final = 10_000
PERIODS: Final = {
    "MINUTE_HOUR_DAY_MONTH_YEAR": "minute",
    "HOUR_DAY_MONTH_YEAR": "hour",
    "DAY_MONTH_YEAR": "day",
    "WEEK_YEAR": "week",
    "MONTH_YEAR": "month",
    "QUARTER_YEAR": "quarter",
    "YEAR": "year",
    "DECADE": "decade",
    "CENTURY": "century",
}


class NotCarriedOver(InputError):  # noqa: N818 - it is caught and listed
    """Something of ARX has no equal here; the sentence says what."""


def read_functional_hierarchy(content: bytes) -> Builder:
    """The builder that makes the same groups as the functional hierarchy in a file of ARX.

    Raises:
        NotCarriedOver: if there is none.
    """
    found = read_java_stream(content)
    if len(found) != 1 or not isinstance(found[0], JavaObject):
        raise InputError(
            "job.file-not-hold-functional", "this file does not hold one functional hierarchy of ARX"
        )
    return builder_of(found[0])


def builder_of(given: JavaObject) -> Builder:
    """The builder that makes the same groups as one of ARX."""
    kinds = {
        "HierarchyBuilderIntervalBased": _intervals,
        "HierarchyBuilderOrderBased": _ordered,
        "HierarchyBuilderRedactionBased": _masking,
        "HierarchyBuilderDate": _dates,
        "HierarchyBuilderPriorityBased": _priority,
    }
    if given.name not in kinds:
        raise NotCarriedOver(
            "job.kind-functional-hierarchy-not-known", "this kind of functional hierarchy is not known here"
        )
    try:
        name, parameters = kinds[given.name](given)
        return BUILDERS.create(name, parameters)
    except ParameterError as error:
        raise NotCarriedOver.because(error.reason) from None
    except ArithmeticError:  # numbers of which the smaller one is lost beside the larger one
        raise NotCarriedOver(
            "job.intervals-numbers-too-far-apart", "intervals whose numbers are too far apart"
        ) from None


Made = tuple[str, dict[str, Any]]


def _masking(given: JavaObject) -> Made:
    """ARX aligns where values begin or end, and pads the other side."""
    from_right = _constant(given, "redactionOrder") == "RIGHT_TO_LEFT"
    return "masking", {
        "side": "right" if from_right else "left",
        "character": _text(given, "redactionCharacter"),
        "pad": _text(given, "paddingCharacter"),
        "pad_side": "right" if _constant(given, "aligmentOrder") == "LEFT_TO_RIGHT" else "left",
    }


def _dates(given: JavaObject) -> Made:
    named = [each.constant for each in java_list(given.fields.get("granularities")) if _is_constant(each)]
    unknown = [name for name in named if name not in PERIODS]
    if unknown or not named:
        raise NotCarriedOver(
            "job.periods-dates-not-known",
            "periods of dates that are not known here: {unknown}",
            unknown=", ".join(unknown) or "none",
        )
    if unboxed(given.fields.get("topCoding")) or unboxed(given.fields.get("bottomCoding")):
        raise NotCarriedOver("job.dates-before-after-bound", "dates before or after a bound under one label")
    return "dates", {"levels": [PERIODS[name] for name in named]}


def _priority(_given: JavaObject) -> Made:
    """ARX masks the values of least priority first, equally many on each level."""
    raise NotCarriedOver(
        "job.hierarchy-priority-levels-depend",
        "a hierarchy by priority, whose levels depend on the number of values: the builder 'frequent' is "
        "near",
    )


def _ordered(given: JavaObject) -> Made:
    sizes = _single_sizes(_levels(given))
    if sizes is None or not sizes:
        raise NotCarriedOver(
            "job.groups-different-sizes-level", "groups of different sizes on one level of an order"
        )
    order = _given_order(given.fields.get("comparator"))
    return "ordered", {"size": sizes} | ({"order": order} if order else {})


def _given_order(comparator: Any) -> list[str]:
    """The values in the order that a comparator has stored; none where it compares by type."""
    if not isinstance(comparator, JavaObject):
        return []
    for stored in comparator.fields.values():
        if isinstance(stored, JavaObject) and stored.kind == "java.util.HashMap":
            places = java_mapping(stored)
            if all(isinstance(key, str) and isinstance(at, int) for key, at in places.items()):
                return sorted(places, key=places.__getitem__)
    return []


def _intervals(given: JavaObject) -> Made:
    """Intervals that ARX repeats to both sides, between a bottom and a top."""
    ends = [
        (_number(each.fields.get("min")), _number(each.fields.get("max")))
        for each in java_list(given.fields.get("intervals"))
        if isinstance(each, JavaObject)
    ]
    if not ends or any(low is None or high is None or low >= high for low, high in ends):
        raise NotCarriedOver(
            "job.intervals-not-intervals-numbers", "intervals that are not intervals of numbers"
        )
    edges = [Decimal(low) for low, _ in ends if low is not None]
    edges.append(Decimal(ends[-1][1] or 0))
    if any(high != after for (_, high), (after, _) in pairwise(ends)):
        raise NotCarriedOver("job.intervals-gaps", "intervals with gaps between them")
    bottom, top = _bound(given.fields.get("lowerRange")), _bound(given.fields.get("upperRange"))
    levels = _levels(given)
    sizes = _single_sizes(levels)
    if len(ends) == 1 and sizes is not None:
        widths = list(accumulate(sizes, mul, initial=edges[1] - edges[0]))
        bounds = {"bottom": bottom, "top": top}
        return "intervals", {
            "width": [_plain(width) for width in widths],
            "origin": _plain(edges[0]),
            **{key: _plain(value) for key, value in bounds.items() if value is not None},
        }
    if bottom is None or top is None:
        raise NotCarriedOver(
            "job.intervals-different-widths-repeated",
            "intervals of different widths that are repeated without a bottom and a top",
        )
    return "intervals", {"cuts": _cuts(edges, levels, bottom, top)}


def _cuts(
    edges: list[Decimal], levels: list[list[int]], bottom: Decimal, top: Decimal
) -> list[list[int | float]]:
    """Where the intervals of each level begin; ARX counts groups from the first interval that was given."""
    period = edges[-1] - edges[0]
    if (top - bottom) / period * (len(edges) - 1) > MOST_CUTS:
        raise NotCarriedOver("job.more-intervals", "more than {most_cuts:,} intervals", most_cuts=MOST_CUTS)
    starts = edges[:-1]
    found: list[list[int | float]] = []
    for sizes in [None, *levels]:
        if sizes is not None:
            joined, at = [], 0
            pattern = len(starts)
            if pattern % sum(sizes):
                raise NotCarriedOver(
                    "job.groups-intervals-not-fill", "groups of intervals that do not fill what is repeated"
                )
            while at < pattern:
                for size in sizes:
                    joined.append(starts[at])
                    at += size
            starts = joined
        first = (bottom - edges[0]) // period - 1
        repeats = int((top - bottom) / period) + 3
        every = [start + period * (first + index) for index in range(repeats) for start in starts]
        found.append([_plain(cut) for cut in sorted({bottom, top, *(c for c in every if bottom < c < top)})])
    return found


def _levels(given: JavaObject) -> list[list[int]]:
    """How many groups make one of the next level, level by level."""
    groups = java_mapping(given.fields.get("groups"))
    numbers = sorted(key for key in groups if isinstance(key, int))
    if len(numbers) > MOST_LEVELS:
        raise NotCarriedOver("job.more-levels", "more than {most_levels} levels", most_levels=MOST_LEVELS)
    levels = []
    for number in numbers:
        level = groups[number]
        listed = java_list(level.fields.get("list")) if isinstance(level, JavaObject) else []
        sizes = [_number(each.fields.get("size")) for each in listed if isinstance(each, JavaObject)]
        if len(sizes) > MOST_CUTS or any(size is None or size < 1 for size in sizes):
            raise NotCarriedOver("job.level-groups-without-sizes", "a level of groups without sizes")
        if sizes:
            levels.append([int(size or 0) for size in sizes])
    return levels


def _single_sizes(levels: list[list[int]]) -> list[int] | None:
    """The size of the groups of each level, where there is one; groups of one change nothing."""
    if any(len(sizes) != 1 for sizes in levels):
        return None
    return [sizes[0] for sizes in levels if sizes[0] > 1]


def _bound(given: Any) -> Decimal | None:
    """From where on values are coded as bottom or top; the nearest of the bounds that a range states."""
    if not isinstance(given, JavaObject):
        return None
    stated = [_number(given.fields.get(name)) for name in ("snapBound", "labelBound", "repeatBound")]
    different = {value for value in stated if value is not None}
    if len(different) > 1:
        raise NotCarriedOver("job.intervals-stretched-bound", "intervals that are stretched to a bound")
    return next(iter(different), None)


def _number(value: Any) -> Decimal | None:
    plain = unboxed(value)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        return None
    number = Decimal(repr(plain))
    return number if number.is_finite() else None


def _plain(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)


def _constant(given: JavaObject, name: str) -> str:
    value = given.fields.get(name)
    return value.constant if isinstance(value, JavaEnum) else ""


def _is_constant(value: Any) -> bool:
    return isinstance(value, JavaEnum)


def _text(given: JavaObject, name: str) -> str:
    value = given.fields.get(name)
    if not isinstance(value, str) or len(value) != 1 or "\ud800" <= value <= "\udfff":
        raise NotCarriedOver(
            "job.hierarchy-masks-without-saying", "a hierarchy that masks without saying by which character"
        )
    return value


__all__ = ["NotCarriedOver", "builder_of", "read_functional_hierarchy"]
