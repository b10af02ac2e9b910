"""Statements: the one form in which anything is signed, sealed or identified by a digest.

A statement has a kind and a content of plain data; its bytes are `tarnkappe/1 KIND`, a line feed, and the
content as canonical JSON. The kind is among what is signed, so what was signed as one thing is worth
nothing as another. Floats are refused: how they are written differs between programs, and a fraction can be
a decimal text.

A *signature* (Ed25519) proves to everybody who made a statement. A *seal* (HMAC-SHA-256) proves it to who
has the key, and to nobody else: it tells a house which rows of its own database it has written itself.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tarnkappe.errors import AccessError, ParameterError, VerificationError
from tarnkappe.state.canonical import canonical_statement
from tarnkappe.state.edwards import is_of_prime_order
from tarnkappe.state.key import Key

Bytes = bytes
PREFIX = b"tarnkappe/1 "
KIND = re.compile(r"[a-z][a-z0-9 -]{0,39}")
MOST_BYTES = 2**20
MOST_LEVELS = 32
MOST_NUMBER = 2**53
"""Whole numbers below it are the same in every program that reads JSON."""


@dataclasses.dataclass(frozen=True)
class Statement:
    """A kind and a content that can be signed, sealed, or named by a digest.

    >>> print(Statement("decision", {"b": "ü", "a": 1, "t": None}).bytes.decode())
    tarnkappe/1 decision
    {"a":1,"b":"ü","t":null}
    """

    kind: str
    content: Mapping[str, Any]

    def __post_init__(self) -> None:
        if KIND.fullmatch(self.kind) is None:
            raise ParameterError(
                "state.kind-statement-1-40",
                "the kind of a statement has 1 to 40 small letters, digits, spaces, hyphens",
            )
        if not isinstance(self.content, Mapping):
            raise ParameterError("state.no-object", "a {kind} is no object", kind=self.kind)
        _require_plain(self.content, self.kind)

    @cached_property
    def bytes(self) -> Bytes:
        """What is signed."""
        return PREFIX + self.kind.encode() + b"\n" + canonical_statement(self.content)

    @cached_property
    def digest(self) -> str:
        """Stands for the whole statement, in hexadecimal digits."""
        return hashlib.sha256(self.bytes).hexdigest()

    @classmethod
    def read(cls, kind: str, text: str | Bytes) -> Statement:
        """A statement from its content as JSON, as somebody sends it.

        Refused are a key that stands twice, floats, whatever is no number, more than 1 MiB, and more than 32
        levels.
        """
        if len(text.encode() if isinstance(text, str) else text) > MOST_BYTES:
            raise ParameterError(
                "state.more-bytes",
                "this {kind} has more than {most_bytes:,} bytes",
                kind=kind,
                most_bytes=MOST_BYTES,
            )
        try:
            content = json.loads(
                text, object_pairs_hook=_once, parse_float=_no_number, parse_constant=_no_number
            )
        except (ValueError, RecursionError):
            raise ParameterError(
                "state.cannot-read-no-json",
                "this {kind} cannot be read: it is no JSON, names a key twice, or has a number with a point",
                kind=kind,
            ) from None
        return cls(kind, content)

    @classmethod
    def read_bytes(cls, kind: str, signed: Bytes) -> Statement:
        """A statement from the very bytes that were signed; they must come out the same again."""
        start = PREFIX + kind.encode() + b"\n"
        if not signed.startswith(start):
            raise ParameterError("state.kind-no", "this is no {kind}", kind=kind)
        statement = cls.read(kind, signed.removeprefix(start))
        if statement.bytes != signed:
            raise ParameterError(
                "state.not-written-canonical-json", "this {kind} is not written in canonical JSON", kind=kind
            )
        return statement


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(text)


def _require_plain(value: object, kind: str, level: int = 0) -> None:
    if level > MOST_LEVELS:
        raise ParameterError(
            "state.more-levels",
            "this {kind} has more than {most_levels} levels",
            kind=kind,
            most_levels=MOST_LEVELS,
        )
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _require_text(key, kind)
            _require_plain(inner, kind, level + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _require_plain(inner, kind, level + 1)
    elif isinstance(value, str):
        _require_text(value, kind)
    elif isinstance(value, int):
        if not -MOST_NUMBER < value < MOST_NUMBER:
            raise ParameterError(
                "state.number-2-53-more-write",
                "this {kind} has a number of 2^53 or more: write it as a text",
                kind=kind,
            )
    elif value is not None:
        raise ParameterError(
            "state.texts-whole-numbers-yes",
            "a {kind} has texts, whole numbers, yes and no, lists and objects; not {name}",
            kind=kind,
            name=type(value).__name__,
        )


def _require_text(value: object, kind: str) -> None:
    try:
        if not isinstance(value, str):
            raise ParameterError("state.key-no-text", "a key of this {kind} is no text", kind=kind)
        value.encode()
    except UnicodeEncodeError:
        raise ParameterError(
            "state.text-no-unicode-text", "a text of this {kind} is no Unicode text", kind=kind
        ) from None


class Signer:
    """Signs statements with the key of an institution or a person.

    >>> signer = Signer(Key(bytes(32)))
    >>> refusal = Statement("answer", {"verdict": "refuse"})
    >>> require_signature(signer.public, refusal, signer.sign(refusal))
    """

    def __init__(self, key: Key) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(key.derived("signatures")[:32])
        self.public = self._private.public_key().public_bytes_raw().hex()

    def sign(self, statement: Statement) -> str:
        """The signature of a statement, in hexadecimal digits."""
        return self._private.sign(statement.bytes).hex()


def is_public_key(text: object) -> bool:
    """Whether a text is a public Ed25519 key, in 64 hexadecimal digits.

    A point of small order is none: everybody can sign for it.
    """
    try:
        return isinstance(text, str) and len(text) == 64 and is_of_prime_order(bytes.fromhex(text))
    except ValueError:
        return False


def require_signature(public: str, statement: Statement, signature: object) -> None:
    """Refuse a statement that was not made by who has the private key, or was changed."""
    try:
        if not isinstance(signature, str):
            raise ValueError("no text")
        _public(public).verify(bytes.fromhex(signature), statement.bytes)
    except (InvalidSignature, ValueError):
        raise AccessError(
            "state.signature-wrong-forged-changed",
            "the signature of this {kind} is wrong: it is forged, or was changed",
            kind=statement.kind,
        ) from None


def _public(text: str) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(text))


class Seals:
    """Seals statements, so that a house knows what it has written itself.

    >>> seals, row = Seals(Key(bytes(32))), Statement("row", {"state": "checked"})
    >>> seals.require(row, seals.seal(row))
    """

    def __init__(self, key: Key) -> None:
        self._secret = key.derived("seals")
        self.fingerprint = key.fingerprint

    def seal(self, statement: Statement) -> str:
        """The seal of a statement: the fingerprint of the key and the code."""
        code = hmac.digest(self._secret, statement.bytes, "sha256").hex()
        return f"{self.fingerprint}:{code}"

    def is_own(self, seal: object) -> bool:
        """Whether a seal says that it was made with this key; whether that is true, `require` finds out."""
        return isinstance(seal, str) and seal.startswith(f"{self.fingerprint}:")

    def require(self, statement: Statement, seal: object) -> None:
        """Refuse what was not sealed with this key, or was changed."""
        if not isinstance(seal, str) or not hmac.compare_digest(seal.encode(), self.seal(statement).encode()):
            raise VerificationError(
                "state.seal-wrong-changed-put",
                "the seal of this {kind} is wrong: it was changed, or put in",
                kind=statement.kind,
            )
