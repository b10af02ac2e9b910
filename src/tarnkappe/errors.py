"""Every error a user can meet, in one hierarchy.

An error names the offending thing (the file, the column, the row, the value) and what to do next. It has a
code, which programs act on, and a sentence, which people read: in English where it is raised, in other
languages from the catalogue of `tarnkappe.texts`. Its class decides the exit code of the command line: 2 for
wrong usage or input, 1 when the data do not meet a guarantee or no solution exists.
"""

from __future__ import annotations

import string
import sys
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, ClassVar, Self, TypeVar

E = TypeVar("E", bound="TarnkappeError")

LONGEST = 2_000
"""No error is longer, whatever it quotes."""


class Filling(string.Formatter):
    """Fills in values; `{rows:row|rows}` is the first for one and the second for any other number.

    >>> Filling().format("{rows} {rows:row|rows}", rows=1), Filling().format("{rows} {rows:row|rows}", rows=2)
    ('1 row', '2 rows')
    """

    def format_field(self, value: Any, format_spec: str) -> Any:
        """A value as its place asks for."""
        one, choice, many = format_spec.partition("|")
        if choice:
            return one if value == 1 else many
        return format(value, format_spec)


class Reason(str):
    """A sentence in English with its code and arguments, from which it can be said in another language.

    Attributes:
        code: what is said, for programs; a code has one template.
        values: what stands in the places of the template: texts, numbers, paths, reasons, or lists of them;
            never a cell of the data.
        place: where, said before the sentence.
        is_clause: it stands inside another sentence, so without a full stop at its end.

    >>> Reason("table.no-column", "there is no column '{column}'", column="age")
    "there is no column 'age'"
    """

    __slots__ = ("code", "is_clause", "place", "values")

    code: str
    values: Mapping[str, Any]
    place: str
    is_clause: bool

    def __new__(cls, code: str, template: str, /, **values: object) -> Self:
        """Fill in the values."""
        fill = Filling().vformat(template, (), values) if "|" in template else template.format_map(values)
        return cls.said(code, values, fill)

    @classmethod
    def said(
        cls, code: str, values: Mapping[str, object], text: str, *, place: str = "", is_clause: bool = False
    ) -> Self:
        """A reason whose English sentence is known already; the text is without the place."""
        clause = text.rstrip(".") if is_clause else text
        made = super().__new__(cls, f"{place}: {clause}" if place else clause)
        made.code, made.place, made.is_clause = code, place, is_clause
        made.values = {name: _plain(value) for name, value in values.items()}
        return made

    @property
    def sentence(self) -> str:
        """What is said, without the place."""
        return self[len(self.place) + 2 :] if self.place else str(self)

    @property
    def clause(self) -> Self:
        """The same without a full stop at its end."""
        return self.said(self.code, self.values, self.sentence, place=self.place, is_clause=True)

    def within(self, place: object) -> Self:
        """The same, found in a place."""
        outer = f"{place}: {self.place}" if self.place else str(place)
        return self.said(self.code, self.values, self.sentence, place=outer, is_clause=self.is_clause)

    def document(self) -> dict[str, Any]:
        """What a program elsewhere gets, and what is kept; `again` makes a reason of it."""
        values = {name: _as_document(value) for name, value in self.values.items()}
        said: dict[str, Any] = {"code": self.code, "args": values, "text": shortened(self)}
        return (
            said
            | ({"place": self.place} if self.place else {})
            | ({"clause": True} if self.is_clause else {})
        )

    @classmethod
    def again(cls, document: Mapping[str, Any]) -> Self:
        """The reason of a document; one of an older version may have a text alone."""
        values = document.get("args")
        values = {str(name): _from_document(each) for name, each in values.items()} if values else {}
        place, text = str(document.get("place", "")), str(document["text"])
        text = text.removeprefix(f"{place}: ") if place else text
        is_clause = bool(document.get("clause"))
        return cls.said(str(document.get("code", "")), values, text, place=place, is_clause=is_clause)

    def __reduce__(self) -> tuple[Any, ...]:
        return Reason.again, (self.document(),)


