"""Statements about the session: settings, transactions and cursors. None of them touches data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from tarnkappe.gate.sql.errors import NOT_OFFERED, SYNTAX, StatementError

_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
LONGEST_NAME = 63


@dataclasses.dataclass(frozen=True)
class Transaction:
    """Begins or ends a transaction, or marks a point in one. Since nothing is ever changed, none matters."""

    action: str
    tag: str


@dataclasses.dataclass(frozen=True)
class SetVariable:
    """Sets a variable of the session, or (without a value) gives it its default back."""

    name: str
    value: str | None
    tag: str = "SET"


@dataclasses.dataclass(frozen=True)
class ShowVariable:
    """Shows a variable of the session, or all."""

    name: str


@dataclasses.dataclass(frozen=True)
class Declare:
    """Opens a cursor for the query that begins at a word."""

    name: str
    holds: bool
    query: int


@dataclasses.dataclass(frozen=True)
class Fetch:
    """Takes the next rows of a cursor, all of them without a count."""

    name: str
    count: int | None
    only_moves: bool = False


@dataclasses.dataclass(frozen=True)
class Forget:
    """Closes a cursor (or a prepared statement), or all of them."""

    what: str
    name: str | None
    tag: str


SessionCommand = Transaction | SetVariable | ShowVariable | Declare | Fetch | Forget


class _Words:
    """The words of a statement, taken one after another."""

    def __init__(self, words: Sequence[Token]) -> None:
        self._words, self.place = words, 0

    def peek(self, ahead: int = 0) -> str:
        here = self.place + ahead
        return self._words[here].text.upper() if here < len(self._words) else ""

    def take(self, *expected: str) -> bool:
        """Take a word if it is one of these and is no text."""
        if self.peek() in expected and self._words[self.place].token_type not in (
            TokenType.STRING,
            TokenType.IDENTIFIER,
        ):
            self.place += 1
            return True
        return False

    def need(self, *expected: str) -> None:
        if not self.take(*expected):
            raise StatementError(SYNTAX, "gate.syntax-error", "syntax error")

    def name(self) -> str:
        word = self.any()
        if word.token_type in (TokenType.STRING, TokenType.NUMBER) or len(word.text) > LONGEST_NAME:
            raise StatementError(SYNTAX, "gate.syntax-error", "syntax error")
        return word.text if word.token_type == TokenType.IDENTIFIER else word.text.lower()

    def any(self) -> Token:
        if self.place >= len(self._words):
            raise StatementError(SYNTAX, "gate.syntax-error", "syntax error")
        self.place += 1
        return self._words[self.place - 1]

    def count(self) -> int | None:
        """A number of rows, if one stands here."""
        if self.place < len(self._words) and self._words[self.place].token_type == TokenType.NUMBER:
            text = self.any().text
            if not text.isdecimal() or len(text) > 9:
                raise StatementError(SYNTAX, "gate.syntax-error", "syntax error")
            return int(text)
        return None

    def rest(self) -> str:
        """What is left, as one text."""
        left = [word.text for word in self._words[self.place :]]
        self.place = len(self._words)
        return " ".join(left)

    @property
    def done(self) -> bool:
        return self.place >= len(self._words)


def read_session_command(tokens: Sequence[Token]) -> SessionCommand | None:
    """The session command that a statement is; None if it is another statement."""
    words = _Words(tokens)
    first = tokens[0].text.upper() if tokens else ""
    reader = _READERS.get(first)
    if reader is None or tokens[0].token_type in (TokenType.STRING, TokenType.IDENTIFIER):
        return None
    words.any()
    command = reader(first, words)
    if not words.done and not isinstance(command, Declare):
        raise StatementError(SYNTAX, "gate.syntax-error", "syntax error")
    return command


def _begin(first: str, words: _Words) -> SessionCommand:
    if first == "START":
        words.need("TRANSACTION")
    words.rest()  # modes mean nothing where nothing is changed
    return Transaction("begin", "START TRANSACTION" if first == "START" else "BEGIN")


def _commit(_: str, words: _Words) -> SessionCommand:
    words.take("WORK", "TRANSACTION")
    if words.take("PREPARED"):
        raise StatementError(
            NOT_OFFERED,
            "gate.prepared-transactions-not-offered",
            "prepared transactions are not offered here",
        )
    return Transaction("commit", "COMMIT")


def _rollback(_: str, words: _Words) -> SessionCommand:
    words.take("WORK", "TRANSACTION")
    if words.take("TO"):
        words.take("SAVEPOINT")
        words.name()
        return Transaction("back", "ROLLBACK")
    if words.take("PREPARED"):
        raise StatementError(
            NOT_OFFERED,
            "gate.prepared-transactions-not-offered",
            "prepared transactions are not offered here",
        )
    return Transaction("rollback", "ROLLBACK")


def _savepoint(first: str, words: _Words) -> SessionCommand:
    if first == "RELEASE":
        words.take("SAVEPOINT")
    words.name()
    return Transaction("mark", first)


def _set(_: str, words: _Words) -> SessionCommand:
    if words.peek(1) not in ("=", "TO", "."):
        words.take("SESSION", "LOCAL")
    if words.take("TRANSACTION", "CHARACTERISTICS", "CONSTRAINTS"):
        words.rest()
        return SetVariable("", "")
    if words.take("TIME"):
        words.need("ZONE")
        return SetVariable("timezone", words.rest())
    if words.take("NAMES"):
        return SetVariable("client_encoding", words.rest())
    name = words.name()
    while words.take("."):
        name += f".{words.name()}"
    if name in ("role", "session_authorization") or (name == "authorization"):
        raise StatementError(
            "42501", "gate.permission-denied-change", "permission denied to change who you are"
        )
    words.need("=", "TO")
    value = words.rest()
    if not value:
        raise StatementError(SYNTAX, "gate.syntax-error", "syntax error")
    return SetVariable(name, None if value.upper() == "DEFAULT" else value)


def _reset(_: str, words: _Words) -> SessionCommand:
    name = words.name()
    while words.take("."):
        name += f".{words.name()}"
    return SetVariable(name, None, "RESET")


def _show(_: str, words: _Words) -> SessionCommand:
    if words.take("TRANSACTION"):
        words.need("ISOLATION")
        words.need("LEVEL")
        return ShowVariable("transaction_isolation")
    if words.take("TIME"):
        words.need("ZONE")
        return ShowVariable("timezone")
    name = words.name()
    while words.take("."):
        name += f".{words.name()}"
    return ShowVariable(name)


def _declare(_: str, words: _Words) -> SessionCommand:
    name = words.name()
    if words.take("BINARY"):
        raise StatementError(
            NOT_OFFERED, "gate.binary-cursors-not-offered", "binary cursors are not offered here"
        )
    while words.take("INSENSITIVE", "ASENSITIVE", "NO", "SCROLL"):
        pass
    words.need("CURSOR")
    holds = False
    if words.take("WITH", "WITHOUT"):
        holds = words.peek(-1) == "WITH"
        words.need("HOLD")
    words.need("FOR")
    return Declare(name, holds, words.place)


def _fetch(first: str, words: _Words) -> SessionCommand:
    words.take("FORWARD")
    count: int | None = 1
    if words.take("ALL"):
        count = None
    elif not words.take("NEXT"):
        found = words.count()
        count = 1 if found is None else found
    words.take("FROM", "IN")
    return Fetch(words.name(), count, only_moves=first == "MOVE")


def _close(first: str, words: _Words) -> SessionCommand:
    if first == "DEALLOCATE":
        words.take("PREPARE")
    what = "cursor" if first == "CLOSE" else "statement"
    tag = "CLOSE CURSOR" if first == "CLOSE" else "DEALLOCATE"
    if words.take("ALL"):
        return Forget(what, None, f"{tag} ALL")
    return Forget(what, words.name(), tag)


def _discard(_: str, words: _Words) -> SessionCommand:
    words.need("ALL", "PLANS", "SEQUENCES", "TEMP", "TEMPORARY")
    return Forget("everything", None, f"DISCARD {words.peek(-1)}")


def _unlisten(_: str, words: _Words) -> SessionCommand:
    words.rest()
    return SetVariable("", "", "UNLISTEN")


_READERS: dict[str, Callable[[str, _Words], SessionCommand]] = {
    "BEGIN": _begin,
    "START": _begin,
    "COMMIT": _commit,
    "END": _commit,
    "ROLLBACK": _rollback,
    "ABORT": _rollback,
    "SAVEPOINT": _savepoint,
    "RELEASE": _savepoint,
    "SET": _set,
    "RESET": _reset,
    "SHOW": _show,
    "DECLARE": _declare,
    "FETCH": _fetch,
    "MOVE": _fetch,
    "CLOSE": _close,
    "DEALLOCATE": _close,
    "DISCARD": _discard,
    "UNLISTEN": _unlisten,
}
