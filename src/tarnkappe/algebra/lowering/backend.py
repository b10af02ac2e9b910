"""What a backend is: relations in one engine, and queries over them that run there from end to end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pyarrow as pa

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.column_kinds import Kinds
from tarnkappe.algebra.facts import Declaration
from tarnkappe.algebra.lowering.declared import require
from tarnkappe.algebra.lowering.keyed import Randomness
from tarnkappe.algebra.lowering.lowering import Lowering
from tarnkappe.algebra.lowering.released import decoded, in_public_order
from tarnkappe.algebra.lowering.rows import kind
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.algebra.plan import listed
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.algebra.statistics import ColumnStatistics, RelationStatistics
from tarnkappe.errors import InputError
from tarnkappe.table import write
from tarnkappe.table.encoding import Progress

if TYPE_CHECKING:  # it loads every model
    from tarnkappe.privacy.verify import Verification


@dataclass(frozen=True)
class AttachedTable:
    """One table of a DuckDB file, which may stand beside files and tables of other databases."""

    path: Path
    address: str
    table: str


Source = str | Path | Any
"""A file, an Arrow table, or a table of a DuckDB file."""


class Backend(ABC):
    """Relations of one engine. Use it as a context manager, or `close` it.

    Attributes:
        name: the engine.
        source: where the relations are, as messages may show it.
        relations: the columns of each relation.
        parallelism: how many parts of a plan are worked on at the same time.
    """

    name: ClassVar[str]
    parallelism: int = 1
    source: str
    relations: Mapping[str, tuple[str, ...]]

    @abstractmethod
    def site(self, progress: Progress | None = None) -> AbstractContextManager[EngineSnapshot]:
        """One query's view of the relations, as they are when it begins."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the engine; nothing that queries made is left in it."""

    def execute(
        self,
        query: ParsedQuery,
        catalog: Catalog,
        *,
        key: bytes | None = None,
        shuffle: bool = True,
        promised: bool = False,
        relies_on: Collection[Declaration] = (),
        progress: Progress | None = None,
    ) -> pa.Table:
        """The result of a query.

        Args:
            query: the plan, and how its result is shown.
            catalog: hierarchies, noise and buckets.
            key: of the release, 32 bytes, from which all its chance but that of noisy aggregates follows: for
                tests. Without it, a fresh one is drawn from the operating system, and forgotten.
            shuffle: whether rows that the query leaves unordered come in a random order. Their stored order
                would link this result to others.
            promised: whether an epsilon is paid or promised for randomized columns; then values that their
                noise does not hide are refused.
            relies_on: what is declared of relations and the plan needs to be true: verified before it runs,
                on the rows that it runs on.
            progress: told of statements that take their time.

        Raises:
            NoSolutionError: a generalization meets fewer rows than its k, or a slicing fewer than a bucket.
            ParameterError: types do not go together, the catalog lacks what an operator needs, or something
                that is declared is not true.
        """
        (found,) = self.execute_all(
            [query],
            catalog,
            key=key,
            shuffle=shuffle,
            promised=promised,
            relies_on=relies_on,
            progress=progress,
        )
        return decoded(found)

    def execute_all(
        self,
        queries: Sequence[ParsedQuery],
        catalog: Catalog,
        *,
        key: bytes | None = None,
        shuffle: bool = True,
        promised: bool = False,
        relies_on: Collection[Declaration] = (),
        progress: Progress | None = None,
        verified: list[Verification] | None = None,
    ) -> list[pa.Table]:
        """The results of several queries on the same rows, each with draws of its own; else as `execute`.

        Texts may be dictionaries, which are smaller and faster to verify and to write. What operators verify
        where they run is added to `verified`.
        """
        for query in queries:
            query.plan.check()
        randomness = Randomness(key)
        with self.site(progress) as site:
            for declaration in relies_on:
                require(declaration, site, catalog.persons)
            lowering = Lowering(site, catalog, randomness, promised=promised)
            several = len(queries) > 1
            found = []
            for number, query in enumerate(queries):
                rows = lowering.rows(query.plan, (number,) if several else (), coded=True).onto(query.columns)
                found.append(site.fetch(rows.table).rename_columns(list(query.columns)))
        if verified is not None:
            verified += lowering.verified
        orders = [f"order of rows {number}" if several else "order of rows" for number in range(len(queries))]
        return [
            in_public_order(table, query.order, randomness.chance(order) if shuffle else None)
            for table, query, order in zip(found, queries, orders, strict=True)
        ]

    def write(
        self,
        query: ParsedQuery,
        catalog: Catalog,
        target: str | Path,
        *,
        key: bytes | None = None,
        promised: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write the result of a query to a new file, whole or not at all; returns the number of rows."""
        found = self.execute(query, catalog, key=key, promised=promised, progress=progress)
        write(found, target, progress=progress)
        return int(found.num_rows)

    def statistics(self, relation: str, columns: Collection[str] | None = None) -> RelationStatistics:
        """The exact number of rows of a relation, and about how many different values columns have.

        Without `columns` all of them are looked at; the fewer, the faster.
        """
        self._require(relation)
        asked = [name for name in self.relations[relation] if columns is None or name in columns]
        with self.site() as site:
            rows = site.relation(relation, numbered=False)
            distinct = {f"c{n}": site.about_distinct(rows.cell(name)) for n, name in enumerate(asked)}
            found = site.fetch(rows.table.aggregate(n=rows.table.count(), **distinct)).to_pylist()[0]
        known = {name: ColumnStatistics(int(found[f"c{n}"] or 0)) for n, name in enumerate(asked)}
        return RelationStatistics(int(found["n"]), known)

    def kinds(self, relation: str) -> Kinds:
        """What kind of values each column of a relation has."""
        self._require(relation)
        with self.site() as site:
            rows = site.relation(relation, numbered=False)
            return {column: kind(rows.cell(column)) for column in rows.columns}

    def types(self, relation: str) -> dict[str, Any]:
        """The type of each column of a relation, in the words of Ibis."""
        self._require(relation)
        with self.site() as site:
            rows = site.relation(relation, numbered=False)
            return {column: rows.cell(column).type() for column in rows.columns}

    def _require(self, relation: str) -> None:
        if relation not in self.relations:
            known = listed(self.relations) if self.relations else "none"
            raise InputError(
                "algebra.no-relation",
                "{source}: there is no relation '{relation}'; there are {known}",
                source=self.source,
                relation=relation,
                known=known,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
