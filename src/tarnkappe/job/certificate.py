"""The certificate of a release: what its independent checker (`verifier/checker.py`) needs.

Its first line is for everybody. It says what the release is, what it promises, and a digest of the second
line, and tells nothing of rows that were not released. The second line is for the house and its auditors, who
have the input: its digest, the hierarchies, the loss, and the nodes that prove the optimum. A random salt in
it keeps others from finding out by trial, through the digest in the first line, what the input was.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.job.job import Job
from tarnkappe.job.paths import is_plain_csv
from tarnkappe.job.preparation import shown_and_counted
from tarnkappe.job.result import Result
from tarnkappe.lattice.cover import ProofNodes, cover
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model
from tarnkappe.privacy.exact import decimal
from tarnkappe.recoding import Bucketization
from tarnkappe.table import Table
from tarnkappe.table.files import replace_atomically
from tarnkappe.table.ownership import CERTIFICATE_FORMAT
from tarnkappe.table.spelling.alike import ways_beyond_one
from tarnkappe.verifier import checker


def require_certifiable(job: Job) -> None:
    """Refuse a job that asks for a certificate that nobody could check, before any work.

    Raises:
        JobError: if the input or the release is no CSV file, or the method writes several tables.
    """
    if job.output.certificate is None:
        return
    if not is_plain_csv(job.input.path) or not is_plain_csv(job.output.path):
        raise JobError(
            "job.certificate-needs-csv-file",
            "a certificate needs a CSV file as input and as output, not compressed: leave it out",
        )
    if isinstance(job.search, Bucketization) or job.input.engine != "memory":
        raise JobError(
            "job.no-certificate-several-tables",
            "there is no certificate of several tables, nor of what an engine releases: leave it out",
        )


def require_read_alike(job: Job, table: Table) -> None:
    """Refuse a certificate of an input whose cells mean something else than they say, before any search.

    The checker takes every cell as it stands in the file. Where the reader found words for missing values,
    numbers or dates in a spelling of their own, or another encoding, an auditor would see other values.

    Raises:
        JobError: if the file was not read as it stands.
    """
    if job.output.certificate is None or table.reading is None:
        return
    reading = table.reading
    spelled = [
        name
        for name, each in reading.columns.items()
        if each.missing or each.mark or each.number is not None or each.date is not None
    ]
    why = ""
    if reading.encoding not in (None, "utf-8", "utf-8-sig", "ascii"):
        why = f"its encoding is {reading.encoding}"
    elif reading.misfits:
        why = f"some of its bytes are no {reading.encoding}"
    elif reading.header != 1 or reading.skipped_lines:
        why = "it has lines that are neither its header nor rows"
    elif spelled:
        why = f"'{spelled[0]}' is spelled its own way ({reading.columns[spelled[0]].description})"
    elif several := _several_ways(job, table):
        why = f"'{several[0]}' has values that differ in case or blanks alone, which are written in one way"
    if why:
        raise JobError(
            "job.certificate-auditors-needs-input",
            "a certificate for auditors needs an input whose cells are taken as they stand, but {why}: "
            "leave 'certificate' out, or write the input anew as UTF-8 with one line of names, empty cells "
            "for missing values, decimal points and dates like 1980-12-31",
            why=why,
        )


def _several_ways(job: Job, table: Table) -> list[str]:
    """The columns in which a value that a promise may count is written in several ways."""
    counted = shown_and_counted(table, job.privacy)
    return [name for name in counted if ways_beyond_one(table.data.column(name))]


def certificate(result: Result, job: Job, release: Path, *, whole: bool) -> tuple[bytes, bytes]:
    """The two lines of the certificate of a release; without the second, only the promise is claimed.

    Args:
        result: what was released.
        job: how.
        release: the file, wherever it is now.
        whole: whether the second line is wanted.
    """
    parts = [part for model in result.problem.models for part in model.parts]
    head: dict[str, Any] = {
        "format": CERTIFICATE_FORMAT,
        "release": {
            "sha256": _sha256(release),
            "rows": result.release.num_rows,
            "columns": list(result.release.column_names),
        },
        "quasi_identifiers": list(result.problem.quasi_identifiers),
        "levels": _levels(result),
        "models": [_said("model", part) for part in parts],
        "loss": _said("loss", result.problem.loss),
        "suppression_limit": str(decimal(result.problem.suppression_limit)),
        "claim": "promise",
        "private": None,
    }
    second = b""
    if whole and not result.aggregates and not _is_sample(result):
        proof = _proof(result, head)
        head["claim"] = proof.pop("claim")
        assert job.input.path is not None, "refused before"
        read = {"sha256": _sha256(Path(job.input.path)), "rows": result.input.num_rows}
        second = _line({**proof, "input": read, "salt": secrets.token_hex(32)})
        head["private"] = hashlib.sha256(second).hexdigest()
    return _line(head), second


def _proof(result: Result, head: Mapping[str, Any]) -> dict[str, Any]:
    """What only who has the input may see, and what is claimed with it."""
    problem, solution = result.problem, result.solution
    assert solution.best is not None
    value = solution.best.loss
    least = value if solution.optimal_levels else solution.bound
    found: ProofNodes | None = None
    if head["levels"] is not None and least is not None and _is_known(head):
        found = cover(problem, least, solution.best.node, solution.tests)
    claim = "truth" if found is None else "optimality" if solution.optimal_levels else "bound"
    return {
        "claim": claim,
        "value": repr(value),
        "least": repr(value if found is None else least),
        "low": [levels[0] for levels in problem.level_ranges],
        "high": [levels[-1] for levels in problem.level_ranges],
        "suppressed": result.input.num_rows - result.release.num_rows,
        "hierarchies": [
            [name, [list(row) for row in result.hierarchies[name].rows()]]
            for name in problem.quasi_identifiers
        ],
        "below": [] if found is None else [list(node) for node in found.below],
        "alone": [] if found is None else [list(node) for node in found.alone],
    }


def _is_known(head: Mapping[str, Any]) -> bool:
    """Whether the checker knows all models and the loss, with their settings."""
    columns = head["release"]["columns"]
    try:
        for model in head["models"]:
            checker.Model(model, columns)
        checker.Loss(head["loss"], (), 1)
    except checker.VerdictError:
        return False
    return True


def _levels(result: Result) -> list[int] | None:
    """The level of every column, if all rows are at the same levels, and nothing else was done to them."""
    treated = result.aggregates or result.treatment.suppressed or result.starred
    if treated or len(result.passes) != 1 or not result.levels:
        return None
    return [result.levels[name] for name in result.problem.quasi_identifiers]


def _is_sample(result: Result) -> bool:
    return any(part.name == "differential-privacy" for m in result.problem.models for part in m.parts)


def _said(name: str, member: Model | Loss) -> dict[str, Any]:
    """A model or a loss with its parameters."""
    return {name: member.name, **{key: _plain(value) for key, value in member.parameters.items()}}


def _plain(value: Any) -> Any:
    """A parameter in JSON without floating point numbers, whose keys do not come from data."""
    if isinstance(value, Mapping):
        return [[str(key), _plain(inner)] for key, inner in sorted(value.items())]
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, str):
        return str(value)  # a name of an enumeration is its text
    return value if value is None or isinstance(value, int) else str(decimal(value))


def _line(document: Mapping[str, Any]) -> bytes:
    """Canonical JSON (RFC 8785): all keys are ASCII and there are no fractions, so the standard library does.

    A job starts faster without what `state` needs, which has the general form.
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode() + b"\n"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_certificates(
    result: Result, job: Job, release: Path, public: Path | None, full: Path | None
) -> None:
    """Write the certificate for everybody, and the one for the house and its auditors."""
    first, second = certificate(result, job, release, whole=full is not None)
    for path, lines in ((public, first), (full, first + second)):
        if path is not None:
            with replace_atomically(path) as partial:
                partial.write_bytes(lines)
