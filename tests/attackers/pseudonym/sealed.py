"""How a vault seals, written again by somebody who has read the program."""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def derived(secret: bytes, purpose: str) -> bytes:
    return hmac.digest(secret, b"derived" + f"{len(purpose)}:{purpose}".encode(), "sha512")[:32]


def key_pair(file: Path) -> X25519PrivateKey:
    secret = bytes.fromhex(file.read_text(encoding="ascii").strip())
    return X25519PrivateKey.from_private_bytes(derived(secret, "key pair of a person"))


def signing_key(secret: bytes) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(derived(secret, "signatures"))


def place(*parts: str) -> bytes:
    return json.dumps(parts).encode()


def seal(public: bytes, message: bytes, context: bytes) -> bytes:
    fresh = X25519PrivateKey.generate()
    own = fresh.public_key().public_bytes_raw()
    agreed = fresh.exchange(X25519PublicKey.from_public_bytes(public))
    content = len(message).to_bytes(4) + message
    content += bytes(-len(content) % 64)
    return own + _cipher(agreed, own, public).encrypt(bytes(12), content, context)


def unseal(sealed: bytes, public: bytes, halves: Sequence[X25519PrivateKey], context: bytes) -> bytes | None:
    """The message, if these private keys one after the other open it."""
    point = sealed[:32]
    for half in halves:
        point = half.exchange(X25519PublicKey.from_public_bytes(point))
    try:
        content = _cipher(point, sealed[:32], public).decrypt(bytes(12), sealed[32:], context)
    except InvalidTag:
        return None
    return content[4 : 4 + int.from_bytes(content[:4])]


def _cipher(agreed: bytes, fresh: bytes, public: bytes) -> ChaCha20Poly1305:
    info = b"tarnkappe sealed message" + fresh + public
    return ChaCha20Poly1305(HKDF(hashes.SHA256(), 32, None, info).derive(agreed))
