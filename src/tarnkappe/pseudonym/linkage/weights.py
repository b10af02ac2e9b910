"""What a likeness is worth: the weights of Fellegi and Sunter, estimated from the data (EM).

A level of a field speaks for one person as far as it is more frequent among pairs of one person (m) than
among pairs of two (u). How frequent it is among two is counted: for equal values exactly, otherwise on
random pairs. How frequent among one is estimated together with the number of such pairs, by expectation
and maximization over the patterns of all candidates; pairs that are no candidates count as two people.
A rare name that agrees is worth more than a frequent one.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from tarnkappe.pseudonym.linkage.records import NAMES, LinkageRecords, Numbers
from tarnkappe.pseudonym.linkage.similarity import CLOSE, DIFFERENT, EQUAL, FAINT, LEVELS, Levels, levels

RANDOM_PAIRS = 200_000
ROUNDS = 100
SMALLEST = 1e-7
START = {EQUAL: 0.85, CLOSE: 0.1, FAINT: 0.03, DIFFERENT: 0.02}
PSEUDO_COUNT = 2.0

Floats = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Weights:
    """The estimate.

    Attributes:
        same: by field and level, how frequent it is among pairs of one person.
        other: the same among pairs of two.
        prior: the share of pairs of one person among all pairs.
    """

    same: Floats
    other: Floats
    prior: float

    @property
    def table(self) -> Floats:
        """By field and level, the logarithm of how much it speaks for one person; 0 where missing."""
        table = np.log(self.same) - np.log(self.other)
        table[:, 0] = 0.0
        return table


def estimate(records: LinkageRecords, found: Levels, seed: int = 0) -> Weights:
    """Estimate the weights from the candidates."""
    other = _of_two_people(records, seed)
    base = LEVELS ** np.arange(found.shape[1])
    patterns, counts = np.unique(found @ base, return_counts=True)
    by_field = patterns[:, np.newaxis] // base % LEVELS
    start = np.array([1.0] + [START.get(level, 0.0) for level in range(1, LEVELS)])
    same = np.tile(start, (found.shape[1], 1))
    all_pairs = _pairs_of_two_sources(records)
    prior = min(len(records.people) / max(all_pairs, 1), 0.5) / 10
    columns = np.arange(found.shape[1])
    for _ in range(ROUNDS):
        weights = Weights(same, other, prior)
        chance = chances(weights.table[columns, by_field].sum(axis=1), prior)
        one = counts * chance
        fresh = (
            np.stack([np.bincount(by_field[:, place], one, minlength=LEVELS) for place in columns])
            + PSEUDO_COUNT * start
        )
        fresh[:, 0] = 0.0
        fresh /= fresh.sum(axis=1, keepdims=True)
        fresh[:, 0] = 1.0
        new_prior = max(one.sum(), 1.0) / max(all_pairs, 1)
        settled = np.abs(fresh - same).max() < 1e-6 and abs(new_prior - prior) < 1e-6 * prior
        same, prior = fresh, min(new_prior, 0.5)
        if settled:
            break
    return Weights(np.maximum(same, SMALLEST), other, prior)


def parts(records: LinkageRecords, pairs: Numbers, found: Levels, weights: Weights) -> Floats:
    """What each field (a column) of each pair (a row) speaks for one person, names by how rare they are."""
    table = np.asarray(weights.table[np.arange(found.shape[1]), found], dtype=np.float64)
    for place, field in enumerate(records.fields):
        if field.kind in NAMES:
            # Of two spellings the more frequent one is likelier the right one, so its rarity counts.
            alike = np.isin(found[:, place], (CLOSE, EQUAL))
            shares = field.shares[field.codes[pairs[alike]]].max(axis=1)
            table[alike, place] += np.log(weights.other[place, EQUAL]) - np.log(shares)
    return table


def chances(score: Floats, prior: float) -> Floats:
    """How likely pairs with these weights are one person."""
    odds = np.clip(score + np.log(prior) - np.log1p(-prior), -500, 500)
    return np.asarray(1 / (1 + np.exp(-odds)), dtype=np.float64)


def _of_two_people(records: LinkageRecords, seed: int) -> Floats:
    draw = np.random.default_rng(seed)
    count = len(records.people)
    pairs = draw.integers(0, count, (min(RANDOM_PAIRS, 8 * count**2), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    drawn = levels(records, pairs)
    shares = np.ones((len(records.fields), LEVELS))
    for place, field in enumerate(records.fields):
        counts = np.bincount(drawn[:, place], minlength=LEVELS).astype(np.float64)[1:] + 0.5
        equal = max(float((field.shares**2).sum()), SMALLEST)
        rest = counts[:-1] / counts[:-1].sum() * (1 - equal)
        shares[place, 1:] = [*rest, equal]
    return np.maximum(shares, SMALLEST)


def _pairs_of_two_sources(records: LinkageRecords) -> int:
    kinds, sizes = np.unique(records.sources, return_counts=True)
    return sum(
        int(sizes[i]) * int(sizes[j]) for i in range(len(kinds)) for j in range(i) if not kinds[i] & kinds[j]
    )
