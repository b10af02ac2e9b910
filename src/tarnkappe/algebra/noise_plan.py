"""The noise of a column as a user says it: a distribution, in which every value has its probability.

A distribution is the same for every old value, or it depends on it. In a catalog file, and likewise in
Python, it is written as

- a table in braces: `{"+" = 0.85, "-" = 0.15}`;
- `"uniform"`: every value of the column's hierarchy is equally likely;
- `"neighbours"` or `"neighbours:3"`: one of the values that are at most so many places away is drawn, each
  equally likely, the old one not among them. Numbers and dates stand by size, texts as in the hierarchy;
- in Python, a function of the old value that returns new values with their probabilities;
- a file with lines `value;probability`, or `old value;new value;probability`.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tarnkappe.algebra.noise import Dynamic, NoiseDistribution, Static
from tarnkappe.algebra.numbers import read_number
from tarnkappe.errors import InputError, ParameterError, TarnkappeError
from tarnkappe.table.files import opened

if TYPE_CHECKING:
    from tarnkappe.hierarchy import Hierarchy

UNIFORM = "uniform"
NEIGHBOURS = "neighbours"
MOST_STEPS = 1_000

Draws = Mapping[str, Fraction]
NoiseFunction = Callable[[Any], Mapping[Any, str | float | Fraction]]
"""From an old value to the new ones, with their probabilities."""


@dataclasses.dataclass(frozen=True)
class NoisePlan:
    """A distribution in text, as it was written; the column tells the type of its values.

    Attributes:
        column: the column that it belongs to.
        static: the probability of every new value; none if it is uniform or depends on the old value.
        dynamic: for each old value, the probability of every new one.
        steps: how many places away a neighbour may be; 0 if neighbours are not drawn.
        function: tells the new values of each old one.
    """

    column: str
    static: Draws | None = None
    dynamic: Mapping[str, Draws] | None = None
    steps: int = 0
    function: NoiseFunction | None = None

    @property
    def needs_hierarchy(self) -> bool:
        """Whether the hierarchy of the column says which values there are."""
        return self.static is None and self.dynamic is None

    def distribution(self, hierarchy: Hierarchy | None, kind: pa.DataType) -> NoiseDistribution:
        """The distribution with values of the column's type."""
        try:
            if self.dynamic is not None:
                olds = _typed(list(self.dynamic), kind, self.column)
                draws = [_draw(draw, kind, self.column) for draw in self.dynamic.values()]
                return Dynamic(dict(zip(olds, draws, strict=True)))
            if self.steps or self.function is not None:
                return self._by_function(_values_of(hierarchy, kind, self.column))
            return Static(_draw(self.static or self._uniform(hierarchy), kind, self.column))
        except ParameterError as error:
            raise ParameterError(
                "algebra.column-error-noise",
                "the noise of '{column}': {error}",
                column=self.column,
                error=error,
            ) from None

    def _uniform(self, hierarchy: Hierarchy | None) -> Draws:
        values = _stated(hierarchy)
        return dict.fromkeys(values, Fraction(1, len(values)))

    def _by_function(self, values: Sequence[Any]) -> Dynamic:
        """The function of every value of the hierarchy; what is not in it is refused when it is met."""
        if self.function is None:
            return Dynamic({old: _nearby(values, place, self.steps) for place, old in enumerate(values)})
        return Dynamic(
            {
                old: {new: _probability(self.column, p) for new, p in self.function(old).items()}
                for old in values
            }
        )


def read_noise(column: str, said: Any, folder: Path = Path()) -> NoisePlan:
    """The noise that a user states; a file is looked for in the folder."""
    if said == UNIFORM:
        return NoisePlan(column)
    if callable(said):
        return NoisePlan(column, function=said)
    if isinstance(said, str) and said.partition(":")[0] == NEIGHBOURS:
        return NoisePlan(column, steps=_steps(column, said))
    if isinstance(said, str):
        return read_noise_file(column, folder / said)
    if not isinstance(said, Mapping) or not said:
        raise ParameterError(
            "algebra.noise-file-uniform-table",
            'the noise of "{column}" is a file, "uniform", "neighbours", or a table of values with their '
            "probabilities",
            column=column,
        )
    return NoisePlan(column, {value: _probability(column, p) for value, p in said.items()})


