"""What is in a store, and what can go: version 0.1.0 made tables of parts that had no business there."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from tarnkappe.errors import InputError
from tarnkappe.state.component import ABSENT, FIRST, Component, ComponentVersion, noted_versions, standings
from tarnkappe.state.log_tables import AUDIT
from tarnkappe.state.migrating import backups_of
from tarnkappe.state.store import Store, engine_of, why_not


@dataclasses.dataclass(frozen=True)
class ComponentStatus:
    """A component in a store.

    Attributes:
        component: its name.
        version: which version of it is there; None if it is not known.
        newest: the version that this program works with.
        rows: how many rows it has.
        state: `current`; `earlier`: it is brought to this version when what writes to it starts next; `newer`
            or `unknown`: this program does not open it; `left`: empty, and nobody has used it since 0.1.0.
    """

    component: str
    version: int | None
    newest: int
    rows: int
    state: str


def status(place: str | Path, components: Sequence[Component]) -> list[ComponentStatus]:
    """What is in a store; it is only read, whatever its version is.

    Raises:
        InputError: it cannot be read.
    """
    engine, name = engine_of(place, "read")
    try:
        with engine.connect() as connection:
            found = [_status(connection, component, name) for component in components]
    except SQLAlchemyError as error:
        raise InputError.because(why_not(name, error)) from None
    finally:
        engine.dispose()
    return [each for each in found if each.version != ABSENT]


def _status(connection: sa.Connection, component: Component, place: str) -> ComponentStatus:
    rows, noted = _rows(connection, component), noted_versions(connection).get(component.name)
    try:
        stands = standings(connection, [component], place)[component]
    except InputError:
        version = None if noted is None else int(noted.version)
        state = "newer" if version is not None and version > component.version else "unknown"
        return ComponentStatus(component.name, version, component.version, rows, state)
    state = "current" if stands.version == component.version else "earlier"
    if _is_left(component, stands, rows):
        state = "left"
    return ComponentStatus(component.name, stands.version, component.version, rows, state)


def _is_left(component: Component, stands: ComponentVersion, rows: int) -> bool:
    return component is not AUDIT and not stands.is_noted and stands.version == FIRST and rows == 0


def _rows(connection: sa.Connection, component: Component) -> int:
    return sum(
        connection.execute(sa.select(sa.func.count()).select_from(sa.table(name))).scalar_one()
        for name in _tables(connection, component)
    )


def _tables(connection: sa.Connection, component: Component) -> list[str]:
    there = set(sa.inspect(connection).get_table_names())
    return sorted(there & {*component.shape, *component.first_shape})


def backups(place: str | Path) -> list[Path]:
    """The backups of a store that were made before it was brought to another version."""
    engine, _ = engine_of(place, "write")
    path = engine.url.database if engine.dialect.name == "sqlite" else None
    engine.dispose()
    return [] if path is None else backups_of(Path(path))


def tidy(place: str | Path, components: Sequence[Component]) -> list[str]:
    """Drop the empty tables of components that nobody has used since 0.1.0; their names.

    Raises:
        InputError: this store was not brought to this version yet, so nobody can tell what is used.
    """
    standing = {each.component: each.state for each in status(place, components)}
    if standing.get(AUDIT.name) != "current":
        raise InputError(
            "state.store-not-version-yet",
            "{place}: this store is not of this version yet: start what writes to it first, which brings it"
            " there",
            place=place,
        )
    dropped: list[str] = []
    with Store.open(place, mode="write") as store, store.writing() as connection:
        for component in components:
            if standing.get(component.name) != "left" or _rows(connection, component):
                continue
            for name in _tables(connection, component):
                sa.Table(name, sa.MetaData()).drop(connection)
                dropped.append(name)
    return dropped
