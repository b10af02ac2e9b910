"""Who is in an answer, and by which values: what lies in the table beyond a public list, or changes, tells nothing."""

from __future__ import annotations

import dataclasses
import zlib
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tarnkappe.errors import GuaranteeError, InputError, ParameterError, VerificationError
from tarnkappe.gate import PublicPool, history_store
from tarnkappe.gate.answer import Block, HistoryEntry
from tarnkappe.gate.audit import audit
from tarnkappe.gate.column_gate import ColumnGate
from tarnkappe.gate.history_store import LISTED, HistoryStore, Lease
from tarnkappe.gate.labels import Labels
from tarnkappe.gate.monitor import QueryMonitor
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.policy_columns import Sensitive
from tarnkappe.gate.question import AnswerRows, GateQuery
from tarnkappe.gate.roster import hold_back
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.key import Key
from tarnkappe.state.store import Store
from tests.gate.clinic import DISEASES, RUNNING, between, cells, keeper, policy, write

MODES: dict[str, dict[str, Any]] = {
    "add": {},
    "refuse": {"on_violation": "refuse"},
    "minimal-values": {"accept_leak_through": ["minimal-values"]},
    "refusals": {"on_violation": "refuse", "accept_leak_through": ["refusals"]},
}
every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    write(tmp_path / "t.parquet")
    return tmp_path


def listing(chosen: GatePolicy, **changes: Any) -> GatePolicy:
    """The policy with another list for its column."""
    return dataclasses.replace(chosen, sensitive=(dataclasses.replace(chosen.sensitive[0], **changes),))


def with_value(person: str, disease: str | None) -> list[tuple[Any, ...]]:
    """The table with another value for somebody."""
    return [(*row[:4], disease, row[5]) if row[0] == person else row for row in RUNNING]


def tuples(one: QueryMonitor) -> int:
    return one._columns["everyone", "disease"].gate.knowledge.tuples


# ----------------------------------------------------------------------------------------------- public lists


@every_mode
@pytest.mark.parametrize("opened", [QueryMonitor.open, keeper], ids=["opened", "made"])
def test_a_gate_without_a_public_list_of_values_does_not_start(opened: Any, mode: dict, clinic: Path) -> None:
    bare = listing(policy(clinic, **mode), values=None)
    with pytest.raises(
        ParameterError, match=r"^gate.toml: \[sensitive.disease\] needs 'values': the list is public"
    ):
        opened(bare)
    assert not (clinic / "tarnkappe.state").exists() or not Store.open(bare.store).engine.pool.checkedout()


@every_mode
@pytest.mark.parametrize("new", ["Plague", "", "(missing)", None, "(other)", "asthma", "Asthma "])
def test_a_value_that_the_list_lacks_is_other_whenever_it_comes(
    new: str | None, mode: dict, clinic: Path
) -> None:
    chosen = listing(policy(clinic, **mode), values=("Asthma", "Bronchitis", "Cholera"))
    write(clinic / "t.parquet", [(f"p{n:02}", n, "1", "f", DISEASES[n % 4], 1) for n in range(40)])
    one = keeper(chosen)
    one.answer("ann", between(0, 19))
    labels = list(one._columns["everyone", "disease"].gate.population.labels)
    rows = [(f"p{n:02}", n, "1", "f", DISEASES[n % 4], 1) for n in range(40)]
    write(clinic / "t.parquet", [*rows, *((f"q{n}", 50 + n, "1", "f", new, 1) for n in range(8))])
    late = one.answer("ann", between(50, 99))
    if isinstance(late, AnswerRows):
        assert set(cells(late, "disease")) <= {"Asthma", "Bronchitis", "Cholera", "(other)"}
    assert one._columns["everyone", "disease"].gate.population.labels == labels, (
        "nothing is added to the list"
    )


@pytest.mark.parametrize(("stored", "shown"), [(2500, 2500), (777, None), (None, None)])
def test_a_column_of_numbers_stays_one(stored: int | None, shown: int | None, clinic: Path) -> None:
    write(clinic / "t.parquet", [(*row[:5], stored) for row in RUNNING])
    one = keeper(policy(clinic, two=True))
    answer = one.answer("ann", between(20, 22, ("pay",)))
    assert isinstance(answer, AnswerRows)
    assert answer.types == ("integer",)
    assert [row[0] for row in answer.rows].count(shown) >= 4


# ---------------------------------------------------------------------------------------------------- changes

