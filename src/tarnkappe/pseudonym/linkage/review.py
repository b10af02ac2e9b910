"""The doubtful pairs, for a person to decide: a list that is written, filled in and read back.

The list shows who people are, or nobody could decide. So it is written straight to where the user wants it,
for his eyes only, and never to a temporary file that a crash could leave behind.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path

from tarnkappe.errors import InputError, OutputError, ParameterError
from tarnkappe.pseudonym.identity import Identity, identity
from tarnkappe.pseudonym.linkage.link import Doubt
from tarnkappe.table.files import naming_output, writable

SAME, DIFFERENT = "same", "different"
SUFFIXES = (".csv", ".json")


def check_review(path: Path) -> None:
    """Refuse a place for the list before any work is done for it."""
    _suffix(path)
    if path.exists():
        raise OutputError(
            "pseudonym.file-already-maybe-decisions",
            "{path}: there is a file already, maybe with decisions: name another file",
            path=path,
        )
    writable(path)


def write_review(path: Path, doubts: Sequence[Doubt], fields: Sequence[str]) -> None:
    """Write the doubtful pairs, one a line, with an empty column `decision`: write `same` or `different`."""
    check_review(path)
    text = _as_json(doubts, fields) if _suffix(path) == ".json" else _as_csv(doubts, fields)
    with naming_output(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)


def read_decisions(path: Path, fields: Sequence[str]) -> dict[frozenset[Identity], bool]:
    """Read a list back; pairs without a decision stay doubtful."""
    form = _suffix(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = json.loads(text) if form == ".json" else list(csv.DictReader(io.StringIO(text)))
    except OSError as error:
        raise InputError(
            "pseudonym.decisions-cannot-read",
            "{path}: the decisions cannot be read: {strerror}",
            path=path,
            strerror=error.strerror,
        ) from None
    except (UnicodeDecodeError, json.JSONDecodeError, csv.Error):
        raise InputError(
            "pseudonym.no-list-decisions",
            "{path}: this is no list of decisions in {form}",
            path=path,
            form=form[1:].upper(),
        ) from None
    decisions: dict[frozenset[Identity], bool] = {}
    for number, row in enumerate(rows, start=1):
        word = str(row.get("decision") or "").strip().casefold()
        if not word:
            continue
        if word not in (SAME, DIFFERENT):
            raise InputError(
                "pseudonym.decision-pair-neither-nor",
                "{path}: the decision of pair {number} is neither '{same}' nor '{different}'",
                path=path,
                number=number,
                same=SAME,
                different=DIFFERENT,
            )
        people = [identity(row.get(f"{side} {name}") for name in fields) for side in ("left", "right")]
        if None in people:
            raise InputError(
                "pseudonym.pair-names-nobody-columns",
                "{path}: pair {number} names nobody: its columns must be {fields}",
                path=path,
                number=number,
                fields=", ".join(fields),
            )
        pair = frozenset(person for person in people if person is not None)
        if decisions.setdefault(pair, word == SAME) is not (word == SAME):
            raise InputError(
                "pseudonym.pair-decided-otherwise",
                "{path}: pair {number} was decided otherwise above",
                path=path,
                number=number,
            )
    return decisions


def _rows(doubts: Sequence[Doubt], fields: Sequence[str]) -> list[dict[str, object]]:
    return [
        {
            "decision": "",
            "chance": doubt.chance,
            "against": doubt.why,
            **{
                f"{side} {name}": value
                for side, person in zip(("left", "right"), doubt.pair, strict=True)
                for name, value in zip(fields, person, strict=True)
            },
            **_reasons(doubt),
        }
        for doubt in doubts
    ]


def _reasons(doubt: Doubt) -> dict[str, object]:
    told = doubt.explanation
    if told is None:
        return {}
    weights = {f"weight_{name}": round(weight, 4) for name, weight in told.weights.items()}
    return {**weights, "prior": round(told.prior, 4), "total": round(told.total, 4), "why": told.words}


def _as_csv(doubts: Sequence[Doubt], fields: Sequence[str]) -> str:
    people = [f"{side} {name}" for side in ("left", "right") for name in fields]
    reasons = list(_reasons(doubts[0])) if doubts else []
    columns = ["decision", "chance", "against", *people, *reasons]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(doubts, fields))
    return text.getvalue()


def _as_json(doubts: Sequence[Doubt], fields: Sequence[str]) -> str:
    return json.dumps(_rows(doubts, fields), ensure_ascii=False, indent=1)


def _suffix(path: Path) -> str:
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            "pseudonym.list-pairs-file",
            "{path}: a list of pairs is a file {suffixes}",
            path=path,
            suffixes=" or ".join(SUFFIXES),
        )
    return path.suffix.lower()
