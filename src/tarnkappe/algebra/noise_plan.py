"""The noise of a column as a user says it: a distribution, in which every value has its probability.

A distribution is the same for every old value, or it depends on it. In a catalog file, and likewise in
Python, it is written as

- a table in braces: `{"+" = 0.85, "-" = 0.15}`;
- `"uniform"`: every value of the column's hierarchy is equally likely;
- a file with lines `value;probability`, or `old value;new value;probability`.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Hashable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from tarnkappe.algebra.noise import Dynamic, NoiseDistribution, Static
from tarnkappe.algebra.numbers import read_number
from tarnkappe.errors import InputError, ParameterError, TarnkappeError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table.files import opened

UNIFORM = "uniform"

Draws = Mapping[str, Fraction]


@dataclasses.dataclass(frozen=True)
class NoisePlan:
    """A distribution in text, as it was written; the column tells the type of its values.

    Attributes:
        column: the column that it belongs to.
        static: the probability of every new value; none if it is uniform or depends on the old value.
        dynamic: for each old value, the probability of every new one.
    """

    column: str
    static: Draws | None = None
    dynamic: Mapping[str, Draws] | None = None

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
            return Static(_draw(self.static or self._uniform(hierarchy), kind, self.column))
        except ParameterError as error:
            raise ParameterError(f"the noise of '{self.column}': {error}") from None

    def _uniform(self, hierarchy: Hierarchy | None) -> Draws:
        if hierarchy is None:
            raise ParameterError("'uniform' means the values of a hierarchy, and the column has none")
        values = [value for value in hierarchy.values if value is not None]
        return dict.fromkeys(values, Fraction(1, len(values)))


def read_noise(column: str, said: Any, folder: Path = Path()) -> NoisePlan:
    """The noise that a user states; a file is looked for in the folder."""
    if said == UNIFORM:
        return NoisePlan(column)
    if isinstance(said, str):
        return read_noise_file(column, folder / said)
    if not isinstance(said, Mapping) or not said:
        raise ParameterError(
            f'the noise of "{column}" is a file, "uniform", or a table of values with their probabilities'
        )
    return NoisePlan(column, {value: _probability(column, p) for value, p in said.items()})


def read_noise_file(column: str, path: Path) -> NoisePlan:
    """The noise in a file of lines `value;probability` or `old value;new value;probability`."""
    try:
        with opened(path) as file:
            text = file.read(-1).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: this is no UTF-8 text") from None
    lines = [fields for fields in csv.reader(text.splitlines(), delimiter=";") if fields]
    widths = {len(fields) for fields in lines}
    if widths not in ({2}, {3}):
        raise InputError(f"{path}: write lines like value;probability or old value;new value;probability")
    kernel: dict[str, dict[str, Fraction]] = {}
    for number, fields in enumerate(lines, 1):
        *old, new, probability = fields
        draw = kernel.setdefault(old[0] if old else "", {})
        if new in draw:
            raise InputError(f"{path}: line {number} says again what an earlier line has said")
        try:
            draw[new] = read_number(probability)
        except TarnkappeError:
            raise InputError(f"{path}: line {number} ends in no probability like 0.15 or 1/3") from None
    return NoisePlan(column, kernel[""]) if widths == {2} else NoisePlan(column, dynamic=kernel)


def _probability(column: str, said: Any) -> Fraction:
    if isinstance(said, str):
        return read_number(said)
    if isinstance(said, bool) or not isinstance(said, int | float):
        raise ParameterError(
            f"the noise of '{column}': a probability is a number like 0.15, or a text like '1/3'"
        )
    return Fraction(repr(said))


def _draw(draws: Draws, kind: pa.DataType, column: str) -> dict[Hashable, Fraction]:
    return dict(zip(_typed(list(draws), kind, column), draws.values(), strict=True))


def _typed(texts: list[str], kind: pa.DataType, column: str) -> list[Any]:
    try:
        return list(pa.array(texts, pa.string()).cast(kind).to_pylist())
    except pa.ArrowException:
        raise ParameterError(f"a value is none of the type that '{column}' has ({kind})") from None
