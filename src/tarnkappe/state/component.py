"""Components: the tables of one part of the house in a store, with a version of their own.

A store holds any components side by side, and a table of its own says which version of each. What is not
in that table was written by version 0.1.0, which had none: then the columns of its tables must be exactly
those of that version.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from tarnkappe.errors import InputError

if TYPE_CHECKING:
    from tarnkappe.state.audit import AuditLog

VERSIONS = sa.Table(
    "tarnkappe_schema",
    sa.MetaData(),
    sa.Column("component", sa.String, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("changed", sa.String, nullable=False),
    sa.Column("by_version", sa.String, nullable=False),
)
ABSENT, FIRST = 0, 1
"""The version of a component that is not in a store, and that of 0.1.0."""

Shape = Mapping[str, Sequence[str]]


@dataclasses.dataclass(frozen=True)
class Upgrade:
    """What a step works with; all of it is one transaction.

    Attributes:
        connection: the transaction.
        log: of the store.
        folder: where the files are that belong to the store, if there are any.
    """

    connection: sa.Connection
    log: AuditLog
    folder: Path | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Component:
    """The tables of one part of the house.

    Attributes:
        name: by which the store knows it.
        metadata: its tables, as they are in this version; nobody else's.
        migrations: the steps from version 1 on, each as `module:function`; loaded when they are due. A step
            never uses the tables of today: those will be others when it runs.
    """

    name: str
    metadata: sa.MetaData
    migrations: tuple[str, ...] = ()

    @property
    def version(self) -> int:
        """The version that this program works with."""
        return FIRST + len(self.migrations)

    @property
    def shape(self) -> Shape:
        """Its tables with their columns."""
        return {table.name: [column.name for column in table.columns] for table in self._tables}

    @property
    def first_shape(self) -> Shape:
        """The same in version 0.1.0."""
        text = resources.files("tarnkappe.state").joinpath("version_1.json").read_text(encoding="utf-8")
        found: dict[str, Shape] = json.loads(text)
        return found.get(self.name, {})

    @property
    def _tables(self) -> Sequence[sa.Table]:
        return self.metadata.sorted_tables

    def steps(self, version: int) -> list[Callable[[Upgrade], None]]:
        """What leads from a version to this one."""
        return [_loaded(path) for path in self.migrations[version - FIRST :]]


def _loaded(path: str) -> Callable[[Upgrade], None]:
    module, _, name = path.partition(":")
    step: Callable[[Upgrade], None] = getattr(import_module(module), name)
    return step


def create_tables(connection: sa.Connection, *tables: sa.Table) -> None:
    """Make new tables, with all that belongs to them."""
    for table in tables:
        table.create(connection, checkfirst=False)


class ComponentVersion(NamedTuple):
    """Where a component of a store stands: its version, and whether the store says so itself."""

    version: int
    is_noted: bool


def noted_versions(connection: sa.Connection) -> dict[str, sa.Row[Any]]:
    """What the store says about its components; nothing if version 0.1.0 wrote it, or nobody."""
    if not sa.inspect(connection).has_table(VERSIONS.name):
        return {}
    return {row.component: row for row in connection.execute(sa.select(VERSIONS))}


def standings(
    connection: sa.Connection, components: Iterable[Component], place: str
) -> dict[Component, ComponentVersion]:
    """Where components of a store stand.

    Raises:
        InputError: a newer program has written one, or it is not what any version writes.
    """
    noted, inspector = noted_versions(connection), sa.inspect(connection)
    there = set(inspector.get_table_names())
    found = {}
    for component in components:
        names = sorted(there & {*component.shape, *component.first_shape})
        shape = {name: [column["name"] for column in inspector.get_columns(name)] for name in names}
        said = noted.get(component.name)
        if said is None:
            found[component] = ComponentVersion(_unnoted_version(component, shape, place), is_noted=False)
            continue
        if not ABSENT < said.version <= component.version:
            raise InputError(
                "state.store-version-written-tarnkappe",
                "{place}: this store has version {version} of '{component}', written by Tarnkappe "
                "{by_version}, and this one knows versions up to {version_2}: install that one or a newer "
                "one; nothing was changed",
                place=place,
                version=said.version,
                component=component.name,
                by_version=said.by_version,
                version_2=component.version,
            )
        if said.version == component.version:
            _require_shape(shape, component.shape, place)
        found[component] = ComponentVersion(said.version, is_noted=True)
    return found


def _unnoted_version(component: Component, shape: Shape, place: str) -> int:
    if not shape:
        return ABSENT
    _require_shape(shape, component.first_shape, place)
    return FIRST


def _require_shape(found: Shape, wanted: Shape, place: str) -> None:
    """A store of another version has other columns: say so before anything is read or written wrongly."""
    for table in sorted({*found, *wanted}):
        there, needed = set(found.get(table, ())), set(wanted.get(table, ()))
        if there != needed:
            what = [f"lacks {', '.join(sorted(needed - there))}"] * bool(needed - there)
            what += [f"has {', '.join(sorted(there - needed))}"] * bool(there - needed)
            raise InputError(
                "state.store-written-another-version",
                "{place}: this store was written by another version of Tarnkappe: its table '{table}' "
                "{what}. Use that version, or name a new store; nothing was changed",
                place=place,
                table=table,
                what=" and ".join(what),
            )
