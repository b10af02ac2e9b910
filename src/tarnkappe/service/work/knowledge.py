"""What an attacker has beside a table, as documents say it: people, earlier releases, rules, answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job import InputSource, Job
from tarnkappe.job.sections import create_model
from tarnkappe.privacy import DistinctDiversity
from tarnkappe.risk.attacks import Background, columns_from_people
from tarnkappe.risk.background_files import answers_of, rules_of
from tarnkappe.table import Table, encode
from tarnkappe.table.encoding import Progress

KNOWLEDGE = ("people", "earlier", "rules", "answers", "sensitive_table", "minimal_for")


def people_of(document: Mapping[str, Any], release: Sequence[str], progress: Progress) -> Table | None:
    """People with what is known of them, named by some columns, or by the first that the release lacks."""
    if "people" not in document:
        return None
    said = dict(document["people"])
    names = said.pop("names", None)
    table = InputSource(**said).read(progress)
    others = [name for name in table.column_names if name not in release]
    return table.with_roles(identifiers=[table.require(name) for name in names] if names else others[:1])


def roles_from_people(table: Table, people: Table | None) -> Table:
    """Where no column is a quasi-identifier, an attacker knows those that are known of people."""
    if table.quasi_identifiers or people is None:
        return table
    return columns_from_people(table, people, (), table.sensitive)


def hierarchies_of(job: Job, table: Table, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies of some columns, where the document has them."""
    planned = [name for name in columns if name in job.columns and job.columns[name].hierarchy is not None]
    made = {name: job.columns[name].hierarchy_for(column) for name, column in encode(table, planned).items()}
    return {name: hierarchy for name, hierarchy in made.items() if hierarchy is not None}


def background(
    document: Mapping[str, Any],
    table: Table | None,
    people: Table | None,
    hierarchies: Mapping[str, Hierarchy],
    progress: Progress,
) -> Background | None:
    """All that the document says; None if that is nothing."""
    if not any(key in document for key in KNOWLEDGE):
        return None
    answers, listings = (
        answers_of({"answer": document["answers"]}, "answers") if "answers" in document else ((), ())
    )
    second = document.get("sensitive_table")
    return Background(
        people=people,
        earlier={} if table is None else _earlier(document, table, progress),
        rules=rules_of({"rule": document["rules"]}, "rules") if "rules" in document else (),
        answers=answers,
        listings=listings,
        sensitive_table=None if second is None else InputSource(**second).read(progress),
        minimal_for=_minimal(document),
        hierarchies=hierarchies,
    )


def _earlier(document: Mapping[str, Any], release: Table, progress: Progress) -> dict[str, Table]:
    earlier = {}
    for place, said in enumerate(document.get("earlier", ()), start=1):
        table = InputSource(**said).read(progress)
        known = [name for name in release.quasi_identifiers if name in table.column_names]
        wanted = [name for name in release.sensitive if name in table.column_names]
        if not known:
            raise ParameterError(
                "service.earlier-release-none-columns",
                "earlier release {place} has none of the columns that an attacker knows",
                place=place,
            )
        earlier[f"release {place}"] = table.with_roles(quasi_identifiers=known, sensitive=wanted)
    return earlier


def _minimal(document: Mapping[str, Any]) -> DistinctDiversity | None:
    if "minimal_for" not in document:
        return None
    model = create_model(document["minimal_for"])
    if not isinstance(model, DistinctDiversity):
        raise ParameterError(
            "service.minimal-minimality-known-distinct",
            "minimal_for: minimality is known for distinct-diversity",
        )
    return model
