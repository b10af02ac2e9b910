"""Every error a user can meet, in one hierarchy.

An error names the offending thing (the file, the column, the row, the value) and what to do next.
Its class decides the exit code of the command line: 2 for wrong usage or input, 1 when the data do
not meet a guarantee or no solution exists.
"""

from __future__ import annotations

from typing import ClassVar

LONGEST = 2_000
"""No error is longer, whatever it quotes."""


class TarnkappeError(Exception):
    """The root of all errors that Tarnkappe raises on purpose."""

    exit_code: ClassVar[int] = 2

    def __str__(self) -> str:
        """The sentence; what a user gave may be in it, and may be of any length."""
        text = super().__str__()
        return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."

    @property
    def kind(self) -> str:
        """The name by which programs elsewhere know the error: that of its nearest class in this file.

        >>> ColumnError("there is no such column").kind
        'ColumnError'
        """
        return next(kind.__name__ for kind in type(self).__mro__ if kind.__module__ == __name__)


class InputError(TarnkappeError):
    """A source cannot be read: missing, empty, wrongly encoded, malformed or changed while read."""


class OutputError(TarnkappeError):
    """A file cannot be written: the disk is full, the folder is read-only. Nothing is left behind."""


class ColumnError(TarnkappeError):
    """A column is missing, duplicated, or has the wrong role or type for what is asked of it."""


class HierarchyError(TarnkappeError):
    """A hierarchy misses a value, is not monotone, has several roots or cannot be built."""


class ParameterError(TarnkappeError):
    """A parameter is unknown, impossible or out of range."""


class JobError(TarnkappeError):
    """A job file cannot be understood."""


class QueryError(TarnkappeError):
    """A query or a stored plan cannot be understood, or asks for what is not offered; says where."""


class AccessError(TarnkappeError):
    """Somebody asks for what he may not have: another key, another role or a second person is needed."""


class LoginError(AccessError):
    """Somebody does not show who he is, or has guessed too often."""


class NotFoundError(TarnkappeError):
    """What is asked for is not there, not any more, or somebody else's."""


class ConflictError(TarnkappeError):
    """Somebody else has changed it in the meantime; nothing was overwritten."""


class LimitError(TarnkappeError):
    """More is asked for than a limit allows: of bytes, rows, memory, time or tries."""


class ProtocolError(TarnkappeError):
    """A party of a federation does not keep to the protocol: a message is damaged, repeated or foreign."""


class GuaranteeError(TarnkappeError):
    """The data do not meet a guarantee that was asked for."""

    exit_code = 1


class IdentifierFoundError(GuaranteeError):
    """A column that would be released as it is seems to name people; nothing was released."""


class NoSolutionError(GuaranteeError):
    """No transformation meets the guarantees within the suppression limit."""


class VerificationError(GuaranteeError):
    """A release was checked again by an independent path and did not pass; it was not handed over."""
