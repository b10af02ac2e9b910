"""What every builder in the registry must fulfil, on values of every kind."""

from __future__ import annotations

import tomllib
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy import BUILDERS, AutoBuilder, Builder, Hierarchy, Masking, propose
from tarnkappe.hierarchy.builder import ValueKind
from tarnkappe.hierarchy.intervals import Intervals
from tarnkappe.hierarchy.numbers import is_whole
from tarnkappe.table import MISSING
from tarnkappe.table.encoding import as_text, encode_column
from tests.hierarchy.strategies import COLUMNS, NO_NUMBER, arrays

EXAMPLES = [example for builder in BUILDERS for example in builder.examples()]


def accepted(builder: Builder) -> st.SearchStrategy[pa.Array]:
    return st.sampled_from(sorted(builder.kinds)).flatmap(arrays)


def rows(hierarchy: Hierarchy) -> list[tuple[str | None, ...]]:
    return list(hierarchy.rows())


@pytest.mark.parametrize("builder", EXAMPLES, ids=str)
@settings(max_examples=40)
@given(data=st.data())
def test_every_hierarchy_is_total_monotone_and_has_one_root(builder, data) -> None:
    values = data.draw(accepted(builder))
    hierarchy = builder.build(values)
    column = encode_column("x", pa.chunked_array([values]))
    levels = hierarchy.encode(column)  # refuses a value without a line
    assert set(as_text(column.values).to_pylist()) - {""} <= {*hierarchy.values, None}
    assert hierarchy.height == (builder.height or hierarchy.height)
    assert len(hierarchy.labels(hierarchy.height)) == 1
    assert hierarchy.root == "*" or isinstance(builder, Masking | AutoBuilder)
    for level in range(1, hierarchy.height):
        above = {hierarchy.label(v, level): hierarchy.label(v, level + 1) for v in hierarchy.values}
        assert all(
            above[hierarchy.label(v, level)] == hierarchy.label(v, level + 1) for v in hierarchy.values
        )
        assert levels.parents(level)[levels.maps[level]].tolist() == levels.maps[level + 1].tolist()
    shuffled = values.take(pa.array(data.draw(st.permutations(range(len(values))))))
    assert rows(builder.build(shuffled)) == rows(hierarchy)


@pytest.mark.parametrize("builder", EXAMPLES, ids=str)
@settings(max_examples=10)
@given(data=st.data())
def test_missing_values_change_no_other_line(builder, data) -> None:
    values = data.draw(accepted(builder)).drop_null()
    if not len(values):
        return
    without = rows(builder.build(values))
    with_missing = rows(builder.build(pa.concat_arrays([values, pa.nulls(1, values.type)])))
    assert [row for row in with_missing if row[0] is not None] == [r for r in without if r[0] is not None]
    assert with_missing[-1][0] is None


@pytest.mark.parametrize("builder", [e for e in EXAMPLES if e.name != "groups"], ids=str)
def test_the_missing_value_has_its_own_label_below_the_root(builder) -> None:
    kind = min(builder.kinds)
    sample = {
        ValueKind.NUMBERS: ["12", "7", None],
        ValueKind.DATES: ["2001-02-03", None],
        ValueKind.TEXT: ["b", None],
    }
    hierarchy = builder.build(pa.array(sample[kind]))
    below = [hierarchy.label(None, level) for level in range(1, hierarchy.height)]
    assert below == [MISSING] * (hierarchy.height - 1)
    assert hierarchy.label(None, hierarchy.height) == hierarchy.root


@pytest.mark.parametrize("builder", EXAMPLES, ids=str)
def test_columns_without_values_are_generalized_or_refused(builder) -> None:
    only_missing = builder.build(pa.nulls(3, pa.string()))
    assert only_missing.label(None, only_missing.height) == only_missing.root
    assert only_missing.height == (builder.height or 1)
    if builder.name != "groups":  # which knows values that no row has
        with pytest.raises(HierarchyError, match="the data has no values"):
            builder.build(pa.array([], pa.string()))


@pytest.mark.parametrize("builder", [e for e in EXAMPLES if ValueKind.TEXT not in e.kinds], ids=str)
@settings(max_examples=10)
@given(text=NO_NUMBER)
def test_values_of_another_kind_are_refused_by_name(builder, text) -> None:
    column = encode_column("town", pa.chunked_array([[text]]))
    with pytest.raises(HierarchyError, match=f"^{builder.name} needs .* the column 'town' has the value 'x"):
        builder.build_column(column)


@pytest.mark.parametrize("builder", EXAMPLES, ids=str)
def test_a_builder_can_be_written_into_a_job_file_and_made_from_it(builder) -> None:
    table = tomllib.loads(f"hierarchy = {builder}")["hierarchy"]
    again = BUILDERS.create(table.pop("builder"), table)
    sample = pa.array(["2001-02-03"]) if builder.kinds == {ValueKind.DATES} else pa.array(["1", "12", "123"])
    assert rows(again.build(sample)) == rows(builder.build(sample))
    assert str(again) == str(builder)


def test_any_name_can_be_written_into_a_job_file() -> None:
    groups = {'ä "b" \\ \n': ["x\ty", True, 2.5], "c-d": [1]}
    builder = BUILDERS.create("groups", {"groups": groups})
    written = {'ä "b" \\ \n': ["x\ty", "true", "2.5"], "c-d": ["1"]}  # as a table shows the values
    assert tomllib.loads(f"hierarchy = {builder}")["hierarchy"]["groups"] == written


@pytest.mark.parametrize("kind", list(COLUMNS))
@settings(max_examples=60)
@given(data=st.data())
def test_a_proposal_names_the_builder_that_makes_it(kind, data) -> None:
    column = encode_column("x", pa.chunked_array([data.draw(arrays(kind))]))
    proposal = propose(column)
    assert proposal.reason
    assert rows(proposal.builder.build_column(column)) == rows(proposal.hierarchy)
    assert rows(BUILDERS["auto"]().build_column(column)) == rows(proposal.hierarchy)


def test_unknown_builders_and_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="unknown hierarchy builder 'interval': did you mean intervals"):
        BUILDERS.create("interval", {})
    with pytest.raises(ParameterError, match=r"widht: there is no such parameter: did you mean 'width'\?"):
        BUILDERS.create("intervals", {"widht": 5})
    with pytest.raises(ParameterError, match="size: it is missing"):
        BUILDERS.create("ordered", {})


def _all_whole(values: pa.Array) -> bool:
    numbers = [Decimal(str(value)) for value in values.to_pylist() if value is not None]
    return all(is_whole(number) for number in numbers if number.is_finite())


@pytest.mark.parametrize("builder", [e for e in EXAMPLES if not e.looks_at_data], ids=str)
@settings(max_examples=30)
@given(data=st.data())
def test_what_does_not_look_at_the_data_labels_a_value_alike_whatever_the_others_are(builder, data) -> None:
    values = data.draw(accepted(builder))
    if not len(values):
        return
    some = values.take(pa.array(sorted(data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1)))))
    if isinstance(builder, Intervals):  # which writes [0, 5) instead of 0-4 where not all numbers are whole
        assume(_all_whole(values) == _all_whole(some))
    whole, part = builder.build(values), builder.build(some)
    assert part.height == whole.height
    lines = {row[0]: row for row in rows(whole)}
    assert all(lines[row[0]] == row for row in rows(part))
