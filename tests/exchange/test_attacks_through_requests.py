"""Attacks through requests: each attacker of the specification plays his game and loses (§6.5, §12.6 E1, E2)."""

from __future__ import annotations

import dataclasses

import pytest

from tarnkappe.exchange import Anchor, CheckVerdict
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.findings import Action
from tests.exchange.scenes import FIXTURE, patients, request
from tests.exchange.test_desk import accepted, desk

LIMITS = {"thresholds": {"k": 5, "l": 2, "base": 10, "method": "levels"}}


def ward(**changes: dict) -> list[list]:
    """24 people, three of each kind of age, sex and weight."""
    rows = [
        [f"P{i:03}", 40 + 10 * (i % 2), "MW"[i // 2 % 2], 60 + 20 * (i // 4 % 2), "AT", "Buero", f"D{i % 3}"]
        for i in range(24)
    ]
    return patients(rows, **changes)


def ask(at: RequestWorkflow, *names: str, **changes):
    sent = request(*names, **changes)
    at.receive(sent)
    return at.check(sent.digest, "Stew")


def leave(at: RequestWorkflow, *names: str, **changes) -> None:
    digest = accepted(at, request(*names, **changes))
    at.answer(digest, changes.get("institution", "A"))


def codes(found) -> set[str]:
    return {finding.code for finding in found.findings}


def test_the_insider_who_asks_for_his_neighbour_under_a_pretext_gets_nothing() -> None:
    """E2: few take the medicament; the neighbour is one of them."""
    at = desk(table=patients(FIXTURE["rows"][:4]))
    found = ask(at, "diagnosis")
    assert (found.verdict, found.steps[-1].name) == (CheckVerdict.REFUSE, "S3")
    for attribute, value in (
        ("age", "41"),
        ("occupation", "Schweisser"),
        ("name", "Name P01"),
        ("id", "P01"),
    ):
        assert ask(at, "diagnosis", id=attribute, anchor=Anchor(attribute, (value,))).steps[-1].name == "S1"


def test_the_insider_who_tries_one_small_selection_after_the_other_is_noticed() -> None:
    few = patients(FIXTURE["rows"][:4], **{f"P0{i}": {"medication": f"M{i}"} for i in range(1, 5)})
    at = desk(table=few)
    for number in range(1, 5):
        found = ask(at, "diagnosis", id=f"r{number}", anchor=Anchor("medication", (f"M{number}",)))
        assert ("probing" in codes(found)) == (number == 4)  # the three before it were too small
    other = ask(at, "diagnosis", id="x", requester="Dr. Other", anchor=Anchor("medication", ("M1",)))
    assert "probing" not in codes(other)


def test_one_who_splits_his_question_into_many_gets_no_more_than_one_answer() -> None:
    at = desk(table=ward(), **LIMITS)
    leave(at, "age", "sex", "diagnosis")
    found = ask(at, "weight", "sex", "diagnosis", id="r2")
    assert (found.verdict, found.steps[-1].name) == (CheckVerdict.REFUSE, "S9a")
    assert "split question" in codes(found)


@pytest.mark.parametrize("institution", ["A", "C"])
def test_several_who_compare_their_packages_get_no_more_than_one(institution: str) -> None:
    from tarnkappe.exchange import Network, NetworkMember, Purpose

    at = desk(table=ward(), **LIMITS)
    members = [NetworkMember(name, frozenset(Purpose), bound_to_secrecy=True) for name in "AC"]
    at.around = dataclasses.replace(at.around, network=Network(members))
    leave(at, "age", "sex", "diagnosis")
    found = ask(at, "weight", "sex", "diagnosis", id="r2", requester="Dr. Other", institution=institution)
    assert (found.verdict, found.steps[-1].name) == (CheckVerdict.REFUSE, "S9a")
    assert "several requesters" in codes(found)


def test_a_policy_may_trust_institutions_not_to_compare_but_never_one_institution_with_itself() -> None:
    from tarnkappe.exchange import Network, NetworkMember, Purpose

    trusting = {"thresholds": {**LIMITS["thresholds"], "together": "recipient"}}
    members = [NetworkMember(name, frozenset(Purpose), bound_to_secrecy=True) for name in "AC"]
    at = desk(table=ward(), **trusting)
    at.around = dataclasses.replace(at.around, network=Network(members))
    leave(at, "age", "sex", "diagnosis")
    mine = ask(at, "weight", "sex", "diagnosis", id="r2")
    theirs = ask(at, "weight", "sex", "diagnosis", id="r3", institution="C")
    assert mine.steps[-1].name == "S9a"
    assert theirs.package is not None


def test_two_selections_that_differ_by_few_people_do_not_give_these_away() -> None:
    """X or Y, then X alone: who takes Y is left over."""
    some = {f"P{i:03}": {"medication": "Y"} for i in range(3)}
    at = desk(table=ward(**some), **LIMITS)
    leave(at, "sex", "diagnosis", anchor=Anchor("medication", ("X", "Y")))
    found = ask(at, "sex", "diagnosis", id="r2")
    assert (found.verdict, found.steps[-1].name) == (CheckVerdict.REFUSE, "S9a")
    assert "differing selections" in codes(found)


def test_the_physician_is_told_whom_all_requests_together_would_find() -> None:
    at = desk(table=ward(), **LIMITS)
    ask(at, "age", "sex")
    found = ask(at, "weight", id="r2")
    [joined] = [finding for finding in found.findings if finding.code == "joined requests"]
    assert joined.people == 24  # three of each kind, fewer than five
    assert joined.risk > 0
    assert "age, sex, weight" in joined.text
    assert found.package is not None  # nothing was released before: it is for the physician to judge


def test_the_same_question_again_is_no_attack() -> None:
    at = desk(table=ward(), **LIMITS)
    leave(at, "age", "sex", "diagnosis")
    found = ask(at, "age", "sex", "diagnosis", id="r2")
    assert found.package is not None
    assert not codes(found) & {"split question", "several requesters", "differing selections", "probing"}


@pytest.mark.parametrize("number", [0, 1, 2, 9])
def test_small_base_sets_are_refused_with_the_same_answer_whatever_their_size(number: int) -> None:
    at = desk(table=patients(FIXTURE["rows"][: number or 1], P01={"medication": "X" if number else "Y"}))
    found = ask(at)
    assert (found.verdict, found.steps[-1].name) == (CheckVerdict.REFUSE, "S3")
    from tests.exchange.test_desk import decide

    decide(at, request().digest, "Ann", accepts=False)
    answer = at.answer(request().digest, "A").content
    assert {key: answer[key] for key in ("verdict", "package", "from")} == {
        "verdict": "refused",
        "package": None,
        "from": "B",
    }


def test_an_outstanding_value_of_one_person_never_leaves() -> None:
    """E1, and one who is outstanding twice: his record goes."""
    found = ask(desk())
    cells = {cell for column in found.package.release.data.to_pydict().values() for cell in column}
    assert not cells & {"JP", "80-89", "140-159", 83, 148}
    actions = {each.attribute: each.action for each in found.treatments}
    assert actions["origin"] is Action.WITHHOLD
    assert "P13" not in found.patients


def test_a_newcomer_or_one_who_left_between_two_packages_is_not_exposed() -> None:
    from tarnkappe.state import Store

    rows = [[f"P{i:03}", 40, "MW"[i % 2], 80, "AT", "Buero", f"D{i % 3}"] for i in range(24)]
    for later in ([*rows, ["P099", 40, "M", 80, "AT", "Buero", "D9"]], rows[1:]):
        store = Store.in_memory()
        leave(desk(store, patients(rows), **LIMITS))
        assert ask(desk(store, patients(later), **LIMITS), id="r2").steps[-1].name == "S9a"
