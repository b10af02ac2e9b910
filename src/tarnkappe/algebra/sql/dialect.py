"""The SQL that we read: sqlglot's general dialect, in which words of other statements are plain names.

We read queries only, so `ALTER` is no statement but a good name for a column (German for age).
What stands in an error is a position and what to do, never a piece of the query: it may quote personal data.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from tarnkappe.errors import QueryError, Reason

STATEMENTS = frozenset(
    """
    ALTER ANALYZE ATTACH BEGIN CACHE CALL CLUSTER COMMENT COMMIT COPY CREATE DEALLOCATE DECLARE DELETE
    DESCRIBE DETACH DO DROP EXECUTE EXPLAIN EXPORT GET GRANT IMPORT INSERT INSTALL KILL LISTEN LOAD
    LOCK MERGE NOTIFY OPTIMIZE PRAGMA PREPARE PUT REFRESH REINDEX RENAME REPLACE RESET REVOKE ROLLBACK
    SAVEPOINT SECURITY SET SHOW START SUMMARIZE TRUNCATE UNCACHE UNLOAD UPDATE UPSERT USE VACUUM
    """.split()  # noqa: SIM905 - words are easier to read than a list of them
)
"""How statements that are no queries begin; as names inside a query these words are free."""

_ENDS = (
    TokenType.COMMA,
    TokenType.R_PAREN,
    TokenType.R_BRACKET,
    TokenType.R_BRACE,
    TokenType.FROM,
    TokenType.WHERE,
)
_STARTS = (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN)


class TarnSQL(Dialect):
    """SQL queries, where the words of other statements are free for names."""

    class Tokenizer(tokens.Tokenizer):
        """Without the keywords of other statements, and without pipes, which change what names mean."""

        KEYWORDS: ClassVar = {
            word: token
            for word, token in tokens.Tokenizer.KEYWORDS.items()
            if word not in STATEMENTS and word != "|>"
        }
        COMMANDS: ClassVar = set()


def parse_query(text: str) -> exp.Expr:
    """The syntax tree of one query; anything else is refused with its position."""
    words = _tokens(text)
    end = next((i for i, word in enumerate(words) if word.token_type == TokenType.SEMICOLON), len(words))
    further = [word for word in words[end:] if word.token_type != TokenType.SEMICOLON]
    if further:
        raise error_at(
            text,
            further[0].start,
            Reason(
                "algebra.second-statement-begins-here-query",
                "a second statement begins here; one query at a time, please",
            ),
        )
    if end == 0:
        raise QueryError("algebra.query-empty-write-select", "The query is empty. Write SELECT ... FROM ...")
    _refuse_statements(text, words[0])
    _refuse_gaps(text, words[:end])
    return _parse(text, words[:end], None)


def parse_predicate(text: str) -> exp.Expr:
    """The syntax tree of a predicate alone."""
    words = _tokens(text)
    if not words:
        raise QueryError(
            "algebra.predicate-empty-write-comparison",
            "The predicate is empty. Write a comparison like alter >= 30.",
        )
    _refuse_gaps(text, words)
    return _parse(text, words, exp.Condition)


def error_at(text: str, position: int, message: Reason) -> QueryError:
    """An error that says the line and the column (both from 1) of a position in the query."""
    before = text[:position]
    line = before.count("\n") + 1
    return QueryError(
        "algebra.line-column",
        "Line {line}, column {position}: {message}.",
        line=line,
        position=position - (before.rfind(chr(10)) + 1) + 1,
        message=message,
    )


def position_of(node: exp.Expr) -> int:
    """Where in the text the node stands, as far as its parts or the nodes around it know."""
    around: exp.Expr | None = node
    while around is not None:
        known = [part.meta["start"] for part in around.walk() if "start" in part.meta]
        if known:
            return int(min(known))
        around = around.parent
    return 0


def _tokens(text: str) -> list[Token]:
    try:
        return TarnSQL().tokenize(text)
    except TokenError:
        raise QueryError(
            "algebra.query-breaks-off-inside",
            "The query breaks off inside a quoted text, a name or a comment.",
        ) from None


def _refuse_statements(text: str, first: Token) -> None:
    if first.token_type in _STARTS:
        return
    word = first.text.upper()
    what = (
        Reason("algebra.word-no-query", "{word} is no query", word=word)
        if word in STATEMENTS
        else Reason("algebra.query-begins-select-with", "a query begins with SELECT or WITH")
    )
    raise error_at(
        text,
        first.start,
        Reason(
            "algebra.only-queries-read-here-nothing-changes",
            "{what}; only queries are read here, nothing that changes or runs anything",
            what=what,
        ),
    )


def _refuse_gaps(text: str, words: list[Token]) -> None:
    """Refuse a comma with nothing after it, which the parser forgives: a list must say all that is meant."""
    for word, following in zip(words, [*words[1:], None], strict=True):
        if word.token_type == TokenType.COMMA and (following is None or following.token_type in _ENDS):
            raise error_at(
                text, word.start, Reason("algebra.nothing-follows-comma", "nothing follows this comma")
            )


def _parse(text: str, words: list[Token], into: Any) -> exp.Expr:
    parser = TarnSQL().parser()
    try:
        trees = parser.parse_into(into, words, text) if into else parser.parse(words, text)
    except RecursionError:
        raise QueryError("algebra.query-nested-too-deeply", "The query is nested too deeply.") from None
    except ParseError as error:
        raise _syntax_error(text, error) from None
    if len(trees) != 1 or trees[0] is None:
        raise QueryError("algebra.query-predicate-read-time", "One query or one predicate is read at a time.")
    return trees[0]


def _syntax_error(text: str, error: ParseError) -> QueryError:
    while isinstance(error.__cause__, ParseError):
        error = error.__cause__
    known = error.errors[0] if error.errors else {}
    if not known.get("line"):
        return QueryError(
            "algebra.query-not-understood-write",
            "The query is not understood. Write SELECT ... FROM ... WHERE ...",
        )
    end_of_word = sum(len(line) + 1 for line in text.split("\n")[: known["line"] - 1]) + known["col"]
    position = max(end_of_word - len(known.get("highlight") or ""), 0)
    description = str(known.get("description"))
    expected = description.removeprefix("Expecting ")
    missing = Reason("algebra.something", "something") if expected == description else f"'{expected}'"
    return error_at(
        text,
        position,
        Reason(
            "algebra.query-cannot-understood-here-may-missing",
            "the query cannot be understood from here on; {missing} may be missing",
            missing=missing,
        ),
    )
