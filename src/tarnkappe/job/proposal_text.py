"""A proposal in words: for the terminal, for a notebook, and as a job file to be changed by hand.

No cell of the table is in any of them, but for the words of a hierarchy that a person has given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.drawing import html_table
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Builder, CodeSystem, DatesBuilder, Intervals
from tarnkappe.hierarchy.builder import inline_table, toml_key, toml_value
from tarnkappe.hierarchy.code_systems import System
from tarnkappe.job.paths import default_outputs
from tarnkappe.privacy import DistinctDiversity, KAnonymity, MultiRelationalKAnonymity
from tarnkappe.table import Role, Table
from tarnkappe.table.files import STDIN, replace_atomically
from tarnkappe.table.formats.address import is_address
from tarnkappe.table.ownership import JOB_MARK
from tarnkappe.table.reading import Reading

if TYPE_CHECKING:
    from tarnkappe.job.proposal import ColumnProposal, ReleaseProposal

Words = Callable[[str], str]
"""Says an English sentence or phrase in the language of the reader."""
LONGEST_NAME = 24
LONGEST_REASON = 70


def proposal_text(proposal: ReleaseProposal, words: Words = str) -> str:
    """The proposal for a terminal: a line for the file, for each column, and for the promise."""
    return "\n".join(
        [
            f"{proposal.source or words('the table')}: {size_text(proposal, words)}",
            *column_lines(proposal, words),
            *(f"{words('note')}: {words(note)}" for note in proposal.notes),
            *map(words, guess_lines(proposal)),
            f"{words('promise')}: {promise_text(proposal, words)}",
            words(method_text(proposal)),
        ]
    )


def size_text(proposal: ReleaseProposal, words: Words = str) -> str:
    """How large the table is, and how it was read."""
    reading, table = proposal.table.reading, proposal.table
    size = words(f"{table.num_rows:,} rows, {len(table.column_names)} columns.")
    if reading is None:
        return size
    return f"{size} {words('Read as')} {', '.join(map(words, reading.parts))}."


def column_lines(proposal: ReleaseProposal, words: Words = str) -> list[str]:
    """One line a column: its name, what becomes of it, why, and whether that is a guess."""
    names = [_cut(column.name, LONGEST_NAME) for column in proposal.columns]
    fates = [words(fate(proposal, column)) for column in proposal.columns]
    wide, far = max(map(len, names)), max(map(len, fates))
    whys = [
        (f"{words('GUESS')}: " if each.is_guess else "") + _cut(words(each.reason), LONGEST_REASON)
        for each in proposal.columns
    ]
    return [
        f"  {name:{wide}}  {what:{far}}  {why}" for name, what, why in zip(names, fates, whys, strict=True)
    ]


def guess_lines(proposal: ReleaseProposal) -> list[str]:
    """What somebody should look at, or nothing."""
    guesses = proposal.guesses
    if not guesses:
        return []
    number = "1 guess" if len(guesses) == 1 else f"{len(guesses)} guesses"
    return [f"please look at {number}: {', '.join(guesses)}"]


def fate(proposal: ReleaseProposal, column: ColumnProposal) -> str:
    """What becomes of a column."""
    if column.is_left_out:
        return "left out"
    if column.role is Role.SENSITIVE:
        least = [
            m.l for m in proposal.privacy if isinstance(m, DistinctDiversity) and m.column == column.name
        ]
        return f"kept; {least[0]} values in every group" if least else "kept, NOT PROTECTED"
    if column.role is Role.INSENSITIVE:
        return "kept as it is"
    return "generalized" if column.builder is None else f"generalized: {steps(column.builder)}"


def steps(builder: Builder) -> str:
    """The steps of a hierarchy in a few words that name no value."""
    if isinstance(builder, DatesBuilder):
        return ", ".join(builder.levels)
    if isinstance(builder, Intervals) and builder.width is not None:
        widths = builder.width if isinstance(builder.width, tuple | list) else (builder.width,)
        return f"steps of {', '.join(f'{width:g}' for width in widths)}"
    if isinstance(builder, CodeSystem):
        return STEPS_OF_SYSTEMS[builder.system]
    return STEPS.get(builder.name, builder.name)


STEPS = {
    "root": "shown or hidden",
    "masking": "first characters",
    "frequent": "frequent values keep their names",
    "ranges": "neighbours joined",
    "ordered": "neighbours joined",
    "intervals": "intervals that widen",
}
"""The steps of builders whose parameters say nothing more to people."""
STEPS_OF_SYSTEMS = {
    System.COUNTRIES: "regions of the world",
    System.US_STATES: "divisions, regions",
    System.GERMAN_STATES: "parts of the country",
    System.ICD_10: "three characters, blocks, chapters",
    System.ISCO_08: "first digits",
    System.POSTCODES: "first characters",
    System.CLOCK: "hours, quarters of the day",
    System.FEET: "steps of 2, 4, 12 inches",
}


def promise_text(proposal: ReleaseProposal, words: Words = str) -> str:
    """What is promised, and the risk that stays."""
    parts = []
    for model in proposal.privacy:
        if isinstance(model, KAnonymity):
            parts.append(
                f"every row shares what others may know with at least {model.k - 1} other rows "
                f"(k = {model.k}): a guess whose row it is is right in at most {1 / model.k:.0%} of all cases"
            )
        elif isinstance(model, MultiRelationalKAnonymity):
            parts.append(
                f"what others may know of a row is shared by rows with at least {model.k} different values "
                f"of '{model.person}'"
            )
    diverse: dict[int, list[str]] = {}
    for model in proposal.privacy:
        if isinstance(model, DistinctDiversity):
            diverse.setdefault(model.l, []).append(model.column)
    parts += [
        f"every group shows at least {least} values of {_listed(names)}" for least, names in diverse.items()
    ]
    return "; ".join(map(words, parts))


def remaining_text(release: Table) -> str:
    """The risk that stays in a release: the largest share of one value in a group, column by column.

    It names no value. Nothing if there is no sensitive column.
    """
    known, data = list(release.quasi_identifiers), release.data
    parts = []
    for name in release.sensitive if known else ():
        counted = data.group_by([*known, name]).aggregate([([], "count_all")])
        groups = counted.group_by(known).aggregate([("count_all", "sum"), ("count_all", "max")])
        shares = pc.divide(groups["count_all_max"].cast(pa.float64()), groups["count_all_sum"])
        parts.append(f"{pc.max(shares).as_py():.0%} of a group have the same {name}")
    return "\n".join(f"what stays: up to {part}" for part in parts)


def method_text(proposal: ReleaseProposal) -> str:
    """How rows are written."""
    if proposal.method == "regions":
        return (
            "method: regions; equal values may be written differently in different rows (--uniform: one way)"
        )
    rows = f"{proposal.suppression_limit:.0%} of the rows may be left out"
    return f"method: {proposal.method}; a column has one level in all rows, and {rows}"


def proposal_html(proposal: ReleaseProposal) -> str:
    """A fragment of a page, without scripts and without any cell."""
    rows = [
        (
            column.name,
            fate(proposal, column),
            column.reason,
            "as stated" if column.certainty is None else str(column.certainty),
        )
        for column in proposal.columns
    ]
    facts = [
        (proposal.source or "the table", size_text(proposal)),
        ("promise", promise_text(proposal)),
        ("method", method_text(proposal).removeprefix("method: ")),
        *(("note", note) for note in proposal.notes),
    ]
    return html_table(("proposal", ""), facts) + html_table(("column", "becomes", "why", "certainty"), rows)


def write_job_file(proposal: ReleaseProposal, path: Path) -> Path:
    """Write the job file of a proposal."""
    source = proposal.source
    if source is None or source in STDIN or is_address(source):
        raise ParameterError(
            "job.job-file-names-file", "a job file names the file that it reads, and these rows are from none"
        )
    text = job_text(proposal, path)
    with replace_atomically(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return path


def job_text(proposal: ReleaseProposal, path: Path) -> str:
    """The job file of a proposal: every decision with its reason beside it."""
    assert proposal.source is not None
    content, reading = proposal.to_content(), proposal.table.reading
    release, report = default_outputs(Path(proposal.source).absolute())
    lines = [
        JOB_MARK,
        f"# {size_text(proposal)}",
        "# Change it and run it again: tarn anonymize " + path.name,
        "",
        "[input]",
        f"path = {toml_value(str(Path(proposal.source).absolute()))}",
        *_reading_lines(reading, proposal.said.get("reading") or {}),
        *(["several_rows_per_person = true"] if proposal.several_rows_per_person else []),
        "",
    ]
    for column in proposal.columns:
        lines += _column_lines(column, content["columns"][column.name])
    lines += ["# " + line for line in _sentences(promise_text(proposal))]
    for model in content["privacy"]:
        lines += ["[[privacy]]", *(f"{key} = {toml_value(value)}" for key, value in model.items()), ""]
    lines += [
        "[search]",
        *(f"{key} = {toml_value(value)}" for key, value in content["search"].items()),
        '# algorithm = "auto"         # one level for a whole column',
        "# suppression_limit = 0.05   # the share of rows that may then be left out",
        "",
        "[output]",
        f"path = {toml_value(str(release))}",
        f"report = {toml_value(str(report))}",
        "",
    ]
    return "\n".join(lines)


def _column_lines(column: ColumnProposal, plan: Mapping[str, Any]) -> list[str]:
    guess = "guess: " if column.is_guess else ""
    lines = [
        f"[columns.{toml_key(column.name)}]",
        f"role = {toml_value(plan['role'])}   # {guess}{_one_line(column.reason)}"
        if column.role is not Role.UNSTATED
        else '# role = "insensitive"   # without a role it is left out',
    ]
    if "hierarchy" in plan:
        lines.append(f"hierarchy = {inline_table(plan['hierarchy'])}")
    lines += [f"{key} = {toml_value(plan[key])}" for key in ("weight", "accept") if key in plan]
    others = [str(role) for role in Role if role not in (column.role, Role.UNSTATED)]
    if column.is_guess:
        lines.append(f"# or role = {' or '.join(toml_value(role) for role in others)}")
    return [*lines, ""]


def _reading_lines(reading: Reading | None, stated: Mapping[str, Any]) -> list[str]:
    """What was stated about the file, and what was found, so that it is read in the same way again."""
    found: dict[str, Any] = {}
    if reading is not None and reading.encoding is not None:
        found = {
            **({} if reading.misfits else {"encoding": reading.encoding}),
            **({"delimiter": reading.delimiter} if reading.delimiter else {}),
        }
    lines = [f"{key} = {toml_value(value)}" for key, value in {**found, **stated}.items() if key != "types"]
    if stated.get("types"):
        lines.append(f"types = {inline_table(stated['types'])}")
    if reading is not None:
        if reading.misfits and "encoding" not in stated:
            lines.append("# the encoding is found again: to state it would refuse the bytes that do not fit")
        lines += [f"# {_one_line(note)}" for note in reading.notes]
    return lines


def _sentences(text: str) -> list[str]:
    return [_one_line(part) for part in text.split("; ")]


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and of {names[-1]}"


def _cut(text: str, longest: int) -> str:
    text = _one_line(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
