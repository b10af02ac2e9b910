"""What an attack is: the contract that every file in this folder fulfils.

An attack takes what the attacker has in hand (`Target`: the release, and a `Background` of people,
earlier releases, rules, answers) and says who falls victim to it, what is learned about them, how
surely and why. It declares what it needs; `against` returns nothing where that is absent. Privacy
models promise that attacks fail; attacks are replayed on every release before it is handed over, so
that the promise is seen to be kept.

The common tests in `tests/risk/test_attacks.py` compare every attack of the registry with a slow twin
in plain Python.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tarnkappe.privacy.model import Measure
from tarnkappe.risk.attacks.background import AttackNeed, missing
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.ranking import Key, first_classes
from tarnkappe.schema import Name, Parameters, fields_of, param
from tarnkappe.table import Distribution
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Counts

EXAMPLES = 5
Indices = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class VictimClass:
    """People whom an attacker cannot tell apart but has found out: a class of a release, or one person.

    Attributes:
        labels: what they have in common.
        size: how many they are.
        learned: what the attacker learns about them.
        certainty: how probable it is that he is right, given that what he knows is true.
        who: their names, if he knows people by name.
    """

    labels: Mapping[str, str]
    size: int
    learned: str
    certainty: float = 1.0
    who: tuple[str, ...] = ()


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
        certainty: how sure the attacker is about the victims that he is least sure of; 0 without victims.
        victims: how many people fall victim: rows of the release, or people that the attacker knows of.
        share: the same as a share of all of them.
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
    certainty: float
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
class Victims:
    """Who falls victim, before it is told: groups of people who are victims alike.

    Attributes:
        sizes: how many people each group of victims has.
        certainties: how sure the attacker is about each group.
        describe: tells the n-th group.
        order: the groups in the order in which they are shown, at least as many as are asked for.
        among: how many people could have been victims.
        classes: the released classes that the victims are in, if the victims are in some.
        success: what happens, given the victims in words.
        failure: what does not happen.
        evidence: further figures.
        certain: whether what is learned is certain, if that depends on what the attacker has.
    """

    sizes: Counts
    certainties: Measure
    describe: Callable[[int], VictimClass]
    among: int
    success: Callable[[str], str]
    failure: str
    order: Indices | None = None
    classes: Indices | None = None
    evidence: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    certain: bool | None = None


class Attack(Parameters, tag_field="attack"):
    """An attack with its parameters."""

    name: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[tuple[AttackNeed, ...]] = (AttackNeed.RELEASE,)
    repaired_by: ClassVar[tuple[str, ...]] = ("generalize", "suppress")
    """The kinds of repair that can stop the attack."""
    judges_classes_alone: ClassVar[bool] = False
    """Whether a class that falls victim does so whatever other classes are released."""
    knowledge: ClassVar[str] = "The quasi-identifiers of a person, and that the person is in the table."
    """What the attacker must know, in a sentence for a lay reader."""

    @classmethod
    def against(cls, target: Target) -> Sequence[Attack]:
        """The attacks of this kind, with usual parameters, that can be run on a target."""
        return cls.usual(target) if all(target.has(need) for need in cls.needs) else []

    @classmethod
    def usual(cls, target: Target) -> Sequence[Attack]:
        """The attacks of this kind with usual parameters, all that they need being there."""
        del target  # most attacks can be run on every release
        return [cls()]

    @abstractmethod
    def find(self, target: Target, shown: int | None) -> Victims:
        """Find the victims; `shown` groups of them, or all, will be told."""

    @property
    def certain(self) -> bool:
        """Whether what is learned is certain."""
        return True

    def run(self, target: Target, *, shown: int | None = EXAMPLES) -> AttackResult:
        """Run the attack; `shown` is how many groups of victims are told, None for all."""
        for need in self.needs:
            if not target.has(need):
                raise missing(self.name, need)
        found = self.find(target, shown)
        victims = int(found.sizes.sum())
        share = victims / found.among if found.among else 0.0
        order = np.arange(len(found.sizes)) if found.order is None else found.order
        return AttackResult(
            attack=self.name,
            title=self.title,
            knowledge=self.knowledge,
            parameters=self.parameters,
            certain=self.certain if found.certain is None else found.certain,
            certainty=float(found.certainties.min(initial=1.0)) if victims else 0.0,
            victims=victims,
            share=share,
            classes=len(found.sizes),
            examples=tuple(found.describe(int(index)) for index in order[:shown]),
            explanation=found.success(victims_text(victims, share)) if victims else found.failure,
            evidence=found.evidence,
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, as a user would give them."""
        return {field.name: getattr(self, field.name) for field in fields_of(type(self))}


class ClassAttack(Attack):
    """An attack that succeeds on whole classes, each judged by itself."""

    judges_classes_alone = True

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

    def certainties(self, target: Target) -> Measure:
        """How sure the attacker is about the members of each class that falls victim."""
        return np.ones(target.classes.num_classes)

    def evidence(self, target: Target) -> dict[str, Any]:
        """Further figures."""
        return {}

    def order(self, target: Target) -> Sequence[Key]:
        """Which victims are shown first: those in the largest classes, since most people are in them."""
        return [-target.classes.sizes]

    def who(self, target: Target, class_index: int) -> tuple[str, ...]:
        """The names of the victims in a class, as far as the attacker knows people by name."""
        return target.fit.surely_in(class_index) if target.has(AttackNeed.PEOPLE) else ()

    def find(self, target: Target, shown: int | None) -> Victims:
        """Run the attack on every released class."""
        classes = target.classes
        hit = self.succeeds(target) & target.kept
        number = int(hit.sum()) if shown is None else shown
        chosen, certainties = (
            first_classes(classes, hit, self.order(target), number),
            self.certainties(target),
        )

        def describe(place: int) -> VictimClass:
            index = int(chosen[place])
            return VictimClass(
                classes.labels(index),
                int(classes.sizes[index]),
                self.learned(target, index),
                float(certainties[index]),
                self.who(target, index),
            )

        return Victims(
            sizes=classes.sizes[hit],
            certainties=certainties[hit],
            describe=describe,
            order=np.arange(len(chosen)),
            classes=np.flatnonzero(hit),
            among=target.rows,
            success=lambda victims: self.success(target, victims),
            failure=self.failure(target),
            evidence=self.evidence(target),
        )


class SensitiveAttack(ClassAttack):
    """An attack that learns the value of one sensitive column."""

    column: Annotated[Name, param("the sensitive column", kind="column")]

    @classmethod
    def usual(cls, target: Target) -> Sequence[Attack]:
        """One attack on each sensitive column."""
        return [cls(column) for column in target.sensitive]

    def values(self, target: Target) -> Distribution:
        """The values of the sensitive column in each class."""
        return target.distribution(self.column)


def victims_text(number: int, share: float) -> str:
    """Who falls victim, as a report says it: attacks count rows, and a person may have several.

    >>> victims_text(1234, 0.5), victims_text(1, 0.00001)
    ('the people of 1,234 rows (50.0 %)', 'the person of 1 row (< 0.1 %)')
    """
    who = "the person of 1 row" if number == 1 else f"the people of {number:,} rows"
    return f"{who} ({'< 0.1' if share < 0.0005 else f'{100 * share:.1f}'} %)"
