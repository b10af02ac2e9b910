"""A message on the wire: header, signature, body. The signature binds all of it to its sender."""

from __future__ import annotations

import hashlib
import json

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.certificates import Credentials, is_signed_by
from tarnkappe.federation.message import Message
from tarnkappe.state.canonical import canonical_json

LENGTH = 4


def seal(message: Message, credentials: Credentials) -> bytes:
    """A message, signed by its sender, as bytes."""
    header = canonical_json(
        {
            "contract": message.contract.hex(),
            "sender": message.sender,
            "receiver": message.receiver,
            "kind": message.kind,
            "number": message.number,
            "body": hashlib.sha256(message.body).hexdigest(),
        }
    )
    signature = credentials.sign(header)
    return b"".join(
        [len(header).to_bytes(LENGTH), header, len(signature).to_bytes(LENGTH), signature, message.body]
    )


def unseal(envelope: bytes, certificate: bytes, sender: str) -> Message:
    """A message again; one that its sender has not signed as it is, is refused."""
    try:
        start = LENGTH + int.from_bytes(envelope[:LENGTH])
        header = envelope[LENGTH:start]
        end = start + LENGTH + int.from_bytes(envelope[start : start + LENGTH])
        signature, body = envelope[start + LENGTH : end], envelope[end:]
        facts = json.loads(header)
        message = Message(
            bytes.fromhex(facts["contract"]),
            str(facts["sender"]),
            str(facts["receiver"]),
            str(facts["kind"]),
            int(facts["number"]),
            body,
        )
        digest = str(facts["body"])
    except (ValueError, KeyError, TypeError):
        raise ProtocolError(
            "federation.sent-message-cannot-read",
            "'{sender}' sent a message that cannot be read: the run ends",
            sender=sender,
        ) from None
    signed = is_signed_by(certificate, signature, header)
    if not signed or message.sender != sender or digest != hashlib.sha256(body).hexdigest():
        raise ProtocolError(
            "federation.message-changed-way-not-own",
            "a message of '{sender}' was changed on its way or is not its own: the run ends",
            sender=sender,
        )
    return message
