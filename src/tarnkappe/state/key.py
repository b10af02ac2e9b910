"""Keyed hashes: values become marks that can be compared, but not read or guessed without the key."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from tarnkappe.errors import InputError, OutputError

KEY_BYTES = 32
MARK = pa.binary(16)
"""The Arrow type of a mark."""


class Key:
    """A secret under which values are hashed (HMAC-SHA-256, cut to 128 bits).

    The few possible values of a birth date or a diagnosis could all be tried against a plain hash; without
    the key they cannot. Equal values of the same domain have equal marks, values of different domains do
    not, so a mark of a diagnosis says nothing about a mark of a town.

    >>> key = Key(bytes(32))
    >>> key.mark("age", ["34"]) == key.mark("age", ["34"]), key.mark("age", ["34"]) == key.mark("zip", ["34"])
    (True, False)
    """

    def __init__(self, secret: bytes, path: Path | None = None) -> None:
        if len(secret) != KEY_BYTES:
            raise InputError(
                "state.key-bytes",
                "a key has {key_bytes} bytes, not {secret}",
                key_bytes=KEY_BYTES,
                secret=len(secret),
            )
        self._secret = secret
        self.path = path
        """The file that it was read from, if any."""

    @classmethod
    def load(cls, path: str | Path, *, create: bool = False) -> Key:
        """The key in a file, 64 hexadecimal digits; if asked for, a new one where there is no file.

        A file that others than its owner can read is refused: whoever has the key can try out who is in
        the history.
        """
        path = Path(path)
        if create and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            return cls.create(path)
        try:
            if path.stat().st_mode & 0o077 and os.name == "posix":
                raise InputError(
                    "state.others-can-read-key", "{path}: others can read this key: chmod 600 it", path=path
                )
            return cls(bytes.fromhex(path.read_text(encoding="ascii").strip()), path)
        except OSError as error:
            raise InputError(
                "state.key-cannot-read",
                "{path}: the key cannot be read: {strerror}",
                path=path,
                strerror=error.strerror,
            ) from None
        except (ValueError, UnicodeDecodeError):
            raise InputError(
                "state.no-key-hexadecimal-digits",
                "{path}: this is no key of {key_bytes} hexadecimal digits",
                path=path,
                key_bytes=2 * KEY_BYTES,
            ) from None

    @classmethod
    def create(cls, path: str | Path) -> Key:
        """A new random key in a new file that only its owner can read; a file that is there is kept."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(KEY_BYTES) + "\n")
                file.flush()
                os.fsync(file.fileno())  # what is made with a key is lost with it
        except FileExistsError:
            raise OutputError(
                "state.file-already-key-never",
                "{path}: there is a file already, and a key is never overwritten",
                path=path,
            ) from None
        except OSError as error:
            raise OutputError(
                "state.key-cannot-written",
                "{path}: the key cannot be written: {strerror}",
                path=path,
                strerror=error.strerror,
            ) from None
        return cls.load(path)

    @classmethod
    def new(cls) -> Key:
        """A new random key."""
        return cls(secrets.token_bytes(KEY_BYTES))

    def mark(self, domain: str, values: Sequence[str | None]) -> bytes:
        """The mark of a combination of values, a missing one being a value of its own."""
        return hmac.digest(self._secret, _framed([domain, *values]), "sha256")[: MARK.byte_width]

    def marks(self, domain: str, combinations: Iterable[Sequence[str | None]]) -> pa.Array:
        """The marks of many combinations."""
        return pa.array((self.mark(domain, values) for values in combinations), MARK)

    def derived(self, *purpose: str) -> bytes:
        """64 secret bytes for one purpose, from which neither this key nor those of other purposes follow.

        >>> key = Key(bytes(32))
        >>> key.derived("pseudonyms", "a") == key.derived("pseudonyms", "b")
        False
        """
        return hmac.digest(self._secret, b"derived" + _framed(purpose), "sha512")

    @property
    def fingerprint(self) -> str:
        """Tells keys apart without telling anything about them."""
        return hmac.digest(self._secret, b"fingerprint", "sha256").hex()[:16]

    def __repr__(self) -> str:
        return f"Key({self.fingerprint})"


def _framed(values: Sequence[str | None]) -> bytes:
    """Values in one piece, each with its length, so that no two combinations look the same."""
    return b"".join(
        [b"-:" if value is None else b"%d:%b" % (len(text := value.encode()), text) for value in values]
    )
