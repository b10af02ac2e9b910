"""Anatomy: two tables that keep every promise about groups, and tell what they do not hide."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe import models
from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError, VerificationError
from tarnkappe.job.bucketized import Bucketized, verify_tables
from tarnkappe.privacy import MODELS, DifferentialPrivacy, Model, ModelScope
from tarnkappe.recoding import BUCKETIZATIONS
from tarnkappe.recoding.anatomy import Anatomy, anatomy_tables
from tarnkappe.recoding.randomness import Chance
from tarnkappe.risk.attacks import AnatomyMembership, AnatomyOrder, Background
from tarnkappe.risk.attacks.target import Target
from tarnkappe.table import Table
from tests.conftest import FIXTURES
from tests.random_tables import Example, examples
from tests.recoding.people import hierarchies_of, table_of

CONCEPTS = FIXTURES / "concepts"
COLUMNS = ("Geburtstag", "Geschlecht", "PLZ")
INSTANCES = [
    instance
    for kind in MODELS
    if kind is not DifferentialPrivacy
    for instance in kind.examples()
    if all(
        p.scope is ModelScope.CLASS and not (p.looks_beyond_release or p.measures_labels)
        for p in instance.parts
    )
]


def rows(name: str) -> list[dict[str, str]]:
    with (CONCEPTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def hospital_table() -> Table:
    """F-H2."""
    data = pa.Table.from_pylist(rows("f-h2.csv")).select([*COLUMNS, "Krankheit"])
    return Table(data).with_roles(quasi_identifiers=COLUMNS, sensitive=["Krankheit"])


def published() -> dict[str, pa.Table]:
    """F-H6, corrected: exact values, both tables in an order of their own."""
    groups = np.array([int(row["group"]) - 1 for row in rows("f-h6.csv")], np.int32)
    return anatomy_tables(hospital_table(), groups, Chance(4))


def anatomized(table: Table, privacy: list[Model], **options: Any) -> Bucketized:
    result = tarnkappe.anonymize(table, privacy=privacy, algorithm="anatomy", **options)
    assert isinstance(result, Bucketized)
    return result


def test_the_tables_of_the_document() -> None:
    """F-H6: exact quasi-identifiers; groups of 3 and 4 with 3 and 4 equally frequent diseases."""
    tables = published()
    first, second = tables["quasi-identifiers"], tables["sensitive"]
    exact = {tuple(row[name] for name in COLUMNS) for row in rows("f-h2.csv")}
    assert {tuple(row[name] for name in COLUMNS) for row in first.to_pylist()} == exact
    diseases = defaultdict(set)
    for row in second.to_pylist():
        assert row["count"] == 1
        diseases[row["group"]].add(row["Krankheit"])
    assert diseases == {
        1: {"Hodenkrebs", "Diabetes", "Magersucht"},
        2: {"Impotenz", "Sterilität", "Schizophrenie", "Magersucht"},
    }
    assert Counter(first.column("group").to_pylist()) == {1: 3, 2: 4}


def test_the_guarantees_of_the_document() -> None:
    """k = 3 and entropy-3-diverse (the printed 2.8 is that of Table 5); t is the maximum over the groups."""
    one = Anatomy().read(published(), COLUMNS)
    hierarchy = tarnkappe.read_hierarchy(CONCEPTS / "hierarchy-krankheit-a.csv")
    found = tarnkappe.anonymize(
        hospital_table(),
        privacy=[models.KAnonymity(3), models.EntropyDiversity("Krankheit", l=3.0)],
        hierarchies={"Krankheit": hierarchy},
        algorithm="anatomy",
        seed=1,
    )
    assert isinstance(found, Bucketized)
    checked = verify_tables(found, published())
    assert [each.value for each in checked.verified] == [3, pytest.approx(3.0)]
    assert one.num_rows == 7


def test_closeness_of_the_document_is_reached_with_the_recommended_method() -> None:
    """The author recommends Anatomy with t-closeness; Table 6 has 13/42 with the first hierarchy."""
    hierarchy = tarnkappe.read_hierarchy(CONCEPTS / "hierarchy-krankheit-a.csv")
    found = anatomized(
        hospital_table(),
        [models.HierarchicalCloseness("Krankheit", t=float(Fraction(13, 42)) + 1e-9)],
        hierarchies={"Krankheit": hierarchy},
        seed=3,
    )
    assert found.state.num_kept >= 2, "no single group is needed, as generalization would"


@given(
    example=examples(min_rows=4, max_columns=2),
    privacy=st.lists(st.sampled_from(INSTANCES), min_size=1, max_size=2, unique=True),
    limit=st.sampled_from([0.0, 0.5]),
    method=st.sampled_from(BUCKETIZATIONS.names),
)
@settings(max_examples=25)
def test_every_promise_about_groups_is_kept(
    example: Example, privacy: list[Model], limit: float, method: str
) -> None:
    """The independent check has passed or the job was refused; and nothing was invented or lost."""
    try:
        found = tarnkappe.anonymize(
            table_of(example),
            privacy=privacy,
            hierarchies=hierarchies_of(example),
            suppression_limit=limit,
            algorithm=method,
        )
    except (NoSolutionError, ParameterError, ColumnError):
        reject()
    assert isinstance(found, Bucketized)
    event(f"{method}, groups: {min(found.state.num_kept, 4)}, suppressed: {found.suppressed > 0}")
    assert found.verified
    assert all(each.holds for each in found.verified)
    assert found.suppressed <= limit * len(example.rows)
    kept = [row for row, bucket in zip(example.rows, found.buckets.bucket, strict=True) if bucket >= 0]
    one = found.method.read(found.tables, example.quasi_identifiers).to_pylist()
    for name in (*example.quasi_identifiers, "disease", "treatment", "income"):
        assert Counter(row[name] for row in one) == Counter(row[name] for row in kept)


@pytest.fixture
def release() -> Bucketized:
    table = tarnkappe.examples.hospital(rows=400, seed=5).table
    return anatomized(table, [models.DistinctDiversity("diagnosis", l=3)], seed=9)


def test_nobody_links_the_two_tables_by_their_order(release: Bucketized) -> None:
    first, second = (Table(table) for table in release.tables.values())
    target = Target.of(
        first.with_roles(quasi_identifiers=release.problem.quasi_identifiers),
        Background(sensitive_table=second),
    )
    assert AnatomyOrder().run(target).victims == 0
    seen = AnatomyMembership().run(target).victims
    assert f"{seen:,} of 400 rows" in release.buckets.accepts[0], "what is accepted is stated"
    assert release.buckets.accepts[0] in release.to_dict()["accepts"]
    assert release.buckets.accepts[0] in str(release)


def test_group_numbers_and_orders_do_not_follow_the_input(release: Bucketized) -> None:
    """An attacker who knows the order of the input finds no trace of it."""
    first = release.tables["quasi-identifiers"]
    numbers = np.array(first.column("group"))
    assert abs(np.corrcoef(numbers, np.arange(len(numbers)))[0, 1]) < 0.2
    places = {
        tuple(row): place
        for place, row in enumerate(
            map(
                tuple,
                zip(*release.input.data.select(first.column_names[:-1]).to_pydict().values(), strict=True),
            )
        )
    }
    order = [
        places[row]
        for row in map(tuple, zip(*first.select(first.column_names[:-1]).to_pydict().values(), strict=True))
    ]
    assert abs(np.corrcoef(order, np.arange(len(order)))[0, 1]) < 0.2
    values = release.tables["sensitive"].column("diagnosis").to_pylist()
    assert values != sorted(values)


@pytest.mark.parametrize("change", ["group", "count", "value", "identifier"])
def test_tables_that_were_tampered_with_are_not_handed_over(release: Bucketized, change: str) -> None:
    tables = dict(release.tables)
    first, second = tables["quasi-identifiers"], tables["sensitive"]
    if change == "group":  # all values of one disease in one group
        same = pa.array([1] * second.num_rows, pa.int32())
        tables["sensitive"] = second.set_column(0, "group", same)
    elif change == "count":
        tables["sensitive"] = second.set_column(2, "count", pa.array([2] * second.num_rows))
    elif change == "value":
        one = second.column("diagnosis")[0].as_py()
        tables["sensitive"] = second.set_column(1, "diagnosis", pa.array([one] * second.num_rows))
    else:
        name = release.input.identifiers[0]
        tables["quasi-identifiers"] = first.append_column(name, release.input.data.column(name))
    with pytest.raises(VerificationError, match="not handed over"):
        verify_tables(release, tables)


def test_a_broken_promise_is_found_in_the_written_tables(release: Bucketized) -> None:
    """All values stay and groups keep their sizes, but equal values come together."""
    sizes = Counter(release.tables["quasi-identifiers"].column("group").to_pylist())
    values = sorted(
        value
        for row in release.tables["sensitive"].to_pylist()
        for value in [row["diagnosis"]] * row["count"]
    )
    groups = [group for group, size in sorted(sizes.items()) for _ in range(size)]
    broken = pa.table(
        {"group": pa.array(groups, pa.int32()), "diagnosis": values, "count": [1] * len(values)}
    )
    with pytest.raises(VerificationError, match=r"does not meet distinct-diversity"):
        verify_tables(release, {**release.tables, "sensitive": broken})


def test_what_anatomy_cannot_promise_is_refused() -> None:
    table = hospital_table()
    refused = {
        "no sensitive column": (table.with_roles(quasi_identifiers=COLUMNS), models.KAnonymity(2), {}),
        "average-risk": (table, models.AverageRisk(0.5), {}),
        "is no sensitive column": (
            table.with_roles(quasi_identifiers=COLUMNS[:2], sensitive=["Krankheit"]),
            models.DistinctDiversity("PLZ", l=2),
            {},
        ),
        "local_recoding": (table, models.KAnonymity(2), {"local_recoding": True}),
        "shuffle = false": (table, models.KAnonymity(2), {"shuffle": False}),
        "level limits": (table, models.KAnonymity(2), {"levels": {"PLZ": 0}}),
    }
    refused["name a sensitive column"] = refused.pop("no sensitive column")
    for message, (data, model, options) in refused.items():
        with pytest.raises((ParameterError, ColumnError), match=message):
            tarnkappe.anonymize(data, privacy=[model], algorithm="anatomy", **options)


def test_columns_may_have_the_names_of_our_own() -> None:
    data = pa.table({"group": [1, 2, 3, 4], "count": [1, 1, 2, 2], "s": ["a", "b", "a", "b"]})
    table = Table(data).with_roles(quasi_identifiers=["group"], sensitive=["s"], insensitive=["count"])
    found = anatomized(table, [models.DistinctDiversity("s", l=2)])
    assert found.tables["quasi-identifiers"].column_names == ["group", "count", "group_"]
    assert found.tables["sensitive"].column_names == ["group_", "s", "count_"]
    clash = Table(data.rename_columns(["bucket", "count", "s"])).with_roles(
        quasi_identifiers=["bucket"], sensitive=["s"]
    )
    with pytest.raises(ColumnError, match="rename this column"):
        anatomized(clash, [models.DistinctDiversity("s", l=2)])
