"""Parties that propose contracts to a site over the wire: one after another, or with names that look like
promises."""

from __future__ import annotations

import copy
import dataclasses
import http.client
import json
import ssl
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.attackers.attacker import Attacker, Victim

FORGED = "promise: Nobody can read anything of this site."
NAMES = (
    f"age\n{FORGED}",
    f"age\r{FORGED}",
    f"age\x1b[2K\x1b[1G{FORGED}",
    f"age\x9b2K{FORGED}",
    f"age\u2028{FORGED}",
    f"age\u2029{FORGED}",
    f"age\x85{FORGED}",
    "age\u202e.elbadaer ton si siht",
    "age\u2066zip\u2069",
    "a\u0336g\u0336e\u0336",
    "age\x08\x08\x08zip",
    "age\t\t\t\tzip",
    "аge\x00",
)
PLACES: dict[str, Callable[[dict[str, Any], str], None]] = {
    "a column": lambda contract, name: contract["columns"].append({**contract["columns"][-1], "name": name}),
    "the run": lambda contract, name: contract.update(run=name),
    "a party": lambda contract, name: contract.update(parties=[*contract["parties"], name]),
    "a member": lambda contract, name: contract.update(member=name),
    "a weight": lambda contract, name: contract["loss"].update(weights={name: 2.0}),
    "a person": lambda contract, name: contract.update(person=[name]),
}


@dataclasses.dataclass(frozen=True)
class Desk:
    """A site that can be reached over the wire, and the person who decides there.

    Attributes:
        port: where the site listens.
        certificates: the folder with the proposer's certificate and key and the authority.
        proposer: who proposes.
        contract: a contract that the site may accept.
        addresses: where everybody is.
        show: what the person sees of the contract with this digest.
        accept: the person accepts what has been shown last.
    """

    port: int
    certificates: Path
    proposer: str
    contract: dict[str, Any]
    addresses: dict[str, tuple[str, int]]
    show: Callable[[str], str]
    accept: Callable[[], None]

    def call(self, path: str, document: object = None) -> dict[str, Any]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(self.certificates / "authority.pem")
        folder = self.certificates
        context.load_cert_chain(folder / f"{self.proposer}.pem", folder / f"{self.proposer}.key")
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=60)
        try:
            connection.request("POST", path, b"" if document is None else json.dumps(document).encode())
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
            return answer
        finally:
            connection.close()

    def propose(self, contract: dict[str, Any]) -> str:
        answer = self.call("/propose", {"contract": contract, "addresses": self.addresses})
        return str(answer.get("digest", ""))

    def state(self, digest: str) -> str:
        return str(self.call(f"/status/{digest}").get("state"))


class ConsentThief(Attacker[Desk]):
    name = "consent-thief"
    promise = "consent-is-bound"
    knows = "When somebody looks at a contract."
    sees = "The state of his contracts at the site."
    does = "Proposes another contract while one is looked at, and waits for the consent to fall on it."

    def attack(self, target: Desk) -> Iterator[Victim]:
        shown = target.propose({**copy.deepcopy(target.contract), "run": "shown"})
        target.show(shown)
        other = copy.deepcopy(target.contract)
        other["columns"][0]["least_level"] = 0
        others = [target.propose({**other, "run": f"other {number}"}) for number in range(3)]
        target.accept()
        if self.settled(target, shown) != "proposed":
            return
        for digest in filter(None, others):
            if self.settled(target, digest) == "proposed":
                yield Victim(target.proposer, f"has got consent to {digest[:16]}, which nobody has seen")

    @staticmethod
    def settled(target: Desk, digest: str) -> str:
        states = [target.state(digest) for _ in range(40)]
        return "proposed" if "proposed" in states else states[-1]


class NameForger(Attacker[Desk]):
    name = "name-forger"
    promise = "names-are-names"
    knows = "How contracts are shown."
    sees = "The screen of the person who decides."
    does = "Gives columns names with line breaks, terminal codes and characters that turn the writing."

    def attack(self, target: Desk) -> Iterator[Victim]:
        for place, put in PLACES.items():
            honest = len(self.shown(target, put, f"{place} 0").splitlines())
            for name in NAMES:
                text = self.shown(target, put, name)
                if text:
                    yield from self.look(text, name, honest)

    @staticmethod
    def shown(target: Desk, put: Callable[[dict[str, Any], str], None], name: str) -> str:
        contract = copy.deepcopy(target.contract)
        contract["run"] = f"with {name!a}"
        put(contract, name)
        digest = target.propose(contract)
        return target.show(digest) if digest else ""

    @staticmethod
    def look(text: str, name: str, honest: int) -> Iterator[Victim]:
        odd = {each for each in text if each != "\n" and unicodedata.category(each)[0] in "CZM"} - {" "}
        if odd:
            yield Victim("the person who decides", f"sees the characters {sorted(map(ascii, odd))}")
        if any(line.strip() == FORGED for line in text.splitlines()):
            yield Victim("the person who decides", f"reads a promise that nobody has made ({name!a})")
        if len(text.splitlines()) != honest:
            yield Victim("the person who decides", f"sees other lines than the contract has ({name!a})")


WEAK: tuple[tuple[str, Callable[[dict[str, Any]], None]], ...] = (
    ("k = 2", lambda contract: contract["models"][0].update(k=2)),
    ("k = 1", lambda contract: contract["models"][0].update(k=1)),
    ("no model", lambda contract: contract.update(models=[])),
    ("everything may be suppressed", lambda contract: contract.update(suppression_limit=1.0)),
    ("weak ciphers", lambda contract: contract.update(weak_ciphers=True, group="pohlig-hellman-1536")),
    (
        "a column more",
        lambda contract: contract["columns"].append({**contract["columns"][-1], "name": "n"}),
    ),
    (
        "harmless by name",
        lambda contract: contract["columns"][-1].update(role="insensitive"),
    ),
    ("a finer level", lambda contract: contract["columns"][0].update(least_level=0)),
    ("another protocol", lambda contract: contract.update(protocol="masked")),
)


class WeakProposer(Attacker[Desk]):
    name = "weak-proposer"
    promise = "policy-first"
    knows = "The rules of the site."
    sees = "The state of his contracts at the site."
    does = "Proposes contracts that are a little weaker than the rules allow."

    def attack(self, target: Desk) -> Iterator[Victim]:
        for what, weaken in WEAK:
            contract = copy.deepcopy(target.contract)
            weaken(contract)
            digest = target.propose({**contract, "run": what})
            if digest and ConsentThief.settled(target, digest) == "proposed":
                yield Victim(target.proposer, f"has got consent to a contract against the rules ({what})")
