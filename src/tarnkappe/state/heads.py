"""The head of a log, kept outside of its database: by it a log that was cut, rewritten or put back is
noticed.

A head is a signed statement: so many entries, with this root. The file is written after every transaction
that adds to the log, and only ever forward; a crash between the two leaves a file that is a little old,
which does no harm. A file that is newer than the database does: the database is not the one that it was.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tarnkappe.errors import AccessError, OutputError, ParameterError, VerificationError
from tarnkappe.state.statement import Signer, Statement, require_signature

HEAD = "log head"


@dataclasses.dataclass(frozen=True)
class Head:
    """So many entries of an institution's log, with this root, at this time."""

    institution: str
    size: int
    root: str
    time: str

    @property
    def statement(self) -> Statement:
        """What is signed."""
        return Statement(HEAD, dataclasses.asdict(self))

    @classmethod
    def from_signed(cls, document: Mapping[str, Any], public: str) -> Head:
        """A head that somebody shows, if his signature is right.

        Raises:
            AccessError: if it is not.
        """
        try:
            content = document["head"]
            head = cls(**{field.name: content[field.name] for field in dataclasses.fields(cls)})
            good = len(content) == len(dataclasses.fields(cls)) and _is_head(head)
            statement = head.statement
        except (KeyError, TypeError, ParameterError):
            good = False
        if not good:
            raise AccessError("state.no-head-log", "this is no head of a log")
        require_signature(public, statement, document.get("signature"))
        return head


def _is_head(head: Head) -> bool:
    texts = (head.institution, head.root, head.time)
    size = head.size
    return all(isinstance(text, str) for text in texts) and type(size) is int and size >= 0


class HeadFile:
    """The newest head of a log in a file.

    Args:
        path: the file; it must not lie where those can write who can write to the database.
        institution: whose log it is.
        signer: signs heads.
    """

    def __init__(self, path: str | Path, institution: str, signer: Signer) -> None:
        self.path, self._institution, self._signer = Path(path), institution, signer

    def read(self) -> Head | None:
        """The head that was kept last, if there is one."""
        try:
            document = json.loads(self.path.read_bytes())
            return Head.from_signed(document, self._signer.public)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VerificationError(
                "state.head-log-cannot-read",
                "{path}: the head of the log cannot be read: {strerror}",
                path=self.path,
                strerror=error.strerror,
            ) from None
        except (ValueError, AttributeError, AccessError):
            raise VerificationError(
                "state.no-head-institution-signed",
                "{path}: this is no head that this institution has signed",
                path=self.path,
            ) from None

    def signed(self, size: int, root: str) -> dict[str, Any]:
        """A signed head, as plain data."""
        head = Head(self._institution, size, root, datetime.now(UTC).isoformat(timespec="microseconds"))
        return {"head": dict(head.statement.content), "signature": self._signer.sign(head.statement)}

    def write(self, size: int, root: str, *, even_back: bool = False) -> None:
        """Keep a head, unless a newer one is there."""
        try:
            with self._alone():
                kept = None if even_back else self.read()
                if kept is not None and kept.size >= size:
                    return
                new = self.path.with_name(self.path.name + ".new")
                descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    json.dump(self.signed(size, root), file)
                    file.flush()
                    os.fsync(file.fileno())
                new.replace(self.path)
                sync_folder(self.path.parent)
        except OSError as error:
            raise OutputError(
                "state.head-log-cannot-kept",
                "{path}: the head of the log cannot be kept: {strerror}",
                path=self.path,
                strerror=error.strerror,
            ) from None

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Two processes that have just written to the log must not both write here, the older one last."""
        if os.name != "posix":
            yield
            return
        import fcntl

        descriptor = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Let names that were given in a folder outlive a power cut."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
