"""Runs statements over protected answers, each in a process of its own that knows these answers alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from tarnkappe.gate.question import AnswerRows, GateQuery, RefusedQuery
from tarnkappe.gate.server.bounded_engine import BoundedEngine, FailedError, TooLargeError, TooLongError
from tarnkappe.gate.server.catalog import result_field
from tarnkappe.gate.sql.errors import CANCELED, NOT_OFFERED, TOO_LARGE, StatementError
from tarnkappe.gate.sql.sql_above import ENGINE_KINDS, ProtectedScan, SqlAbove
from tarnkappe.gate.sql.types import ResultField
from tarnkappe.table.formats.address import quoted

LONGEST_SECONDS = 5.0
MOST_ROWS = 1_000_000
MOST_GROUPS = 200
NOTICE = (
    "Computed over protected rows, which may contain artificial values and link values to nothing but the "
    "groups of GROUP BY."
)
Rows = tuple[tuple[Any, ...], ...]
Ask = Callable[[GateQuery], AnswerRows | RefusedQuery]


def protected_rows(scan: ProtectedScan, values: Sequence[Any], ask: Ask) -> Rows | RefusedQuery:
    """The answer of one place where the table stands: one question, or one for each group."""
    question = scan.query.question(values)
    if not scan.grouped:
        found = ask(question)
        return found if isinstance(found, RefusedQuery) else found.rows
    names = tuple(column.name for column in scan.grouped)
    found = ask(dataclasses.replace(question, columns=names))
    if isinstance(found, RefusedQuery):
        return found
    groups = list(dict.fromkeys(found.rows))
    if len(groups) > MOST_GROUPS:
        raise StatementError(
            NOT_OFFERED,
            "gate.groups-people-too-many",
            "{groups} groups of people are too many, {most_groups} at most",
            groups=len(groups),
            most_groups=MOST_GROUPS,
        )
    rows: list[tuple[Any, ...]] = []
    for group in groups:
        part = ask(_of_group(question, names, group))
        if isinstance(part, RefusedQuery):
            return part
        rows += part.rows
    return tuple(rows)


def _of_group(question: GateQuery, names: Sequence[str], group: Sequence[Any]) -> GateQuery:
    parts = [] if question.where is None else [f"({question.where})"]
    parts += [
        f"{quoted(n)} IS NULL" if cell is None else f"{quoted(n)} = ?"
        for n, cell in zip(names, group, strict=True)
    ]
    taken = [cell for cell in group if cell is not None]
    return GateQuery(question.columns, " AND ".join(parts), (*question.parameters, *taken))


def computed(
    above: SqlAbove, answers: Sequence[Rows], values: Sequence[Any] = ()
) -> tuple[tuple[ResultField, ...], list[tuple[Any, ...]], int]:
    """What a statement gives over the answers of its places: columns, rows, and how many bytes they are."""
    made = [_table(scan, rows) for scan, rows in zip(above.scans, answers, strict=True)]
    return _run(above.statement, made, {str(number + 1): values[number] for number in above.used})


def computed_fields(above: SqlAbove) -> tuple[ResultField, ...]:
    """The columns that a statement will give."""
    made = tuple(_table(scan, ())[0] for scan in above.scans)
    return _fields(above.statement, made, above.used)


@lru_cache(maxsize=256)
def _fields(statement: str, made: tuple[str, ...], used: frozenset[int]) -> tuple[ResultField, ...]:
    given = dict.fromkeys(str(number + 1) for number in used)
    return _run(statement, [(one, [[]] * one.count("unnest(")) for one in made], given)[0]


def _run(
    statement: str, made: Sequence[tuple[str, Sequence[Any]]], given: Mapping[str, Any]
) -> tuple[tuple[ResultField, ...], list[tuple[Any, ...]], int]:
    engine = BoundedEngine(made)
    try:
        (columns, rows), size = engine.ask(statement, given, {}, MOST_ROWS, LONGEST_SECONDS)
    except TooLongError:
        raise StatementError(
            CANCELED, "gate.what-computed-over-answers", "what is computed over the answers takes too long"
        ) from None
    except TooLargeError:
        raise StatementError(
            TOO_LARGE,
            "gate.what-computed-over-answers-takes",
            "what is computed over the answers takes too much memory",
        ) from None
    except FailedError:
        raise StatementError(
            NOT_OFFERED,
            "gate.what-computed-over-answers-failed",
            "what is computed over the answers failed: a column, a type or a function does not fit",
        ) from None
    finally:
        engine.close()
    return tuple(result_field(name, kind) for name, kind in columns), rows, size


def _table(scan: ProtectedScan, rows: Rows) -> tuple[str, list[Any]]:
    """The statement that makes the table of an answer, and its columns."""
    asked = scan.query.asked
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in asked]
    parts = [
        f"unnest(CAST(? AS {ENGINE_KINDS.get(column.shown.name, 'VARCHAR')}[])) AS {quoted(column.name)}"
        for column in asked
    ]
    return f"CREATE TABLE {quoted(scan.name)} AS SELECT {', '.join(parts)}", columns
