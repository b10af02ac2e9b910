"""Sites of a made-up population with sockets and certificates of their own, and runs in one process."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tarnkappe.errors import TarnkappeError
from tarnkappe.federation import result as results
from tarnkappe.federation import ring, service, star
from tarnkappe.federation import site as sites
from tarnkappe.federation.arrow_wire import unpack
from tarnkappe.federation.certificates import Authority
from tarnkappe.federation.ciphers import ColumnKey
from tarnkappe.federation.ciphers.ristretto import Ristretto255
from tarnkappe.federation.contract import Contract, Partitioning, Protocol, Reveal, SharedColumn
from tarnkappe.federation.engine import FederatedSolution
from tarnkappe.federation.initiator import federate
from tarnkappe.federation.ledger import Ledger
from tarnkappe.federation.message import Message, OwnRows, Participant
from tarnkappe.federation.oblivious.common_labels import with_common_labels
from tarnkappe.federation.oblivious.party import ObliviousParty
from tarnkappe.federation.oblivious.streams import KeyStream
from tarnkappe.federation.participants import participant
from tarnkappe.federation.runner import run_in_memory
from tarnkappe.federation.service import PartyService
from tarnkappe.federation.share import PartyShare, ShareColumn
from tarnkappe.federation.site import FederationSite
from tarnkappe.federation.transport import Caller
from tarnkappe.federation.wording import describe
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.loss import Height
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import Role, Table
from tests.attackers.federation.cheaters import Cheat, Result, Run
from tests.attackers.federation.computing_party import Views
from tests.attackers.federation.decoder import Received
from tests.attackers.federation.error_reader import Failures
from tests.attackers.federation.insider import Published
from tests.attackers.federation.proposers import Desk
from tests.attackers.federation.repeats import Visits
from tests.attackers.federation.rerunner import Finished

PARTIES = ("ulm", "bonn", "kiel")
HELPER = "helper"
SIZES = {"ulm": 480, "bonn": 60, "kiel": 60}
COLUMNS = ("age", "sex", "zip", "diagnosis")
K = 5
OPEN = {"accept_decodable_rows": True}
"""What a site says that sends ciphertexts although they can be read."""


def population(number: int, seed: int) -> list[tuple[str, ...]]:
    """People whose columns depend on each other, as those of people do."""
    rng = np.random.default_rng(seed)
    ages = 20 + 10 * rng.choice(7, number, p=[0.05, 0.1, 0.14, 0.17, 0.2, 0.26, 0.08])
    sexes = np.where(rng.random(number) < 0.35 + 0.002 * ages, "f", "m")
    places = rng.choice(6, number, p=[0.36, 0.25, 0.17, 0.12, 0.07, 0.03])
    zips = 89000 + 10 * np.where(rng.random(number) < 0.6, places, (ages // 10) % 6)
    ill = (ages // 15 + (sexes == "f") + rng.choice(3, number, p=[0.6, 0.28, 0.12])) % 7
    names = np.array(["flu", "gout", "ulcer", "asthma", "stroke", "cancer", "angina"])
    return [tuple(map(str, row)) for row in zip(ages, sexes, zips, names[ill], strict=True)]


def hierarchies(rows: list[tuple[str, ...]]) -> dict[str, list[list[str]]]:
    return {
        "age": [[v, f"{int(v) // 20 * 20}+", "*"] for v in sorted({row[0] for row in rows})],
        "sex": [[v, "*"] for v in ("f", "m")],
        "zip": [[v, v[:4] + "*", v[:3] + "**", "*"] for v in sorted({row[2] for row in rows})],
    }


class Federation:
    """Three sites and a helper, each with a socket, as their files describe them."""

    def __init__(
        self,
        folder: Path,
        protocol: Protocol = Protocol.STAR,
        people: Mapping[str, list[tuple[str, ...]]] | None = None,
        accept: str = "all",
        policy: Mapping[str, Any] = OPEN,
        **changes: Any,
    ) -> None:
        self.folder = folder
        self.people = people or {name: population(300, seed) for seed, name in enumerate(PARTIES)}
        self.everybody = PARTIES if protocol is Protocol.RING else (*PARTIES, HELPER)
        self.helper = None if protocol is Protocol.RING else HELPER
        everyone = [row for rows in self.people.values() for row in rows]
        for name, lines in hierarchies(everyone).items():
            (folder / f"{name}.csv").write_text("\n".join(map(";".join, lines)) + "\n", encoding="utf-8")
        authority = Authority(folder)
        for name in self.everybody:
            authority.issue(name)
            if name in PARTIES:
                self.write(name, self.people[name])
            self.describe(name, accept, policy)
        heights = {"age": 2, "sex": 1, "zip": 3}
        self.contract = Contract(
            **{
                "protocol": protocol,
                "distribution": Partitioning.HORIZONTAL,
                "parties": PARTIES,
                "helper": self.helper,
                "columns": (
                    *(
                        SharedColumn(n, kind="string" if n == "sex" else "int64", height=h)
                        for n, h in heights.items()
                    ),
                    SharedColumn("diagnosis", Role.SENSITIVE),
                ),
                "models": (KAnonymity(K),),
                "loss": Height(),
                **changes,
            }
        )
        self.services: dict[str, PartyService] = {}
        self.logs: dict[str, list[str]] = {name: [] for name in self.everybody}
        self.messages: list[Message] = []

    def write(self, name: str, rows: list[tuple[str, ...]]) -> None:
        with (self.folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerow(["name", *COLUMNS])
            writer.writerows(
                (row[4] if len(row) > 4 else f"{name} {i}", *row[:4]) for i, row in enumerate(rows)
            )

    def describe(self, name: str, accept: str, policy: Mapping[str, Any]) -> None:
        lines = ["[site]", *(f'{k} = "{name}.{e}"' for k, e in (("certificate", "pem"), ("key", "key")))]
        lines += ['authority = "authority.pem"', 'address = "127.0.0.1:0"', f'output = "out-{name}"']
        lines += [f'accept = "{accept}"', "patience = 20", "[policy]"]
        lines += [f"{key} = {as_toml(value)}" for key, value in policy.items()]
        if name in PARTIES:
            lines += ["[input]", f'path = "{name}.csv"', "[columns.name]", 'role = "identifier"']
            lines += [f'[columns.{c}]\nhierarchy = "{c}.csv"' for c in ("age", "sex", "zip")]
        (self.folder / f"{name}.toml").write_text("\n".join(lines), encoding="utf-8")

    def site(self, name: str) -> FederationSite:
        return FederationSite.from_file(self.folder / f"{name}.toml")

    def start(self) -> None:
        for name in self.everybody:
            self.start_one(name)

    def start_one(self, name: str) -> None:
        site = self.site(name)
        self.services[name] = PartyService(
            site.credentials,
            site.address,
            lambda contract: self._watched(site.build(contract)),
            site.confirm,
            site.keep,
            patience=site.patience,
            received=site.receive,
            failed=site.fail,
            log=self.logs[name].append,
        )
        self.services[name].start()

    def _watched(self, participant: Participant) -> Participant:
        receive = participant.receive

        def watched(message: Message) -> list[Message]:
            self.messages.append(message)
            return receive(message)

        participant.receive = watched  # type: ignore[method-assign]
        return participant

    def run(self) -> None:
        federate(self.contract, self.addresses, self.site("ulm").credentials, patience=20, pause=0.02)

    @property
    def addresses(self) -> dict[str, tuple[str, int]]:
        return {name: each.address for name, each in self.services.items()}

    def close(self) -> None:
        for each in self.services.values():
            each.close()
        self.services.clear()

    def released(self, name: str) -> list[tuple[str, ...]]:
        (path,) = self.folder.glob(f"out-{name}/*/release.parquet")
        return as_rows(pq.read_table(path))

    def result(self, name: str) -> dict[str, Any]:
        (path,) = self.folder.glob(f"out-{name}/*/result.json")
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def generalized(self, name: str, levels: Mapping[str, int]) -> list[tuple[str, ...]]:
        """The rows of a site as an honest release shows them."""
        everyone = [row for rows in self.people.values() for row in rows]
        rules = {c: {line[0]: line for line in lines} for c, lines in hierarchies(everyone).items()}
        return [
            tuple(rules[c][v][levels[c]] if c in rules else v for c, v in zip(COLUMNS, row, strict=False))
            for row in self.people[name]
        ]


def as_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {as_toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)


def as_rows(table: pa.Table) -> list[tuple[str, ...]]:
    return [tuple(map(str, row)) for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]


@contextmanager
def running(folder: Path, **options: Any) -> Iterator[Federation]:
    federation = Federation(folder, **options)
    try:
        federation.start()
        yield federation
    finally:
        federation.close()


# ------------------------------------------------------------------ what is read of ciphertexts


def received_by(protocol: Protocol, policy: Mapping[str, Any], told: float | None = None) -> Any:
    """What the helper of a star or masked star, or the master of a ring, gets from sites with these rules."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Received]:
        weak = {"counter_bits": 256, "weak_ciphers": True} if protocol.is_masked else {}
        rules = {**policy, **({"accept_weak_ciphers": True} if weak else {})}
        with ExitStack() as stack:
            origins = stack.enter_context(recorded_origins())
            federation = stack.enter_context(running(folder, protocol=protocol, policy=rules, **weak))
            exposed = [federation.site(name).exposure(federation.contract).decoded for name in PARTIES]
            try:
                federation.run()
            except TarnkappeError:
                assert not federation.messages
            reader = federation.helper or federation.contract.master
            kind = "subset" if federation.helper else "partial"
            seen = [m for m in federation.messages if m.receiver == reader and m.kind == kind]
            rows = [row for message in seen for row in rows_in(message)]
            yield Received(
                rows,
                federation.people["ulm"] if reader == "ulm" else population(900, 77),
                {(c, cell): plain(cell, origins) for row in rows for c, cell in enumerate(row)},
                max(each.high.cells for each in exposed if each) + 0.02 if told is None else told,
            )

    return stage


