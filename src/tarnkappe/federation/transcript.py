"""What proves a run: every party signs what it has sent and received, and all of them must agree.

A merged transcript names the messages of all parties with the digests of their contents. It says nothing
of their sizes and shapes, which only those know who received them.
"""

from __future__ import annotations

import dataclasses
import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.certificates import Credentials, is_issued_by, is_signed_by, peer_name
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.message import Participant
from tarnkappe.state.canonical import canonical_json


def signed_transcript(participant: Participant, credentials: Credentials) -> dict[str, str]:
    """What a party has sent and received in a run, with its signature."""
    statement = canonical_json(
        {
            "contract": participant.contract.digest.hex(),
            "party": participant.name,
            "sent": [[entry.receiver, entry.kind, entry.digest] for entry in participant.sent],
            "received": [[entry.sender, entry.kind, entry.digest] for entry in participant.transcript],
        }
    )
    return {
        "statement": statement.decode(),
        "signature": credentials.sign(statement).hex(),
        "certificate": credentials.certificate.read_text(encoding="ascii"),
    }


@dataclasses.dataclass(frozen=True)
class MergedTranscript:
    """The signed transcripts of all parties of a run, which agree.

    Attributes:
        contract: the digest of the contract.
        signed: for each party its statement, signature and certificate.
        messages: sender, receiver, kind and digest of every message.
    """

    contract: str
    signed: Mapping[str, Mapping[str, str]]
    messages: tuple[tuple[str, str, str, str], ...]

    @classmethod
    def of(
        cls, contract: Contract, signed: Mapping[str, Mapping[str, str]], authority: Path
    ) -> MergedTranscript:
        """Put transcripts together; a false signature or a message that only one side knows is an error."""
        said = {
            party: _checked(party, contract, signed.get(party, {}), authority) for party in contract.everybody
        }
        messages = []
        for sender in contract.everybody:
            for receiver in contract.everybody:
                sent = [tuple(rest) for to, *rest in said[sender]["sent"] if to == receiver]
                received = [tuple(rest) for by, *rest in said[receiver]["received"] if by == sender]
                if sent != received:
                    raise ProtocolError(
                        "federation.tell-differently-what-sent",
                        "'{sender}' and '{receiver}' tell differently what the one has sent to the other",
                        sender=sender,
                        receiver=receiver,
                    )
                messages += [(sender, receiver, kind, digest) for kind, digest in sent]
        return cls(contract.digest.hex(), signed, tuple(messages))

    def as_document(self) -> dict[str, Any]:
        """The transcript as plain data, from which everybody can check it again."""
        return {"contract": self.contract, "signed": {name: dict(each) for name, each in self.signed.items()}}


def _checked(party: str, contract: Contract, signed: Mapping[str, str], authority: Path) -> dict[str, Any]:
    try:
        certificate = ssl.PEM_cert_to_DER_cert(signed["certificate"])
        statement = signed["statement"].encode()
        genuine = (
            peer_name(certificate) == party
            and is_issued_by(certificate, authority)
            and is_signed_by(certificate, bytes.fromhex(signed["signature"]), statement)
        )
        said: dict[str, Any] = json.loads(statement)
        genuine &= (said["contract"], said["party"]) == (contract.digest.hex(), party)
        genuine &= all(len(line) == 3 for line in [*said["sent"], *said["received"]])
    except (KeyError, ValueError, TypeError):
        genuine = False
    if not genuine:
        raise ProtocolError(
            "federation.transcript-not-signed", "the transcript of '{party}' is not signed by it", party=party
        )
    return said
