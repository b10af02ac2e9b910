"""The keeper: who sees what, what is kept, and what happens when the table changes or the machine dies."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tarnkappe.errors import AccessError, GuaranteeError, ParameterError
from tarnkappe.gate.audit import audit
from tarnkappe.gate.forms import NOTICE
from tarnkappe.gate.history_store import HistoryStore
from tarnkappe.gate.monitor import ASKED
from tarnkappe.gate.public_pool import PublicPool
from tarnkappe.gate.question import AnswerRows, GateQuery, RefusedQuery
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.store import Store
from tests.conftest import ROOT
from tests.gate import twin
from tests.gate.clinic import ALL, DISEASES, RUNNING, between, cells, keeper, policy, write


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    write(tmp_path / "t.parquet")
    return tmp_path


def proven(place: object) -> None:
    """The smallest degree of anonymity of everything that a keeper answered, by enumeration."""
    for column in place._columns.values():  # type: ignore[attr-defined]
        assert twin.degree(twin.published(column.gate.knowledge)) >= column.column.k


def test_a_selection_and_a_projection(clinic: Path) -> None:
    one = keeper(policy(clinic))
    answer = one.answer("ann", between(20, 22))
    assert isinstance(answer, AnswerRows)
    assert answer.columns == ALL
    assert answer.types == ("integer", "text", "text", "text")
    assert {row[:3] for row in answer.rows} == {row[1:4] for row in RUNNING[:4]}
    assert not {"Asthma", "Bronchitis", "Cholera"} - set(cells(answer, "disease"))
    assert answer.notice == NOTICE
    assert "Alison" not in repr(answer)
    proven(one)


def test_the_same_question_gets_the_same_answer_now_and_after_a_restart_however_it_is_put(
    clinic: Path,
) -> None:
    one = keeper(policy(clinic))
    first = one.answer("ann", between(20, 22))
    assert one.answer("bob", GateQuery(ALL, '"age" < ?', (23,))) == first
    assert cells(one.answer("ann", between(20, 22, ("disease",))), "disease") == cells(first, "disease")
    one.close()
    again = keeper(policy(clinic), seed=99)
    assert again.answer("ann", between(0, 22)) == first
    assert again.status()["histories"][0]["answers"] == 1


def test_how_hard_worlds_are_looked_for_may_change_and_nobody_loses_values(clinic: Path) -> None:
    """Without any search answers grow instead; with another one, what was answered is answered as before."""
    asked = [(20, 22), (21, 24), (20, 21), (24, 28), (22, 23)]
    one = keeper(policy(clinic, k=3, search={"steps": 0}))
    first = [one.answer("ann", between(low, high)) for low, high in asked]
    assert one._columns["everyone", "disease"].gate.decision.grown  # type: ignore[attr-defined]
    proven(one)
    one.close()
    again = keeper(policy(clinic, k=3, search={"work": 100, "largest": 50}), seed=99)
    pool = again._columns["everyone", "disease"].gate.strategy
    assert isinstance(pool, PublicPool)
    assert (pool.steps, pool.work, pool.largest) == (200, 100, 50)
    assert [again.answer("ann", between(low, high)) for low, high in asked] == first
    again.answer("ann", between(20, 26))
    proven(again)


def test_answers_add_up_to_no_disclosure_whoever_asks(clinic: Path) -> None:
    one = keeper(policy(clinic, k=3))
    for place, (low, high) in enumerate(
        [(20, 22), (21, 24), (20, 21), (25, 25), (24, 28), (20, 20), (22, 23)]
    ):
        one.answer(f"user{place}", between(low, high))
    proven(one)
    assert one.status()["histories"][0]["least_degree"] >= 3
    assert min(min(degrees) for degrees in one.degrees().values()) >= 3


def test_users_groups_and_everybody_have_the_histories_that_the_policy_presumes(clinic: Path) -> None:
    settings = {"collusion": "groups", "users": {"groups": {"study": ["ann", "bob"], "billing": ["cid"]}}}
    one = keeper(policy(clinic, **settings, state={"store": "groups.state"}))
    answers = {user: one.answer(user, between(20, 22)) for user in ("ann", "bob", "cid")}
    assert answers["ann"] == answers["bob"]
    assert [found["history"] for found in one.status()["histories"]] == ["group billing", "group study"]
    with pytest.raises(AccessError):
        one.answer("eve", between(20, 22))
    single = keeper(policy(clinic, collusion="single", state={"store": "single.state"}))
    single.answer("ann", between(20, 22))
    single.answer("bob", between(20, 22))
    assert len(single.status()["histories"]) == 2


def test_deleted_people_stay_protected_and_changed_ones_are_answered_again(clinic: Path) -> None:
    """Delete keeps rows; whoever has another value has a new tuple, joined to the old one; insert is simply new."""
    one = keeper(policy(clinic))
    first = one.answer("ann", between(20, 22))
    gate = one._columns["everyone", "disease"].gate
    assert gate.knowledge.tuples == 4
    changed = [
        (*row[:4], "Diabetes", row[5]) if row[0] == "Ben" else row for row in RUNNING if row[0] != "Debra"
    ]
    write(clinic / "t.parquet", [*changed, ("Jill", 22, "10140", "f", "Cholera", 1)])
    second = one.answer("ann", between(20, 22))
    assert second != first
    assert gate.knowledge.tuples == 6, "Jill, and what Ben has now"
    assert gate.knowledge.answers == [0, 2], "between the answers it is noted that Ben changed"
    write(clinic / "t.parquet")
    one.answer("ann", between(20, 22))
    assert gate.knowledge.tuples == 7, "his first value is back, which nobody is told: another change"
    assert len(gate.knowledge.members(gate.knowledge.results - 1)) == 4
    assert one.status()["histories"][0]["changes"] == 2
    proven(one)
    one.close()
    again = keeper(policy(clinic))
    assert again._columns["everyone", "disease"].gate.knowledge.tuples == 7
    assert again.status()["left_out"] == {"changed": 0, "held_back": 0}
    proven(again)


def test_a_missing_value_is_a_value(clinic: Path) -> None:
    write(clinic / "t.parquet", [*RUNNING, ("Jill", 22, "10140", "f", None, 1)])
    one = keeper(policy(clinic))
    answer = one.answer("ann", between(22, 22))
    assert None in cells(answer, "disease")
    proven(one)


def test_two_sensitive_columns_have_histories_of_their_own_and_are_not_linked(clinic: Path) -> None:
    """The joint attack: pairs of values in one row must be no more than chance."""
    one = keeper(policy(clinic, two=True))
    both = one.answer("ann", between(20, 25, ("disease", "pay")))
    assert isinstance(both, AnswerRows)
    assert both.types == ("text", "integer")
    assert len(cells(both, "disease")) == len(cells(both, "pay")), "as many of the one as of the other"
    true_pairs = {(row[4], row[5]) for row in RUNNING}
    assert {pair for pair in both.rows if pair in true_pairs} != true_pairs
    alone = one.answer("ann", between(20, 25, ("pay",)))
    assert cells(alone, "pay") == cells(both, "pay"), "one column alone is the same answer"
    results = [found["answers"] for found in one.status()["histories"]]
    assert results == [1, 1]
    proven(one)


def test_what_is_shown_of_one_column_does_not_depend_on_the_other(clinic: Path) -> None:
    """The order of a column is the same whatever the true values of another are: no link can follow from it."""
    shown = []
    for number, disease in enumerate(("Asthma", "Diabetes")):
        rows = [(*row[:4], disease if row[0] == "Alison" else row[4], row[5]) for row in RUNNING]
        folder = clinic / str(number)
        folder.mkdir()
        write(folder / "t.parquet", rows)
        one = keeper(policy(folder, two=True))
        shown.append(cells(one.answer("ann", between(20, 22, ("pay",))), "pay"))
    assert shown[0] == shown[1]


def test_only_what_the_policy_shows_can_be_asked_for(clinic: Path) -> None:
    one = keeper(policy(clinic))
    for column in ("name", "pay", "nothing"):
        with pytest.raises(ParameterError, match="shows no column"):
            one.answer("ann", between(20, 22, (column,)))
    plain = one.answer("ann", between(20, 22, ("age", "sex")))
    assert sorted(plain.rows) == [(20, "f"), (21, "m"), (21, "m"), (22, "f")]
    assert one.answer("ann", between(90, 99)).rows == ()
    assert one.status()["histories"] == []


def test_the_limits_of_an_answer_look_at_no_sensitive_value(clinic: Path) -> None:
    one = keeper(policy(clinic, answer={"min_rows": 3, "max_rows": 5}))
    assert isinstance(one.answer("ann", between(20, 22)), AnswerRows)
    assert one.answer("ann", between(28, 28)) == RefusedQuery("fewer than 3 people: ask for more")
    assert one.answer("ann", between(90, 99)) == RefusedQuery("fewer than 3 people: ask for more")
    assert one.answer("ann", between(20, 28)) == RefusedQuery("more than 5 people: ask for fewer")
    assert one.status()["answered"] == 1
    assert one.status()["refused"] == 3


def test_the_number_of_artificial_values_is_told_only_if_the_policy_says_so(clinic: Path) -> None:
    quiet = keeper(policy(clinic)).answer("ann", between(20, 22))
    assert not any(sign.isdigit() for sign in quiet.notice)
    told = keeper(policy(clinic, answer={"tell_artificial": True}, state={"store": "told"}))
    answer = told.answer("ann", between(20, 22))
    assert answer.notice == f"{len(answer.rows) - 4} values of this answer are artificial."


def test_refusals_that_tell_nothing_begin_with_the_whole_table(clinic: Path) -> None:
    write(clinic / "t.parquet", [(f"p{i:02}", i, "1", "f", DISEASES[i % 4], 1) for i in range(40)])
    one = keeper(policy(clinic, on_violation="refuse"))
    assert cells(one.answer("ann", between(0, 19)), "disease") == sorted(DISEASES[:4] * 5)
    assert isinstance(one.answer("ann", between(0, 18)), RefusedQuery)
    assert isinstance(one.answer("ann", between(10, 29)), RefusedQuery)
    assert one.answer("ann", between(0, 39)).notice == ""
    assert one.status()["histories"][0]["answers"] == 2, "the whole table, and one half"
    one.close()
    again = keeper(policy(clinic, on_violation="refuse"))
    assert isinstance(again.answer("ann", between(10, 29)), RefusedQuery)
    assert isinstance(again.answer("ann", between(20, 39)), AnswerRows)


def test_the_naive_gates_are_there_for_those_who_name_the_leak(clinic: Path) -> None:
    few = keeper(policy(clinic, accept_leak_through=["minimal-values"], state={"store": "few"}))
    assert len(few.answer("ann", between(20, 22)).rows) == 4
    refusing = {"on_violation": "refuse", "accept_leak_through": ["refusals"], "k": 3}
    strict = keeper(policy(clinic, **refusing, strategy="exact", state={"store": "strict"}))
    assert isinstance(strict.answer("ann", between(20, 21)), RefusedQuery)
    assert strict.status()["leaks"] == ["refusals"]


def test_a_public_list_of_values_hides_what_the_table_has(clinic: Path) -> None:
    values = {"values": ["Asthma", "Bronchitis", "Flu"]}
    shown = policy(clinic)
    listed = type(shown)(
        **{**vars(shown), "sensitive": (type(shown.sensitive[0])("disease", 2, tuple(values["values"])),)}
    )
    one = keeper(listed)
    answer = one.answer("ann", between(20, 28))
    assert set(cells(answer, "disease")) <= {"Asthma", "Bronchitis", "Flu", "(other)"}
    assert "Cholera" not in repr(answer)


def test_a_table_with_too_few_values_cannot_be_protected(clinic: Path) -> None:
    with pytest.raises(ParameterError, match="'disease' has 5 values: nobody can keep 7 of them"):
        keeper(policy(clinic, k=7))


# ------------------------------------------------------------------------------------------------ what is kept


def test_answers_were_given_under_one_policy(clinic: Path) -> None:
    one = keeper(policy(clinic))
    one.answer("ann", between(20, 22))
    one.close()
    for changed in ({"k": 3}, {"collusion": "single"}, {"surplus": {"least": 5}}):
        with pytest.raises(ParameterError, match="another policy"):
            keeper(policy(clinic, **changed))
    (clinic / "tarnkappe.key").unlink()
    with pytest.raises(ParameterError, match="'key' was"):
        keeper(policy(clinic))


def test_the_store_names_nobody(clinic: Path) -> None:
    one = keeper(policy(clinic))
    one.answer("ann", between(20, 28))
    one.close()
    kept = list(HistoryStore(Store.open(clinic / "tarnkappe.state")).entries("everyone", "disease"))
    assert not any(row[0] in repr(kept) for row in RUNNING)
    assert (clinic / "tarnkappe.state").stat().st_mode & 0o077 == 0


class PowerCut(BaseException):
    """The machine dies."""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_the_machine_dies_while_an_answer_is_kept(moment: str, clinic: Path, monkeypatch) -> None:
    one = keeper(policy(clinic, two=True))
    first = one.answer("ann", between(20, 22, ("disease", "pay")))
    real, calls = HistoryStore.add, []

    def dying(self, history, column, number, entry, state=None):
        calls.append(column)
        if moment == "after":
            real(self, history, column, number, entry, state)
        raise PowerCut

    monkeypatch.setattr(HistoryStore, "add", dying)
    with pytest.raises(PowerCut):
        one.answer("ann", between(21, 24, ("disease", "pay")))
    assert calls == ["disease"], "nothing leaves, and nothing goes on, before it is kept"
    monkeypatch.undo()
    again = keeper(policy(clinic, two=True), seed=5)
    kept = again._columns["everyone", "disease"].gate.knowledge
    assert kept.results == (2 if moment == "after" else 1)
    last = None if moment == "before" else kept.counts(1).sum()
    assert again.answer("ann", between(20, 22, ("disease", "pay"))) == first
    second = again.answer("ann", between(21, 24, ("disease", "pay")))
    assert moment == "before" or len(second.rows) >= last, "an answer that was kept is the answer"
    proven(again)


def test_an_answer_that_cannot_be_kept_is_not_given(clinic: Path, monkeypatch) -> None:
    one = keeper(policy(clinic))
    real = HistoryStore.add
    monkeypatch.setattr(HistoryStore, "add", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        one.answer("ann", between(20, 22))
    monkeypatch.setattr(HistoryStore, "add", real)
    assert one._columns["everyone", "disease"].gate.knowledge.results == 0
    assert isinstance(one.answer("ann", between(20, 22)), AnswerRows), "and the keeper goes on"
    proven(one)


def test_two_keepers_never_work_on_one_history(clinic: Path) -> None:
    one, other = keeper(policy(clinic)), keeper(policy(clinic), seed=2)
    assert one.answer("ann", between(20, 22)) == other.answer("bob", between(20, 22)), (
        "it reads what is there"
    )
    one.answer("ann", between(20, 24))
    with pytest.raises(GuaranteeError, match="another gate works on this history"):
        other.answer("bob", between(20, 25))


def test_a_state_that_is_older_than_the_last_answer_is_caught_up_with(clinic: Path, monkeypatch) -> None:
    one = keeper(policy(clinic))
    one.answer("ann", between(20, 22))
    one._columns["everyone", "disease"].save()
    later = [one.answer("ann", between(low, low + 3)) for low in (21, 22, 23)]
    again = keeper(policy(clinic), seed=8)
    assert [again.answer("ann", between(low, low + 3)) for low in (21, 22, 23)] == later
    proven(again)


def test_another_strategy_takes_the_answers_over(clinic: Path) -> None:
    one = keeper(policy(clinic, accept_leak_through=["minimal-values"]))
    first = one.answer("ann", between(20, 22))
    one.close()
    again = keeper(policy(clinic, accept_leak_through=["minimal-values"], strategy="exact"))
    assert again.answer("ann", between(20, 22)) == first
    assert isinstance(again.answer("ann", between(20, 21)), AnswerRows)
    proven(again)


def test_a_kept_answer_that_breaks_the_promise_is_noticed_at_the_start(clinic: Path) -> None:
    from tarnkappe.gate.answer import Block, HistoryEntry

    one = keeper(policy(clinic))
    one.close()
    store = HistoryStore(Store.open(clinic / "tarnkappe.state"))
    store.add("everyone", "disease", 1, HistoryEntry((("x", "Asthma"),), (Block(("x",), ("Asthma",)),)))
    with pytest.raises(GuaranteeError, match="does not leave 2 possible values"):
        keeper(policy(clinic))


def test_the_state_can_be_in_postgresql(clinic: Path, postgres: str) -> None:
    one = keeper(policy(clinic, state={"store": postgres}))
    first = one.answer("ann", between(20, 22))
    one.close()
    again = keeper(policy(clinic, state={"store": postgres}))
    assert again.answer("bob", between(20, 22)) == first
    assert audit(policy(clinic), again._histories.store)[0].answers == 1
    again.close()


def test_many_clients_at_once_get_answers_in_one_order(clinic: Path) -> None:
    one = keeper(policy(clinic, k=2), seed=None)
    answers: list[tuple[int, object]] = []
    failures: list[BaseException] = []

    def client(number: int) -> None:
        try:
            for low in range(20, 26):
                question = between(low, low + 1 + number % 3)
                answers.append((low * 10 + number % 3, one.answer(f"user{number}", question)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(answers) == 36
    same: dict[int, object] = {}
    assert all(same.setdefault(question, answer) == answer for question, answer in answers)
    proven(one)


ASKING = """
import sys
from tests.gate.clinic import between, keeper, policy
from pathlib import Path
one = keeper(policy(Path(sys.argv[1])), seed=None)
print("ready", flush=True)
import itertools, json
for low, width in itertools.product(range(20, 29), range(6)):
    answer = one.answer("ann", between(low, low + width))
    print(json.dumps([low, low + width, answer.rows]), flush=True)
