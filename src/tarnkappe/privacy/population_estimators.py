"""How many people of a population are unique, estimated from the class sizes of a sample.

All estimators look at the frequencies of sizes only: c_i is the number of classes with i rows, n the number
of rows, u of classes, N the size of the population, and f = n / N. Each estimates how many classes of the
population have one member.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are used

from tarnkappe.table.grouping import Counts

Numbers = npt.NDArray[np.float64]
NEAR = 0.1
"""A model is used if the population that it implies differs from the stated one by this share at most."""
IMPROBABLE = 0.001
"""A model is not used if its sample would be as unlike the model as it is with a smaller probability."""
FAR_BELOW = 5.0
"""The slide negative binomial is not used if it finds so many times fewer people than Zayatz: it errs to the
low side far more than Zayatz does, even in populations of its own kind."""
NEWTON_STEPS, NEWTON_ENDS, LEAST_A = 40, 1e-11, 1e-3
"""The most steps; how short the last one is; nearer to 0 and 1 than this Newton's method is not tried."""
COUNTED_TOGETHER = 5.0
"""Sizes of which fewer classes are expected are counted together: the test of fit needs as many."""


class Estimator(StrEnum):
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
class Estimate:
    """How many people of a population are unique.

    Attributes:
        uniques: the estimated number of people.
        share: the same as a share of the population.
        estimator: what it was estimated by; None if nothing had to be estimated, because the sample has no
            unique row or is the whole population, or if no estimator had a solution.
    """

    uniques: float
    share: float
    estimator: Estimator | None


@dataclasses.dataclass(frozen=True)
class Frequencies:
    """The class sizes of a sample that occur, how many classes have them, and the size of the population."""

    sizes: tuple[int, ...]
    counts: tuple[int, ...]
    population: int

    @property
    def rows(self) -> int:
        """The number n of rows in the sample."""
        return sum(size * count for size, count in zip(self.sizes, self.counts, strict=True))

    @property
    def classes(self) -> int:
        """The number u of classes in the sample."""
        return sum(self.counts)

    def of_size(self, size: int) -> int:
        """The number of classes of one size."""
        return self.counts[self.sizes.index(size)] if size in self.sizes else 0

    @property
    def fraction(self) -> float:
        """The sampled fraction of the population."""
        return self.rows / self.population

    @property
    def arrays(self) -> tuple[Numbers, Numbers]:
        """The sizes and how many classes have them."""
        return np.array(self.sizes, dtype=np.float64), np.array(self.counts, dtype=np.float64)


def population_uniques(sizes: Counts, population_size: int, estimator: Estimator) -> Estimate:
    """Estimate how many people of the population are unique in it.

    Where an estimator has no solution, or only one that contradicts the sample or the stated population,
    every unique row is taken for a unique person: no estimate from the sample can be worse.

    >>> population_uniques(np.array([1, 1, 5, 9]), 160, Estimator.ZAYATZ).estimator
    <Estimator.ZAYATZ: 'zayatz'>
    """
    occurring, counts = np.unique(sizes[sizes > 0], return_counts=True)
    return _estimate(
        Frequencies(tuple(occurring.tolist()), tuple(counts.tolist()), population_size), estimator
    )


@lru_cache(maxsize=4096)
def _estimate(sample: Frequencies, estimator: Estimator) -> Estimate:
    naive = sample.of_size(1) / sample.fraction if sample.rows else 0.0
    if naive == 0 or sample.rows >= sample.population:
        return Estimate(naive, naive / max(sample.population, 1), None)
    chosen, uniques = (
        _dankar(sample) if estimator is Estimator.DANKAR else (estimator, _by(estimator, sample))
    )
    if math.isnan(uniques):
        return Estimate(naive, naive / sample.population, None)
    uniques = min(max(uniques, 0.0), sample.population)
    return Estimate(uniques, uniques / sample.population, chosen)


