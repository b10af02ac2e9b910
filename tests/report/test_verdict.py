"""The verdict on a release: the same as somebody finds who goes through the promises one by one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.job.proposal import Audience
from tarnkappe.report.verdict import LEAST_ALIKE, VerdictCode, judge

COLUMNS = ("diagnosis", "income")
PROMISES = st.one_of(
    st.builds(
        lambda k, holds: {"model": "k-anonymity", "k": k, "value": float(k), "holds": holds},
        st.integers(2, 20),
        st.booleans(),
    ),
    st.builds(
        lambda column, holds: {"model": "distinct-diversity", "column": column, "l": 2, "holds": holds},
        st.sampled_from(COLUMNS),
        st.booleans(),
    ),
    st.just({"model": "differential-privacy", "epsilon": 1.0, "holds": True}),
    st.just({"model": "x-y-privacy", "x": ["age"], "y": ["income"], "k": 2, "holds": True}),
)


def by_hand(promises: list[dict[str, Any]], sensitive: list[str]) -> str:
    """What is to be said, in the order in which a committee asks."""
    for promise in promises:
        if not promise["holds"]:
            return "unfit.broken"
    for column in sensitive:
        found = False
        for promise in promises:
            if promise["model"] == "differential-privacy" or promise.get("column") == column:
                found = True
            if column in promise.get("y", []):
                found = True
        if not found:
            return "unfit.unprotected"
    sizes = [promise["k"] for promise in promises if promise["model"] == "k-anonymity"]
    if not sizes:
        return "open"
    return "fit" if max(sizes) >= 3 else "weak"


@given(st.lists(PROMISES, max_size=5), st.lists(st.sampled_from(COLUMNS), unique=True))
def test_the_verdict_is_what_goes_through_the_promises_by_hand_finds(
    promises: list[dict[str, Any]], sensitive: list[str]
) -> None:
    verdict = judge(promises, sensitive)
    assert str(verdict.code) == by_hand(promises, sensitive)
    assert set(verdict.protected) == set(sensitive)
    assert verdict.text.endswith(".")
    told = verdict.to_dict()
    assert (told["code"], told["text"]) == (str(verdict.code), verdict.text)


def test_every_verdict_can_be_reached() -> None:
    kept = {"model": "k-anonymity", "k": 2, "holds": True}
    reached = {
        judge([{**kept, "holds": False}], []).code,
        judge([kept], ["diagnosis"]).code,
        judge([], []).code,
        judge([kept], []).code,
        judge([{**kept, "k": 5}], []).code,
    }
    assert reached == set(VerdictCode)


def test_a_promise_about_one_column_says_nothing_about_another() -> None:
    diverse = {"model": "distinct-diversity", "column": "income", "l": 2, "holds": True}
    verdict = judge([{"model": "k-anonymity", "k": 50, "holds": True}, diverse], ["diagnosis", "income"])
    assert verdict.unprotected == ["diagnosis"]
    assert verdict.text == "Not fit: diagnosis is protected by nothing."


def test_verdicts_and_proposals_ask_for_the_same_numbers() -> None:
    assert {str(each): each.k for each in Audience} == LEAST_ALIKE