def read_noise_file(column: str, path: Path) -> NoisePlan:
    """The noise in a file of lines `value;probability` or `old value;new value;probability`."""
    try:
        with opened(path) as file:
            text = file.read(-1).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("algebra.no-utf-8-text", "{path}: this is no UTF-8 text", path=path) from None
    lines = [fields for fields in csv.reader(text.splitlines(), delimiter=";") if fields]
    widths = {len(fields) for fields in lines}
    if widths not in ({2}, {3}):
        raise InputError(
            "algebra.write-lines-like-value",
            "{path}: write lines like value;probability or old value;new value;probability",
            path=path,
        )
    kernel: dict[str, dict[str, Fraction]] = {}
    for number, fields in enumerate(lines, 1):
        *old, new, probability = fields
        draw = kernel.setdefault(old[0] if old else "", {})
        if new in draw:
            raise InputError(
                "algebra.line-says-again-what-earlier",
                "{path}: line {number} says again what an earlier line has said",
                path=path,
                number=number,
            )
        try:
            draw[new] = read_number(probability)
        except TarnkappeError:
            raise InputError(
                "algebra.line-ends-no-probability",
                "{path}: line {number} ends in no probability like 0.15 or 1/3",
                path=path,
                number=number,
            ) from None
    return NoisePlan(column, kernel[""]) if widths == {2} else NoisePlan(column, dynamic=kernel)


def _steps(column: str, said: str) -> int:
    number = said.partition(":")[2] if ":" in said else "1"
    if not (number.isascii() and number.isdigit() and 1 <= int(number[:5]) <= MOST_STEPS):
        raise ParameterError(
            "algebra.noise-neighbours-steps",
            "the noise of '{column}': write neighbours, or neighbours:3, with 1 to {most} steps",
            column=column,
            most=MOST_STEPS,
        )
    return int(number)


def _nearby(values: Sequence[Any], place: int, steps: int) -> dict[Hashable, Fraction]:
    """The values around a place, each equally likely; a value that is alone stays.

    >>> {value: str(p) for value, p in _nearby("abcd", 1, 1).items()}
    {'a': '1/2', 'c': '1/2'}
    """
    around = [*values[max(place - steps, 0) : place], *values[place + 1 : place + 1 + steps]]
    near = around or [values[place]]
    return dict.fromkeys(near, Fraction(1, len(near)))


def _values_of(hierarchy: Hierarchy | None, kind: pa.DataType, column: str) -> list[Any]:
    """The values of a hierarchy in the type of the column: texts as they are listed, all else by size."""
    values = _typed(_stated(hierarchy), kind, column)
    return values if pa.types.is_string(kind) or pa.types.is_large_string(kind) else sorted(values)


def _stated(hierarchy: Hierarchy | None) -> list[str]:
    if hierarchy is None:
        raise ParameterError(
            "algebra.noise-means-values-hierarchy",
            "the values of a hierarchy are meant, and none was stated for the column",
        )
    return [value for value in hierarchy.values if value is not None]


def _probability(column: str, said: Any) -> Fraction:
    if isinstance(said, Fraction):
        return said
    if isinstance(said, str):
        return read_number(said)
    if isinstance(said, bool) or not isinstance(said, int | float):
        raise ParameterError(
            "algebra.noise-probability-number-like",
            "the noise of '{column}': a probability is a number like 0.15, or a text like '1/3'",
            column=column,
        )
    return Fraction(repr(said))


def _draw(draws: Draws, kind: pa.DataType, column: str) -> dict[Hashable, Fraction]:
    return dict(zip(_typed(list(draws), kind, column), draws.values(), strict=True))


def _typed(texts: list[str], kind: pa.DataType, column: str) -> list[Any]:
    try:
        return list(pa.array(texts, pa.string()).cast(kind).to_pylist())
    except pa.ArrowException:
        raise ParameterError(
            "algebra.value-none-type",
            "a value is none of the type that '{column}' has ({kind})",
            column=column,
            kind=kind,
        ) from None
