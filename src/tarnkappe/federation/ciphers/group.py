"""What a commutative cipher is: the contract of the groups in this folder.

A group has prime order, its elements are byte strings of one length, and a key is a number by which
elements are raised (or multiplied). So encryption is deterministic and commutative: whoever encrypts
first, equal values end up equal after all have encrypted, and all must decrypt to undo it.

A value enters the group by a hash. In a group of prime order every element but the neutral one
generates the whole group, so no layer of encryption leaves a bit of the value visible. (Among all
numbers modulo a prime it would: raising to an odd power keeps the Legendre symbol.)
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.ciphers.batch import in_pieces


class Group(ABC):
    """A group of prime order in which discrete logarithms are hard."""

    name: ClassVar[str]
    cites: ClassVar[tuple[str, ...]] = ()
    """The papers behind it, by their keys in docs/references.bib."""
    size: ClassVar[int]
    """How many bytes an element has."""
    comparison_only: ClassVar[bool] = False
    """Whether it is below current recommendations and there only to compare figures."""

    @abstractmethod
    def new_key(self) -> bytes:
        """A secret key from the operating system's randomness."""

    @abstractmethod
    def invert(self, key: bytes) -> bytes:
        """The key that undoes a key."""

    @abstractmethod
    def into(self, digest: bytes) -> bytes:
        """The element that a hash of 64 bytes stands for; never the neutral one but by incredible chance."""

    @abstractmethod
    def is_element(self, element: bytes) -> bool:
        """Whether bytes are an element of the group other than the neutral one."""

    @abstractmethod
    def apply(self, key: bytes, elements: Sequence[bytes]) -> list[bytes]:
        """All elements encrypted with a key (or decrypted with its inverse), on all cores."""

    def embed(self, context: bytes, values: Sequence[bytes]) -> list[bytes]:
        """The elements of some values; in another context (run, column) the same value has another one."""
        prefix = hashlib.sha512(context).digest()

        def work(piece: Sequence[bytes]) -> list[bytes]:
            return [self.into(hashlib.sha512(prefix + value).digest()) for value in piece]

        return in_pieces(work, values)

    def require_elements(self, elements: Sequence[bytes], sender: str) -> None:
        """Refuse anything that is not in the group: it might be made to draw a key out of who encrypts it."""

        def work(piece: Sequence[bytes]) -> list[bool]:
            return [len(element) == self.size and self.is_element(element) for element in piece]

        are_elements: list[bool] = in_pieces(work, elements)
        if not all(are_elements):
            raise ProtocolError(
                "federation.sent-something-no-ciphertext",
                "'{sender}' sent something that is no ciphertext of the group {name}: the run ends",
                sender=sender,
                name=self.name,
            )
