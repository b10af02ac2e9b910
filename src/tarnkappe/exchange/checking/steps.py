"""The steps of the check, S0 to S6: from the request to what is done about it."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy.exc import SQLAlchemyError

from tarnkappe.errors import InputError
from tarnkappe.exchange.catalogue import Reclassification
from tarnkappe.exchange.checking.actions import choose
from tarnkappe.exchange.checking.case import Case
from tarnkappe.exchange.checking.rarity import Flagger, KnownAttribute, Pattern, pattern
from tarnkappe.exchange.checking.telling import hidden_attributes
from tarnkappe.exchange.facts import PackageFacts, gather
from tarnkappe.exchange.findings import (
    Action,
    AttributeTreatment,
    CheckStep,
    Finding,
    Flag,
    StepResult,
    count,
)
from tarnkappe.exchange.request import price_of_change
from tarnkappe.exchange.rules import RuleOutcome, RuleSet, Ruling, evaluate
from tarnkappe.exchange.safe_harbor import filtered, safe_hierarchy
from tarnkappe.exchange.statistics import Asked, PopulationProfile, ask
from tarnkappe.job.release import plain
from tarnkappe.table import SUPPRESSED, Role
from tarnkappe.table.encoding import as_text, encode_column


def s0_authenticate(case: Case) -> CheckStep:
    """Who asks?"""
    question = "Does the request come from a member of the network?"
    if case.around.network.find(case.request.institution) is None:
        return CheckStep("S0", question, "The institution is not a member, or no longer.", StepResult.REFUSE)
    if case.around.suspicions is not None:
        case.history = case.around.suspicions.history(case.request)
    findings = tuple(case.history.findings(case.request))
    return CheckStep("S0", question, f"{case.request.institution} is a member.", findings=findings)


def s1_decompose(case: Case) -> CheckStep:
    """Which attributes are asked for, and what is each of them?"""
    case.wanted = {each.name: each for each in case.request.wanted}
    findings = [_reclassified(change) for change in case.reclassified]
    changed = False
    for name in list(case.wanted):
        changed |= name not in case.catalogue or case.catalogue[name].role is Role.IDENTIFIER
        if name not in case.catalogue:
            case.drop(name, "It is not in the catalogue, so nobody knows what it would tell.")
            findings.append(Finding("unknown attribute", f"'{name}' is not in the catalogue.", name))
        elif case.catalogue[name].role is Role.IDENTIFIER or name == case.patient:
            case.drop(name, "It identifies a person by itself and never leaves the house.")
            findings.append(
                Finding(
                    "primary identifier",
                    f"'{name}' identifies a person by itself and was asked for.",
                    name,
                    extent=case.catalogue[name].damage,
                    probability=1.0,
                )
            )
    question = "What is each attribute to an attacker?"
    anchor = case.request.anchor
    if anchor.attribute not in case.catalogue or not case.catalogue[anchor.attribute].selects:
        return CheckStep(
            "S1", question, "Nobody may be selected by this attribute.", StepResult.REFUSE, tuple(findings)
        )
    if set(anchor.values) & set(case.catalogue[anchor.attribute].conspicuous):
        reply = "Nobody may be selected by a conspicuous value: the selection would tell who has it."
        return CheckStep("S1", question, reply, StepResult.REFUSE, tuple(findings))
    if case.policy.strict and any(found.code == "primary identifier" for found in findings):
        return CheckStep(
            "S1", question, "A primary identifier was asked for.", StepResult.REFUSE, tuple(findings)
        )
    if not case.wanted:
        return CheckStep(
            "S1", question, "Nothing that may be released is asked for.", StepResult.REFUSE, tuple(findings)
        )
    told = ", ".join(f"{name}: {case.role(name)}" for name in case.wanted)
    return CheckStep(
        "S1", question, told, StepResult.CHANGE if changed else StepResult.GO_ON, tuple(findings)
    )


def _reclassified(change: Reclassification) -> Finding:
    why = f", because: {change.reason}" if change.reason else ""
    return Finding(
        "reclassified",
        f"For this request '{change.attribute}' counts as {change.now}; the catalogue says {change.was}{why}",
        change.attribute,
    )


def s2_gates(case: Case) -> CheckStep:
    """Do law, guidelines and policy allow it?"""
    question = "Do the rules allow this use?"
    findings = []
    for name in list(case.wanted):
        if case.request.purpose not in case.catalogue[name].purposes:
            case.drop(name, f"It is not essential for {case.request.purpose}.")
            findings.append(Finding("not essential", f"'{name}' is not essential for the purpose.", name))
    if case.request.reidentification and case.request.purpose not in case.policy.reidentification:
        reply = f"For {case.request.purpose} nobody is identified again."
        return CheckStep("S2", question, reply, StepResult.REFUSE, tuple(findings))
    case.rulings = rulings(case, PackageFacts())
    failed = [ruling for ruling in case.rulings if ruling.outcome is RuleOutcome.FAIL]
    findings += [
        Finding("rule", f"{r.rule.id} ({r.rule.title}, {r.rule.paragraph}): {'; '.join(r.evidence)}.")
        for r in failed
    ]
    if failed:
        names = ", ".join(ruling.rule.id for ruling in failed)
        return CheckStep("S2", question, f"Not allowed by {names}.", StepResult.REFUSE, tuple(findings))
    if not case.wanted:
        return CheckStep(
            "S2", question, "Nothing essential is asked for.", StepResult.REFUSE, tuple(findings)
        )
    reply = "No rule forbids it."
    return CheckStep(
        "S2", question, reply, StepResult.CHANGE if findings else StepResult.GO_ON, tuple(findings)
    )


def rulings(case: Case, package: PackageFacts) -> tuple[Ruling, ...]:
    """What all rule sets of the policy say, by what is known so far."""
    consent = True if case.request.reidentification and case.base is not None else None
    facts = gather(
        case.request,
        case.catalogue,
        case.policy,
        case.around.network,
        consent=consent,
        expert=case.expert,
        package=package,
        today=case.today,
    )
    return tuple(r for name in case.policy.rules for r in evaluate(RuleSet.load(name), facts))


def s3_base_set(case: Case) -> CheckStep:
    """How many people does the request select?"""
    question = f"Does the request select at least {case.least:,} people?"
    institution = case.around.institution
    counted = institution.count(case.request.anchor)
    if counted < case.least:
        return _too_few(question, counted)
    base = institution.select(case.request.anchor, list(case.wanted))
    findings: tuple[Finding, ...] = ()
    may = may_be_released(case, base.column(case.patient))
    if not may.all():
        gone = int(np.count_nonzero(~may))
        findings = (Finding("consent", f"{count(gone)} withdrew or did not consent.", people=gone),)
        base = base.filter(pa.array(may))
    if base.num_rows < case.least:
        return _too_few(question, base.num_rows, findings)
    case.base = _prepared(case, base)
    _read_everybody(case)
    return CheckStep("S3", question, f"It selects {count(base.num_rows)}.", findings=findings)


def _too_few(question: str, number: int, findings: tuple[Finding, ...] = ()) -> CheckStep:
    found = Finding("small base set", "Too few people are selected to hide among each other.", people=number)
    return CheckStep(
        "S3", question, f"It selects only {count(number)}.", StepResult.REFUSE, (*findings, found)
    )


def may_be_released(case: Case, patients: pa.ChunkedArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Who of some patients may be in a package for this request."""
    if case.around.patients is not None:
        return case.around.patients.may_be_released(patients.combine_chunks(), case.request)
    return np.full(len(patients), not case.request.reidentification)


