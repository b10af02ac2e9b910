"""What each party learns: stated before the start, computed from the transcripts afterwards.

Every kind of message of every protocol has a statement here. A message without one ends the report with
an error, so the report cannot be silent about something that was exchanged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.contract import Contract, Protocol, Reveal
from tarnkappe.federation.message import TranscriptEntry
from tarnkappe.federation.support import COMPARED_WITH_TABLE, needs_value_counts
from tarnkappe.state.canonical import canonical_json

RELEASE = "the release, its levels, its loss and how many rows were suppressed"

STATEMENTS: dict[Protocol, dict[str, str]] = {
    Protocol.RING: {
        "subset": "how many rows, distinct values and rules one other party has, and how often which of its "
        "ciphertexts occur together; under layers of others, in a random order",
        "partial": "the same of the shares of several parties together, under the layers of all",
        "integrated": "the shares of all parties together, under the layers of all",
        "result": "the anonymized rows under the layers that are not yet taken off, the levels, the loss",
        "decode": "the anonymized rows; which of their labels are known to the parties that decoded before",
        "release": RELEASE,
    },
    Protocol.STAR: {
        "offer": "nothing: a public key",
        "contribution": "nothing: a random number for the common secret",
        "subset": "how many rows, distinct values and rules each party has, and how often which ciphertexts "
        "occur together; whose they are, but not what they stand for",
        "result": "the anonymized rows, the levels, the loss",
        "release": RELEASE,
    },
    Protocol.MASKED: {
        "offer": "nothing: a public key",
        "contribution": "nothing: a random number for the common secret",
        "public key": "nothing: a public key",
        "subset": "how many rows each party sends, true and made-up ones together, how many distinct values "
        "and rules, and which ciphertexts stand together in a row",
        "private key": "the key of the counters, which others then need not ask for",
        "part": "how many true rows some groups of a test have, in a random order and without labels",
        "counts": "the same as in a test: others have decrypted a part of it",
        "marginals": "nothing",
        "test": "which levels are tested, how many groups they make, and how many true rows each group has, "
        "in a random order and without labels",
        "answer": "whether the levels satisfy",
        "choose": "how many levels were tested",
        "choice": "which of the satisfying levels lose least",
        "final": "the same as a test, of the chosen levels",
        "keep": "which groups of the chosen levels are not released: too small, or made up throughout",
        "result": "the anonymized rows, among them combinations of labels that no true row has",
        "release": RELEASE,
    },
}
STATEMENTS[Protocol.MASKED_RING] = {
    **STATEMENTS[Protocol.MASKED],
    "subset": STATEMENTS[Protocol.MASKED]["subset"] + "; under the layers of all",
    "layer": "how many rows, true and made-up ones together, distinct values and rules one other party has, "
    "and which of its ciphertexts stand together; under layers of others, in a random order",
    "bare": "the anonymized rows under the layers that are not yet taken off, the levels, the loss",
    "decode": STATEMENTS[Protocol.RING]["decode"],
    "result": "how many rows the release has, and the anonymized rows under the layers of all",
}

RANDOM = (
    "nothing: bits that are random to who gets them; how many depends on the contract and on numbers of rows"
)
STATEMENTS[Protocol.OBLIVIOUS] = {
    "offer": "nothing: a public key",
    "seed": "nothing: a random number",
    "number of rows": "how many rows each other site has",
    "input": RANDOM,
    "gates": RANDOM,
    "shuffle": RANDOM,
    "digest": "nothing: whether two computing parties open the same",
    "open persons": "whether somebody is known to several sites, and not who, how many, or to whom",
    "open tests": "which levels satisfy, of all that are tested",
    "open levels": "the levels of the release, or that no levels satisfy",
    "open classes": "which classes are released",
    "open rows": "the release, and how many rows were suppressed",
}

LINKING = {
    "link subset": "how many people another party has; under layers of others, in a random order",
    "link partial": "how many people several parties have in common; under the layers of all",
    "link result": "how many people all parties have in common; under layers that are not yet taken off",
    "link common": "which of its own people all others know too",
}

WITH_VALUE_COUNTS = (
    "how often each value of the quasi-identifiers occurs in true rows, and how the values generalize; "
    "in a random order and without labels"
)
WITH_SENSITIVE_COUNTS = ", and how often sensitive values occur in each group, without their names"
WITH_KNOWN_VALUES = ", by which a value is known again in other groups of the same test"

HONEST = "All parties keep to the protocol, curious as they may be; channels are encrypted and authenticated."
DECODABLE = (
    "Ciphers here do not hide how often values occur and which stand together, and that is enough to read "
    "most of "
    "them (frequency and co-occurrence analysis): {measured}."
)
SHAPE = "The shape of a public hierarchy is visible in its encrypted rules and may tell labels apart."
MADE_UP = "Made-up rows do not change that."

OTHERS = (
    "on 9,000 rows of the census table Adult a simulated attack by somebody who knew 9,000 other people read "
    "{cells} % of all cells and {rows} % of all rows"
)
OWN_ROWS = (
    "on 9,000 rows of the census table Adult a simulated attack by a party that knew its own 3,000 of them "
    "read 99 % "
    "of all cells and 96 % of all rows"
)

MEASURED: dict[Protocol, str] = {
    Protocol.RING: OWN_ROWS,
    Protocol.STAR: OTHERS.format(cells=91, rows=25),
    Protocol.MASKED: OTHERS.format(cells=91, rows=24),
    Protocol.MASKED_RING: OTHERS.format(cells=91, rows=24),
}
"""What somebody with a sample of the population decodes, measured; `decoding.estimate` measures it at a
site."""

ASSUMPTIONS: dict[Protocol, tuple[str, ...]] = {
    Protocol.RING: (
        HONEST,
        DECODABLE.format(measured=MEASURED[Protocol.RING]),
        "The keys can be put together by all parties together only; reading by frequencies needs no key.",
        SHAPE,
        "The party that anonymizes sees its own rows fully encrypted among those of the others but one.",
    ),
    Protocol.STAR: (
        HONEST,
        DECODABLE.format(measured=MEASURED[Protocol.STAR]),
        "The helper works with none of the parties: together with one of them it can read everything.",
        SHAPE,
    ),
    Protocol.MASKED: (
        HONEST,
        DECODABLE.format(measured=MEASURED[Protocol.MASKED]),
        MADE_UP,
        "The helper works with none of the parties: together with one of them it can read all values, and "
        "with the holder of the counters' key also which rows are true.",
        SHAPE,
    ),
}
ASSUMPTIONS[Protocol.OBLIVIOUS] = (
    HONEST,
    "No two of the three computing parties work together: any two can read everything.",
    "Not hidden: how many rows each site has, the common hierarchies with all possible values, and time and "
    "size of messages, which depend on these alone.",
)
ASSUMPTIONS[Protocol.MASKED_RING] = (
    HONEST,
    DECODABLE.format(measured=MEASURED[Protocol.MASKED_RING]),
    MADE_UP,
    "The keys can be put together by all parties together only; reading by frequencies needs no key.",
    "The helper together with the holder of the counters' key can tell true rows from made-up ones.",
    SHAPE,
)


@dataclasses.dataclass(frozen=True)
class Learned:
    """What one party learned from messages of one kind.

    Attributes:
        party: who.
        kind: the kind of message.
        senders: from whom.
        messages: how many there were.
        size: how many bytes in all.
        rows: the rows of the tables in them, added up by table.
        statement: what they tell.
    """

    party: str
    kind: str
    senders: tuple[str, ...]
    messages: int
    size: int
    rows: Mapping[str, int]
    statement: str


def roles_of(contract: Contract) -> dict[str, tuple[str, ...]]:
    """For each party the kinds of messages that it receives in a run of this contract."""
    kinds = _roles_after_linking(contract)
    if contract.link:
        for group in contract.people:
            unless = {"link partial": group[-1], "link result": group[0], "link common": group[-1]}
            for name in group if len(group) > 1 else ():
                kinds[name] = (*(k for k in LINKING if unless.get(k) != name), *kinds[name])
    return kinds


def _roles_after_linking(contract: Contract) -> dict[str, tuple[str, ...]]:
    suppression = contract.suppression_limit > 0
    if contract.is_oblivious:
        return {name: _roles_in_oblivious_run(contract, name) for name in contract.everybody}
    if contract.protocol is Protocol.RING:
        kinds = {name: ["subset", "partial", "result", "decode", "release"] for name in contract.parties}
        kinds[contract.left_of(contract.master)].remove("partial")
        order = contract.decryption_order
        kinds[order[-1]].remove("decode")
        for kind in ("result", "release"):
            kinds[order[0]].remove(kind)
        for name in contract.parties[1:] if contract.check_master else ():
            kinds[name].append("integrated")
        return {name: tuple(each) for name, each in kinds.items()}
    secret = ["offer", "contribution"]
    last = contract.left_of(contract.master) if contract.private_keys else contract.master
    kinds = {name: [*secret, *([] if name == last else ["release"])] for name in contract.parties}
    for name in contract.parties if contract.private_keys else [contract.master]:
        kinds[name].append("result")
    assert contract.helper is not None
    kinds[contract.helper] = ["subset"]
    if contract.protocol is Protocol.MASKED_RING:
        for name in contract.parties:
            kinds[name].append("layer")
            last_one = contract.left_of(contract.master)
            kinds[name] += [*(["bare"] if name != contract.master else [])]
            kinds[name] += [*(["decode"] if name != last_one else [])]
    if contract.protocol.is_masked:
        for name in contract.everybody:
            if name != contract.key_holder:
                kinds[name].append("public key")
        kinds[contract.key_holder] += ["marginals", "test", "choose", *(["final"] if suppression else [])]
        if contract.shared_tests:
            kinds[contract.key_holder].append("counts")
            for name in contract.parties[1:]:
                kinds[name] += ["private key", "part"]
        kinds[contract.helper] += ["answer", "choice", *(["keep"] if suppression else [])]
    return {name: tuple(each) for name, each in kinds.items()}


def _roles_in_oblivious_run(contract: Contract, name: str) -> tuple[str, ...]:
    kinds = ["offer", "number of rows", "digest", "open levels"]
    if name in contract.compute:
        seeds = ["seed"] if set(contract.parties) - set(contract.compute) else []
        kinds += [*seeds, "input", "gates", "shuffle"]
    kinds += ["open persons"] if contract.person else []
    kinds += ["open tests"] if contract.reveal is Reveal.TESTS else []
    kinds += [] if name == contract.helper else ["open classes", "open rows"]
    return tuple(kinds)


def statement(contract: Contract, kind: str) -> str:
    """What a kind of message tells in a run of this contract."""
    try:
        text = {**STATEMENTS[contract.protocol], **LINKING}[kind]
    except KeyError:
        raise ProtocolError(
            "federation.exchanged-leakage-report-says",
            "a '{kind}' was exchanged, of which the leakage report says nothing",
            kind=kind,
        ) from None
    if kind == "marginals" and needs_value_counts(contract.loss):
        return WITH_VALUE_COUNTS
    if kind in ("test", "final") and any(model.distributions for model in contract.models):
        compares = any(model.name in COMPARED_WITH_TABLE for model in contract.models)
        return text + WITH_SENSITIVE_COUNTS + (WITH_KNOWN_VALUES if compares else "")
    if kind in ("subset", "partial", "integrated") and contract.member is not None:
        text += "; which rows are to be released, and which are population only"
    if kind in ("subset", "partial") and contract.key is not None:
        apart = "; rows of a region that is not complete stand apart" if contract.regions else ""
        return text + "; rows of one person are joined by an encrypted key" + apart * (kind == "partial")
    return text


TRANSCRIPT = (
    "transcript: who starts the run learns at its end which kinds of messages went between whom, with a "
    "digest of each, but not how long they were"
)


ENDED = (
    "end: how many rows each other party with data has sent, and whether all have got the same release, by "
    "which each checks that no row is missing and none was added"
)


def foretell(contract: Contract) -> dict[str, tuple[str, ...]]:
    """For each party, before the start, what it will learn: the list that people confirm."""
    return {
        party: (
            *dict.fromkeys(f"{kind}: {statement(contract, kind)}" for kind in kinds),
            *([] if party == contract.helper else [ENDED]),
            TRANSCRIPT,
        )
        for party, kinds in roles_of(contract).items()
    }


@dataclasses.dataclass(frozen=True)
class LeakageReport:
    """What everybody learned in a run, and what the protection rests on."""

    contract: Contract
    learned: tuple[Learned, ...]

    @classmethod
    def of(cls, contract: Contract, transcripts: Mapping[str, Sequence[TranscriptEntry]]) -> LeakageReport:
        """The report of what was received; a message that was not foretold is an error."""
        expected = roles_of(contract)
        learned = []
        for party, entries in transcripts.items():
            for kind in dict.fromkeys(entry.kind for entry in entries):
                if kind not in expected[party]:
                    raise ProtocolError(
                        "federation.received-not-foretold",
                        "'{party}' received a '{kind}', which was not foretold",
                        party=party,
                        kind=kind,
                    )
                learned.append(_summary(contract, party, kind, [e for e in entries if e.kind == kind]))
        return cls(contract, tuple(learned))

    def of_party(self, party: str) -> tuple[Learned, ...]:
        """What one party learned."""
        return tuple(each for each in self.learned if each.party == party)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the protection rests on, and what it does not protect against."""
        return ASSUMPTIONS[self.contract.protocol]

    def as_document(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "contract": self.contract.digest.hex(),
            "protocol": str(self.contract.protocol),
            "learned": [dataclasses.asdict(each) for each in self.learned],
            "assumptions": list(self.assumptions),
        }

    def __str__(self) -> str:
        lines = []
        for party in self.contract.everybody:
            lines.append(f"{party} received")
            for each in self.of_party(party):
                times = f"{each.messages} × {each.kind}" if each.messages > 1 else each.kind
                lines.append(
                    f"  {times} ({each.size:,} bytes) from {', '.join(each.senders)}: {each.statement}"
                )
        return "\n".join([*lines, *self.assumptions])


def _summary(contract: Contract, party: str, kind: str, entries: Iterable[TranscriptEntry]) -> Learned:
    entries = list(entries)
    rows: dict[str, int] = {}
    for entry in entries:
        for table, number in entry.shape:
            rows[table] = rows.get(table, 0) + number
    return Learned(
        party,
        kind,
        tuple(dict.fromkeys(entry.sender for entry in entries)),
        len(entries),
        sum(entry.size for entry in entries),
        rows,
        statement(contract, kind),
    )


def transcript_lines(entries: Iterable[TranscriptEntry]) -> list[str]:
    """A transcript as lines of JSON, for a file or a signature."""
    return [canonical_json(dataclasses.asdict(entry)).decode() for entry in entries]