"""


def killed(clinic: Path, answers: int, seconds: float) -> list[tuple[int, int, list]]:
    """What a process that asks was told before it was killed, some time after some answers."""
    command = [sys.executable, "-c", ASKING, str(clinic)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        lines = [process.stdout.readline() for _ in range(answers)]
        time.sleep(seconds)
        process.kill()
        lines += process.stdout.read().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def check_after_kills(clinic: Path, moments: list[tuple[int, float]]) -> None:
    told: dict[tuple[int, int], list] = {}
    for answers, seconds in moments:
        for low, high, rows in killed(clinic, answers, seconds):
            assert told.setdefault((low, high), rows) == rows, "answered twice, differently"
    one = keeper(policy(clinic), seed=None)
    for (low, high), rows in told.items():
        answer = one.answer("bob", between(low, high))
        assert [list(row) for row in answer.rows] == rows, "forgotten"
    proven(one)
    one.close()
    assert audit(policy(clinic), Store.open(clinic / "tarnkappe.state"))[0].k == 2


def test_killed_while_it_answers_nothing_is_forgotten(clinic: Path) -> None:
    check_after_kills(clinic, [(3, 0.01)])


@pytest.mark.slow
def test_killed_many_times_nothing_is_forgotten_and_nothing_is_answered_with_less_protection(
    clinic: Path,
) -> None:
    check_after_kills(clinic, [(0, 0.0), (1, 0.003), (5, 0.0), (6, 0.01), (9, 0.002), (20, 0.005), (25, 0.0)])


def test_an_exact_strategy_can_be_chosen(clinic: Path) -> None:
    one = keeper(policy(clinic, strategy="exact"))
    one.answer("ann", between(20, 22))
    assert one._columns["everyone", "disease"].gate.strategy.is_exact
    proven(one)


def test_every_question_is_logged_without_the_values_in_it(clinic: Path) -> None:
    one = keeper(policy(clinic, k=3, answer={"min_rows": 2}))
    one.answer("ann", between(20, 22))
    assert isinstance(one.answer("eve", between(98, 99)), RefusedQuery)
    log = AuditLog(one._histories.store)
    asked = [entry.details for entry in log.entries() if entry.event == ASKED]
    assert [(each["user"], each["refused"]) for each in asked] == [
        ("ann", None),
        ("eve", "fewer than 2 people: ask for more"),
    ]
    assert all(degree >= 3 for each in asked for degree in each["least_degrees"].values())
    assert "98" not in str(asked)
    log.verify()
