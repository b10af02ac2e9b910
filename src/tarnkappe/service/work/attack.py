"""Replay one attack on a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.job import Job
from tarnkappe.report.attack_text import render_attack
from tarnkappe.risk import ATTACKS, Attack, Target
from tarnkappe.risk.attacks import NOTHING
from tarnkappe.risk.repairs import propose
from tarnkappe.schema import fields_of
from tarnkappe.service.work.documents import RestAttack
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome, in_words
from tarnkappe.service.work.knowledge import (
    background,
    hierarchies_of,
    people_of,
    roles_from_people,
)
from tarnkappe.table import Role, Table, write

SHOWN = 20
REPAIRED = "repaired.parquet"


class AttackRelease(JobKind):
    """Replay one attack, list its victims, and propose repairs."""

    name = "attack"
    document = RestAttack

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        name, parameters, _, _ = _asked(document)
        unknown = set(parameters) - {field.name for field in fields_of(ATTACKS[name])}
        if unknown:
            raise ParameterError(
                "service.attack-no-parameter",
                "the attack '{name}' has no parameter '{unknown}'",
                name=name,
                unknown=min(unknown),
            )
        if "input" in document:
            _job(document)

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        name, parameters, limit, repair = _asked(document)
        target = _target(document, work)
        attacks = _attacks(name, parameters, target)
        results = [attack.run(target, shown=limit or None) for attack in attacks]
        proposals = [propose(attack, target) for attack in attacks] if repair else None
        figures: dict[str, Any] = {
            "attack": name,
            "succeeds": any(result.succeeds for result in results),
            "victims": max((result.victims for result in results), default=0),
            "results": [result.to_dict() for result in results],
        }
        files = {}
        if proposals is not None:
            figures["repairs"] = [proposal.to_dict() for some in proposals for proposal in some]
            if len(proposals) == 1 and proposals[0]:
                write(proposals[0][0].table, work.folder / REPAIRED)
                files["repaired"] = REPAIRED
        shown = work.name_of(document["input"]) if "input" in document else name
        text = in_words(Group(*render_attack(shown, results, proposals)))
        return JobOutcome(figures, text, exit_code=1 if figures["succeeds"] else 0, files=files)


def _asked(document: Mapping[str, Any]) -> tuple[str, dict[str, Any], int, bool]:
    """The name of the attack, its parameters, how many victims to list, and whether to repair."""
    said = dict(document.get("attack", {}))
    name, limit, repair = said.pop("name", None), said.pop("limit", SHOWN), said.pop("repair", False)
    if not isinstance(name, str):
        raise ParameterError(
            "service.attack-names-no-attack",
            "[attack] names no attack: there are {names}",
            names=", ".join(ATTACKS.names),
        )
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise ParameterError(
            "service.attack-limit-whole-number",
            "[attack]: limit is a whole number of at least 0, not {limit!r}",
            limit=limit,
        )
    return ATTACKS[name].name, said, limit, bool(repair)


def _job(document: Mapping[str, Any]) -> Job:
    return Job.from_dict({"input": document["input"], "columns": document.get("columns", {})})


def _target(document: Mapping[str, Any], work: JobContext) -> Target:
    if "input" not in document:
        people = people_of(document, (), work.progress)
        return Target(None, background(document, None, people, {}, work.progress) or NOTHING)
    job = _job(document)
    table: Table = job.read_input(work.progress)
    people = people_of(document, table.column_names, work.progress)
    table = roles_from_people(table, people)
    if not table.quasi_identifiers:
        raise ColumnError(
            "service.name-columns-attacker-may-know",
            "name the columns that an attacker may know: give them the role {quasi_identifier}",
            quasi_identifier=Role.QUASI_IDENTIFIER,
        )
    hierarchies = hierarchies_of(job, table, (*table.quasi_identifiers, *table.sensitive))
    return Target.of(table, background(document, table, people, hierarchies, work.progress) or NOTHING)


def _attacks(name: str, parameters: dict[str, Any], target: Target) -> list[Attack]:
    """The attack with its parameters, on each sensitive column if it is on one and none is named."""
    on_column = any(field.name == "column" for field in fields_of(ATTACKS[name]))
    if not on_column or "column" in parameters:
        return [ATTACKS.create(name, parameters)]
    if not target.sensitive:
        raise ColumnError(
            "service.learns-sensitive-column-give",
            "{name} learns a sensitive column: give one the role {sensitive}",
            name=name,
            sensitive=Role.SENSITIVE,
        )
    return [ATTACKS.create(name, {**parameters, "column": column}) for column in target.sensitive]
