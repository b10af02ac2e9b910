"""Why a query runs as it does: both plans, every rewrite, what was refused, and what is let out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tarnkappe.algebra.facts import Declaration
from tarnkappe.algebra.json_document import plan_object
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import Anonymization, Binary, Grouping, Plan, Randomization, Relation
from tarnkappe.algebra.noise import NoiseDistribution, Static
from tarnkappe.algebra.numbers import number_text
from tarnkappe.algebra.optimizer import Rewriting
from tarnkappe.algebra.promises import Promise
from tarnkappe.algebra.roles import Warning
from tarnkappe.algebra.sql.printing import plan_sql
from tarnkappe.algebra.tree import plan_tree


@dataclass(frozen=True)
class LocalPrivacy:
    """How private a randomized cell is: its epsilon of local differential privacy, if it has one."""

    column: str
    probability: str
    epsilon: float | None

    def as_dict(self) -> dict[str, Any]:
        """The statement for machines."""
        return {"column": self.column, "probability": self.probability, "epsilon": self.epsilon}

    def __str__(self) -> str:
        stated = (
            "no finite epsilon"
            if self.epsilon is None
            else f"epsilon {self.epsilon:.3f} for one cell, among values that it may draw"
        )
        return f"{self.column} is noised with probability {self.probability}: {stated}"


def local_privacy(plan: Plan, noise: Mapping[str, NoiseDistribution]) -> tuple[LocalPrivacy, ...]:
    """What the randomizations of a plan mean for one cell, each by itself.

    Noise that depends on the old value, and a probability of 0, have no finite epsilon.
    """
    found = []
    for node in plan.walk():
        for column, probability in node.probabilities if isinstance(node, Randomization) else ():
            known = noise.get(column)
            private = isinstance(known, Static) and probability > 0
            epsilon = known.epsilon(probability) if isinstance(known, Static) and private else None
            found.append(LocalPrivacy(column, number_text(probability), epsilon))
    return tuple(found)


@dataclass(frozen=True)
class Explanation:
    """All that can be said of a query before it runs.

    Attributes:
        rewriting: what the optimizer did and refused, with estimated costs.
        warnings: what is let out, read from the query as it was written.
        promises: what the result can be held to.
        privacy: what its randomizations mean for one cell.
        costs: the epsilon that noisy aggregates take from the privacy budget of each table.
        relies_on: what is declared and must be true of the data; verified before the query runs.
        people: whether a k is a number of people, since it is declared who they are; else it counts rows.
    """

    rewriting: Rewriting
    warnings: tuple[Warning, ...]
    promises: tuple[Promise, ...]
    privacy: tuple[LocalPrivacy, ...]
    costs: Mapping[str, Fraction] = field(default_factory=dict)
    relies_on: tuple[Declaration, ...] = ()
    people: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The explanation for machines."""
        rewriting = self.rewriting
        return {
            "plan": {"written": _shown(rewriting.original), "chosen": _shown(rewriting.plan)},
            **rewriting.as_dict(),
            "promises": [promise.as_dict() for promise in self.promises],
            "warnings": [warning.as_dict() for warning in self.warnings],
            "local_privacy": [each.as_dict() for each in self.privacy],
            "costs": {table: float(epsilon) for table, epsilon in self.costs.items()},
            "counted": "people" if self.people else "rows",
            "relies_on": [str(declaration) for declaration in self.relies_on],
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        rewriting = self.rewriting
        yield "the plan as written:"
        yield from _indented(plan_tree(rewriting.original))
        if rewriting.steps:
            yield f"rewritten ({rewriting.mode}):"
            for number, step in enumerate(rewriting.steps, 1):
                yield from _indented(f"{number}. {step}")
            yield "the plan that runs:"
            yield from _indented(plan_tree(rewriting.plan))
            yield f"its result is {_in_words(rewriting)}"
        else:
            yield f"nothing is rewritten ({rewriting.mode})"
        for declaration in self.relies_on:
            yield f"declared, and verified before it runs: {declaration}"
        if rewriting.refused:
            yield "considered and refused:"
            for refusal in rewriting.refused:
                yield from _indented(str(refusal))
        before, after = rewriting.cost_before, rewriting.cost_after
        yield f"estimated cost: {before:,.0f} as written, {after:,.0f} as it runs"
        for partition in rewriting.partitions:
            yield f"{len(partition.parts)} parts can run at the same time ({', '.join(partition.techniques)})"
        yield from _raw_data(rewriting)
        for promise in self.promises:
            counted = "people are counted" if self.people else "rows are counted, not people"
            yield f"promised: {promise} ({counted})"
        for each in self.privacy:
            yield str(each)
        for table, epsilon in sorted(self.costs.items()):
            yield f"costs an epsilon of {number_text(epsilon)} of the privacy budget for '{table}'"
        for warning in self.warnings:
            yield f"warning: {warning}"


def _in_words(rewriting: Rewriting) -> str:
    if rewriting.kind.is_equal:
        return "equal: every answer is exactly as likely as before"
    kept = "; ".join(rewriting.lost) or "the promises are kept"
    return f"{rewriting.kind}; {kept}"


def _raw_data(rewriting: Rewriting) -> Iterator[str]:
    """Where raw rows are brought together before they are anonymized: the fewer places, the better."""
    before, after = (_meetings_of_raw_rows(plan) for plan in (rewriting.original, rewriting.plan))
    if before != after:
        yield f"joins, unions and groupings of raw rows: {before} as written, {after} as it runs"


def _meetings_of_raw_rows(plan: Plan) -> int:
    meets = isinstance(plan, Binary | Grouping) and any(_is_raw(child) for child in plan.children)
    return meets + sum(_meetings_of_raw_rows(child) for child in plan.children)


def _is_raw(plan: Plan) -> bool:
    if isinstance(plan, Anonymization | ModelGeneralization):
        return False
    return isinstance(plan, Relation) or any(_is_raw(child) for child in plan.children)


def _shown(plan: Plan) -> dict[str, Any]:
    return {"tree": plan_tree(plan).splitlines(), "sql": plan_sql(plan), "plan": plan_object(plan)}


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in text.splitlines())
