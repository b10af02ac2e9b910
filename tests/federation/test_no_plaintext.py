"""Nothing of one party is found at another: not in messages, in memory, in logs, in files or among temporary ones.

The attacker has taken over one party and reads all that it ever had in its hands.
"""

from __future__ import annotations

import dataclasses
import gc
import itertools
import json
import subprocess
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.contract import CIPHERED, Partitioning, Protocol
from tarnkappe.federation.message import Message
from tarnkappe.federation.runner import run_in_memory
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.loss import Entropy
from tarnkappe.privacy import KAnonymity
from tests.federation.federations import Federation, Whole, federate, in_regions, random_whole
from tests.federation.site_files import serve, tarn, wait_for, write_sites

EVERY_RUN = [(p, d) for p in CIPHERED for d in Partitioning]
NOT_DATA = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)


def spelled(whole: Whole) -> Whole:
    """The same table with values that only one person has and nothing else contains: they can be looked for.

    They generalize to the labels of the values that they stand for. Quasi-identifiers cannot be released as they
    are; sensitive values are, but for those of suppressed rows.
    """
    data = {name: whole.table.column(name).to_pylist() for name in whole.table.column_names}
    rules = dict(whole.rules)
    data["tid"] = [f"Geheimnis-{index:04d}" for index in range(whole.table.num_rows)]
    for name in (*whole.quasi_identifiers, "disease"):
        rule, values = whole.rules[name], data[name]
        data[name] = [f"Geheimnis-{name}-{index:04d}" for index in range(len(values))]
        labels = [[rule.label(value, level) for level in range(1, rule.height + 1)] for value in values]
        rules[name] = Hierarchy.from_rows([[v, *line] for v, line in zip(data[name], labels, strict=True)])
    return Whole(pa.table(data), rules, whole.quasi_identifiers)


def secrets_of(federation: Federation, released: pa.Table | None) -> dict[str, set[bytes]]:
    """What each party alone knows and the release does not show."""
    own = {
        party: {
            str(v).encode() for c in table.columns for v in c.to_pylist() if str(v).startswith("Geheimnis")
        }
        for party, table in federation.tables.items()
    }
    shown = set() if released is None else {str(v).encode() for c in released.columns for v in c.to_pylist()}
    return {
        party: values - shown - set().union(*(own[other] for other in own if other != party))
        for party, values in own.items()
    }


def reachable(start: Any) -> Iterator[bytes]:
    """Every text and byte string that can be reached from an object, and the contents of Arrow tables."""
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, NOT_DATA):
            continue
        seen.add(id(each))
        if isinstance(each, bytes | bytearray):
            yield bytes(each)
        elif isinstance(each, str):
            yield each.encode()
        elif isinstance(each, pa.Table):
            yield json.dumps(each.to_pydict(), default=repr).encode()
        else:
            waiting.extend(gc.get_referents(each))


def found(secrets: Iterable[bytes], texts: Iterable[bytes]) -> list[bytes]:
    everything = b"\n".join(texts)
    return [secret for secret in secrets if secret in everything]


def of_others(secrets: Mapping[str, set[bytes]], party: str) -> set[bytes]:
    return set().union(*(values for name, values in secrets.items() if name != party))


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_nothing_of_another_party_is_in_any_message_or_in_memory(
    protocol: Protocol, distribution: Partitioning
) -> None:
    secrets = look_for_plaintext(protocol, distribution, 17)
    assert any(b"-disease-" in each for each in secrets), "some sensitive values must stay secret too"


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_nothing_of_another_party_is_anywhere_whatever_the_table(
    protocol: Protocol, distribution: Partitioning, seed: int
) -> None:
    look_for_plaintext(protocol, distribution, seed)