def _by(estimator: Estimator, sample: Frequencies) -> float:
    by = {Estimator.PITMAN: pitman, Estimator.ZAYATZ: zayatz, Estimator.SNB: slide_negative_binomial}
    return by[estimator](sample)


def _dankar(sample: Frequencies) -> tuple[Estimator, float]:
    """Dankar's decision rule; Zayatz's estimate, which always exists, stands in for one that does not fit."""
    by_zayatz = zayatz(sample)
    if sample.fraction <= 0.1:
        by_pitman = pitman(sample)
        return (Estimator.ZAYATZ, by_zayatz) if math.isnan(by_pitman) else (Estimator.PITMAN, by_pitman)
    by_snb = slide_negative_binomial(sample)
    return (Estimator.SNB, by_snb) if by_snb < by_zayatz else (Estimator.ZAYATZ, by_zayatz)


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


def log_choose(n: Numbers | float, k: Numbers | float) -> Numbers:
    """The logarithm of a binomial coefficient."""
    return np.asarray(
        log_gamma(np.add(n, 1.0)) - log_gamma(np.add(k, 1.0)) - log_gamma(np.subtract(n, k) + 1.0)
    )


def pitman(sample: Frequencies) -> float:
    """The expected number of classes with one member among N people, under Pitman's sampling formula.

    With parameters 0 <= a < 1 and t > -a the probability of the sample is proportional to

        prod(t + i a, i = 1..u-1) / prod(t + i, i = 1..n-1) x prod over classes of prod(j - a, j = 1..size-1),

    and a and t are those that make it largest. The i-th person after the first joins the class of the first
    with probability (1 - a) / (t + i) as long as nobody else has, and by symmetry the same holds for
    everybody, so that N prod((t + a + i - 1) / (t + i), i = 1..N-1) people are expected to be unique. NaN
    if all rows are unique: then a and t grow without bounds.
    """
    if sample.of_size(1) == sample.rows:
        return math.nan
    a, t = pitman_parameters(sample)
    people = sample.population
    return people * math.exp(
        log_gamma(t + a + people - 1) - log_gamma(t + a) - log_gamma(t + people) + log_gamma(t + 1)
    )


def pitman_parameters(sample: Frequencies) -> tuple[float, float]:
    """The parameters that make the sample most probable: by Newton's method, else by nested bisection."""
    return _by_newton(sample) or pitman_by_nested_roots(sample)


def _by_newton(sample: Frequencies) -> tuple[float, float] | None:
    """Where both derivatives are 0, looked for from the share of unique rows among the classes on.

    In large samples this share is a. Steps are taken in a and ln(t + a). None if they leave the parameters
    that are possible, or those for which the derivatives can be computed exactly enough: then nothing is
    known. Where they end, the matrix of second derivatives is negative, so it is a maximum.
    """
    u, n = sample.classes, sample.rows
    if u < 2 or n <= u:
        return None
    sizes, counts = sample.arrays
    a = min(max(sample.of_size(1) / u, 0.05), 0.95)
    y = math.log(_start_above(a, u, n))
    for _ in range(NEWTON_STEPS):
        t = math.exp(y) - a
        if not (LEAST_A < a < 1 - LEAST_A and -a < t < u * a / LEAST_A):
            return None
        ends = np.array([t / a + u, t / a + 1, t + n, t + 1])
        first, second = digamma(ends), trigamma(ends)
        sum1, sum2 = float(first[0] - first[1]) / a, float(second[1] - second[0]) / a**2
        by_t = sum1 - float(first[2] - first[3])
        by_tt = float(second[3] - second[2]) - sum2
        by_ta = -(sum1 - t * sum2) / a
        merging = float((counts * (digamma(sizes - a) - digamma(1 - a))).sum())
        falling = float((counts * (trigamma(1 - a) - trigamma(sizes - a))).sum())
        by_a = (u - 1 - t * sum1) / a - merging
        by_aa = -(u - 1 - 2 * t * sum1 + t**2 * sum2) / a**2 - falling
        # The same in a and y, with t = exp(y) - a.
        above = t + a
        slope_y, slope_a = by_t * above, by_a - by_t
        yy, ya, aa = by_tt * above**2 + slope_y, above * (by_ta - by_tt), by_aa - 2 * by_ta + by_tt
        determinant = yy * aa - ya**2
        if not (aa < 0 and determinant > 0):
            return None
        step_a, step_y = (
            (slope_y * ya - slope_a * yy) / determinant,
            (slope_a * ya - slope_y * aa) / determinant,
        )
        shorter = min(1.0, 0.5 * a / max(abs(step_a), 1e-300), 0.5 * (1 - a) / max(abs(step_a), 1e-300))
        shorter = min(shorter, 2.0 / max(abs(step_y), 1e-300))
        a, y = a + shorter * step_a, y + shorter * step_y
        if abs(step_a) < NEWTON_ENDS * a and abs(step_y) < NEWTON_ENDS:
            return a, math.exp(y) - a
    return None


