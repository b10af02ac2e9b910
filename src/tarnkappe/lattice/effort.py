"""How much is kept and reused between the tests of a search."""

from __future__ import annotations

import dataclasses

from tarnkappe.errors import ParameterError
from tarnkappe.parameters import checked


@checked
@dataclasses.dataclass(frozen=True)
class Effort:
    """How tests are made; the outcome is the same whatever is chosen.

    Attributes:
        projection: whether only the columns are lifted whose levels differ from those a test starts from.
        roll_up: whether a test may start from the classes of the node tested before.
        snapshots: how many snapshots are kept at most; 0 switches the history off.
        snapshot_share: how many classes a snapshot may have, as a share of those of the whole table.
        megabytes: how much memory all snapshots may take together.
        stepping_stones: whether a test that would start from many classes first makes those of a node in
            between, for the sake of later tests.
        many_classes: from so many classes on a test is made on all cores, in parts.
    """

    projection: bool = True
    roll_up: bool = True
    snapshots: int = 200
    snapshot_share: float = 0.2
    megabytes: float = 256
    stepping_stones: bool = False
    many_classes: int = 100_000

    def __post_init__(self) -> None:
        if min(self.snapshots, self.megabytes, self.many_classes) < 0:
            raise ParameterError("the number and the size of snapshots and classes cannot be negative")
        if not 0 <= self.snapshot_share <= 1:
            raise ParameterError(
                f"the size of a snapshot is a share of the table from 0 to 1, not {self.snapshot_share}"
            )
