"""From a statement to what it asks for. Whatever is not allowed by name is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from tarnkappe.gate.sql.catalog_reader import CatalogQuery, read_catalog_query
from tarnkappe.gate.sql.dialect import parsed, words_of
from tarnkappe.gate.sql.errors import (
    GROUPING,
    NOT_ALLOWED,
    NOT_OFFERED,
    TOO_COMPLEX,
    StatementError,
)
from tarnkappe.gate.sql.operands import BindParameters
from tarnkappe.gate.sql.select_reader import is_protected, read_select
from tarnkappe.gate.sql.selection import AllowedQuery
from tarnkappe.gate.sql.session_commands import Declare, SessionCommand, read_session_command
from tarnkappe.gate.sql.sql_above import SqlAbove, read_sql_above
from tarnkappe.gate.sql.view import TableView

ABOVE = (NOT_OFFERED, NOT_ALLOWED, GROUPING)
"""Why a query that the gate does not answer itself may be one over its answers."""
QUERIES = (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.VALUES)


@dataclasses.dataclass(frozen=True)
class Nothing:
    """An empty statement."""


@dataclasses.dataclass(frozen=True)
class OpenCursor:
    """A cursor and the query that it is for."""

    name: str
    holds: bool
    query: AllowedQuery | SqlAbove | CatalogQuery


Query = AllowedQuery | SqlAbove | CatalogQuery
Statement = Query | OpenCursor | SessionCommand | Nothing


def read(text: str, view: TableView, declared: Sequence[int] = ()) -> Statement:
    """What a statement asks for.

    Args:
        text: the statement.
        view: the protected table as clients see it.
        declared: the numbers of the types of parameters, 0 where the client leaves them open.
    """
    words = words_of(text)
    if not words:
        return Nothing()
    try:
        command = read_session_command(words)
        if isinstance(command, Declare):
            query = _query(words[command.query :], text, view, declared)
            return OpenCursor(command.name, command.holds, query)
        return command if command is not None else _query(words, text, view, declared)
    except RecursionError:
        raise StatementError(
            TOO_COMPLEX, "gate.statement-nested-too-deeply", "the statement is nested too deeply"
        ) from None


def _query(words: list[Token], text: str, view: TableView, declared: Sequence[int]) -> Query:
    if not words or words[0].token_type not in QUERIES:
        raise StatementError(
            NOT_OFFERED,
            "gate.only-queries-protected-table",
            "only queries of the protected table are offered here",
        )
    tree = parsed(words, text)
    if any(is_protected(table, view) for table in tree.find_all(exp.Table)):
        return _protected(tree, view, declared)
    return read_catalog_query(tree, view, declared)


def _protected(tree: exp.Expr, view: TableView, declared: Sequence[int]) -> AllowedQuery | SqlAbove:
    """A query of the protected table: one that the gate answers itself, or one over its answers."""
    try:
        if not isinstance(tree, exp.Select):
            raise StatementError(
                NOT_OFFERED, "gate.queries-kind-not-offered", "queries of this kind are not offered here"
            )
        return read_select(tree.copy(), view, BindParameters(declared))
    except StatementError as refused:
        if not view.post_processing or refused.sqlstate not in ABOVE:
            raise
    return read_sql_above(tree, view, BindParameters(declared))
