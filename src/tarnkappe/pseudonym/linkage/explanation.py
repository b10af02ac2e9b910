"""Why two records may be one person: what every field speaks for or against it, in numbers and in words.

Weights are logarithms to the base 2: +3 makes it eight times as likely, -3 an eighth. Those of the fields and
the prior, which says how rarely any two records are one person, add up to the total.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from tarnkappe.pseudonym.linkage.records import NAMES, LinkageRecords
from tarnkappe.pseudonym.linkage.similarity import CLOSE, DIFFERENT, EQUAL, FAINT, MISSING

RARE, FREQUENT = 0.001, 0.01
"""Up to which share of all records a name is rare, and from which on it is frequent."""

_FIELDS = {"surname": "surname", "given": "given name", "born": "birth date", "sex": "sex"}
_LEVELS = {
    EQUAL: "agrees",
    CLOSE: "is spelled alike",
    FAINT: "is faintly alike",
    DIFFERENT: "differs",
    MISSING: "is missing",
}
_DATES = {CLOSE: "differs by one slip", FAINT: "agrees in two parts"}
_POSTCODES = {CLOSE: "differs by one slip", FAINT: "is of the same area"}


@dataclasses.dataclass(frozen=True)
class LinkageExplanation:
    """What speaks for two records being one person.

    Attributes:
        weights: by field, how much it speaks for it.
        prior: how much the rarity of such pairs speaks against it.
        words: the same as a sentence.
    """

    weights: Mapping[str, float]
    prior: float
    words: str

    @property
    def total(self) -> float:
        """All of it together; above 0 it is likelier than not that they are one."""
        return sum(self.weights.values()) + self.prior


def explain(
    records: LinkageRecords, left: int, right: int, found: np.ndarray, parts: np.ndarray, prior: float
) -> LinkageExplanation:
    """Explain a pair.

    Args:
        records: everybody.
        left: one of them.
        right: the other.
        found: the levels of this pair, field by field.
        parts: its weights, as natural logarithms.
        prior: the share of pairs of one person among all pairs.
    """
    weights, words = {}, []
    for field, level, part in zip(records.fields, found.tolist(), parts.tolist(), strict=True):
        weights[field.kind] = part / math.log(2)
        name = _FIELDS.get(field.kind, field.kind)
        if field.kind in NAMES and level in (EQUAL, CLOSE):
            share = max(float(field.shares[field.codes[who]]) for who in (left, right))
            name = f"{_how_frequent(share)}{name}"
        own = _DATES if field.kind == "born" else _POSTCODES if field.kind == "postcode" else {}
        said = own.get(level, _LEVELS[level])
        words.append(f"{name} {said}" + (f" {_signed(weights[field.kind])}" if level != MISSING else ""))
    odds = (math.log(prior) - math.log1p(-prior)) / math.log(2)
    return LinkageExplanation(weights, odds, "; ".join(words))


def _how_frequent(share: float) -> str:
    return "rare " if share <= RARE else "frequent " if share >= FREQUENT else ""


def _signed(weight: float) -> str:
    return f"{weight:+.1f}".replace("-", "−")
