"""`tarn attack`: replay one attack on a release, list its victims, and repair the release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table

from tarnkappe.cli.arguments import hierarchy_files, parse_parameters
from tarnkappe.cli.background import BackgroundFlags
from tarnkappe.cli.console import output, print_json, progress_bar
from tarnkappe.cli.reading_flags import Options, with_reading_flags
from tarnkappe.cli.remote_option import RemoteOption
from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.hierarchy import read_hierarchy
from tarnkappe.privacy import MODELS, DistinctDiversity
from tarnkappe.report.attack_text import render_attack
from tarnkappe.risk import ATTACKS, Attack, AttackResult, Target
from tarnkappe.risk.attacks import columns_from_people
from tarnkappe.risk.repairs import RepairProposal, propose
from tarnkappe.schema import fields_of
from tarnkappe.table import Table as Data
from tarnkappe.table import read, write

Words = list[str]


@with_reading_flags
def attack(
    name: Annotated[str, typer.Argument(help="The attack; `list` tells which there are and what they need.")],
    release: Annotated[str | None, typer.Argument(help="The released table (CSV, Parquet, ...).")] = None,
    qi: Annotated[Words | None, typer.Option(help="The columns that the attacker may know.")] = None,
    sensitive: Annotated[Words | None, typer.Option(help="The columns that he wants to learn.")] = None,
    against: Annotated[str | None, typer.Option(help="People with what is known of them.")] = None,
    identifier: Annotated[Words | None, typer.Option("--name", help="The column that names them.")] = None,
    history: Annotated[str | None, typer.Option(help="A folder of earlier releases.")] = None,
    rules: Annotated[Path | None, typer.Option(help="Rules: who does not have which value (TOML).")] = None,
    answers: Annotated[Path | None, typer.Option(help="Answers that were given out (TOML).")] = None,
    sensitive_table: Annotated[str | None, typer.Option(help="The second table of Anatomy.")] = None,
    minimal_for: Annotated[
        str | None, typer.Option(help="What it is minimal for: distinct-diversity:column=C,l=2.")
    ] = None,
    hierarchy: Annotated[Words | None, typer.Option(help="How a column generalizes: COLUMN=FILE.")] = None,
    option: Annotated[Words | None, typer.Option(help="A parameter of the attack: k=3.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="How many groups of victims to list; 0 for all.")] = 20,
    repair: Annotated[
        bool, typer.Option("--repair", help="Propose the smallest changes against it.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="With --repair: write the repaired release.", writable=True)
    ] = None,
    remote: RemoteOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    *,
    reading: Options,
) -> None:
    """Replay one attack on a release and list its victims.

    Ends with exit code 1 if there are victims. Without --qi, the attacker knows the columns that the release
    shares with the people.
    """
    if name == "list":
        _list_attacks(as_json)
        return
    kind = ATTACKS[name]
    files = hierarchy_files(hierarchy or ())
    known = BackgroundFlags(
        against=against,
        name=identifier or (),
        history=history,
        rules=rules,
        answers=answers,
        sensitive_table=sensitive_table,
        minimal_for=_minimal(minimal_for),
    )
    if remote is not None:
        from tarnkappe.cli.remote_attack import attack_remotely

        _, parameters = parse_parameters(f"{name}:{','.join(option or ())}")
        asked = {"name": kind.name, **parameters, "limit": limit, "repair": repair or out is not None}
        attack_remotely(
            remote,
            release,
            qi or (),
            sensitive or (),
            files,
            known,
            asked,
            minimal_for,
            reading,
            out,
            as_json,
        )
        return
    if known.has_store:
        raise ParameterError(
            "cli.store-keeps-no-rows",
            "a store keeps no rows to attack: give --history a folder of earlier releases",
        )
    with progress_bar() as progress:

        def read_file(path: str) -> Data:
            return read(path, **reading, progress=progress)

        table = None if release is None else read_file(release)
        people = known.people(read_file, () if table is None else table.column_names)
        hierarchies = {column: read_hierarchy(file) for column, file in files.items()}
        if table is None:
            target = Target(None, known.background(read_file, None, people, hierarchies))
        else:
            table = columns_from_people(table, people, qi or (), sensitive or ())
            target = Target.of(table, known.background(read_file, table, people, hierarchies))
        attacks = _attacks(kind, option or (), target)
        results = [chosen.run(target, shown=limit or None) for chosen in attacks]
        wanted = repair or out is not None
        proposals = [propose(chosen, target) for chosen in attacks] if wanted else None
    if out is not None and proposals is not None:
        _write_repaired(name, proposals, out)
    if as_json:
        print_json(_as_json(release, name, results, proposals))
    else:
        output.print(Group(*render_attack(release or name, results, proposals)))
    if any(result.succeeds for result in results):
        raise typer.Exit(1)


def _minimal(text: str | None) -> DistinctDiversity | None:
    if text is None:
        return None
    model = MODELS.create(*parse_parameters(text))
    if not isinstance(model, DistinctDiversity):
        raise ParameterError(
            "cli.minimal-minimality-known-distinct",
            "--minimal-for {text}: minimality is known for distinct-diversity",
            text=text,
        )
    return model


def _attacks(kind: type[Attack], options: Sequence[str], target: Target) -> list[Attack]:
    """The attack with its parameters, on each sensitive column if it is on one and none is named."""
    _, parameters = parse_parameters(f"{kind.name}:{','.join(options)}")
    on_column = any(field.name == "column" for field in fields_of(kind))
    if not on_column or "column" in parameters:
        return [ATTACKS.create(kind.name, parameters)]
    if not target.sensitive:
        raise ColumnError(
            "cli.learns-sensitive-column-name",
            "{kind} learns a sensitive column: name it with --sensitive COLUMN",
            kind=kind.name,
        )
    return [ATTACKS.create(kind.name, {**parameters, "column": column}) for column in target.sensitive]


def _write_repaired(name: str, proposals: Sequence[Sequence[RepairProposal]], out: Path) -> None:
    """Write the release after the smallest change that stops the attack."""
    if len(proposals) != 1:
        raise ParameterError(
            "cli.name-sensitive-column-repaired",
            "name one sensitive column to be repaired: --option column=COLUMN",
        )
    if not proposals[0]:
        raise NoSolutionError(
            "cli.no-change-release-alone",
            "no change of the release alone stops the attack '{name}', or none is needed",
            name=name,
        )
    write(proposals[0][0].table, out)


def _as_json(
    release: str | None,
    name: str,
    results: Sequence[AttackResult],
    proposals: Sequence[Sequence[RepairProposal]] | None,
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "input": release,
        "attack": name,
        "succeeds": any(result.succeeds for result in results),
        "victims": max((result.victims for result in results), default=0),
        "results": [result.to_dict() for result in results],
    }
    if proposals is not None:
        found["repairs"] = [proposal.to_dict() for some in proposals for proposal in some]
    return found


def _list_attacks(as_json: bool) -> None:
    needs = {kind.name: [str(need) for need in kind.needs] for kind in ATTACKS}
    if as_json:
        print_json({"attacks": needs})
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("attack", "needs", "what the attacker knows"):
        table.add_column(heading)
    for kind in ATTACKS:
        table.add_row(kind.name, ", ".join(need.description for need in kind.needs), kind.knowledge)
    output.print(table)
