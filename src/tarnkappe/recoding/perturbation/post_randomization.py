"""Post-randomization (PRAM): every category may become another one, with stated probabilities."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.recoding.perturbation.perturbation import CategoryPerturbation, Numbers
from tarnkappe.schema import Share, param
from tarnkappe.table.encoding import Codes, Counts

MOST_CATEGORIES = 2_000
"""Each has a probability of becoming each other one."""


class PostRandomization(CategoryPerturbation, kw_only=True):
    """Each cell keeps its category with a probability or else becomes any other one, all equally likely
    (Gouweleeuw, Kooiman, Willenborg, de Wolf 1998, *Post randomisation for statistical disclosure control*).

    With `invariant`, a second draw follows that undoes the first one on average: a category j becomes k with
    the probability that k had become j. So every category is expected as often as it was, and fewer cells
    keep theirs. Who knows the parameters can correct tables for the first draw alone.
    """

    name = "pram"
    cites = ("gouweleeuw1998",)

    keep: Annotated[
        Share,
        param("the probability that a cell keeps its category in the first draw", kind="share", start=0.8),
    ] = 0.8
    invariant: Annotated[bool, param("whether categories are expected as often as they were")] = True

    @classmethod
    def examples(cls, *columns: str) -> tuple[Self, ...]:
        """Instances for the common tests."""
        return (cls(columns=columns), cls(columns=columns, keep=0.3, invariant=False))

    def change(self, codes: Codes, categories: int, generator: np.random.Generator) -> Codes:
        """Draw new categories."""
        if categories > MOST_CATEGORIES:
            raise ParameterError(
                "recoding.pram-takes-columns-most-categories",
                "pram takes columns of at most {most_categories:,} categories",
                most_categories=MOST_CATEGORIES,
            )
        counts = np.bincount(codes, minlength=categories).astype(np.int64)
        until = np.cumsum(self.transitions(counts), axis=1)
        chance = generator.random(len(codes))
        changed = np.empty(len(codes), np.int32)
        for category in range(categories):
            rows = np.flatnonzero(codes == category)
            drawn = np.searchsorted(until[category], chance[rows] * until[category, -1], side="right")
            changed[rows] = np.minimum(drawn, categories - 1)
        return changed

    def transitions(self, counts: Counts) -> Numbers:
        """The probability of each category (row) to become each (column), if they occur so often."""
        categories = len(counts)
        if categories < 2:
            return np.ones((categories, categories))
        first = np.full((categories, categories), (1 - self.keep) / (categories - 1))
        np.fill_diagonal(first, self.keep)
        if not self.invariant:
            return first
        joint = first * counts[:, None]  # how often k is expected to have become j
        reached = joint.sum(axis=0)
        back = (joint / np.where(reached > 0, reached, 1.0)).T
        return np.asarray(first @ back)
