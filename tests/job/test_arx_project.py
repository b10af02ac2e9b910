"""ARX projects become jobs: what is carried over, what is listed, and what strangers try."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.cli import main
from tarnkappe.errors import InputError, LimitError, ParameterError, TarnkappeError
from tarnkappe.job import Job, run
from tarnkappe.job import arx_archive as module
from tarnkappe.job.arx_builders import NotCarriedOver, read_functional_hierarchy
from tarnkappe.job.arx_project import ImportedProject, import_project
from tests.java_streams import Char, Constant, Obj, array_list, boxed, hash_map, java_stream
from tests.job.arx_projects import (
    AGES,
    ARX,
    QUASI,
    ROWS,
    Project,
    costs,
    criterion,
    date_builder,
    interval_builder,
    metric,
    order_builder,
    redaction_builder,
    row_set,
)


def imported(project: Project, folder: Path) -> tuple[ImportedProject, dict[str, Any]]:
    made = import_project(project.write(folder / "ward.deid"), folder / "ward")
    return made, tomllib.loads(made.job.read_text(encoding="utf-8"))


def test_a_project_becomes_a_job_that_runs(tmp_path: Path) -> None:
    made, job = imported(Project(), tmp_path)
    assert job["input"] == {"path": "data.csv", "delimiter": ";"}
    assert {name: plan["role"] for name, plan in job["columns"].items()} == {
        "id": "identifier",
        "age": "quasi-identifier",
        "town": "quasi-identifier",
        "illness": "sensitive",
    }
    assert job["privacy"] == [{"model": "k-anonymity", "k": 5}]
    assert job["search"] == {"loss": {"name": "loss", "aggregate": "mean"}, "suppression_limit": 0.1}
    with (made.folder / "data.csv").open(encoding="utf-8", newline="") as data:
        assert [tuple(row) for row in csv.reader(data, delimiter=";")][1:] == ROWS
    result = run(Job.load(made.job))
    assert result.release.num_rows >= 54
    assert made.left_out[-1].startswith("what ARX has computed")
    assert made.folder.stat().st_mode & 0o077 == 0


CRITERIA = [
    (
        criterion("DistinctLDiversity", attribute="illness", minSize=2, l=2.0),
        {"model": "distinct-diversity", "l": 2},
    ),
    (
        criterion("EntropyLDiversity", attribute="illness", l=1.5, minSize=2),
        {"model": "entropy-diversity", "l": 1.5},
    ),
    (
        criterion("RecursiveCLDiversity", attribute="illness", c=3.0, l=2.0, minSize=2),
        {"model": "recursive-diversity", "c": 3, "l": 2},
    ),
    (
        criterion("EqualDistanceTCloseness", attribute="illness", t=0.4),
        {"model": "equal-closeness", "t": 0.4},
    ),
    (
        criterion("OrderedDistanceTCloseness", attribute="illness", t=0.4),
        {"model": "ordered-closeness", "t": 0.4},
    ),
    (
        criterion("HierarchicalDistanceTCloseness", attribute="illness", t=0.4),
        {"model": "hierarchical-closeness", "t": 0.4},
    ),
    (
        criterion("DDisclosurePrivacy", attribute="illness", d=1.5),
        {"model": "delta-disclosure", "delta": 1.5},
    ),
    (criterion("BasicBLikeness", attribute="illness", b=2.0), {"model": "basic-beta-likeness", "beta": 2}),
    (
        criterion("EnhancedBLikeness", attribute="illness", b=2.0),
        {"model": "enhanced-beta-likeness", "beta": 2},
    ),
    (criterion("AverageReidentificationRisk", threshold=0.2), {"model": "average-risk", "threshold": 0.2}),
    (criterion("SampleUniqueness", threshold=0.1), {"model": "sample-uniqueness", "threshold": 0.1}),
    (
        criterion(
            "PopulationUniqueness",
            threshold=0.01,
            statisticalModel=Constant(f"{ARX}.risk.Model", "ZAYATZ"),
            populationModel=Obj(
                f"{ARX}.ARXPopulationModel",
                {"sampleFraction": 0.05, "populationSize": None, "region": Constant(f"{ARX}.Region", "NONE")},
            ),
        ),
        {
            "model": "population-uniqueness",
            "threshold": 0.01,
            "estimator": "zayatz",
            "sampling_fraction": 0.05,
        },
    ),
    (
        criterion("ProfitabilityProsecutor", config=costs()),
        {
            "model": "prosecutor-profitability",
            "publisher_benefit": 1200,
            "publisher_loss": 300,
            "adversary_gain": 300,
            "adversary_cost": 4,
        },
    ),
    (
        criterion("ProfitabilityProsecutorNoAttack", config=costs()),
        {"model": "prosecutor-no-attack", "adversary_gain": 300, "adversary_cost": 4},
    ),
    (criterion("DPresence", dMin=0.0, dMax=0.9), {"model": "delta-presence", "minimum": 0, "maximum": 0.9}),
    (criterion("KMap", k=3), {"model": "k-map", "k": 3}),
]


@pytest.mark.parametrize(
    ("given_one", "entry"), CRITERIA, ids=lambda each: getattr(each, "kind", "").rpartition(".")[2]
)
def test_criteria_are_carried_over(given_one: Obj, entry: dict[str, Any], tmp_path: Path) -> None:
    subset = row_set(list(range(0, 60, 2)), 60)
    _, job = imported(Project(criteria=[given_one], subset=subset), tmp_path)
    expected = entry | ({"column": "illness"} if "attribute" in given_one.fields else {})
    assert job["privacy"] == [expected]


@pytest.mark.parametrize(
    ("given_one", "words"),
    [
        (criterion("EDDifferentialPrivacy", epsilon=1.0, delta=0.01), "a search_budget if levels"),
        (criterion("SomethingElse", k=3), "no such model"),
        (criterion("KMap", k=3, estimator=Constant("x.E", "POISSON")), "sampling_fraction"),
        (criterion("SampleUniqueness", threshold=7.0), "threshold"),
        (criterion("EqualDistanceTCloseness", t=0.1), "names no column"),
    ],
)
def test_criteria_without_an_equal_are_listed(given_one: Obj, words: str, tmp_path: Path) -> None:
    made, job = imported(Project(criteria=[criterion("KAnonymity", k=3), given_one]), tmp_path)
    assert job["privacy"] == [{"model": "k-anonymity", "k": 3}]
    assert any("criterion" in sentence and words in sentence for sentence in made.left_out)


def test_a_share_of_records_at_risk_is_a_model_of_its_own(tmp_path: Path) -> None:
    given_one = criterion("AverageReidentificationRisk", threshold=0.05, highestRisk=0.2, recordsAtRisk=0.1)
    _, job = imported(Project(criteria=[given_one]), tmp_path)
    assert job["privacy"] == [
        {"model": "average-risk", "threshold": 0.05},
        {"model": "records-at-risk", "highest_risk": 0.2, "share": 0.1},
    ]


LOSSES = [
    (
        metric("MetricMDNMLossPotentiallyPrecomputed", 0.25, "GEOMETRIC_MEAN"),
        {"name": "loss", "factor": 0.25, "aggregate": "geometric-mean"},
    ),
    (
        metric("MetricMDNUNMEntropyPrecomputed", function="SUM"),
        {"name": "entropy-suppression-aware", "aggregate": "sum"},
    ),
    (metric("MetricMDNMPrecision", 0.8), {"name": "precision", "coding_model": 0.8, "aggregate": "mean"}),
    (metric("MetricMDHeight", function="MAXIMUM"), {"name": "height", "aggregate": "maximum"}),
    (metric("MetricSDAECS", 0.75), {"name": "aecs", "factor": 0.75}),
    (metric("MetricSDNMDiscernability"), {"name": "discernibility"}),
    (metric("MetricSDDiscernability"), {"name": "discernibility-star"}),
    (metric("MetricSDNMAmbiguity"), {"name": "ambiguity"}),
    (metric("MetricSDNMKLDivergence"), {"name": "kl-divergence"}),
    (metric("MetricSDNMEntropyBasedInformationLoss"), {"name": "entropy-based"}),
    (
        metric("MetricSDNMPublisherPayout", config=costs(), journalistAttackerModel=True),
        {
            "name": "publisher-payout",
            "publisher_benefit": 1200,
            "publisher_loss": 300,
            "adversary_gain": 300,
            "adversary_cost": 4,
            "attacker": "journalist",
        },
    ),
    (
        metric("MetricMDStatic", _infoloss=hash_map({"age": array_list(boxed(0.0), boxed(0.4), boxed(1.0))})),
        {"name": "static", "losses": {"age": [0.0, 0.4, 1.0]}, "aggregate": "mean"},
    ),
]


@pytest.mark.parametrize(
    ("given_one", "entry"), LOSSES, ids=lambda each: getattr(each, "kind", "").rpartition(".")[2]
)
def test_quality_models_are_carried_over(given_one: Obj, entry: dict[str, Any], tmp_path: Path) -> None:
    _, job = imported(Project(metric=given_one), tmp_path)
    assert job["search"]["loss"] == entry


def test_weights_are_factors_and_rank_is_carried_over(tmp_path: Path) -> None:
    project = Project(
        metric=metric("MetricMDNMLoss", function="RANK"), weights={"age": 1.0, "town": 0.5, "id": 0.5}
    )
    made, job = imported(project, tmp_path)
    assert job["search"]["loss"] == {
        "name": "loss",
        "aggregate": "rank",
        "weights": {"age": 1.0, "town": 0.5},
        "weighting": "factor",
    }
    assert not any("rank" in sentence for sentence in made.left_out)


def test_a_target_is_classified(tmp_path: Path) -> None:
    project = Project(metric=metric("MetricSDClassification"), said={"illness": {"responseVariable": "true"}})
    assert imported(project, tmp_path)[1]["search"]["loss"] == {"name": "classification", "column": "illness"}


def test_a_quality_model_without_an_equal_is_listed(tmp_path: Path) -> None:
    made, job = imported(Project(metric=metric("MetricOfTomorrow")), tmp_path)
    assert "loss" not in job["search"]
    assert any("MetricOfTomorrow" in sentence for sentence in made.left_out)


@pytest.mark.parametrize("loss", [float("inf"), float("nan"), -1.0])
def test_losses_of_levels_that_no_loss_here_has_are_listed(loss: float, tmp_path: Path) -> None:
    losses = hash_map({"age": array_list(boxed(0.0), boxed(0.5), boxed(loss))})
    made, job = imported(Project(metric=metric("MetricMDStatic", _infoloss=losses)), tmp_path)
    assert "loss" not in job["search"]
    assert any(
        said.startswith("the quality model MetricMDStatic: static: losses.age 3") for said in made.left_out
    )


@pytest.mark.parametrize("limit", ["min", "max"])
def test_a_level_that_cannot_be_is_refused_where_the_project_says_it(limit: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        imported(Project(said={"age": {limit: "999999"}}), tmp_path)
    assert str(refused.value).startswith(
        f"{tmp_path / 'ward.deid'}: input/definition.xml: the column 'age' has the level 999,999"
    )


def test_no_refusal_names_a_folder_that_is_gone(tmp_path: Path) -> None:
    project = Project(roles={"x" * 20_000: "IDENTIFYING_ATTRIBUTE", "age": QUASI}, rows=[("P1", "20")])
    project.hierarchies = {"age": AGES}
    with pytest.raises(InputError) as refused:
        imported(project, tmp_path)
    assert "job.toml" not in str(refused.value)
    assert "at most 10,000" in str(refused.value)


def test_levels_types_and_aggregates_are_carried_over(tmp_path: Path) -> None:
    project = Project(
        said={
            "age": {
                "datatype": "Integer",
                "min": "1",
                "max": "2",
                "microaggregationFunction": "Arithmetic mean",
            },
            "id": {"datatype": "Date/Time", "format": "dd.MM.yyyy"},
        }
    )
    _, job = imported(project, tmp_path)
    age = job["columns"]["age"]
    assert (age["min_level"], age["max_level"], age["aggregate"]) == (1, 2, "mean")
    assert "type" not in age
    assert job["columns"]["id"] == {"role": "identifier", "type": "date", "format": "%d.%m.%Y"}
    assert job["columns"]["town"]["type"] == "text"


def test_a_hierarchy_with_several_roots_gets_one_that_is_never_used(tmp_path: Path) -> None:
    towns = [("Ulm", "South"), ("Bonn", "South"), ("Kiel", "North")]
    made, job = imported(
        Project(hierarchies={"age": [(str(a),) for a in range(20, 60)], "town": towns}), tmp_path
    )
    assert job["columns"]["town"]["max_level"] == 1
    assert job["columns"]["age"]["max_level"] == 0
    text = (made.folder / job["columns"]["town"]["hierarchy"]).read_text(encoding="utf-8")
    assert text == "Ulm;South;*\nBonn;South;*\nKiel;North;*\n"


def test_a_hierarchy_that_is_none_is_listed_and_the_job_refuses_it(tmp_path: Path) -> None:
    towns = [("Ulm", "South", "*"), ("Ulm", "North", "*"), ("Bonn", "South", "*"), ("Kiel", "North", "*")]
    made, _ = imported(Project(hierarchies={"age": Project().hierarchies["age"], "town": towns}), tmp_path)
    assert any("'town' must be mended" in sentence for sentence in made.left_out)
    with pytest.raises(TarnkappeError, match="occurs twice"):
        run(Job.load(made.job))


def test_a_subset_is_what_is_released(tmp_path: Path) -> None:
    rows = [3, 7, 8, 58]
    made, job = imported(Project(subset=row_set(rows, 60), criteria=[criterion("Inclusion")]), tmp_path)
    assert "population" not in job
    assert "privacy" not in job
    lines = (made.folder / "data.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ["id;age;town;illness", *(";".join(ROWS[row]) for row in rows)]


def test_a_model_of_membership_gets_the_population(tmp_path: Path) -> None:
    project = Project(
        subset=row_set(list(range(30)), 60), criteria=[criterion("DPresence", dMin=0.0, dMax=0.8)]
    )
    made, job = imported(project, tmp_path)
    assert job["population"] == {"path": "population.csv", "delimiter": ";"}
    assert len((made.folder / "population.csv").read_text(encoding="utf-8").splitlines()) == 61
    assert len((made.folder / "data.csv").read_text(encoding="utf-8").splitlines()) == 31


# ---------------------------------------------------------------- functional hierarchies


@pytest.mark.parametrize(
    ("given_one", "said"),
    [
        (
            interval_builder([0, 5], [[2], [2]], 0, 100),
            '{builder = "intervals", width = [5, 10, 20], bottom = 0, top = 100}',
        ),
        (
            interval_builder([0, 18, 65], [], 0, 130),
            '{builder = "intervals", cuts = [[0, 18, 65, 83, 130]]}',
        ),
        (
            interval_builder([0, 10, 30], [[2]], 0, 60),
            '{builder = "intervals", cuts = [[0, 10, 30, 40, 60], [0, 30, 60]]}',
        ),
        (
            order_builder([[2], [3]], ["low", "middle", "high"]),
            '{builder = "ordered", size = [2, 3], order = ["low", "middle", "high"]}',
        ),
        (order_builder([[4]]), '{builder = "ordered", size = [4]}'),
        (
            redaction_builder(),
            '{builder = "masking", character = "#", pad = " ", pad_side = "right"}',
        ),
        (
            redaction_builder(from_right=False, aligned_left=False),
            '{builder = "masking", side = "left", character = "#", pad = " ", pad_side = "left"}',
        ),
        (
            date_builder("DAY_MONTH_YEAR", "MONTH_YEAR", "YEAR", "DECADE"),
            '{builder = "dates", levels = ["day", "month", "year", "decade"]}',
        ),
    ],
)
def test_functional_hierarchies_become_builders(given_one: Obj, said: str) -> None:
    assert str(read_functional_hierarchy(java_stream(given_one))) == said


@given(
    width=st.integers(1, 9),
    factors=st.lists(st.integers(1, 4), max_size=3),
    bottom=st.integers(-3, 0),
    spread=st.integers(1, 6),
)
@settings(max_examples=40)
def test_intervals_group_as_arx_does(width: int, factors: list[int], bottom: int, spread: int) -> None:
    """Its definition: the intervals are repeated from the first one, and a level joins so many of the one below."""
    low, high = bottom * width, spread * width * 4
    given_one = interval_builder([0, width], [[factor] for factor in factors], low, high)
    built = read_functional_hierarchy(java_stream(given_one)).build(pa.array(range(low - 3, high + 3)))
    steps = [width]
    for factor in factors:
        if factor > 1:  # groups of one interval are no level here
            steps.append(steps[-1] * factor)
    for level, step in enumerate(steps, start=1):
        for value in range(low, high):
            for other in range(low, high):
                together = built.label(str(value), level) == built.label(str(other), level)
                assert together == (value // step == other // step)


@pytest.mark.parametrize(
    ("given_one", "words"),
    [
        (order_builder([[1, 2]]), "different sizes"),
        (interval_builder([0, 18, 65], []), "without a bottom and a top"),
        (date_builder("WEEKDAY"), "WEEKDAY"),
        (Obj(f"{ARX}.aggregates.HierarchyBuilderPriorityBased"), "priority"),
        (Obj(f"{ARX}.aggregates.HierarchyBuilderOfTomorrow"), "not known"),
    ],
)
def test_functional_hierarchies_without_an_equal_are_named(given_one: Obj, words: str) -> None:
    with pytest.raises(NotCarriedOver, match=words):
        read_functional_hierarchy(java_stream(given_one))


def far_apart() -> Obj:
    """Intervals of one beside bounds of which it is lost in every decimal."""
    made = interval_builder([0, 1, 2], [])
    for name in ("lowerRange", "upperRange"):
        made.fields[name].fields.update(
            dict.fromkeys(("snapBound", "labelBound", "repeatBound"), boxed(1e300))
        )
    return made


def masked_by(character: str) -> Obj:
    made = redaction_builder()
    made.fields["redactionCharacter"] = Char(character)
    return made


@pytest.mark.parametrize(
    ("given_one", "words"),
    [
        (far_apart(), "too far apart"),
        (order_builder([[2**31 - 1]] * 3), "size 1: at most"),
        (masked_by("\ud800"), "by which character"),
        (masked_by("\0"), "without a zero character"),
    ],
)
def test_builders_that_cannot_be_are_listed_and_the_project_is_imported(
    given_one: Obj, words: str, tmp_path: Path
) -> None:
    with pytest.raises(NotCarriedOver, match=words):
        read_functional_hierarchy(java_stream(given_one))
    made, _ = imported(Project(builders={"age": given_one}), tmp_path)
    assert any("its rule is not carried over" in each and words in each for each in made.left_out)


def test_a_project_says_which_builder_made_a_hierarchy(tmp_path: Path) -> None:
    builders = {"age": interval_builder([0, 10], [], 0, 100), "town": order_builder([[1, 2]])}
    made, _ = imported(Project(builders=builders), tmp_path)
    said = [sentence for sentence in made.left_out if "functional hierarchy" in sentence]
    assert len(said) == 2
    assert 'builder = "intervals", width = [10]' in said[0]


# ---------------------------------------------------------------- what strangers try


def test_data_that_unpack_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FREELY_UNPACKED", 100_000)
    bomb = Project(members={"data/input.csv": b"id;age;town;illness\n" + b"a;1;b;c\n" * 400_000})
    with pytest.raises(LimitError, match="nothing was imported"):
        imported(bomb, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["ward.deid"]


def test_settings_that_unpack_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SETTINGS", 100_000)
    for member in ("input/definition.xml", "input/config.dat", "input/hierarchies/age.csv", "metadata.xml"):
        with pytest.raises(LimitError, match="which none of ARX has"):
            imported(Project(members={member: b" " * 200_000}), tmp_path)


def test_many_settings_that_unpack_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SETTINGS_IN_ALL", 5_000)
    with pytest.raises(LimitError, match="the settings of the project"):
        imported(Project(hierarchies={"age": Project().hierarchies["age"] * 9}), tmp_path)


def test_what_a_header_claims_of_the_packed_bytes_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FREELY_UNPACKED", 100_000)
    rows = b"id;age;town;illness\n" + b"a;1;b;c\n" * 400_000
    path = Project(members={"data/input.csv": rows}).write(tmp_path / "ward.deid")
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"data/input.csv") - 46  # of the central directory
    content[entry + 20 : entry + 24] = (2**31).to_bytes(4, "little")
    path.write_bytes(bytes(content))
    with pytest.raises((LimitError, InputError)):
        import_project(path, tmp_path / "ward")
    assert not (tmp_path / "ward").exists()


def test_entities_of_xml_are_refused(tmp_path: Path) -> None:
    laughs = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><definition>&b;</definition>'
    outside = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><definition>&a;</definition>'
    for content in (laughs, outside):
        with pytest.raises(InputError, match="document type"):
            imported(Project(members={"input/definition.xml": content}), tmp_path)


@pytest.mark.parametrize("name", ["../../evil", "/etc/evil", "..\\evil", "nul", "C:evil", "a\u202eb"])
def test_no_name_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    outer = tmp_path / "a" / "b"
    outer.mkdir(parents=True)
    project = Project(
        roles={"id": "IDENTIFYING_ATTRIBUTE", name: QUASI, "town": QUASI, "illness": "SENSITIVE_ATTRIBUTE"},
        hierarchies={name: Project().hierarchies["age"], "town": Project().hierarchies["town"]},
        members={"../../escaped.txt": b"x", "/tmp/escaped.txt": b"x"},
    )
    made, job = imported(project, outer)
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert all(path.startswith("a/b/ward") for path in files)
    assert (made.folder / job["columns"][name]["hierarchy"]).is_file()
    assert os.sep not in Path(job["columns"][name]["hierarchy"]).name


def test_a_hierarchy_of_another_member_is_refused(tmp_path: Path) -> None:
    project = Project(said={"age": {"ref": "../data/input.csv"}})
    with pytest.raises(InputError, match="not that of its column"):
        imported(project, tmp_path)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"metadata.xml": b""}, "has no metadata.xml"),
        ({"input/config.dat": b""}, "has no input/config.dat"),
        ({"input/config.dat": b"\xac\xed\x00\x05\x70"}, "cannot be read"),
        ({"input/definition.xml": b"<definition>"}, "not XML"),
        ({"input/definition.xml": b"<definition/>"}, "defines no columns"),
        ({"data/input.csv": b"a;b\n1;2\n"}, "not those that the project defines"),
        ({"data/input.csv": b"id;age;town;illness\n1;2\n"}, "row 1 of the data has 2 cells"),
        ({"data/input.csv": b"id;age;town;illness\n\xff;2;3;4\n"}, "UTF-8"),
        ({"metadata.xml": b"<metadata><vocabulary>1.0</vocabulary></metadata>"}, "old version"),
    ],
)
def test_damaged_projects_are_refused_without_a_trace(
    members: dict[str, bytes], words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words):
        imported(Project(members=members), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["ward.deid"]


@given(data=st.data())
@settings(max_examples=40)
def test_bytes_of_strangers_are_refused_or_imported(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("stranger")
    path = Project().write(folder / "ward.deid")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    with contextlib.suppress(TarnkappeError):
        made = import_project(path, folder / "ward")
        assert Job.load(made.job)
        return
    assert not (folder / "ward").exists()


@pytest.mark.parametrize("packing", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("member", ["metadata.xml", "data/input.csv"])
def test_damage_is_told_however_an_archive_is_packed(packing: int, member: str, tmp_path: Path) -> None:
    path = tmp_path / "ward.deid"
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in Project().contents().items():
            archive.writestr(name, content)
        place = archive.getinfo(member).header_offset + 30 + len(member)
    whole = path.read_bytes()
    for first in range(0, 24, 4):
        damaged = bytearray(whole)
        for at in range(place + first, place + first + 8):
            damaged[at] ^= 0xFF
        path.write_bytes(bytes(damaged))
        with pytest.raises(InputError, match=r"ward\.deid: "):
            import_project(path, tmp_path / "ward")


def test_a_place_outside_of_the_archive_is_told(tmp_path: Path) -> None:
    path = Project().write(tmp_path / "ward.deid")
    content = bytearray(path.read_bytes())
    end = content.rindex(b"PK\x05\x06")
    content[end + 16 : end + 20] = (2**32 - 2).to_bytes(4, "little")  # where the directory is said to begin
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match="or a damaged one"):
        import_project(path, tmp_path / "ward")


def test_xml_of_very_many_elements_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ELEMENTS", 1_000, raising=False)
    for many in (b"<a/>" * 2_000, b"<a " + b" ".join(b'x%d=""' % i for i in range(2_000)) + b"/>"):
        with pytest.raises(InputError, match="more than 1,000 elements"):
            imported(Project(members={"input/definition.xml": b"<d>" + many + b"</d>"}), tmp_path)


@pytest.mark.parametrize("separator", ["\t", " "])
def test_blanks_may_separate_cells(separator: str, tmp_path: Path) -> None:
    ages = [(age, label.replace(" ", ""), root) for age, label, root in Project().hierarchies["age"]]
    project = Project(separator=separator, hierarchies={"age": ages, "town": Project().hierarchies["town"]})
    _, job = imported(project, tmp_path)
    assert job["input"]["delimiter"] == separator


def test_no_folder_that_is_there_is_touched(tmp_path: Path) -> None:
    (tmp_path / "ward").mkdir()
    (tmp_path / "ward" / "job.toml").write_text("mine")
    with pytest.raises(ParameterError, match="is there already"):
        imported(Project(), tmp_path)
    assert (tmp_path / "ward" / "job.toml").read_text() == "mine"


# ---------------------------------------------------------------- the command


def said_by(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_the_command_lists_what_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Project().write(tmp_path / "ward.deid")
    code, out, _ = said_by(capsys, "import", "ward.deid")
    assert code == 0
    assert "Not carried over:" in out
    assert (tmp_path / "ward" / "job.toml").is_file()
    code, _, err = said_by(capsys, "import", "ward.deid")
    assert code == 2
    assert "is there already" in err
    code, out, _ = said_by(capsys, "import", "ward.deid", "--out", "other", "--json")
    assert code == 0
    assert json.loads(out)["job"].endswith("other/job.toml")


def test_the_command_says_the_builder_of_a_functional_hierarchy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "age.ahs"
    path.write_bytes(java_stream(interval_builder([0, 5], [[2]], 0, 100)))
    code, out, _ = said_by(capsys, "import", str(path))
    assert code == 0
    assert tomllib.loads(out) == {
        "hierarchy": {"builder": "intervals", "width": [5, 10], "bottom": 0, "top": 100}
    }
    path.write_bytes(b"no stream")
    code, _, err = said_by(capsys, "import", str(path))
    assert code == 2
    assert "no stream of serialized Java objects" in err


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.deid"
    path.write_text("text")
    with pytest.raises(InputError, match="no project of ARX"):
        import_project(path, tmp_path / "out")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(InputError, match=r"has no metadata\.xml"):
        import_project(path, tmp_path / "out")
