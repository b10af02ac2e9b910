"""`tarn pseudonymize`: replace the columns that say who somebody is by a pseudonym, and make keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tarnkappe.cli.console import output, print_json, progress_bar, say_first_seen
from tarnkappe.cli.reading_flags import Options, with_reading_flags
from tarnkappe.errors import OutputError, ParameterError
from tarnkappe.pseudonym import (
    KeyPair,
    OneWay,
    Registrar,
    Reversible,
    Vault,
    pseudonymize_linked,
)
from tarnkappe.pseudonym import pseudonymize as replace_identifiers
from tarnkappe.pseudonym.identity import identities
from tarnkappe.pseudonym.linkage import Links, check_review, evaluate, read_decisions, write_review
from tarnkappe.pseudonym.vault.lookups import LookupApproval, require_lookup
from tarnkappe.state import Key
from tarnkappe.table import Table, read, write
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import format_of, writable

Words = list[str]
PUBLIC_KEY = "public-key"
"""How the file of a public key begins: a private one must not be taken for it and handed around."""


class PseudonymMode(StrEnum):
    """How pseudonyms are made."""

    ONE_WAY = "one-way"
    REVERSIBLE = "reversible"
    VAULT = "vault"


@with_reading_flags
def pseudonymize(
    data: Annotated[
        Words | None, typer.Argument(help="The table (CSV, Parquet, ...); several with --link.")
    ] = None,
    column: Annotated[Words | None, typer.Option(help="The columns that say who it is.")] = None,
    mode: Annotated[
        PseudonymMode, typer.Option(help="Who can go back: nobody, the key, or two people.")
    ] = PseudonymMode.ONE_WAY,
    key: Annotated[Path | None, typer.Option(help="The key; in mode vault, that of --as.")] = None,
    project: Annotated[str | None, typer.Option(help="Pseudonyms of two projects cannot be joined.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write it; with --link a folder.", writable=True)
    ] = None,
    into: Annotated[str, typer.Option(help="The name of the new column.")] = "pseudonym",
    vault: Annotated[str | None, typer.Option(help="Mode vault: the file or database it is in.")] = None,
    person: Annotated[str | None, typer.Option("--as", help="Mode vault: the registrar you are.")] = None,
    link: Annotated[
        bool, typer.Option("--link", help="Mode vault: find misspelled people in several tables.")
    ] = False,
    review: Annotated[
        Path | None, typer.Option(help="With --link: write doubtful pairs (CSV, JSON).", writable=True)
    ] = None,
    decisions: Annotated[Path | None, typer.Option(help="With --link: such a list, filled in.")] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="With --link: such a list of pairs that are known; says how good the linkage is."),
    ] = None,
    approved_by: Annotated[
        str | None, typer.Option(help="Mode vault: the approver who agrees to a small or known table.")
    ] = None,
    approver_key: Annotated[Path | None, typer.Option(help="Her key.")] = None,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="Do not shuffle the rows.")] = False,
    new_key: Annotated[
        list[Path] | None, typer.Option(help="Only make new keys, in these files.", writable=True)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    *,
    reading: Options,
) -> None:
    """Replace the columns that say who somebody is by a pseudonym.

    Pseudonyms are no anonymity: check what is left with `tarn check`.
    """
    if new_key:
        _make_keys(new_key, as_json)
        return
    if not data or not column or key is None or project is None or out is None:
        raise ParameterError(
            "cli.say-what-how-tarn",
            "say what and how: tarn pseudonymize DATA --column C --key K --project P --out F",
        )
    if (
        (vault is None or person is None)
        if mode is PseudonymMode.VAULT
        else (vault is not None or person is not None)
    ):
        raise ParameterError(
            "cli.vault-name-belong-mode", "--vault and --as NAME belong to --mode vault, and it needs both"
        )
    if link is not (len(data) > 1) or (link and mode is not PseudonymMode.VAULT):
        raise ParameterError(
            "cli.several-tables-linked-give",
            "several tables are linked: give --link and --mode vault, which remembers spellings",
        )
    if not link and (review or decisions or labels):
        raise ParameterError(
            "cli.review-decisions-labels-belong", "--review, --decisions and --labels belong to --link"
        )
    if (approved_by is None) is not (approver_key is None) or (
        approved_by and mode is not PseudonymMode.VAULT
    ):
        raise ParameterError(
            "cli.approved-name-approver-key",
            "--approved-by NAME and --approver-key FILE belong together and to --mode vault",
        )
    if review is not None:
        check_review(review)
    targets = _targets(data, out, link)
    secret = Key.load(key)
    with progress_bar() as progress:
        tables = [read(source, **reading, progress=progress) for source in data]
        for table in tables:
            for name in column:
                table.require(name)
        links, measured = None, None
        if mode is PseudonymMode.VAULT and vault is not None and person is not None:
            with Vault.open(vault, project, say_first_seen) as opened:
                desk = Registrar(opened, person, secret, progress)
                agreed = None
                if approved_by is not None and approver_key is not None:
                    agreed = LookupApproval(approved_by, Key.load(approver_key))
                people = [identities(table, column) for table in tables]
                require_lookup(opened, desk, [one for some in people for one in some if one], agreed)
                if link:
                    if labels is not None:
                        sources = [dict.fromkeys(one for one in some if one) for some in people]
                        measured = evaluate(sources, desk.fields, read_decisions(labels, desk.fields))
                    known = None if decisions is None else read_decisions(decisions, desk.fields)
                    results, links = pseudonymize_linked(
                        tables,
                        [column] * len(tables),
                        desk,
                        decisions=known,
                        into=into,
                        shuffle=not keep_order,
                        progress=progress,
                    )
                    if review is not None:
                        write_review(review, links.doubts, desk.fields)
                else:
                    results = [
                        replace_identifiers(tables[0], column, desk, into=into, shuffle=not keep_order)
                    ]
        else:
            method = (OneWay if mode is PseudonymMode.ONE_WAY else Reversible)(secret, project)
            results = [replace_identifiers(tables[0], column, method, into=into, shuffle=not keep_order)]
        _write(results, targets, progress)
    told = _figures(results, targets, into, mode, project, links)
    if measured is not None:
        told["evaluation"] = [dataclasses.asdict(each) for each in measured]
    if as_json:
        print_json(told)
    else:
        _say(told, review)


def _make_keys(paths: Sequence[Path], as_json: bool) -> None:
    """Each key with its public part beside it, both of them new."""
    public_paths = [path.with_name(f"{path.name}.pub") for path in paths]
    for path in (*paths, *public_paths):
        if path.exists():
            raise OutputError(
                "cli.file-already-key-never",
                "{path}: there is a file already, and a key is never overwritten",
                path=path,
            )
    for path, public_path in zip(paths, public_paths, strict=True):
        pair = KeyPair.of(Key.create(path))
        public_path.write_text(f"{PUBLIC_KEY} {pair.public.hex()}\n", encoding="ascii")
    if as_json:
        keys = [
            {"key": str(path), "public": str(public)}
            for path, public in zip(paths, public_paths, strict=True)
        ]
        print_json({"keys": keys})
        return
    for path in paths:
        output.print(f"the key, for nobody but its owner: {path}", highlight=False, soft_wrap=True)
        output.print(f"its public part, for who keeps a vault: {path}.pub", highlight=False, soft_wrap=True)


def _targets(data: Sequence[str], out: Path, link: bool) -> list[Path]:
    if link and not out.is_dir():
        raise ParameterError(
            "cli.several-tables-go-folder",
            "{out}: several tables go into a folder: create it and name it",
            out=out,
        )
    targets = [out / Path(source).name for source in data] if link else [out]
    if len({target.name for target in targets}) < len(targets):
        raise ParameterError(
            "cli.two-tables-same-file", "two of the tables have the same file name: rename one"
        )
    for source, target in zip(data, targets, strict=True):
        format_of(writable(target))
        if Path(source).resolve() == target.resolve():
            raise ParameterError(
                "cli.input-never-overwritten-name",
                "{target}: this is the input, which is never overwritten: name another file",
                target=target,
            )
    return targets


def _write(results: Sequence[Table], targets: Sequence[Path], progress: Progress) -> None:
    for result, target in zip(results, targets, strict=True):
        write(result, target, progress=progress)


def _figures(
    results: Sequence[Table],
    targets: Sequence[Path],
    into: str,
    mode: PseudonymMode,
    project: str,
    links: Links | None,
) -> dict[str, Any]:
    cells = [result.data.column(into) for result in results]
    people = {cell for column in cells for cell in column.to_pylist() if cell is not None}
    told: dict[str, Any] = {
        "mode": str(mode),
        "project": project,
        "rows": sum(result.num_rows for result in results),
        "people": len(people),
        "without": sum(column.null_count for column in cells),
        "output": [str(target) for target in targets] if links else str(targets[0]),
    }
    if links is not None:
        told |= {"linked": len(links.sure), "doubtful": len(links.doubts), "compared": links.compared}
    return told


def _say(told: dict[str, Any], review: Path | None) -> None:
    lines = [f"{told['rows']:,} rows of {told['people']:,} people have a pseudonym ({told['mode']})"]
    if told["without"]:
        lines[0] = f"{told['rows'] - told['without']:,} of {lines[0]}"
        lines.append(f"{told['without']:,} rows do not say who it is, and have none")
    if "linked" in told:
        lines.append(f"{told['linked']:,} pairs of spellings were linked, {told['doubtful']:,} are doubtful")
        if review is not None:
            lines.append(f"decide the doubtful ones in {review} and give it back with --decisions")
        elif told["doubtful"]:
            lines.append("--review FILE writes the doubtful ones for a person to decide")
    for each in told.get("evaluation", ()):
        precision = "-" if each["precision"] is None else f"{each['precision']:.3f}"
        lines.append(
            f"linked from a chance of {each['chance']:g} on: precision {precision}, recall "
            f"{each['recall']:.3f}, with doubtful pairs {each['shown']:.3f} ({each['doubts']:,} of them)"
        )
    outputs = told["output"] if isinstance(told["output"], list) else [told["output"]]
    lines += [f"written to {place}" for place in outputs]
    lines.append("pseudonyms are no anonymity: tarn check tells what the other columns give away")
    for line in lines:
        output.print(line, highlight=False, soft_wrap=True, markup=False)
