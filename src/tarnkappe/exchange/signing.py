"""Signatures (Ed25519): what an institution answers and a person decides can be proven, and not changed.

A signature is about a kind of statement and its whole content, so one made for a decision is worth nothing
under an answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tarnkappe.errors import AccessError
from tarnkappe.state import Key


class Signer:
    """Signs statements with the key of an institution or a person.

    >>> signer = Signer(Key(bytes(32)))
    >>> signature = signer.sign("answer", {"verdict": "refuse"})
    >>> require_signature(signer.public, "answer", {"verdict": "refuse"}, signature)
    """

    def __init__(self, key: Key) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(key.derived("signatures")[:32])
        self.public = self._private.public_key().public_bytes_raw().hex()

    def sign(self, kind: str, content: Mapping[str, Any]) -> str:
        """The signature of a statement, in hexadecimal digits."""
        return self._private.sign(_message(kind, content)).hex()


def require_signature(public: str, kind: str, content: Mapping[str, Any], signature: str) -> None:
    """Refuse a statement that was not made by who has the private key, or was changed."""
    try:
        own = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        own.verify(bytes.fromhex(signature), _message(kind, content))
    except (InvalidSignature, ValueError):
        raise AccessError(f"the signature of this {kind} is wrong: it is forged, or was changed") from None


def _message(kind: str, content: Mapping[str, Any]) -> bytes:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"tarnkappe exchange, {kind}\n{text}".encode()
