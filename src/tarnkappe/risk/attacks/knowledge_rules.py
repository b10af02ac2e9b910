"""Background knowledge as rules: what some people are known not to have leaves them one value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

import numpy as np
import numpy.typing as npt

from tarnkappe.privacy.exact import decimal
from tarnkappe.risk.attacks.attack import Attack, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.people import matching
from tarnkappe.risk.attacks.target import Target
from tarnkappe.schema import ExactShare, Name, param
from tarnkappe.table.grouping import group_codes


class KnowledgeRules(Attack):
    """Learn the sensitive value of a person after excluding what rules exclude.

    Victims are the people for whom rules exclude a row of their class, after which one value has at least the
    probability `confidence`. A rule about another sensitive column excludes the rows that have its value.
    l-diversity stops who excludes fewer than l - 1 values of the column itself. Rules that exclude
    every row of a class contradict the release; nothing follows from them.
    """

    name = "knowledge-rules"
    cites = ("machanavajjhala2007",)
    title = "Background knowledge as rules"
    needs = (AttackNeed.RELEASE, AttackNeed.PEOPLE, AttackNeed.RULES)
    knowledge = "What linking needs, and rules that say who does not have which value."

    column: Annotated[Name, param("the sensitive column", kind="column")]
    confidence: Annotated[
        ExactShare, param("the confidence from which on somebody is a victim", kind="share")
    ] = 1.0

    @classmethod
    def usual(cls, target: Target) -> Sequence[Attack]:
        about = {rule.column for rule in target.background.rules}
        return [cls(column) for column in target.sensitive if about & set(target.sensitive)]

    @property
    def certain(self) -> bool:
        return decimal(self.confidence) == 1

    def find(self, target: Target, shown: int | None) -> Victims:
        target.distribution(self.column)  # refuses a column that is not sensitive
        rules = [rule for rule in target.background.rules if rule.column in target.sensitive]
        people, fit = target.people, target.fit
        applies = np.zeros((len(rules), people.number), dtype=bool)
        for place, rule in enumerate(rules):
            applies[place] = matching(rule.where, people.table)
        # People of one kind, to whom the same rules apply, are judged together.
        grouping = group_codes(
            [people.kind_of_row, *applies.astype(np.int32)], [len(people.sizes), *[2] * len(rules)]
        )
        sizes = np.bincount(grouping.ids, minlength=grouping.num_groups).astype(np.int64)
        found: list[tuple[int, str, Fraction]] = []
        for group, row in enumerate(grouping.representatives.tolist()):
            held = [rule for rule, about_them in zip(rules, applies[:, row], strict=True) if about_them]
            excluded = {(rule.column, value) for rule in held for value in rule.excludes}
            guess = self._guess(target, fit.classes_for(int(people.kind_of_row[row])), excluded)
            if guess is not None and guess[1] >= decimal(self.confidence):
                found.append((group, *guess))

        def describe(place: int) -> VictimClass:
            group, value, chance = found[place]
            rows = np.flatnonzero(grouping.ids == group)
            kind = int(people.kind_of_row[rows[0]])
            learned = value if chance == 1 else f"{value} ({100 * float(chance):.0f} %)"
            return VictimClass(
                people.known(kind), len(rows), learned, float(chance), people.names_of_rows(rows)
            )

        return Victims(
            sizes=sizes[[group for group, _, _ in found]],
            certainties=np.array([float(chance) for _, _, chance in found]),
            describe=describe,
            among=people.number,
            classes=fit.of_kinds(people.kind_of_row[grouping.representatives[[g for g, _, _ in found]]]),
            success=lambda told: f"Knowing what they do not have discloses '{self.column}' of {told}.",
            failure=f"The rules exclude too little to disclose '{self.column}' of anybody.",
        )

    def _guess(
        self, target: Target, classes: npt.NDArray[np.int64], excluded: set[tuple[str, str]]
    ) -> tuple[str, Fraction] | None:
        """The likeliest value that is left, if the rules exclude any row that the classes show."""
        distribution, tuples = target.distribution(self.column), target.classes.tuples
        if (distribution.sizes[classes] < target.classes.sizes[classes]).any():
            return None  # a suppressed cell may hide any value
        rows = np.flatnonzero(np.isin(target.classes.ids, classes) & (tuples.counts > 0))
        possible = np.ones(len(rows), dtype=bool)
        for name in {name for name, _ in excluded}:
            column = tuples.columns[name]
            wrong = [code for code, label in enumerate(column.labels) if (name, label) in excluded]
            possible &= ~np.isin(column.codes[rows], wrong)
        if possible.all() or not possible.any():
            return None
        column = tuples.columns[self.column]
        left: Counter[str] = Counter()
        for row in rows[possible].tolist():
            left[column.labels[int(column.codes[row])]] += int(tuples.counts[row])
        value = min(left, key=lambda label: (-left[label], label))
        return value, Fraction(left[value], left.total())