def _prepared(case: Case, base: pa.Table) -> pa.Table:
    """The selection with conspicuous values hidden and, where HIPAA rules, through its filter."""
    for name in case.conspicuous:
        texts = as_text(plain(base.column(name)))
        hidden = pc.is_in(texts, pa.array(case.catalogue[name].conspicuous, pa.string()))
        base = base.set_column(base.column_names.index(name), name, pc.if_else(hidden, SUPPRESSED, texts))
    base = _through_safe_harbor(case, base)
    for name in [name for name in case.wanted if name not in base.column_names]:
        case.drop(name, "It is one of the 18 identifiers of the safe harbor rule.")
    return base


def _through_safe_harbor(case: Case, people: pa.Table) -> pa.Table:
    if "hipaa" not in case.policy.rules or case.expert is not None:
        return people
    kinds = {n: k for n in case.wanted if (k := case.catalogue[n].identifier_kind) is not None}
    case.originals = {
        name: frozenset(as_text(plain(people.column(name)).unique()).drop_null().to_pylist())
        for name in kinds
    }
    return filtered(people, kinds, date.today().year)


def _read_everybody(case: Case) -> None:
    """Everybody who could have been selected: whom a package tells something of, in it or not."""
    hidden = hidden_attributes(case)
    people = case.around.institution.everybody([*case.wanted, *hidden])
    people = people.filter(pa.array(may_be_released(case, people.column(case.patient))))
    case.everybody = _through_safe_harbor(case, people)


