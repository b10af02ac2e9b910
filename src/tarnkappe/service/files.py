"""Uploads: streamed to the disk, looked at, kept under names of ours, seen by their owner."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import sqlalchemy as sa

from tarnkappe.errors import AccessError, LimitError, NotFoundError, OutputError
from tarnkappe.service.cursors import Cursor, after
from tarnkappe.service.inspection import inspect, needs_parser, suffix_for
from tarnkappe.service.people import Account, Right
from tarnkappe.service.people.identities import by_id
from tarnkappe.service.settings import Limits
from tarnkappe.service.tables import DRAFTS, FILES, IDENTITIES
from tarnkappe.state import AuditLog, Store

UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
LONGEST_NAME = 150
TABLE = ".table"
"""The suffix of a file that only names a table, which stays in its database."""


@dataclasses.dataclass(frozen=True)
class StoredFile:
    """A file that somebody uploaded, or the name of a table in a database.

    Attributes:
        id: by which jobs name it.
        owner: the id of whom it belongs to; nobody else sees it.
        name: what its owner calls it; shown, never part of a path.
        bytes: its size; 0 for a table that stays in its database.
        sha256: of its content.
        created: when it came, in seconds since 1970.
    """

    id: str
    owner: str
    name: str
    bytes: int
    sha256: str
    created: float


class Files:
    """The files of a house."""

    def __init__(
        self, store: Store, folder: Path, limits: Limits, clock: Callable[[], float] = time.time
    ) -> None:
        self._store, self._folder, self._limits, self._clock = store, folder, limits, clock
        self._log = AuditLog(store)
        self.look_into: Callable[[Path, Account], None] | None = None
        """Refuses a binary file that would become too large; it parses, so it does so in another process."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    async def receive(self, stream: AsyncIterable[bytes], name: str, who: Account) -> StoredFile:
        """Take a file in as it comes; it is there when it is whole and was looked at.

        Raises:
            LimitError: it is too large, packed or unpacked, or its owner has too much here already.
            InputError: it is not what its name says.
        """
        from anyio import to_thread

        with self._receiving(name, who, await to_thread.run_sync(self._room_of, who)) as upload:
            async for piece in stream:
                upload.write(piece)
            return await to_thread.run_sync(upload.keep)

    def store(self, pieces: Iterable[bytes], name: str, who: Account) -> StoredFile:
        """The same for a file that is here already, in pieces."""
        with self._receiving(name, who, self._room_of(who)) as upload:
            for piece in pieces:
                upload.write(piece)
            return upload.keep()

    def name_table(self, database: str, table: str, who: Account) -> StoredFile:
        """Keep the name of a table under an id, as if it were uploaded; jobs read it where it is."""
        who.require(Right.PUBLISH)
        content = json.dumps({"database": database, "table": table}).encode()
        stored = StoredFile(
            secrets.token_hex(16),
            who.id,
            shown_name(f"{table} ({database})"),
            0,
            hashlib.sha256(content).hexdigest(),
            self._clock(),
        )
        (self._folder / f"{stored.id}{TABLE}").write_bytes(content)
        self._add(stored, TABLE, "table named", who)
        return stored

    def get(self, file_id: str, who: Account) -> StoredFile:
        """One of the files of a person; those of others are as if they were not there."""
        return _stored(self._row(file_id, who))

    def list(self, who: Account, limit: int | None = None, cursor: Cursor | None = None) -> list[StoredFile]:
        """The files of a person, the newest first, after a cursor if there is one."""
        who.require(Right.PUBLISH)
        mine = sa.select(FILES).where(FILES.c.owner == who.id, after(FILES, cursor))
        mine = mine.order_by(FILES.c.created.desc(), FILES.c.id.desc()).limit(limit)
        with self._store.reading() as connection:
            return [_stored(row) for row in connection.execute(mine)]

    def path(self, file_id: str, who: Account) -> Path:
        """Where a file is, for the process of a job."""
        return self._place(self._row(file_id, who))

    def remove(self, file_id: str, by: str) -> None:
        """Delete a file and its draft; what jobs have made of it is for the house to remove."""
        with self._store.writing() as connection:
            row = connection.execute(sa.select(FILES).where(FILES.c.id == file_id)).first()
            connection.execute(sa.delete(FILES).where(FILES.c.id == file_id))
            connection.execute(sa.delete(DRAFTS).where(DRAFTS.c.file == file_id))
            if row is not None:
                self._log.append("file removed", {"file": file_id, "by": by}, connection)
        if row is not None:
            self._place(row).unlink(missing_ok=True)

    def ids_of(self, person_id: str) -> set[str]:
        """The files of somebody, who may be gone."""
        with self._store.reading() as connection:
            hers = sa.select(FILES.c.id).where(FILES.c.owner == person_id)
            return set(connection.execute(hers).scalars())

    def all_names(self) -> set[str]:
        """What the files of everybody are called on the disk."""
        with self._store.reading() as connection:
            return {self._place(row).name for row in connection.execute(sa.select(FILES))}

    def without_owner(self) -> set[str]:
        """The files of people who are gone."""
        here = sa.select(IDENTITIES.c.id).where(IDENTITIES.c.ended.is_(None))
        with self._store.reading() as connection:
            lost = sa.select(FILES.c.id).where(FILES.c.owner.not_in(here))
            return set(connection.execute(lost).scalars())

    def older_than(self, day: float) -> set[str]:
        """The files that came before a moment."""
        with self._store.reading() as connection:
            return set(connection.execute(sa.select(FILES.c.id).where(FILES.c.created < day)).scalars())

    def sweep(self, untouched_for: float = 24 * 3600.0) -> None:
        """Remove what belongs to no file: uploads that broke off, and those whose removal did."""
        with self._store.reading() as connection:
            kept = {self._place(row).name for row in connection.execute(sa.select(FILES))}
        for path in self._folder.iterdir():
            if path.name not in kept and path.stat().st_mtime <= self._clock() - untouched_for:
                path.unlink(missing_ok=True)

    @contextmanager
    def _receiving(self, name: str, who: Account, room: int) -> Iterator[_Upload]:
        suffix = suffix_for(name)
        partial = self._folder / f"{secrets.token_hex(16)}.partial{suffix}"
        try:
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                yield _Upload(self, partial, file, suffix, shown_name(name), who, room)
        except OSError as error:
            raise OutputError(
                "service.upload-cannot-kept", "the upload cannot be kept: {strerror}", strerror=error.strerror
            ) from None
        finally:
            partial.unlink(missing_ok=True)

    def _room_of(self, who: Account) -> int:
        """How many bytes somebody may bring."""
        room = self._limits.stored_bytes - sum(file.bytes for file in self.list(who))
        return min(room, shutil.disk_usage(self._folder).free // 2)

    def keep(self, upload: _Upload) -> StoredFile:
        """Take an upload in that has come whole."""
        inspect(upload.partial, self._limits)
        if self.look_into is not None and needs_parser(upload.partial):
            self.look_into(upload.partial, upload.who)
        stored = StoredFile(
            secrets.token_hex(16),
            upload.who.id,
            upload.name,
            upload.size,
            upload.hash.hexdigest(),
            self._clock(),
        )
        place = self._folder / f"{stored.id}{upload.suffix}"
        upload.partial.rename(place)
        try:
            self._add(stored, upload.suffix, "file received", upload.who)
        except BaseException:
            place.unlink(missing_ok=True)
            raise
        return stored

    def _add(self, stored: StoredFile, suffix: str, event: str, who: Account) -> None:
        told = {"file": stored.id, "bytes": stored.bytes, "sha256": stored.sha256, "by": who.name}
        with self._store.writing() as connection:
            if by_id(connection, who.id) is None:
                raise AccessError("service.gone-keeps-no-files", "who is gone keeps no files")
            connection.execute(sa.insert(FILES).values(dataclasses.asdict(stored) | {"suffix": suffix}))
            self._log.append(event, told, connection)

    @property
    def limits(self) -> Limits:
        """What may be uploaded."""
        return self._limits

    def _row(self, file_id: str, who: Account) -> Any:
        who.require(Right.PUBLISH)
        mine = sa.select(FILES).where(FILES.c.id == file_id, FILES.c.owner == who.id)
        with self._store.reading() as connection:
            row = connection.execute(mine).first()
        if row is None:
            raise NotFoundError("service.no-file-here-upload", "you have no such file here: upload it first")
        return row

    def _place(self, row: Any) -> Path:
        return self._folder / f"{row.id}{row.suffix}"


class _Upload:
    """A file that is coming in."""

    def __init__(
        self, files: Files, partial: Path, file: BinaryIO, suffix: str, name: str, who: Account, room: int
    ) -> None:
        self.files, self.partial, self.suffix, self.name, self.who = files, partial, suffix, name, who
        self._file, self._room = file, room
        self.size, self.hash = 0, hashlib.sha256()

    def write(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > self.files.limits.upload_bytes:
            raise LimitError(
                "service.file-more-bytes",
                "the file has more than {upload_bytes:,} bytes",
                upload_bytes=self.files.limits.upload_bytes,
            )
        if self.size > self._room:
            raise LimitError(
                "service.no-room-left-file", "there is no room left for this file: remove others first"
            )
        self._file.write(piece)
        self.hash.update(piece)

    def keep(self) -> StoredFile:
        self._file.flush()
        os.fsync(self._file.fileno())
        return self.files.keep(self)


def shown_name(name: str) -> str:
    r"""What is shown of a name that a client chose.

    >>> shown_name("C:\\data\\ward.csv"), shown_name("../../etc/passwd")
    ('ward.csv', 'passwd')
    """
    last = UNSHOWN.sub("", re.split(r"[/\\\\]", name)[-1]).strip()
    return last if len(last) <= LONGEST_NAME else last[:60] + "…" + last[-60:]


def _stored(row: Any) -> StoredFile:
    return StoredFile(row.id, row.owner, row.name, row.bytes, row.sha256, row.created)
