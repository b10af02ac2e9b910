"""The one way to read a request that something is to follow from: what is read is what was checked, decided
and logged.

Whoever can write to the database can change any row. So nothing is believed because it stands there: the
rows must have the digests that the sealed log names, the package must be the bytes that were checked, its k
and l are counted again from these bytes, and a decision counts if its signature is right under the key that
the staff file has *now*. The column `state` is only an index: where a request stands follows from the log.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import sqlalchemy as sa

from tarnkappe.errors import AccessError, Reason, TarnkappeError, VerificationError
from tarnkappe.exchange.checking.case import Surroundings
from tarnkappe.exchange.desk.checked import Checked, Decision, Whole
from tarnkappe.exchange.desk.decisions import decision_statement, require_form, time_of
from tarnkappe.exchange.desk.logged import (
    ANSWER_ROW,
    CHECKED,
    DECIDED,
    RECEIVED,
    ROW,
    TOLD,
    Logged,
    digest_of_marks,
    row_digest,
)
from tarnkappe.exchange.desk.packages import PSEUDONYM, Package, digest_of, opened, unpacked
from tarnkappe.exchange.desk.records import RequestRecords, read_request
from tarnkappe.exchange.desk.states import ANSWERED, RequestState
from tarnkappe.exchange.desk.tables import ANSWERS, DECISIONS, RECOMMENDATIONS, REQUESTS
from tarnkappe.exchange.request import DataRequest
from tarnkappe.exchange.staff import DECIDING, Duty, Staff
from tarnkappe.privacy import DistinctDiversity, KAnonymity, Model
from tarnkappe.privacy.verify import verify as verify_in_sql
from tarnkappe.risk import find_identifiers
from tarnkappe.state import require_signature
from tarnkappe.table import Role, Table

INDEX = ("state", "checks")
"""Columns of a request that only repeat what the log says."""
CHECK_AGAIN = Reason(
    "exchange.check-request-changed-after-made",
    "the check of this request was changed after it was made: check it again",
)


class WholeReader:
    """Reads requests with everything that belongs to them.

    Args:
        records: where they are.
        staff: whose decisions count.
        around: the catalogue and the policy of today.
    """

    def __init__(self, records: RequestRecords, staff: Staff, around: Surroundings) -> None:
        self._records, self._staff, self._around = records, staff, around

    def read(self, connection: sa.Connection, digest: str, logged: Logged | None = None) -> Whole:
        """A request, its last check with the package, its decisions, and where it stands.

        Raises:
            AccessError: if there is no such request.
            VerificationError: if anything of it is not as it was left.
        """
        logged = Logged.read(self._records.log, connection) if logged is None else logged
        row = self._records.row(connection, digest)
        whole = self._request(row, logged)
        checks = logged.of(digest, CHECKED)
        if row.checks != len(checks):
            raise VerificationError.because(CHECK_AGAIN)
        if not checks or whole.state is RequestState.RECEIVED:
            return whole
        check = self._check(connection, whole)
        return dataclasses.replace(whole, check=check, decisions=self._decisions(connection, whole, check))

    def require_requests(self, connection: sa.Connection, logged: Logged) -> None:
        """Refuse if a request that came in is gone or was changed: a check looks at what was asked before,
        too.
        """
        rows = connection.execute(sa.select(REQUESTS)).all()
        found = {row.digest: row_digest(row, REQUESTS, *INDEX) for row in rows}
        for digest in logged.requests:
            entry = logged.newest(digest, RECEIVED)
            if entry is not None and found.get(digest) != entry.details[ROW]:
                raise VerificationError(
                    "exchange.request-gone-database-changed",
                    "request {digest} is gone from the database, or was changed there",
                    digest=digest[:12],
                )

    def audit(self, connection: sa.Connection, logged: Logged) -> list[str]:
        """What is wrong with requests, checks, decisions and answers, by what the log says of them."""
        known = set(logged.requests)
        rows = set(connection.execute(sa.select(REQUESTS.c.digest)).scalars())
        wrong = [f"{digest[:12]}: this request is gone from the database" for digest in sorted(known - rows)]
        for digest in sorted(rows - set(logged.before)):
            try:
                whole = self.read(connection, digest, logged)
                if whole.state in ANSWERED or whole.state is RequestState.DELIVERED:
                    self.require_answer(connection, whole)
                self._require_no_others(connection, whole)
            except (TarnkappeError, ValueError, KeyError, TypeError) as error:
                why = str(error) if isinstance(error, TarnkappeError) else "it cannot be read"
                wrong.append(f"{digest[:12]}: {why}")
        for table in (RECOMMENDATIONS, DECISIONS, ANSWERS):
            strange = set(connection.execute(sa.select(table.c.digest)).scalars()) - rows
            wrong += [f"{str(digest)[:12]}: rows in {table.name} without a request" for digest in strange]
        return wrong

    def _require_no_others(self, connection: sa.Connection, whole: Whole) -> None:
        """Every check and decision of a request is one that was logged, not only the last."""
        for table, event in ((RECOMMENDATIONS, CHECKED), (DECISIONS, DECIDED)):
            rows = connection.execute(sa.select(table).where(table.c.digest == whole.row.digest)).all()
            found = sorted(row_digest(row, table, "package") for row in rows)
            logged = sorted(str(entry.details.get(ROW)) for entry in whole.logged.of(whole.row.digest, event))
            if found != logged:
                raise VerificationError(
                    "exchange.rows-not-logged",
                    "its rows in {table} are not those that were logged",
                    table=table.name,
                )
        answers = sa.select(ANSWERS.c.digest).where(ANSWERS.c.digest == whole.row.digest)
        there = connection.execute(answers).first() is not None
        if there != (whole.logged.detail(whole.row.digest, ANSWER_ROW) is not None):
            raise VerificationError(
                "exchange.answer-not-logged-none",
                "there is an answer that was not logged, or none though one was",
            )

    def _request(self, row: sa.Row[Any], logged: Logged) -> Whole:
        entry = logged.newest(row.digest, RECEIVED)
        if entry is None:
            raise VerificationError(
                "exchange.request-put-database-before-log",
                "this request was put into the database, or is from before the log was sealed: it must be "
                "sent again",
            )
        if entry.details[ROW] != row_digest(row, REQUESTS, *INDEX):
            raise VerificationError(
                "exchange.request-changed-after-came",
                "this request was changed after it came in: it must be sent again",
            )
        request = read_request(row)
        if (request.digest, request.institution, request.id) != (row.digest, row.institution, row.id):
            raise VerificationError(
                "exchange.request-changed-after-came",
                "this request was changed after it came in: it must be sent again",
            )
        state = logged.state(row.digest)
        if row.state != state:
            raise VerificationError(
                "exchange.request-log-database-says",
                "this request is {state} by the log, and the database says something else",
                state=state,
            )
        return Whole(row, request, state, logged)

    def _check(self, connection: sa.Connection, whole: Whole) -> Checked:
        digest = whole.row.digest
        entry = whole.logged.newest(digest, CHECKED)
        if entry is None or entry.details.get("check") != whole.row.checks:
            raise VerificationError.because(CHECK_AGAIN)
        row = self._records.last_check(connection, digest)
        if entry.details[ROW] != row_digest(row, RECOMMENDATIONS, "package"):
            raise VerificationError.because(CHECK_AGAIN)
        content = json.loads(row.content)
        marks = self._records.marks(connection, digest, row.number)
        package = None
        if row.package is not None:
            if digest_of_marks(marks) != content["people"]:
                raise VerificationError.because(CHECK_AGAIN)
            package = self.require_package(row.package, content["check"])
        elif row.package_digest is not None and whole.state in (
            RequestState.CHECKED,
            RequestState.HALF_AGREED,
            RequestState.ACCEPTED,
        ):
            raise VerificationError.because(CHECK_AGAIN)
        return Checked(row, entry.details[ROW], entry.time, content, package, marks)

    def require_package(self, content: bytes, said: Mapping[str, Any]) -> Package:
        """A package from its bytes, if it is the one that was checked; its promises are counted again.

        Args:
            content: the bytes.
            said: what the check says of them.
        """
        if said["package"] != {"sha256": digest_of(content), "bytes": len(content), "rows": said["rows"]}:
            raise VerificationError.because(CHECK_AGAIN)
        try:
            data = opened(content)
        except TarnkappeError:
            raise VerificationError.because(CHECK_AGAIN) from None
        names = [name for name, _ in said["columns"]]
        if data.column_names != names or data.num_rows != said["rows"]:
            raise VerificationError(
                "exchange.package-other-columns-rows",
                "the package has other columns or rows than were checked: check it again",
            )
        if data.schema.metadata or any(field.metadata or not _is_plain(field.type) for field in data.schema):
            raise VerificationError(
                "exchange.package-carries-more-rows", "the package carries more than its rows: check it again"
            )
        package = unpacked(content, {name: role for name, role in said["columns"] if name != PSEUDONYM})
        self._require_promises(package, said)
        return package

    def _require_promises(self, package: Package, said: Mapping[str, Any]) -> None:
        table, catalogue = package.table, self._around.catalogue
        names = table.column_names
        if any(name not in catalogue or catalogue[name].role is Role.IDENTIFIER for name in names):
            raise VerificationError(
                "exchange.package-column-catalogue-not-let",
                "the package has a column that the catalogue does not let out",
            )
        scan = find_identifiers(table)
        if any(finding.role is Role.IDENTIFIER for column in scan.columns for finding in column.findings):
            raise VerificationError(
                "exchange.package-may-hold-identifiers", "the package may hold identifiers: check it again"
            )
        if measured(table) != said["measured"] or said["measured"]["k"] < said["thresholds"]["k"]:
            raise VerificationError(
                "exchange.package-not-keep-what-check",
                "the package does not keep what the check promises: check it again",
            )

    def _decisions(self, connection: sa.Connection, whole: Whole, check: Checked) -> list[Decision]:
        digest, number = whole.row.digest, check.row.number
        mine = sa.and_(DECISIONS.c.digest == digest, DECISIONS.c.number == number)
        rows = {
            row_digest(row, DECISIONS): row for row in connection.execute(sa.select(DECISIONS).where(mine))
        }
        logged = [entry for entry in whole.logged.of(digest, DECIDED) if entry.details.get("check") == number]
        if sorted(rows) != sorted(str(entry.details.get(ROW)) for entry in logged):
            raise VerificationError(
                "exchange.decisions-about-request-changed",
                "the decisions about this request were changed in the database: check it again",
            )
        found: list[Decision] = []
        for entry in logged:
            row = rows[entry.details[ROW]]
            content = json.loads(row.content)
            if (content.get("person"), content.get("accepts")) != (row.person, row.accepts):
                raise VerificationError(
                    "exchange.decision-about-request-changed",
                    "a decision about this request was changed: check it again",
                )
            if self.counts(content, row.signature, whole, check, found):
                found.append(Decision(content, row.signature))
        return found

    def counts(
        self,
        content: Mapping[str, Any],
        signature: str,
        whole: Whole,
        check: Checked,
        before: Sequence[Decision],
    ) -> bool:
        """Whether a decision that was taken still counts: people and their keys may have left the staff
        file.
        """
        try:
            self.require_decision(content, signature, whole, check, before)
        except AccessError:
            return False
        return True

    def require_decision(
        self,
        content: Mapping[str, Any],
        signature: str,
        whole: Whole,
        check: Checked,
        before: Sequence[Decision],
    ) -> None:
        """Refuse a decision that is forged, about something else, or not this person's to make.

        Raises:
            AccessError: says what is wrong with it.
        """
        require_form(content)
        person = self._staff.require(content["person"], DECIDING)
        require_signature(person.public_key, decision_statement(content), signature)
        if (
            content["public_key"] != person.public_key
            or Duty(content["duty"]) not in person.duties & DECIDING
        ):
            raise AccessError(
                "exchange.decision-names-another-key",
                "the decision names another key or duty than the staff file",
            )
        package = check.row.package_digest
        said = content["request"], content["check"], content["check_digest"], content["package"]
        if said != (whole.row.digest, check.row.number, check.digest, package):
            raise AccessError(
                "exchange.decision-about-another-check",
                "the decision is about another check or another package: look at the last one",
            )
        if time_of(content["time"]) < time_of(check.time):
            raise AccessError(
                "exchange.decision-older-check-about", "the decision is older than the check that it is about"
            )
        if person.name == whole.request.requester:
            raise AccessError("exchange.nobody-decides-about-own", "nobody decides about his own request")
        for other in before:
            if person.name == other.content["person"] or person.public_key == other.content["public_key"]:
                raise AccessError(
                    "exchange.person-decided-already-dual",
                    "this person has decided already: dual control is by two people with two keys",
                )
        if content["accepts"] and not before and Duty(content["duty"]) is not Duty.PHYSICIAN:
            raise AccessError("exchange.physician-decide-first", "a physician has to decide first")

    def needed(self, request: DataRequest) -> int:
        """How many people have to agree."""
        return 2 if request.purpose in self._around.policy.four_eyes else 1

    def require_answer(self, connection: sa.Connection, whole: Whole) -> sa.Row[Any]:
        """The answer to a request, if it is the one that was written, and what lets it go still counts."""
        row = connection.execute(sa.select(ANSWERS).where(ANSWERS.c.digest == whole.row.digest)).first()
        if row is None:
            raise AccessError("exchange.no-answer-yet", "there is no answer yet")
        if whole.logged.detail(whole.row.digest, ANSWER_ROW) != row_digest(row, ANSWERS, "package"):
            raise VerificationError(
                "exchange.answer-request-changed-database",
                "the answer to this request was changed in the database: it is not sent",
            )
        if row.package is None:
            if json.loads(row.content)["package"] is not None and whole.state is not RequestState.DELIVERED:
                raise VerificationError(
                    "exchange.package-request-taken-out-database",
                    "the package of this request was taken out of the database: it is not sent",
                )
            return row
        check = whole.require_check()
        self.require_package(bytes(row.package), check.content["check"])
        if len(whole.agreed) < self.needed(whole.request):
            raise VerificationError(
                "exchange.not-all-must-agree",
                "not all who must agree have: a decision does not count any more, since its key is not in "
                "the staff file",
            )
        whole.logged.require_register(connection, TOLD)
        return row


def measured(table: Table) -> dict[str, Any]:
    """How many rows of a package look alike at least, and how many values each sensitive column leaves
    possible.

    Counted in SQL from its values, by nothing that had a part in making it.
    """
    roles = {name: table.roles[name] for name in table.column_names}
    known = [name for name, role in roles.items() if role is Role.QUASI_IDENTIFIER]
    sensitive = [name for name, role in roles.items() if role is Role.SENSITIVE]
    models: list[Model] = [KAnonymity(1), *(DistinctDiversity(name, 1) for name in sensitive)]
    with duckdb.connect() as engine:
        engine.register("release", table.data)
        engine.register("input", table.data)
        values = [int(part.value or 0) for part in verify_in_sql(engine, models, known)]
    return {"k": values[0], "l": dict(zip(sensitive, values[1:], strict=True))}


def _is_plain(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_temporal(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    )
