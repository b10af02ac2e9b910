"""PostgreSQL's SQL as sqlglot reads it, in which words of other statements are plain names."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import Token, TokenType

from tarnkappe.algebra.sql.dialect import STATEMENTS
from tarnkappe.gate.sql.errors import NOT_OFFERED, SYNTAX, TOO_COMPLEX, StatementError

MOST_STATEMENTS = 100
"""The most statements of one message."""
LONGEST = 65_536
"""The most characters of a statement: longer ones only keep the parser busy."""
MOST_TOKENS = 8_192
STEPS = (2_000, 20)
"""The most steps of the parser for any statement, and for each of its words. Some nested expressions are read
again and again, twice as often on every level: sixteen words would keep it busy for seconds.
"""

logging.getLogger("sqlglot").disabled = True  # it would write statements, and they may name people


class GateSQL(Postgres):
    """Queries of PostgreSQL, where the words of other statements are free for names."""

    class Tokenizer(Postgres.Tokenizer):
        """Without the keywords of other statements: those are recognized before anything is parsed."""

        KEYWORDS: ClassVar = {
            word: token
            for word, token in Postgres.Tokenizer.KEYWORDS.items()
            if word not in STATEMENTS or word == "END"  # of CASE
        }
        COMMANDS: ClassVar = set()

    class Parser(PostgresParser):
        """A parser that gives up on a statement that takes many more steps than it has words."""

        _steps = 0

        def _advance(self, times: int = 1) -> None:
            self._steps += 1
            if self._steps > STEPS[0] + STEPS[1] * len(self._tokens):
                raise StatementError(
                    TOO_COMPLEX, "gate.statement-nested-too-deeply", "the statement is nested too deeply"
                )
            super()._advance(times)


def statements_of(text: str) -> list[str]:
    """The statements of a message, which are separated by semicolons; a single one as it is."""
    ends = [word.start for word in _tokens(text) if word.token_type == TokenType.SEMICOLON]
    if not ends:
        return [text]
    parts = [
        text[begin:end]
        for begin, end in zip([0, *(end + 1 for end in ends)], [*ends, len(text)], strict=True)
    ]
    found = [part for part in parts if _tokens(part)]
    if len(found) > MOST_STATEMENTS:
        raise StatementError(
            TOO_COMPLEX,
            "gate.too-many-statements",
            "a message may have {most} statements",
            most=MOST_STATEMENTS,
        )
    return found or [""]


def words_of(text: str) -> list[Token]:
    """The words of one statement, without comments and without the semicolon at its end."""
    words = _tokens(text)
    while words and words[-1].token_type == TokenType.SEMICOLON:
        words.pop()
    if any(word.token_type == TokenType.SEMICOLON for word in words):
        raise StatementError(
            SYNTAX,
            "gate.several-commands-prepared",
            "cannot insert multiple commands into a prepared statement",
        )
    if len(words) > MOST_TOKENS:
        raise StatementError(TOO_COMPLEX, "gate.statement-too-long", "the statement is too long")
    return words


def _tokens(text: str) -> list[Token]:
    if len(text) > LONGEST:
        raise StatementError(TOO_COMPLEX, "gate.statement-too-long", "the statement is too long")
    if "\x00" in text:
        raise StatementError(SYNTAX, "gate.syntax-error", "syntax error")
    try:
        return GateSQL().tokenize(text)
    except (SqlglotError, ValueError, IndexError):
        raise StatementError(SYNTAX, "gate.syntax-error", "syntax error") from None


def parsed(words: list[Token], text: str) -> exp.Expr:
    """The syntax tree of a query."""
    try:
        trees = GateSQL().parser().parse(_with_schema(words), text)
    except RecursionError:
        raise StatementError(
            TOO_COMPLEX, "gate.statement-nested-too-deeply", "the statement is nested too deeply"
        ) from None
    except (SqlglotError, ValueError, TypeError, AttributeError, KeyError, IndexError):
        raise StatementError(SYNTAX, "gate.syntax-error", "syntax error") from None
    if len(trees) != 1 or trees[0] is None:
        raise StatementError(SYNTAX, "gate.syntax-error", "syntax error")
    return trees[0]


def _with_schema(words: list[Token]) -> list[Token]:
    """The words with `oid[]` as `pg_catalog.oid[]`, which sqlglot reads and the other it does not."""
    found: list[Token] = []
    for place, word in enumerate(words):
        kinds = [follower.token_type for follower in words[place + 1 : place + 3]]
        if (
            word.token_type == TokenType.OBJECT_IDENTIFIER
            and kinds == [TokenType.L_BRACKET, TokenType.R_BRACKET]
            and (place == 0 or words[place - 1].token_type != TokenType.DOT)
        ):
            where = (word.line, word.col, word.start, word.end)
            found += [Token(TokenType.VAR, "pg_catalog", *where), Token(TokenType.DOT, ".", *where)]
        found.append(word)
    return found


def only(node: exp.Expr, allowed: Iterable[str], what: str) -> None:
    """Refuse a node that says more than is allowed: what we do not know, we do not pass over."""
    for name, value in node.args.items():
        if name not in allowed and not _says_nothing(value):
            raise StatementError(
                NOT_OFFERED, "gate.kind-not-offered", "{what} of this kind are not offered here", what=what
            )


def _says_nothing(value: Any) -> bool:
    return value is None or value is False or value == [] or value == ""
