"""SCRAM-SHA-256 (RFC 5802, 7677): the server proves that it knows the verifier, the client the password.

A verifier is written as PostgreSQL writes it and does not let anybody log in. Somebody who does not exist is
asked as everybody else, with a salt that is always the same for his name, and fails at the end.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import hmac
import re
import secrets
import stringprep
import unicodedata

PLAIN = "SCRAM-SHA-256"
BOUND = "SCRAM-SHA-256-PLUS"
"""The same, bound to the TLS channel: whoever sits in the middle with another certificate is noticed."""
ITERATIONS = 32_768
SALT_BYTES = 16
_WRITTEN = re.compile(r"SCRAM-SHA-256\$(\d{1,9}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)")
_FIRST = re.compile(
    r"(?P<flag>n|y|p=(?P<binding>[A-Za-z0-9.\-]+)),,(?P<bare>n=[^,]*,r=(?P<nonce>[!-+\--~]+).*)"
)
_FINAL = re.compile(
    r"(?P<bare>c=(?P<channel>[A-Za-z0-9+/=]+),r=(?P<nonce>[!-+\--~]+)),p=(?P<proof>[A-Za-z0-9+/=]+)"
)


class ScramError(Exception):
    """The client is not who it says, or does not speak SCRAM. It is told neither which nor why."""


@dataclasses.dataclass(frozen=True)
class Verifier:
    """What the server keeps of a password.

    >>> verifier = Verifier.of("correct horse battery staple")
    >>> Verifier.read(verifier.written) == verifier
    True
    """

    iterations: int
    salt: bytes
    stored_key: bytes = dataclasses.field(repr=False)
    server_key: bytes = dataclasses.field(repr=False)

    @classmethod
    def of(cls, password: str, iterations: int = ITERATIONS) -> Verifier:
        """The verifier of a password, with a new random salt."""
        salt = secrets.token_bytes(SALT_BYTES)
        salted = hashlib.pbkdf2_hmac("sha256", prepared(password).encode(), salt, iterations)
        stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
        return cls(iterations, salt, stored, hmac.digest(salted, b"Server Key", "sha256"))

    @classmethod
    def read(cls, text: str) -> Verifier:
        """A verifier as PostgreSQL writes it, too."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise ValueError("no SCRAM-SHA-256 verifier")
        iterations, salt, stored, server = match.groups()
        keys = [base64.b64decode(part, validate=True) for part in (salt, stored, server)]
        if len(keys[1]) != 32 or len(keys[2]) != 32 or not int(iterations):
            raise ValueError("no SCRAM-SHA-256 verifier")
        return cls(int(iterations), *keys)

    @classmethod
    def of_nobody(cls, name: str, secret: bytes) -> Verifier:
        """A verifier that no password fits, but that looks like one: the same each time for the same name."""
        salt = hmac.digest(secret, b"salt" + name.encode(), "sha256")[:SALT_BYTES]
        return cls(ITERATIONS, salt, secrets.token_bytes(32), secrets.token_bytes(32))

    @property
    def written(self) -> str:
        """The text that `read` reads."""
        salt, stored, server = (_text(part) for part in (self.salt, self.stored_key, self.server_key))
        return f"SCRAM-SHA-256${self.iterations}:{salt}${stored}:{server}"


class ScramExchange:
    """One login: `challenge` answers the client's first message, `finish` its last.

    Args:
        verifier: of the user who logs in.
        mechanism: PLAIN or BOUND, as the client chose.
        binding: the hash of the server's certificate where the channel is TLS, else nothing.
    """

    def __init__(self, verifier: Verifier, mechanism: str, binding: bytes | None) -> None:
        self.verifier, self._mechanism, self._binding = verifier, mechanism, binding
        self._begun = ""
        self._nonce = ""
        self._header = b""

    def challenge(self, message: bytes) -> bytes:
        """The server's first message."""
        first = _FIRST.fullmatch(_ascii(message))
        if first is None:
            raise ScramError
        flag = first["flag"]
        if (self._mechanism == BOUND) is not flag.startswith("p="):
            raise ScramError
        if flag == "y" and self._binding is not None:  # somebody hid from the client that we can bind
            raise ScramError
        if self._mechanism == BOUND and (first["binding"] != "tls-server-end-point" or not self._binding):
            raise ScramError
        self._header = f"{flag},,".encode()
        self._nonce = first["nonce"] + _text(secrets.token_bytes(18))
        answer = f"r={self._nonce},s={_text(self.verifier.salt)},i={self.verifier.iterations}"
        self._begun = f"{first['bare']},{answer}"
        return answer.encode()

    def finish(self, message: bytes) -> bytes:
        """The server's last message, if the client has shown that it knows the password."""
        final = _FINAL.fullmatch(_ascii(message))
        if final is None or not self._begun:
            raise ScramError
        try:
            channel = base64.b64decode(final["channel"], validate=True)
            proof = base64.b64decode(final["proof"], validate=True)
        except binascii.Error:
            raise ScramError from None
        expected = self._header + (self._binding or b"" if self._mechanism == BOUND else b"")
        whole = f"{self._begun},{final['bare']}".encode()
        signature = hmac.digest(self.verifier.stored_key, whole, "sha256")
        claimed = bytes(a ^ b for a, b in zip(proof, signature, strict=False))
        knows = hmac.compare_digest(hashlib.sha256(claimed).digest(), self.verifier.stored_key)
        said = hmac.compare_digest(channel, expected) and hmac.compare_digest(final["nonce"], self._nonce)
        if not (knows and said and len(proof) == len(signature)):
            raise ScramError
        return f"v={_text(hmac.digest(self.verifier.server_key, whole, 'sha256'))}".encode()


def prepared(password: str) -> str:
    """The password as SASLprep (RFC 4013) writes it; as it is where that has no answer (as PostgreSQL)."""
    mapped = "".join(
        " " if stringprep.in_table_c12(letter) else letter
        for letter in password
        if not stringprep.in_table_b1(letter)
    )
    normal = unicodedata.normalize("NFKC", mapped)
    if not normal or any(forbids(letter) for forbids in _FORBIDDEN for letter in normal):
        return password
    rightward = [stringprep.in_table_d1(letter) for letter in normal]
    if any(rightward) and (
        any(stringprep.in_table_d2(letter) for letter in normal) or not (rightward[0] and rightward[-1])
    ):
        return password
    return normal


_FORBIDDEN = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
    stringprep.in_table_a1,
)


def _ascii(message: bytes) -> str:
    try:
        return message.decode("utf-8")
    except UnicodeDecodeError:
        raise ScramError from None


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
