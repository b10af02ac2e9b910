"""What a strategy is: the contract of the algorithms that keep everybody anonymous."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import ParameterError
from tarnkappe.gate.hitting_set import ConflictSet
from tarnkappe.gate.knowledge import Integers, Knowledge
from tarnkappe.schema import ChangingParameters


@dataclasses.dataclass(frozen=True)
class ResultPart:
    """One result that may be published: its tuples, and how often each value is in it."""

    members: Integers
    counts: Integers


@dataclasses.dataclass(frozen=True)
class AnswerProposal:
    """An answer that keeps everybody's anonymity.

    Attributes:
        parts: what to publish, in this order; each part is a result of its own for the attacker.
        least: no answer in the same parts has fewer artificial values; None if the strategy does not know.
        order: the new tuples, by the numbers they had, in the order in which the parts introduce them: they
            take the next numbers in this order, which the parts use already. None if nothing changes.
    """

    parts: tuple[ResultPart, ...]
    least: int | None = None
    order: Integers | None = None


class Strategy(ChangingParameters, tag_field="strategy"):
    """A way to decide what may be answered, with all that it remembers.

    It vouches for a lower bound of everybody's degree of anonymity, never for more: a value counts for a
    tuple only if a real distribution of everything published so far gives it. After each accepted proposal
    the bound is at least k for every tuple ever returned.

    The caller proposes, publishes and accepts, in this order, and one answer at a time:

        proposal = strategy.propose(members, truth, may_add=True)
        for part in proposal.parts:
            knowledge.publish(part.members, part.counts)
        strategy.accept()

    Until `accept` nothing has happened: the knowledge is as before, and so is the strategy after `reject`.
    The caller may publish more artificial values than proposed, since they only make more distributions
    possible, if the strategy says so (`takes_surplus`).
    """

    name: ClassVar[str]
    minimal: ClassVar[bool] = False
    """Whether no answer needs fewer artificial values, and a refusal means that k would truly be lost."""
    takes_surplus: ClassVar[bool] = True
    """Whether a part may be published with more artificial values than proposed."""
    completes: ClassVar[bool] = False
    """Whether it can start from an answer that has artificial values already."""

    gave_up = False
    """Whether the last answer was turned down without a proof that it had to be."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.reasons: tuple[ConflictSet, ...] = ()
        """Why the last answer that `complete` turned down had to be, as sets that are added to its values."""

    def begin(self, knowledge: Knowledge, k: int, seed: int = 0) -> None:
        """Start with an empty history."""
        if k < 1:
            raise ParameterError("gate.k-must-least-1", "k must be at least 1, not {k}", k=k)
        if knowledge.tuples:
            raise ParameterError(
                "gate.strategy-begins-empty-history",
                "a strategy begins with an empty history: use resume for one that goes on",
            )
        self.knowledge, self.k, self.seed = knowledge, k, seed
        self._start()

    @abstractmethod
    def _start(self) -> None:
        """Forget everything."""

    @abstractmethod
    def propose(self, members: Integers, truth: Integers, may_add: bool) -> AnswerProposal | None:
        """An answer for these tuples, or None if they must be refused.

        Args:
            members: tuples, new ones with the next numbers.
            truth: the true value of every tuple so far, the new ones included.
            may_add: whether artificial values may be added.
        """

    def complete(
        self, members: Integers, truth: Integers, counts: Integers, may_add: bool
    ) -> AnswerProposal | None:
        """An answer with at least these values, in one part; None if they do not do and none may be added.

        Only strategies that say so (`completes`) can do this.
        """
        raise ParameterError(
            "gate.strategy-adds-only-what-needed",
            "the strategy '{name}' adds only what is needed: it takes no surplus",
            name=self.name,
        )

    @abstractmethod
    def accept(self) -> None:
        """The proposal has been published: the knowledge has it."""

    @abstractmethod
    def reject(self) -> None:
        """The proposal has not been published and never will be."""

    @abstractmethod
    def degrees(self) -> Integers:
        """For each tuple, how many values it can have at least."""

    @abstractmethod
    def follow(self, truth: Integers) -> None:
        """The knowledge has one more result, which was published in an earlier life: take it over.

        Raises GuaranteeError if it is not clear that everybody keeps k values.
        """

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """What `restore` needs to go on later, with a history that has the proposal if there is one."""

    @abstractmethod
    def restore(self, truth: Integers, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over a whole history at once, which the knowledge has, with the state that belongs to it.

        Raises GuaranteeError if the state does not prove that everybody keeps k values.
        """


def counted(values: Integers, length: int) -> Integers:
    """How often each value occurs."""
    return np.bincount(values, minlength=length).astype(np.int32)


def in_order_of_parts(members: Integers, part: NDArray[np.integer], known: int) -> tuple[Integers, Integers]:
    """Number the new members anew, part by part; returns the members with their new numbers, and the order
    for the proposal.

    >>> members, order = in_order_of_parts(np.array([4, 0, 5, 6]), np.array([1, 1, 0, 1]), known=4)
    >>> members.tolist(), order.tolist()
    ([5, 0, 4, 6], [5, 4, 6])
    """
    new = members >= known
    order = members[new][np.argsort(part[new], kind="stable")]
    renamed = members.copy()
    number = {given: known + place for place, given in enumerate(order.tolist())}
    renamed[new] = [number[given] for given in members[new].tolist()]
    return renamed, order
