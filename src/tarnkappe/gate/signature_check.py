"""More than counting: whether the values that somebody can have are unlike each other.

k possible values protect little if they all mean the same. Both checks look at exact signatures.

- `unlike`: values that the policy calls alike count as one, and k different ones must be left. It looks at
  published results alone, so a gate can decide by it without telling anything; and it holds for more values
  if it holds for some.
- `closeness`: how far the spread of somebody's possible values, each taken for equally likely, is from that
  of the true values of everybody who was returned (half the sum of the differences). The true values are
  secret, so no decision may depend on it: it is for the audit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.gate.exact_test import signatures
from tarnkappe.gate.knowledge import Integers, Knowledge
from tarnkappe.gate.policy_columns import Sensitive


def unlike(column: Sensitive, labels: Sequence[str], signature: frozenset[int]) -> int:
    """How many values are left if those that are alike count as one.

    >>> cancers = frozenset({"lung cancer", "skin cancer"})
    >>> column = Sensitive("disease", k=2, alike=(cancers,))
    >>> unlike(column, ["flu", "lung cancer", "skin cancer"], frozenset({1, 2}))
    1
    """
    return len({class_of(column, labels[value]) for value in signature})


def class_of(column: Sensitive, label: str) -> str:
    """One name for all values that are alike."""
    return next((min(values) for values in column.alike if label in values), label)


def farthest(knowledge: Knowledge, truth: Integers) -> float:
    """The largest distance of anybody's possible values from the values of all."""
    spread = np.bincount(truth, minlength=knowledge.values) / max(1, len(truth))
    largest = 0.0
    for signature in set(signatures(knowledge, truth)):
        own = np.zeros(knowledge.values)
        own[list(signature)] = 1 / len(signature)
        largest = max(largest, float(np.abs(own - spread).sum()) / 2)
    return largest
