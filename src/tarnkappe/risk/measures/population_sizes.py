"""How many people of the population share a combination, when only a sample and its fraction are known.

Under Pitman's sampling formula (see `privacy.pitman`) people arrive one after another, and a
newcomer after i people joins a class of F with probability (F - a) / (t + i). So of a class with f of the n
sampled people, the number X of members among the N - n others follows Polya's urn: it is beta-binomial with
parameters f - a and t + n - f + a. The risk of a member is the expectation of 1 / (f + X).

With a = t = 0 this is Benedetti and Franconi's negative binomial estimate, which is known to be too low
where many classes are small; fitting a and t to the sample is what corrects it.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy

from tarnkappe.privacy.frequencies import Frequencies, log_gamma
from tarnkappe.privacy.pitman import pitman_parameters
from tarnkappe.risk.measures.measure import Numbers

HEAD = 2048
NODES = 512
LARGE = 64
"""From this size on, two moments of the number of members tell its inverse to four digits."""


def expected_inverses(sample: Frequencies) -> Numbers:
    """For each class size of a sample, the expected 1 / F of its classes in the population.

    If no row shares its combination with another, nothing can be fitted: every unique row is then taken for a
    unique person, as no estimate can be worse.

    >>> expected_inverses(Frequencies(sizes=(1, 2, 50), counts=(4, 3, 2), population=1120)).round(3).tolist()
    [0.421, 0.106, 0.002]
    """
    sizes = np.array(sample.sizes, dtype=np.float64)
    unseen = sample.population - sample.rows
    if unseen <= 0 or sample.of_size(1) == sample.rows:
        return 1 / sizes
    a, t = pitman_parameters(sample)
    first, second = sizes - a, t + sample.rows - sizes + a
    inverses = np.empty(len(sizes))
    small = sizes < LARGE
    for place in np.flatnonzero(small).tolist():
        inverses[place] = _expected_inverse(sizes[place], unseen, first[place], second[place])
    inverses[~small] = _by_moments(sizes[~small], unseen, first[~small], second[~small])
    return inverses


def _expected_inverse(size: float, unseen: int, first: float, second: float) -> float:
    """The expectation of 1 / (size + X): the first terms one by one, the rest as an integral.

    Between neighbours beyond `HEAD` the terms change by less than a thousandth, so that the midpoint rule is
    as good as the sum. The integral is over the logarithm of X, in which the terms are smooth.
    """
    head = np.arange(min(HEAD, unseen + 1), dtype=np.float64)
    chances = np.exp(_log_chances(head, unseen, first, second))
    total, mass = (chances / (size + head)).sum(), chances.sum()
    if unseen >= HEAD:
        low, high = np.log(HEAD - 0.5), np.log(unseen + 0.5)
        nodes, weights = _nodes()
        members = np.exp(low + (high - low) * (nodes + 1) / 2)
        log_chances = _log_chances(np.minimum(members, unseen), unseen, first, second)
        tail = np.exp(log_chances) * members * weights * (high - low) / 2
        total, mass = total + (tail / (size + members)).sum(), mass + tail.sum()
    return float(total / mass)


@cache
def _nodes() -> tuple[Numbers, Numbers]:
    nodes, weights = scipy.special.roots_legendre(NODES)
    return nodes, weights


def _log_chances(members: Numbers, unseen: int, first: float, second: float) -> Numbers:
    """The logarithm of the beta-binomial probabilities."""
    return np.asarray(
        log_gamma(unseen + 1.0)
        - log_gamma(members + 1)
        - log_gamma(unseen - members + 1)
        + log_gamma(members + first)
        + log_gamma(unseen - members + second)
        - log_gamma(unseen + first + second)
        - log_gamma(first)
        - log_gamma(second)
        + log_gamma(first + second)
    )


def _by_moments(sizes: Numbers, unseen: int, first: Numbers, second: Numbers) -> Numbers:
    """1 / E(F) x (1 + Var(F) / E(F)^2): the expansion of the expectation of 1 / F to second order."""
    both = first + second
    mean = unseen * first / both
    variance = mean * second / both * (both + unseen) / (both + 1)
    members = sizes + mean
    return np.asarray((1 + variance / members**2) / members)
