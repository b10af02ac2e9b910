"""Shaped tables have the published figures, and content on which a search behaves as on real data."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.table import Levels, Role, Tuples, encode
from tarnkappe.table.examples import SHAPE_NAMES, ExampleData, shaped, shaped_batches
from tests.table.example_checks import check_hierarchy, rows_of, texts

SHAPE_FACTS = {
    "ADULT": (
        30_162,
        (12_960, 4_320),
        "occupation",
        "sex 2/2; age 72/5; race 5/2; marital-status 7/3; education 16/4; native-country 41/3; "
        "workclass 7/3; occupation 14/3; salary-class 2/2",
    ),
    "CUP": (
        63_441,
        (45_000, 9_000),
        "ramntall",
        "zip 13294/6; age 94/5; gender 6/2; income 7/3; state 53/2; ramntall 814/5; ngiftall 81/5; "
        "minramnt 58/5",
    ),
    "FARS": (
        100_937,
        (20_736, 5_184),
        "istatenum",
        "iage 99/6; irace 20/3; ideathmon 14/4; ideathday 33/4; isex 3/2; ihispanic 10/3; istatenum 51/4; "
        "iinjury 8/3",
    ),
    "ATUS": (
        539_253,
        (34_992, 8_748),
        "highest level of school completed",
        "region 4/3; age 83/6; sex 3/2; race 23/3; marital status 7/3; citizenship status 6/3; "
        "birthplace 155/3; highest level of school completed 18/4; labor force status 7/3",
    ),
    "IHIS": (
        1_193_504,
        (25_920, 12_960),
        "educ",
        "year 13/6; quarter 4/3; region 4/3; pernum 25/4; age 86/5; marstat 10/3; sex 2/2; racea 16/2; "
        "educ 26/2",
    ),
}


@cache
def default_shape(name: str) -> ExampleData:
    return shaped(name)


@pytest.mark.parametrize("name", SHAPE_FACTS)
def test_shapes_have_exactly_the_published_figures(name: str) -> None:
    num_rows, lattice, sensitive, facts = SHAPE_FACTS[name]
    example = default_shape(name)
    table = example.table
    assert table.num_rows == num_rows
    measured = [
        f"{column} {len(texts(example, column))}/{len(example.hierarchies[column][0])}"
        for column in table.column_names
    ]
    assert "; ".join(measured) == facts
    levels = {column: len(rows[0]) for column, rows in example.hierarchies.items()}
    assert math.prod(levels.values()) == lattice[0]
    assert math.prod(levels[column] for column in table.quasi_identifiers) == lattice[1]
    assert table.sensitive == (sensitive,)
    assert set(table.roles.values()) == {Role.SENSITIVE, Role.QUASI_IDENTIFIER}
    assert (example.description["lattice"], example.description["lattice_without_sensitive"]) == lattice
    for column, described in example.description["columns"].items():
        assert described == {
            "role": str(table.roles[column]),
            "distinct": len(texts(example, column)),
            "levels": levels[column],
        }


def test_all_shapes_are_known_by_name() -> None:
    assert tuple(SHAPE_FACTS) == SHAPE_NAMES


@pytest.mark.parametrize("name", SHAPE_FACTS)
def test_hierarchies_of_shapes_are_total_and_monotone_with_one_root(name: str) -> None:
    example = default_shape(name)
    assert tuple(example.hierarchies) == example.table.column_names
    for column, rows in example.hierarchies.items():
        check_hierarchy(rows)
        assert {row[0] for row in rows} == texts(example, column)


def test_labels_can_be_read() -> None:
    adult, cup = default_shape("ADULT").hierarchies, default_shape("CUP").hierarchies
    assert ["25", "age 25-29", "age 20-29", "age 20-39", "*"] in adult["age"]
    assert ["doctorate", "graduate", "higher", "*"] in adult["education"]
    assert cup["zip"][0] == ["01000", "0100*", "010**", "01***", "0****", "*"]


@pytest.mark.parametrize("name", SHAPE_FACTS)
def test_columns_of_shapes_are_skewed_and_depend_on_one_another(name: str) -> None:
    """Far fewer combinations occur than if the columns were drawn one by one with equal chances."""
    columns = list(encode(default_shape(name).table, default_shape(name).table.column_names).values())
    skewed = sum(column.counts().max() > 1.5 * len(column.codes) / column.cardinality for column in columns)
    assert skewed >= len(columns) / 2
    strongest = 0.0
    for one, other in itertools.combinations([c for c in columns if c.cardinality < 100], 2):
        both = np.bincount(
            one.codes.astype(np.int64) * other.cardinality + other.codes,
            minlength=one.cardinality * other.cardinality,
        ).reshape(one.cardinality, other.cardinality)
        expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0, keepdims=True) / both.sum()
        strongest = max(strongest, float(np.abs(both - expected).sum() / both.sum()) / 2)
    assert strongest > 0.1


def test_the_adult_shape_has_a_realistic_lattice() -> None:
    """Of the real lattice, 0.7 % of the nodes are 5-anonymous without suppression and 40 % with 5 %."""
    example = default_shape("ADULT")
    names = example.table.column_names
    columns = []
    for name, column in encode(example.table, names).items():
        by_value = {row[0]: row for row in example.hierarchies[name]}
        maps, labels = [], []
        for level in zip(*(by_value[label] for label in column.labels), strict=True):
            labels.append(tuple(dict.fromkeys(level)))
            maps.append(np.array([labels[-1].index(label) for label in level], dtype=np.int32))
        leaves = tuple(np.bincount(codes) for codes in maps)
        columns.append(column.with_levels(Levels(tuple(maps), tuple(labels), leaves)))
    tuples = Tuples.of_rows(columns).distinct()
    nodes = list(itertools.product(*(range(len(example.hierarchies[name][0])) for name in names)))
    small_classes = []
    for node in nodes[::13]:
        sizes = tuples.classes(names, node).sizes
        small_classes.append(int(sizes[sizes < 5].sum()))
    without = sum(rows == 0 for rows in small_classes) / len(small_classes)
    with_five_percent = sum(rows <= 0.05 * 30_162 for rows in small_classes) / len(small_classes)
    assert 0.002 < without < 0.05
    assert 0.2 < with_five_percent < 0.5


@given(name=st.sampled_from(SHAPE_NAMES), rows=st.integers(0, 200), seed=st.integers(0, 2**40))
def test_small_shapes_have_as_many_values_as_fit(name: str, rows: int, seed: int) -> None:
    if rows < 1:
        with pytest.raises(ParameterError, match="at least one row"):
            shaped(name, rows, seed)
        return
    example = shaped(name, rows, seed)
    assert example.table.num_rows == rows
    for column, described in example.description["columns"].items():
        found = texts(example, column)
        assert len(found) == min(rows, described["distinct"])
        assert found <= {row[0] for row in default_shape(name).hierarchies[column]}


@settings(max_examples=60)
@given(
    name=st.sampled_from(SHAPE_NAMES),
    rows=st.integers(1, 200),
    seed=st.integers(0, 5),
    batch_rows=st.integers(1, 250),
)
def test_batches_are_the_table_in_pieces(name: str, rows: int, seed: int, batch_rows: int) -> None:
    batches = list(shaped_batches(name, rows, seed, batch_rows))
    assert all(batch.num_rows <= batch_rows for batch in batches)
    assert pa.Table.from_batches(batches).to_pylist() == rows_of(shaped(name, rows, seed))
    for batch in batches:
        for column, first in zip(batch.columns, batches[0].columns, strict=True):
            assert column.dictionary.equals(first.dictionary)


def test_batches_can_be_streamed_to_a_file(tmp_path) -> None:
    batches = shaped_batches("ADULT", 5000, seed=3, batch_rows=1000)
    first = next(batches)
    with pq.ParquetWriter(tmp_path / "adult.parquet", first.schema) as file:
        for batch in itertools.chain([first], batches):
            file.write_batch(batch)
    assert pq.read_table(tmp_path / "adult.parquet").to_pylist() == rows_of(shaped("ADULT", 5000, seed=3))


def test_a_streamed_table_of_any_size_has_every_value() -> None:
    seen: dict[str, set[object]] = {}
    for batch in shaped_batches("CUP", 63_441, seed=9, batch_rows=10_000):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            seen.setdefault(name, set()).update(column.unique().to_pylist())
    described = shaped("CUP", rows=1).description["columns"]
    assert {name: len(values) for name, values in seen.items()} == {
        name: column["distinct"] for name, column in described.items()
    }
