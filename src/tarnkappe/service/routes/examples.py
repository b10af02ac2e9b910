"""One example of each kind of job, for the OpenAPI document; the tests run them."""

from __future__ import annotations

from typing import Any

FILE = "0f8fad5bd9cb469fa16570867728950e"
COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [5, 10, 20]}},
    "sex": {"role": "quasi-identifier"},
    "postcode": {"role": "quasi-identifier"},
    "diagnosis": {"role": "sensitive"},
}
KNOWN = {name: {"role": said["role"]} for name, said in COLUMNS.items()}
PRIVACY = [{"model": "k-anonymity", "k": 5}]
JOB = {
    "input": {"file": FILE},
    "columns": COLUMNS,
    "privacy": PRIVACY,
    "search": {"loss": "entropy", "suppression_limit": 0.05},
}


def _example(summary: str, kind: str, document: dict[str, Any]) -> dict[str, Any]:
    return {"summary": summary, "value": {"kind": kind, "document": document}}


JOB_EXAMPLES: dict[str, Any] = {
    "anonymize": _example("Publish a table with a guarantee", "anonymize", JOB),
    "check": _example(
        "Which guarantees does a table have?",
        "check",
        {"input": {"file": FILE}, "columns": KNOWN, "privacy": PRIVACY, "check": {"safe_harbor": True}},
    ),
    "attack": _example(
        "Replay an attack on a release",
        "attack",
        {"input": {"file": FILE}, "columns": KNOWN, "attack": {"name": "homogeneity", "limit": 10}},
    ),
    "compare": _example(
        "Several methods side by side", "compare", {**JOB, "compare": {"methods": ["auto", "mondrian"]}}
    ),
    "lattice": _example("Every combination of levels", "lattice", JOB),
    "alternatives": _example("Other releases that are nearly as good, in words", "alternatives", JOB),
    "utility": _example("What a release is still good for", "utility", {**JOB, "release": {"file": FILE}}),
    "sql": _example(
        "A query with anonymization inside",
        "sql",
        {
            "query": "SELECT age, diagnosis FROM generalize(patients, k => 5, by => [age])",
            "relations": {"patients": {"file": FILE}},
            "columns": {"age": COLUMNS["age"]},
        },
    ),
    "profile": _example("What the columns seem to be", "profile", {"input": {"file": FILE}}),
    "propose": _example(
        "A whole release of a table that nobody has described",
        "propose",
        {"input": {"file": FILE}, "proposal": {"for": "partner", "sensitive": ["diagnosis"]}},
    ),
    "hierarchy": _example(
        "How a column would generalize",
        "hierarchy",
        {"input": {"file": FILE}, "column": "age", "hierarchy": {"builder": "intervals", "width": [5, 10]}},
    ),
    "gate-proof": _example("Prove what a gate has answered", "gate-proof", {"gate": "clinic"}),
    "request-check": _example(
        "Check a request of the exchange", "request-check", {"site": "north", "request": "6b86b273ff34fce1"}
    ),
    "federate": _example("Run a federation", "federate", {"federation": "registry", "run": "2026-11"}),
}