@contextmanager
def recorded_origins() -> Iterator[dict[bytes, bytes]]:
    """What every ciphertext was made of, which nobody in a run knows."""
    origins: dict[bytes, bytes] = {}

    def watched(function: Any) -> Any:
        def call(self: Any, *words: Any) -> list[bytes]:
            made: list[bytes] = function(self, *words)
            for cell, ciphertext in zip(words[-1], made, strict=True):
                origins.setdefault(ciphertext, cell)
            return made

        return call

    with ExitStack() as stack:
        for kind, name in ((ColumnKey, "encrypt"), (Ristretto255, "embed"), (Ristretto255, "apply")):
            stack.enter_context(mock.patch.object(kind, name, watched(getattr(kind, name))))
        yield origins


def plain(cell: bytes, origins: Mapping[bytes, bytes]) -> str:
    while cell in origins:
        cell = origins[cell]
    return cell[1:].decode()


def rows_in(message: Message) -> list[tuple[bytes, ...]]:
    tables = unpack(message.body, message.sender)
    tokens = [tables[f"tokens/{name}"].column("token").to_pylist() for name in COLUMNS]
    codes = [tables["rows"].column(name).to_pylist() for name in COLUMNS]
    return [
        tuple(bytes(each[code]) for each, code in zip(tokens, row, strict=True))
        for row in zip(*codes, strict=True)
    ]


