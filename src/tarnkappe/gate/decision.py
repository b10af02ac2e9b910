"""What a decision is: how a gate comes from a query to an answer or a refusal, and what that betrays.

A strategy knows which answers leave everybody k possible values. Which of them is given, and when none is,
tells something as well to whoever knows the rule by which it is chosen. A decision *closes the leak* if it
tells nothing: for somebody who knows the rule and sees everything that the gate ever said, exactly those
tables remain possible that the published results leave possible. Then k-assign anonymity, which counts only
with the results, is what it promises.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from tarnkappe.gate.knowledge import Integers, Knowledge
from tarnkappe.gate.strategy import AnswerProposal, Strategy


class DecisionRule(ABC):
    """A rule by which a gate answers or refuses."""

    leak: ClassVar[str | None] = None
    """What the rule betrays, by the name under which a policy accepts it; None for nothing."""

    @abstractmethod
    def decide(
        self, strategy: Strategy, members: Integers, truth: Integers, at_least: int = 0
    ) -> AnswerProposal | None:
        """The answer for some tuples, as the strategy's next proposal; None for a refusal.

        Args:
            strategy: what it may ask; it knows the history.
            members: the tuples, new ones with the next numbers.
            truth: the true value of every tuple so far, the new ones included.
            at_least: how many values the answer should have, if the rule has any choice.
        """

    def foresees_refusal(self, knowledge: Knowledge, members: Integers, k: int) -> bool:
        """Whether the tuples will be refused for reasons that anybody can see."""
        return False


class AsFewAsPossible(DecisionRule):
    """Add artificial values only where they are needed. This leaks: `docs/how-to/gate.md` has the attacks."""

    leak = "minimal-values"

    def decide(
        self, strategy: Strategy, members: Integers, truth: Integers, at_least: int = 0
    ) -> AnswerProposal | None:
        return strategy.propose(members, truth, may_add=True)


class RefuseWhatBreaks(DecisionRule):
    """Refuse exactly what would break the rule. This leaks: a refusal is an answer too."""

    leak = "refusals"

    def decide(
        self, strategy: Strategy, members: Integers, truth: Integers, at_least: int = 0
    ) -> AnswerProposal | None:
        return strategy.propose(members, truth, may_add=False)
