"""A slow, obviously correct twin of every loss, cell by cell, in fractions and 40-digit logarithms.

A twin gets the loss and a release, and returns the loss of the release.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

from tests.random_tables import Example, Row

Number = Fraction | Decimal | float
Key = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Release:
    """What one node makes of a table: `kept` are the classes that are released, by their labels."""

    example: Example
    levels: tuple[int, ...]
    kept: frozenset[Key]

    @property
    def names(self) -> tuple[str, ...]:
        return self.example.quasi_identifiers

    @property
    def rows(self) -> list[Row]:
        return self.example.rows

    @cached_property
    def keys(self) -> list[Key]:
        """The class of each row."""
        generalized = self.example.generalized(self.levels)
        return [tuple(str(row[name]) for name in self.names) for row in generalized]

    @cached_property
    def is_kept(self) -> list[bool]:
        return [key in self.kept for key in self.keys]

    @cached_property
    def sizes(self) -> Counter[Key]:
        return Counter(self.keys)

    @property
    def suppressed(self) -> int:
        return self.is_kept.count(False)

    def level(self, name: str) -> int:
        return self.levels[self.names.index(name)]

    def height(self, name: str) -> int:
        return len(self.example.maps[name])

    def label(self, name: str, value: Any, level: int | None = None) -> Any:
        level = self.level(name) if level is None else level
        return self.example.maps[name][level - 1][value] if level else value

    def domain(self, name: str) -> list[Any]:
        """All values that the hierarchy knows; without a hierarchy, those of everybody."""
        if self.example.maps[name]:
            return list(self.example.maps[name][0])
        everyone = self.rows if self.example.population is None else self.example.population
        return list({row[name] for row in everyone})

    def under(self, name: str, value: Any, domain: list[Any]) -> list[Any]:
        """The values that a value cannot be told from once it is generalized."""
        return [other for other in domain if self.label(name, other) == self.label(name, value)]


Twin = Callable[[Any, Release], Number]
TWINS: dict[str, Twin] = {}


def twin(name: str) -> Callable[[Twin], Twin]:
    def register(function: Twin) -> Twin:
        TWINS[name] = function
        return function

    return register


@cache
def log2(number: Fraction) -> Decimal:
    with localcontext(prec=40):
        two = Decimal(2).ln()
        return (Decimal(number.numerator).ln() - Decimal(number.denominator).ln()) / two


def aggregated(loss: Any, values: dict[str, Number]) -> float:
    """The columns as one number, by the definitions of the aggregates."""
    exact = {name: Fraction(value) for name, value in values.items()}
    weight = {name: Fraction(loss.weights.get(name, 1)) for name in values}
    if loss.weighting == "factor":
        greatest = max(weight.values())
        exact = {name: exact[name] * (weight[name] / greatest if greatest else 1) for name in exact}
        weight = dict.fromkeys(exact, Fraction(1))
    if loss.aggregate == "sum":
        return float(sum(weight[name] * exact[name] for name in exact))
    if loss.aggregate in ("maximum", "rank"):
        return float(max(weight[name] * exact[name] for name in exact))
    total = sum(weight.values())
    if loss.aggregate == "mean":
        return float(sum(weight[name] * exact[name] for name in exact) / total)
    product = math.prod(float(1 + exact[name]) ** float(weight[name]) for name in exact)
    return product ** (1 / float(total)) - 1


def per_column(function: Callable[[Any, Release, str], Number]) -> Twin:
    """A twin from what one column loses."""
    return lambda loss, release: aggregated(
        loss, {name: function(loss, release, name) for name in release.names}
    )


def mean_of_cells(share: Callable[[Any, Release, str, Any], Fraction]) -> Twin:
    """A twin from what one kept cell loses and what the coding model charges for it and a suppressed one."""

    def column(loss: Any, release: Release, name: str) -> Fraction:
        coding = Fraction(loss.coding_model)
        kept_price = 1 if coding <= Fraction(1, 2) else 2 - 2 * coding
        suppressed_price = 1 if coding >= Fraction(1, 2) else 2 * coding
        cells = [
            kept_price * share(loss, release, name, row[name]) if kept else Fraction(suppressed_price)
            for row, kept in zip(release.rows, release.is_kept, strict=True)
        ]
        return sum(cells, Fraction(0)) / len(cells)

    return per_column(column)


def height_share(release: Release, name: str) -> Fraction:
    return Fraction(release.level(name), release.height(name)) if release.height(name) else Fraction(0)


def ratio(part: Any, whole: Any) -> Fraction:
    return Fraction(part) / Fraction(whole) if whole else Fraction(0)


twin("height")(per_column(lambda loss, release, name: Fraction(release.level(name))))
twin("precision-star")(per_column(lambda loss, release, name: height_share(release, name)))
twin("precision-cells")(mean_of_cells(lambda loss, release, name, value: height_share(release, name)))
twin("precision")(mean_of_cells(lambda loss, release, name, value: height_share(release, name)))


def arx_prices(loss: Any) -> tuple[Fraction, Fraction]:
    """What suppression and generalization are multiplied by under a factor."""
    factor = Fraction(1, 2) if loss.factor is None else Fraction(loss.factor)
    return min(Fraction(1), 2 * factor), min(Fraction(1), 2 - 2 * factor)


def arx_loss(loss: Any, release: Release, name: str) -> Fraction:
    """Cell by cell, from nothing lost (every kept cell has one leaf) to everything (all leaves)."""
    s, g = arx_prices(loss)
    domain = release.domain(name)
    if loss.leaves == "data":
        domain = [v for v in domain if v in {row[name] for row in release.rows}]
    charge, least, most = Fraction(0), Fraction(0), Fraction(0)
    for row, kept in zip(release.rows, release.is_kept, strict=True):
        share = Fraction(len(release.under(name, row[name], domain)), len(domain))
        charge += g * share if kept else share + s * (1 - share)
        least += g / len(domain)
        most += 1
    return ratio(charge - least, most - least)


def leaf_loss(loss: Any, release: Release) -> Number:
    if loss.factor is None:
        return mean_of_cells(leaf_share)(loss, release)
    return per_column(arx_loss)(loss, release)


twin("loss")(leaf_loss)
twin("loss-geometric-mean")(leaf_loss)


def leaf_share(loss: Any, release: Release, name: str, value: Any) -> Fraction:
    domain = release.domain(name)
    if loss.leaves == "data":
        domain = [v for v in domain if v in {row[name] for row in release.rows}]
    return ratio(len(release.under(name, value, domain)) - 1, len(domain) - 1)


@twin("interval-loss")
@mean_of_cells
def interval_share(loss: Any, release: Release, name: str, value: Any) -> Fraction:
    domain = release.domain(name)
    under = release.under(name, value, domain)
    if name != "a" or not release.example.maps[name]:  # only column 'a' has bounds, see `battery_examples`
        return ratio(len(under) - 1, len(domain) - 1)
    return ratio(max(under) - min(under), max(domain) - min(domain))


@twin("aecs")
def aecs(loss: Any, release: Release) -> Fraction:
    s, g = arx_prices(loss)
    groups = {key if kept else None for key, kept in zip(release.keys, release.is_kept, strict=True)}
    counted = sum((g if group is None else s for group in groups), Fraction(0))
    return Fraction(len(release.rows)) / (counted * Fraction(loss.p))


@twin("aecs-released")
def aecs_released(loss: Any, release: Release) -> Fraction | float:
    groups = {key for key, kept in zip(release.keys, release.is_kept, strict=True) if kept}
    return Fraction(len(release.rows)) / (len(groups) * Fraction(loss.p)) if groups else math.inf


@twin("normalized-class-size")
def normalized_class_size(loss: Any, release: Release) -> Fraction | float:
    groups = {key for key, kept in zip(release.keys, release.is_kept, strict=True) if kept}
    return Fraction(len(release.rows), len(groups)) / loss.k if groups else math.inf


@twin("discernibility")
def discernibility(loss: Any, release: Release) -> Fraction:
    charges = [
        release.sizes[key] if kept else len(release.rows)
        for key, kept in zip(release.keys, release.is_kept, strict=True)
    ]
    return Fraction(sum(charges))


@twin("discernibility-star")
def discernibility_star(loss: Any, release: Release) -> Fraction:
    return Fraction(sum(release.sizes[key] for key in release.keys))


@twin("discernibility-star-released")
def discernibility_star_released(loss: Any, release: Release) -> Fraction:
    pairs = zip(release.keys, release.is_kept, strict=True)
    return Fraction(sum(release.sizes[key] for key, kept in pairs if kept))


def shares_of_original_value(release: Release, name: str) -> list[Fraction]:
    """X of every cell: the rows with its original value among those with its generalized value."""
    column = [row[name] for row in release.rows]
    return [Fraction(column.count(v), len(release.under(name, v, column))) for v in column]


@twin("entropy")
@per_column
def entropy(loss: Any, release: Release, name: str) -> Decimal:
    return -sum(log2(share) for share in shares_of_original_value(release, name))


@twin("entropy-uniform")
@per_column
def entropy_uniform(loss: Any, release: Release, name: str) -> Fraction:
    return -sum(share * Fraction(log2(share)) for share in shares_of_original_value(release, name))


@twin("entropy-suppression-aware")
@per_column
def entropy_suppression_aware(loss: Any, release: Release, name: str) -> Decimal:
    s, g = arx_prices(loss)
    bits = -sum(log2(share) for share in shares_of_original_value(release, name))
    gone = [row[name] for row, kept in zip(release.rows, release.is_kept, strict=True) if not kept]
    charge = -sum(log2(Fraction(len(release.under(name, value, gone)), len(gone))) for value in gone)
    return Decimal(float(g)) * bits + Decimal(float(s)) * charge


@twin("normalized-entropy")
@per_column
def normalized_entropy(loss: Any, release: Release, name: str) -> Fraction:
    column = [row[name] for row in release.rows]
    most = -sum(log2(Fraction(column.count(value), len(column))) for value in column)
    return ratio(-sum(log2(share) for share in shares_of_original_value(release, name)), most)


@twin("classification")
def classification(loss: Any, release: Release) -> Fraction:
    wrong = release.suppressed
    for key in release.kept:
        labels = [row[loss.column] for row, own in zip(release.rows, release.keys, strict=True) if own == key]
        guess, _ = Counter(labels).most_common(1)[0]
        wrong += sum(label != guess for label in labels)
    return Fraction(wrong)


def candidates(release: Release, index: int) -> list[tuple[Any, ...]]:
    """All original records that a row of the release may stand for, one by one."""
    row, kept = release.rows[index], release.is_kept[index]
    domains = [(name, release.domain(name)) for name in release.names]
    return list(
        itertools.product(*(release.under(n, row[n], domain) if kept else domain for n, domain in domains))
    )


@twin("ambiguity")
def ambiguity(loss: Any, release: Release) -> Fraction:
    rows = range(len(release.rows))
    return Fraction(sum(len(candidates(release, index)) for index in rows), len(rows))


@twin("kl-divergence")
def kl_divergence(loss: Any, release: Release) -> Decimal:
    rows = len(release.rows)
    told: Counter[tuple[Any, ...]] = Counter()
    for index in range(rows):
        spread = candidates(release, index)
        for record in spread:
            told[record] += Fraction(1, rows * len(spread))
    assert sum(told.values()) == 1
    truth = Counter(tuple(row[name] for name in release.names) for row in release.rows)
    with localcontext(prec=40):
        return sum(
            Decimal(count) / rows * log2(Fraction(count, rows) / told[record])
            for record, count in truth.items()
        )


def share_left_open(release: Release, index: int) -> Decimal:
    """The logarithm of the leaves under the labels of a row / that of all leaves."""
    row = release.rows[index]
    with localcontext(prec=40):
        left = told = Decimal(0)
        for name in release.names:
            domain = release.domain(name)
            left += log2(Fraction(len(release.under(name, row[name], domain))))
            told += log2(Fraction(len(domain)))
        return left / told if told else Decimal(0)


@twin("entropy-based")
def entropy_based(loss: Any, release: Release) -> float:
    s, g = arx_prices(loss)
    rows = enumerate(release.is_kept)
    return sum(float(g) * float(share_left_open(release, i)) if kept else float(s) for i, kept in rows)


@twin("publisher-payout")
def publisher_payout(loss: Any, release: Release) -> float:
    """Row by row, the attack decided in fractions."""
    s, g = arx_prices(loss)
    everyone = release.example.population if loss.attacker == "journalist" else None
    lost = 0.0
    for index, kept in enumerate(release.is_kept):
        if not kept:
            lost += float(s) * loss.publisher_benefit
            continue
        among = release.sizes[release.keys[index]]
        if everyone is not None:
            names = release.names
            key = [release.label(name, release.rows[index][name]) for name in names]
            among = sum([release.label(name, other[name]) for name in names] == key for other in everyone)
        chance = Fraction(1, among)
        pays = Fraction(loss.adversary_gain) * chance - Fraction(loss.adversary_cost) > 0
        payout = loss.publisher_benefit * (1 - float(share_left_open(release, index)))
        payout -= loss.publisher_loss * float(chance) if pays else 0
        lost += float(g) * (loss.publisher_benefit - payout)
    return lost


twin("static")(
    per_column(
        lambda loss, release, name: Fraction(
            loss.losses[name][release.level(name)] if name in loss.losses else release.level(name)
        )
    )
)