# ------------------------------------------------------------------ what a computing party sees

WORLDS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "which of two sites has which rows": (
        {"P1": "ab", "P2": "abc", "P3": "aabb"},
        {"P1": "ab", "P2": "aac", "P3": "abbb"},
    ),
    "what a suppressed row says": (
        {"P1": "ab", "P2": "abc", "P3": "aabb"},
        {"P1": "ab", "P2": "abd", "P3": "aabb"},
    ),
    "which of the only two sites has which rows": (
        {"P1": "aabb", "P2": "abab"},
        {"P1": "aaab", "P2": "abbb"},
    ),
}
"""Two worlds each, with the same release and the same numbers of rows; a letter is a row."""
RUNS_KNOWN, RUNS_ASKED = 8, 20


def viewed_by(reader: str, difference: str, *, masked: bool = True) -> Any:
    """What a computing party receives, in runs of two worlds that only this tells apart."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Views]:
        del folder
        rng = np.random.default_rng(5)
        with ExitStack() as stack:
            stack.enter_context(mock.patch.object(results, "require_promises"))  # it sends nothing
            if not masked:
                stack.enter_context(mock.patch.object(KeyStream, "words", known_words))
            worlds = WORLDS[difference]
            known_ones = [(i % 2, received_bits(worlds[i % 2], reader)) for i in range(RUNS_KNOWN)]
            truth = rng.integers(0, 2, RUNS_ASKED).tolist()
            asked = [received_bits(worlds[world], reader) for world in truth]
            yield Views(known_ones, asked, truth, difference)

    return stage


def known_words(_: KeyStream, number: int, count: int) -> np.ndarray:
    """A stream that is no secret: always the same words."""
    del number
    return np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def received_bits(people: Mapping[str, str], reader: str) -> np.ndarray:
    """All bits that a party receives in one run, sender by sender, keys left out."""
    rules = {"zip": Hierarchy.from_rows([[letter, "*"] for letter in "abcd"])}
    contract = Contract(
        Protocol.OBLIVIOUS,
        Partitioning.HORIZONTAL,
        tuple(people),
        (SharedColumn("zip", height=1),),
        (KAnonymity(2),),
        Height(),
        0.2,
        helper=HELPER if len(people) == 2 else None,
        reveal=Reveal.TESTS,
    )
    contract = with_common_labels(contract, rules)
    members = [
        ObliviousParty(name, contract, Table(pa.table({"zip": list(rows)})), rules)
        for name, rows in people.items()
    ]
    members += [] if contract.helper is None else [ObliviousParty(HELPER, contract, None, {})]
    seen: dict[str, list[np.ndarray]] = {name: [] for name in contract.everybody}

    def watch(message: Message) -> None:
        if message.receiver == reader and message.kind not in ("offer", "seed", "digest"):
            words = unpack(message.body, message.sender)["words"].column("words").to_numpy()
            seen[message.sender].append(words)

    run_in_memory(members, watch=watch)
    return np.unpackbits(np.concatenate([w for each in seen.values() for w in each]).view(np.uint8))


# ------------------------------------------------------------------ insiders, repeats, reruns


@contextmanager
def told_of_insiders(folder: Path) -> Iterator[Published]:
    people = {name: population(size, seed) for seed, (name, size) in enumerate(SIZES.items())}
    with running(folder, people=people) as federation:
        federation.run()
        levels = federation.result("ulm")["levels"]
        owners = {name: [row[:-1] for row in federation.generalized(name, levels)] for name in PARTIES}
        yield Published(
            [row[:-1] for row in federation.released("ulm")],
            owners.pop("ulm"),
            owners,
            {name: federation.result(name)["own"]["below"] for name in owners},
            K,
        )


@contextmanager
def told_that_k_holds(folder: Path) -> Iterator[Published]:
    with told_of_insiders(folder) as published:
        yield dataclasses.replace(published, told=dict.fromkeys(published.told, 0))


def published_obliviously(insiders: int) -> Any:
    """A release on shared bits, seen by the largest of the sites."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Published]:
        del folder
        people = {name: population(size, seed) for seed, (name, size) in enumerate(SIZES.items())}
        rules = {
            name: Hierarchy.from_rows(lines)
            for name, lines in hierarchies([row for rows in people.values() for row in rows]).items()
        }
        contract = Contract(
            Protocol.OBLIVIOUS,
            Partitioning.HORIZONTAL,
            PARTIES,
            tuple(SharedColumn(name, height=rules[name].height) for name in rules),
            (KAnonymity(K),),
            Height(),
            0.05,
            insiders=insiders,
        )
        contract = with_common_labels(contract, rules)
        tables = {
            name: pa.table(dict(zip(COLUMNS[:3], map(list, zip(*rows, strict=True)), strict=False)))
            for name, rows in ((name, [row[:3] for row in rows]) for name, rows in people.items())
        }
        members = [ObliviousParty(name, contract, Table(table), rules) for name, table in tables.items()]
        outcome = run_in_memory(members)["ulm"].outcome
        assert outcome is not None
        own = {
            name: [
                tuple(
                    rules[c].label(cell, outcome.levels[c]) if outcome.levels[c] else cell
                    for c, cell in zip(rules, row[:3], strict=True)
                )
                for row in rows
            ]
            for name, rows in people.items()
        }
        classes = [tuple(map(str, row)) for row in as_rows(outcome.release)]
        shown = set(classes)
        own = {name: [row for row in rows if row in shown] for name, rows in own.items()}
        yield Published(classes, own.pop("ulm"), own, {}, K)

    return stage