def _plain(value: object) -> object:
    """An argument as it can be kept; of what is none of ours, how it is written."""
    if isinstance(value, TarnkappeError):
        return value.reason
    if value is None or isinstance(value, Reason | bool | PurePath) or type(value) in (str, int, float):
        return value
    if isinstance(value, int | float | str):  # an enumeration, or a number of NumPy
        kind = next(each for each in (int, float, str) if isinstance(value, each))
        return str(value) if kind is str else kind(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    return int(value) if hasattr(value, "__index__") else str(value)


def _as_document(value: Any) -> Any:
    if isinstance(value, Reason):
        return value.document()
    if isinstance(value, list):
        return [_as_document(each) for each in value]
    return shortened(str(value)) if isinstance(value, PurePath | str) else value


def _from_document(value: Any) -> Any:
    if isinstance(value, Mapping) and "text" in value:
        return Reason.again(value)
    return [_from_document(each) for each in value] if isinstance(value, list) else value


class TarnkappeError(Exception):
    """The root of all errors that Tarnkappe raises on purpose.

    >>> error = ColumnError("table.no-column", "there is no column '{column}'", column="age")
    >>> str(error), error.document()["args"]
    ("there is no column 'age'", {'column': 'age'})
    """

    exit_code: ClassVar[int] = 2
    reason: Reason

    def __init__(self, code: str, template: str, /, **values: object) -> None:
        """Say what is wrong: a code of its own, a sentence with places for values, and the values."""
        self._give(Reason(code, template, **values))

    def _give(self, reason: Reason) -> None:
        self.reason = reason
        self.args = (str(reason),)

    def __str__(self) -> str:
        """The sentence; what a user gave may be in it, and may be of any length."""
        return shortened(self.reason)

    def __reduce__(self) -> tuple[Any, ...]:
        return _error_again, (type(self), self.__dict__)

    @property
    def code(self) -> str:
        """What is wrong, for programs."""
        return self.reason.code

    @property
    def kind(self) -> str:
        """The name by which programs elsewhere know the error: that of its nearest class in this file.

        >>> ColumnError("table.no-column", "there is no such column").kind
        'ColumnError'
        """
        return next(kind.__name__ for kind in type(self).__mro__ if kind.__module__ == __name__)

    def document(self) -> dict[str, Any]:
        """The error for programs elsewhere, and to be kept; `again` makes an error of it."""
        return {"kind": self.kind, **self.reason.document()}

    @staticmethod
    def again(document: Mapping[str, Any]) -> TarnkappeError:
        """The error that a document tells of.

        >>> TarnkappeError.again(ColumnError("table.no-column", "there is no such column").document())
        ColumnError('there is no such column')
        """
        kind = getattr(sys.modules[__name__], str(document.get("kind", "")), None)
        if not (isinstance(kind, type) and issubclass(kind, TarnkappeError)):
            kind = TarnkappeError
        return kind.because(Reason.again(document))

    @classmethod
    def because(cls, reason: str) -> Self:
        """An error with a reason that is known already; a mere text was said by somebody else."""
        error = cls.__new__(cls)
        error._give(reason if isinstance(reason, Reason) else Reason("errors.said", "{said}", said=reason))
        return error

    def within(self, place: object) -> Self:
        """The same error, which says where it was found."""
        error = _error_again(type(self), self.__dict__)
        error._give(self.reason.within(place))
        return error


def _error_again(kind: type[E], state: Mapping[str, Any]) -> E:
    """An error as it was, with what its class keeps beside the reason."""
    error = kind.because(state["reason"])
    error.__dict__.update(state)
    return error


def shortened(text: str) -> str:
    """A sentence of a bounded length."""
    return str(text) if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


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
