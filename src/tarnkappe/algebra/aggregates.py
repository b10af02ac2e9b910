"""Aggregates of a grouping: plain ones, and noisy ones that spend a privacy budget."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tarnkappe.errors import ParameterError

FUNCTIONS = ("count", "sum", "mean", "min", "max", "quantile")
NOISY_FUNCTIONS = ("count", "sum", "mean", "quantile")


@dataclass(frozen=True)
class Noise:
    """What a noisy aggregate needs: its epsilon, and the bounds to which the column's values are clamped.

    A count has no bounds, all others need them: without bounds one person could change the result at will.
    """

    epsilon: Fraction
    lower: Fraction | None = None
    upper: Fraction | None = None

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise ParameterError(
                "algebra.epsilon-must-greater-0",
                "An epsilon must be greater than 0, not {epsilon}.",
                epsilon=self.epsilon,
            )
        if (self.lower is None) != (self.upper is None):
            raise ParameterError(
                "algebra.noisy-aggregate-needs-both",
                "A noisy aggregate needs both bounds, lower and upper, or none.",
            )
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ParameterError(
                "algebra.lower-bound-must-less",
                "The lower bound {lower} must be less than the upper bound {upper}.",
                lower=self.lower,
                upper=self.upper,
            )


@dataclass(frozen=True)
class Aggregate:
    """One aggregate: a function of a column (None: of whole rows, for count) and the name of its result.

    A quantile says where (`at`, 0.5 is the median). Missing values are left out, as in SQL.
    """

    function: str
    column: str | None
    name: str
    at: Fraction | None = None
    noise: Noise | None = None

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise ParameterError(
                "algebra.no-aggregate",
                "No aggregate '{function}'; there are {functions}.",
                function=self.function,
                functions=", ".join(FUNCTIONS),
            )
        if not self.name:
            raise ParameterError("algebra.aggregate-needs-name", "An aggregate needs a name.")
        if self.column is None and self.function != "count":
            raise ParameterError(
                "algebra.aggregate-needs-column",
                "The aggregate '{function}' needs a column.",
                function=self.function,
            )
        if (self.at is None) == (self.function == "quantile"):
            raise ParameterError(
                "algebra.quantile-only-quantile-says",
                "A quantile, and only a quantile, says where it is taken (at => 0.5).",
            )
        if self.at is not None and not 0 <= self.at <= 1:
            raise ParameterError(
                "algebra.quantile-taken-between-0",
                "A quantile is taken between 0 and 1, not at {at}.",
                at=self.at,
            )
        if self.noise is not None:
            self._check_noise(self.noise)

    def _check_noise(self, noise: Noise) -> None:
        if self.function not in NOISY_FUNCTIONS:
            raise ParameterError(
                "algebra.no-noisy",
                "There is no noisy '{function}'; there are {noisy_functions}.",
                function=self.function,
                noisy_functions=", ".join(NOISY_FUNCTIONS),
            )
        if (noise.lower is None) != (self.function == "count"):
            if self.function == "count":
                raise ParameterError("algebra.noisy-count-no-bounds", "A noisy count has no bounds.")
            raise ParameterError(
                "algebra.noisy-needs-bounds-lower",
                "A noisy {function} needs bounds (lower => ..., upper => ...).",
                function=self.function,
            )
