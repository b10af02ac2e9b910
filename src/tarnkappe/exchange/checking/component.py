"""The checking component: it walks the steps and recommends; the physician decides."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.exchange.catalogue import Reclassification
from tarnkappe.exchange.checking.case import Case, Surroundings
from tarnkappe.exchange.checking.cover import covered
from tarnkappe.exchange.checking.from_cohorts import REPLACED
from tarnkappe.exchange.checking.protect import (
    CannotHideError,
    NotEnoughError,
    is_diverse,
    protect,
    selection,
)
from tarnkappe.exchange.checking.steps import (
    rulings,
    s0_authenticate,
    s1_decompose,
    s2_gates,
    s3_base_set,
    s4_profile,
    s5_flags,
    s6_actions,
)
from tarnkappe.exchange.checking.telling import told_by
from tarnkappe.exchange.checking.told import Told, most_likely, objection
from tarnkappe.exchange.checking.unverified_package import UnverifiedPackage, class_ids
from tarnkappe.exchange.checking.verify import Inquiry, Verified, verify
from tarnkappe.exchange.cohorts.joint import ToldTables
from tarnkappe.exchange.facts import ExpertDetermination, PackageFacts
from tarnkappe.exchange.findings import (
    Action,
    AttributeTreatment,
    CheckStep,
    CheckVerdict,
    Finding,
    StepResult,
    count,
)
from tarnkappe.exchange.request import DataRequest
from tarnkappe.exchange.rules import RuleOutcome, Ruling
from tarnkappe.job.release import plain
from tarnkappe.table import Role, Table


@dataclasses.dataclass(frozen=True, eq=False)
class Recommendation:
    """What the checking component recommends, with its reasons.

    Without a verified package nothing but a refusal can be recommended: such an object cannot be made.

    Attributes:
        request: the request.
        verdict: what is recommended.
        steps: the decision tree as it was walked.
        treatments: what is done with each attribute, and why.
        rulings: what each rule says.
        base: how many people were selected.
        metrics: precision, discernibility and normalized class size of the package.
        package: the package, verified.
        patients: who is in it, in the order of its rows. It stays in the house.
        told: what it tells of everybody, by marks. It stays in the house.
        reclassified: the attributes that have another class in this request than in the catalogue.
    """

    request: DataRequest
    verdict: CheckVerdict
    steps: tuple[CheckStep, ...]
    treatments: tuple[AttributeTreatment, ...]
    rulings: tuple[Ruling, ...]
    base: int | None = None
    metrics: Mapping[str, float] = dataclasses.field(default_factory=dict)
    package: Verified | None = None
    patients: tuple[str, ...] = ()
    told: Told | ToldTables | None = None
    reclassified: tuple[Reclassification, ...] = ()

    def __post_init__(self) -> None:
        refuses = self.verdict is CheckVerdict.REFUSE
        if refuses != (self.package is None):
            raise TypeError("a release is recommended with a verified package, a refusal without one")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that was found, the greatest risk first."""
        found = [finding for step in self.steps for finding in step.findings]
        return tuple(sorted(found, key=lambda finding: -finding.risk))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the package and who is in it; no value of a patient is in it."""
        return {
            "request": self.request.id,
            "digest": self.request.digest,
            "verdict": str(self.verdict),
            "base": self.base,
            "k": None if self.package is None else self.package.k,
            "l": None if self.package is None else self.package.l,
            "rows": None if self.package is None else self.package.release.num_rows,
            "columns": [] if self.package is None else list(self.package.release.column_names),
            "metrics": dict(self.metrics),
            "steps": [step.to_dict() for step in self.steps],
            "attributes": [treatment.to_dict() for treatment in self.treatments],
            "rules": [ruling.to_dict() for ruling in self.rulings],
            "reclassified": [change.to_dict() for change in self.reclassified],
        }


def s7_s8_protect(case: Case) -> CheckStep:
    """Can everybody be hidden among enough others, with enough sensitive values?"""
    assert case.base is not None
    question = "Can everybody be hidden among others?"
    rows = np.flatnonzero(case.live)
    base = case.base.take(pa.array(rows))
    case.known = [
        dataclasses.replace(each, column=each.column.take(rows))
        for each in case.known
        if each.name in case.wanted
    ]
    levels = {} if case.actions is None else case.actions.levels
    uniform = [name for name in case.sensitive if not is_diverse(base, name, case.limits)]
    for name in uniform:
        reason = "It has too few different values among these people, or one too often, to hide anybody's."
        case.drop(name, reason, Action.WITHHOLD)
    try:
        while case.draft is None:
            if not case.wanted:
                return CheckStep(
                    "S8", question, "Not enough diversity: nothing is left to release.", StepResult.REFUSE
                )
            table = selection(base, case.patient, case.roles())
            try:
                case.draft = _protected(case, table, levels)
            except CannotHideError:
                uniform.append(case.sensitive[0])
                reason = "Its conspicuous values cannot be hidden among enough others."
                case.drop(case.sensitive[0], reason, Action.WITHHOLD)
    except NotEnoughError as error:
        return CheckStep("S8", question, f"Not enough diversity: {error}.", StepResult.REFUSE)
    for name in case.draft.withheld:
        case.drop(name, "Releasing it would single somebody out or give a value away.", Action.WITHHOLD)
    changed = bool(case.draft.withheld or uniform)
    for each in case.known:
        level = case.draft.levels.get(each.name)
        if each.name in case.wanted and level is not None and level > levels[each.name]:
            changed = True
            reason = "Fewer people would look alike otherwise."
            case.treatments[each.name] = AttributeTreatment(each.name, Action.GENERALIZE, level, reason)
    answer = StepResult.CHANGE if changed else StepResult.GO_ON
    return CheckStep("S8", question, " ".join(case.draft.told), answer)


def _protected(case: Case, table: Table, levels: Mapping[str, int]) -> UnverifiedPackage:
    def hide(draft: UnverifiedPackage) -> UnverifiedPackage:
        return covered(draft, case.conspicuous, case.limits.cover, case.around.key, case.request.anchor)

    return protect(
        table,
        case.known,
        levels,
        case.sensitive,
        case.limits,
        hide=hide if case.conspicuous else None,
        seed=case.seed,
    )


def s9_verify(case: Case) -> CheckStep:
    """Does the package keep what it must, by independent code?"""
    assert case.draft is not None
    assert case.base is not None
    question = "Does the package keep its promises?"
    live = case.base.take(pa.array(np.flatnonzero(case.live)))
    inquiry = Inquiry(
        case.draft,
        live,
        case.known,
        case.sensitive,
        tuple(case.wanted),
        (case.patient, *case.catalogue.select(Role.IDENTIFIER)),
        case.limits,
        case.least,
        {name: wanted.detail for name, wanted in case.wanted.items()},
    )
    case.package, failures = verify(inquiry)
    if case.package is None:
        return CheckStep("S9", question, "It does not.", StepResult.REFUSE, failures)
    case.metrics = _metrics(case, case.package)
    told = f"Everybody looks like at least {case.package.k - 1} others"
    diverse = "" if case.package.l is None else f", {case.package.l} sensitive values remain possible"
    return CheckStep("S9", question, f"{told}{diverse}, and no simulated attack succeeds.")


def s9_earlier(case: Case) -> CheckStep:
    """Does it keep them together with everything that was released before?"""
    question = "Does it keep them together with whom it selects, and with earlier packages?"
    assert case.package is not None
    around = case.around
    case.told = told_by(case, case.package, around.key)
    assert isinstance(case.told, Told)
    wrong = ""
    if most_likely(case.told) > case.limits.share:
        wrong = "Of people who look alike too many would be told to have what they were selected by."
    elif around.earlier is None:
        wrong = objection([], case.told, case.limits)
    else:
        wrong = around.earlier.objection(
            case.package.release,
            case.patients_of(case.package),
            case.limits,
            case.request.institution,
            case.told,
        )
    if wrong:
        case.package = None
        return CheckStep("S9a", question, wrong, StepResult.REFUSE)
    if around.earlier is None:
        found = Finding("history unknown", "Nobody has looked at what was released before.")
        return CheckStep("S9a", question, "No history of releases is kept.", findings=(found,))
    joined = case.history.joined(case.request, around.institution, case.catalogue, case.limits, case.damage)
    return CheckStep("S9a", question, "It does.", findings=tuple(joined))


def s10_rules(case: Case) -> CheckStep:
    """Do the rules allow the package as it is?"""
    question = "Do the rules allow the package as it is?"
    package = case.package
    case.rulings = rulings(
        case,
        PackageFacts(
            indirectly_personal=package is not None and not case.request.reidentification,
            sensitive=package is not None,
            identity_removed=package is not None,
            mildest=package is not None,
            safe_harbor=package is not None and package.safe_harbor,
        ),
    )
    failed = [ruling for ruling in case.rulings if ruling.outcome is RuleOutcome.FAIL]
    open_ = [ruling for ruling in case.rulings if ruling.outcome is RuleOutcome.NEEDS_HUMAN]
    findings = tuple(
        Finding("rule", f"{r.rule.id} ({r.rule.title}, {r.rule.paragraph}): {'; '.join(r.evidence)}.")
        for r in (*failed, *open_)
    )
    if failed:
        case.package = None
        reply = f"Not allowed by {', '.join(ruling.rule.id for ruling in failed)}."
        return CheckStep("S10", question, reply, StepResult.REFUSE, findings)
    judge = f" {count(len(open_), 'rule', 'rules')} only a human can judge." if open_ else ""
    return CheckStep("S10", question, f"No rule forbids it.{judge}", findings=findings)


STEPS: tuple[Callable[[Case], CheckStep], ...] = (
    s0_authenticate,
    s1_decompose,
    s2_gates,
    s3_base_set,
    s4_profile,
    s5_flags,
    s6_actions,
    s7_s8_protect,
    s9_verify,
    s9_earlier,
    s10_rules,
)
"""The whole check, in its order."""
MUST_BE_WALKED = frozenset({"S0", "S1", "S2", "S3", "S4", "S5", "S6", "S8", "S9", "S9a", "S10"})
"""Without every one of these steps nothing is released."""


def check(
    request: DataRequest,
    around: Surroundings,
    *,
    roles: Mapping[str, Role] | None = None,
    less_protected: Mapping[str, str] | None = None,
    expert: ExpertDetermination | None = None,
    today: date | None = None,
    seed: int | None = None,
    steps: Sequence[Callable[[Case], CheckStep]] = STEPS,
) -> Recommendation:
    """Check a request and recommend what to do.

    A step that refuses, or fails in any way, ends the check with a refusal.

    Args:
        request: the request.
        around: what the component works with.
        roles: classes that a steward gives some attributes for this request only; the recommendation names
            them.
        less_protected: of attributes whose new class protects them less, why that is right; without a reason
            such a class is refused.
        expert: the finding of an expert, as HIPAA's second way asks for.
        today: the day, for tests.
        seed: for tests: makes the order of the rows reproducible.
        steps: the steps, for tests.
    """
    changes = around.catalogue.reclassified(roles or {}, less_protected or {})
    catalogue = around.catalogue.override(roles or {})
    case = Case(request, around, catalogue, expert=expert, seed=seed, today=today or date.today())
    case.reclassified = changes
    walked: list[CheckStep] = []
    other = REPLACED if case.limits.method == "cohorts" else {}
    for step in steps:
        try:
            walked.append(other.get(step.__name__, step)(case))
        except Exception as error:  # a check that breaks must not let anything out
            reply = (
                f"The check could not be finished ({type(error).__name__}): look into it before asking again."
            )
            walked.append(CheckStep("S10", "Did every step come to an end?", reply, StepResult.REFUSE))
        if walked[-1].answer is StepResult.REFUSE:
            break
    return _recommend(case, walked)


def _recommend(case: Case, walked: Sequence[CheckStep]) -> Recommendation:
    package = case.package
    refused = any(step.answer is StepResult.REFUSE for step in walked)
    refused |= not {step.name for step in walked} >= MUST_BE_WALKED
    refused |= package is None or case.base is None
    common: dict[str, Any] = {
        "request": case.request,
        "steps": tuple(walked),
        "treatments": _treatments(case, refused),
        "rulings": case.rulings,
        "base": None if case.base is None else case.base.num_rows,
        "reclassified": case.reclassified,
    }
    if refused or package is None or case.base is None:
        return Recommendation(verdict=CheckVerdict.REFUSE, **common)
    rows = np.flatnonzero(case.live)[list(package.people)]
    unchanged = _is_untouched(case.base, package.release, rows, case.request)
    return Recommendation(
        verdict=CheckVerdict.RELEASE if unchanged else CheckVerdict.RELEASE_WITH_CHANGES,
        metrics=case.metrics,
        package=package,
        patients=tuple(case.patients_of(package)),
        told=case.told,
        **common,
    )


def _treatments(case: Case, refused: bool) -> tuple[AttributeTreatment, ...]:
    """What is done with each attribute in the end: of a refused request nothing is released."""
    released = AttributeTreatment("", Action.RELEASE, 0, "It is released as it is.")
    nothing = AttributeTreatment(
        "", Action.WITHHOLD, 0, "The request is refused, so nothing of it is released."
    )
    found = dict(case.treatments)
    for name in case.wanted:
        found.setdefault(name, dataclasses.replace(released, attribute=name))
    gone = (Action.DROP, Action.WITHHOLD)
    return tuple(
        dataclasses.replace(nothing, attribute=each.attribute)
        if refused and each.action not in gone
        else each
        for each in found.values()
    )


def _is_untouched(base: pa.Table, release: Table, rows: np.ndarray[Any, Any], request: DataRequest) -> bool:
    """Whether everything that was asked for is in the package, of everybody, exactly as it is."""
    if len(rows) < base.num_rows or set(release.column_names) != set(request.names):
        return False
    original = base.take(pa.array(rows))
    return all(
        plain(original.column(name)).equals(plain(release.data.column(name))) for name in release.column_names
    )


def _metrics(case: Case, package: Verified) -> dict[str, float]:
    """Precision over the quasi-identifiers asked for, discernibility and normalized class size.

    Every record of the selection that is not in the package costs as much as a suppressed one.
    """
    assert case.base is not None
    sizes = np.bincount(class_ids(package.release))
    rows, released = case.base.num_rows, package.release.num_rows
    found = {
        "discernibility": float((sizes**2).sum() + (rows - released) * rows),
        "normalized_class_size": rows / len(sizes) / case.limits.k,
    }
    asked = [
        n for n, t in case.treatments.items() if n in case.catalogue and case.role(n) is Role.QUASI_IDENTIFIER
    ]
    levels = case.draft.levels if case.draft is not None else {}
    if asked and (levels or not package.release.quasi_identifiers):
        heights = {each.name: each.levels.height for each in case.known}
        lost = sum(levels[n] / heights[n] if n in levels else 1.0 for n in asked) / len(asked)
        found["precision"] = (1 - lost) * released / rows
    return found
