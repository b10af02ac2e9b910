"""Equivalence classes and distributions, against grouping by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.table import SUPPRESSED, Table, Tuples
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


@given(examples(with_population=True), st.data())
def test_a_roll_up_has_the_same_classes_above(example: Example, data: st.DataObject) -> None:
    nodes = list(example.nodes())
    below = data.draw(st.sampled_from(nodes))
    above = data.draw(
        st.sampled_from([n for n in nodes if all(a >= b for a, b in zip(n, below, strict=True))])
    )
    wanted = [("disease",), ("disease", "treatment")]

    def described(tuples: Tuples) -> list[tuple[object, ...]]:
        classes = tuples.classes(example.quasi_identifiers, above, wanted)
        distribution = [classes.distributions[names] for names in wanted]
        return sorted(
            (
                tuple(classes.labels(index).values()),
                int(classes.sizes[index]),
                int(classes.population[index]),
                *(
                    sorted(
                        (d.column.labels[d.codes[entry]], int(d.counts[entry]))
                        for entry in range(d.offsets[index], d.offsets[index + 1])
                    )
                    for d in distribution
                ),
            )
            for index in range(classes.num_classes)
        )

    classes = example.tuples.classes(example.quasi_identifiers, below)
    rolled = example.tuples.rolled_up(classes, ["disease", "treatment"])
    assert described(rolled) == described(example.tuples)
    assert rolled.classes(example.quasi_identifiers, above).tuples is example.tuples
    assert rolled.num_tuples <= example.tuples.num_tuples
