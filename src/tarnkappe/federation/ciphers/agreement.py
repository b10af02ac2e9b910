"""A secret that a group of parties agrees on, each contributing to it, and keys derived from it.

Every party offers an ephemeral X25519 key, then seals 32 random bytes for each other party under the
secret that the two of them share. The common secret is derived from all contributions: it is random if
one of them is, and whoever only passes messages on does not learn it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tarnkappe.errors import ProtocolError

SECRET_SIZE = 32


def derive(secret: bytes, context: bytes, purpose: str) -> bytes:
    """A key for one purpose; another purpose or context has an independent one.

    >>> derive(b"s" * 32, b"run", "age") == derive(b"s" * 32, b"run", "sex")
    False
    """
    return HKDF(SHA256(), SECRET_SIZE, salt=context, info=purpose.encode()).derive(secret)


class Agreement:
    """The part of one party in the agreement.

    Args:
        own: the name of this party.
        others: the names of the others.
        context: what the secret is for; parties in another run get another one.
    """

    def __init__(self, own: str, others: tuple[str, ...], context: bytes) -> None:
        self._own = own
        self._others = others
        self._context = context
        self._private = X25519PrivateKey.generate()
        self._keys: dict[str, bytes] = {}
        self._contributions = {own: secrets.token_bytes(SECRET_SIZE)}

    def offer(self) -> bytes:
        """The public key for all others."""
        return self._private.public_key().public_bytes_raw()

    def accept(self, offers: Mapping[str, bytes]) -> dict[str, bytes]:
        """The sealed contribution for each other party, once the offers of all are there."""
        for name in self._others:
            try:
                shared = self._private.exchange(X25519PublicKey.from_public_bytes(offers[name]))
            except ValueError:
                raise ProtocolError(
                    "federation.offered-key-none-run",
                    "'{name}' offered a key that is none: the run ends",
                    name=name,
                ) from None
            pair = "\0".join(sorted([self._own, name]))
            self._keys[name] = derive(shared, self._context, f"pair\0{pair}")
        mine = self._contributions[self._own]
        return {
            name: AESSIV(key).encrypt(mine, self._direction(self._own, name))
            for name, key in self._keys.items()
        }

    def open(self, sender: str, sealed: bytes) -> None:
        """Take the contribution of another party."""
        try:
            contribution = AESSIV(self._keys[sender]).decrypt(sealed, self._direction(sender, self._own))
        except (InvalidTag, ValueError):
            raise ProtocolError(
                "federation.contribution-common-key-damaged",
                "the contribution of '{sender}' to the common key is damaged: the run ends",
                sender=sender,
            ) from None
        self._contributions[sender] = contribution

    @property
    def has_accepted(self) -> bool:
        """Whether the offers of all have come."""
        return bool(self._keys)

    @property
    def is_complete(self) -> bool:
        """Whether all have contributed."""
        return len(self._contributions) == len(self._others) + 1

    def secret(self) -> bytes:
        """The common secret."""
        if not self.is_complete:
            raise ProtocolError(
                "federation.common-key-asked-before-all-contributed",
                "the common key is asked for before all have contributed to it: the run ends",
            )
        all_of_them = b"".join(self._contributions[name] for name in sorted(self._contributions))
        return derive(all_of_them, self._context, "common secret")

    def _direction(self, sender: str, receiver: str) -> list[bytes]:
        return [sender.encode(), receiver.encode()]
