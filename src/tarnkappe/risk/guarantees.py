"""The promises on a sensitive column whose strongest kept value is reported, whatever was asked for.

Each is measured by its privacy model. A model is built with a bound, but what it measures of a class
does not depend on the bound, so any will do.

Explained in docs/explanation/guarantees.md.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from tarnkappe.native import compiled
from tarnkappe.privacy import (
    BasicBetaLikeness,
    DeltaDisclosure,
    Direction,
    EqualCloseness,
    HierarchicalCloseness,
    KullbackLeiblerCloseness,
    OrderedCloseness,
    SensitiveModel,
)
from tarnkappe.privacy.distinct_diversity import distinct_values
from tarnkappe.privacy.entropy_diversity import effective_values, entropy_reaches
from tarnkappe.privacy.exact import TOLERANCE
from tarnkappe.privacy.model import Measure, entries_of
from tarnkappe.privacy.shares import largest_share
from tarnkappe.risk.ranking import first_classes
from tarnkappe.risk.report import MeasuredGuarantee
from tarnkappe.table import Classes, Column, Distribution
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Counts


@dataclasses.dataclass(frozen=True)
class Guarantee:
    """A kind of promise in the user's words, and how it is measured.

    Attributes:
        key: its name in JSON.
        title: its name for a reader.
        meaning: what the value says, in a line.
        direction: how a value must compare with a bound.
        measure: the value of each class.
        applies: whether it can be measured on a column.
    """

    key: str
    title: str
    meaning: str
    direction: Direction
    measure: Callable[[Distribution], Measure]
    applies: Callable[[Column], bool] = lambda _: True


def _by_model(create: Callable[[str], SensitiveModel]) -> Callable[[Distribution], Measure]:
    return lambda distribution: create(distribution.column.name).measure_values(distribution)


equal_distances = _by_model(lambda column: EqualCloseness(column, 1))

GUARANTEES = (
    Guarantee(
        "distinct_l",
        "distinct l",
        "values that remain possible for everybody",
        Direction.AT_LEAST,
        distinct_values,
    ),
    Guarantee(
        "entropy_l",
        "entropy l",
        "as uncertain as a draw from so many values",
        Direction.AT_LEAST,
        effective_values,
    ),
    Guarantee(
        "alpha",
        "alpha",
        "share of the most frequent value, at worst",
        Direction.AT_MOST,
        largest_share,
    ),
    Guarantee(
        "t_equal",
        "t (equal)",
        "distance of a class from the whole table",
        Direction.AT_MOST,
        equal_distances,
    ),
    Guarantee(
        "t_ordered",
        "t (ordered)",
        "the same, neighbours in order being closer",
        Direction.AT_MOST,
        _by_model(lambda column: OrderedCloseness(column, 1)),
    ),
    Guarantee(
        "t_hierarchical",
        "t (hierarchical)",
        "the same, values of a category being closer",
        Direction.AT_MOST,
        _by_model(lambda column: HierarchicalCloseness(column, 1)),
        lambda column: column.levels is not None and column.levels.height > 0,
    ),
    Guarantee(
        "t_variational",
        "t (variational)",
        "the equal distance under its older name",
        Direction.AT_MOST,
        equal_distances,
    ),
    Guarantee(
        "t_kullback_leibler",
        "t (Kullback-Leibler)",
        "divergence; blind to values a class lacks",
        Direction.AT_MOST,
        _by_model(lambda column: KullbackLeiblerCloseness(column, 1)),
    ),
    Guarantee(
        "delta_disclosure",
        "delta-disclosure",
        "logarithm of a change in frequency, at worst",
        Direction.LESS_THAN,
        _by_model(lambda column: DeltaDisclosure(column, 1)),
    ),
    Guarantee(
        "beta",
        "beta-likeness",
        "relative gain in frequency, at worst",
        Direction.AT_MOST,
        _by_model(lambda column: BasicBetaLikeness(column, 1)),
    ),
)


def measure_guarantees(classes: Classes, column: str) -> dict[str, MeasuredGuarantee]:
    """What a table promises about a sensitive column, by the key of each guarantee.

    Nothing is measured of a column all of whose cells are suppressed: there is nothing to learn.
    """
    distribution = classes.distributions[column,]
    if not distribution.totals.any():
        return {}
    measure = cache(lambda function: function(distribution))
    return {
        guarantee.key: _worst(classes, distribution, guarantee, measure(guarantee.measure))
        for guarantee in GUARANTEES
        if guarantee.applies(distribution.column)
    }


def _worst(
    classes: Classes, distribution: Distribution, guarantee: Guarantee, measured: Measure
) -> MeasuredGuarantee:
    key = measured if guarantee.direction.high_is_good else -measured
    index = int(first_classes(classes, classes.released, [key], 1)[0])
    value = float(measured[index])
    if guarantee.key == "entropy_l":
        value = _settle(value, distribution, index)
    return MeasuredGuarantee(
        guarantee.key,
        guarantee.title,
        guarantee.meaning,
        guarantee.direction,
        value,
        classes.labels(index),
    )


def _settle(entropy_l: float, distribution: Distribution, class_index: int) -> float:
    """A whole number that is just reached is shown as reached, and one just missed never is.

    Floating point leaves 2.9999999999999996 where the entropy is exactly ln 3.
    """
    whole = round(entropy_l)
    if whole < 1 or abs(entropy_l - whole) > TOLERANCE * whole:
        return entropy_l
    counts = tuple(sorted(count for _, count in entries_of(distribution, class_index)))
    return float(whole) if entropy_reaches(counts, Fraction(whole)) else math.nextafter(whole, 0)


def recursive_thresholds(distribution: Distribution, released: Mask) -> dict[int, float]:
    """For each l from 2 to distinct l, the c above which the table is recursive (c,l)-diverse.

    With the counts of a class in descending order it is the largest r1 / (rl + ... + rd) of all classes.
    """
    least = int(np.diff(distribution.offsets)[released].min(initial=distribution.column.cardinality))
    if least < 2:
        return {}
    thresholds = _recursive_thresholds(distribution.offsets, distribution.counts, released, least)
    return dict(enumerate(thresholds.tolist(), start=2))


@compiled
def _recursive_thresholds(offsets: Counts, counts: Counts, released: Mask, most: int) -> Measure:
    # Sorted once ascending, every tail is a running sum: all l at once, where a model is asked for one. The
    # largest count divided by the tail is the c that a class just fails, and the greatest over all classes is
    # what holds.
    thresholds = np.zeros(most - 1, np.float64)
    for index in range(len(offsets) - 1):
        if not released[index]:
            continue
        ascending = np.sort(counts[offsets[index] : offsets[index + 1]])
        number = len(ascending)
        tail = 0
        for place in range(number):
            tail += ascending[place]
            rank = number - place  # the tail holds the counts from this rank on, l in the definition
            if 2 <= rank <= most:
                thresholds[rank - 2] = max(thresholds[rank - 2], ascending[-1] / tail)
    return thresholds
