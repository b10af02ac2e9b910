"""`tarn demo`: everything at once on built-in data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli.console import errors, output, print_json, progress_bar
from tarnkappe.errors import InputError, ParameterError
from tarnkappe.hierarchy import Hierarchy, write_hierarchy
from tarnkappe.job import Job, run
from tarnkappe.risk import check
from tarnkappe.table import Role, write
from tarnkappe.table.examples import hospital
from tarnkappe.table.overwriting import one_run

ROWS = 10_000
MARK = "# The job of tarn demo."
FILES = (
    "hospital.csv",
    "hierarchies",
    "job.toml",
    "release.csv",
    "report.html",
    "release.csv.certificate.json",
    "release.csv.manifest.json",
)


def demo(
    folder: Annotated[
        Path, typer.Option("--out", help="Where the demo writes its files.", writable=True)
    ] = Path("tarnkappe-demo"),
    rows: Annotated[int, typer.Option(help="How many patients.")] = ROWS,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Anonymize a made-up hospital and write an HTML report."""
    _refuse_foreign(folder)
    with one_run(replace=True):  # of an earlier demo
        _make(folder, rows, as_json)


def _make(folder: Path, rows: int, as_json: bool) -> None:
    say = (errors if as_json else output).print
    try:
        (folder / "hierarchies").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "cli.cannot-make-folder",
            "cannot make the folder {folder}: {strerror}",
            folder=folder,
            strerror=error.strerror,
        ) from None
    say(f"[bold]1[/] Making {rows:,} patients of a hospital that does not exist.")
    example = hospital(rows=rows, seed=1)
    roles = dict(example.table.roles) | {"birth_date": Role.IDENTIFIER}  # the age says enough
    patients = example.table.with_roles(roles)
    write(patients, folder / "hospital.csv")
    for name, levels in example.hierarchies.items():
        write_hierarchy(Hierarchy.from_rows(levels), folder / "hierarchies" / f"{name}.csv")
    (folder / "job.toml").write_text(_job_file(patients.roles, set(example.hierarchies)), encoding="utf-8")

    before = check(patients)
    say(
        f"[bold]2[/] Checking it: {before.sizes.uniques:,} of {before.rows:,} patients are the only ones "
        f"with their {', '.join(patients.quasi_identifiers)}: who knows these learns the diagnosis."
    )
    say("[bold]3[/] Searching for the least loss that protects them.")
    with progress_bar() as progress:
        result = run(Job.load(folder / "job.toml"), progress=progress)
    if as_json:
        print_json(result.to_dict() | {"report": str(folder / "report.html"), "folder": str(folder)})
        return
    say("[bold]4[/] Released and verified:\n")
    output.print(str(result), highlight=False)
    output.print(
        f"\nThe report: [bold]{folder / 'report.html'}[/]\n"
        f"The release: {folder / 'release.csv'}, the job: {folder / 'job.toml'}\n"
        f"Try: tarn check {folder / 'release.csv'} --qi {' --qi '.join(patients.quasi_identifiers)}",
        highlight=False,
    )


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder with files of somebody else under the names of the demo's."""
    job = folder / "job.toml"
    try:
        own = job.read_text(encoding="utf-8").startswith(MARK)
    except (OSError, UnicodeDecodeError):
        own = False
    there = [name for name in FILES if (folder / name).exists()]
    if there and not own:
        raise ParameterError(
            "cli.files-own-choose-another-folder",
            "{folder} has files of its own ({there}): choose another folder with --out",
            folder=folder,
            there=", ".join(there),
        )


def _job_file(roles: Mapping[str, Role], with_hierarchy: set[str]) -> str:
    lines = [MARK, "[input]", 'path = "hospital.csv"', ""]
    for name, role in roles.items():
        lines += [f'[columns."{name}"]', f'role = "{role}"']
        if name in with_hierarchy and role is not Role.IDENTIFIER:
            lines.append(f'hierarchy = "hierarchies/{name}.csv"')
        lines.append("")
    return "\n".join([*lines, PROMISES])


PROMISES = """\
[[privacy]]
model = "k-anonymity"
k = 5

[[privacy]]
model = "entropy-diversity"
column = "diagnosis"
l = 3.0

[search]
loss = "loss"
suppression_limit = 0.05

[output]
path = "release.csv"
report = "report.html"
"""
