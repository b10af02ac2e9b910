"""Packages from cohorts: what they promise follows from counts by cohort, and from nothing else."""

from __future__ import annotations

import dataclasses
import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.exchange import AttributeCatalogue, Purpose, SitePolicy, Thresholds
from tarnkappe.exchange.cohorts.cutting import KnownValues, admitted, cohorts
from tarnkappe.exchange.cohorts.joint import ToldTable, ToldTables, joint_objection, read_ledger
from tarnkappe.exchange.cohorts.multisets import distances, keeps
from tarnkappe.exchange.cohorts.packages import GroupLabels, grouped_rows, labelled, sensitive_cells
from tarnkappe.exchange.cohorts.plan import EVERYBODY, FINEST, HIDDEN, Asked, CohortPlan
from tarnkappe.exchange.cohorts.selections import with_groups
from tarnkappe.exchange.policy import ValueLimits
from tarnkappe.exchange.statistics.example import CATALOGUE, patients
from tarnkappe.state import Key
from tarnkappe.table import SUPPRESSED
from tarnkappe.table.encoding import encode_column

KNOWN, SENSITIVE = ("age", "sex", "weight", "origin", "occupation"), ("diagnosis", "medication")
POLICY = SitePolicy(Thresholds(k=5, l=2, base=20))
KEY = Key(bytes(32))
ASKED: tuple[Asked, ...] = (("diagnosis", "back pain"), ("medication", "ibuprofen"), EVERYBODY)


def planned(table: pa.Table, policy: SitePolicy = POLICY) -> CohortPlan:
    plan = CohortPlan.new(KNOWN, SENSITIVE, started="2026-01-01T00:00:00+00:00")
    plan = plan.admit(table, "patient", [False] * table.num_rows, policy, "2026-01-01T00:00:00+00:00")
    return plan.with_atoms({"diagnosis": ["alcoholism"], "medication": []}, policy.thresholds.base)


def package(
    plan: CohortPlan, asked: Asked, column: str, names: tuple[str, ...] = ("age", "sex")
) -> Counter[Any]:
    """The rows of a package, in no order."""
    catalogue = AttributeCatalogue.from_dict(CATALOGUE)
    rows = grouped_rows(plan, asked, "research", 5)
    cells = labelled(rows, {name: GroupLabels(plan, catalogue[name]) for name in names})
    hidden = ["alcoholism"] if column == "diagnosis" else []
    cells[column] = sensitive_cells(plan, rows, column, hidden, POLICY.thresholds, KEY)
    return Counter(zip(*cells.values(), strict=True))


def naive_keeps(counts: list[int], limits: ValueLimits, everybody: list[int]) -> bool:
    """The definitions, in exact fractions."""
    n = sum(counts)
    if not n:
        return True
    falling = sorted(counts, reverse=True)
    held = sum(c > 0 for c in counts) >= limits.l and Fraction(falling[0], n) <= Fraction(str(limits.share))
    if limits.diversity == "entropy":
        entropy = -sum(c / n * math.log(c / n) for c in counts if c)
        held = held and math.exp(entropy) >= limits.l - 1e-9
    if limits.diversity.startswith("recursive"):
        held = held and falling[0] < limits.recursive * sum(falling[limits.l - 1 :])
    if limits.closeness:
        total = sum(everybody)
        gaps = [abs(Fraction(c, n) - Fraction(e, total)) for c, e in zip(counts, everybody, strict=True)]
        held = held and sum(gaps) / 2 <= Fraction(str(limits.closeness))
    return held


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4),
    st.integers(2, 3),
    st.sampled_from([0.5, 0.8, 1.0]),
    st.sampled_from(["distinct", "entropy", "recursive:3", "recursive:1.5"]),
    st.sampled_from([0.0, 0.25]),
)
@settings(max_examples=150)
def test_a_multiset_keeps_what_its_definitions_say(
    tables: list[list[int]], least: int, share: float, diversity: str, closeness: float
) -> None:
    limits = ValueLimits(least, share, diversity, closeness)
    everybody = [sum(column) + 1 for column in zip(*tables, strict=True)]
    found = keeps(np.array(tables), limits, np.array(everybody))
    assert found.tolist() == [naive_keeps(counts, limits, everybody) for counts in tables]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (ValueLimits(2, 1.0), True),
        (ValueLimits(2, 0.8), False),
        (ValueLimits(2, 1.0, "entropy"), False),
        (ValueLimits(2, 1.0, "recursive:3"), False),
        (ValueLimits(2, 1.0, "recursive:100"), True),
        (ValueLimits(2, 1.0, closeness=0.3), False),
    ],
)
def test_ninety_nine_of_a_hundred_with_one_value(limits: ValueLimits, expected: bool) -> None:
    assert keeps(np.array([99, 1]), limits, np.array([60, 40]))[0] == expected


