"""What a perturbation is: the contract that every file in this folder fulfils.

A perturbation changes the values of some columns before anything else is done, so what a job promises
holds of the values that it publishes. It promises nothing by itself: how well people hide and how much is
lost is measured (`measured.py`). Chance comes from the operating system; a seed is for tests.
"""

from __future__ import annotations

import dataclasses
import secrets
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError
from tarnkappe.recoding.perturbation.measured import PerturbationFigures, measured, measured_categories
from tarnkappe.schema import Listed, Name, Parameters, fields_of, param
from tarnkappe.table import Table
from tarnkappe.table.encoding import Codes, encode_column

Numbers = npt.NDArray[np.float64]
MOST_COLUMNS = 100


@dataclasses.dataclass(frozen=True)
class Perturbed:
    """What was done to which columns, and what came of it.

    Attributes:
        perturbation: what was done.
        figures: how far the values are from the true ones, and how many rows are still recognized. They are
            computed from the true values and stay in the house.
    """

    perturbation: Perturbation
    figures: PerturbationFigures

    def to_dict(self) -> dict[str, Any]:
        """What may be told with the release: the method and its parameters."""
        return {"method": self.perturbation.name, **self.perturbation.parameters}

    def __str__(self) -> str:
        return f"{', '.join(self.perturbation.columns)}: {self.perturbation.name}, {self.figures}"


class Perturbation(Parameters, tag_field="method", kw_only=True):
    """A way to change the values of columns, with its parameters."""

    name: ClassVar[str]

    columns: Annotated[
        Listed[Name],
        param("the columns to change", kind="columns", min_length=1, max_length=MOST_COLUMNS),
    ]

    @classmethod
    @abstractmethod
    def examples(cls, *columns: str) -> tuple[Self, ...]:
        """Instances for the common tests."""

    @abstractmethod
    def apply(self, data: pa.Table, generator: np.random.Generator) -> tuple[pa.Table, PerturbationFigures]:
        """The rows with other values in the columns of this perturbation, and how far they are off."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, as a job file would give them."""
        found = {field.name: getattr(self, field.name) for field in fields_of(type(self))}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


class NumberPerturbation(Perturbation, kw_only=True):
    """A perturbation of columns of numbers. Whole numbers stay whole, missing values missing."""

    @abstractmethod
    def change(self, values: Numbers, generator: np.random.Generator) -> Numbers:
        """Other values for some rows (first axis) and columns (second axis); NaN stands for missing ones."""

    def apply(self, data: pa.Table, generator: np.random.Generator) -> tuple[pa.Table, PerturbationFigures]:
        """Change the numbers, all columns together."""
        before = np.column_stack([numbers_of(data, name) for name in self.columns])
        after = self.change(before, generator)
        whole = [pa.types.is_integer(data.schema.field(name).type) for name in self.columns]
        after = np.where(np.array(whole), np.rint(after), after)
        for place, name in enumerate(self.columns):
            data = data.set_column(
                data.schema.get_field_index(name), name, _as_column(after[:, place], whole[place])
            )
        return data, measured(before, after)


class CategoryPerturbation(Perturbation, kw_only=True):
    """A perturbation of columns of categories, one by one; a missing value is a category like any other."""

    @abstractmethod
    def change(self, codes: Codes, categories: int, generator: np.random.Generator) -> Codes:
        """Other categories for some rows; categories are numbered from 0."""

    def apply(self, data: pa.Table, generator: np.random.Generator) -> tuple[pa.Table, PerturbationFigures]:
        """Change the categories, column by column."""
        pairs = []
        for name in self.columns:
            column = encode_column(name, data[name])
            after = self.change(column.codes, column.cardinality, generator)
            values = column.values.take(pa.array(after))
            pairs.append((column.codes, after))
            data = data.set_column(data.schema.get_field_index(name), name, values)
        return data, measured_categories(pairs)


def perturb(
    table: Table, perturbations: Sequence[Perturbation], *, seed: int | None = None
) -> tuple[Table, tuple[Perturbed, ...]]:
    """The table with perturbed columns, and what was done. One after the other, in their order."""
    generator = np.random.default_rng(secrets.randbits(256) if seed is None else seed)
    data, done = table.data, []
    for each in perturbations:
        for name in each.columns:
            table.require(name)
        data, figures = each.apply(data, generator)
        done.append(Perturbed(each, figures))
    return table.with_data(data), tuple(done)


def numbers_of(data: pa.Table, name: str) -> Numbers:
    """The numbers of a column, NaN where one is missing."""
    kind = data.schema.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise ColumnError(
            "recoding.column-no-numbers-perturbation",
            "the column '{name}' has no numbers, which this perturbation needs: use 'pram'",
            name=name,
        )
    found = pc.cast(data[name], pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(found, np.float64)


def require_numbers(values: Numbers, columns: Sequence[str]) -> None:
    """Refuse missing values where a method cannot do without them."""
    for place, name in enumerate(columns):
        if np.isnan(values[:, place]).any():
            raise ColumnError(
                "recoding.column-missing-values-would-stay",
                "the column '{name}' has missing values, which would stay as they are: fill them",
                name=name,
            )


def _as_column(values: Numbers, whole: bool) -> pa.Array:
    missing = np.isnan(values)
    if whole:
        return pa.array(np.where(missing, 0, values).astype(np.int64), pa.int64(), mask=missing)
    return pa.array(values, pa.float64(), mask=missing)
