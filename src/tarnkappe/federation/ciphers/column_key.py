"""Deterministic encryption of cells under one key a column: equal cells have equal ciphertexts."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from tarnkappe.errors import ParameterError, ProtocolError

KEY_SIZE = 32
TAG_SIZE = 16
PERSON_SIZE = 16
LENGTH_SIZE = 2


class ColumnKey:
    """AES-SIV (RFC 5297) over cells that are first brought to one length.

    A cipher that is deterministic without SIV (CBC with a fixed start) would show common beginnings of
    long values; one without padding would show how long each value is.

    >>> key = ColumnKey(ColumnKey.new(), "age", 5)
    >>> one, two, three = key.encrypt([b"34", b"34", b"*"])
    >>> one == two, len(one) == len(three), key.decrypt([one, three], "P2")
    (True, True, [b'34', b'*'])

    Args:
        key: 32 secret bytes.
        column: the column, to which ciphertexts are bound.
        width: the greatest length of a cell.
    """

    def __init__(self, key: bytes, column: str, width: int) -> None:
        self._cipher = AESSIV(key)
        self._bound = [column.encode()]
        self._column = column
        self.width = width

    @staticmethod
    def new() -> bytes:
        """A key from the operating system's randomness."""
        return secrets.token_bytes(KEY_SIZE)

    @property
    def size(self) -> int:
        """The length of every ciphertext."""
        return TAG_SIZE + LENGTH_SIZE + self.width

    def encrypt(self, cells: Sequence[bytes]) -> list[bytes]:
        """The ciphertexts of cells."""
        for cell in cells:
            if len(cell) > self.width:
                raise ParameterError(
                    "federation.column-value-bytes-contract",
                    "the column '{column}' has a value of {cell} bytes, and the contract allows {width}: "
                    "agree on a greater width",
                    column=self._column,
                    cell=len(cell),
                    width=self.width,
                )
        padded = (len(cell).to_bytes(LENGTH_SIZE) + cell.ljust(self.width, b"\0") for cell in cells)
        return [self._cipher.encrypt(cell, self._bound) for cell in padded]

    def decrypt(self, ciphertexts: Sequence[bytes], sender: str) -> list[bytes]:
        """The cells again; whatever was not encrypted with this key is refused."""
        try:
            padded = [self._cipher.decrypt(each, self._bound) for each in ciphertexts]
        except (InvalidTag, ValueError):
            raise ProtocolError(
                "federation.sent-cells-not-encrypted",
                "'{sender}' sent cells of '{column}' that were not encrypted with the key of that column: "
                "the run ends",
                sender=sender,
                column=self._column,
            ) from None
        return [cell[LENGTH_SIZE : LENGTH_SIZE + int.from_bytes(cell[:LENGTH_SIZE])] for cell in padded]


def person_tokens(key: bytes, people: Sequence[bytes]) -> list[bytes]:
    """A keyed hash of the key of each person: equal for equal people, of one length, never to be undone.

    >>> one, two = person_tokens(b"k" * 32, [b"4711", b"a much longer key"])
    >>> len(one), len(two), one == person_tokens(b"k" * 32, [b"4711"])[0]
    (16, 16, True)
    """
    return [hmac.digest(key, person, "sha256")[:PERSON_SIZE] for person in people]
