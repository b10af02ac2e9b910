"""The login: SCRAM-SHA-256, the same for users that exist and users that do not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from pygwire.messages import (
    AuthenticationOk,
    AuthenticationSASL,
    AuthenticationSASLContinue,
    AuthenticationSASLFinal,
    SASLInitialResponse,
    SASLResponse,
)

from tarnkappe.gate.server.scram import BOUND, PLAIN, ScramError, ScramExchange, Verifier
from tarnkappe.gate.server.wire import ProtocolViolationError, Wire, error
from tarnkappe.gate.sql.errors import LOGIN_FAILED


class LoginFailedError(Exception):
    """The client was turned away."""


async def log_in(
    wire: Wire, user: str, verifier: Callable[[str], Verifier], binding: bytes | None, failure_seconds: float
) -> None:
    """Let a user in who knows his password; tell others nothing but that they are not let in.

    Args:
        wire: the connection.
        user: who the client says it is.
        verifier: the verifier of a user, or one that no password fits.
        binding: the hash of the certificate, inside TLS.
        failure_seconds: how long a failure waits for its answer, so that passwords cannot be tried quickly.
    """
    wire.send(AuthenticationSASL(mechanisms=[PLAIN] if binding is None else [BOUND, PLAIN]))
    await wire.flush()
    try:
        first = await wire.receive()
        if not isinstance(first, SASLInitialResponse):
            raise ProtocolViolationError
        if first.mechanism not in ((PLAIN,) if binding is None else (PLAIN, BOUND)):
            raise ScramError
        exchange = ScramExchange(verifier(user), first.mechanism, binding)
        wire.send(AuthenticationSASLContinue(data=exchange.challenge(first.data)))
        await wire.flush()
        last = await wire.receive()
        if not isinstance(last, SASLResponse):
            raise ProtocolViolationError
        wire.send(AuthenticationSASLFinal(data=exchange.finish(last.data)))
    except ScramError:
        await asyncio.sleep(failure_seconds)
        wire.send(error("FATAL", LOGIN_FAILED, "password authentication failed"))
        await wire.flush()
        raise LoginFailedError from None
    wire.send(AuthenticationOk())


def channel_binding(certificate: bytes) -> bytes:
    """The hash of a certificate to which a login inside TLS is bound (RFC 5929, tls-server-end-point)."""
    found = x509.load_pem_x509_certificate(certificate)
    algorithm = found.signature_hash_algorithm
    if algorithm is None or isinstance(algorithm, (hashes.MD5, hashes.SHA1)):
        algorithm = hashes.SHA256()
    return found.fingerprint(algorithm)
