"""What a check finds: steps as they were walked, findings with their risk, and what is done about them.

Nothing here holds a value of a patient: findings name attributes and count people, so they can be kept.
"""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Any


class Flag(StrEnum):
    """What makes a value conspicuous."""

    UNIQUE = "unique"
    """One person of the selection has it."""
    RARE_LOCAL = "rare here"
    """Fewer people of the selection have it than the policy wants."""
    RARE_GLOBAL = "rare in the population"
    """Its share of the population is smaller than the policy wants."""
    PEAK = "peak"
    """It is far more, or far less, frequent in the selection than in the population."""
    TYPICAL = "typical"
    """It is known to go with what people were selected by."""
    POPULATION_RARE = "rare combination"
    """Fewer than k people of the reference area are expected to have this combination of values."""


class Action(StrEnum):
    """What is done with an attribute."""

    RELEASE = "release"
    RANGE = "range"
    GENERALIZE = "generalize"
    WITHHOLD = "withhold"
    DROP = "drop"


class CheckVerdict(StrEnum):
    """What is recommended."""

    RELEASE = "release"
    RELEASE_WITH_CHANGES = "release with changes"
    REFUSE = "refuse"


class StepResult(StrEnum):
    """Where a step leads."""

    GO_ON = "go on"
    CHANGE = "change"
    REFUSE = "refuse"


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that the physician should know.

    Attributes:
        code: what it is, in one word.
        text: the same in a sentence. It holds no value of a patient.
        attribute: what it is about, if it is about one attribute.
        people: how many people it concerns.
        extent: how much harm would be done (A).
        probability: how probably an attack would do it (E).
    """

    code: str
    text: str
    attribute: str | None = None
    people: int = 0
    extent: float = 0.0
    probability: float = 0.0

    @property
    def risk(self) -> float:
        """R = A × E.

        >>> Finding("unique", "One person is unique.", extent=8.0, probability=0.5).risk
        4.0
        """
        return self.extent * self.probability

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**dataclasses.asdict(self), "risk": self.risk}


@dataclasses.dataclass(frozen=True)
class CheckStep:
    """One node of the decision tree, as it was walked.

    Attributes:
        name: its name in the procedure, S0 to S10.
        question: what was asked.
        reply: what was found, in a sentence.
        answer: where that leads.
        findings: the evidence.
    """

    name: str
    question: str
    reply: str
    answer: StepResult = StepResult.GO_ON
    findings: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "step": self.name,
            "question": self.question,
            "reply": self.reply,
            "answer": str(self.answer),
            "findings": [finding.to_dict() for finding in self.findings],
        }


@dataclasses.dataclass(frozen=True)
class AttributeTreatment:
    """What is done with one attribute, and why.

    Attributes:
        attribute: the attribute.
        action: what is done.
        level: the level of generalization, if it is released.
        reason: why, in a sentence.
    """

    attribute: str
    action: Action
    level: int
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**dataclasses.asdict(self), "action": str(self.action)}


def count(number: int, what: str = "person", several: str = "people") -> str:
    """A number of things in words.

    >>> count(1), count(1200), count(2, "value", "values")
    ('1 person', '1,200 people', '2 values')
    """
    return f"{number:,} {what if number == 1 else several}"
