"""`tarn verify`: check the certificate of a release, by the checker that shares no code with what made it."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.errors import InputError
from tarnkappe.verifier import checker


def verify(
    certificate: Annotated[Path, typer.Argument(help="The certificate of a release.")],
    release: Annotated[Path, typer.Option(help="The release, as CSV.")],
    source: Annotated[Path | None, typer.Option("--input", help="The input, as CSV.")] = None,
    hierarchies: Annotated[Path | None, typer.Option(help="A folder of COLUMN.csv to compare.")] = None,
    encoding: Annotated[str, typer.Option(help="Of the input.")] = "utf-8",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Prove what a release promises; with the input, also that cells are true and no levels lose less.

    Exit codes: 0 proven, 1 a claim is false, 2 a file cannot be used, 3 not false, but not proven either.
    """
    for path in filter(None, (certificate, release, source, hierarchies)):
        if not path.exists():
            raise InputError("cli.verify-no-file", "{path}: there is no such file", path=path)
    gc.disable()  # as the checker itself does when it is run alone
    words = [str(certificate), "--release", str(release), "--encoding", encoding]
    words += ["--input", str(source)] if source else []
    words += ["--hierarchies", str(hierarchies)] if hierarchies else []
    raise typer.Exit(checker.main([*words, *["--json"] * as_json]))
