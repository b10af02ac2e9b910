"""How many people of a package could be told by who compares all packages, against counting pair by pair."""

from __future__ import annotations

from collections import Counter

import pytest

from tarnkappe.exchange.cohorts.joint import ToldTable, exposed_to_insiders
from tarnkappe.exchange.cohorts.plan import EVERYBODY, HIDDEN, CohortPlan
from tarnkappe.exchange.cohorts.selections import with_groups
from tarnkappe.exchange.statistics.example import patients
from tarnkappe.state import Store
from tarnkappe_bench.exchange_history import Anchor, ask, desk_of
from tests.exchange.test_cohorts import ASKED, POLICY, planned, told

LIMITS = POLICY.thresholds


@pytest.fixture(scope="module")
def plan() -> CohortPlan:
    made = planned(patients(500, 8))
    for asked in (*ASKED, EVERYBODY):
        made = with_groups(made, asked, ("age", "sex"), POLICY)
    return made


def rows_of(plan: CohortPlan, table: ToldTable) -> dict[str, int]:
    """Who has a row in a table, and in which group."""
    within = plan.within(table.asked).tolist()
    return {
        who: table.groups[cohort]
        for who, cohort in zip(plan.who, within, strict=True)
        if cohort >= 0 and table.groups[cohort] >= 0
    }


def by_pairs(plan: CohortPlan, before: list[ToldTable], package: ToldTable, *, fully: bool) -> int:
    """The same, by looking at every two people.

    Fully: people who have no row in a table may look differently in it. Otherwise that counts for tables only
    that are selected by what is known of both, which is what is claimed.
    """
    tables = list(dict.fromkeys([*before, package]))
    cohort = dict(zip(plan.who, plan.cohort.tolist(), strict=True))
    active = [who for who, own in cohort.items() if own >= 0]
    rows = [rows_of(plan, table) for table in tables]
    values = {
        name: dict(zip(plan.who, plan.people.column(HIDDEN + name).to_pylist(), strict=True))
        for name in plan.hidden
    }
    knowing = package.asked[0]

    def alike(one: str, other: str) -> bool:
        if values[knowing][one] != values[knowing][other]:
            return False
        for table, own in zip(tables, rows, strict=True):
            if one not in own and other not in own and (fully or table.asked[0] == knowing):
                continue
            if table.groups[cohort[one]] != table.groups[cohort[other]]:
                return False
        return True

    found = set()
    for name in {n for table in tables for n in table.told} - {knowing}:
        limits = LIMITS.values_of(name)
        for who in rows[tables.index(package)]:
            if not any(who in own for t, own in zip(tables, rows, strict=True) if name in t.shown):
                continue
            counts = Counter(values[name][other] for other in active if alike(who, other))
            if len(counts) < limits.l or max(counts.values()) > limits.share * counts.total() + 1e-9:
                found.add(who)
    return len(found)


@pytest.mark.parametrize("others", [0, 1, 2])
def test_they_are_those_who_can_be_exchanged_with_too_few(plan: CohortPlan, others: int) -> None:
    package = told(plan, ASKED[1], tuple(plan.groups[ASKED[1]].shown["research"]))
    alone = [[cohort] for cohort in range(plan.size)]
    before = [told(plan, EVERYBODY, ("diagnosis",)), told(plan, ASKED[0], ("medication",), alone)][:others]
    found = exposed_to_insiders(plan, before, [package], LIMITS)
    assert found == by_pairs(plan, before, package, fully=False)
    assert found >= by_pairs(plan, before, package, fully=True), "nobody is left out who is exposed"
    if others == 0:
        assert found == 0, "groups keep what is promised to who uses packages of one attribute"
    if others == 2:
        assert found > 0


def test_a_physician_is_told_the_number_in_her_language() -> None:
    from tarnkappe.exchange.desk.preview import preview
    from tarnkappe.exchange.preview_text import preview_text
    from tests.exchange.scenes import request

    table = patients(700, 3)
    desk = desk_of(table, Store.in_memory())
    ask(desk, table, "1", Anchor("medication", ("ibuprofen",)), ("age", "diagnosis"))
    sent = request("age", "medication", id="2", anchor=Anchor("diagnosis", ("asthma",)))
    desk.receive(sent)
    found = desk.check(sent.digest, "Stew")
    assert found.package is not None
    shown = preview(desk, sent.digest, rows=0)
    assert shown.exposed is not None
    for language, words in (
        ("en", f"of {shown.exposed} people may be told"),
        ("de", f"bei {shown.exposed} P"),
    ):
        text = preview_text(shown, desk.recommendation(sent.digest), sent.to_dict(), language)
        assert words in text
