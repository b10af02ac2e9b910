"""The worked examples of the documents (fixtures/query-model, fixtures/release-check), value by value."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pytest

from tarnkappe.privacy import MODELS, DeltaPresence, DistinctDiversity, Model, needed_distributions, protect
from tarnkappe.privacy.evaluate import satisfied
from tarnkappe.privacy.verify import verify
from tarnkappe.table import Classes, Tuples
from tarnkappe.table.encoding import encode_column
from tarnkappe_bench.expected_homogeneity import expected_homogeneity
from tests.conftest import FIXTURES
from tests.privacy.tables import weighted

QUERY_MODEL, RELEASE_CHECK = FIXTURES / "query-model", FIXTURES / "release-check"
QUASI_IDENTIFIERS = ("age", "zip", "sex", "PLZ", "Alter", "Nationalitaet")
NUMBERS = ("salary",)


def read(path: Path) -> pa.Table:
    """A fixture; everything is text but for columns of numbers."""
    names = path.read_text(encoding="utf-8").splitlines()[0].split(";")
    types = {name: pa.int64() if name in NUMBERS else pa.string() for name in names}
    return csv.read_csv(
        path, csv.ReadOptions(), csv.ParseOptions(delimiter=";"), csv.ConvertOptions(column_types=types)
    )


def known(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name in QUASI_IDENTIFIERS]


def classes_of(table: pa.Table, models: list[Model]) -> Classes:
    tuples = Tuples.of_rows(encode_column(name, table.column(name)) for name in table.column_names)
    return tuples.classes(known(table), distributions=needed_distributions(models))


def by_class(classes: Classes, values: Any) -> dict[str, float]:
    """Values by the labels of the classes, as many labels as it takes to tell them apart."""
    labels = [list(classes.labels(index).values()) for index in range(classes.num_classes)]
    width = next(w for w in range(1, 4) if len({tuple(own[:w]) for own in labels}) == len(labels))
    return {", ".join(own[:width]): float(value) for own, value in zip(labels, values, strict=True)}


VERDICTS = [
    (folder, verdict)
    for folder in (QUERY_MODEL, RELEASE_CHECK)
    for verdict in json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(
    ("folder", "verdict"),
    VERDICTS,
    ids=lambda v: v.name if isinstance(v, Path) else f"{v['table']} {v['model']} {v['parameters']}",
)
def test_every_verdict_of_the_documents_is_reproduced(folder: Path, verdict: dict[str, Any]) -> None:
    table = read(folder / f"{verdict['table']}.csv")
    model = MODELS.create(verdict["model"], verdict["parameters"])
    classes = classes_of(table, [model])
    state = protect(classes, [model])
    holds = verdict.get("holds", True)
    assert satisfied(state, [model], 0) == holds
    connection = duckdb.connect()
    connection.register("release", table)
    connection.register("input", table)
    assert all(found.holds for found in verify(connection, [model], known(table))) == holds
    if "value" in verdict:
        assert model.value(classes, state.kept) == pytest.approx(float(Fraction(verdict["value"])))
    if "classes" in verdict:
        expected = {label: float(Fraction(value)) for label, value in verdict["classes"].items()}
        assert by_class(classes, model.measure(classes)) == pytest.approx(expected)
    if "log2 of classes" in verdict:
        found = {label: math.log2(v) for label, v in by_class(classes, model.measure(classes)).items()}
        assert found == pytest.approx(verdict["log2 of classes"], abs=0.0005)
    if "number of classes" in verdict:
        assert classes.num_classes == verdict["number of classes"]
    if "discernibility" in verdict:
        assert (classes.sizes**2).sum() == verdict["discernibility"]
        average = classes.num_rows / classes.num_classes / verdict["parameters"]["k"]
        assert average == verdict["average class size over k"]


def test_the_microdata_have_six_ages_and_six_postcodes() -> None:
    table = read(QUERY_MODEL / "f2.1.csv")
    assert pc.count_distinct(table["age"]).as_py() == pc.count_distinct(table["zip"]).as_py() == 6


def test_the_first_release_is_a_full_domain_generalization_of_the_microdata() -> None:
    original, release = read(QUERY_MODEL / "f2.1.csv"), read(QUERY_MODEL / "f2.2.csv")
    hierarchies = json.loads((QUERY_MODEL / "hierarchies.json").read_text(encoding="utf-8"))
    assert release["disease"] == original["disease"]
    for name, hierarchy in hierarchies.items():
        label_of = {str(v): label for label, values in hierarchy["labels"].items() for v in values}
        assert [label_of[value] for value in original[name].to_pylist()] == release[name].to_pylist()


def test_the_second_release_generalizes_locally() -> None:
    """Every cell covers its original, but the age 24 does not always become the same label."""
    original, release = read(QUERY_MODEL / "f2.1.csv"), read(QUERY_MODEL / "f2.3.csv")
    labels: dict[str, set[str]] = {}
    for age, label in zip(original["age"].to_pylist(), release["age"].to_pylist(), strict=True):
        low, high = map(int, label.split("–"))
        assert low <= int(age) <= high
        labels.setdefault(age, set()).add(label)
    assert labels["24"] == {"23–24", "24–27"}


@pytest.mark.parametrize(
    ("table", "exposed"), [("f2.2", {"Harry": "Diabetes", "Isabel": "Diabetes"}), ("f2.3", {})]
)
def test_who_is_exposed_by_a_class_with_one_value(table: str, exposed: dict[str, str]) -> None:
    release = read(QUERY_MODEL / f"{table}.csv")
    model = DistinctDiversity("disease", 2)
    classes = classes_of(release, [model])
    homogeneous = ~model.holds(classes)[classes.ids]
    rows = release.filter(pa.array(homogeneous))
    assert dict(zip(rows["name"].to_pylist(), rows["disease"].to_pylist(), strict=True)) == exposed


def test_how_probable_the_flu_becomes() -> None:
    """Before the release 2/9 for everybody, after it 2/3 in the second group and 0 elsewhere."""
    model = DistinctDiversity("disease", 2)
    distribution = classes_of(read(QUERY_MODEL / "f2.3.csv"), [model]).distributions["disease",]
    flu = distribution.column.labels.index("Flu")
    assert Fraction(int(distribution.totals[flu]), int(distribution.totals.sum())) == Fraction(2, 9)
    assert (distribution.dense()[:, flu] / distribution.sizes).tolist() == pytest.approx([0, 2 / 3, 0])


def test_each_of_the_four_is_in_the_third_group_with_probability_three_quarters() -> None:
    """Gill, Harry and Isabel are in the table, Jake (27, 29025, m) is not; all four fit the group."""
    people = weighted({"age": ["24–27"], "zip": ["2****"]}, [3], population=[4])
    classes = people.classes(["age", "zip"])
    assert (classes.sizes / population(classes)).tolist() == [0.75]
    assert DeltaPresence(0.75, 0.75).holds(classes).all()
    assert not DeltaPresence(0, 0.74).holds(classes).any()


def population(classes: Classes) -> Any:
    assert classes.population is not None
    return classes.population


AGES = {
    "< 30": range(30),
    "≥ 40": range(40, 130),
    "3*": range(30, 40),
    "≤ 40": range(41),
    "> 40": range(41, 130),
}


def covers(label: str, value: str) -> bool:
    """Whether a label of the tables about patients stands for a value."""
    if label in AGES:
        return int(value) in AGES[label]
    return len(label) <= len(value) and all(a in ("*", b) for a, b in zip(label, value, strict=False))


@pytest.mark.parametrize("name", ["f-t2", "f-t3", "f-t14"])
def test_every_cell_of_a_release_covers_the_original(name: str) -> None:
    """Of the third table only the quasi-identifiers are those of the first; its diagnoses are others."""
    original = {row["row"]: row for row in read(RELEASE_CHECK / "f-t1.csv").to_pylist()}
    for row in read(RELEASE_CHECK / f"{name}.csv").to_pylist():
        for column in ("PLZ", "Alter", "Nationalitaet"):
            assert covers(row[column], original[row["row"]][column]), (row, column)


def test_the_original_diagnoses_are_distributed_alike_in_the_classes_of_the_third_table() -> None:
    release = read(RELEASE_CHECK / "f-t3.csv")
    original = read(RELEASE_CHECK / "f-t1.csv")
    mixed = release.set_column(4, "Diagnose", original["Diagnose"])
    shapes = []
    for table in (release, mixed):
        distribution = classes_of(table, [DistinctDiversity("Diagnose", 1)]).distributions["Diagnose",]
        shapes.append([sorted(counts[counts > 0].tolist()) for counts in distribution.dense()])
    assert shapes[0] == shapes[1] == [[2, 2], [1, 1, 2], [4]]


def test_how_many_people_k_anonymity_leaves_exposed() -> None:
    """60,000 people, 5-anonymous, 3 equally frequent values: one of 81 groups has no diversity."""
    exposed = expected_homogeneity(60_000, 5, 3)
    assert exposed.groups == Fraction(12_000, 81)
    assert math.floor(exposed.groups) == 148
    assert 5 * math.floor(exposed.groups) == 740
