"""What a chapter of the book is: experiments that measure, and what is told of their figures.

Measuring and telling are two functions with plain JSON between them, so that a book can be written again
without measuring again. A new experiment is one `Experiment` in the file of its chapter, a new chapter one
file and one line in `chapters/__init__.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from tarnkappe.drawing import Drawing
from tarnkappe.table.encoding import Progress


class Size(StrEnum):
    """How much is measured."""

    SHORT = "short"
    """Enough to see that everything works; all chapters together take a few minutes."""
    FULL = "full"
    """What is cited."""

    def pick(self, short: Any, full: Any) -> Any:
        """One of two values."""
        return short if self is Size.SHORT else full


Figures = dict[str, Any]
"""What an experiment measured: numbers, texts, lists and dictionaries, as JSON has them."""


@dataclasses.dataclass(frozen=True)
class Grid:
    """A table of the book."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True)
class Story:
    """What figures say.

    Attributes:
        tables: ours, and those of the literature beside them.
        meaning: one sentence on what they mean.
        differs: where they contradict the literature, each with the reason.
        picture: the figures as a picture.
    """

    tables: tuple[Grid, ...]
    meaning: str
    differs: tuple[str, ...] = ()
    picture: Drawing | None = None


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One question that is answered by measuring.

    Attributes:
        name: short, unique in its chapter, without blanks.
        title: the question or the subject.
        setting: the data, the parameters and what is compared.
        reported: what the literature reports of the same experiment, or that it reports nothing.
        measure: does it.
        tell: says what the figures mean; it must understand the figures of both sizes.
        limits: what figures at the top level must not exceed, in a full run.
    """

    name: str
    title: str
    setting: str
    reported: str
    measure: Callable[[Size, Progress | None], Figures]
    tell: Callable[[Figures], Story]
    limits: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def exceeded(self, figures: Figures) -> dict[str, tuple[float, float]]:
        """The limits that figures exceed: what was measured, and the limit.

        What needs the reference data is not among the figures where they are absent.
        """
        return {
            name: (figures[name], limit)
            for name, limit in self.limits.items()
            if name in figures and not figures[name] <= limit
        }


@dataclasses.dataclass(frozen=True)
class Chapter:
    """Experiments about one subject."""

    name: str
    title: str
    about: str
    experiments: tuple[Experiment, ...]

    def experiment(self, name: str) -> Experiment:
        """An experiment by its name."""
        return next(each for each in self.experiments if each.name == name)