def s4_profile(case: Case) -> CheckStep:
    """What do the statistics of the population say?"""
    assert case.base is not None
    question = "What do the statistics say of people like these?"
    case.profile = PopulationProfile(case.request.anchor)
    known = [*case.names(Role.QUASI_IDENTIFIER), *case.names(Role.SENSITIVE)]
    reply, findings = "There are no statistics.", [_unknown_population()]
    if case.around.statistics is not None:
        values = {
            name: as_text(plain(case.base.column(name)).unique()).drop_null().to_pylist()
            for name in case.names(Role.QUASI_IDENTIFIER)
        }
        groups = tuple(name for name in known if case.catalogue[name].conditions)
        asked = Asked(case.request.anchor, tuple(known), values, groups)
        try:
            case.profile = ask(case.around.statistics, asked, case.today)
            reply = "; ".join(case.profile.sources) or "They say nothing of people like these."
            if case.profile.groups:
                reply += f"; within groups by {', '.join(case.profile.groups)}"
            findings = [] if case.profile.sources else findings
        except (InputError, SQLAlchemyError) as error:
            reply = f"The statistics cannot be reached ({type(error).__name__}), so nothing is known."
    case.known = [_known(case, name) for name in case.names(Role.QUASI_IDENTIFIER)]
    case.flagger = Flagger(case.known, case.limits)
    return CheckStep("S4", question, reply, findings=tuple(findings))


def _unknown_population() -> Finding:
    return Finding("population rarity unknown", "How rare these people are in the population is not known.")


def _known(case: Case, name: str) -> KnownAttribute:
    """A quasi-identifier, generalized like everybody's: labels must not tell who was selected."""
    assert case.base is not None
    assert case.everybody is not None
    assert case.profile is not None
    everybody = encode_column(name, plain(case.everybody.column(name)))
    build, originals = case.catalogue[name].hierarchy_for, case.originals.get(name)
    hierarchy = build(everybody) if originals is None else safe_hierarchy(everybody, originals, build)
    case.everybodys[name] = hierarchy.attach(everybody)
    return KnownAttribute(
        case.catalogue[name],
        hierarchy.attach(encode_column(name, plain(case.base.column(name)))),
        hierarchy,
        case.wanted[name].detail,
        price_of_change(case.wanted[name].change_weight),
        case.profile.given_anchor(name),
        case.profile.of_everybody(name),
    )


def s5_flags(case: Case) -> CheckStep:
    """Which values are conspicuous?"""
    assert case.flagger is not None
    assert case.profile is not None
    findings, unknown = [], 0
    for each in case.known:
        level = min(each.least, each.levels.height)
        found = case.flagger.flagged(each.name, level, case.live)
        unknown += bool(found.unknown.any())
        findings += [
            _flag_finding(each, flag, found.people(flag)) for flag in found.flags if found.flags[flag].any()
        ]
    levels = {each.name: min(each.least, each.useful) for each in case.known}
    combinations = pattern(case.known, levels, case.live, case.profile, case.limits.k)
    if combinations.rare:
        findings.append(
            Finding(
                Flag.POPULATION_RARE.value,
                f"{count(combinations.rare, 'combination', 'combinations')} of values are expected of fewer "
                f"than {case.limits.k} people of the reference area{_within(case, combinations)}.",
                people=combinations.people,
                extent=case.damage,
                probability=1 / case.limits.k,
            )
        )
    if unknown or combinations.unknown:
        findings.append(_unknown_population())
    flagged = len({found.attribute for found in findings if found.attribute})
    reply = (
        f"{count(flagged, 'attribute has', 'attributes have')} conspicuous values." if flagged else "None."
    )
    answer = StepResult.CHANGE if flagged or combinations.rare else StepResult.GO_ON
    return CheckStep(
        "S5", "Which values are conspicuous, here or in the population?", reply, answer, tuple(findings)
    )


