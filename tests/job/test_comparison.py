"""Comparing methods: the same promises for all, and figures that a reader can trust."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe import models
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import read_hierarchy
from tarnkappe.job.comparison import Comparison, usual_methods
from tarnkappe.recoding import Anatomy, Mondrian
from tarnkappe.report.comparison import draw_comparison, table_rows, write_comparison
from tarnkappe.table import Table, read
from tarnkappe.utility import Workload
from tests.adult import WITHOUT_OCCUPATION

QUERIES = Workload(queries=60)


@pytest.fixture(scope="module")
def patients() -> Table:
    return tarnkappe.examples.hospital(rows=400, seed=3).table.with_roles(
        quasi_identifiers=["age", "sex", "postcode"], sensitive=["diagnosis"]
    )


@pytest.fixture(scope="module")
def comparison(patients: Table) -> Comparison:
    return tarnkappe.compare(
        patients,
        privacy=[models.KAnonymity(4), models.DistinctDiversity("diagnosis", l=3)],
        methods=["auto", "mondrian", Anatomy(), "slicing"],
        suppression_limit=0.05,
        workload=QUERIES,
        seed=1,
    )


def test_each_method_has_its_row_with_all_figures(comparison: Comparison) -> None:
    assert [each.method for each in comparison.outcomes] == ["auto", "mondrian", "anatomy", "slicing"]
    for each in comparison.outcomes:
        assert not each.failure
        assert each.summary.count("Right") == 1, "it says when it is the right one"
        assert each.query_error is not None
        assert each.query_error.queries == 60
        assert each.seconds > 0
        assert each.suppressed <= 0.05 * 400
        assert (each.loss is None) == (each.method in ("anatomy", "slicing"))
    assert json.loads(json.dumps(comparison.to_dict()))["methods"][1]["method"] == "mondrian"
    assert comparison["auto"] is comparison.outcomes[0]
    with pytest.raises(ParameterError, match="'flash' was not compared"):
        comparison["flash"]


def test_the_figures_are_those_of_the_release(patients: Table, comparison: Comparison) -> None:
    found = tarnkappe.anonymize(
        patients,
        privacy=[models.KAnonymity(4), models.DistinctDiversity("diagnosis", l=3)],
        loss="loss",
        suppression_limit=0.05,
        algorithm=Mondrian(),
    )
    ours = comparison["mondrian"]
    assert (ours.loss, ours.suppressed, ours.groups) == (found.loss, found.suppressed, found.state.num_kept)


def test_a_method_that_finds_nothing_is_a_row_with_the_reason(patients: Table) -> None:
    found = tarnkappe.compare(
        patients,
        privacy=[models.AverageRisk(0.2)],
        methods=["auto", "anatomy"],
        workload=QUERIES,
    )
    assert not found["auto"].failure
    assert "speaks of generalized quasi-identifiers" in found["anatomy"].failure
    assert found["anatomy"].query_error is None
    header, rows = table_rows(found)
    assert rows[1] == ["anatomy", *["–"] * (len(header) - 1)]
    assert "anatomy: average-risk speaks" in repr(found)


def test_unknown_methods_and_targets_are_refused_before_any_work(patients: Table) -> None:
    with pytest.raises(ParameterError, match="did you mean 'mondrian'"):
        tarnkappe.compare(patients, privacy=[models.KAnonymity(2)], methods=["auto", "mondrain"])
    with pytest.raises(ParameterError, match="'age' is generalized"):
        tarnkappe.compare(patients, privacy=[models.KAnonymity(2)], target="age")


def test_a_loss_that_cannot_measure_cells_is_replaced_and_said_so(patients: Table) -> None:
    found = tarnkappe.compare(
        patients, privacy=[models.KAnonymity(2)], methods=["mondrian"], loss="height", workload=QUERIES
    )
    assert found.loss == "loss"
    assert "'height' cannot measure" in found.remark
    assert not found["mondrian"].failure


def test_the_usual_methods_exist() -> None:
    assert {"auto", "local-recoding", "mondrian", "anatomy", "slicing"} <= set(usual_methods())


def test_picture_and_page_show_every_method_and_no_value(
    comparison: Comparison, patients: Table, tmp_path: Path
) -> None:
    svg = draw_comparison(comparison).to_svg()
    write_comparison(comparison, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for each in comparison.outcomes:
        assert each.method in svg
        assert each.summary.split(".")[0] in page
    shown = set(patients.data.column("diagnosis").to_pylist()) | set(
        map(str, patients.data.column("postcode").to_pylist())
    )
    assert not [value for value in shown if f">{value}<" in page]
    assert "<svg" in comparison._repr_html_()


def test_classifiers_are_asked_about_people_who_are_in_no_release(patients: Table) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    sex = patients.data.column("sex").to_pylist()
    told = pa.table({**{n: patients.data.column(n) for n in ("age", "sex")}, "same": pa.array(sex)})
    table = Table(told).with_roles(quasi_identifiers=["age", "sex"], sensitive=["same"])
    found = tarnkappe.compare(
        table, privacy=[models.KAnonymity(3)], methods=["auto", "mondrian"], target="same", workload=QUERIES
    )
    for each in found.outcomes:
        assert each.accuracy is not None
        assert each.accuracy.rows == round(len(sex) / 3)
        assert each.accuracy.original > 0.95, "the column tells itself"
        assert each.accuracy.most_frequent < 0.7


def test_on_adult_mondrian_beats_full_domain_on_query_error(adult: Path) -> None:
    """The figure that the comparison exists for."""
    table = read(adult / "adult.csv").with_roles(
        quasi_identifiers=WITHOUT_OCCUPATION, sensitive=["occupation"]
    )
    found = tarnkappe.compare(
        table,
        privacy=[models.KAnonymity(5)],
        methods=["auto", "mondrian"],
        hierarchies={n: read_hierarchy(adult / f"adult_hierarchy_{n}.csv") for n in table.column_names},
        suppression_limit=0.02,
        workload=Workload(queries=150),
        seed=1,
    )
    full_domain, mondrian = found["auto"].query_error, found["mondrian"].query_error
    assert full_domain is not None
    assert mondrian is not None
    assert mondrian.median < full_domain.median / 2
    assert mondrian.worst_tenth < full_domain.worst_tenth
