"""Tables written down as columns with counts, for tests of single models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.privacy import Model, needed_distributions
from tarnkappe.table import Classes, Tuples
from tarnkappe.table.encoding import encode_column
from tests.random_tables import build_levels


def weighted(
    columns: Mapping[str, Sequence[Any]],
    counts: Sequence[int],
    *,
    hierarchies: Mapping[str, list[dict[Any, str]]] | None = None,
    population: Sequence[int] | None = None,
) -> Tuples:
    """A table of tuples with how often each occurs in it, and in the population if there is one."""
    encoded = {
        name: encode_column(name, pa.chunked_array([list(values)])) for name, values in columns.items()
    }
    for name, maps in (hierarchies or {}).items():
        encoded[name] = encoded[name].with_levels(build_levels(encoded[name], maps))
    everyone = None if population is None else np.array(population, dtype=np.int64)
    return Tuples(encoded, np.array(counts, dtype=np.int64), everyone).distinct()


def blocks(values: Mapping[str, Mapping[str, int]], **options: Any) -> Tuples:
    """A table given by the counts of 'disease' in each 'block'."""
    entries = [(block, value, n) for block, counts in values.items() for value, n in counts.items()]
    columns = {"block": [e[0] for e in entries], "disease": [e[1] for e in entries]}
    return weighted(columns, [e[2] for e in entries], **options)


def classes_of(tuples: Tuples, model: Model, column: str = "block", level: int = 0) -> Classes:
    return tuples.classes([column], [level], needed_distributions([model]))


def measured(tuples: Tuples, model: Model, column: str = "block", level: int = 0) -> dict[str, float]:
    """What the model measures in each class, by the label of the class."""
    classes = classes_of(tuples, model, column, level)
    return {classes.labels(i)[column]: float(v) for i, v in enumerate(model.measure(classes))}


def holding(tuples: Tuples, model: Model, column: str = "block", level: int = 0) -> dict[str, bool]:
    """Whether each class meets the model."""
    classes = classes_of(tuples, model, column, level)
    return {classes.labels(i)[column]: bool(v) for i, v in enumerate(model.holds(classes))}
