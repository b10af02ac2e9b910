"""Consents and withdrawals of many patients from one file: all of it is taken, or nothing.

`consents.csv` has the columns `patient;kind;until;signed_on;reference`. The kind is `identified again`,
`matching` (being found among the patients of other institutions) or `withdrawal`, which has no `until`.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from tarnkappe.errors import InputError
from tarnkappe.exchange.desk.logged import CONSENTED, WITHDRAWN, Logged, registers
from tarnkappe.exchange.desk.tables import CONSENTS, WITHDRAWALS
from tarnkappe.exchange.staff import Duty, Staff
from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
from tarnkappe.state import Statement, require_signature
from tarnkappe.table.encoding import as_text

if TYPE_CHECKING:
    from tarnkappe.exchange.desk.desk import RequestWorkflow

COLUMNS = ("patient", "kind", "until", "signed_on", "reference")
MATCHING = "matching_until"
"""Beside the consent to be identified again: until when somebody may be matched with other institutions."""
BATCH = 500
IMPORTED = "consents imported"


class ConsentKind(StrEnum):
    """What a patient has declared."""

    IDENTIFIED_AGAIN = "identified again"
    MATCHING = "matching"
    WITHDRAWAL = "withdrawal"


@dataclasses.dataclass(frozen=True)
class ConsentDeclaration:
    """One line of the file."""

    patient: str
    kind: ConsentKind
    until: date | None
    signed_on: date
    reference: str


@dataclasses.dataclass(frozen=True)
class ConsentFile:
    """A file that was read, and by what it is known in the log."""

    declarations: tuple[ConsentDeclaration, ...]
    sha256: str

    @classmethod
    def read(cls, path: Path, patients: Iterable[str], today: date | None = None) -> ConsentFile:
        """Read a file; what is wrong in it is told with all line numbers.

        Args:
            path: the file.
            patients: everybody who is known here.
            today: consents that end before it are refused.

        Raises:
            InputError: if a line names nobody who is known, somebody twice, or what is no day or in the past.
        """
        try:
            content = path.read_bytes()
            rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig")), delimiter=";"))
        except OSError as error:
            raise InputError(
                "exchange.consents-cannot-read",
                "{path}: the consents cannot be read: {strerror}",
                path=path,
                strerror=error.strerror,
            ) from None
        except (UnicodeDecodeError, csv.Error):
            raise InputError("exchange.no-csv-utf-8", "{path}: this is no CSV in UTF-8", path=path) from None
        if not rows or tuple(rows[0]) != COLUMNS:
            raise InputError(
                "exchange.consents-columns",
                "{path}: consents have the columns {columns}",
                path=path,
                columns=";".join(COLUMNS),
            )
        known, day = set(patients), today or datetime.now(UTC).date()
        found, wrong = [], dict[str, list[int]]()
        seen: set[tuple[str, ConsentKind]] = set()
        for number, row in enumerate(rows, start=2):
            try:
                said = _declaration(row, known, seen, day)
            except ValueError as error:
                wrong.setdefault(str(error), []).append(number)
            else:
                seen.add((said.patient, said.kind))
                found.append(said)
        if wrong:
            told = "\n".join(f"line {', '.join(map(str, lines))}: {why}" for why, lines in wrong.items())
            raise InputError(
                "exchange.nothing-taken", "{path}: nothing was taken.\n{told}", path=path, told=told
            )
        return cls(tuple(found), hashlib.sha256(content).hexdigest())

    def statement(self, person: str) -> Statement:
        """What the steward signs who imports it."""
        return Statement("consents", {"file": self.sha256, "person": person})


def _declaration(
    row: dict[str, str], known: set[str], seen: set[tuple[str, ConsentKind]], today: date
) -> ConsentDeclaration:
    values = [row.get(name) for name in COLUMNS]
    if None in values or None in row:
        raise ValueError("the line has another number of columns")
    patient, kind, until, signed_on, reference = (str(value).strip() for value in values)
    if patient not in known:
        raise ValueError("this patient is not known here")
    if kind not in set(ConsentKind):
        raise ValueError(f"a kind is one of {', '.join(ConsentKind)}")
    if (patient, ConsentKind(kind)) in seen:
        raise ValueError("the same stands above already")
    signed = _day(signed_on)
    if signed is None or signed > today:
        raise ValueError("signed_on is a day that was, such as 2026-01-31")
    end = _day(until)
    if kind == ConsentKind.WITHDRAWAL:
        if until:
            raise ValueError("a withdrawal has no end")
    elif end is None or end < today:
        raise ValueError("until is a day to come, such as 2031-01-31")
    return ConsentDeclaration(patient, ConsentKind(kind), end, signed, reference)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def import_consents(
    desk: RequestWorkflow, staff: Staff, file: ConsentFile, person: str, signature: str
) -> dict[str, int]:
    """Take everything that a file says, in one transaction; how many declarations there are of each kind.

    Packages with data of somebody who withdraws, and that have not left, go back to the check.
    """
    steward = staff.require(person, frozenset({Duty.STEWARD}))
    require_signature(steward.public_key, file.statement(person), signature)
    numbers = {str(kind): sum(each.kind is kind for each in file.declarations) for kind in ConsentKind}
    with desk.store.writing() as connection:
        logged = Logged.read(desk.log, connection)
        for name in (CONSENTED, WITHDRAWN):
            logged.require_register(connection, name)
        _write_consents(connection, desk, file.declarations)
        leaving = [each.patient for each in file.declarations if each.kind is ConsentKind.WITHDRAWAL]
        known = set(connection.execute(sa.select(WITHDRAWALS.c.mark)).scalars())
        marks = dict(zip(desk.register.marks(leaving), leaving, strict=True))
        new = [mark for mark in marks if mark not in known]
        if new:
            now = datetime.now(UTC).isoformat(timespec="microseconds")
            connection.execute(sa.insert(WITHDRAWALS), [{"mark": mark, "time": now} for mark in new])
        told = {"numbers": numbers, "file": file.sha256, "by": person, "signature": signature}
        desk.log.append(IMPORTED, told | registers(connection, CONSENTED, WITHDRAWN), connection)
        for mark in new:
            desk.cohorts.retire(connection, marks[mark])
        desk.hold_back(connection, new)
    return numbers


def _write_consents(
    connection: sa.Connection, desk: RequestWorkflow, declarations: Sequence[ConsentDeclaration]
) -> None:
    given = [each for each in declarations if each.kind is not ConsentKind.WITHDRAWAL]
    contents = {row.mark: json.loads(row.content) for row in connection.execute(sa.select(CONSENTS))}
    changed = {}
    for each in given:
        mark = desk.register.mark(each.patient)
        assert each.until is not None
        end = datetime.combine(each.until, time.max, UTC).replace(microsecond=0)
        content = contents.setdefault(mark, {})
        if each.kind is ConsentKind.MATCHING:
            content[MATCHING] = end.isoformat()
        else:
            content |= Consent(ConsentScope.THIS_STUDY, end).to_dict()
        changed[mark] = content
    marks = list(changed)
    for start in range(0, len(marks), BATCH):
        connection.execute(sa.delete(CONSENTS).where(CONSENTS.c.mark.in_(marks[start : start + BATCH])))
    if changed:
        rows = [{"mark": mark, "content": json.dumps(content)} for mark, content in changed.items()]
        connection.execute(sa.insert(CONSENTS), rows)


def patient_names(desk: RequestWorkflow) -> list[str]:
    """Everybody whom the institution has, as its database calls them."""
    institution = desk.around.institution
    return [str(name) for name in as_text(institution.everybody([]).column(institution.patient)).to_pylist()]
