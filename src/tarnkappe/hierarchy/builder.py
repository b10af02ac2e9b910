"""What a builder is: the contract that every builder in this folder fulfils.

A builder looks at the values of a column and makes their hierarchy. It only says how values that are
present generalize below the root; the missing value, the root and all checks are the same for all
builders and stand here. The common tests in `tests/hierarchy/test_builders.py` run over every builder in
`BUILDERS`.
"""

from __future__ import annotations

import dataclasses
import datetime
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.errors import HierarchyError
from tarnkappe.hierarchy.hierarchy import Hierarchy
from tarnkappe.hierarchy.numbers import parse_number
from tarnkappe.schema import Parameters, fields_of
from tarnkappe.table import MISSING, SUPPRESSED, Column
from tarnkappe.table.encoding import Counts, as_text, encode_column
from tarnkappe.table.spelling import DatePrecision, Moment, Spelling

_EPOCH, _SECOND = datetime.datetime(1970, 1, 1), datetime.timedelta(seconds=1)

ROOT = SUPPRESSED
"""The label of the highest level: it tells nothing of the value."""

Labels = list[str]
"""The label of each value of a domain, on one level."""


class ValueKind(StrEnum):
    """What the values of a column are."""

    NUMBERS = "numbers"
    DATES = "dates"
    TEXT = "text"


