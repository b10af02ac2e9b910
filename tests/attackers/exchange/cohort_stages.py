"""Small hospitals whose packages are made from cohorts, while people come, leave and withdraw."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from tarnkappe.exchange import Institution, Network, NetworkMember, Purpose, SitePolicy, Surroundings
from tarnkappe.exchange.cohorts import plan as plans
from tarnkappe.exchange.cohorts.packages import GroupLabels, grouped_rows
from tarnkappe.exchange.cohorts.plan import CohortPlan
from tarnkappe.exchange.desk import RequestWorkflow, earlier
from tarnkappe.exchange.request import Anchor
from tarnkappe.state import Store
from tests.attackers.exchange.outsider import House, Left
from tests.attackers.exchange.package_stages import CATALOGUE, DOMAIN, STATED, asked, patient, request
from tests.exchange.test_desk import OWN, STAFF

PEOPLE, FIRST = 7, 6
"""So few that all worlds can be tried."""


def policy(**changes: Any) -> SitePolicy:
    """Small cohorts and groups, for every purpose."""
    small = {"k": 2, "l": 2, "base": 2}
    thresholds = {**small, "rare_local": 1, "cohort": 3, "method": "cohorts", "wave_days": 0, **changes}
    return SitePolicy.from_dict(
        {
            "thresholds": thresholds,
            "purposes": {"teaching": small},
            "statements": dict.fromkeys(STATED, True),
            "four_eyes": [],
        }
    )


@contextmanager
def histories(folder: Path, number: int = 8, **changes: Any) -> Iterator[Sequence[House]]:
    made = [history(folder / str(seed), random.Random(seed), policy(**changes)) for seed in range(number)]
    assert any(house.packages for house in made), "something leaves"
    yield made


@contextmanager
def many_histories(folder: Path) -> Iterator[Sequence[House]]:
    with histories(folder, 200) as made:
        yield made


@contextmanager
def everybody_is_admitted(folder: Path) -> Iterator[Sequence[House]]:
    """Cohorts need not keep the policy."""
    with (
        patch.object(plans, "admitted", lambda parts, _: [True] * len(parts)),
        patch.object(earlier, "joint_objection", return_value=""),
        histories(folder, 30) as made,  # one in nine cohorts of three has a single diagnosis
    ):
        yield made


@contextmanager
def groups_need_not_be_diverse(folder: Path) -> Iterator[Sequence[House]]:
    """The policy does not protect from who knows the selected value."""
    with histories(folder, insider="none") as made:
        yield made


def history(folder: Path, draw: random.Random, rules: SitePolicy) -> House:
    """Several requests while people come, leave and withdraw; everything recommended leaves."""
    folder.mkdir()
    patients = [patient(number, draw) for number in range(PEOPLE)]
    there, store = patients[:FIRST], Store.in_memory()
    members = [NetworkMember(name, frozenset(Purpose), bound_to_secrecy=True) for name in "AC"]
    packages: list[Left] = []
    for number in range(6):
        event = draw.random()
        if event < 0.15:
            there = patients
        house = Institution("B", pa.Table.from_pylist(there), "id")
        desk = RequestWorkflow(store, OWN, Surroundings(house, CATALOGUE, rules, Network(members)), STAFF)
        if 0.15 <= event < 0.3:
            desk.withdraw_patient(str(draw.choice(there)["id"]))
        sent = request(number, draw)
        # A table of two values is that of each, one after the other: it tells nothing more.
        one = Anchor(sent.anchor.attribute, sent.anchor.values[:1])
        sent = dataclasses.replace(sent, anchor=one)
        left = asked(desk, sent, folder / f"{number}.csv")
        plan = desk.cohorts.plan()
        if left is not None and plan is not None:
            labels = labels_of(plan, sent.anchor, sent.names)
            packages.append(
                Left(folder / f"{number}.csv", left.attribute, left.values, frozenset(labels), labels)
            )
    return House(
        {str(one["id"]): {name: str(one[name]) for name in ("age", "sex")} for one in patients},
        {str(one["id"]): {name: str(one[name]) for name in DOMAIN} for one in patients},
        DOMAIN,
        packages,
        2,
    )


def labels_of(plan: CohortPlan, anchor: Anchor, names: Sequence[str]) -> dict[str, dict[str, str] | None]:
    """What an attacker computes who knows the program and what everybody looks like: the label of each cohort.

    Nobody has one whose cohort has nobody with the selected value.
    """
    found: dict[str, dict[str, str] | None] = {
        who: None for who, cohort in zip(plan.who, plan.cohort.tolist(), strict=True) if cohort >= 0
    }
    written = {name: GroupLabels(plan, CATALOGUE[name]) for name in names if name in plan.known}
    for atom in plan.atoms_of(anchor.attribute, anchor.values):
        rows = grouped_rows(plan, (anchor.attribute, *atom), "research", 2)
        for group in set(rows.group.tolist()):
            words = {name: own.of(rows.groups[group]) for name, own in written.items()}
            for who, cohort in zip(plan.who, plan.cohort.tolist(), strict=True):
                if cohort in rows.groups[group]:
                    found[who] = words
        told = {cohort for group in set(rows.group.tolist()) for cohort in rows.groups[group]}
        waiting = set(plan.within(rows.asked).tolist()) - told  # not told of yet, with the value or without
        for who, cohort in zip(plan.who, plan.cohort.tolist(), strict=True):
            if cohort in waiting:
                found.pop(who, None)
    return found
