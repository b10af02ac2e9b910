"""Somebody who knows the whole population and reads how many unique people were estimated."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from tests.attackers.attacker import Attacker, Victim

TOO_FEW = 0.5


@dataclasses.dataclass(frozen=True)
class Estimated:
    """What was stated of samples of populations that somebody knows.

    Attributes:
        statements: for each sample, the estimates by estimator: `uniques`, and `by` which model they are.
        truths: how many people of each population really are unique.
    """

    statements: tuple[Mapping[str, Mapping[str, Any]], ...]
    truths: tuple[int, ...]


class UniquePeople(Attacker[Estimated]):
    name = "unique people"
    promise = "fitting_estimates"
    knows = "The whole population from which the table was drawn."
    sees = "How many people are estimated to be unique, and by which model."
    does = (
        "Counts the unique people and looks for estimates by the negative binomial model that are far below."
    )

    def attack(self, target: Estimated) -> Iterator[Victim]:
        for number, (statement, truth) in enumerate(zip(target.statements, target.truths, strict=True), 1):
            for asked, found in statement.items():
                if found["by"] == "snb" and found["uniques"] < TOO_FEW * truth:
                    yield Victim(
                        f"{truth} unique people",
                        f"are stated to be {found['uniques']:.3g} (sample {number}, asked for {asked})",
                    )
