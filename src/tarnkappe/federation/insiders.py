"""What a site finds that takes its own rows out of the release.

Every site has the release and knows its own rows. What is left of a class when they are gone may be smaller
than the contract promises (Goryczka, Xiong, Fung 2014, m-privacy, doi:10.1109/TKDE.2013.18). No protocol
here prevents it, so each site is shown a number before it agrees, and another one when the release has come.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from tarnkappe.federation.contract import Contract, Partitioning
from tarnkappe.federation.engine import problem_of, rows_of
from tarnkappe.federation.share import PartyShare
from tarnkappe.table.encoding import Codes, Counts

MOST_ROWS = 5_000
LARGE = 0.8
"""The share of all rows that a large site has, for comparison."""


@dataclasses.dataclass(frozen=True)
class Subtraction:
    """What a site learns of the rows of others by taking out its own, in a simulation on the rows of one
    site.

    Attributes:
        insider_share: how many of all rows the insider has.
        below: the share of the others' rows that are then in classes smaller than the contract promises.
        alone: the share of them that are then alone in their class.
    """

    insider_share: float
    below: float
    alone: float


def simulate(share: PartyShare, contract: Contract, seed: int = 0) -> tuple[Subtraction, ...]:
    """Deal the own rows to as many sites as there are, publish them, and let one site take out its own.

    The own rows stand for all. Vertical sites know everybody in the release, so there is nothing to take out;
    where the rows meet no levels that keep the promise there is nothing to look at, either.
    """
    if contract.distribution is not Partitioning.HORIZONTAL or share.num_rows < 2:
        return ()
    rng = np.random.default_rng(seed)
    order = rng.permutation(share.num_rows)[:MOST_ROWS].astype(np.int64)
    rows = rows_of(share.take(order), contract)
    best = contract.search.run(problem_of(rows, contract)).best
    if best is None:
        return ()
    classes = rows.classes(contract.quasi_identifiers, best.node)
    sizes = sorted({1 / len(contract.parties), LARGE})
    return tuple(_subtracted(classes.ids, each, contract.class_size, rng) for each in sizes)


def _subtracted(ids: Codes, insider: float, k: int, rng: np.random.Generator) -> Subtraction:
    others = rng.random(len(ids)) >= insider
    left = np.bincount(ids[others], minlength=int(ids.max(initial=0)) + 1)[ids[others]]
    large = np.bincount(ids)[ids[others]] >= k
    released = max(int(large.sum()), 1)
    return Subtraction(
        insider, float(((left < k) & large).sum() / released), float(((left == 1) & large).sum() / released)
    )


def worst_case(own_sizes: Counts, k: int) -> tuple[int, int]:
    """How many own rows could be in classes below k, and alone, if all other sites took out theirs.

    What is left of a class is never smaller than the rows that a site has in it itself, so no coalition of
    others gets further.

    Args:
        own_sizes: for each class of the release how many rows of this site it has.
        k: what the contract promises.
    """
    return int(own_sizes[own_sizes < k].sum()), int((own_sizes == 1).sum())
