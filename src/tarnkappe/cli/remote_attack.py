"""`tarn attack --remote`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from tarnkappe.cli.arguments import parse_parameters
from tarnkappe.cli.background import BackgroundFlags
from tarnkappe.cli.console import progress_bar
from tarnkappe.cli.remote import Remote, tell
from tarnkappe.cli.remote_check import columns_of, known_there
from tarnkappe.errors import NoSolutionError, ParameterError


def attack_remotely(
    url: str,
    release: str | None,
    qi: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Path],
    knowledge: BackgroundFlags,
    asked: Mapping[str, Any],
    minimal_for: str | None,
    reading: Mapping[str, Any],
    out: Path | None,
    as_json: bool,
) -> None:
    """Replay an attack at a service."""
    document: dict[str, Any] = {"attack": asked}
    with Remote(url) as there, progress_bar() as progress:
        if release is not None:
            document["input"] = there.source({"path": release, **reading})
            document["columns"] = there.columns(columns_of(qi, sensitive, hierarchies))
        if knowledge.history is not None:
            if not Path(knowledge.history).is_dir():
                raise ParameterError(
                    "cli.history-give-folder-earlier-releases",
                    "--history {history}: give a folder of earlier releases",
                    history=knowledge.history,
                )
            files = sorted(path for path in Path(knowledge.history).iterdir() if path.name[0] != ".")
            document["earlier"] = [there.file(path) for path in files if path.suffix != ".json"]
        if minimal_for is not None:
            model, parameters = parse_parameters(minimal_for)
            document["minimal_for"] = {"model": model, **parameters}
        document |= known_there(there, knowledge)
        found = there.run("attack", document, progress)
        if out is not None:
            if "repaired" not in found["files"]:
                raise NoSolutionError(
                    "cli.no-change-release-alone-stops",
                    "no change of the release alone stops the attack, or none is needed",
                )
            there.take_table("repaired", out)
    tell({**found, "figures": {"input": release, **found["figures"]}}, as_json)
    if found["exit_code"]:
        raise typer.Exit(found["exit_code"])
