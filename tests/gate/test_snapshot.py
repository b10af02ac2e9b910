"""Snapshots of the table, what differs between two of them, and who was there when."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import InputError, VerificationError
from tarnkappe.gate.audit import audit
from tarnkappe.gate.history_store import ROSTERS, HistoryStore
from tarnkappe.gate.roster_log import RosterLog
from tarnkappe.gate.snapshot import KEY, Snapshot
from tarnkappe.state.store import Store
from tests.gate.clinic import RUNNING, between, cells, keeper, policy, write

VALUES = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["A", "B", None]), min_size=1)


def snapshot(values: dict[str, str | None]) -> Snapshot:
    columns = {
        KEY: pa.array(list(values), pa.string()),
        "age": pa.array(range(len(values)), pa.int32()),
        "disease": pa.array(list(values.values()), pa.string()),
    }
    return Snapshot("name", pa.table(columns), ["age"], ["disease"])


@given(VALUES, VALUES)
@settings(max_examples=60)
def test_what_happened_is_what_one_sees_by_comparing(
    before: dict[str, str | None], after: dict[str, str | None]
) -> None:
    old, new = snapshot(before), snapshot(after)
    events = new.since(old)
    assert set(new.keys(events.came)) == set(after) - set(before)
    assert set(events.went) == set(before) - set(after)
    changed = {key for key in set(before) & set(after) if before[key] != after[key]}
    assert set(new.keys(events.changed["disease"])) == changed
    assert new.keys() == tuple(sorted(after))
    assert dict(zip(new.keys(), new.cells("disease"), strict=True)) == after


def test_a_condition_sees_quasi_identifiers_alone() -> None:
    table = snapshot({"b": "A", "a": "B", "c": None})
    assert table.keys(table.chosen('"age" < ?', (2,))) == ("a", "b")
    assert table.chosen(None, ()).tolist() == [0, 1, 2]
    for hidden in ("disease", KEY):
        with pytest.raises(InputError):
            table.chosen(f'"{hidden}" IS NOT NULL', ())


def test_a_table_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet")
    gate = keeper(policy(tmp_path))
    assert not gate.renew()
    with mock.patch.object(type(gate.source), "_read", side_effect=AssertionError("it was read")):
        assert cells(gate.answer("ann", between(20, 28)), "disease")
    write(tmp_path / "t.parquet", RUNNING[:-1])
    assert gate.renew()
    gate.close()


def test_who_came_and_went_is_logged_and_proven(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", RUNNING[:-1])
    chosen = policy(tmp_path)
    gate = keeper(chosen)
    gate.answer("ann", between(20, 24))
    write(tmp_path / "t.parquet", RUNNING[1:])  # Alison went, Ian came
    gate.answer("ann", between(20, 28))
    gate.close()
    write(tmp_path / "t.parquet", RUNNING[2:])  # Ben went while the gate was closed
    again = keeper(chosen)
    again.answer("ann", between(21, 28))
    again.close()
    store = Store.open(chosen.store)
    log = RosterLog(HistoryStore(store))
    counts = [(len(one.came), len(one.went), sum(one.answers.values())) for one in log.entries()]
    assert counts == [(8, 0, 0), (1, 1, 1), (0, 1, 2)]
    assert audit(chosen, store)
    with store.writing() as connection:
        connection.execute(sa.update(ROSTERS).where(ROSTERS.c.place == 2).values(came=b""))
    with pytest.raises(VerificationError, match="came and went"):
        audit(chosen, store)
    with (
        mock.patch.object(RosterLog, "verify"),
        pytest.raises(VerificationError, match="was not in the table"),
    ):
        audit(chosen, store)
    store.close()


def test_nothing_is_answered_from_a_table_whose_changes_could_not_be_kept(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", RUNNING[:-1])
    gate = keeper(policy(tmp_path))
    first = cells(gate.answer("ann", between(20, 20)), "disease")
    write(tmp_path / "t.parquet", [("Alison", 20, "10140", "f", "Diabetes", 2490), *RUNNING[1:]])
    with mock.patch.object(RosterLog, "add", side_effect=OSError("the disk is full")):
        for _ in range(2):
            with pytest.raises(OSError, match="full"):
                gate.answer("ann", between(20, 20))
    second = cells(gate.answer("ann", between(20, 20)), "disease")
    assert "Asthma" in first
    assert "Diabetes" in second
    assert gate.status()["histories"][0]["changes"] == 1
    assert np.array_equal(gate.source.snapshot.chosen(None, ()), np.arange(9))
    gate.close()
