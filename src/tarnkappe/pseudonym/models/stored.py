"""How the databases of models 4 and 5 are kept: sealed data under marks, in a store that outlives a process.

Data are sealed with the key of the database, and names, PIDs and tokens are marks under it. How many people
there are, and what they have consented to, stands in the file for everybody who can read it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from tarnkappe.pseudonym.models.consent import Consent
from tarnkappe.pseudonym.sealing import KeyPair, seal
from tarnkappe.state import Key, Store
from tarnkappe.state.component import Component

METADATA = sa.MetaData()
MODELS = Component("models", METADATA)
RECORDS = sa.Table(
    "model_records",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("database", sa.String, nullable=False),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
)
GIVEN = sa.Table(
    "model_consents",
    METADATA,
    sa.Column("database", sa.String, primary_key=True),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
)
KEYS = sa.Table(
    "model_names",
    METADATA,
    sa.Column("database", sa.String, primary_key=True),
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("until", sa.String),
)
"""Other names by which somebody is reached: tokens, until they expire, and names of samples."""


class StoredRecords:
    """Data and consents of people, by names that only who has the key can turn into marks.

    Args:
        store: where they are kept.
        key: the key of the database.
        database: its name; several can be in one store.
    """

    def __init__(self, store: Store, key: Key, database: str) -> None:
        store.ensure(MODELS)
        self._store, self._key, self._database = store, key, database
        self._pair = KeyPair.of(key)

    def mark(self, name: str, what: str = "name") -> str:
        """What stands for a name in the store."""
        return self._key.mark(f"{what} in {self._database}", [name]).hex()

    def add(self, mark: str, data: Mapping[str, Any]) -> None:
        """Keep data about somebody."""
        sealed = seal(self._pair.public, json.dumps(dict(data)).encode(), self._place(mark))
        with self._store.writing() as connection:
            values = {"database": self._database, "name": mark, "sealed": sealed}
            connection.execute(sa.insert(RECORDS).values(values))

    def of(self, mark: str) -> list[dict[str, Any]]:
        """What is kept about somebody, the oldest first."""
        return self.everybody(mark).get(mark, [])

    def everybody(self, mark: str | None = None) -> dict[str, list[dict[str, Any]]]:
        """What is kept about everybody, or about somebody."""
        mine = sa.select(RECORDS).where(RECORDS.c.database == self._database).order_by(RECORDS.c.number)
        if mark is not None:
            mine = mine.where(RECORDS.c.name == mark)
        found: dict[str, list[dict[str, Any]]] = {}
        with self._store.reading() as connection:
            rows = connection.execute(mine).all()
        for row in rows:
            content = json.loads(self._pair.unseal(bytes(row.sealed), self._place(row.name)))
            found.setdefault(row.name, []).append(content)
        return found

    def consents(self) -> dict[str, Consent]:
        """What everybody has agreed to."""
        mine = sa.select(GIVEN).where(GIVEN.c.database == self._database)
        with self._store.reading() as connection:
            rows = connection.execute(mine).all()
        return {row.name: Consent.from_dict(json.loads(row.content)) for row in rows}

    def consent(self, mark: str, consent: Consent) -> None:
        """Keep what somebody has agreed to, in the place of what was before."""
        values = {"database": self._database, "name": mark}
        with self._store.writing() as connection:
            mine = sa.and_(*(GIVEN.c[name] == value for name, value in values.items()))
            connection.execute(sa.delete(GIVEN).where(mine))
            connection.execute(sa.insert(GIVEN).values(**values, content=json.dumps(consent.to_dict())))

    def reach(self, key: str, mark: str, until: datetime | None = None, *, now: datetime) -> None:
        """Let somebody be reached by another name; names that have expired are forgotten."""
        with self._store.writing() as connection:
            connection.execute(sa.delete(KEYS).where(KEYS.c.until <= now.isoformat()))
            mine = sa.and_(KEYS.c.database == self._database, KEYS.c.key == key)
            connection.execute(sa.delete(KEYS).where(mine))
            end = None if until is None else until.isoformat()
            connection.execute(sa.insert(KEYS).values(database=self._database, key=key, name=mark, until=end))

    def reached(self, key: str, now: datetime) -> str | None:
        """Who is reached by a name now."""
        mine = sa.select(KEYS).where(KEYS.c.database == self._database, KEYS.c.key == key)
        with self._store.reading() as connection:
            row = connection.execute(mine).first()
        expired = row is not None and row.until is not None and datetime.fromisoformat(row.until) <= now
        return None if row is None or expired else str(row.name)

    def _place(self, mark: str) -> bytes:
        return json.dumps(["model record", self._database, mark]).encode()