def test_numbers_are_as_far_apart_as_they_have_to_be_carried() -> None:
    assert distances(np.array([[0, 0, 4]]), np.array([2, 1, 1]), ordered=True).tolist() == [0.625]


def test_a_policy_says_what_each_attribute_must_keep() -> None:
    policy = SitePolicy.from_dict({"thresholds": {"of": {"diagnosis": {"l": 3, "share": 0.5}}}})
    assert policy.thresholds.values_of("diagnosis") == ValueLimits(3, 0.5)
    assert policy.thresholds.values_of("medication") == ValueLimits(2, 0.8)
    for wrong in (
        {"diversity": "some"},
        {"closeness": 2},
        {"insider": "all"},
        {"presence": 0},
        {"cohort": 3},
    ):
        with pytest.raises(ParameterError):
            Thresholds(**wrong)
    with pytest.raises(ParameterError, match="recursive"):
        Thresholds(diversity="recursive:x")


def test_nobody_of_a_cut_is_admitted_that_gave_a_side_which_fails() -> None:
    """10 men of whom one has HIV, and 20 women: neither is told, since an undone cut would tell."""
    sex = KnownValues.of(encode_column("sex", pa.chunked_array([["M"] * 10 + ["W"] * 20])))
    parts = cohorts([sex], np.arange(30), 10)
    assert sorted(len(part.people) for part in parts) == [10, 20]
    assert admitted(parts, lambda people: len(people) == 20) == [False, False]
    assert admitted(parts, lambda people: True) == [True, True]


@given(st.integers(0, 10_000), st.integers(4, 60), st.integers(2, 6))
@settings(max_examples=40)
def test_cohorts_are_parts_of_enough_people_that_look_at_known_values_only(
    seed: int, number: int, least: int
) -> None:
    draw = random.Random(seed)
    age = [draw.randrange(20, 30) for _ in range(number)]
    town = [draw.choice("abc") for _ in range(number)]
    known = [KnownValues.of(encode_column("x", pa.chunked_array([own]))) for own in (age, town)]
    parts = cohorts(known, np.arange(number), least)
    assert sorted(place for part in parts for place in part.people.tolist()) == list(range(number))
    assert len(parts) == 1 or min(len(part.people) for part in parts) >= least


@pytest.fixture(scope="module")
def hospital() -> pa.Table:
    return patients(700, 3)


@pytest.fixture(scope="module")
def plan(hospital: pa.Table) -> CohortPlan:
    made = planned(hospital)
    for asked in ASKED:
        made = with_groups(made, asked, ("age", "sex"), POLICY)
    return made


def shuffled_within_cohorts(hospital: pa.Table, plan: CohortPlan, seed: int) -> pa.Table:
    """Everybody has the record of somebody of her cohort."""
    draw, order = random.Random(seed), np.arange(hospital.num_rows)
    for cohort in range(plan.size):
        members = np.flatnonzero(plan.cohort == cohort)
        order[members] = draw.sample(members.tolist(), len(members))
    for name in SENSITIVE:
        column = hospital.column(name).take(pa.array(order))
        hospital = hospital.set_column(hospital.column_names.index(name), name, column)
    return hospital


@pytest.mark.parametrize("seed", range(5))
def test_exchanging_records_within_cohorts_changes_no_package(
    hospital: pa.Table, plan: CohortPlan, seed: int
) -> None:
    other = planned(shuffled_within_cohorts(hospital, plan, seed))
    assert other.size == plan.size
    for asked in ASKED:
        other = with_groups(other, asked, ("age", "sex"), POLICY)
        column = "medication" if asked[0] == "diagnosis" else "diagnosis"
        assert package(other, asked, column) == package(plan, asked, column)


def test_exchanging_records_of_two_cohorts_does(hospital: pa.Table, plan: CohortPlan) -> None:
    """So the test above can fail."""
    both = [int(np.flatnonzero(plan.cohort == cohort)[0]) for cohort in range(plan.size)]
    order = np.arange(hospital.num_rows)
    order[both] = np.roll(both, 1)
    moved = hospital
    for name in SENSITIVE:
        moved = moved.set_column(
            moved.column_names.index(name), name, hospital.column(name).take(pa.array(order))
        )
    other = with_groups(planned(moved), EVERYBODY, (), POLICY)
    assert package(other, EVERYBODY, "diagnosis") != package(plan, EVERYBODY, "diagnosis")


