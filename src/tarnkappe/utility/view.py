"""A release as its reader answers queries on it.

However a release was made, a reader takes each row for a distribution over values in each column: one value
where it is exact, all values under a label where it is generalized, the values of its group where Anatomy put
them into another table. Columns are taken as independent within a row. In a sliced table they are so between
groups of columns only, and within a bucket all rows of one group go with all rows of another.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy  # its parts are loaded when they are used

from tarnkappe.errors import ParameterError
from tarnkappe.recoding import Anatomy, Bucketization, Slicing
from tarnkappe.table.encoding import Codes, encode_column
from tarnkappe.utility.domain import ColumnDomain, ReleasedCells, Weights
from tarnkappe.utility.workload import WorkloadQuery


@dataclasses.dataclass(frozen=True, eq=False)
class ReleaseReader:
    """Rows that are independent of each other.

    Attributes:
        domains: what is known of each column.
        cells: each column as its reader understands it.
        num_rows: how many rows there are.
    """

    domains: Mapping[str, ColumnDomain]
    cells: Mapping[str, ReleasedCells]
    num_rows: int

    def answer(self, query: WorkloadQuery) -> float:
        """What a reader of the release answers."""
        answer = np.ones(self.num_rows)
        for name, wanted in self.wanted(query).items():
            answer *= self.cells[name].expectation(wanted)
        return float(answer.sum())

    def marginal(self, name: str) -> Weights:
        """How many rows are to be expected with each value of a column."""
        cells = self.cells[name]
        rows = np.bincount(cells.words, minlength=cells.meanings.shape[0]).astype(np.float64)
        return np.asarray(cells.meanings.T @ rows, dtype=np.float64)

    def joint(self, first: str, second: str, left: Weights, right: Weights) -> Weights:
        """What is to be expected of two columns together, summed over the rows.

        Args:
            first: a column.
            second: another one.
            left: what each value of the first counts, in one or several ways (columns of a matrix).
            right: the same for the second.
        """
        ours, theirs = self.cells[first], self.cells[second]
        both = ours.words.astype(np.int64) * theirs.meanings.shape[0] + theirs.words
        pairs, rows = np.unique(both, return_counts=True)
        one, other = np.divmod(pairs, theirs.meanings.shape[0])
        known, asked = (ours.meanings @ left)[one], (theirs.meanings @ right)[other]
        return np.asarray((known * rows[:, None]).T @ asked, dtype=np.float64)

    def wanted(self, query: WorkloadQuery) -> dict[str, Weights]:
        """For each column of a query, what each value counts: 0 or 1, and the number where it is summed."""
        wanted = {name: meets.astype(np.float64) for name, meets in query.conditions.items()}
        if query.summed is not None:
            numbers = self.domains[query.summed].numbers
            assert numbers is not None, "only columns of numbers are summed"
            known = np.nan_to_num(numbers)  # a missing number adds nothing to a sum
            wanted[query.summed] = wanted.get(query.summed, np.ones(len(known))) * known
        return wanted


@dataclasses.dataclass(frozen=True, eq=False)
class SlicedView(ReleaseReader):
    """Rows of a sliced table.

    Attributes:
        groups: the columns that stay together.
        buckets: the bucket of each row.
    """

    groups: Sequence[Sequence[str]]
    buckets: npt.NDArray[np.int64] | Codes

    def answer(self, query: WorkloadQuery) -> float:
        """What a reader answers: in each bucket, the shares of all groups of columns multiplied."""
        sizes = np.bincount(self.buckets).astype(np.float64)
        answer = sizes.copy()
        wanted = self.wanted(query)
        for group in self.groups:
            own = [name for name in group if name in wanted]
            if own:
                rows = np.ones(self.num_rows)
                for name in own:
                    rows *= self.cells[name].expectation(wanted[name])
                answer *= np.bincount(self.buckets, rows, len(sizes)) / np.maximum(sizes, 1)
        return float(answer.sum())

    def joint(self, first: str, second: str, left: Weights, right: Weights) -> Weights:
        """In each bucket, all rows of one group of columns go with all rows of another."""
        if any(first in group and second in group for group in self.groups):
            return super().joint(first, second, left, right)
        sizes = np.bincount(self.buckets).astype(np.float64)
        rows = np.arange(self.num_rows)
        member = scipy.sparse.coo_array((np.ones(len(rows)), (self.buckets, rows))).tocsr()
        known, asked = (
            member @ (self.cells[name].meanings @ counts)[self.cells[name].words]
            for name, counts in ((first, left), (second, right))
        )
        return np.asarray((known / np.maximum(sizes, 1)[:, None]).T @ asked, dtype=np.float64)


def exact_view(domains: Mapping[str, ColumnDomain], table: pa.Table) -> ReleaseReader:
    """A table whose values are what they are: the original."""
    return ReleaseReader(
        domains, {n: ReleasedCells.exact(d, table.column(n)) for n, d in domains.items()}, table.num_rows
    )


def written_view(domains: Mapping[str, ColumnDomain], table: pa.Table) -> ReleaseReader:
    """A table of generalized values."""
    return ReleaseReader(
        domains, {n: ReleasedCells.written(d, table.column(n)) for n, d in domains.items()}, table.num_rows
    )


def bucketized_view(
    domains: Mapping[str, ColumnDomain], method: Bucketization, tables: Mapping[str, pa.Table]
) -> ReleaseReader:
    """The tables of a bucketization, answered by their own rule."""
    named = (tables[name] for name in method.table_names)
    if isinstance(method, Anatomy):
        return anatomy_view(domains, *named)
    if isinstance(method, Slicing):
        return sliced_view(domains, *named)
    raise ParameterError(
        "utility.nobody-knows-how-answer",
        "nobody knows how to answer queries on the tables of {method}",
        method=method.name,
    )


def anatomy_view(domains: Mapping[str, ColumnDomain], people: pa.Table, values: pa.Table) -> ReleaseReader:
    """The two tables of Anatomy: a row has each value of its group as likely as it is frequent there.

    Args:
        domains: what is known of each column.
        people: the first table, with a group in its last column.
        values: the second table: group, sensitive values, count.
    """
    group, count = values.column_names[0], values.column_names[-1]
    both = [*people.column(group).chunks, *values.column(group).chunks]
    groups = encode_column(group, pa.chunked_array(both))
    ours, theirs = groups.codes[: people.num_rows], groups.codes[people.num_rows :]
    counts = np.asarray(values.column(count), dtype=np.float64)
    sizes = np.bincount(theirs, counts, groups.cardinality)
    cells = {}
    for name, domain in domains.items():
        if name not in values.column_names:
            cells[name] = ReleasedCells.exact(domain, people.column(name))
            continue
        shares = scipy.sparse.coo_array(
            (counts / sizes[theirs], (theirs, domain.codes(values.column(name)))),
            shape=(groups.cardinality, domain.size),
        )
        cells[name] = ReleasedCells(ours, shares.tocsr())
    return ReleaseReader(domains, cells, people.num_rows)


def sliced_view(domains: Mapping[str, ColumnDomain], sliced: pa.Table, described: pa.Table) -> SlicedView:
    """A sliced table, with the table that tells which columns stay together."""
    members: dict[int, list[str]] = {}
    for name, group in zip(
        described.column("column").to_pylist(), described.column("group").to_pylist(), strict=True
    ):
        members.setdefault(group, []).append(name)
    bucket = sliced.column_names[-1]
    return SlicedView(
        domains,
        {name: ReleasedCells.exact(domain, sliced.column(name)) for name, domain in domains.items()},
        sliced.num_rows,
        tuple(tuple(names) for names in members.values()),
        encode_column(bucket, sliced.column(bucket)).codes,
    )
