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
            raise ParameterError(f"An epsilon must be greater than 0, not {self.epsilon}.")
        if (self.lower is None) != (self.upper is None):
            raise ParameterError("A noisy aggregate needs both bounds, lower and upper, or none.")
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ParameterError(
                f"The lower bound {self.lower} must be less than the upper bound {self.upper}."
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
            raise ParameterError(f"No aggregate '{self.function}'; there are {', '.join(FUNCTIONS)}.")
        if not self.name:
            raise ParameterError("An aggregate needs a name.")
        if self.column is None and self.function != "count":
            raise ParameterError(f"The aggregate '{self.function}' needs a column.")
        if (self.at is None) == (self.function == "quantile"):
            raise ParameterError("A quantile, and only a quantile, says where it is taken (at => 0.5).")
        if self.at is not None and not 0 <= self.at <= 1:
            raise ParameterError(f"A quantile is taken between 0 and 1, not at {self.at}.")
        if self.noise is not None:
            self._check_noise(self.noise)

    def _check_noise(self, noise: Noise) -> None:
        if self.function not in NOISY_FUNCTIONS:
            raise ParameterError(
                f"There is no noisy '{self.function}'; there are {', '.join(NOISY_FUNCTIONS)}."
            )
        if (noise.lower is None) != (self.function == "count"):
            raise ParameterError(
                f"A noisy {self.function} "
                + (
                    "has no bounds."
                    if self.function == "count"
                    else "needs bounds (lower => ..., upper => ...)."
                )
            )
