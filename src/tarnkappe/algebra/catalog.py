"""The catalog: everything that a plan needs besides itself.

A plan names relations and columns. What belongs to a column (its hierarchy, its noise, its role) and what
holds of a relation (its columns, its keys) stands here, once, and not in every query.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from tarnkappe.algebra.facts import DeclaredFacts
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import Generalization, Randomization
from tarnkappe.algebra.noise import NoiseDistribution
from tarnkappe.algebra.person_paths import path_of, space_of
from tarnkappe.algebra.persons import Persons
from tarnkappe.algebra.plan import Plan, listed
from tarnkappe.algebra.roles import threads
from tarnkappe.algebra.statistics import Statistics
from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table import Role

if TYPE_CHECKING:  # it loads every builder
    from tarnkappe.hierarchy import Hierarchy

LEAST_BUCKET = 2
"""A bucket of one row would not be anonymized at all."""


@dataclass(frozen=True)
class Catalog:
    """What is known of relations and columns.

    Columns of the same name are the same column wherever they occur: one hierarchy, one noise, one role.

    Attributes:
        relations: the columns of each base relation.
        hierarchies: how a column generalizes.
        noise: what the noised cells of a column are drawn from.
        bucket: the least number of rows in a bucket of slicing.
        roles: what a column is to an attacker, where that is known; warnings depend on it.
        keys: the keys of a relation, each a set of columns: none of them is missing, and no two rows agree.
        not_null: the columns of a relation that are never missing.
        inclusions: (left, right, columns): every combination of values that the left has, the right has too.
        orders: (relations, columns): these relations store the same values of the columns in the same order.
        least_rows: a number of rows that a relation is promised not to fall below.
        public: the relations that need no protection; they may stand beside protected ones.
        persons: how the person of each row is found; without it, rows are counted.
        from_data: the columns whose hierarchies were made from the values of the data. Such a hierarchy tells
            which values somebody has, so noisy groups cannot come from it.
    """

    relations: Mapping[str, tuple[str, ...]]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    noise: Mapping[str, NoiseDistribution] = field(default_factory=dict)
    bucket: int = LEAST_BUCKET
    roles: Mapping[str, Role] = field(default_factory=dict)
    keys: Mapping[str, Collection[frozenset[str]]] = field(default_factory=dict)
    not_null: Mapping[str, Collection[str]] = field(default_factory=dict)
    inclusions: Collection[tuple[str, str, frozenset[str]]] = ()
    orders: Collection[tuple[frozenset[str], frozenset[str]]] = ()
    least_rows: Mapping[str, int] = field(default_factory=dict)
    persons: Persons = field(default_factory=dict)
    public: Collection[str] = ()
    from_data: Collection[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.bucket, bool) or not isinstance(self.bucket, int) or self.bucket < LEAST_BUCKET:
            raise ParameterError(
                "algebra.bucket-slicing-needs-least-rows",
                "a bucket of slicing needs at least {least_bucket} rows, or nobody in it is hidden; "
                "{bucket} is too few",
                least_bucket=LEAST_BUCKET,
                bucket=self.bucket,
            )
        columns = {column for declared in self.relations.values() for column in declared}
        _refuse_unknown(set(self.roles) - columns, "a role is given to", columns)
        for relation, keys in self.keys.items():
            for key in keys:
                self._require(relation, key, "a key")
        for relation, names in self.not_null.items():
            self._require(relation, names, "a column that is never missing")
        for left, right, shared in self.inclusions:
            self._require(left, shared, "an inclusion")
            self._require(right, shared, "an inclusion")
        for relations, ordered in self.orders:
            for relation in relations:
                self._require(relation, ordered, "an order")
        for relation in self.persons:
            path = path_of(self.persons, relation)
            assert path is not None
            self._require(relation, (path.own,), "a person")
            if path.to:
                self._require(path.to, (path.through,), f"the person of '{relation}'")
            space_of(self.persons, relation)  # refuses a path that ends nowhere
        for relation in self.public:
            self._require(relation, (), "that it is public")
            if relation in self.persons:
                raise ParameterError(
                    "algebra.declared-public-person-leave",
                    "'{relation}' is declared public, and with a person: leave one out",
                    relation=relation,
                )
        for relation in self.least_rows:
            self._require(relation, (), "a least number of rows")

    @property
    def never_missing(self) -> dict[str, frozenset[str]]:
        """For each relation the columns that are declared never to be missing, those of keys among them."""
        return {
            name: frozenset(self.not_null.get(name, ())).union(*self.keys.get(name, ()))
            for name in self.relations
        }

    def facts(self, statistics: Statistics | None = None) -> DeclaredFacts:
        """What the rules may rely on: what is declared here and what was counted."""
        counted = {name: known.rows for name, known in (statistics or {}).items() if name in self.relations}
        return DeclaredFacts(
            rows={name: rows for name, rows in counted.items() if rows is not None},
            least_rows=self.least_rows,
            keys=self.keys,
            not_null=self.not_null,
            inclusions=self.inclusions,
            orders=self.orders,
            static_noise=frozenset(column for column, noise in self.noise.items() if noise.is_static),
            hierarchies=frozenset(self.hierarchies),
            noise=frozenset(self.noise),
            bucket=self.bucket,
            stable_buckets=True,  # engines number rows by their positions, and slicing keeps the numbers
        )

    def for_plan(self, plan: Plan) -> Catalog:
        """The catalog in which columns that a plan renames still have their hierarchies and noise."""
        hierarchies: dict[str, Hierarchy] = {}
        noise: dict[str, NoiseDistribution] = {}
        for node in plan.walk():
            if not isinstance(node, Generalization | ModelGeneralization | Randomization):
                continue
            origins = threads(node.child)
            for column in sorted(node.attributes & node.child.schema):
                for origin in sorted({thread.column for thread in origins[column]}):
                    if not isinstance(node, Randomization):
                        if column not in self.hierarchies and origin in self.hierarchies:
                            hierarchies.setdefault(column, self.hierarchies[origin])
                    elif column not in self.noise and origin in self.noise:
                        noise.setdefault(column, self.noise[origin])
        if not hierarchies and not noise:
            return self
        return replace(
            self,
            hierarchies=ChainMap(hierarchies, cast("dict[str, Hierarchy]", self.hierarchies)),
            noise=ChainMap(noise, cast(dict[str, NoiseDistribution], self.noise)),
        )

    def _require(self, relation: str, columns: Collection[str], what: str) -> None:
        if relation not in self.relations:
            raise ParameterError(
                "algebra.declared-no-relation-catalog",
                "{what} is declared for '{relation}', which is no relation of the catalog",
                what=what,
                relation=relation,
            )
        declared = self.relations[relation]
        _refuse_unknown(set(columns) - set(declared), f"{what} of '{relation}' names", declared)


def _refuse_unknown(unknown: Collection[str], what: str, known: Collection[str]) -> None:
    if unknown:
        raise ColumnError(
            "algebra.but-only",
            "{what} {unknown}, but there are only {known}",
            what=what,
            unknown=listed(unknown),
            known=listed(known),
        )
