"""What a column should be to the one who publishes it: a proposal and the reason for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tarnkappe.risk.identifiers.detector import Finding, phrases
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.table import Role

FREE_TEXT_WORDS = 4
SENSITIVE_WORDS = phrases(
    "diagnosis, diagnose, disease, illness, krankheit, icd, condition, disorder, symptom, "
    "symptoms, treatment, therapy, therapie, medication, drug, prescription, procedure, finding, "
    "befund, hiv, salary, income, gehalt, einkommen, wage, religion, konfession, party, "
    "political, orientation, sexual, offence, crime, conviction, debt, result, outcome, lab, "
    "gene, mutation, addiction"
)
KNOWN_WORDS = phrases(
    "age, alter, sex, gender, geschlecht, race, ethnicity, ethnic, nationality, country, land, "
    "state, region, education, bildung, degree, marital, familienstand, married, children, "
    "household, occupation, job, beruf, profession, workclass, employer, department, industry, "
    "language, birth, year, month, height, weight, hospital, ward, school, citizenship, origin, "
    "status"
)
_ICD = re.compile(r"[A-TV-Z][0-9][0-9AB](?:\.[0-9A-TV-Z]{1,4})?")
_SEXES = frozenset(
    [
        "m",
        "f",
        "w",
        "d",
        "x",
        "male",
        "female",
        "man",
        "woman",
        "männlich",
        "weiblich",
        "divers",
        "other",
        "unknown",
        "u",
    ]
)


def propose_role(column: ColumnView, findings: Sequence[Finding]) -> tuple[Role, str]:
    """The role of a column, and why.

    What was found in it decides first. Then come its values, then its header. What nothing tells anything
    about is proposed as a quasi-identifier: if an attacker may know it, it must not single anybody out.
    """
    if findings:
        strictest = min(findings, key=lambda found: (found.role is not Role.IDENTIFIER, found.kinds))
        return strictest.role, strictest.reason
    if column.is_nested or not column.filled:
        what = "is nested and cannot be protected cell by cell" if column.is_nested else "is empty"
        return (Role.IDENTIFIER if column.is_nested else Role.INSENSITIVE), f"the column {what}"
    if column.distinct == 1:
        return Role.INSENSITIVE, "it says the same of everybody"
    if column.numbers is None and column.words >= FREE_TEXT_WORDS and column.distinct_share > 0.5:
        return Role.IDENTIFIER, "free text: nobody can tell what it gives away, so it should not be released"
    if {text.lower() for text in column.sample} <= _SEXES:
        return Role.QUASI_IDENTIFIER, "the values are sexes, which everybody can see"
    if column.distinct >= 3 and column.share_of(lambda text: bool(_ICD.fullmatch(text))) >= 0.8:
        return Role.SENSITIVE, "the values look like codes of diagnoses (ICD-10)"
    if column.says(SENSITIVE_WORDS):
        return Role.SENSITIVE, "the header speaks of what people want to keep to themselves"
    if column.says(KNOWN_WORDS):
        return Role.QUASI_IDENTIFIER, "the header speaks of what neighbours and colleagues may know"
    return (
        Role.QUASI_IDENTIFIER,
        f"{column.distinct:,} different values that nothing explains: an attacker may know them",
    )
