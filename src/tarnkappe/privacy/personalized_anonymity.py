"""Personalized anonymity: everybody says how much of her sensitive value may be inferred."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import numpy as np

from tarnkappe.errors import ColumnError
from tarnkappe.privacy.exact import decimal, sql_ratio
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity, literal
from tarnkappe.privacy.shares import quotients, ratios_at_most
from tarnkappe.privacy.verify import class_of, text
from tarnkappe.schema import MOST_VALUES, ExactShare, Name, Problem, Text, param, rule
from tarnkappe.table import MISSING, SUPPRESSED, Classes, Column, Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts, sum_by_group


class PersonalizedAnonymity(Model):
    """Nobody's sensitive value is inferred to lie under her guarding node with more than a bound.

    Xiao and Tao 2006. The sensitive column has a hierarchy; the column `guard` holds for each person the
    label of the node that she guards: a value, or something more general such as 'respiratory disease'.
    Who guards a node does not want it known that her value lies under it. A missing or empty guard asks
    for nothing. Where the column holds codes of a consent form, `nodes` tells the node for each code.

    For every guarded node of a class, the share of the class's rows whose value lies under the node is at
    most the bound p. A node that is above no value of the table cannot be breached.

    Why not monotone, even without suppression: the people of one class may not guard what those of another
    do. With a bound of 1/2, let the only guard of {flu, ulcer} guard the lung, and let nobody guard anything
    in {flu, flu}; both classes hold, but together three of four have a disease of the lung.
    """

    name = "personalized-anonymity"
    cites = ("xiao2006",)
    direction = Direction.AT_MOST

    column: Annotated[Name, param("the sensitive column", kind="column")]
    guard: Annotated[Name, param("the column with everybody's guarding node", kind="column")]
    p: Annotated[ExactShare, param("the largest probability of a breach", kind="share", start=0.5)]
    nodes: Annotated[
        Mapping[Text, Text],
        param(
            "what a guarding node stands for, where its column calls it by another name",
            kind="values",
            max_length=MOST_VALUES,
        ),
    ] = {}

    def rules(self) -> Iterator[Problem]:
        if self.column == self.guard:
            yield rule("model.guard-is-column", "the guarding nodes need a column of their own", "guard")

    @classmethod
    def examples(cls) -> tuple[PersonalizedAnonymity, ...]:
        return (
            cls("disease", "treatment", 0.5, nodes={"A": "lung", "B": ""}),
            cls("disease", "treatment", "2/3", nodes={"A": "flu", "B": "stomach"}),
        )

    @property
    def promise(self) -> str:
        return (
            f"What somebody does not want known about her '{self.column}', as she said in '{self.guard}', "
            f"cannot be inferred with a probability above {decimal(self.p)}."
        )

    @property
    def parameters(self) -> dict[str, object]:
        return {name: value for name, value in super().parameters.items() if value != {}}

    @property
    def bound(self) -> float:
        return float(decimal(self.p))

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            False, False, "A class may be merged with one in which nobody guards what everybody there has."
        )

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        return ((self.column, self.guard),)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        column = tuples.columns[self.column]
        if column.levels is None:
            raise ColumnError(
                "privacy.column-no-hierarchy-nodes",
                "{model}: the column '{column}' has no hierarchy, so its nodes cannot be guarded",
                model=self,
                column=self.column,
            )
        known = {*column.labels, *(label for labels in column.levels.labels for label in labels)}
        guarded = {self.node(label) for label in tuples.columns[self.guard].labels} - {""}
        if guarded and not guarded & known:
            raise ColumnError(
                "privacy.no-value-column-node",
                "{model}: no value of the column '{guard}' is a node of the hierarchy of '{column}'",
                model=self,
                guard=self.guard,
                column=self.column,
            )

    def node(self, label: str) -> str:
        """The node that a value of the guard column stands for; empty for none."""
        return self.nodes.get(label, "" if label == MISSING else label)

    def measure(self, classes: Classes) -> Measure:
        worst = np.zeros(classes.num_classes)
        for guarded, below, sizes in self._guarded(classes):
            worst = np.where(guarded, np.maximum(worst, quotients(below, sizes)), worst)
        return worst

    def holds(self, classes: Classes) -> Mask:
        good = np.ones(classes.num_classes, dtype=bool)
        for guarded, below, sizes in self._guarded(classes):
            good &= ~guarded | ratios_at_most(below, sizes, self.p)
        return good

    def _guarded(self, classes: Classes) -> Iterator[tuple[Mask, Counts, Counts]]:
        """For each node: the classes where it is guarded, the rows under it, the rows in all."""
        joint = classes.distributions[self.column, self.guard]
        (column, value_codes), (guard, guard_codes) = joint.column.parts
        nodes = np.array([self.node(label) for label in guard.labels], dtype=object)
        for node in sorted({*nodes.tolist()} - {""}):
            guarded = np.zeros(classes.num_classes, dtype=bool)
            guarded[joint.class_of_entry[(nodes == node)[guard_codes[joint.codes]]]] = True
            under = values_under(column, node)[value_codes[joint.codes]]
            yield guarded, _count(joint, under), joint.sizes

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.p)
        codes = "".join(f" WHEN {literal(c)} THEN {literal(node)}" for c, node in self.nodes.items())
        node = f"CASE {text(self.guard)}{codes} WHEN '{MISSING}' THEN '' ELSE {text(self.guard)} END"
        return f"""
            WITH members AS (
                SELECT {class_of(quasi_identifiers)} AS class, {text(self.column)} AS value, {node} AS node
                FROM release WHERE {text(self.column)} <> '{SUPPRESSED}'),
            sizes AS (SELECT class, count(*) AS size FROM members GROUP BY class),
            guarded AS (SELECT DISTINCT class, node FROM members WHERE node <> ''),
            under AS (SELECT value, label FROM levels UNION SELECT value, value FROM members),
            found AS (
                SELECT guarded.class, guarded.node, any_value(size) AS size, count(under.label) AS n
                FROM guarded JOIN sizes USING (class) JOIN members ON members.class = guarded.class
                LEFT JOIN under ON under.value = members.value AND under.label = guarded.node
                GROUP BY guarded.class, guarded.node)
            SELECT class, max(n / size) AS value,
                bool_and(n * {denominator} <= size * {numerator}) AS holds FROM found GROUP BY class"""


def values_under(column: Column, node: str) -> Mask:
    """Which values of a column lie under a node of its hierarchy, wherever the node stands."""
    under = np.array([label == node for label in column.labels], dtype=bool)
    if column.levels is not None:
        for labels, codes in zip(column.levels.labels, column.levels.maps, strict=True):
            under |= np.array([label == node for label in labels], dtype=bool)[codes]
    return under


def _count(joint: Distribution, entries: Mask) -> Counts:
    return sum_by_group(joint.class_of_entry[entries], joint.counts[entries], joint.num_classes)
