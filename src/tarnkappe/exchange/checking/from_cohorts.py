"""The steps of the check where packages are made from cohorts: the same questions, other answers.

Nothing here looks at who was selected but by counts of cohorts: what is asked, how often and by whom tells no
more than one table of all cohorts (`cohorts/`).
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa

from tarnkappe.exchange.checking.case import Case
from tarnkappe.exchange.checking.protect import greatest_share, values_by_group
from tarnkappe.exchange.checking.rarity import Flagger, KnownAttribute
from tarnkappe.exchange.checking.steps import may_be_released, s4_profile
from tarnkappe.exchange.checking.unverified_package import UnverifiedPackage, class_ids, without_constant
from tarnkappe.exchange.checking.verify import Check, Inquiry, verify
from tarnkappe.exchange.cohorts.joint import ToldTable, ToldTables, joint_objection
from tarnkappe.exchange.cohorts.packages import (
    GroupedRows,
    GroupLabels,
    grouped_rows,
    labelled,
    sensitive_cells,
    shown_columns,
    within_values,
)
from tarnkappe.exchange.cohorts.plan import EVERYBODY, HIDDEN, KNOWN, WHO, CohortPlan
from tarnkappe.exchange.findings import Action, AttributeTreatment, CheckStep, Finding, StepResult, count
from tarnkappe.exchange.request import price_of_change
from tarnkappe.exchange.statistics.profile import bounds
from tarnkappe.job.release import random_order
from tarnkappe.table import SUPPRESSED, Role, Table


def plan_of(case: Case) -> CohortPlan | None:
    """The cohorts that a package is made from; None where it is made otherwise."""
    if case.limits.method != "cohorts" or case.around.cohorts is None:
        return None
    return case.around.cohorts.plan()


def s3_cohorts(case: Case) -> CheckStep:
    """Are there enough people, in groups that keep the policy?"""
    question = f"Does the request select at least {case.least:,} people of the cohorts?"
    plan, anchor = plan_of(case), case.request.anchor
    if plan is None or not plan.size:
        return CheckStep("S3", question, "Too few patients are admitted so far.", StepResult.REFUSE)
    for name in [name for name in case.wanted if name not in (*plan.known, *plan.hidden)]:
        case.drop(name, "The cohorts do not have it: it can be asked for after they are renewed.")
    purpose, consented = str(case.request.purpose), case.request.reidentification
    hidden = anchor.attribute in plan.hidden
    atoms = plan.atoms_of(anchor.attribute, anchor.values)
    asked = [(anchor.attribute, *atom) for atom in atoms] if hidden else [EVERYBODY]
    if not asked:
        return CheckStep("S3", question, "Too few have it to be asked for alone.", StepResult.REFUSE)
    case.rows = [
        grouped_rows(plan, each, purpose, case.limits.k, consented=consented)
        for each in asked
        if each in plan.groups
    ]
    if not hidden:
        labels = GroupLabels(plan, case.around.catalogue[anchor.attribute])
        case.rows = [within_values(each, labels, anchor.values) for each in case.rows]
    people = np.concatenate([each.people for each in case.rows] or [np.empty(0, np.int64)])
    if len(people) < case.least:
        return CheckStep("S3", question, "Too few of them are in groups that hide them.", StepResult.REFUSE)
    case.base = _people(case, plan, people)
    if consented and not may_be_released(case, case.base.column(case.patient)).all():
        reply = "Somebody does not consent any more to being identified again: renew the cohorts first."
        return CheckStep("S3", question, reply, StepResult.REFUSE)
    case.everybody = _people(case, plan, np.flatnonzero(plan.cohort >= 0))
    waiting = sum(each.waiting for each in case.rows)
    findings: tuple[Finding, ...] = ()
    if waiting:
        findings = (Finding("waiting", f"{count(waiting)} are in no group yet that hides them."),)
    reply = f"{count(len(people))} are in groups that hide them."
    return CheckStep("S3", question, reply, findings=findings)


def _people(case: Case, plan: CohortPlan, people: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
    """Some people as they were frozen, with the columns that are asked for."""
    columns = {case.patient: plan.people.column(WHO)}
    for name in case.wanted:
        own = KNOWN if name in plan.known else HIDDEN
        columns[name] = plan.people.column(own + name)
    return pa.table(columns).take(pa.array(people))


def s4_cohorts(case: Case) -> CheckStep:
    """What do the statistics of the population say?"""
    step = s4_profile(case)
    plan = plan_of(case)
    assert plan is not None
    assert case.profile is not None
    places = np.concatenate([each.people for each in case.rows])
    active = np.flatnonzero(plan.cohort >= 0)
    known: list[KnownAttribute] = []
    for name in [name for name in case.wanted if name in plan.known]:
        wanted = case.wanted[name]
        labels = GroupLabels(plan, case.around.catalogue[name], wanted.detail)
        ends = len(labels.column.codes) - len(active)
        known.append(
            KnownAttribute(
                case.around.catalogue[name],
                labels.column.take(ends + np.searchsorted(active, places)),
                labels.hierarchy,
                wanted.detail,
                price_of_change(wanted.change_weight),
                case.profile.given_anchor(name),
                case.profile.of_everybody(name),
            )
        )
        case.labels[name] = labels
    case.known = known
    case.flagger = Flagger(case.known, case.limits)
    return step


def s6_cohorts(case: Case) -> CheckStep:
    """Which labels are too rare in the population, or far too frequent here?

    Looked at are labels of groups, never values of those who were selected; nobody is left out.
    """
    question = "What has to be changed so that no value is conspicuous?"
    told = []
    for each in list(case.known):
        level = next((level for level in each.choices if not _flagged(case, each, level)), None)
        if level is None:
            reason = "A value stays conspicuous however far it is generalized."
            case.drop(each.name, reason, Action.WITHHOLD)
            told.append(f"{each.attribute.called}: {Action.WITHHOLD}")
            continue
        if level != each.least:
            case.labels[each.name] = case.labels[each.name].at_least(level)
            told.append(f"{each.attribute.called}: at least {Action.GENERALIZE}")
    case.known = [each for each in case.known if each.name in case.wanted]
    answer = StepResult.CHANGE if told else StepResult.GO_ON
    return CheckStep("S6", question, "; ".join(told) or "Nothing.", answer)


def _flagged(case: Case, each: KnownAttribute, level: int) -> bool:
    distribution = each.selected or each.everybody
    if not distribution:
        return False
    own, counts = case.labels[each.name].at_least(level), Counter[str]()
    for rows in case.rows:
        for group, number in zip(*np.unique(rows.group, return_counts=True), strict=True):
            counts[own.of(rows.groups[group])] += int(number)
    labels = sorted(counts)
    known = bounds(distribution, labels, each.hierarchy)
    here = np.array([counts[label] for label in labels]) / max(counts.total(), 1)
    rare = known.high < case.limits.rare_global
    return bool((rare | (here > case.limits.peak * known.high) | (here * case.limits.peak < known.low)).any())


def s8_cohorts(case: Case) -> CheckStep:
    """The package: labels of whole groups, and cells that keep the policy in each."""
    question = "Can everybody be hidden among others?"
    plan, purpose = plan_of(case), str(case.request.purpose)
    assert plan is not None
    selecting = case.request.anchor.attribute
    hidden = sorted(
        (name for name in case.wanted if name in plan.hidden and name != selecting),
        key=lambda name: (-case.catalogue[name].damage, name),
    )
    shown = [shown_columns(plan, rows.asked, purpose, hidden) for rows in case.rows]
    both = [name for name in hidden if all(name in own for own in shown)]
    for name in hidden:
        if name not in both:
            reason = (
                "It has too few different values among these people, or one too often, to hide anybody's."
                if all(name not in plan.groups[rows.asked].shown[purpose] for rows in case.rows)
                else "Beside another sensitive column it would tell both: ask for it in a request of its own."
            )
            case.drop(name, reason, Action.WITHHOLD)
    labels = {name: own for name, own in case.labels.items() if name in case.wanted}
    columns: dict[str, list[str]] = {name: [] for name in case.wanted}
    for rows in case.rows:
        cells = labelled(rows, labels)
        for name in both:
            conspicuous = case.around.catalogue[name].conspicuous
            cells[name] = sensitive_cells(plan, rows, name, conspicuous, case.limits, case.around.key)
        if selecting in case.wanted and selecting in plan.hidden:
            taken = plan.people.column(HIDDEN + selecting).take(pa.array(rows.people))
            cells[selecting] = [str(text) for text in taken.to_pylist()]
        for name, own in columns.items():
            own += cells[name]
    if not columns:
        return CheckStep("S8", question, "Nothing is left to release.", StepResult.REFUSE)
    roles = {name: _role(case, plan, name) for name in columns}
    order = random_order(sum(len(rows.people) for rows in case.rows), case.seed)
    data = pa.table({name: pa.array(own, pa.string()) for name, own in columns.items()})
    told = (f"Everybody is in a group of at least {case.limits.k} that stays the same in every package.",)
    draft = UnverifiedPackage(Table(data.take(pa.array(order)), roles), order, (), {}, told)
    case.draft = without_constant(draft, case.known)
    for name in case.draft.withheld:
        case.drop(name, "Groups reach over all of its values, so it would tell nothing.", Action.WITHHOLD)
    case.told = ToldTables(tuple(table_told(plan, rows, both) for rows in case.rows))
    _describe(case)
    return CheckStep("S8", question, " ".join(told), StepResult.CHANGE)


def _role(case: Case, plan: CohortPlan, name: str) -> Role:
    if name == case.request.anchor.attribute and name in plan.hidden:
        return Role.INSENSITIVE  # whom it selects is what all packages are compared by
    return Role.SENSITIVE if name in plan.hidden else case.around.catalogue[name].role


def table_told(plan: CohortPlan, rows: GroupedRows, shown: list[str]) -> ToldTable:
    """What the rows of one selection tell, as it is kept in the ledger."""
    groups = np.full(plan.size, -1, np.int64)
    for number in np.unique(rows.group).tolist():
        groups[list(rows.groups[number])] = number
    return ToldTable(rows.asked, tuple(groups.tolist()), tuple(shown), plan.epoch)


def _describe(case: Case) -> None:
    """What is done with each known attribute."""
    assert case.draft is not None
    for each in case.known:
        if each.name in case.wanted:
            reason = "It is told for whole groups of people who stay together."
            case.treatments[each.name] = AttributeTreatment(each.name, Action.RANGE, 1, reason)


def s9_cohorts(case: Case) -> CheckStep:
    """Does the package keep what it must, by independent code?"""
    assert case.draft is not None
    assert case.base is not None
    question = "Does the package keep its promises?"
    inquiry = Inquiry(
        case.draft,
        case.base,
        [each for each in case.known if each.name in case.wanted],
        (),
        tuple(case.wanted),
        (case.patient, *case.catalogue.select(Role.IDENTIFIER)),
        case.limits,
        case.least,
        {name: wanted.detail for name, wanted in case.wanted.items()},
    )
    case.package, failures = verify(inquiry, [_open_values(case)])
    if case.package is None:
        return CheckStep("S9", question, "It does not.", StepResult.REFUSE, failures)
    sizes = np.bincount(class_ids(case.package.release))
    case.metrics = {"normalized_class_size": len(case.base) / len(sizes) / case.limits.k}
    told = f"Everybody looks like at least {case.package.k - 1} others"
    return CheckStep("S9", question, f"{told}, and every group that shows sensitive values shows enough.")


def _open_values(case: Case) -> Check:
    """Where a group shows sensitive values at all, there are enough, and none too often."""

    def values_stay_open(inquiry: Inquiry) -> str:
        if case.limits.insider == "none":
            return ""
        release = inquiry.release
        ids = class_ids(release)
        for name in release.sensitive:
            limits = case.limits.values_of(name)
            column = release.data.column(name)
            visible = np.array([text != SUPPRESSED for text in column.to_pylist()], dtype=bool)
            shows = np.bincount(ids[visible], minlength=int(ids.max(initial=-1)) + 1) > 0
            found = values_by_group(column, ids)
            if (found[shows] < limits.l).any() or greatest_share(column, ids) > limits.share + 1e-9:
                return f"a group gives a value of '{name}' away"
        return ""

    return values_stay_open


def s9_joint(case: Case) -> CheckStep:
    """Does it keep them together with everything that was told before?"""
    question = "Does it keep them together with whom it selects, and with earlier packages?"
    plan = plan_of(case)
    assert plan is not None
    assert case.package is not None
    assert isinstance(case.told, ToldTables)
    if case.around.earlier is None:
        wrong = joint_objection(plan, case.told.tables, case.limits)
    else:
        wrong = case.around.earlier.objection(
            case.package.release,
            case.patients_of(case.package),
            case.limits,
            case.request.institution,
            case.told,
        )
    if wrong:
        case.package = None
        return CheckStep("S9a", question, wrong, StepResult.REFUSE)
    joined = case.history.joined(
        case.request, case.around.institution, case.catalogue, case.limits, case.damage
    )
    return CheckStep("S9a", question, "It does.", findings=tuple(joined))


REPLACED = {
    "s3_base_set": s3_cohorts,
    "s4_profile": s4_cohorts,
    "s6_actions": s6_cohorts,
    "s7_s8_protect": s8_cohorts,
    "s9_verify": s9_cohorts,
    "s9_earlier": s9_joint,
}
"""The steps that are others where packages are made from cohorts, by the names of those they stand for."""
