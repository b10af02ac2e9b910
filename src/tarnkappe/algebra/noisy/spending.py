"""What a query spends of the privacy budget of each base relation.

Everything that is drawn is released, so costs add up: two noisy aggregates of one grouping, two columns
noised in one row, and two occurrences of `randomize(t)` in one query each cost their own epsilon. A row is in
one group only, so all groups of one aggregate together cost what one does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from fractions import Fraction

from tarnkappe.algebra.nodes import (
    Grouping,
    Plan,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    Union,
)
from tarnkappe.algebra.noise import NoiseDistribution, Static
from tarnkappe.algebra.noisy.stability import reach
from tarnkappe.algebra.person_paths import path_of, payer
from tarnkappe.algebra.persons import Persons
from tarnkappe.algebra.plan import listed
from tarnkappe.errors import ParameterError

_UPWARD = 1 + Fraction(1, 10**12)
"""More than the error of a logarithm in floating point."""


def spending(
    plan: Plan,
    noise: Mapping[str, NoiseDistribution],
    persons: Persons | None = None,
    public: Collection[str] = (),
) -> dict[str, Fraction]:
    """The epsilon that an answer to the plan costs, for each base relation or space of people that pays.

    A noisy aggregate is calibrated to the rows that a row of a base relation reaches: it costs its epsilon.
    Randomized response costs, for every noised column, ln(1 + (1-p)/(p·min q)), as often as a row of the
    base relation is noised. That holds for values that the distribution can draw; run such a query with
    `promised`, which refuses others.

    Raises:
        ParameterError: no epsilon follows, since noise depends on the old value, or rows were chosen,
            multiplied or lifted by what the noise is to hide.
    """
    total: dict[str, Fraction] = {}

    def pay(relation: str, epsilon: Fraction) -> None:
        total[relation] = total.get(relation, Fraction(0)) + epsilon

    for node in plan.walk():
        if isinstance(node, Randomization):
            noised = {column: p for column, p in node.probabilities if p and column in node.schema}
            epsilon = sum((_epsilon(column, noise, p) for column, p in noised.items()), Fraction(0))
            if noised:
                for relation, times in _noised_rows(node.child, noised).items():
                    path = path_of(persons or {}, relation)
                    most = 1 if path is None else path.rows  # every row of a person is noised by itself
                    pay(payer(persons or {}, relation), times * most * epsilon)
        if isinstance(node, Grouping) and any(aggregate.noise for aggregate in node.aggregates):
            epsilon = sum((a.noise.epsilon for a in node.aggregates if a.noise), Fraction(0))
            for each in reach(node.child, persons, public):
                pay(each, epsilon)
    return total


def _epsilon(column: str, noise: Mapping[str, NoiseDistribution], p: Fraction) -> Fraction:
    distribution = noise.get(column)
    if not isinstance(distribution, Static):
        known = "depends on the old value" if distribution else "is not known"
        raise ParameterError(
            "algebra.noise-no-epsilon-follows-no-budget",
            "The noise of '{column}' {known}, so no epsilon follows and no budget can pay for it.",
            column=column,
            known=known,
        )
    return Fraction(distribution.epsilon(p)) * _UPWARD


def _noised_rows(plan: Plan, hidden: Collection[str]) -> Counter[str]:
    """For each base relation, how often one of its rows is noised, none of it told by the hidden columns."""
    match plan:
        case Relation(name):
            return Counter({name: 1})
        case Projection(child, _, False):
            return _noised_rows(child, hidden)
        case Rename(child, names):
            old = {new: old for old, new in names}
            return _noised_rows(child, {old.get(column, column) for column in hidden})
        case Selection(child, predicate):
            if told := predicate.columns & set(hidden):
                raise ParameterError(
                    "algebra.rows-chosen-before-noise",
                    "Rows are chosen by {told} before the noise, which tells what the noise is to hide: no "
                    "epsilon follows. Randomize first, and select then.",
                    told=listed(told),
                )
            return _noised_rows(child, hidden)
        case Randomization(child):
            return _noised_rows(child, set(hidden) - plan.attributes)
        case Union(left, right):
            return _noised_rows(left, hidden) + _noised_rows(right, hidden)
    raise ParameterError(
        "algebra.no-epsilon-follows-noise",
        "No epsilon follows for noise above the operator {name}, where one row may change or multiply "
        "others. Randomize the base tables themselves.",
        name=type(plan).__name__,
    )
