"""A computing party that keeps to the protocol and looks at every bit that it receives."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tests.attackers.attacker import Attacker, Victim

Bits = npt.NDArray[np.uint8]


@dataclasses.dataclass(frozen=True)
class Views:
    """What a computing party receives in runs of two possible worlds that have the same release.

    Attributes:
        known: the world and all bits that he received, of runs that he has set up himself: he knows the
            protocol, and plays everybody.
        asked: the bits of other runs.
        truth: their worlds, which only the judge knows.
        difference: what the two worlds differ in.
    """

    known: list[tuple[int, Bits]]
    asked: list[Bits]
    truth: list[int]
    difference: str


class ComputingParty(Attacker[Views]):
    name = "computing-party"
    promise = "oblivious"
    knows = "That one of two worlds is true, each of them to the last row, and how a run of each looks."
    sees = "Every bit that a computing party, or a helper that computes, receives until it has its release."
    does = "Learns from runs of his own which bits, and which pairs of bits, tell the worlds apart."

    def attack(self, target: Views) -> Iterator[Victim]:
        right = sum(self._guess(target.known, bits) == world for bits, world in self._cases(target))
        if right >= len(target.asked) - 1:
            yield Victim(
                "the other sites", f"{target.difference}: {right} of {len(target.asked)} runs are told apart"
            )

    def _cases(self, target: Views) -> Iterator[tuple[Bits, int]]:
        yield from zip(target.asked, target.truth, strict=True)

    def _guess(self, known: list[tuple[int, Bits]], bits: Bits) -> int:
        """The world whose mean bits, and mean equal neighbours, are nearer."""
        distance = []
        for world in (0, 1):
            views = np.array([_features(each) for label, each in known if label == world])
            distance.append(float(((views.mean(axis=0) - _features(bits)) ** 2).sum()))
        return int(distance[1] < distance[0])


def _features(bits: Bits) -> npt.NDArray[np.float64]:
    """Every bit, whether it equals the next one, and whether it equals the one a word before."""
    return np.concatenate([bits, bits[1:] == bits[:-1], bits[64:] == bits[:-64]]).astype(np.float64)
