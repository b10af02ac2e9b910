"""The eleven sensible combinations of criteria can be asked for and give verified releases."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import NoSolutionError
from tarnkappe.table import Table

CRITERIA = {
    "k": {"model": "k-anonymity", "k": 5},
    "l": {"model": "recursive-diversity", "column": "occupation", "c": 3.0, "l": 4},
    "t": {"model": "hierarchical-closeness", "column": "occupation", "t": 0.5},
    "d": {"model": "delta-presence", "minimum": 0.0, "maximum": 0.5},
}
COMBINATIONS = ["k", "l", "t", "d", "kl", "kt", "kd", "dl", "dt", "kdl", "kdt"]


@pytest.fixture(scope="module")
def example() -> tarnkappe.examples.ExampleData:
    return tarnkappe.examples.shaped("ADULT", rows=1500, seed=3)


@pytest.mark.parametrize("letters", COMBINATIONS)
def test_every_combination_runs(example: tarnkappe.examples.ExampleData, letters: str) -> None:
    names = ["sex", "age", "education"]
    population = Table(example.table.data.select([*names, "occupation"]))
    sample = np.random.default_rng(5).random(population.num_rows) < 0.3
    rows = population.data.filter(pa.array(sample)) if "d" in letters else population.data
    table = Table(rows).with_roles(quasi_identifiers=names, sensitive=["occupation"])
    hierarchies = {n: tarnkappe.Hierarchy.from_rows(example.hierarchies[n]) for n in (*names, "occupation")}
    try:
        result = tarnkappe.anonymize(
            table,
            privacy=[CRITERIA[letter] for letter in letters],
            hierarchies=hierarchies,
            loss="loss",
            suppression_limit=0.05,
            population=population if "d" in letters else None,
        )
    except NoSolutionError:
        pytest.fail("these criteria can be met")
    assert len(result.verified) == len(letters)
    assert all(found.holds for found in result.verified)
