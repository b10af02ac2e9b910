"""Random problems on larger lattices than `tests.random_tables` draws, for comparing searches with each other.

Every case of the decision table can be asked for. A search is judged against exhaustive search, which the
battery compares with the slow twins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tarnkappe.lattice import SearchProblem
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model
from tests.random_tables import build_tuples

DISEASES = ("flu", "cold", "ulcer", "gastritis", "cough")


def losses(*names: str) -> list[Loss]:
    return [LOSSES.create(name, {}) for name in names]


def models(*each: tuple[str, dict[str, Any]]) -> tuple[Model, ...]:
    return tuple(MODELS.create(name, parameters) for name, parameters in each)


MONOTONE = [
    models(("k-anonymity", {"k": 2})),
    models(("k-anonymity", {"k": 4})),
    models(("distinct-diversity", {"column": "disease", "l": 2})),
    models(("k-anonymity", {"k": 3}), ("distinct-diversity", {"column": "disease", "l": 3})),
]
IMPLY_SOMETHING_MONOTONE = [
    models(("recursive-diversity", {"column": "disease", "c": 2, "l": 2})),
    models(("entropy-diversity", {"column": "disease", "l": 2})),
    models(("k-anonymity", {"k": 2}), ("equal-closeness", {"column": "disease", "t": 0.3})),
]
NOT_MONOTONE = [
    *IMPLY_SOMETHING_MONOTONE,
    models(("equal-closeness", {"column": "disease", "t": 0.4})),  # implies a class size that may be 1
]
LOSSES_THAT_STAY_MONOTONE = losses("entropy", "height", "precision-star")
LOSSES_THAT_DO_NOT = losses("precision", "discernibility", "aecs-released", "loss", "entropy-uniform")

CASES = (1, 2, 3, 4, 5, 6)
NEEDS_NO_IMPLIED_CRITERIA = (5, 6)
"""Most models imply something monotone, so these cases are asked for by leaving implied criteria out."""


def random_problem(seed: int, case: int, *, limited: bool = False, loss: Loss | None = None) -> SearchProblem:
    """A problem of a case of the decision table; `limited` also draws the least and greatest levels."""
    rng = np.random.default_rng([seed, case])
    width = int(rng.integers(1, 5))
    names = [f"q{i}" for i in range(width)]
    maps = {name: random_maps(rng) for name in names}
    columns = {name: [int(rng.integers(len(maps[name][0]))) for _ in range(3)] for name in names}
    rows = []
    for _ in range(int(rng.integers(8, 60))):
        # Some values are frequent, so that classes of all sizes occur.
        row: dict[str, Any] = {
            name: columns[name][int(rng.integers(3))]
            if rng.random() < 0.7
            else int(rng.integers(len(maps[name][0])))
            for name in names
        }
        row["disease"] = DISEASES[min(int(rng.geometric(0.4)) - 1, len(DISEASES) - 1)]
        rows.append(row)
    rows += [{**rows[0], "disease": disease} for disease in DISEASES[:3]]  # enough different values
    criteria = (MONOTONE, IMPLY_SOMETHING_MONOTONE, NOT_MONOTONE)[(case - 1) // 2]
    measures = LOSSES_THAT_STAY_MONOTONE if case % 2 else LOSSES_THAT_DO_NOT
    limits = {}
    for name in names if limited else ():
        least, greatest = sorted(int(level) for level in rng.integers(0, len(maps[name]) + 1, 2))
        limits[name] = (least, greatest)
    return SearchProblem(
        build_tuples(rows, maps),
        tuple(names),
        criteria[int(rng.integers(len(criteria)))],
        loss or measures[int(rng.integers(len(measures)))],
        float(rng.choice([0.1, 0.2, 0.4])),
        limits,
    )


def random_maps(rng: np.random.Generator) -> list[dict[Any, str]]:
    """A hierarchy of one to four levels, in which every level merges some labels of the one below."""
    values = range(int(rng.integers(1, 9)))
    maps: list[dict[Any, str]] = []
    current = {value: str(value) for value in values}
    for level in range(int(rng.integers(0, 3))):
        labels = sorted(set(current.values()))
        merged = {label: f"{level}:{int(rng.integers(max(1, len(labels) - 1)))}" for label in labels}
        current = {value: merged[label] for value, label in current.items()}
        maps.append(current)
    return [*maps, dict.fromkeys(values, "*")]
