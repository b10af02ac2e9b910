"""Publishing methods that do not choose one node for all rows.

There are two kinds, both called by the name of an algorithm in a job, both under the same privacy models and
both judged by nobody but the common path:

- A `Method` says for every quasi-identifier how each row is to be written. The classes are those of the
  written values; they are measured by the same losses and verified by the same independent check as the
  release of a search. `METHODS` in `recoding/__init__.py` lists them.
- A `Bucketization` leaves quasi-identifiers as they are and breaks their link to the sensitive values
  instead. Its release is one or several tables of its own. `BUCKETIZATIONS` lists them.

How to write cells: `recoding/labels.py` has the words (a value, a label of the hierarchy, `[20, 29]`,
`{a, b}`, '*') and reads them again for the verification, which refuses any cell that does not stand for the
original value of its row. Give `WrittenColumn` the `extents` that you know, or losses take unknown words
for '*'.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import SearchProblem
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import DifferentialPrivacy
from tarnkappe.recoding.written import WrittenColumn
from tarnkappe.schema import Parameters
from tarnkappe.table import Table, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True, eq=False)
class Recoding:
    """What a method found.

    Attributes:
        written: every quasi-identifier as it is to be written, row by row.
        kept: which rows are released; the others are suppressed.
        optimal: whether nothing that the method may write has a smaller loss, proven.
        bound: a loss that nothing the method may write goes below, if one is proven.
        stopped: why it ended early ("interrupted", "out of time"), or "" if it did not.
        steps: what it did, in words, for the report. They name columns and numbers, no value of the data.
        levels: the level of each quasi-identifier, if the method chose one node for all rows after all; it is
            then released as the node of a search is.
    """

    written: Mapping[str, WrittenColumn]
    kept: Mask
    optimal: bool = False
    bound: float | None = None
    stopped: str = ""
    steps: tuple[str, ...] = ()
    levels: Mapping[str, int] | None = None


class Method(Parameters, tag_field="algorithm", kw_only=True):
    """A publishing method; its fields are the parameters of a job file."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """What it does and when it is the right one, in a sentence or two."""
    keeps_level_limits: ClassVar[bool] = False
    """Whether it keeps to the least and the greatest level that a job may ask for."""
    any_column_order: ClassVar[bool] = True
    """Whether the order of the columns does not matter."""
    one_node: ClassVar[bool] = False
    """Whether it chooses one node for all rows, so that every loss can measure it."""

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Instances for the common tests."""
        return (cls(),)

    def check(self, problem: SearchProblem) -> None:
        """Refuse, before any work, what the method is not made for; one with more to refuse extends this.

        Raises:
            ParameterError: if it could not keep what the problem asks for.
        """
        refuse_differential_privacy(problem, self.name)
        if problem.level_limits and not self.keeps_level_limits:
            raise ParameterError(
                "recoding.not-choose-levels-cannot-keep",
                "{name} does not choose levels, so it cannot keep those of {level_limits}: leave them out, "
                "or use a search",
                name=self.name,
                level_limits=", ".join(problem.level_limits),
            )
        if not problem.loss.measures_cells and not self.one_node:
            able = [each.name for each in LOSSES if each.examples()[0].measures_cells]
            raise ParameterError(
                "recoding.cannot-measure-table-columns-several",
                "{loss} cannot measure a table whose columns are at several levels at once, as {name} makes"
                " it: use {able}",
                loss=problem.loss,
                name=self.name,
                able=", ".join(able),
            )

    @abstractmethod
    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Recode every row so that the models of the problem hold.

        Args:
            rows: the rows one by one (`problem.tuples` has them merged); quasi-identifiers have levels. With
                a population its rows follow with a count of 0, and they must be written too.
            problem: the columns, the models, the loss and how many rows may be suppressed.
            progress: told about the progress of long work.

        Raises:
            NoSolutionError: if the method finds nothing that keeps the promises.
            ParameterError: if the problem is none that the method can solve.
        """


@dataclasses.dataclass(frozen=True, eq=False)
class Buckets:
    """What a bucketization found.

    Attributes:
        bucket: for each row, the number of its bucket from 0; -1 if it is suppressed.
        tables: the tables of the release by name, each in an order that tells nothing.
        steps: what it did, in words, for the report.
        accepts: what an attacker may still learn, in words, for the report.
    """

    bucket: npt.NDArray[np.int32]
    tables: Mapping[str, pa.Table]
    steps: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ()


class Bucketization(Parameters, tag_field="algorithm", kw_only=True):
    """A method whose release is tables of its own; its fields are the parameters of a job file."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """What it does and when it is the right one, in a sentence or two."""
    table_names: ClassVar[tuple[str, ...]]
    """The names of its tables; the first goes to the output of a job, the others beside it."""

    def check(self, problem: SearchProblem) -> None:
        """Refuse, before any work, what it is not made for."""
        refuse_differential_privacy(problem, self.name)

    @abstractmethod
    def bucketize(
        self,
        table: Table,
        rows: Tuples,
        problem: SearchProblem,
        seed: int | None,
        progress: Progress | None = None,
    ) -> Buckets:
        """Put the rows into buckets whose sensitive values meet the models, and make the tables.

        Args:
            table: the input with its roles; identifiers must not get into any table.
            rows: its rows as codes, one by one.
            problem: the columns, the models and how many rows may be suppressed.
            seed: for tests; without it, randomness comes from the operating system.
            progress: told about the progress of long work.

        Raises:
            NoSolutionError: if it finds nothing that keeps the promises.
        """

    @abstractmethod
    def read(self, tables: Mapping[str, pa.Table], quasi_identifiers: Sequence[str]) -> pa.Table:
        """The release as one table with a column `bucket`, from the written tables alone.

        The independent check groups its rows by bucket. Any way to put a bucket's sensitive values beside its
        quasi-identifiers will do, since the models look at whole buckets.
        """


def refuse_differential_privacy(problem: SearchProblem, name: str) -> None:
    """Refuse a promise that no method can keep which looks at the data before it decides."""
    for part in (part for model in problem.models for part in model.parts):
        if isinstance(part, DifferentialPrivacy):
            raise ParameterError(
                "recoding.decides-looking-data-fix",
                "{part}: {name} decides by looking at the data: fix levels instead",
                part=part.name,
                name=name,
            )


MOST_TOLD = 10
"""So many columns are named of those by which regions were cut."""


def told_cuts(made: Mapping[str, int]) -> str:
    """By which columns regions were cut, the most frequent first; of a wide table the first of them.

    >>> told_cuts({"age": 3, "sex": 1, "zip": 0})
    '3 by age, 1 by sex'
    """
    some = sorted(((times, name) for name, times in made.items() if times), key=lambda pair: -pair[0])
    told = [f"{times:,} by {name}" for times, name in some[:MOST_TOLD]]
    further = sum(times for times, _ in some[MOST_TOLD:])
    if further:
        told.append(f"{further:,} by {len(some) - MOST_TOLD:,} others")
    return ", ".join(told)
