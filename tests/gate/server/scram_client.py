"""The client's side of SCRAM-SHA-256, written from RFC 5802 alone, to hold the server's side against."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import socket
import struct

PLAIN = "SCRAM-SHA-256"


class Client:
    """One login of a client."""

    def __init__(
        self,
        user: str,
        password: str,
        mechanism: str,
        binding: bytes | None,
        nonce: str | None = None,
        version: int = 196_608,
    ) -> None:
        self._version = version
        self._user, self._password, self._mechanism = user, password, mechanism
        self._header = b"p=tls-server-end-point,," if mechanism.endswith("PLUS") else b"n,,"
        self._binding = self._header + (binding or b"" if mechanism.endswith("PLUS") else b"")
        self._nonce = nonce or secrets.token_hex(12)
        self._bare = f"n={user},r={self._nonce}".encode()
        self._signature = b""

    def first(self) -> bytes:
        return self._header + self._bare

    def final(self, challenge: bytes) -> bytes:
        fields = dict(part.split("=", 1) for part in challenge.decode().split(","))
        assert fields["r"].startswith(self._nonce)
        salted = hashlib.pbkdf2_hmac(
            "sha256", self._password.encode(), base64.b64decode(fields["s"]), int(fields["i"])
        )
        key = hmac.digest(salted, b"Client Key", "sha256")
        without = b"c=" + base64.b64encode(self._binding) + b",r=" + fields["r"].encode()
        message = self._bare + b"," + challenge + b"," + without
        signature = hmac.digest(hashlib.sha256(key).digest(), message, "sha256")
        self._signature = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), message, "sha256")
        proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
        return without + b",p=" + base64.b64encode(proof)

    def accepts(self, final: bytes) -> bool:
        return final == b"v=" + base64.b64encode(self._signature)

    def challenge_over(self, stream: socket.socket) -> dict[str, str]:
        """Begin a login on a connection, and return what the server asks."""
        body = b"user\0" + self._user.encode() + b"\0\0"
        stream.sendall(struct.pack("!II", 8 + len(body), self._version) + body)
        self._negotiation: dict[str, bytes] = {}
        kind, told = receive(stream)
        if kind == b"v":
            self._negotiation = {"v": told}
            kind, _ = receive(stream)
        assert kind == b"R"
        first = self.first()
        self._send(stream, self._mechanism.encode() + b"\0" + struct.pack("!I", len(first)) + first)
        kind, answer = receive(stream)
        assert kind == b"R"
        self.challenge = answer[4:]
        return dict(part.split("=", 1) for part in answer[4:].decode().split(","))

    def log_in_over(self, stream: socket.socket) -> dict[str, bytes]:
        """Log in on a connection; returns the last message of each kind up to ReadyForQuery."""
        self.challenge_over(stream)
        self._send(stream, self.final(self.challenge))
        seen = dict(self._negotiation)
        while "Z" not in seen:
            kind, body = receive(stream)
            seen[kind.decode()] = body
        return seen

    @staticmethod
    def _send(stream: socket.socket, body: bytes) -> None:
        stream.sendall(b"p" + struct.pack("!I", 4 + len(body)) + body)


def receive(stream: socket.socket) -> tuple[bytes, bytes]:
    """One message of the server."""
    head = _exactly(stream, 5)
    return head[:1], _exactly(stream, struct.unpack("!I", head[1:])[0] - 4)


def _exactly(stream: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = stream.recv(size - len(data))
        if not more:
            raise ConnectionError("the server has closed the connection")
        data += more
    return data
