"""Sealed messages: everybody can write them, only who has the private key can read them.

X25519 with a fresh key for every message, then ChaCha20-Poly1305. A message is bound to a context, so that
one that is put in another place is refused, and filled up to a multiple of 64 bytes, so that its length
says little.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tarnkappe.errors import AccessError
from tarnkappe.state import Key

POINT_BYTES = 32
LENGTH_BYTES = 4
BLOCK = 64
NONCE = bytes(12)
"""Every message has a key of its own, so none is used twice with it."""


class KeyPair:
    """A private key and the public key that belongs to it.

    >>> anna = KeyPair.new()
    >>> anna.unseal(seal(anna.public, b"flu", b"ward 7"), b"ward 7")
    b'flu'
    """

    def __init__(self, private: bytes) -> None:
        self._private = X25519PrivateKey.from_private_bytes(private)
        self.public = self._private.public_key().public_bytes_raw()

    @classmethod
    def new(cls) -> KeyPair:
        """A new random pair."""
        return cls(X25519PrivateKey.generate().private_bytes_raw())

    @classmethod
    def of(cls, key: Key) -> KeyPair:
        """The pair that belongs to the key of a person."""
        return cls(key.derived("key pair of a person")[:POINT_BYTES])

    def agree(self, point: bytes) -> bytes:
        """The point that this private key makes of another; in which order several do it is all the same."""
        try:
            return self._private.exchange(X25519PublicKey.from_public_bytes(point))
        except ValueError:
            raise AccessError("pseudonym.sealed-message-damaged", "a sealed message is damaged") from None

    def unseal(self, sealed: bytes, context: bytes) -> bytes:
        """Read a message; one that was written to somebody else, moved or changed is refused."""
        return open_agreed(self.agree(sealed[:POINT_BYTES]), self.public, sealed, context)

    def private_bytes(self) -> bytes:
        """The private key, to be sealed for somebody."""
        return self._private.private_bytes_raw()


def seal(public: bytes, message: bytes, context: bytes) -> bytes:
    """Write a message to who has the private key of a public one."""
    fresh = KeyPair.new()
    content = len(message).to_bytes(LENGTH_BYTES) + message
    content = content.ljust(-(-len(content) // BLOCK) * BLOCK, b"\0")
    cipher = _cipher(fresh.agree(public), fresh.public, public)
    return fresh.public + cipher.encrypt(NONCE, content, context)


def open_agreed(agreed: bytes, public: bytes, sealed: bytes, context: bytes) -> bytes:
    """Read a message with the point that was agreed on for it."""
    fresh, encrypted = sealed[:POINT_BYTES], sealed[POINT_BYTES:]
    try:
        content = _cipher(agreed, fresh, public).decrypt(NONCE, encrypted, context)
    except InvalidTag:
        raise AccessError(
            "pseudonym.sealed-message-another-key", "a sealed message is for another key, or damaged"
        ) from None
    length = int.from_bytes(content[:LENGTH_BYTES])
    return content[LENGTH_BYTES : LENGTH_BYTES + length]


def _cipher(agreed: bytes, fresh: bytes, public: bytes) -> ChaCha20Poly1305:
    kdf = HKDF(hashes.SHA256(), length=32, salt=None, info=b"tarnkappe sealed message" + fresh + public)
    return ChaCha20Poly1305(kdf.derive(agreed))