def _within(case: Case, found: Pattern) -> str:
    """What the replies about groups, such as occupations, have added."""
    if not found.within or case.profile is None:
        return ""
    return f"; {found.within} of them only by what is known of groups by {', '.join(case.profile.groups)}"


FLAG_TEXTS = {
    Flag.UNIQUE: "with a value that nobody else of the selection has",
    Flag.RARE_LOCAL: "with a value that too few of the selection have",
    Flag.RARE_GLOBAL: "with a value that is rare in the population",
    Flag.PEAK: "with a value that is far more, or far less, frequent here than elsewhere",
    Flag.TYPICAL: "with a value that is typical of what they were selected by",
}


PROBABILITY = {
    Flag.UNIQUE: 1.0,
    Flag.RARE_LOCAL: 0.5,
    Flag.RARE_GLOBAL: 0.5,
    Flag.PEAK: 0.1,
    Flag.TYPICAL: 0.1,
}
"""How probably somebody with such a value is recognized (E of R = A × E), by judgement: one who is unique
surely is, one of at least two at best every second time."""


def _flag_finding(each: KnownAttribute, flag: Flag, people: int) -> Finding:
    return Finding(
        flag.value,
        f"{each.attribute.called}: {count(people)} {FLAG_TEXTS[flag]}.",
        each.name,
        people,
        each.attribute.damage,
        PROBABILITY[flag],
    )


def s6_actions(case: Case) -> CheckStep:
    """What has to be done so that nothing is conspicuous any more?"""
    assert case.flagger is not None
    assert case.profile is not None
    assert case.base is not None
    question = "What has to be changed so that no value is conspicuous?"
    chosen = choose(case.known, case.flagger, case.profile, case.limits.k, case.least)
    if chosen is None and case.known:
        reply = "Nothing that keeps enough people clears all flags."
        return CheckStep("S6", question, reply, StepResult.REFUSE)
    case.actions = chosen
    if chosen is None:
        return CheckStep("S6", question, "Nothing that an attacker may know is asked for.")
    told = []
    for each in case.known:
        treatment = _treatment(case, each, chosen.levels.get(each.name))
        if treatment.action is Action.WITHHOLD:
            case.drop(each.name, treatment.reason, Action.WITHHOLD)
        case.treatments[each.name] = treatment
        if treatment.action is not Action.RELEASE:
            least = "" if treatment.action is Action.WITHHOLD else "at least "
            told.append(f"{each.attribute.called}: {least}{treatment.action}")
    gone = int(chosen.deleted.sum())
    if gone:
        told.append(f"{count(gone, 'record is', 'records are')} deleted")
    findings = (
        (Finding("smoothed", "Records outstanding in two or more attributes are deleted.", people=gone),)
        if gone
        else ()
    )
    answer = StepResult.CHANGE if told else StepResult.GO_ON
    return CheckStep("S6", question, "; ".join(told) or "Nothing.", answer, findings)


def _treatment(case: Case, each: KnownAttribute, level: int | None) -> AttributeTreatment:
    if level is None:
        reason = "A value stays conspicuous however far it is generalized."
        return AttributeTreatment(each.name, Action.WITHHOLD, each.levels.height, reason)
    if level == 0:
        return AttributeTreatment(each.name, Action.RELEASE, 0, "No value is conspicuous.")
    if each.depends(case.limits.peak):
        reason = "What people were selected by depends on it, so it is released in ranges."
        return AttributeTreatment(each.name, Action.RANGE, level, reason)
    if level == each.least:
        return AttributeTreatment(each.name, Action.GENERALIZE, level, "The purpose needs no more detail.")
    return AttributeTreatment(each.name, Action.GENERALIZE, level, "Finer values were conspicuous.")
