"""How much is kept and reused between the tests of a search."""

from __future__ import annotations

from typing import Annotated

from tarnkappe.schema import MOST, NotNegative, Parameters, Share, param


class EvaluationSettings(Parameters):
    """How tests are made; the outcome is the same whatever is chosen."""

    @classmethod
    def called(cls) -> str:
        """Its settings stand beside those of a search."""
        return "search"

    projection: Annotated[
        bool, param("whether only the columns are lifted whose levels differ from those a test starts from")
    ] = True
    roll_up: Annotated[bool, param("whether a test may start from the classes of the node tested before")] = (
        True
    )
    snapshots: Annotated[
        int,
        param(
            "how many snapshots are kept at most; 0 switches the history off",
            ge=0,
            le=1_000_000,
            unit="snapshots",
        ),
    ] = 200
    snapshot_share: Annotated[
        Share,
        param("how many classes a snapshot may have, as a share of those of the whole table", kind="share"),
    ] = 0.2
    megabytes: Annotated[
        NotNegative, param("how much memory all snapshots may take together", unit="megabytes")
    ] = 256
    stepping_stones: Annotated[
        bool, param("whether a test of many classes first makes those of a node in between, for later tests")
    ] = False
    many_classes: Annotated[
        int,
        param("from so many classes on a test is made on all cores, in parts", ge=0, le=MOST, unit="classes"),
    ] = 100_000
