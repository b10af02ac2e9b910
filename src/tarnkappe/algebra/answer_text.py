"""What there is to say of an answer to SQL, beside its rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.algebra.optimizer import RewriteMode

if TYPE_CHECKING:
    from tarnkappe.algebra.query_result import QueryResult
    from tarnkappe.state.budgets import Budget

SHOWN = 20
"""How many rows are shown unless somebody says otherwise."""


def answer_lines(result: QueryResult, shown: int, out: Path | None) -> list[str]:
    """What there is to say of an answer, beside its rows."""
    rows = result.coded.num_rows
    lines = [f"{rows:,} rows" + (f", {shown} shown" if out is None and rows > shown else "")]
    steps = [step.rule for step in result.explanation.rewriting.steps]
    if steps:
        rewriting = result.explanation.rewriting
        lines.append(f"rewritten by {', '.join(steps)}: {rewriting.kind}")
    if result.explanation.rewriting.mode is RewriteMode.EXPLICIT:
        lines += [f"not done: {refusal}" for refusal in result.explanation.rewriting.refused]
    lines += [f"verified: {kept}" for kept in result.verified]
    lines += [f"verified where it ran: {each.model.promise}" for each in result.models]
    if result.degree is not None and not result.verified:
        lines.append(f"not promised, but measured: the smallest class has {result.degree} rows")
    lines += [str(each) for each in result.explanation.privacy]
    lines += [budget_text(budget) for budget in result.spent.values()]
    return [*lines, *([f"written to {out}"] if out is not None else [])]


def budget_text(budget: Budget) -> str:
    """What of a budget is spent, in a line."""
    return (
        f"{budget.user} may spend {float(budget.granted):g} on {budget.table}: "
        f"{float(budget.spent):g} is spent, {float(budget.left):g} is left"
    )
