"""Whom a package selects is told by it: of who is in it, and of who is not."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tarnkappe.exchange import Anchor, AttributeCatalogue, CheckVerdict, Institution, check
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.findings import Action
from tarnkappe.state import Store
from tests.exchange.scenes import FIXTURE, request, surroundings
from tests.exchange.test_desk import OWN, STAFF, accepted

ATTRIBUTES = FIXTURE["catalogue"]["attributes"]
CATALOGUE = AttributeCatalogue.from_dict(
    {
        "attributes": {
            **ATTRIBUTES,
            "diagnosis": {**ATTRIBUTES["diagnosis"], "selects": True},
            "sex": {"role": "quasi-identifier", "selects": True},
        }
    }
)
LIMITS = {"k": 5, "l": 2, "base": 20, "method": "levels"}


def person(number: int, sex: str, ill: str, drug: str = "X", age: int = 44) -> dict[str, Any]:
    return {
        "id": f"P{number}",
        "name": f"N{number}",
        "age": age,
        "sex": sex,
        "weight": 80,
        "origin": "AT",
        "occupation": "Buero",
        "diagnosis": ill,
        "medication": drug,
    }


def sixty(men: str = "HIV", women: str = "flu") -> list[dict[str, Any]]:
    return [person(n, "MW"[n // 30], (men, women)[n // 30], "XYZ"[n % 3]) for n in range(60)]


def desk(people: list[dict[str, Any]], store: Store | None = None, **limits: Any) -> RequestWorkflow:
    around = surroundings(
        policy={"thresholds": {**LIMITS, **limits}},
        institution=Institution("B", pa.Table.from_pylist(people), "id"),
        catalogue=CATALOGUE,
    )
    return RequestWorkflow(store or Store.in_memory(), OWN, around, STAFF)


def asked(at: RequestWorkflow, number: int, attribute: str, values: str | tuple[str, ...], *wanted: str):
    """What is recommended; what is recommended leaves."""
    values = (values,) if isinstance(values, str) else values
    sent = request(*wanted, id=str(number), anchor=Anchor(attribute, values))
    at.receive(sent)
    found = at.check(sent.digest, "Stew")
    if found.package is not None:
        accepted(at, sent)
        at.answer(sent.digest, "A")
    return found


def last(found) -> tuple[CheckVerdict, str]:
    return found.verdict, found.steps[-1].name


def test_a_selection_by_one_value_must_not_tell_who_has_it() -> None:
    """All men have it, and nobody else: by sex the package says of every man that he has it."""
    found = asked(desk(sixty()), 1, "diagnosis", "HIV", "sex")
    assert last(found) == (CheckVerdict.REFUSE, "S9a")
    assert asked(desk(sixty()), 1, "diagnosis", "HIV", "age").package is not None


@pytest.mark.parametrize("share", [0.8, 1.0])
def test_a_question_split_by_value_gains_nothing(share: float) -> None:
    at = desk(sixty(), share=share)
    parts = [asked(at, n, "diagnosis", value, "sex") for n, value in enumerate(("HIV", "flu"))]
    assert [last(part) for part in parts] == [(CheckVerdict.REFUSE, "S9a")] * 2


def test_overlapping_selections_gain_nothing() -> None:
    """HIV or flu, then HIV or gout: who is in both has HIV."""
    ill = ("HIV", "flu", "gout")
    people = [person(n, "MW"[n % 2], ill[n % 3], "XYZ"[n % 2 + (n % 5 == 0)]) for n in range(90)]
    at = desk(people, share=1.0)
    first = asked(at, 1, "diagnosis", ("HIV", "flu"), "sex")
    second = asked(at, 2, "diagnosis", ("HIV", "gout"), "age")
    assert first.package is not None
    assert second.package is not None, "nobody is told apart by sex, since both sexes have all of them"
    men = [person(n, "M" if ill[n % 3] == "HIV" else "W", ill[n % 3], "XY"[n % 2]) for n in range(90)]
    at = desk(men, share=1.0)
    assert asked(at, 1, "diagnosis", ("HIV", "flu"), "sex").package is not None
    assert last(asked(at, 2, "diagnosis", ("HIV", "gout"), "sex")) == (CheckVerdict.REFUSE, "S9a")


def test_a_second_selecting_attribute_gains_nothing() -> None:
    """X is taken by those with HIV only: selected by X and by sex, every man has HIV."""
    people = [person(n, "MW"[n // 30], ("HIV", "flu")[n // 30], "XY"[n // 30]) for n in range(60)]
    at = desk(people, share=1.0)
    assert asked(at, 1, "diagnosis", "HIV", "age").package is not None
    assert last(asked(at, 2, "medication", "X", "sex")) == (CheckVerdict.REFUSE, "S9a")


def test_a_selection_by_what_everybody_knows_counts_as_one_by_all_that_it_shows() -> None:
    """The men with their diagnoses, then those with HIV by another attribute: both about the same people."""
    ages = (44, 54)
    people = [person(n, "MW"[n // 40], ("HIV", "flu")[n % 2], "XYZ"[n % 3], ages[n % 2]) for n in range(80)]
    at = desk(people, share=1.0)
    assert asked(at, 1, "sex", "M", "diagnosis").package is not None
    assert last(asked(at, 2, "diagnosis", "HIV", "age", "sex")) == (CheckVerdict.REFUSE, "S9a")


def test_somebody_who_comes_alone_must_not_be_given_away_by_the_second_package() -> None:
    store = Store.in_memory()
    people = [person(n, "M", ("HIV", "flu")[n % 2], "XYZ"[n % 3]) for n in range(60)]
    assert asked(desk(people, store), 1, "diagnosis", "HIV", "sex").package is not None
    found = asked(desk([*people, person(99, "M", "HIV")], store), 2, "diagnosis", "HIV", "sex")
    assert last(found) == (CheckVerdict.REFUSE, "S9a")


def test_a_refusal_tells_the_requester_nothing_and_the_physician_no_numbers() -> None:
    found = asked(desk(sixty(), share=1.0), 1, "diagnosis", "HIV", "sex")
    assert not any(letter.isdigit() for letter in found.steps[-1].reply.replace("fewer than 2", ""))


def test_what_was_told_counts_from_acceptance_and_not_if_it_did_not_leave() -> None:
    people = [person(n, "MW"[n // 30], "HIV" if n % 4 else "flu", "XYZ"[n % 3]) for n in range(60)]
    at = desk(people, share=1.0)
    first = request("sex", id="1", anchor=Anchor("diagnosis", ("HIV",)))
    digest = accepted(at, first)
    again = [person(99, "M", "HIV"), *people]
    later = desk(again, at.store, share=1.0)
    sent = request("sex", id="2", anchor=Anchor("diagnosis", ("HIV",)))
    later.receive(sent)
    assert last(later.check(sent.digest, "Stew")) == (CheckVerdict.REFUSE, "S9a")
    assert later.withdraw_patient("P1") == [digest]
    assert later.check(sent.digest, "Stew").package is not None


def test_without_a_history_one_package_is_still_looked_at() -> None:
    around = surroundings(
        policy={"thresholds": LIMITS},
        institution=Institution("B", pa.Table.from_pylist(sixty()), "id"),
        catalogue=CATALOGUE,
    )
    sent = request("sex", anchor=Anchor("diagnosis", ("HIV",)))
    assert last(check(sent, around)) == (CheckVerdict.REFUSE, "S9a")


def test_of_a_refused_request_no_attribute_is_called_released() -> None:
    refused = {
        "S1": request(anchor=Anchor("age", ("41",))),
        "S3": request(anchor=Anchor("medication", ("none has it",))),
        "S9a": request("sex", "age", anchor=Anchor("diagnosis", ("HIV",))),
    }
    for step, sent in refused.items():
        found = check(sent, desk(sixty()).around)
        assert last(found) == (CheckVerdict.REFUSE, step)
        assert found.treatments
        for treatment in found.treatments:
            assert treatment.action in (Action.WITHHOLD, Action.DROP)
            assert "released as it is" not in treatment.reason


def test_what_is_done_at_least_is_not_said_as_if_it_were_all() -> None:
    found = check(request(), surroundings())
    reply = next(step.reply for step in found.steps if step.name == "S6")
    assert "age: at least generalize" in reply