CHANGES = {
    "listed to listed": ("Asthma", "Cholera"),
    "listed to other": ("Asthma", "Plague"),
    "other to listed": ("Plague", "Asthma"),
    "other to other": ("Plague", "Gout"),
    "missing to other": (None, "Gout"),
    "other to missing": ("Gout", None),
    "listed to missing": ("Asthma", None),
}


@pytest.mark.parametrize("restart", [False, True], ids=["running", "restarted"])
@pytest.mark.parametrize(("before", "after"), CHANGES.values(), ids=CHANGES)
def test_whoever_has_another_stored_value_than_was_answered_has_a_new_tuple(
    before: str | None, after: str | None, restart: bool, clinic: Path
) -> None:
    """The stored values count, not their labels: (other) stands for many."""
    write(clinic / "t.parquet", with_value("Ben", before))
    one = keeper(policy(clinic))
    first = one.answer("ann", between(20, 22))
    assert tuples(one) == 4
    if restart:
        one.close()
        one = keeper(policy(clinic), seed=9)
    assert one.answer("ann", between(20, 22)) == first, "nothing has changed"
    write(clinic / "t.parquet", with_value("Ben", after))
    later = one.answer("ann", between(20, 22))
    assert isinstance(later, AnswerRows)
    knowledge = one._columns["everyone", "disease"].gate.knowledge
    assert tuples(one) == 5
    assert sorted(knowledge.members(1).tolist()) == [min(knowledge.members(1)), 4], "Ben, before and after"
    assert len(knowledge.members(2)) == 4
    one.close()
    again = keeper(policy(clinic), seed=3)
    assert again.answer("bob", between(20, 22)) == later, "after a restart it is the same change"
    write(clinic / "t.parquet", with_value("Ben", before))
    again.answer("ann", between(20, 22))
    assert tuples(again) == 6, "that the old value is back is another change"
    assert audit(policy(clinic), again._histories.store)[0].is_complete


@pytest.mark.parametrize("mode", [MODES["minimal-values"], MODES["refusals"]], ids=["minimal", "refusals"])
def test_a_gate_that_does_not_count_with_changes_leaves_changed_people_out(mode: dict, clinic: Path) -> None:
    one = keeper(policy(clinic, **mode))
    one.answer("ann", between(20, 25))
    before = tuples(one)
    write(clinic / "t.parquet", with_value("Ben", "Cholera"))
    one.answer("ann", between(20, 25))
    assert tuples(one) == before
    assert one.status()["left_out"]["changed"] == 1
    one.close()
    assert keeper(policy(clinic, **mode)).status()["left_out"]["changed"] == 1


def test_a_number_that_is_written_otherwise_has_not_changed(clinic: Path) -> None:
    column = dataclasses.replace(policy(clinic, two=True).sensitive[1], values=("20.5", "30", "40"))
    labels = Labels(column, numbers=True)
    store = HistoryStore(Store.in_memory())
    marks = Key.new()
    made = ColumnGate(
        policy(clinic),
        column,
        "everyone",
        labels,
        lambda *told: marks.mark("m", list(told)).hex(),
        store,
        lambda _: PublicPool(),
    )
    made.look(["a"], ["20.50"])
    made.ask(["a"], ["20.50"])
    made.look(["a"], ["20.5"])
    assert made.gate.knowledge.tuples == 1
    made.look(["a"], ["777"])
    made.ask(["a"], ["777"])
    made.look(["a"], ["778"])
    assert made.gate.knowledge.tuples == 3, "both are (other), and not the same"