def test_every_group_has_k_people_and_keeps_the_policy_in_what_it_shows(plan: CohortPlan) -> None:
    for purpose, k in (("research", 5), ("teaching", 10)):
        for asked in ASKED[:2]:
            own = plan.groups[asked]
            limits = POLICY.thresholds_for(Purpose(purpose))
            within = plan.within(asked)
            for part in own.parts[purpose]:
                people = np.flatnonzero(np.isin(within, list(part)))
                assert len(people) >= k
                for name in own.shown[purpose]:
                    counts = Counter(plan.people.column(HIDDEN + name).take(pa.array(people)).to_pylist())
                    assert len(counts) >= limits.l
                    assert max(counts.values()) <= limits.share * len(people) + 1e-9


def test_groups_of_stricter_purposes_are_put_together_from_those_of_laxer_ones(plan: CohortPlan) -> None:
    for asked in ASKED[:2]:
        parts = plan.groups[asked].parts
        fine = [set(part) for part in parts[FINEST]]
        assert len(parts["teaching"]) < len(fine)
        for part in parts["teaching"]:
            assert set(part) == set().union(*(each for each in fine if each <= set(part)))


def test_a_label_reaches_over_everybody_of_its_group_and_not_only_over_the_selected(
    hospital: pa.Table, plan: CohortPlan
) -> None:
    catalogue = AttributeCatalogue.from_dict(CATALOGUE)
    labels, ages = GroupLabels(plan, catalogue["age"]), hospital.column("age").to_numpy()
    for part in plan.groups["diagnosis", "back pain"].parts["research"]:
        word = labels.of(part)
        low, _, high = word.partition("-")
        own = ages[np.isin(plan.cohort, list(part))]
        assert word == SUPPRESSED or (int(low) <= own.min() and own.max() <= int(high))
        assert word == SUPPRESSED or int(low) % 5 == 0, "no end is anybody's value"


def test_groups_never_change_whatever_follows(hospital: pa.Table, plan: CohortPlan) -> None:
    asked = ASKED[0]
    again = with_groups(plan, asked, ("weight", "origin"), POLICY)
    assert again.groups[asked].parts == plan.groups[asked].parts
    more = patients(60, 99)
    names = pa.array([f"N{n}" for n in range(60)])
    more = more.set_column(0, "patient", names)
    later = plan.admit(more, "patient", [False] * 60, POLICY, "2026-02-01T00:00:00+00:00")
    assert later.size > plan.size
    assert (later.cohort[:700] == plan.cohort).all(), "no newcomer is in an old cohort"
    grown = with_groups(later, asked, ("age",), POLICY).groups[asked].parts["research"]
    assert [list(p) for p in grown[: len(plan.groups[asked].parts["research"])]] == [
        list(p) for p in plan.groups[asked].parts["research"]
    ]


@pytest.mark.parametrize("without", [0, 1, 60, 300])
def test_who_consented_is_asked_of_groups_of_those_who_did(without: int) -> None:
    """Where everybody did, all groups are; too few who did not make it a group of both kinds, without any."""
    table = patients(600, 3)
    consents = [number >= without for number in range(table.num_rows)]
    plan = CohortPlan.new(KNOWN, SENSITIVE, started="2026-01-01T00:00:00+00:00")
    plan = plan.admit(table, "patient", consents, POLICY, "2026-01-01T00:00:00+00:00")
    plan = plan.with_atoms({"diagnosis": [], "medication": []}, POLICY.thresholds.base)
    asked = ASKED[1]
    people = grouped_rows(with_groups(plan, asked, (), POLICY), asked, "research", 5, consented=True).people
    assert (len(people) > 0) == (without != 1)
    assert all(consents[place] for place in people.tolist())


def test_who_withdraws_leaves_with_others_and_her_group_shows_no_values_any_more(plan: CohortPlan) -> None:
    asked = ASKED[1]
    place = int(np.flatnonzero(plan.within(asked) >= 0)[0])
    who, cohort = plan.who[place], int(plan.cohort[place])
    after = plan.retire(who, POLICY, KEY)
    gone = np.flatnonzero((plan.cohort >= 0) & (after.cohort < 0))
    assert place in gone
    assert set(plan.cohort[gone].tolist()) == {cohort}
    assert len(gone) >= max(each.k for each in POLICY.every_purpose())
    assert after.people.column(HIDDEN + "diagnosis")[place].as_py() is None
    rows = grouped_rows(after, asked, "research", 5)
    cells = sensitive_cells(after, rows, "diagnosis", [], POLICY.thresholds, KEY)
    closed = [n for n, group in enumerate(rows.group.tolist()) if cohort in rows.groups[group]]
    assert all(cells[n] == SUPPRESSED for n in closed)
    left = int((plan.within(asked)[gone] >= 0).sum())
    before = grouped_rows(plan, asked, "research", 5)
    assert len(before.people) - left - 4 <= len(rows.people) <= len(before.people) - left
    assert not set(rows.people.tolist()) & set(gone.tolist())
    assert after.retire(who, POLICY, KEY).people.equals(after.people)


