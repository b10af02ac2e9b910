"""Pitman's sampling formula, fitted by maximum likelihood (Hoshino 2001)."""

from __future__ import annotations

import math

import numpy as np

from tarnkappe.privacy.frequencies import Frequencies, digamma, log_gamma, root, trigamma

NEWTON_STEPS, NEWTON_ENDS, LEAST_A = 40, 1e-11, 1e-3
"""The most steps; how short the last one is; nearer to 0 and 1 than this Newton's method is not tried."""


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
