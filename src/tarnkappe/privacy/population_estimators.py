"""How many people of a population are unique, estimated from the class sizes of a sample.

All estimators look at the frequencies of sizes only: c_i is the number of classes with i rows, n the number
of rows, u of classes, N the size of the population, and f = n / N. Each estimates how many classes of the
population have one member.
"""

from __future__ import annotations

import dataclasses
import math
from enum import StrEnum
from functools import lru_cache

import numpy as np
import scipy  # its parts are loaded when they are used

from tarnkappe.privacy.frequencies import Frequencies, Numbers, log_choose, log_gamma, root
from tarnkappe.privacy.pitman import pitman
from tarnkappe.table.grouping import Counts

NEAR = 0.1
"""A model is used if the population that it implies differs from the stated one by this share at most."""
IMPROBABLE = 0.001
"""A model is not used if its sample would be as unlike the model as it is with a smaller probability."""
FAR_BELOW = 5.0
"""The slide negative binomial is not used if it finds so many times fewer people than Zayatz: it errs to the
low side far more than Zayatz does, even in populations of its own kind."""
COUNTED_TOGETHER = 5.0
"""Sizes of which fewer classes are expected are counted together: the test of fit needs as many."""


class UniquenessEstimator(StrEnum):
    """The ways to estimate."""

    PITMAN = "pitman"
    """Pitman's sampling formula, fitted by maximum likelihood (Hoshino 2001). For small fractions."""
    ZAYATZ = "zayatz"
    """The classes of the population are as large as those of the sample (Zayatz 1991)."""
    SNB = "snb"
    """The slide negative binomial model (Chen and Keller-McNulty 1998), where the sample fits it."""
    DANKAR = "dankar"
    """Pitman up to a fraction of 10 %, above it the lower of SNB and Zayatz (Dankar et al. 2012)."""


@dataclasses.dataclass(frozen=True)
class UniquenessEstimate:
    """How many people of a population are unique.

    Attributes:
        uniques: the estimated number of people.
        share: the same as a share of the population.
        estimator: what it was estimated by; None if nothing had to be estimated, because the sample has no
            unique row or is the whole population, or if no estimator had a solution.
    """

    uniques: float
    share: float
    estimator: UniquenessEstimator | None


def population_uniques(
    sizes: Counts, population_size: int, estimator: UniquenessEstimator
) -> UniquenessEstimate:
    """Estimate how many people of the population are unique in it.

    Where an estimator has no solution, or only one that contradicts the sample or the stated population,
    every unique row is taken for a unique person: no estimate from the sample can be worse.

    >>> population_uniques(np.array([1, 1, 5, 9]), 160, UniquenessEstimator.ZAYATZ).estimator
    <UniquenessEstimator.ZAYATZ: 'zayatz'>
    """
    occurring, counts = np.unique(sizes[sizes > 0], return_counts=True)
    return _estimate(
        Frequencies(tuple(occurring.tolist()), tuple(counts.tolist()), population_size), estimator
    )


@lru_cache(maxsize=4096)
def _estimate(sample: Frequencies, estimator: UniquenessEstimator) -> UniquenessEstimate:
    naive = sample.of_size(1) / sample.fraction if sample.rows else 0.0
    if naive == 0 or sample.rows >= sample.population:
        return UniquenessEstimate(naive, naive / max(sample.population, 1), None)
    chosen, uniques = (
        _dankar(sample) if estimator is UniquenessEstimator.DANKAR else (estimator, _by(estimator, sample))
    )
    if math.isnan(uniques):
        return UniquenessEstimate(naive, naive / sample.population, None)
    uniques = min(max(uniques, 0.0), sample.population)
    return UniquenessEstimate(uniques, uniques / sample.population, chosen)


def _by(estimator: UniquenessEstimator, sample: Frequencies) -> float:
    by = {
        UniquenessEstimator.PITMAN: pitman,
        UniquenessEstimator.ZAYATZ: zayatz,
        UniquenessEstimator.SNB: slide_negative_binomial,
    }
    return by[estimator](sample)


def _dankar(sample: Frequencies) -> tuple[UniquenessEstimator, float]:
    """Dankar's decision rule; Zayatz's estimate, which always exists, stands in for one that does not fit."""
    by_zayatz = zayatz(sample)
    if sample.fraction <= 0.1:
        by_pitman = pitman(sample)
        return (
            (UniquenessEstimator.ZAYATZ, by_zayatz)
            if math.isnan(by_pitman)
            else (UniquenessEstimator.PITMAN, by_pitman)
        )
    by_snb = slide_negative_binomial(sample)
    return (
        (UniquenessEstimator.SNB, by_snb) if by_snb < by_zayatz else (UniquenessEstimator.ZAYATZ, by_zayatz)
    )


def zayatz(sample: Frequencies) -> float:
    """c_1^2 / sum of c_i h_i, with h_i the probability that a class of i people has one in the sample.

    If the classes of the population were as large as those of the sample, a class would have size i with
    probability c_i / u; by Bayes' rule a class with one sampled row then has size 1 with probability
    c_1 h_1 / sum of c_i h_i, with h_1 = f. So many of the c_1 unique rows are unique people, and 1 / f
    times as many are in the population. h_i is hypergeometric: i (N-i choose n-1) / (N choose n).
    """
    sizes, counts = sample.arrays
    n, total = sample.rows, sample.population
    possible = sizes <= total - n + 1
    with np.errstate(invalid="ignore"):
        log_h = np.log(sizes) + log_choose(total - sizes, n - 1) - log_choose(total, n)
    h = np.where(possible, np.exp(log_h), 0.0)
    return float(sample.of_size(1) ** 2 / (counts * h).sum())