def repeats(policy: Mapping[str, Any]) -> Any:
    """One person five times at a site, in a class of its own."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Visits]:
        people = {name: population(100, seed) for seed, name in enumerate(PARTIES)}
        ann = ("99", "f", "99990", "gout", "Ann")
        people["bonn"] += [ann] * K
        with running(folder, people=people, policy=policy) as federation:
            try:
                federation.run()
            except TarnkappeError:
                yield Visits([], K)
                return
            levels = federation.result("ulm")["levels"]
            shown = [
                (row[:-1], person[4] if len(person) > 4 else f"{name} {index}")
                for name in PARTIES
                for index, (row, person) in enumerate(
                    zip(federation.generalized(name, levels), people[name], strict=True)
                )
            ]
            yield Visits(shown, K)

    return stage


def known_to_all(person: tuple[str, ...]) -> Any:
    """Two people, each at all three sites, where they have places of their own."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Visits]:
        del folder
        people = {
            site: [(letter, f"{site} {letter} {i}") for letter in "ab" for i in range(5)] + HOPPERS
            for site in PARTIES
        }
        rules = {"zip": Hierarchy.from_rows([[letter, "*"] for letter in "abc"])}
        contract = Contract(
            Protocol.OBLIVIOUS,
            Partitioning.HORIZONTAL,
            PARTIES,
            (SharedColumn("zip", height=1),),
            (KAnonymity(K),),
            Height(),
            person=person,
        )
        contract = with_common_labels(contract, rules)
        members = [
            ObliviousParty(
                site, contract, Table(pa.table(dict(zip(("zip", "name"), columns, strict=True)))), rules
            )
            for site, columns in (
                (site, [list(column) for column in zip(*rows, strict=True)]) for site, rows in people.items()
            )
        ]
        try:
            outcome = run_in_memory(members)[PARTIES[0]].outcome
        except TarnkappeError:
            yield Visits([], K)
            return
        assert outcome is not None
        level = outcome.levels["zip"]
        shown = [
            ((rules["zip"].label(letter, level) if level else letter,), name)
            for rows in people.values()
            for letter, name in rows
        ]
        yield Visits(shown, K)

    return stage


