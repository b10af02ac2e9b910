"""Many clients at once, and servers that die at any moment: nothing answered is forgotten, nothing contradicts."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from tarnkappe.gate.audit import audit
from tarnkappe.gate.exact_test import signatures
from tarnkappe.gate.history_store import HistoryStore
from tarnkappe.gate.knowledge import Knowledge
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.server.users import Users
from tarnkappe.gate.strategy import counted
from tarnkappe.state import Store
from tests.announced import announced
from tests.gate.server.gates import DISEASES, PASSWORD, people, policy, put, running

TARN = Path(sys.executable).with_name("tarn")
QUESTION = "SELECT disease FROM patients WHERE age BETWEEN %s AND %s AND zip = %s"
Asked = tuple[int, int, str]


def questions(seed: int, wide: int) -> Iterator[Asked]:
    chance = random.Random(seed)
    while True:
        low = chance.randint(18, 90)
        yield low, low + chance.randint(0, wide), chance.choice(["10104", "10155", "21410", "21421"])


def ask(connection: psycopg.Connection[Any], asked: Asked) -> tuple[str, ...]:
    return tuple(sorted(disease for (disease,) in connection.execute(QUESTION, asked).fetchall()))


def check_exactly(chosen: GatePolicy, answers: int) -> None:
    """The first answers, looked at by the exact solver alone: everybody keeps k possible values."""
    entries = list(HistoryStore(Store.open(chosen.store)).entries("everyone", "disease"))[:answers]
    codes = {disease: number for number, disease in enumerate((*DISEASES, "(other)"))}
    knowledge, numbers, truth = Knowledge(len(codes)), {}, []
    for entry in entries:
        for person, label in entry.newcomers:
            numbers[person] = len(truth)
            truth.append(codes[label])
        for block in entry.blocks:
            members = np.array([numbers[person] for person in block.people], dtype=np.int32)
            knowledge.publish(members, counted(np.array([codes[v] for v in block.values]), len(codes)))
    found = signatures(knowledge, np.array(truth, dtype=np.int32))
    assert min(map(len, found)) >= 3


def besiege(url: Any, clients: int, each: int, wide: int) -> dict[Asked, set[tuple[str, ...]]]:
    """Ask from many clients at once; returns every answer that anybody got."""
    heard: list[tuple[Asked, tuple[str, ...]]] = []
    failures: list[BaseException] = []

    def client(seed: int) -> None:
        try:
            with psycopg.connect(url(("ann", "bob")[seed % 2]), autocommit=True) as connection:
                own = questions(seed, wide)
                for _ in range(each):
                    asked = next(own)
                    heard.append((asked, ask(connection, asked)))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    answers: dict[Asked, set[tuple[str, ...]]] = {}
    for asked, answer in heard:
        answers.setdefault(asked, set()).add(answer)
    return answers


@pytest.mark.parametrize(
    ("clients", "each"), [(4, 10), pytest.param(20, 250, marks=pytest.mark.slow)], ids=["short", "20 x 250"]
)
def test_many_clients_at_once(postgres: str, folder: Path, clients: int, each: int) -> None:
    chosen = policy(put(people(40 * clients), postgres, folder), folder)
    with running(chosen, folder) as gate:
        answers = besiege(gate.url, clients, each, wide=6)
        assert sum(map(len, answers.values())) == len(answers)  # the same question, the same answer
        assert min(gate.keeper.degrees()["everyone", "disease"]) >= 3
        told = gate.keeper.status()
    (proven,) = audit(chosen, Store.open(chosen.store))
    assert proven.answers == told["histories"][0]["answers"]
    check_exactly(chosen, 40)
    with running(chosen, folder) as gate, gate.connect() as connection:
        for asked in list(answers)[:50]:
            assert {ask(connection, asked)} == answers[asked]


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A gate in a process of its own, which is killed if it still runs at the end."""
    environment = os.environ | {"NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [str(TARN), "gate", "serve", "--policy", "gate.toml", "--listen", "127.0.0.1:0", "--json"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process, announced(process)["port"]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=30)


def prepare(folder: Path, count: int) -> GatePolicy:
    source = put(people(count), "parquet", folder)
    (folder / "gate.toml").write_text(
        f'[table]\nsource = "{source}"\nname = "patients"\nkey = "id"\nquasi_identifiers = ["age", "zip", "sex"]\n'
        f"[sensitive.disease]\nvalues = {json.dumps(list(DISEASES))}\n[protection]\nk = 3\n[server]\ndeadline = 0.02\n",
        encoding="utf-8",
    )
    Users(folder / "users.toml").put("ann", PASSWORD)
    return GatePolicy.load(folder / "gate.toml")


@pytest.mark.parametrize("kills", [1, pytest.param(15, marks=pytest.mark.slow)], ids=["short", "long"])
def test_kill_9_at_any_point_and_restart(folder: Path, kills: int) -> None:
    chosen = prepare(folder, 120)
    chance = random.Random(kills)
    answers: dict[Asked, tuple[str, ...]] = {}
    own = questions(7, wide=10)
    for _ in range(kills):
        with served(folder) as (process, port):
            url = f"postgresql://ann:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/x"
            with psycopg.connect(url, autocommit=True) as connection:
                for asked in chance.sample(list(answers), min(5, len(answers))):
                    assert ask(connection, asked) == answers[asked]  # with neither more nor less protection
                last = chance.randint(2, 12)
                delay = chance.choice([0.0, 0.001, 0.003, 0.01, 0.03])
                death = threading.Timer(delay, process.send_signal, (signal.SIGKILL,))
                asked = next(own)
                try:
                    for number in range(1_000):
                        if number == last:
                            death.start()
                        answers[asked] = ask(connection, asked)
                        asked = next(own)
                except psycopg.OperationalError:
                    own = _first(asked, own)  # what was being asked is asked again
                death.join()
            process.wait(30)
        audit(chosen, Store.open(chosen.store))
    assert len(answers) > kills
    with served(folder) as (process, port):
        url = f"postgresql://ann:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/x"
        with psycopg.connect(url, autocommit=True) as connection:
            for asked, answer in answers.items():
                assert ask(connection, asked) == answer
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    check_exactly(chosen, 40)


def _first(asked: Asked, rest: Iterator[Asked]) -> Iterator[Asked]:
    yield asked
    yield from rest
