"""Minimality: that less generalization was not enough tells something about the values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.privacy.model import entries_of
from tarnkappe.risk.attacks.attack import Attack, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.target import Target
from tarnkappe.table import MISSING

Counts = npt.NDArray[np.int64]


class Violator(NamedTuple):
    """People who would have been a class one step earlier, and must have broken the model together."""

    kinds: tuple[int, ...]
    size: int
    values: tuple[str, ...]


class Minimality(Attack):
    """Learn values from knowing that the release was made with the fewest generalization steps.

    With one step less in some column the release would have broken distinct l-diversity: some group of people
    has fewer than l values. If only one group can be it, given the values of its class, its members are
    victims if fewer than l values remain for them. Choosing the steps otherwise than by minimality, or a
    model that looks at more than what was asked for, stops the attack.
    """

    name = "minimality"
    cites = ("wong2007",)
    title = "Minimality"
    needs = (AttackNeed.RELEASE, AttackNeed.PEOPLE, AttackNeed.MINIMAL_FOR)
    repaired_by = ()
    knowledge = (
        "Who exactly is in the table with which quasi-identifiers, the hierarchies, the model, "
        "and that no smaller number of generalization steps met it."
    )

    def find(self, target: Target, shown: int | None) -> Victims:
        model = target.background.minimal_for
        assert model is not None
        people, fit = target.people, target.fit
        exact = (fit.choices == 1).all() and (fit.class_sizes == target.classes.sizes)[target.kept].all()
        if not exact:
            raise ParameterError(
                "risk.minimality-needs-exactly-people",
                "minimality needs exactly the people who are in the release, nobody else",
            )
        found = {
            violator.kinds: violator
            for groups in self._one_step_less(target)
            if (violator := self._only_violator(target, groups)) is not None
            and len(violator.values) < model.l
        }
        victims = list(found.values())

        def describe(place: int) -> VictimClass:
            victim = victims[place]
            known = [people.known(kind) for kind in victim.kinds]
            labels = {name: " or ".join(dict.fromkeys(k[name] for k in known)) for name in known[0]}
            return VictimClass(
                labels, victim.size, " or ".join(victim.values), 1.0, people.names(victim.kinds)
            )

        return Victims(
            sizes=np.array([victim.size for victim in victims], dtype=np.int64),
            certainties=np.ones(len(victims)),
            describe=describe,
            among=people.number,
            success=lambda told: (
                f"That one generalization step less broke {model} leaves fewer than {model.l:g} values of "
                f"'{model.column}' for {told}."
            ),
            failure="That fewer generalization steps were not enough tells nothing certain about anybody.",
        )

    def _one_step_less(self, target: Target) -> Iterator[npt.NDArray[np.int64]]:
        """For every column that is generalized, the groups of people one level further down in it."""
        people = target.people
        labels: dict[str, list[list[str]]] = {}
        levels: dict[str, int] = {}
        for column in target.classes.quasi_identifiers:
            hierarchy = target.background.hierarchies.get(column.name)
            if hierarchy is None:
                raise HierarchyError(
                    "risk.minimality-needs-hierarchy",
                    "minimality needs the hierarchy of '{column}'",
                    column=column.name,
                )
            shown = {target.classes.labels(int(i))[column.name] for i in np.flatnonzero(target.kept)}
            levels[column.name] = released_level(hierarchy, shown, column.name)
            known = people.kinds.columns[column.name]
            texts = [None if label == MISSING else label for label in known.labels]
            labels[column.name] = [
                [hierarchy.label(texts[code], level) for code in known.codes.tolist()]
                for level in range(levels[column.name] + 1)
            ]
        for lowered in (name for name, level in levels.items() if level > 0):
            at = {name: level - (name == lowered) for name, level in levels.items()}
            rows = list(zip(*(labels[name][level] for name, level in at.items()), strict=True))
            number = {row: index for index, row in enumerate(dict.fromkeys(rows))}
            yield np.array([number[row] for row in rows], dtype=np.int64)

    def _only_violator(self, target: Target, groups: npt.NDArray[np.int64]) -> Violator | None:
        """The only group that can have broken the model, if there is only one."""
        model = target.background.minimal_for
        assert model is not None
        distribution = target.distribution(model.column)
        sizes = np.zeros(int(groups.max()) + 1, np.int64)
        np.add.at(sizes, groups, target.people.sizes)
        class_of = np.zeros(len(sizes), np.int64)
        class_of[groups[target.fit.pairs.left]] = target.fit.pairs.right
        found: list[Violator] = []
        for group, size in enumerate(sizes.tolist()):
            counts = dict(entries_of(distribution, int(class_of[group])))
            possible = [code for code in counts if counts[code] + _largest(counts, code, model.l - 2) >= size]
            if possible:
                kinds = tuple(np.flatnonzero(groups == group).tolist())
                values = tuple(sorted(distribution.column.labels[code] for code in possible))
                found.append(Violator(kinds, size, values))
                if len(found) > 1:
                    return None
        return found[0] if found else None


def released_level(hierarchy: Hierarchy, labels: set[str], column: str) -> int:
    """The lowest level on which a column shows all these labels."""
    for level in range(hierarchy.height + 1):
        if labels <= set(hierarchy.labels(level)):
            return level
    raise HierarchyError(
        "risk.cells-not-labels-level",
        "the cells of '{column}' are not labels of one level of its hierarchy",
        column=column,
    )


def _largest(counts: dict[int, int], without: int, number: int) -> int:
    """The sum of the largest counts of other values."""
    return sum(sorted((n for code, n in counts.items() if code != without), reverse=True)[: max(number, 0)])
