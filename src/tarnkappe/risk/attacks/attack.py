"""What an attack is: the contract that every file in this folder fulfils.

An attack takes a release as the attacker sees it (`Target`) and says who falls victim to it, what is
learned about them and why. Privacy models promise that attacks fail; attacks are replayed on every
release before it is handed over, so that the promise is seen to be kept.

The common tests in `tests/risk/test_attacks.py` compare every attack of the registry with a slow twin
in plain Python.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tarnkappe.errors import ColumnError
from tarnkappe.risk.ranking import Key, first_classes
from tarnkappe.table import Classes, Distribution, State
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Counts

EXAMPLES = 5


@dataclasses.dataclass(frozen=True, eq=False)
class Target:
    """A release as an attacker sees it, and what else he has in hand.

    Attributes:
        state: the classes and which of them are released. The sensitive columns are those whose
            distribution the classes hold.

    An attack that needs more than one release (an earlier one, a register with names) finds it here as
    a further attribute that is None by default; its `against` returns nothing where it is absent.
    """

    state: State

    @property
    def classes(self) -> Classes:
        """The classes of the release, suppressed ones included."""
        return self.state.classes

    @property
    def kept(self) -> Mask:
        """The classes that are released and hold rows."""
        return self.state.kept & self.classes.released

    @cached_property
    def rows(self) -> int:
        """How many rows are released."""
        return int(self.classes.sizes[self.kept].sum())

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that the attacker wants to learn."""
        return tuple(names[0] for names in self.classes.distributions if len(names) == 1)

    def distribution(self, column: str) -> Distribution:
        """The values of a sensitive column in each class."""
        if column not in self.sensitive:
            raise ColumnError(f"the values of '{column}' are not counted: name it as a sensitive column")
        return self.classes.distributions[(column,)]

    def released_totals(self, column: str) -> Counts:
        """How often each value of a sensitive column occurs in the whole release."""
        distribution = self.distribution(column)
        weights = np.where(self.kept[distribution.class_of_entry], distribution.counts, 0)
        totals = np.zeros(distribution.column.cardinality, np.int64)
        np.add.at(totals, distribution.codes, weights)
        return totals


@dataclasses.dataclass(frozen=True)
class VictimClass:
    """One class that an attack succeeds on: what its members have in common and what is learned."""

    labels: Mapping[str, str]
    size: int
    learned: str


@dataclasses.dataclass(frozen=True)
class AttackResult:
    """What an attack achieved.

    Attributes:
        attack: the name of the attack.
        title: its name for a reader.
        knowledge: what the attacker must know.
        parameters: with which parameters it was run.
        certain: whether what is learned is certain; otherwise it is probable, or needs knowledge that
            not every attacker has.
        victims: how many rows of the release fall victim.
        share: the same as a share of the released rows.
        classes: in how many classes they are.
        examples: some of these classes.
        explanation: what happens, in a sentence for a lay reader.
        evidence: further figures of this attack by name.
    """

    attack: str
    title: str
    knowledge: str
    parameters: Mapping[str, Any]
    certain: bool
    victims: int
    share: float
    classes: int
    examples: tuple[VictimClass, ...]
    explanation: str
    evidence: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def succeeds(self) -> bool:
        """Whether anybody falls victim."""
        return self.victims > 0

    def to_dict(self) -> dict[str, Any]:
        """The result, for JSON."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Attack(ABC):
    """An attack with its parameters."""

    name: ClassVar[str]
    title: ClassVar[str]
    knowledge: ClassVar[str] = "The quasi-identifiers of a person, and that the person is in the table."
    """What the attacker must know, in a sentence for a lay reader."""

    @classmethod
    @abstractmethod
    def against(cls, target: Target) -> Sequence[Attack]:
        """The attacks of this kind, with usual parameters, that can be run on a target."""

    @abstractmethod
    def run(self, target: Target) -> AttackResult:
        """Run the attack."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, as a user would give them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


@dataclasses.dataclass(frozen=True)
class ClassAttack(Attack):
    """An attack that succeeds on whole classes, each judged by itself."""

    @property
    def certain(self) -> bool:
        """Whether what is learned is certain."""
        return True

    @abstractmethod
    def succeeds(self, target: Target) -> Mask:
        """The classes that fall victim; suppressed ones do not matter."""

    @abstractmethod
    def learned(self, target: Target, class_index: int) -> str:
        """What the attacker learns about the members of a class."""

    @abstractmethod
    def success(self, target: Target, victims: str) -> str:
        """What happens to the victims, in a sentence; `victims` says how many people they are."""

    @abstractmethod
    def failure(self, target: Target) -> str:
        """What does not happen to anybody, in a sentence."""

    def evidence(self, target: Target) -> dict[str, Any]:
        """Further figures."""
        return {}

    def order(self, target: Target) -> Sequence[Key]:
        """Which victims are shown first: those in the largest classes, since most people are in them."""
        return [-target.classes.sizes]

    def run(self, target: Target) -> AttackResult:
        """Run the attack on every released class."""
        classes = target.classes
        hit = self.succeeds(target) & target.kept
        victims = int(classes.sizes[hit].sum())
        share = victims / target.rows if target.rows else 0.0
        shown = first_classes(classes, hit, self.order(target), EXAMPLES)
        return AttackResult(
            attack=self.name,
            title=self.title,
            knowledge=self.knowledge,
            parameters=self.parameters,
            certain=self.certain,
            victims=victims,
            share=share,
            classes=int(hit.sum()),
            examples=tuple(
                VictimClass(classes.labels(i), int(classes.sizes[i]), self.learned(target, i))
                for i in shown.tolist()
            ),
            explanation=self.success(target, people(victims, share)) if victims else self.failure(target),
            evidence=self.evidence(target),
        )


@dataclasses.dataclass(frozen=True)
class SensitiveAttack(ClassAttack):
    """An attack that learns the value of one sensitive column."""

    column: str

    @classmethod
    def against(cls, target: Target) -> Sequence[Attack]:
        """One attack on each sensitive column."""
        return [cls(column) for column in target.sensitive]

    def values(self, target: Target) -> Distribution:
        """The values of the sensitive column in each class."""
        return target.distribution(self.column)


def people(number: int, share: float) -> str:
    """A number of people with their share, as a report says it.

    >>> people(1234, 0.5), people(1, 0.00001)
    ('1,234 people (50.0 %)', '1 person (< 0.1 %)')
    """
    who = "1 person" if number == 1 else f"{number:,} people"
    return f"{who} ({'< 0.1' if share < 0.0005 else f'{100 * share:.1f}'} %)"
