"""What a user says of relations and columns, before any data are looked at.

A catalog is made of it: hierarchies and noise are read or built when a query first needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from tarnkappe.algebra.catalog import LEAST_BUCKET, Catalog
from tarnkappe.algebra.nodes import Projection, Relation
from tarnkappe.algebra.noise import NoiseDistribution
from tarnkappe.algebra.noise_plan import NoisePlan
from tarnkappe.algebra.persons import Persons
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.errors import ColumnError, Reason
from tarnkappe.schema import near
from tarnkappe.table import Role
from tarnkappe.table.encoding import encode_column

if TYPE_CHECKING:  # they load Ibis, and every builder
    from tarnkappe.algebra.lowering import Backend
    from tarnkappe.hierarchy import Hierarchy
    from tarnkappe.hierarchy.plan import HierarchyPlan

Thing = TypeVar("Thing")
Values = Callable[[str], pa.ChunkedArray]
"""The distinct values of a column, in its type."""

PROPOSED: HierarchyPlan = {"builder": "auto"}


@dataclass(frozen=True)
class Declarations:
    """What is stated of columns and relations; see `Catalog` for what each means.

    A column without a hierarchy gets one that is proposed from its values, if a query generalizes it.
    """

    hierarchies: Mapping[str, HierarchyPlan] = field(default_factory=dict)
    noise: Mapping[str, NoiseDistribution | NoisePlan] = field(default_factory=dict)
    bucket: int = LEAST_BUCKET
    roles: Mapping[str, Role] = field(default_factory=dict)
    keys: Mapping[str, Collection[frozenset[str]]] = field(default_factory=dict)
    not_null: Mapping[str, Collection[str]] = field(default_factory=dict)
    inclusions: Collection[tuple[str, str, frozenset[str]]] = ()
    orders: Collection[tuple[frozenset[str], frozenset[str]]] = ()
    least_rows: Mapping[str, int] = field(default_factory=dict)
    persons: Persons = field(default_factory=dict)
    public: Collection[str] = ()

    def catalog(self, relations: Mapping[str, tuple[str, ...]], values: Values | None = None) -> Catalog:
        """The catalog for relations with these columns.

        Without `values` no data are looked at: there are no hierarchies, and noise is over texts.
        """
        present = {column for columns in relations.values() for column in columns}
        for column in (*self.hierarchies, *self.noise, *self.roles):
            if column not in present:
                meant = near(column, present)
                hint = (
                    Reason("schema.colon-meant", ": did you mean '{meant}'?", meant=meant[0]) if meant else ""
                )
                raise ColumnError(
                    "algebra.no-relation-column-described",
                    "no relation has a column '{column}', which is described{hint}",
                    column=column,
                    hint=hint,
                )
        hierarchies = LazyMapping(present if values else (), lambda column: self._hierarchy(column, values))
        noise = LazyMapping(self.noise, lambda column: self._noise(column, hierarchies, values))
        return Catalog(
            relations={name: tuple(columns) for name, columns in relations.items()},
            hierarchies=hierarchies,
            noise=noise,
            bucket=self.bucket,
            roles=self.roles,
            keys={name: keys for name, keys in self.keys.items() if name in relations},
            not_null={name: columns for name, columns in self.not_null.items() if name in relations},
            inclusions=[each for each in self.inclusions if {each[0], each[1]} <= set(relations)],
            orders=[each for each in self.orders if each[0] <= set(relations)],
            least_rows={name: rows for name, rows in self.least_rows.items() if name in relations},
            persons={name: column for name, column in self.persons.items() if name in relations},
            public=frozenset(self.public) & set(relations),
            from_data={column for column in present if isinstance(self._plan(column), Mapping)},
        )

    def over(self, backend: Backend) -> Catalog:
        """The catalog of the relations that a backend has; it looks at the data when a query needs it."""
        return self.catalog(backend.relations, lambda column: _values(backend, column))

    def merged(self, other: Declarations) -> Declarations:
        """Both together; what the other says of a column or a relation counts."""
        return Declarations(
            {**self.hierarchies, **other.hierarchies},
            {**self.noise, **other.noise},
            max(self.bucket, other.bucket),
            {**self.roles, **other.roles},
            {**self.keys, **other.keys},
            {**self.not_null, **other.not_null},
            [*self.inclusions, *other.inclusions],
            [*self.orders, *other.orders],
            {**self.least_rows, **other.least_rows},
            {**self.persons, **other.persons},
            frozenset(self.public) | frozenset(other.public),
        )

    def _hierarchy(self, column: str, values: Values | None) -> Hierarchy:
        from tarnkappe.hierarchy.plan import planned_hierarchy

        assert values is not None
        return planned_hierarchy(self._plan(column), encode_column(column, values(column)))

    def _plan(self, column: str) -> HierarchyPlan:
        return self.hierarchies.get(column, PROPOSED)

    def _noise(
        self, column: str, hierarchies: Mapping[str, Hierarchy], values: Values | None
    ) -> NoiseDistribution:
        plan = self.noise[column]
        if isinstance(plan, NoiseDistribution):
            return plan
        stated = plan.needs_hierarchy and column in self.hierarchies
        hierarchy = hierarchies.get(column) if stated else None
        return plan.distribution(hierarchy, values(column).type if values else pa.string())


@dataclass(frozen=True)
class StatedCatalog:
    """What somebody says of relations, before any data are looked at.

    Attributes:
        sources: where the rows of each relation are.
        columns: the columns of relations without rows; they can be explained, but not run.
        declarations: all that is said of columns and relations.
    """

    sources: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    declarations: Declarations = field(default_factory=Declarations)


def _values(backend: Backend, column: str) -> pa.ChunkedArray:
    """The distinct values of a column in all relations that have it."""
    found = []
    for name, columns in backend.relations.items():
        if column in columns:
            plan = Projection(Relation(name, columns), (column,), distinct=True)
            found.append(
                backend.execute(ParsedQuery(plan, (column,)), Catalog(backend.relations)).column(column)
            )
    kinds = {values.type for values in found}
    arrays = [values if len(kinds) == 1 else values.cast(pa.string()) for values in found]
    return pa.chunked_array([chunk for values in arrays for chunk in values.chunks], arrays[0].type)


class LazyMapping(Mapping[str, Thing]):
    """A mapping whose entries are made when they are first asked for, and kept."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Thing]) -> None:
        self._names, self._make = tuple(sorted(names)), make
        self._made: dict[str, Thing] = {}

    def __getitem__(self, name: str) -> Thing:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
