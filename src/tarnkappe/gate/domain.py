"""What a sensitive column can have, as the public knows it: labels, and what is known of them beforehand."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from tarnkappe.errors import ParameterError
from tarnkappe.gate.knowledge import Knowledge


@dataclasses.dataclass(frozen=True)
class LabelDomain:
    """The labels of a column.

    Attributes:
        labels: all of them, in the order of their codes.
        merged: those that stand for several stored values: who has another value than before can have one of
            them again. All other labels stand for one value each.
        floors: how many of those who were there when the list was made have a label, at least, if the list
            was read from the table. A label that is not named has no floor.
    """

    labels: tuple[str, ...]
    merged: frozenset[str] = frozenset()
    floors: Mapping[str, int] = dataclasses.field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if len(set(self.labels)) < len(self.labels):
            raise ParameterError("gate.label-named-twice", "a label is named twice")
        for label in (*self.merged, *self.floors):
            if label not in self.labels:
                raise ParameterError(
                    "gate.label-floor-merged-but-not-labels",
                    "a label has a floor or is merged, but is not one of the labels",
                )

    def knowledge(self, founders: int = 0) -> Knowledge:
        """What is known before the first answer."""
        code = {label: number for number, label in enumerate(self.labels)}
        floors = {code[label]: number for label, number in self.floors.items()}
        return Knowledge(len(self.labels), [code[label] for label in self.merged], floors, founders)
