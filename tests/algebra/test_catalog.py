"""The catalog: what belongs to columns and relations, checked before any query is read."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.nodes import Projection, Relation, Selection, Union
from tarnkappe.algebra.noise import Dynamic, Static
from tarnkappe.algebra.sql.expressions import read_predicate
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.algebra.statistics import ColumnStatistics, RelationStatistics
from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table import Role
from tests.algebra.blood import RHESUS

COIN = Static({"+": Fraction(1, 2), "-": Fraction(1, 2)})
RELATIONS = {"r": ("id", "a"), "s": ("id", "b")}


def test_what_is_counted_and_declared_becomes_a_fact() -> None:
    catalog = Catalog(
        RELATIONS,
        noise={"a": COIN, "b": Dynamic({})},
        keys={"r": [frozenset({"id"})], "s": [frozenset({"id"})]},
        inclusions=[("r", "s", frozenset({"id"})), ("s", "r", frozenset({"id"}))],
        least_rows={"s": 3},
    )
    facts = catalog.facts({"r": RelationStatistics(7, {"a": ColumnStatistics(2)})})
    r, s = Relation("r", ("id", "a")), Relation("s", ("id", "b"))
    assert facts.row_count(r) == 7
    assert facts.row_count(s) is None
    assert facts.fewest_rows(s) == 3
    assert facts.is_static("a")
    assert not facts.is_static("b")
    assert facts.same_keys(r, s, {"id"})
    assert facts.bucket == 2
    assert facts.stable_buckets


def test_what_nobody_said_is_not_known() -> None:
    facts = Catalog(RELATIONS).facts()
    r = Relation("r", ("id", "a"))
    assert facts.row_count(r) is None
    assert facts.fewest_rows(Union(r, r)) == 0
    assert not facts.is_unique(r, {"id"})
    assert not facts.has_partners(r, Relation("s", ("id", "b")), {"id"})
    assert not facts.is_static("a")
    selected = Selection(Projection(r, ("a",)), read_predicate("a > 1"))
    assert facts.fewest_rows(selected) == 0


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"roles": {"c": Role.SENSITIVE}}, "role is given to 'c'"),
        ({"keys": {"r": [frozenset({"b"})]}}, "a key of 'r' names 'b'"),
        ({"inclusions": [("r", "s", frozenset({"a"}))]}, "an inclusion of 's' names 'a'"),
        ({"orders": [(frozenset({"r"}), frozenset({"b"}))]}, "an order of 'r' names 'b'"),
    ],
)
def test_declarations_about_columns_that_are_not_there_are_refused(parts: dict, message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        Catalog(RELATIONS, **parts)


def test_declarations_about_relations_that_are_not_there_are_refused() -> None:
    with pytest.raises(ParameterError, match="'t', which is no relation"):
        Catalog(RELATIONS, least_rows={"t": 1})


@pytest.mark.parametrize("bucket", [1, 0, True])
def test_a_bucket_of_one_row_hides_nobody(bucket: int) -> None:
    with pytest.raises(ParameterError, match="nobody in it is hidden"):
        Catalog(RELATIONS, bucket=bucket)


def test_a_negative_number_is_no_statistic() -> None:
    with pytest.raises(ParameterError, match="-1 rows"):
        RelationStatistics(-1)
    with pytest.raises(ParameterError, match="-1 different values"):
        ColumnStatistics(-1)


def test_statistics_do_not_guess() -> None:
    known = RelationStatistics(4, {"a": ColumnStatistics(3)})
    assert known.distinct("a") == 3
    assert known.distinct("b") is None


def test_a_renamed_column_keeps_its_hierarchy_and_its_noise() -> None:
    catalog = Catalog(RELATIONS, hierarchies={"a": RHESUS}, noise={"a": COIN})
    renamed = "(SELECT a AS rh FROM r)"
    generalized = read_sql(f"SELECT * FROM generalize({renamed}, k => 2, by => [rh])", RELATIONS).plan
    assert catalog.for_plan(generalized).hierarchies["rh"] is RHESUS
    assert "rh" not in catalog.for_plan(generalized).noise
    noised = read_sql(f"SELECT * FROM randomize({renamed}, probability => {{rh: 1}})", RELATIONS).plan
    assert catalog.for_plan(noised).noise["rh"] is COIN
    plain = read_sql("SELECT * FROM generalize(r, k => 2, by => [a])", RELATIONS).plan
    assert catalog.for_plan(plain) is catalog
