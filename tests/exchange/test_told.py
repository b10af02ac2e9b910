"""What packages tell of everybody: the joint check against all worlds, tried one by one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import InputError
from tarnkappe.exchange import Thresholds
from tarnkappe.exchange.checking.told import NO_LABEL, NO_ROW, Told, most_likely, objection, value_mark
from tarnkappe.state import Key
from tarnkappe.state.key import MARK
from tests.attackers.exchange.worlds import Package, possible
from tests.conftest import FIXTURES

CASES = json.loads((FIXTURES / "exchange" / "worlds.json").read_text(encoding="utf-8"))["cases"]
KEY = Key(bytes(32))
LIMITS = Thresholds(k=2, l=2, base=2)
every_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


def people_of(case: dict[str, Any]) -> list[dict[str, str]]:
    return [dict(zip(case["domain"], record, strict=True)) for record in case["people"]]


def selected(said: dict[str, Any], record: dict[str, str]) -> bool:
    return said["select"] is None or record[said["select"][0]] in said["select"][1]


def package(case: dict[str, Any], said: dict[str, Any]) -> Package:
    """As somebody outside reads it."""
    present = [(n, r, x) for n, (r, x) in enumerate(zip(people_of(case), said["labels"], strict=True)) if x]
    return Package(
        None if said["select"] is None else (said["select"][0], frozenset(said["select"][1])),
        {str(number): label for number, _, label in present},
        tuple(said["show"]),
        [(x, tuple(r[name] for name in said["show"])) for _, r, x in present if selected(said, r)],
    )


def told(case: dict[str, Any], said: dict[str, Any]) -> Told:
    """As the house keeps it."""
    present = [(n, r, x) for n, (r, x) in enumerate(zip(people_of(case), said["labels"], strict=True)) if x]
    words = sorted({label for _, _, label in present})
    cells = sorted({tuple(r[name] for name in said["show"]) for _, r, _ in present})
    rows = [
        cells.index(tuple(r[n] for n in said["show"])) if selected(said, r) else NO_ROW for _, r, _ in present
    ]
    labels = np.array([words.index(label) for _, _, label in present], dtype=np.int64)
    attribute, values = said["select"] or ("", [])
    return Told(
        pa.array([KEY.mark("person", [str(number)]) for number, _, _ in present], MARK),
        labels,
        np.array(rows, dtype=np.int64),
        np.where(np.array(rows) == NO_ROW, NO_LABEL, labels),
        {
            name: pa.array([value_mark(record[name], name, KEY) for _, record, _ in present], MARK)
            for name in case["domain"]
        },
        attribute,
        tuple(value_mark(value, attribute, KEY) for value in values),
        tuple(said["show"]),
    )


def left_after(case: dict[str, Any]) -> list[dict[str, Any]]:
    """What leaves if every table that the joint check objects to is kept back."""
    gone: list[dict[str, Any]] = []
    for said in case["told"]:
        if not objection([told(case, each) for each in gone], told(case, said), LIMITS):
            gone.append(said)
    return gone


def attacked(case: dict[str, Any], tables: list[dict[str, Any]], knowing: str = "") -> Any:
    people = people_of(case)
    known = {str(n): {knowing: r[knowing]} for n, r in enumerate(people)} if knowing else None
    names = [str(number) for number in range(len(people))]
    return possible(names, case["domain"], [package(case, said) for said in tables], known)


@every_case
def test_worlds_are_those_of_the_worked_examples(case: dict[str, Any]) -> None:
    found = attacked(case, case["told"], case.get("knows", ""))
    assert found.worlds == case["worlds"]
    for person, values in case["possible"].items():
        assert sorted(found.values(person, 0)) == values


@every_case
def test_the_joint_check_refuses_what_the_worlds_give_away(case: dict[str, Any]) -> None:
    if "safe" in case:
        assert (left_after(case) == case["told"]) == case["safe"]


def test_groups_that_cross_give_away_what_the_same_groups_do_not() -> None:
    """The people with the medication, all known, are cut twice: the same cuts are safe, others are not."""
    ill = [["HIV", "x"], ["flu", "x"], ["HIV", "x"], ["flu", "x"], ["HIV", "y"], ["flu", "y"], ["flu", "y"]]
    for second, safe in (("aabb", True), ("abab", False)):
        tables = [
            {"select": ["m", ["x"]], "labels": [*labels, *labels[0], *labels[1], *labels[2]], "show": ["d"]}
            for labels in ("aabb", second)
        ]
        case = {"domain": {"d": ["HIV", "flu"], "m": ["x", "y"]}, "people": ill, "told": tables}
        assert (left_after(case) == tables) is safe


@st.composite
def houses(draw: st.DrawFn) -> dict[str, Any]:
    """A small house with two sensitive attributes, and tables of all kinds; people come and go."""
    domain = {"d": ["HIV", "flu", "ulcer"], "m": ["x", "y"]}
    number = draw(st.integers(4, 6))
    people = [[draw(st.sampled_from(values)) for values in domain.values()] for _ in range(number)]
    tables = []
    for _ in range(draw(st.integers(1, 4))):
        attribute = draw(st.sampled_from([None, "d", "m"]))
        values = [] if attribute is None else draw(st.sets(st.sampled_from(domain[attribute]), min_size=1))
        labels = [draw(st.sampled_from([None, "p", "p", "q", "q"])) for _ in range(number)]
        shown = sorted(draw(st.sets(st.sampled_from(["d", "m"]), min_size=attribute is None)))
        tables.append({"select": attribute and [attribute, sorted(values)], "labels": labels, "show": shown})
    return {"domain": domain, "people": people, "told": tables}


@given(houses())
@settings(max_examples=60)
def test_of_what_may_leave_all_worlds_leave_everybody_enough_values(case: dict[str, Any]) -> None:
    gone = left_after(case)
    found = attacked(case, gone)
    assert found.worlds
    for person in range(len(case["people"])):
        for place in range(2):
            attribute = list(case["domain"])[place]
            there = any(said["labels"][person] for said in gone)
            tells = any(attribute in (*said["show"], (said["select"] or [""])[0]) for said in gone)
            assert not (there and tells) or len(found.values(str(person), place)) >= LIMITS.l


@given(houses())
@settings(max_examples=40)
def test_who_knows_what_somebody_was_selected_by_learns_nothing_else(case: dict[str, Any]) -> None:
    gone = left_after(case)
    for knowing, other, place in (("d", "m", 1), ("m", "d", 0)):
        seen = [
            said
            for said in gone
            if (said["select"] or [None])[0] == knowing
            or (said["select"] is None and knowing in said["show"])
        ]
        found = attacked(case, seen, knowing)
        for person, record in enumerate(people_of(case)):
            shown = any(other in s["show"] and s["labels"][person] and selected(s, record) for s in seen)
            assert not shown or len(found.values(str(person), place)) >= LIMITS.l


def test_what_was_told_is_kept_as_marks_and_comes_back() -> None:
    case = CASES[4]
    kept = told(case, case["told"][0])
    content = kept.to_bytes()
    assert b"HIV" not in content
    again = Told.from_bytes(content)
    assert (again.selecting, again.shown, again.chosen) == (kept.selecting, kept.shown, kept.chosen)
    assert objection([again], again, LIMITS) == objection([kept], kept, LIMITS)
    with pytest.raises(InputError, match="damaged"):
        Told.from_bytes(b"x")


@pytest.mark.parametrize(("men", "expected"), [(0, 1.0), (1, 0.75), (3, 0.5)])
def test_how_likely_the_selected_value_is_among_people_who_look_alike(men: int, expected: float) -> None:
    case = {
        "domain": {"d": ["HIV", "flu"]},
        "people": [["HIV"]] * 3 + [["flu"]] * (men + 2),
        "told": [{"select": ["d", ["HIV"]], "labels": ["M"] * (3 + men) + ["W"] * 2, "show": []}],
    }
    assert most_likely(told(case, case["told"][0])) == pytest.approx(expected)
