"""The mechanisms of OpenDP that noise whole numbers, calibrated to an epsilon.

Everything is counted in whole numbers, on which the noise is exact: floating point noise has gaps that give
away what it should hide. What a measurement says of its own epsilon is checked against what was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from tarnkappe.algebra.numbers import number_text
from tarnkappe.errors import ParameterError, VerificationError

_MOST = 2**62
_TRIES = 60
_STEP = 1 + 2**-40


def laplace(values: Sequence[int], sensitivity: int, epsilon: Fraction) -> list[int]:
    """Numbers, each with noise of the discrete Laplace distribution.

    Args:
        values: numbers of which one row changes only one, or one each of as many calls as epsilons are paid.
        sensitivity: by how much a row may change it.
        epsilon: the promise.
    """
    dp = _opendp()
    if not values:
        return []

    def make(scale: float) -> Any:
        domain = dp.domains.vector_domain(dp.domains.atom_domain(T="i64"))
        return dp.measurements.make_laplace(domain, dp.metrics.l1_distance(T="i64"), scale=scale)

    limited = [min(max(value, -_MOST), _MOST) for value in values]  # changes no difference for the worse
    return [int(value) for value in _calibrated(make, sensitivity, epsilon)(limited)]


def least(scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
    """The place of about the least score; a row may change every score by the sensitivity."""
    dp = _opendp()

    def make(scale: float) -> Any:
        domain = dp.domains.vector_domain(dp.domains.atom_domain(T="i64"))
        distance, measure = dp.metrics.linf_distance(T="i64"), dp.measures.max_divergence()
        return dp.measurements.make_noisy_max(domain, distance, measure, scale=scale, negate=True)

    return int(_calibrated(make, sensitivity, epsilon)(list(scores)))


def _calibrated(make: Callable[[float], Any], sensitivity: int, epsilon: Fraction) -> Any:
    """The measurement with about the least noise that keeps the promise, by its own account."""
    try:
        guess = make(1.0).map(sensitivity)  # all these measurements spend as much less as they are noisier
        scale = float(Fraction(guess) / epsilon)
        for _ in range(_TRIES):
            measurement = make(scale)
            if Fraction(measurement.map(sensitivity)) <= epsilon:
                return measurement
            scale *= _STEP
    except (_opendp().mod.OpenDPException, OverflowError):
        raise ParameterError(
            "algebra.epsilon-too-small-bounds",
            "An epsilon of {epsilon} is too small, or bounds are too far apart: the noise would be beyond "
            "all numbers.",
            epsilon=number_text(epsilon)[:20],
        ) from None
    raise VerificationError(
        "algebra.no-noise-found-keeps",
        "no noise was found that keeps an epsilon of {epsilon}",
        epsilon=number_text(epsilon)[:20],
    )


@cache
def _opendp() -> Any:
    """Only what is needed: its prelude would load machine learning libraries for seconds."""
    try:
        import opendp
        import opendp.domains
        import opendp.measurements
        import opendp.measures
        import opendp.metrics
        import opendp.mod
    except ImportError:
        raise ParameterError(
            "algebra.noisy-aggregates-need-opendp",
            "noisy aggregates need OpenDP: pip install 'tarnkappe[noise]'",
        ) from None
    opendp.mod.enable_features("contrib")
    return opendp