@dataclasses.dataclass(frozen=True, eq=False)
class Domain:
    """The values that a builder generalizes: distinct, in ascending order, none of them missing.

    Attributes:
        name: the column that they are of; empty if there is none.
        values: the values.
        counts: in how many rows each occurs.
        missing: the missing values as texts: None, and the text by which a missing value is shown.
        spelling: what the values stand for if they are texts of numbers or dates.
        read: these numbers and dates, where they are known already.
    """

    name: str
    values: pa.Array
    counts: Counts
    missing: tuple[str | None, ...] = ()
    spelling: Spelling | None = None
    read: Sequence[Decimal | Moment | None] | None = dataclasses.field(default=None, repr=False)

    @classmethod
    def of(cls, column: Column) -> Domain:
        """The values of a column."""
        texts = as_text(column.values).to_pylist()
        absent = np.array([text in (None, "", MISSING) for text in texts], dtype=bool)
        missing = dict.fromkeys(text or None for text in texts if text in (None, "", MISSING))
        present = pa.array(~absent)
        values, counts = column.values.filter(present), column.counts()[~absent]
        read = None
        if column.read is not None:
            read = [value for value, gone in zip(column.read, absent.tolist(), strict=True) if not gone]
        return cls(column.name, values, counts, tuple(missing), column.spelling, read)

    def with_listed(self, listed: Sequence[str]) -> Domain:
        """The domain with values that a builder knows although no row has them."""
        known = set(self.texts)
        added = [text for text in dict.fromkeys(listed) if text not in known and text != MISSING]
        if not added:
            return self
        values = pa.array([*self.texts, *added], pa.string())
        counts = np.append(self.counts, np.zeros(len(added), np.int64))
        return Domain(self.name, values, counts, self.missing, self.spelling)

    @cached_property
    def texts(self) -> list[str]:
        """The values as text."""
        return list(as_text(self.values).to_pylist())

    @cached_property
    def numbers(self) -> list[Decimal | None]:
        """The values as exact numbers, None for what is none."""
        if self.spelling is not None and self.spelling.number is not None:
            if self.read is not None:
                return [value if isinstance(value, Decimal) else None for value in self.read]
            return [self.spelling.number_of(text) for text in self.texts]
        return [parse_number(text) for text in self.texts]

    @cached_property
    def moments(self) -> list[Moment | None] | None:
        """The values as moments if their spelling is one of dates, None for what is none."""
        if self.spelling is None or self.spelling.date is None:
            return None
        if self.read is not None:
            return [value if isinstance(value, Moment) else None for value in self.read]
        return [self.spelling.moment_of(text) for text in self.texts]

    @cached_property
    def seconds(self) -> npt.NDArray[np.int64]:
        """The moments as seconds since 1970; 0 for what is none."""
        times = [_EPOCH if moment is None else moment.time for moment in self.moments or ()]
        return np.array([(time - _EPOCH) // _SECOND for time in times], dtype=np.int64)

    @cached_property
    def places_by_precision(self) -> dict[DatePrecision, npt.NDArray[np.int64]]:
        """Where moments of each precision stand."""
        places: dict[DatePrecision, list[int]] = {}
        for place, moment in enumerate(self.moments or ()):
            if moment is not None:
                places.setdefault(moment.precision, []).append(place)
        return {precision: np.array(some) for precision, some in places.items()}

    @cached_property
    def rows_by_number(self) -> dict[Decimal, int]:
        """How many rows have each number, in ascending order."""
        rows: dict[Decimal, int] = {}
        for number, count in zip(self.numbers, self.counts.tolist(), strict=True):
            if number is not None:
                rows[number] = rows.get(number, 0) + count
        return dict(sorted(rows.items()))

    @property
    def owner(self) -> str:
        """Whose values these are, for errors."""
        return f"the column '{self.name}'" if self.name else "the data"

    def __len__(self) -> int:
        return len(self.values)


class Builder(Parameters, tag_field="builder"):
    """A way to make a hierarchy from values, with its parameters."""

    name: ClassVar[str]
    kinds: ClassVar[frozenset[ValueKind]] = frozenset(ValueKind)
    """The kinds of values that it takes; it refuses all others."""

    @classmethod
    @abstractmethod
    def examples(cls) -> tuple[Builder, ...]:
        """Instances for the common tests; they must take any values of their kinds."""

    @property
    @abstractmethod
    def height(self) -> int | None:
        """The height of every hierarchy that it builds, or None if that depends on the values."""

    @property
    def looks_at_data(self) -> bool:
        """Whether the label of a value may depend on which other values there are, or how often they occur.

        Only a builder for which it does not fits promises about what one row may change.
        """
        return True

    @abstractmethod
    def generalize(self, domain: Domain) -> list[Labels]:
        """For each level from 1 to below the root, the label of each value of a domain that is not empty."""

    @property
    def listed(self) -> tuple[str, ...]:
        """Values that the parameters name; they belong to the hierarchy even if no row has them."""
        return ()

    def root(self, domain: Domain) -> str:
        """The label of the highest level."""
        del domain
        return ROOT

    def missing_labels(self, domain: Domain, below_root: int) -> Labels:
        """The labels of the missing value on the levels below the root."""
        del domain
        return [MISSING] * below_root

    def build(self, values: pa.Array) -> Hierarchy:
        """The hierarchy of some values.

        It has a line for every value, a missing one included, is monotone, has one root and depends on
        the values and how often each occurs, never on their order.
        """
        return self.build_column(encode_column("", pa.chunked_array([values])))

    def build_column(self, column: Column) -> Hierarchy:
        """The hierarchy of the values of a column."""
        domain = Domain.of(column).with_listed(self.listed)
        if not len(domain) and not domain.missing:
            raise HierarchyError(
                "hierarchy.no-values-nothing-generalize",
                "{owner} has no values: there is nothing to generalize",
                owner=domain.owner,
            )
        levels = self.generalize(domain) if len(domain) else [[] for _ in range(1, self.height or 1)]
        absent = self.missing_labels(domain, len(levels))
        labels = [level + [label] * len(domain.missing) for level, label in zip(levels, absent, strict=True)]
        values = [*domain.texts, *domain.missing]
        return Hierarchy.from_levels(values, [*labels, [self.root(domain)] * len(values)])

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that differ from their defaults, as a job file would give them."""
        return {
            f.name: value
            for f in fields_of(type(self))
            if (value := getattr(self, f.name)) != f.default and value is not None
        }

    def __str__(self) -> str:
        """The builder as an inline table of a job file."""
        return inline_table({"builder": self.name, **self.parameters})


MOST_LEVELS = 64
MOST_LABELS = 10_000
MOST_MEMBERS = 100_000
"""More than that help nobody, and are refused before anything is built."""


def per_level(given: int | Sequence[int]) -> tuple[int, ...]:
    """A number for each level; a single number is for the only level."""
    return tuple(given) if isinstance(given, Sequence) else (given,)


def distinct_names(names: Iterable[str]) -> Labels:
    """Names for groups; a name that occurs again gets a number, so that groups stay apart.

    >>> distinct_names(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    distinct: dict[str, None] = {}
    for name in names:
        free, number = name, 1
        while free in distinct:
            number += 1
            free = f"{name} ({number})"
        distinct[free] = None
    return list(distinct)


def inline_table(table: Mapping[str, Any]) -> str:
    """A mapping as a TOML inline table.

    >>> inline_table({"builder": "intervals", "width": (5, 10)})
    '{builder = "intervals", width = [5, 10]}'
    """
    return "{" + ", ".join(f"{toml_key(key)} = {toml_value(value)}" for key, value in table.items()) + "}"


def toml_key(key: str) -> str:
    """A key as TOML writes it."""
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else toml_value(key)


def toml_value(value: Any) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, Mapping):
        return inline_table(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(_escape(character) for character in value) + '"'
    return str(value)


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"
