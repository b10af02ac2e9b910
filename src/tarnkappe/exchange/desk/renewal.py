"""Where the cohorts of an institution stand, and their renewal, which two people sign.

Packages of before and after a renewal are not protected together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tarnkappe.errors import AccessError
from tarnkappe.exchange.cohorts.plan import FINEST, CohortPlan
from tarnkappe.exchange.desk.desk import RequestWorkflow
from tarnkappe.exchange.request import Purpose
from tarnkappe.exchange.staff import Duty, Staff
from tarnkappe.state import Statement, require_signature

RENEWING = frozenset({Duty.STEWARD, Duty.PHYSICIAN, Duty.SECOND_REVIEWER})


@dataclasses.dataclass(frozen=True)
class CohortStatus:
    """Where the cohorts of an institution stand; no number of it is told to anybody else.

    Attributes:
        epoch: how often they were renewed, and once more.
        cohorts: how many there are.
        people: how many people may be in packages.
        held_out: how many are not before the next renewal, since their cohort does not keep the policy.
        undone: in how many cohorts these would be.
        retired: how many left, by themselves or with somebody else.
        waiting: how many patients are not admitted yet.
        told: how many selections have groups.
        ungrouped: how many rows of these selections are in no group yet.
        last_wave: when people were admitted last.
        next_wave: when those who wait are admitted at the latest, if they are enough.
        may_renew: from when on the cohorts may be renewed.
    """

    epoch: int
    cohorts: int
    people: int
    held_out: int
    undone: int
    retired: int
    waiting: int
    told: int
    ungrouped: int
    last_wave: str
    next_wave: str
    may_renew: str


def cohort_status(desk: RequestWorkflow) -> CohortStatus | None:
    """Where the cohorts stand; None before anybody is admitted."""
    plan = desk.cohorts.plan()
    if plan is None:
        return None
    known = set(plan.who)
    limits = [desk.around.policy.thresholds_for(purpose) for purpose in Purpose]
    active = int((plan.cohort >= 0).sum())
    return CohortStatus(
        epoch=plan.epoch,
        cohorts=plan.size,
        people=active,
        held_out=len(known) - active - plan.number_retired,
        undone=plan.undone,
        retired=plan.number_retired,
        waiting=sum(who not in known for who in desk.cohorts.patients()),
        told=len(plan.groups),
        ungrouped=sum(_ungrouped(plan, asked) for asked in plan.groups),
        last_wave=plan.wave,
        next_wave=_after(plan.wave, min(each.wave_days for each in limits)),
        may_renew=_after(plan.started, max(each.epoch_days for each in limits)),
    )


def _after(time: str, days: float) -> str:
    return (datetime.fromisoformat(time) + timedelta(days=days)).isoformat(timespec="seconds")


def _ungrouped(plan: CohortPlan, asked: tuple[str, ...]) -> int:
    grouped = {cohort for part in plan.groups[asked].parts[FINEST] for cohort in part}
    return sum(cohort >= 0 and cohort not in grouped for cohort in plan.within(asked).tolist())


def to_renew(desk: RequestWorkflow, person: str) -> Statement:
    """What somebody signs who wants the cohorts of today to be renewed."""
    plan = desk.cohorts.plan()
    if plan is None:
        raise AccessError(
            "exchange.no-cohorts-yet-could-renewed", "there are no cohorts yet that could be renewed"
        )
    institution = desk.around.institution.name
    return Statement("cohort renewal", {"institution": institution, "epoch": plan.epoch, "person": person})


def renew(
    desk: RequestWorkflow, staff: Staff, signed: Sequence[tuple[str, str]], now: datetime | None = None
) -> int:
    """Renew the cohorts, as two people of the staff have signed; how many people are in both.

    Args:
        desk: whose cohorts.
        staff: who may sign.
        signed: people with their signatures under `to_renew`.
        now: the time, for tests.
    """
    for person, signature in signed:
        public = staff.require(person, RENEWING).public_key
        require_signature(public, to_renew(desk, person), signature)
    return desk.cohorts.renew([person for person, _ in signed], now or datetime.now(UTC), dict(signed))
