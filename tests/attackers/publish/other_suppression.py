"""Somebody who tries every choice of levels and of suppressed classes against a claimed optimum."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class ClaimedOptimum:
    """A result and everything that it was made from.

    Attributes:
        rows: the values of the one quasi-identifier.
        hierarchy: for each value its labels, from itself to the root.
        promise: `k` and the size, or `average` and the greatest mean risk.
        limit: how many rows may be suppressed.
        statement: the loss, and whether it was called optimal.
    """

    rows: tuple[str, ...]
    hierarchy: Mapping[str, Sequence[str]]
    promise: tuple[str, Fraction]
    limit: int
    statement: Mapping[str, Any]


class OtherSuppression(Attacker[ClaimedOptimum]):
    name = "other suppression"
    promise = "optimal"
    knows = "The originals, the hierarchy, the promise and how many rows may be suppressed."
    sees = "The loss of the result, and whether it is called optimal."
    does = (
        "Tries all levels with all choices of suppressed classes, and computes the loss of each by himself."
    )

    def attack(self, target: ClaimedOptimum) -> Iterator[Victim]:
        if not target.statement["optimal"]:
            return
        least = min(_losses(target))
        if float(least) < target.statement["loss"] - 1e-9:
            yield Victim(
                "the optimum", f"loses {target.statement['loss']:.6g}; {float(least):.6g} is possible"
            )


def _losses(target: ClaimedOptimum) -> Iterator[Fraction]:
    leaves = len(target.hierarchy)
    for level in range(len(next(iter(target.hierarchy.values())))):
        under = Counter(labels[level] for labels in target.hierarchy.values())
        sizes = Counter(target.hierarchy[value][level] for value in target.rows)
        choices = chain.from_iterable(combinations(sizes, number) for number in range(len(sizes) + 1))
        for gone in choices:
            suppressed = sum(sizes[label] for label in gone)
            kept = {label: size for label, size in sizes.items() if label not in gone}
            if suppressed <= target.limit and _holds(target.promise, kept):
                hidden = sum(size * (under[label] - 1) for label, size in kept.items())
                yield (Fraction(hidden, leaves - 1) + suppressed) / len(target.rows)


def _holds(promise: tuple[str, Fraction], kept: Mapping[str, int]) -> bool:
    kind, bound = promise
    if kind == "k":
        return all(size >= bound for size in kept.values())
    return len(kept) <= bound * sum(kept.values())
