"""Gates before tables of numbered people, with and without what protects them."""

from __future__ import annotations

import csv
import dataclasses
import math
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

import numpy as np

from tarnkappe.gate.history_store import HistoryStore
from tarnkappe.gate.knowledge import Knowledge
from tarnkappe.gate.labels import Labels
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.roster import hold_back
from tarnkappe.gate.server.users import Users
from tarnkappe.gate.slot import Slot
from tarnkappe.gate.surplus import Coins
from tarnkappe.state.key import Key
from tarnkappe.state.store import Store
from tests.announced import announced
from tests.attackers.gate.bisector import OpenGate
from tests.attackers.gate.glutton import ServedCatalog
from tests.attackers.gate.historian import ChangingGate
from tests.gate.server.gates import PASSWORD, Running, running

TARN = Path(sys.executable).with_name("tarn")
OTHER = "(other)"
RARE = "HIV"
Values = Mapping[int, str]


def write(folder: Path, values: Values) -> None:
    """The table, in place of the one before."""
    place = folder / "new.csv"
    with place.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "nr", "disease"])
        rows.writerows([f"p{nr}", nr, value] for nr, value in values.items())
    place.replace(folder / "patients.csv")


def policy(folder: Path, k: int, column: Mapping[str, Any]) -> GatePolicy:
    content = {
        "table": {
            "source": "patients.csv",
            "name": "patients",
            "key": "id",
            "quasi_identifiers": ["nr"],
            "refresh": 0,
        },
        "sensitive": {"disease": column},
        "protection": {"k": k},
    }
    return GatePolicy.from_dict(content, folder)


@contextmanager
def served(
    folder: Path, values: Values, listed: Mapping[str, Any], gate: dict[str, Any], coins: int | None = None
) -> Iterator[tuple[OpenGate, Running]]:
    """A gate before some values."""
    write(folder, values)
    chosen = policy(folder, gate["k"], listed)
    if listed.get("values_from") == "table":
        key, store = Key.load(chosen.key_file, create=True), HistoryStore(Store.open(chosen.store))
        people = {f"p{nr}": value for nr, value in values.items()}
        hold_back(store, key, "disease", Labels(chosen.sensitive[0]), listed["holders"], people)
    # an attacker who may win must win every time: neither coins nor a busy machine decide it
    patient = nullcontext() if coins is None else mock.patch.object(Slot, "search_until", math.inf)
    with patient, running(chosen, folder, post_processing=True) as service:
        if coins is not None:
            service.keeper._coins = Coins(random.Random(coins))
        labels = (*listed["values"], OTHER)
        yield OpenGate(service.url(), range(len(values)), labels, frozenset({OTHER}), **gate), service


@dataclasses.dataclass(frozen=True)
class Search:
    """The setting of the search for a rare value: so many people, values and questions."""

    people: int
    labels: int
    k: int
    group: int
    questions: int
    holders: int = 1

    @property
    def values(self) -> dict[int, str]:
        chance = random.Random(self.people)
        common = [f"d{n}" for n in range(self.labels - 1)]
        values = {nr: common[nr % len(common)] for nr in range(self.people)}
        for nr in chance.sample(range(self.people), self.holders):
            values[nr] = RARE
        return values

    @contextmanager
    def on(
        self, folder: Path, listed: Mapping[str, Any], floors: Mapping[str, int], coins: int | None = None
    ) -> Iterator[OpenGate]:
        gate = {
            "floors": floors,
            "k": self.k,
            "rare": RARE,
            "group": self.group,
            "questions": self.questions,
        }
        with served(folder, self.values, listed, gate, coins) as (target, _):
            yield target

    @contextmanager
    def with_a_public_list(self, folder: Path) -> Iterator[OpenGate]:
        listed = {"values": sorted(set(self.values.values()))}
        with self.on(folder, listed, {}) as target:
            yield target

    @contextmanager
    def with_a_list_from_the_table(self, folder: Path) -> Iterator[OpenGate]:
        counts = Counter(self.values.values())
        least = min(counts.values())
        listed = {"values": sorted(counts), "values_from": "table", "holders": least}
        with self.on(folder, listed, dict.fromkeys(counts, least)) as target:
            yield target

    @contextmanager
    def with_a_list_for_which_nobody_is_held_back(self, folder: Path) -> Iterator[OpenGate]:
        """The same values once more, each with its holders, but everybody is answered."""
        counts = Counter(self.values.values())
        least = min(counts.values())
        with self.on(folder, {"values": sorted(counts)}, dict.fromkeys(counts, least), coins=2) as target:
            yield target

    @contextmanager
    def with_a_list_that_only_claims_to_be_public(self, folder: Path) -> Iterator[OpenGate]:
        """The owner has read the list from the table: each of its values has a holder."""
        labels = sorted(set(self.values.values()))
        with self.on(folder, {"values": labels}, dict.fromkeys(labels, 1), coins=2) as target:
            yield target