def slide_negative_binomial(sample: Frequencies) -> float:
    """K b^a: the population has K classes of 1 + M members, M negative binomial with parameters a and b.

    A class has one member with probability b^a. Let every person be sampled with probability f, and write
    d = (1 - f) (1 - b). The sampled part of M is again negative binomial, and the expected numbers of
    classes with one and with two sampled rows are

        K f (b / (1 - d))^a (1 - d + a d) / (1 - d)  and
        K a (1 - b) f^2 b^a (2 - d + a d) / (2 (1 - d)^(a + 2)).

    K is estimated by Shlosser's modified estimator, and a and b are those for which the two numbers are c_1
    and c_2. For each b the quotient of the two fixes a, by a quadratic equation with one positive root; what
    is left is an equation for b. Of several solutions the one is taken with which the population
    has most nearly N members, K (1 + a (1 - b) / b).

    Two numbers are fitted by two parameters, so that there often is a solution though the model is wrong, and
    b^a then says nothing: it may be 0 beside many unique people. So a solution counts only if the population
    has nearly N members, if all sizes in the sample are as frequent as the model says, and if it is not far
    below Zayatz's estimate. NaN if none does.
    """
    c1, c2, f = sample.of_size(1), sample.of_size(2), sample.fraction
    classes = shlosser(sample)
    if c2 == 0:
        return math.nan

    def parameters(place: Numbers) -> tuple[Numbers, Numbers]:
        b = scipy.special.expit(place)
        d = (1 - f) * (1 - b)
        square, linear = (1 - b) * f * d, (1 - b) * f * (2 - d) - 2 * c2 / c1 * d * (1 - d)
        constant = 2 * c2 / c1 * (1 - d) ** 2
        root = np.sqrt(linear**2 + 4 * square * constant)
        a = np.where(linear > 0, 2 * constant / (root + np.abs(linear)), (root - linear) / (2 * square))
        return a, b

    def missed(place: Numbers) -> Numbers:
        a, b = parameters(place)
        d = (1 - f) * (1 - b)
        ones = np.log(classes * f * (1 - d + a * d) / (1 - d)) + a * np.log(b / (1 - d))
        return np.asarray(ones - math.log(c1))

    places = np.linspace(-12, 12, 241)
    signs = np.sign(missed(places))
    best, nearest = math.nan, NEAR * sample.population
    for index in np.flatnonzero(signs[:-1] * signs[1:] <= 0).tolist():
        place = np.array(root(lambda x: float(missed(np.array(x))), places[index], places[index + 1]))
        a, b = map(float, parameters(place))
        away = abs(classes * (1 + a * (1 - b) / b) - sample.population)
        if away <= nearest and _resembles(sample, classes, a, b):
            best, nearest = classes * b**a, away
    return best if best >= zayatz(sample) / FAR_BELOW else math.nan


def _resembles(sample: Frequencies, classes: float, a: float, b: float) -> bool:
    """Whether the sample has about as many classes of each size as the slide negative binomial expects.

    Of 1 + M people the one is sampled with probability f, and the sampled part of M is negative binomial with
    a and b / (1 - d). Pearson's statistic is compared with chi-square; three numbers were fitted.
    """
    f = sample.fraction
    thinned = b / (1 - (1 - f) * (1 - b))
    sizes = np.arange(max(sample.sizes) + 1)
    log_chances = log_gamma(a + sizes) - log_gamma(a) - log_gamma(sizes + 1.0)
    others = np.exp(log_chances + a * math.log(thinned) + sizes * np.log1p(-thinned))
    expected = classes * ((1 - f) * others[1:] + f * others[:-1])
    larger = max(0.0, classes * (1 - (1 - f) * others[0]) - float(expected.sum()))
    found = np.zeros(len(sizes))
    found[np.array(sample.sizes) - 1] = sample.counts
    cells = _counted_together(np.append(expected, larger), found)
    unlike = sum((seen - due) ** 2 / due for due, seen in cells)
    return bool(scipy.special.chdtrc(max(1, len(cells) - 3), unlike) >= IMPROBABLE)


def _counted_together(expected: Numbers, found: Numbers) -> list[tuple[float, float]]:
    """Neighbouring sizes together, until enough classes are expected of each."""
    cells: list[tuple[float, float]] = []
    due = seen = 0.0
    for more_due, more_seen in zip(expected.tolist(), found.tolist(), strict=True):
        due, seen = due + more_due, seen + more_seen
        if due >= COUNTED_TOGETHER:
            cells.append((due, seen))
            due = seen = 0.0
    last_due, last_seen = cells.pop() if cells else (0.0, 0.0)
    return [*cells, (last_due + due, last_seen + seen)]


def shlosser(sample: Frequencies) -> float:
    """The number of classes in the population, by Shlosser's modified estimator (Haas and Stokes 1998).

    u + c_1 (sum i f^2 (1 - f^2)^(i-1) c_i / sum (1-f)^i ((1+f)^i - 1) c_i)
          x (sum (1-f)^i c_i / sum i f (1-f)^(i-1) c_i)^2
    """
    i, c = sample.arrays
    f = sample.fraction
    ratio = (i * f**2 * (1 - f**2) ** (i - 1) * c).sum() / (((1 - f**2) ** i - (1 - f) ** i) * c).sum()
    unseen = ((1 - f) ** i * c).sum() / (i * f * (1 - f) ** (i - 1) * c).sum()
    return float(sample.classes + sample.of_size(1) * ratio * unseen**2)