HOPPERS = [("c", "Ann"), ("c", "Bob")]


@contextmanager
def finished(folder: Path) -> Iterator[Finished]:
    federation = Federation(folder)
    federation.start()
    federation.run()

    def propose() -> None:
        try:
            federation.run()
        except TarnkappeError:
            return

    def restart() -> None:
        federation.close()
        for seed, name in enumerate(PARTIES):
            federation.write(name, population(300, 50 + seed))
        federation.start()

    try:
        yield Finished(tuple(folder.glob("out-*")), restart, propose)
    finally:
        federation.close()


@contextmanager
def forgetful(folder: Path) -> Iterator[Finished]:
    """Sites without a ledger, which write over what they have."""

    class Forgetful(Ledger):
        def receive(self, contract: Contract, proposer: str) -> None:
            self._file.unlink(missing_ok=True)
            super().receive(contract, proposer)

    def keep(self: FederationSite, done: Participant) -> None:
        kept = self.output / done.contract.digest.hex()[:16]
        kept.mkdir(parents=True, exist_ok=True)
        self._write(kept, done)

    with (
        mock.patch.object(sites, "Ledger", Forgetful),
        mock.patch.object(FederationSite, "keep", keep),
        finished(folder) as target,
    ):
        yield target


# ------------------------------------------------------------------ proposals


