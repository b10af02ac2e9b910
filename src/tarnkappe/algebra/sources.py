"""Where the rows of lazy expressions are, and how a session over them is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.decimals import with_decimals
from tarnkappe.algebra.declarations import Declarations
from tarnkappe.algebra.noise import NoiseDistribution
from tarnkappe.algebra.noise_plan import read_noise
from tarnkappe.errors import InputError, ParameterError
from tarnkappe.hierarchy.plan import HierarchyPlan
from tarnkappe.table import Role, Table, read
from tarnkappe.table.files import Format, format_of
from tarnkappe.table.formats.address import is_address, shown

if TYPE_CHECKING:  # it loads Ibis
    from tarnkappe.algebra.session import QuerySession

UNNAMED = "data"


@dataclass(frozen=True, eq=False)
class RelationSource:
    """One relation: its name, its columns and where its rows are."""

    name: str
    columns: tuple[str, ...]
    place: Any
    """A file, an address, an Arrow table, or an Ibis table that is asked when the query runs."""
    engine: str | None = None
    roles: Mapping[str, Role] = field(default_factory=dict)

    @property
    def is_database(self) -> bool:
        """Whether the rows stay in a database."""
        return is_address(self.place)

    def rows(self) -> str | Path | pa.Table:
        """What an engine reads."""
        return self.place.to_pyarrow() if _is_ibis(self.place) else self.place


def source_of(source: Any, name: str | None, table: str | None, engine: str | None) -> RelationSource:
    """A source from anything that holds a table."""
    if is_address(source):
        if table is None:
            raise ParameterError(
                "algebra.pass-table-name-table",
                "{source}: pass `table`, the name of a table in it",
                source=shown(source),
            )
        if name not in (None, table):
            raise ParameterError(
                "algebra.table-database-keeps-name",
                "a table of a database keeps its name: call it '{table}'",
                table=table,
            )
        from tarnkappe.algebra.lowering import connect

        with connect(source) as backend:
            if table not in backend.relations:
                raise InputError(
                    "algebra.no-table",
                    "{source}: there is no table '{table}'",
                    source=shown(source),
                    table=table,
                )
            return RelationSource(table, backend.relations[table], source, engine)
    if table is not None:
        raise ParameterError("algebra.table-databases-leave", "`table` is for databases: leave it out")
    if _is_ibis(source):
        stored = getattr(source.op(), "name", None)  # a table has a name, what is computed from it has none
        return RelationSource(name or stored or UNNAMED, tuple(source.columns), source, engine)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_file() and format_of(path) is Format.PARQUET:
            schema = pyarrow.parquet.read_schema(path)
            return RelationSource(name or path.stem, tuple(schema.names), path, engine)
        columns, rows = _in_memory(read(path))
        return RelationSource(name or path.stem, columns, with_decimals(rows), engine)
    held = source if isinstance(source, Table) else read(source)
    roles = {
        column: role for column, role in held.roles.items() if role not in (Role.INSENSITIVE, Role.UNSTATED)
    }
    return RelationSource(name or UNNAMED, *_in_memory(held), engine, roles)


def _in_memory(table: Table) -> tuple[tuple[str, ...], pa.Table]:
    return table.column_names, table.data


def _is_ibis(source: Any) -> bool:
    return type(source).__module__.startswith("ibis.")


def declared(
    name: str,
    hierarchies: Mapping[str, HierarchyPlan],
    noise: Mapping[str, Any],
    roles: Mapping[str, Role | str],
    keys: Sequence[Sequence[str]],
    bucket: int,
    not_null: Sequence[str] = (),
    person: str | None = None,
    within: Mapping[str, Sequence[str]] | None = None,
    ordered_like: Mapping[str, Sequence[str]] | None = None,
    least_rows: int | None = None,
) -> Declarations:
    """What is said of a relation and its columns."""
    return Declarations(
        hierarchies=hierarchies,
        noise={
            column: said if isinstance(said, NoiseDistribution) else read_noise(column, said)
            for column, said in noise.items()
        },
        bucket=bucket,
        roles={column: Role.parse(role) for column, role in roles.items()},
        keys={name: [frozenset(key) for key in keys]} if keys else {},
        not_null={name: frozenset(not_null)} if not_null else {},
        inclusions=[(name, other, frozenset(columns)) for other, columns in (within or {}).items()],
        orders=[
            (frozenset({name, other}), frozenset(columns)) for other, columns in (ordered_like or {}).items()
        ],
        least_rows={} if least_rows is None else {name: least_rows},
        persons={} if person is None else {name: person},
    )


@dataclass(frozen=True)
class Sources:
    """The relations of an expression, by name, and what is said of them."""

    relations: Mapping[str, RelationSource]
    declarations: Declarations

    def merged(self, other: Sources) -> Sources:
        """The relations of both; one name cannot mean two of them."""
        for name, source in other.relations.items():
            mine = self.relations.get(name, source)
            if mine is not source and not (source.is_database and mine.place == source.place):
                raise ParameterError(
                    "algebra.two-relations-called-give",
                    "two relations are called '{name}': give one of them another name",
                    name=name,
                )
        return Sources({**self.relations, **other.relations}, self.declarations.merged(other.declarations))

    def catalog(self) -> Catalog:
        """The catalog before any data are looked at."""
        return self.declarations.catalog({name: source.columns for name, source in self.relations.items()})

    @contextmanager
    def session(self, **options: Any) -> Iterator[QuerySession]:
        """A session over the relations, with the options of `QuerySession`."""
        from tarnkappe.algebra.lowering import connect
        from tarnkappe.algebra.session import QuerySession

        sources = self.relations.values()
        databases = {str(source.place) for source in sources if source.is_database}
        several = len(databases) > 1 or (databases and not all(source.is_database for source in sources))
        engines = {source.engine for source in sources if source.engine is not None}
        if len(engines) > 1:
            raise ParameterError(
                "algebra.query-runs-engine",
                "a query runs in one engine, not in {engines}",
                engines=" and ".join(sorted(engines)),
            )
        place: Any = {name: source.rows() for name, source in self.relations.items()}
        if several:
            place = self._side_by_side()
        elif databases:
            place = databases.pop()
        with connect(place, engine=engines.pop() if engines else None) as backend:
            yield QuerySession(backend, self.declarations.over(backend), **options)

    def _side_by_side(self) -> list[Any]:
        """Relations of several places: what DuckDB reads, and the databases that stand beside it."""
        from tarnkappe.algebra.lowering.connecting import attached_table

        read: dict[str, Any] = {}
        others: list[str] = []
        for name, source in self.relations.items():
            found = attached_table(str(source.place), name) if source.is_database else source.rows()
            if found is None:
                others.append(str(source.place))
            else:
                read[name] = found
        return [*([read] if read else []), *dict.fromkeys(others)]
