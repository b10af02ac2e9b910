"""Equivalence classes and distributions, against grouping by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.table import SUPPRESSED, Table
from tarnkappe.table.row_tuples import row_tuples
from tests.random_tables import Example, examples


@given(examples(with_population=True), st.data())
def test_classes_are_what_grouping_by_hand_gives(example: Example, data: st.DataObject) -> None:
    levels = data.draw(st.sampled_from(list(example.nodes())))
    wanted = [("disease",), ("disease", "treatment")]
    classes = example.tuples.classes(example.quasi_identifiers, levels, wanted)
    members, population = example.members(levels), example.population_members(levels)
    assert classes.num_classes == len(population)
    assert classes.num_rows == len(example.rows)
    for index in range(classes.num_classes):
        key = tuple(classes.labels(index).values())
        rows = members.get(key, [])
        assert classes.sizes[index] == len(rows)
        assert classes.population[index] == len(population[key])
        for names in wanted:
            distribution = classes.distributions[names]
            found = slice(distribution.offsets[index], distribution.offsets[index + 1])
            labels = [distribution.column.labels[code] for code in distribution.codes[found]]
            counted = Counter(
                ", ".join("(missing)" if row[n] is None else row[n] for n in names) for row in rows
            )
            assert dict(zip(labels, distribution.counts[found].tolist(), strict=True)) == counted
            assert np.array_equal(
                distribution.dense()[index][distribution.codes[found]], distribution.counts[found]
            )


@given(examples(), st.data())
def test_label_counts_are_the_rows_of_each_label(example: Example, data: st.DataObject) -> None:
    levels = data.draw(st.sampled_from(list(example.nodes())))
    for name, level in zip(example.quasi_identifiers, levels, strict=True):
        column = example.tuples.columns[name]
        labels = column.labels if level == 0 else column.levels.labels[level]
        counted = Counter(str(row[name]) for row in example.generalized(levels))
        found = example.tuples.label_counts(name, level)
        assert {label: n for label, n in zip(labels, found.tolist(), strict=True) if n} == counted


def test_suppressed_cells_add_nothing_to_a_distribution() -> None:
    table = Table(pa.table({"a": [1, 1, 1], "s": ["flu", SUPPRESSED, SUPPRESSED]}))
    distribution = row_tuples(table, ["a"], ["s"]).classes(["a"], None, [("s",)]).distributions["s",]
    assert distribution.counts.tolist() == [1]
    assert distribution.sizes.tolist() == [1]
    assert distribution.totals.sum() == 1


def test_without_quasi_identifiers_all_rows_are_one_class() -> None:
    tuples = row_tuples(Table(pa.table({"a": [1, 2, 3]})), ["a"])
    assert tuples.classes([]).sizes.tolist() == [3]