POLICY = {
    **OPEN,
    "columns": list(COLUMNS),
    "sensitive": ["diagnosis"],
    "protocols": ["star"],
    "least_levels": {"age": 1},
}
ANYTHING = {**OPEN, "least_k": 1, "greatest_suppression": 1.0, "accept_weak_ciphers": True}


def desk(accept: str, policy: Mapping[str, Any] = OPEN, *, at: str = "bonn", raw: bool = False) -> Any:
    """A site at which a person decides, or a file does for everything that the rules allow."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Desk]:
        rows = {name: population(120, seed) for seed, name in enumerate(PARTIES)}
        with running(folder, people=rows, accept=accept, policy=policy) as federation:
            columns = tuple(
                dataclasses.replace(c, least_level=1) if c.name == "age" else c
                for c in federation.contract.columns
            )
            contract = dataclasses.replace(federation.contract, columns=columns).as_document()
            seen: list[str] = []

            def show(digest: str) -> str:
                seen.append(digest)
                stored = federation.site(at).ledger.contract(digest)
                if raw:
                    return "\n".join(f"{name}: {value}" for name, value in raw_fields(stored))
                return describe(stored)

            def accept_shown() -> None:
                if not accept:
                    federation.site(at).agree(seen[-1], "a person")

            port = federation.addresses[at][1]
            yield Desk(port, folder, "ulm", contract, federation.addresses, show, accept_shown)

    return stage


def raw_fields(contract: Contract) -> Iterator[tuple[str, object]]:
    yield "run", contract.run
    yield "parties", ", ".join(contract.parties)
    for column in contract.columns:
        yield column.name, column.role


# ------------------------------------------------------------------ errors


MARKS = ("8888888801", "Kennzeichen-Zelle", "77777701")


def failures(leaky: bool) -> Any:
    """Runs that end because of a marked cell at one site, and all that others got of them."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Failures]:
        received = {}
        with ExitStack() as stack:
            if leaky:
                stack.enter_context(mock.patch.object(service, "told_to_others", raw_text))
            for number, (failure, spoil) in enumerate(SPOILERS.items()):
                place = folder / f"{number}"
                place.mkdir()
                federation = stack.enter_context(running(place))
                received[failure] = failed_run(federation, spoil)
        yield Failures(received, MARKS)

    return stage


def raw_text(error: Exception, party: str) -> str:
    del party
    return f"{error!r} {error.__context__!r}"


def failed_run(federation: Federation, spoil: Callable[[Federation], None]) -> list[bytes]:
    """Let a run fail at one site, and gather what others have of it."""
    spoil(federation)
    federation.services["kiel"].close()
    federation.start_one("kiel")
    texts = []
    try:
        federation.run()
    except TarnkappeError as error:
        texts.append(str(error))
    else:
        raise AssertionError("the run was to fail")
    caller = Caller(federation.site("ulm").credentials, federation.addresses, 20.0)
    digest = federation.contract.digest.hex()
    for name in federation.everybody:
        try:
            texts.append(json.dumps(caller.call(name, f"/status/{digest}")))
        except TarnkappeError as error:
            texts.append(str(error))
    for name in set(federation.everybody) - {"kiel"}:
        texts += federation.logs[name]
        texts += [path.read_text() for path in federation.folder.glob(f"out-{name}/ledger.jsonl")]
    bodies = [message.body for message in federation.messages if message.sender == "kiel"]
    return [*(text.encode() for text in texts), *bodies]


