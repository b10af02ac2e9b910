"""How much somebody can believe in a value of a person after answers of sets (`label_sets`).

The weights are public: what somebody believes who knows nothing but the list. They never come from the table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping


def full_weights(labels: Collection[str], weights: Mapping[str, float]) -> dict[str, float]:
    """The weight of every label: those that are not named share evenly what the others leave.

    >>> full_weights(["flu", "gout", "HIV"], {"flu": 0.5})
    {'flu': 0.5, 'gout': 0.25, 'HIV': 0.25}
    """
    unnamed = [label for label in labels if label not in weights]
    rest = max(0.0, 1.0 - sum(weights.values()))
    return {label: weights.get(label, rest / len(unnamed) if unnamed else 0.0) for label in labels}


def largest_belief(weights: Mapping[str, float], k: int, harmless: Collection[str] = ()) -> tuple[str, float]:
    """The label in which somebody with these weights can believe most after any answers, and how much.

    It is p(v) / (p(v) + the k - 1 smallest other weights), for the worst set that has v. Harmless labels are
    left out.

    >>> largest_belief({"flu": 0.5, "gout": 0.25, "HIV": 0.25}, 2, {"flu"})
    ('gout', 0.5)
    """
    worst = ("", 0.0)
    for label, weight in weights.items():
        others = sorted(weight for other, weight in weights.items() if other != label)[: k - 1]
        belief = weight / (weight + sum(others)) if weight else 0.0
        if label not in harmless and belief > worst[1]:
            worst = (label, belief)
    return worst


def least_k(weights: Mapping[str, float], belief: float, harmless: Collection[str] = ()) -> int | None:
    """The least k for which nobody believes more than that in a label that is not harmless, if there is one.

    >>> least_k({"flu": 0.25, "gout": 0.25, "HIV": 0.25, "cold": 0.25}, 0.4)
    3
    """
    for k in range(1, len(weights) + 1):
        if largest_belief(weights, k, harmless)[1] <= belief:
            return k
    return None