SMALL = Search(people=100, labels=60, k=3, group=12, questions=30)
RARE_IN_TABLE = Search(people=200, labels=6, k=3, group=20, questions=30, holders=4)
LARGE = Search(people=1_000, labels=60, k=5, group=50, questions=60)
LONG = dataclasses.replace(LARGE, questions=120)


def _as_somebody_else(knowledge: Knowledge, _: int) -> int:
    """Whoever has another value is answered again, as if he were somebody else."""
    knowledge._note([knowledge.tuples], np.ones(knowledge.values, dtype=np.int32))
    return knowledge.tuples - 1


@dataclasses.dataclass(frozen=True)
class Days:
    """Blocks of at most eight people whose values change, and to whom others come, day after day."""

    blocks: int
    days: int = 4
    k: int = 2
    most: int = 8
    labels: tuple[str, ...] = ("A", "B", "C")
    others: int = 3
    serve_changes: bool = False

    @contextmanager
    def __call__(self, folder: Path) -> Iterator[ChangingGate]:
        chance = random.Random(self.blocks)
        places = [
            range(n * self.most, n * self.most + chance.randint(2, self.most)) for n in range(self.blocks)
        ]
        stored = [*self.labels, *(f"other {n}" for n in range(self.others))]
        late = {nr for block in places for nr in block[2:] if chance.random() < 0.3}
        everybody = {nr: chance.choice(stored) for block in places for nr in block}
        now = {nr: value for nr, value in everybody.items() if nr not in late}
        gate = {"floors": {}, "k": self.k, "rare": "A", "group": self.most, "questions": 0}
        coins = 1 if self.serve_changes else None
        listed = {"values": list(self.labels)}
        unnoted = (
            mock.patch.object(Knowledge, "change", _as_somebody_else) if self.serve_changes else nullcontext()
        )
        with unnoted, served(folder, now, listed, gate, coins) as (target, _):
            left = iter(range(self.days - 1))

            def next_day() -> tuple[set[int], set[int]] | None:
                if next(left, None) is None:
                    return None
                changed = {nr for nr in now if chance.random() < 0.4}
                for nr in changed:
                    now[nr] = chance.choice([value for value in stored if value != now[nr]])
                came = {nr for nr in late - set(now) if chance.random() < 0.5}
                now.update({nr: everybody[nr] for nr in came})
                write(folder, now)
                return changed, came

            yield ChangingGate(target, frozenset(now), tuple(places), next_day)


UNBOUNDED = """
import threading

import duckdb

from tarnkappe.cli import main
from tarnkappe.gate.server import catalog


class InTheGateItself:
    '''The engine with its own limits alone.'''

    def __init__(self, statements):
        self._engine = duckdb.connect(":memory:", config={"memory_limit": "256MB", "threads": "1"})
        for statement, values in statements:
            self._engine.execute(statement, list(values))

    def ask(self, statement, given, variables, rows, seconds):
        stop = threading.Timer(seconds, self._engine.interrupt)
        stop.start()
        try:
            found = self._engine.execute(statement, dict(given))
            return ([(name, str(kind)) for name, kind, *_ in found.description], found.fetchmany(rows)), 0
        finally:
            stop.cancel()

    def close(self):
        self._engine.close()


catalog.BoundedEngine = InTheGateItself
main(["gate", "serve", "--policy", "gate.toml", "--json"])
"""


@contextmanager
def _process(folder: Path, command: list[str]) -> Iterator[ServedCatalog]:
    write(folder, {nr: "ABC"[nr % 3] for nr in range(30)})
    (folder / "gate.toml").write_text(
        '[table]\nsource = "patients.csv"\nname = "patients"\nkey = "id"\nquasi_identifiers = ["nr"]\n'
        '[sensitive.disease]\nvalues = ["A", "B", "C"]\n[protection]\nk = 2\n[server]\nlisten = "127.0.0.1:0"\n',
        encoding="utf-8",
    )
    Users(folder / "users.toml").put("eve", PASSWORD)
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = announced(process)["port"]
            yield ServedCatalog(f"postgresql://eve:{quote(PASSWORD)}@127.0.0.1:{port}/x", process.pid)
        finally:
            process.kill()


@contextmanager
def catalog(folder: Path) -> Iterator[ServedCatalog]:
    """The gate as it is started by the command."""
    with _process(folder, [str(TARN), "gate", "serve", "--policy", "gate.toml", "--json"]) as target:
        yield target


@contextmanager
def unbounded_catalog(folder: Path) -> Iterator[ServedCatalog]:
    """A gate whose catalog is in its own process."""
    with _process(folder, [sys.executable, "-c", UNBOUNDED]) as target:
        yield target