def spoil_row(change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Callable[[Federation], None]:
    def spoil(federation: Federation) -> None:
        rows = federation.people["kiel"]
        federation.write("kiel", [change(rows[0]), *rows[1:]])

    return spoil


def height_of_age(federation: Federation) -> None:
    """The hierarchy of one site has a line less and a level more than the others'."""
    lines = (federation.folder / "age.csv").read_text(encoding="utf-8").splitlines()
    lines = [";".join([*line.split(";")[:-1], "8888888801", "*"]) for line in lines]
    (federation.folder / "age-kiel.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    site = federation.folder / "kiel.toml"
    site.write_text(site.read_text().replace('hierarchy = "age.csv"', 'hierarchy = "age-kiel.csv"'))


SPOILERS: Mapping[str, Callable[[Federation], None]] = {
    "a value without a line": spoil_row(lambda row: (row[0], row[1], "8888888801", row[3])),
    "a text where others have numbers": spoil_row(lambda row: ("Kennzeichen-Zelle", *row[1:])),
    "a value that is too long": spoil_row(lambda row: (*row[:3], "Kennzeichen-Zelle" * 9)),
    "a suppressed cell": spoil_row(lambda row: (row[0], row[1], "77777701", "*")),
    "another hierarchy": height_of_age,
}


# ------------------------------------------------------------------ cheats


def cheating(where: str, *, checked: bool) -> Any:
    """A run in which the helper, the master or the first party hands on what it likes."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Run]:
        protocol = Protocol.RING if where == "master" else Protocol.STAR
        federation = Federation(folder, protocol, suppression_limit=0.1)
        honest = play(federation, where, lambda result: result)
        levels = honest["ulm"].outcome.levels  # type: ignore[union-attr]
        classes = {row[:-1] for row in as_rows(honest["ulm"].outcome.release)}  # type: ignore[union-attr]
        due = {
            name: [row for row in federation.generalized(name, levels) if row[:-1] in classes]
            for name in PARTIES
        }
        cheater = {"master": "ulm", "first party": "ulm"}.get(where)

        def played(cheat: Cheat) -> Mapping[str, list[tuple[object, ...]]]:
            done = play(federation, where, cheat, checked=checked)
            return {
                name: list(as_rows(each.outcome.release))
                for name, each in done.items()
                if each.outcome is not None and name != cheater
            }

        yield Run(played, due, 90)

    return stage


def play(
    federation: Federation, where: str, cheat: Cheat, *, checked: bool = True
) -> Mapping[str, Participant]:
    """A run in one process; a run that ends with an error leaves nobody a release."""
    everybody = {
        name: participant(name, federation.contract, site.table, site.hierarchies)
        for name, site in ((name, federation.site(name)) for name in federation.everybody)
    }
    modules = {"helper": star, "master": ring}
    with ExitStack() as stack:
        if not checked:
            nothing = OwnRows(0, 0, 0, 0)
            stack.enter_context(mock.patch.object(results, "require_own_rows", return_value=nothing))
            stack.enter_context(mock.patch.object(results, "require_levels", return_value=None))
        if where in modules:
            honest = modules[where].anonymize
            stack.enter_context(
                mock.patch.object(modules[where], "anonymize", lambda *words: turned(*honest(*words), cheat))
            )
        else:
            first = everybody["ulm"]
            finish = first.finish  # type: ignore[attr-defined]
            vars(first)["finish"] = lambda share, finding: finish(*turned(share, finding, cheat))
            vars(first)["_end"] = lambda share, finding: None
            first.has_done_its_part = True
        lines = [message for each in everybody.values() for message in each.start()]
        try:
            while lines:
                message = lines.pop(0)
                lines += everybody[message.receiver].receive(message)
        except TarnkappeError:
            for each in everybody.values():
                each.outcome = None
    if where == "first party":
        everybody["ulm"].outcome = everybody["bonn"].outcome
    return {name: each for name, each in everybody.items() if name in PARTIES}


def turned(
    share: PartyShare, finding: FederatedSolution, cheat: Cheat
) -> tuple[PartyShare, FederatedSolution]:
    """What a cheat makes of a result, whatever its cells are."""
    columns = [[part.tokens[code] for code in part.codes.tolist()] for part in share.parts.values()]
    made = cheat(Result(list(zip(*columns, strict=True)), finding.node, finding.suppressed))
    parts = {}
    for index, name in enumerate(share.parts):
        cells = [row[index] for row in made.rows]
        tokens = list(dict.fromkeys(cells))
        codes = np.array([tokens.index(cell) for cell in cells], np.int32)
        parts[name] = ShareColumn(tokens, codes)  # type: ignore[arg-type]
    return PartyShare(parts, len(made.rows)), FederatedSolution(made.node, made.suppressed, finding.loss)