def _start_above(a: float, u: int, n: int) -> float:
    """About t + a for a given a: the number of classes is then about (t / a) ((1 + n / t)^a - 1)."""
    low, high = 1e-3, float(n) * 10
    for _ in range(12):
        t = math.sqrt(low * high)
        low, high = (t, high) if t / a * ((1 + n / t) ** a - 1) < u else (low, t)
    return math.sqrt(low * high) + a


def pitman_by_nested_roots(sample: Frequencies) -> tuple[float, float]:
    """The parameters that make the sample most probable, one inside the other.

    For each a the best t is where the derivative of the log-probability by t,
    sum(1 / (t + i a), i < u) - sum(1 / (t + i), i < n), is 0: it is positive near t = -a and negative for
    large t. Along these t the derivative by a, sum(i / (t + i a), i < u) - sum over classes of
    sum(1 / (j - a), j < size), falls to minus infinity towards a = 1; if it is not even positive at a = 0,
    the largest probability is there.
    """
    n, u = sample.rows, sample.classes
    sizes, counts = sample.arrays

    each = np.arange(1.0, u)

    def inverses(t: float, a: float) -> float:
        """sum(1 / (t + i a), i = 1..u-1); where a is small, term by term: the difference would be noise."""
        if t > 1e4 * a:
            return float((1 / (t + a * each)).sum())
        return float(digamma(t / a + u) - digamma(t / a + 1)) / a

    def best_t(a: float) -> float:
        def slope(log_above: float) -> float:
            t = math.exp(log_above) - a
            return inverses(t, a) - float(digamma(t + n) - digamma(t + 1))

        low, high = 0.0, math.log(n)
        while slope(low) < 0:
            low -= 2
        while slope(high) > 0:
            high += 2
        return math.exp(float(root(slope, low, high, xtol=1e-12))) - a

    def slope(a: float) -> float:
        t = best_t(a)
        merging = float((counts * (digamma(sizes - a) - digamma(1 - a))).sum())
        founding = float((each / (t + a * each)).sum()) if t > 1e4 * a else (u - 1 - t * inverses(t, a)) / a
        return founding - merging

    if slope(0) <= 0:
        return 0.0, best_t(0)
    a = float(root(slope, 1e-6, 1 - 1e-9, xtol=1e-9)) if slope(1e-6) > 0 else 0.0
    return a, best_t(a)


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


def log_gamma(x: Any) -> Any:
    """The logarithm of the gamma function."""
    return scipy.special.gammaln(x)


def digamma(x: Any) -> Any:
    """The derivative of the logarithm of the gamma function."""
    return scipy.special.digamma(x)


def trigamma(x: Any) -> Any:
    """The second derivative of the logarithm of the gamma function."""
    return scipy.special.zeta(2, x)


def root(function: Callable[[float], float], low: float, high: float, xtol: float = 2e-12) -> float:
    """Where a function that changes its sign between two places is 0."""
    return float(scipy.optimize.brentq(function, low, high, xtol=xtol))
