"""What an engine is: rows that stay where they are stored, and what is asked of them.

A full-domain search needs only the distinct combinations of values with how often each occurs. An engine
counts them in one pass (`group`); later it writes the chosen release in one statement (`release`), and
counts once more what it wrote, so that the promises are verified from the written values. The statements
are the same for all engines (`statements`); an engine says how to run them and how a release gets its name.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import pyarrow as pa

from tarnkappe.engines.statements import ReleasePlan, counting, in_words, left, releasing, repeating, unused
from tarnkappe.errors import InputError
from tarnkappe.table import Table
from tarnkappe.table.encoding import Counts, Progress
from tarnkappe.table.reading import Reading

SOURCE = "tarnkappe_source"
"""The view of the rows to anonymize."""

DIGITS = 16
"""So many digits of a hash order the rows: among 2**64 numbers, equal ones are rare, and harmless."""


@dataclasses.dataclass(frozen=True, eq=False)
class Grouped:
    """Distinct combinations of values, and in how many rows each of them occurs."""

    table: Table
    counts: Counts

    @property
    def num_rows(self) -> int:
        """How many rows the combinations stand for."""
        return int(self.counts.sum())


class StagedRelease(ABC):
    """A release that is written, but not yet handed over."""

    columns: tuple[str, ...]

    @abstractmethod
    def group(self, names: Sequence[str]) -> Grouped:
        """The distinct combinations of some of its columns."""


class Engine(ABC):
    """Rows that stay where they are.

    Attributes:
        source: where the rows are, as messages may show it.
        columns: the columns of the source, in their order.
        numbered: the view of the source in which rows are numbered.
        row: the column of that view that numbers them.
        reading: how a text file is read, if the rows are in one.
    """

    name: ClassVar[str]
    dialect: ClassVar[str]
    numbered: ClassVar[str] = SOURCE
    source: str
    columns: tuple[str, ...]
    row: str
    reading: Reading | None = None

    # ------------------------------------------------------------------ what is the same everywhere

    def group(self, names: Sequence[str], progress: Progress | None = None) -> Grouped:
        """The distinct combinations of some columns of the source, in one pass over it."""
        found = self.grouped(SOURCE, names, progress)
        if not found.num_rows:
            raise InputError("engines.no-rows", "{source}: there are no rows", source=self.source)
        return found

    def grouped(self, relation: str, names: Sequence[str], progress: Progress | None = None) -> Grouped:
        """The distinct combinations of some columns of any relation of the engine."""
        count = unused("n", names)
        statement = in_words(counting(relation, names, count), self.dialect)
        found = self.answer(statement, progress)
        counts = found.column(count).cast(pa.int64()).to_numpy()
        return Grouped(Table(found.select(list(names))), counts)

    def repeated(self, names: Sequence[str]) -> int:
        """How many rows agree with an earlier one in all these columns; rows without any value do not."""
        statement = in_words(repeating(SOURCE, names), self.dialect)
        (found,) = self.answer(statement).column(0).to_pylist()
        return int(found or 0)

    def statement(self, plan: ReleasePlan) -> str:
        """The one query whose answer is the release."""
        return in_words(releasing(self.numbered, plan, self.row, self.digest), self.dialect)

    def digest(self, text: Any) -> Any:
        """A cryptographic hash of a text in a statement; without its key, nobody can tell an order by it."""
        return left(text.hexdigest("sha256"), DIGITS)

    # ------------------------------------------------------------------ what differs

    @abstractmethod
    def answer(self, statement: str, progress: Progress | None = None) -> pa.Table:
        """The rows that a query gives."""

    @abstractmethod
    @contextmanager
    def release(self, plan: ReleasePlan, progress: Progress | None = None) -> Iterator[StagedRelease]:
        """Write the release in one statement; inside the context it can be looked at, but is not yet visible.

        What an engine makes visible itself, it does at the end of the context, and only if nothing was amiss.
        """
