"""`tarn check --remote`: what its flags say, as a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from tarnkappe.cli.background import BackgroundFlags
from tarnkappe.cli.column_flags import accept_too
from tarnkappe.cli.console import progress_bar
from tarnkappe.cli.remote import Remote, refuse_local, tell
from tarnkappe.job import read_job_file
from tarnkappe.schema.written import read_toml
from tarnkappe.table import Role


def check_remotely(
    url: str,
    data: str,
    qi: Sequence[str],
    sensitive: Sequence[str],
    population: str | None,
    hierarchies: Mapping[str, Path],
    models: Sequence[Mapping[str, Any]],
    knowledge: BackgroundFlags,
    passed: Mapping[str, Any],
    asked: Mapping[str, Any],
    reading: Mapping[str, Any],
    html: Path | None,
    as_json: bool,
) -> None:
    """Check a table, or the input of a job file, at a service."""
    refuse_local(history=knowledge.history, key=knowledge.key)
    measures = [{"name": name, **parameters} for name, parameters in asked["measures"].items()]
    with Remote(url) as there, progress_bar() as progress:
        if data.lower().endswith(".toml"):
            taken = ("input", "population", "columns", "privacy")
            content = {key: v for key, v in read_job_file(data).items() if key in taken}
            accept_too(content, passed)
            document = there.job(content, Path(data).parent)
        else:
            said: dict[str, Any] = {"columns": columns_of(qi, sensitive, hierarchies)}
            accept_too(said, passed)
            document = {
                "input": there.source({"path": data, **reading}),
                "columns": {"unnamed": "publish", **there.columns(said["columns"])},
                "privacy": list(models),
            }
            if population is not None:
                document["population"] = there.file(population)
        document["check"] = {**asked, "measures": measures}
        document |= known_there(there, knowledge)
        found = there.run("check", document, progress)
        if html is not None:
            there.take("report", html)
    tell({**found, "figures": {"input": data, **found["figures"]}}, as_json)
    if found["exit_code"]:
        raise typer.Exit(found["exit_code"])


def columns_of(
    qi: Sequence[str], sensitive: Sequence[str], hierarchies: Mapping[str, Path]
) -> dict[str, dict[str, Any]]:
    """Sections of columns as flags say them."""
    roles = dict.fromkeys(qi, Role.QUASI_IDENTIFIER) | dict.fromkeys(sensitive, Role.SENSITIVE)
    columns: dict[str, dict[str, Any]] = {name: {"role": str(role)} for name, role in roles.items()}
    for name, file in hierarchies.items():
        columns.setdefault(name, {})["hierarchy"] = str(file.absolute())
    return columns


def known_there(there: Remote, knowledge: BackgroundFlags) -> dict[str, Any]:
    """What an attacker has beside a table, as sections of a document."""
    document: dict[str, Any] = {}
    if knowledge.against is not None:
        document["people"] = there.source({"path": knowledge.against, "names": list(knowledge.name) or None})
    for section, key, path in (("rules", "rule", knowledge.rules), ("answers", "answer", knowledge.answers)):
        if path is not None:
            document[section] = _entries(path, key)
    if knowledge.sensitive_table is not None:
        document["sensitive_table"] = there.file(knowledge.sensitive_table)
    return document


def _entries(path: Path, key: str) -> Any:
    return read_toml(path).get(key, [])