def test_conspicuous_values_are_hidden_among_as_many_others_and_always_the_same(plan: CohortPlan) -> None:
    rows = grouped_rows(plan, EVERYBODY, "research", 5)
    cells = sensitive_cells(plan, rows, "diagnosis", ["alcoholism"], POLICY.thresholds, KEY)
    truth = plan.people.column(HIDDEN + "diagnosis").take(pa.array(rows.people)).to_pylist()
    assert "alcoholism" not in cells
    for group in set(rows.group.tolist()):
        own = [n for n, each in enumerate(rows.group.tolist()) if each == group]
        hidden = [n for n in own if cells[n] == SUPPRESSED]
        ill = [n for n in own if truth[n] == "alcoholism"]
        assert len(hidden) >= min(2 * len(ill), len(own))
    assert cells == sensitive_cells(plan, rows, "diagnosis", ["alcoholism"], POLICY.thresholds, KEY)


def told(
    plan: CohortPlan, asked: Asked, shown: tuple[str, ...], groups: list[list[int]] | None = None
) -> ToldTable:
    numbers = np.full(plan.size, -1)
    for number, part in enumerate(groups or plan.groups[asked].parts["research"]):
        numbers[list(part)] = number
    return ToldTable(asked, tuple(numbers.tolist()), shown, plan.epoch)


def test_the_joint_check_lets_groups_pass_that_stay_and_none_that_cross(plan: CohortPlan) -> None:
    """A faulty maker cuts groups anew, or cohorts apart: who knows the selected value would learn another."""
    asked, limits = ASKED[1], POLICY.thresholds
    shown = tuple(plan.groups[asked].shown["research"])
    right = [told(plan, asked, shown), told(plan, EVERYBODY, ("diagnosis",))]
    assert joint_objection(plan, right, limits) == ""
    alone = [[cohort] for cohort in range(plan.size)]
    wrong = told(plan, asked, ("diagnosis",), alone)
    assert "who knows" in joint_objection(plan, [*right, wrong], limits)
    assert joint_objection(plan, [*right, wrong], dataclasses.replace(limits, insider="none")) == ""
    strict = dataclasses.replace(limits, share=0.2)
    assert "look alike" in joint_objection(plan, right, strict)
    old = dataclasses.replace(wrong, epoch=0)
    assert joint_objection(plan, [*right, old], limits) == "", "epochs are not protected together"


def test_what_was_told_comes_back_from_the_ledger(plan: CohortPlan) -> None:
    tables = ToldTables((told(plan, ASKED[0], ()), told(plan, EVERYBODY, ("diagnosis",))))
    content = tables.to_bytes()
    assert ToldTables.from_bytes(content) == tables
    assert read_ledger([content, content]) == ([], list(tables.tables))


def test_rare_values_are_asked_for_together_and_conspicuous_ones_never(plan: CohortPlan) -> None:
    counts = Counter(plan.people.column(HIDDEN + "diagnosis").to_pylist())
    atoms = plan.atoms["diagnosis"]
    assert ["alcoholism"] not in atoms
    for atom in atoms:
        assert sum(counts[value] for value in atom) >= POLICY.thresholds.base
    assert plan.atoms_of("diagnosis", ("back pain", "asthma")) == [("asthma",), ("back pain",)]
    assert plan.atoms_of("diagnosis", ("back pain", "gout")) == []


def test_presence_is_the_most_that_a_cohort_may_have_of_one_value(hospital: pa.Table) -> None:
    strict = SitePolicy(Thresholds(presence=0.3))
    plan = planned(hospital, strict)
    for cohort in range(plan.size):
        own = plan.people.filter(pa.array(plan.cohort == cohort))
        for name in SENSITIVE:
            most = Counter(own.column(HIDDEN + name).to_pylist()).most_common(1)[0][1]
            assert most <= 0.3 * own.num_rows + 1e-9
