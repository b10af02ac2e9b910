"""Background knowledge as rules: what some people are known not to have leaves them one value."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tarnkappe.privacy.exact import Exact, decimal
from tarnkappe.privacy.model import entries_of
from tarnkappe.privacy.shares import require_share
from tarnkappe.risk.attacks.attack import Attack, Found, VictimClass
from tarnkappe.risk.attacks.background import Need
from tarnkappe.risk.attacks.people import matching
from tarnkappe.risk.attacks.target import Target
from tarnkappe.table.grouping import group_codes


@dataclasses.dataclass(frozen=True)
class KnowledgeRules(Attack):
    """Learn the sensitive value of a person after excluding what rules exclude.

    Victims are the people for whom a rule excludes a value that their class shows, after which one value
    has at least the probability `confidence`. l-diversity stops an attacker who excludes fewer than l - 1
    values. Rules that exclude every value of a class contradict the release; nothing follows from them.
    """

    name = "knowledge-rules"
    title = "Background knowledge as rules"
    needs = (Need.RELEASE, Need.PEOPLE, Need.RULES)
    knowledge = "What linking needs, and rules that say who does not have which value."

    column: str
    confidence: Exact = 1.0

    def __post_init__(self) -> None:
        require_share(self.name, "confidence", self.confidence)

    @classmethod
    def usual(cls, target: Target) -> Sequence[Attack]:
        about = {rule.column for rule in target.background.rules}
        return [cls(column) for column in target.sensitive if column in about]

    @property
    def certain(self) -> bool:
        return decimal(self.confidence) == 1

    def find(self, target: Target, shown: int | None) -> Found:
        target.distribution(self.column)  # refuses a column that is not sensitive
        rules = [rule for rule in target.background.rules if rule.column == self.column]
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
            excluded = {value for rule in held for value in rule.excludes}
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

        return Found(
            sizes=sizes[[group for group, _, _ in found]],
            certainties=np.array([float(chance) for _, _, chance in found]),
            describe=describe,
            among=people.number,
            classes=fit.of_kinds(people.kind_of_row[grouping.representatives[[g for g, _, _ in found]]]),
            success=lambda told: f"Knowing what they do not have discloses '{self.column}' of {told}.",
            failure=f"The rules exclude too little to disclose '{self.column}' of anybody.",
        )

    def _guess(
        self, target: Target, classes: npt.NDArray[np.int64], excluded: set[str]
    ) -> tuple[str, Fraction] | None:
        """The likeliest value that is left, if the rules exclude any that the classes show."""
        distribution = target.distribution(self.column)
        labels = distribution.column.labels
        counts: Counter[str] = Counter()
        for index in classes.tolist():
            if distribution.sizes[index] < target.classes.sizes[index]:
                return None  # a suppressed cell may hide any value
            counts.update({labels[code]: number for code, number in entries_of(distribution, index)})
        left = {value: number for value, number in counts.items() if value not in excluded}
        if not left or len(left) == len(counts):
            return None
        value = min(left, key=lambda label: (-left[label], label))
        return value, Fraction(left[value], sum(left.values()))
