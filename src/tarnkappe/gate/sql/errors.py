"""Why a statement is not answered, with the code that PostgreSQL has for it.

What is said follows from the statement and the policy alone, never from the data.
"""

from __future__ import annotations

from typing import Self

from tarnkappe.errors import QueryError

SYNTAX = "42601"
NOT_OFFERED = "0A000"
NOT_ALLOWED = "42501"
NO_TABLE = "42P01"
NO_COLUMN = "42703"
AMBIGUOUS = "42702"
WRONG_TYPE = "42804"
NO_FUNCTION = "42883"
NO_PARAMETER = "42P02"
BAD_VALUE = "22P02"
GROUPING = "42803"
TOO_COMPLEX = "54001"
TOO_LARGE = "53200"
NO_STATEMENT = "26000"
NO_CURSOR = "34000"
CURSOR_EXISTS = "42P03"
STATEMENT_EXISTS = "42P05"
NO_SETTING = "42704"
IN_FAILED_TRANSACTION = "25P02"
CANCELED = "57014"
SHUTTING_DOWN = "57P01"
IDLE_TOO_LONG = "57P05"
PROTOCOL = "08P01"
TOO_MANY_CLIENTS = "53300"
TOO_BUSY = "53400"
LOGIN_FAILED = "28P01"
NO_LOGIN = "28000"
INTERNAL = "XX000"


class StatementError(QueryError):
    """A statement is refused for what it says."""

    def __init__(
        self, sqlstate: str, code: str, template: str, /, *, hint: str = "", **values: object
    ) -> None:
        super().__init__(code, template, **values)
        self.sqlstate, self.hint = sqlstate, hint

    @property
    def message(self) -> str:
        """The sentence."""
        return str(self.reason)

    @classmethod
    def refusing(cls, sqlstate: str, reason: str) -> Self:
        """The refusal for a reason that is known already."""
        error = cls.because(reason)
        error.sqlstate, error.hint = sqlstate, ""
        return error
