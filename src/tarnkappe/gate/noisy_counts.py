"""Counts with noise: an answer that is true on average, and that a budget pays for.

How many people of an answer have a sensitive value, the answer of the keeper says only roughly: artificial
values are in it. Where figures matter more than rows, they may be counted in the table itself and noised by
OpenDP's discrete Laplace distribution: with or without any one person, every answer is nearly as likely.

This takes nothing from anybody's possible values: any noise can come up with any table, so no table that was
possible before becomes impossible. What adds up is the epsilon. It is counted for each circle of users who
are presumed to share answers, spent before the answer leaves, and ends with the budget.

Which groups there are follows from the values that the policy names, not from those that the table has.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from tarnkappe.algebra.noisy.mechanisms import laplace
from tarnkappe.errors import AccessError
from tarnkappe.gate.column_gate import OTHER
from tarnkappe.gate.policy import Policy
from tarnkappe.gate.question import Question, Refused
from tarnkappe.gate.source import Source
from tarnkappe.state.budgets import Budgets
from tarnkappe.state.store import Store

NO_GROUPS = "noisy counts are grouped by sensitive columns whose values the policy names, and by no others"
SPENT = "the privacy budget for noisy counts is spent"
MOST_GROUPS = 10_000


class NoisyCounts:
    """Counts people with noise.

    Args:
        policy: whose users share a budget.
        source: the table.
        store: where the budgets are.
        epsilon: what one answer costs: the smaller, the more noise.
        budget: what a circle of users may spend in all.
    """

    def __init__(
        self, policy: Policy, source: Source, store: Store, epsilon: Fraction, budget: Fraction
    ) -> None:
        self.policy, self.source, self.epsilon, self.budget = policy, source, epsilon, budget
        self._budgets = Budgets(store)

    def answer(
        self, user: str, question: Question, grouped: Sequence[str]
    ) -> dict[tuple[str, ...], int] | Refused:
        """How many of the people whom a question selects are in each group; without groups there is one."""
        circle = self.policy.history_of(user)
        domains = []
        for name in grouped:
            column = self.policy.sensitive_column(name)
            if column is None or column.values is None:
                return Refused(NO_GROUPS)
            domains.append((*column.values, OTHER))
        groups = list(itertools.islice(itertools.product(*domains), MOST_GROUPS + 1))
        if len(groups) > MOST_GROUPS:
            return Refused(NO_GROUPS)
        known = self._budgets.of(circle, self.policy.table)
        if known is None or known.granted != self.budget:
            self._budgets.grant(circle, self.policy.table, self.budget)
        people = self.source.people(question)
        try:
            self._budgets.spend(circle, self.policy.table, self.epsilon)
        except AccessError:
            return Refused(SPENT)
        columns = [
            [_label(value, domain) for value in people.secrets[name]]
            for name, domain in zip(grouped, domains, strict=True)
        ]
        counts: Counter[tuple[str, ...]] = (
            Counter(zip(*columns, strict=True)) if columns else Counter({(): len(people.keys)})
        )
        noised = laplace([counts[group] for group in groups], 1, self.epsilon)
        return dict(zip(groups, (max(0, count) for count in noised), strict=True))


def _label(secret: str | None, domain: Sequence[str]) -> str:
    return secret if secret is not None and secret in domain else OTHER