def look_for_plaintext(protocol: Protocol, distribution: Partitioning, seed: int) -> set[bytes]:
    whole, models, loss = spelled(random_whole(seed, least_rows=12)), (KAnonymity(2),), Entropy()
    if distribution is Partitioning.HYBRID:
        federation = in_regions(whole, protocol, (2, 1, 2), seed, models, loss, limit=0.2)
    else:
        federation = federate(whole, protocol, distribution, models, loss, 0.2, seed=seed)
    participants = federation.participants()
    in_hands: dict[str, set[bytes]] = {p.name: set() for p in participants}

    def watch(message: Message) -> None:
        in_hands[message.receiver].add(message.body)
        for participant in participants:
            in_hands[participant.name].update(reachable(vars(participant)))

    run_in_memory(participants, watch=watch, seed=seed)
    outcome = participants[0].outcome
    assert outcome is not None
    secrets = secrets_of(federation, outcome.release)
    for participant in participants:
        in_hands[participant.name].update(reachable(vars(participant)))
        assert not found(of_others(secrets, participant.name), in_hands[participant.name])
        own = secrets.get(participant.name, set())
        assert len(found(own, in_hands[participant.name])) == len(own), "own values must be found"
    assert any(secrets.values())
    return set().union(*secrets.values())


@pytest.mark.parametrize("protocol", CIPHERED)
def test_a_party_that_has_ended_a_run_remembers_nothing_but_the_release(protocol: Protocol) -> None:
    whole = spelled(random_whole(13, least_rows=12))
    federation = federate(whole, protocol, Partitioning.HORIZONTAL, (KAnonymity(3),), Entropy(), 0.3, seed=4)
    participants = federation.participants()
    run_in_memory(participants)
    outcome = participants[0].outcome
    assert outcome is not None
    secrets = secrets_of(federation, outcome.release)
    for participant in participants:
        participant.forget()
        assert not found(set().union(*secrets.values()), reachable(vars(participant)))


def test_errors_do_not_quote_values() -> None:
    whole = spelled(random_whole(13, least_rows=12))
    federation = federate(
        whole, Protocol.STAR, Partitioning.VERTICAL, (KAnonymity(2),), Entropy(), 0.2, seed=4
    )
    first = next(iter(federation.tables))
    tables = {**federation.tables, first: federation.tables[first].slice(1)}
    with pytest.raises(ProtocolError) as caught:
        dataclasses.replace(federation, tables=tables).run()
    assert "Geheimnis" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", CIPHERED)
def test_nothing_of_another_party_is_in_files_logs_or_temporary_folders(
    tmp_path: Path, started: list[subprocess.Popen[str]], protocol: Protocol
) -> None:
    whole = spelled(random_whole(13, least_rows=24))
    federation = federate(whole, protocol, Partitioning.HORIZONTAL, (KAnonymity(3),), Entropy(), 0.3, seed=4)
    ports = write_sites(tmp_path, federation)
    for name in ports:
        (tmp_path / "tmp" / name).mkdir(parents=True)
        serve(name, tmp_path, started, TMPDIR=str(tmp_path / "tmp" / name))
    wait_for(ports)
    done = tarn("federate", "job.toml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = json.loads(done.stdout)["digest"][:16]
    secrets = secrets_of(federation, pq.read_table(tmp_path / "P1" / folder / "release.parquet"))
    assert any(secrets.values()), "some values must stay secret for this test to mean anything"
    everybody_knows = [done.stdout.encode(), done.stderr.encode()]
    everybody_knows += [path.read_bytes() for path in tmp_path.glob("*.json")]
    assert not found(set().union(*secrets.values()), everybody_knows)
    for name, process in zip(ports, started, strict=True):
        process.kill()
        _, log = process.communicate()
        written = itertools.chain((tmp_path / name).rglob("*"), (tmp_path / "tmp" / name).rglob("*"))
        texts = [log.encode(), *(path.read_bytes() for path in written if path.is_file())]
        for release in (tmp_path / name).rglob("*.parquet"):  # what is compressed is unpacked first
            texts += reachable(pq.read_table(release))
        assert not found(set().union(*secrets.values()), texts), name
