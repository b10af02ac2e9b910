"""What a risk measure is: the contract that every file in this folder fulfils.

An attack names victims; a measure puts a number on the risk. Each takes the classes of a table and returns
what it found as plain data, together with the figures and the pictures that a report shows. The common
tests in `tests/risk/test_measures.py` run over the registry `MEASURES`.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tarnkappe.schema import Parameters, fields_of
from tarnkappe.table import Classes
from tarnkappe.table.encoding import Progress

Numbers = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class RiskFigure:
    """One number of a report.

    Attributes:
        label: what it is, in a few words.
        value: the number.
        meaning: what it says, in a line for a lay reader.
        share: whether the number is a share, to be shown in percent.
    """

    label: str
    value: float
    meaning: str
    share: bool = False

    @property
    def text(self) -> str:
        """The number as a report shows it.

        >>> RiskFigure("", 0.125, "", share=True).text
        '12.5 %'
        >>> RiskFigure("", 1234, "").text, RiskFigure("", 0.1234567, "").text
        ('1,234', '0.1235')
        """
        if self.share:
            return f"{100 * self.value:.3g} %"
        return f"{int(self.value):,}" if float(self.value).is_integer() else f"{self.value:,.4g}"


@dataclasses.dataclass(frozen=True)
class Chart:
    """A bar chart: what it shows, and a bar for each label. It names columns and sizes, never values."""

    title: str
    caption: str
    bars: tuple[RiskFigure, ...]

    @property
    def longest(self) -> float:
        """The length of the longest bar."""
        return max((bar.value for bar in self.bars), default=0.0) or 1.0


class MeasureResult(ABC):
    """What a measure found in a table."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON; the keys are stable."""

    @abstractmethod
    def figures(self) -> Iterator[RiskFigure]:
        """The figures for a reader."""

    def charts(self) -> Iterator[Chart]:
        """The pictures for a reader."""
        return iter(())


class RiskMeasure(Parameters, tag_field="measure"):
    """A risk measure with its parameters.

    Attributes:
        name: by which users ask for it.
        title: its name for a reader.
        usual: whether every check takes it; the others take longer and are asked for.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    usual: ClassVar[bool] = True

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        """The columns that it counts in the classes beside those that are protected."""
        return ()

    @abstractmethod
    def measure(self, classes: Classes, progress: Progress | None = None) -> MeasureResult:
        """Measure the risk of the people in a table."""

    def to_dict(self) -> dict[str, Any]:
        """The parameters, for JSON."""
        return {field.name: getattr(self, field.name) for field in fields_of(type(self))}