def test_a_change_that_cannot_be_written_is_noticed_again(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = keeper(policy(clinic))
    one.answer("ann", between(20, 22))
    write(clinic / "t.parquet", with_value("Ben", "Cholera"))
    with monkeypatch.context() as patched:
        patched.setattr(AuditLog, "append", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            one.answer("ann", between(20, 22))
    assert tuples(one) == 4
    told = one.answer("ann", between(20, 22))
    assert tuples(one) == 5
    again = keeper(policy(clinic))
    assert again.answer("ann", between(20, 22)) == told
    assert tuples(again) == 5


def test_a_change_that_was_written_before_a_crash_counts_once(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change is in the store, the answer is not: the next start knows of it."""
    one = keeper(policy(clinic))
    one.answer("ann", between(20, 22))
    write(clinic / "t.parquet", with_value("Ben", "Cholera"))
    with monkeypatch.context() as patched:
        patched.setattr(HistoryStore, "add", lambda *_: (_ for _ in ()).throw(OSError("gone")))
        with pytest.raises(OSError, match="gone"):
            one.answer("ann", between(20, 22))
    told = []
    for _ in range(2):
        last = keeper(policy(clinic))
        told.append(last.answer("ann", between(20, 22)))
        assert tuples(last) == 5
        assert len(last._histories.versions("everyone", "disease")[2]) == 1
    assert told[0] == told[1]
    assert audit(policy(clinic), last._histories.store)[0].is_complete


def test_a_change_counts_for_those_who_saw_the_value_before(clinic: Path) -> None:
    one = keeper(policy(clinic, two=True, collusion="single"))
    one.answer("ann", between(20, 22, ("disease",)))
    write(clinic / "t.parquet", with_value("Ben", "Cholera"))
    for user, column, known in (("ann", "disease", 5), ("bob", "disease", 4), ("ann", "pay", 4)):
        one.answer(user, between(20, 22, (column,)))
        assert one._columns[f"user {user}", column].gate.knowledge.tuples == known
    plain = one.answer("ann", between(20, 22, ("age",)))
    assert len(plain.rows) == 4, "quasi-identifiers are no secret"


def test_a_value_that_nobody_was_told_about_may_change(clinic: Path) -> None:
    one = keeper(policy(clinic))
    one.answer("ann", between(20, 20))
    write(clinic / "t.parquet", with_value("Ben", "Cholera"))
    one.answer("ann", between(20, 22))
    assert tuples(one) == 4
    assert one.status()["left_out"]["changed"] == 0


def test_deleted_and_back_with_the_same_value_is_the_same_person(clinic: Path) -> None:
    one = keeper(policy(clinic))
    first = one.answer("ann", between(20, 22))
    write(clinic / "t.parquet", [row for row in RUNNING if row[0] != "Ben"])
    one.answer("ann", between(20, 22))
    write(clinic / "t.parquet")
    assert one.answer("ann", between(20, 22)) == first
    assert one.status()["left_out"]["changed"] == 0


def test_limits_count_those_who_can_be_answered(clinic: Path) -> None:
    one = keeper(policy(clinic, answer={"min_rows": 4}, **MODES["minimal-values"]))
    assert isinstance(one.answer("ann", between(20, 22)), AnswerRows)
    write(clinic / "t.parquet", with_value("Ben", "Cholera"))
    assert not isinstance(one.answer("ann", between(20, 22)), AnswerRows)


# --------------------------------------------------------------------------------------------- lists of a table


def from_table(clinic: Path, **settings: Any) -> GatePolicy:
    """A policy whose list was read from a table of forty people."""
    rows = [(f"p{n:02}", n, "1", "f", DISEASES[n % 4], 1) for n in range(40)]
    write(clinic / "t.parquet", rows)
    chosen = listing(policy(clinic, **settings), values=tuple(DISEASES[:4]), values_from="table", holders=3)
    key, store = Key.load(chosen.key_file, create=True), HistoryStore(Store.open(chosen.store))
    people = {row[0]: row[4] for row in rows}
    assert hold_back(store, key, "disease", Labels(chosen.sensitive[0]), 3, people) == 12
    return chosen


@every_mode
def test_a_list_from_the_table_is_counted_with_or_people_are_held_back_for_it(
    mode: dict, clinic: Path
) -> None:
    chosen = from_table(clinic, **mode)
    one = keeper(chosen)
    for low, high in ((0, 39), (0, 19), (5, 30), (0, 39)):
        one.answer("ann", between(low, high))
    held_back = 12 if mode else 0
    assert tuples(one) == 40 - held_back or mode.get("on_violation") == "refuse"
    assert tuples(one) <= 40 - held_back
    assert one.status()["left_out"]["held_back"] == held_back
    if not mode:
        assert one.status()["histories"][0]["unreturned"] == 0
        assert one.status()["histories"][0]["binding_floors"] == 4
        one.close()
        again = keeper(chosen)
        again.answer("ann", between(3, 9))
    assert audit(chosen, one._histories.store)[0].is_complete


def test_whoever_changed_after_the_list_was_read_counts_for_it_with_what_he_had(clinic: Path) -> None:
    chosen = from_table(clinic)
    rows = [(f"p{n:02}", n, "1", "f", DISEASES[n % 4], 1) for n in range(40)]
    rows[0] = (*rows[0][:4], "Plague", 1)
    write(clinic / "t.parquet", [*rows, ("new", 0, "1", "f", "Asthma", 1)])
    one = keeper(chosen)
    one.answer("ann", between(0, 3))
    knowledge = one._columns["everyone", "disease"].gate.knowledge
    assert knowledge.tuples == 6, "four, who came later, and what the first one had"
    assert knowledge.view.founder.sum() == 4
    assert knowledge.unreturned == 36
    one.close()
    again = keeper(chosen)
    again.answer("ann", between(0, 20))
    assert audit(chosen, again._histories.store)[0].is_complete


def test_known_people_are_not_protected_and_everybody_else_is(clinic: Path) -> None:
    (clinic / "staff.csv").write_text("name,room\nBen,1\nFiona,2\n", encoding="utf-8")
    chosen = policy(clinic, known="staff.csv")
    assert any("are not protected" in warning for warning in chosen.warnings)
    one = keeper(chosen)
    one.answer("ann", between(20, 22))
    one.answer("ann", between(20, 24))
    write(clinic / "t.parquet", with_value("Ben", "Cholera"))
    one.answer("ann", between(20, 22))
    one.close()
    again = keeper(chosen)
    again.answer("ann", between(21, 23))
    knowledge = again._columns["everyone", "disease"].gate.knowledge
    assert len(knowledge.known) == 3, "Ben twice, Fiona"
    assert audit(chosen, again._histories.store)[0].proven == ("answers", "changes", "occurrence", "known")
    (clinic / "staff.csv").write_text("name\nBen\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="'known' was"):
        keeper(chosen)
    (clinic / "staff.csv").write_text("id\nBen\n", encoding="utf-8")
    with pytest.raises(InputError, match="there is no column 'name'"):
        keeper(chosen)
    with pytest.raises(ParameterError, match="'known' needs surplus values"):
        policy(clinic, known="staff.csv", on_violation="refuse")


def test_a_list_that_was_not_read_with_this_store_is_refused(clinic: Path) -> None:
    chosen = from_table(clinic)
    for changes in ({"values": ("Asthma", "Cholera")}, {"holders": 2}):
        with pytest.raises(ParameterError, match="was not read by 'tarn gate values' with this store"):
            keeper(listing(chosen, **changes))
    with pytest.raises(ParameterError, match="was not read"):
        keeper(dataclasses.replace(chosen, store=str(clinic / "other.state")))


# ------------------------------------------------------------------------------------------------- older stores


def as_by_an_older_version(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let entries be written without marks of stored values, as the first version wrote them."""
    real = history_store._packed
    monkeypatch.setattr(history_store, "_packed", lambda entry: real(dataclasses.replace(entry, stored=())))


@pytest.mark.parametrize("value", ["Asthma", "Plague"])
def test_a_store_of_an_older_version_is_gone_on_with_if_every_change_can_be_noticed(
    value: str, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(clinic / "t.parquet", with_value("Ben", value))
    with monkeypatch.context() as patched:
        as_by_an_older_version(clinic, patched)
        one = keeper(policy(clinic))
        one.answer("ann", between(20, 22))
        one.close()
    if value == "Plague":
        with pytest.raises(GuaranteeError, match="did not note what stands behind"):
            keeper(policy(clinic))
        return
    again = keeper(policy(clinic))
    again.answer("ann", between(20, 22))
    assert tuples(again) == 4
    found = audit(policy(clinic), again._histories.store)[0]
    assert found.proven == ("answers",)
    assert "changes and occurrence unknown" in str(found)


def test_a_store_in_which_changed_people_were_answered_is_refused(clinic: Path) -> None:
    chosen = policy(clinic)
    store = HistoryStore(Store.open(chosen.store))
    values = ("Asthma", "Asthma", "Cholera", "Cholera")
    for number, label in enumerate(("Asthma", "Cholera"), start=1):
        entry = HistoryEntry((("x", label),), (Block(("x",), values),))
        store.add("everyone", "disease", number, entry)
    with pytest.raises(GuaranteeError, match="given by an older version, which answered people again"):
        keeper(chosen)


def test_a_store_with_values_that_the_list_lacks_is_refused(clinic: Path) -> None:
    chosen = policy(clinic)
    store = HistoryStore(Store.open(chosen.store))
    values = ("Plague", "Asthma", "Cholera", "Cholera")
    store.add("everyone", "disease", 1, HistoryEntry((("x", "Plague"),), (Block(("x",), values),)))
    with pytest.raises(GuaranteeError, match="with values of 'disease' that the list of the policy lacks"):
        keeper(chosen)


# ---------------------------------------------------------------------------------------------------- the audit


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ((("a", "Cholera"),), "answer 2 has somebody whose value had changed"),
        ((("b", "Plague"),), "answer 2 has a value that the list of the policy lacks"),
    ],
)
def test_the_audit_finds_answers_that_the_roster_forbids(second: Any, message: str, tmp_path: Path) -> None:
    store = Store.in_memory()
    for number, newcomers in enumerate(((("a", "Asthma"),), second), start=1):
        values = (newcomers[0][1], "Asthma", "Bronchitis", "Cholera")
        block = Block((newcomers[0][0],), values)
        HistoryStore(store).add("everyone", "disease", number, HistoryEntry(newcomers, (block,), ("mark",)))
    with pytest.raises(VerificationError, match=message):
        audit(policy(tmp_path), store)


def test_the_audit_finds_somebody_who_is_held_back(clinic: Path) -> None:
    chosen = from_table(clinic, **MODES["minimal-values"])
    store = Store.open(chosen.store)
    key = Key.load(chosen.key_file)
    held_back = next(e for e in AuditLog(store).entries() if e.event == LISTED).details["held_back"]
    assert set(held_back) < {key.mark("person", [f"p{n:02}"]).hex() for n in range(40)}
    block = Block((held_back[0],), ("Asthma", "Bronchitis", "Cholera"))
    HistoryStore(store).add(
        "everyone", "disease", 1, HistoryEntry(((held_back[0], "Asthma"),), (block,), ("m",))
    )
    with pytest.raises(VerificationError, match="held back for a list"):
        audit(chosen, store)


@pytest.mark.parametrize(
    ("table", "what"), [("gate_versions", "changes of values"), ("gate_founders", "people")]
)
def test_the_audit_finds_changes_and_founders_that_were_altered(table: str, what: str, clinic: Path) -> None:
    chosen = from_table(clinic)
    one = keeper(chosen)
    one.answer("ann", between(0, 9))
    rows = [(f"p{n:02}", n, "1", "f", DISEASES[(n + 1) % 4], 1) for n in range(40)]
    write(clinic / "t.parquet", rows)
    one.answer("ann", between(0, 9))
    store = one._histories.store
    assert audit(chosen, store)[0].is_complete
    with store.writing() as connection:
        connection.execute(sa.text(f"DELETE FROM {table}"))
    with pytest.raises(VerificationError, match=f"the {what}.* are not those that were logged"):
        audit(chosen, store)


def test_what_is_kept_of_a_stored_value_does_not_tell_it(clinic: Path) -> None:
    write(clinic / "t.parquet", with_value("Ben", "Plague"))
    one = keeper(policy(clinic))
    one.answer("ann", between(20, 28))
    one.close()
    with Store.open(clinic / "tarnkappe.state").reading() as connection:
        entries = connection.execute(sa.text("SELECT entry FROM gate_answers")).scalars().all()
    assert all(b"Plague" not in zlib.decompress(entry) for entry in entries)


# --------------------------------------------------------------------------------------------------- one gate


@pytest.mark.parametrize("place", ["file", "postgresql"])
def test_a_store_has_one_gate_at_a_time(place: str, tmp_path: Path, request: Any) -> None:
    address = request.getfixturevalue("postgres") if place == "postgresql" else str(tmp_path / "answers")
    here, there = Store.open(address), Store.open(address)
    one = Lease.take(here)
    with pytest.raises(ParameterError, match="another gate is open on this store"):
        Lease.take(there)
    one.end()
    Lease.take(there).end()
    here.close()
    there.close()


def test_a_second_gate_on_one_store_is_refused_at_its_start(clinic: Path) -> None:
    one = QueryMonitor.open(policy(clinic))
    with pytest.raises(ParameterError, match="another gate is open on this store"):
        QueryMonitor.open(policy(clinic))
    one.answer("ann", between(20, 22))
    one.close()
    again = QueryMonitor.open(policy(clinic))
    assert isinstance(again.answer("ann", GateQuery(("disease",), '"age" < ?', (24,))), AnswerRows)
    again.close()


def test_a_list_of_numbers_and_texts_is_read(tmp_path: Path) -> None:
    column = policy(tmp_path, two=True).sensitive[1]
    assert isinstance(column, Sensitive)
    assert (column.values or ())[0] == "2000"
