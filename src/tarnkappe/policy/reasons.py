"""What keeps somebody from an answer, and what to write instead. Nothing here decides: who may see what is
settled by which tables a query runs over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction

from sqlglot import exp

from tarnkappe.algebra.numbers import number_text
from tarnkappe.algebra.plan import listed
from tarnkappe.algebra.sql.dialect import parse_query
from tarnkappe.algebra.sql.reading import choose
from tarnkappe.errors import QueryError
from tarnkappe.policy.policy_file import AccessPolicy, Sight
from tarnkappe.table import Role

_EXACT = {exp.Avg: "noisy_mean", exp.Sum: "noisy_sum", exp.Median: "noisy_median"}

Columns = Mapping[str, Collection[str]]
"""The columns of each table."""


def missing_right(policy: AccessPolicy, stored: Columns, visible: Columns, user: str, tree: exp.Expr) -> str:
    """The right that a query lacks, with what to change; empty if it is none.

    Args:
        policy: what is allowed.
        stored: all columns of the tables.
        visible: those that the user may see.
        user: who asks.
        tree: the query.
    """
    groups = ", ".join(f"'{group}'" for group in policy.groups_of(user))
    named = _named_tables(tree)
    for name in policy.tables:
        if choose(name, False, named) is None or name in visible or _only_in_noisy(tree, name):
            continue
        if policy.sight(user, name) is Sight.AGGREGATES:
            return (
                f"'{name}' may only be counted with noise by {groups}: write noisy_count(epsilon => 1), "
                "noisy_sum or noisy_mean"
            )
        return f"'{name}' may not be read by {groups}"
    for column in tree.find_all(exp.Column):
        for name, table in policy.tables.items():
            hidden = set(stored[name]) - set(visible.get(name, ()))
            if choose(name, False, named) is None or choose(column.name, False, hidden) is None:
                continue
            if table.role(column.name) is Role.IDENTIFIER:
                return (
                    f"'{column.name}' of {name} is an identifier, which {groups} may neither see nor "
                    "compare. Leave it out"
                )
            shown = listed(visible[name]) if name in visible else "nothing"
            return f"'{column.name}' of {name} is not shown to {groups}, who see {shown}. Leave it out"
    return ""


def exact_figure(tree: exp.Expr, labels: Mapping[str, Fraction]) -> str:
    """Why a figure of a generalized column is refused: its values are labels; empty if there is none.

    `labels` are the generalized columns, each with the epsilon that is left for its raw table.
    """
    for call in tree.find_all(*_EXACT):
        column = call.this if isinstance(call.this, exp.Column) else None
        known = choose(column.name, False, labels) if column is not None else None
        if known is None:
            continue
        left = labels[known]
        instead = f"{_EXACT[type(call)]}({known}, epsilon => 0.5, lower => 0, upper => 120)"
        hint = f"Write {instead}; {number_text(left)} is left to you" if left else "Count the labels instead"
        return f"{call.key}({known}) would be exact, and '{known}' is shown as labels. {hint}"
    return ""


def without_constants(text: str) -> str:
    """A query without its constants, for the log."""
    try:
        tree = parse_query(text)
    except QueryError:
        return ""
    return tree.transform(lambda node: exp.Placeholder() if isinstance(node, exp.Literal) else node).sql()


def _named_tables(tree: exp.Expr) -> set[str]:
    named = {table.name for table in tree.find_all(exp.Table)}
    operands = (call.expressions[0] for call in tree.find_all(exp.Anonymous) if call.expressions)
    return named | {operand.name for operand in operands if isinstance(operand, exp.Column)}


def _only_in_noisy(tree: exp.Expr, name: str) -> bool:
    """Whether a table is read by noisy aggregates alone."""
    for table in tree.find_all(exp.Table):
        if table.name.casefold() != name.casefold():
            continue
        around: exp.Expr | None = table.parent
        while around is not None and not any(
            call.name.lower().startswith("noisy_")
            for item in (around.expressions if isinstance(around, exp.Select) else ())
            for call in item.find_all(exp.Anonymous)
        ):
            around = around.parent
        if around is None:
            return False
    return True
