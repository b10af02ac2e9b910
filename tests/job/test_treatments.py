"""Weights, level limits, aggregates and kinds of suppression: from Python, from job files and from flags."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.cli import main
from tarnkappe.errors import JobError, NoSolutionError, ParameterError, VerificationError
from tarnkappe.job import Job, run
from tarnkappe.job.verification import verify_release
from tarnkappe.report.release_page import render
from tarnkappe.table import Table, write

K5 = [{"model": "k-anonymity", "k": 5}]
HIERARCHIES: dict[str, Any] = {
    "age": {"builder": "intervals", "width": [10, 20]},
    "town": {"builder": "groups", "levels": [{"south": ["Ulm", "Bonn"], "north": ["Kiel", "Rostock"]}]},
}


@pytest.fixture
def people() -> Table:
    """Forty people; 37 of the first town, the other three live each in a town of their own."""
    towns = ["Ulm"] * 37 + ["Bonn", "Kiel", "Rostock"]
    return Table(
        pa.table(
            {
                "name": [f"person {i}" for i in range(40)],
                "age": [20 + i // 2 for i in range(40)],
                "town": towns,
                "illness": [["flu", "cold", "ulcer", "gastritis"][i % 4] for i in range(40)],
            }
        )
    ).with_roles(identifiers=["name"], quasi_identifiers=["age", "town"], sensitive=["illness"])


def class_sizes(result: tarnkappe.Result) -> Counter[tuple[object, ...]]:
    rows = result.release.data.to_pylist()
    return Counter(tuple(row[name] for name in result.input.quasi_identifiers) for row in rows)


# ---------------------------------------------------------------- weights and level limits


def test_a_column_that_counts_more_is_generalized_less(people: Table) -> None:
    plain = tarnkappe.anonymize(people, privacy=K5, hierarchies=HIERARCHIES, loss="precision")
    weighed = tarnkappe.anonymize(
        people,
        privacy=K5,
        hierarchies=HIERARCHIES,
        loss="precision",
        weights={"town": 5},
        suppression_limit=0.1,
    )
    assert plain.levels["town"] > weighed.levels["town"]
    assert weighed.to_dict()["weights"] == {"town": 5}
    age, town = (weighed.levels[n] / h for n, h in (("age", 3), ("town", 2)))
    share = weighed.suppressed / 40
    expected = [(1 - share) * x + share for x in (age, town)]
    assert weighed.loss == pytest.approx((expected[0] + 5 * expected[1]) / 6)


def test_weights_need_a_loss_by_columns_and_must_not_contradict_each_other(people: Table) -> None:
    with pytest.raises(ParameterError, match="discernibility is not measured column by column"):
        tarnkappe.anonymize(people, privacy=K5, loss="discernibility", weights={"age": 2})
    with pytest.raises(ParameterError, match="'age' has two weights, 3 and 2"):
        tarnkappe.anonymize(
            people, privacy=K5, loss={"name": "loss", "weights": {"age": 3}}, weights={"age": 2}
        )
    with pytest.raises(ParameterError, match=r"weights\.age: at least 0 is needed"):
        tarnkappe.anonymize(people, privacy=K5, loss="loss", weights={"age": -1})
    with pytest.raises(ParameterError, match="'illness': it is no quasi-identifier: weight has no meaning"):
        tarnkappe.anonymize(people, privacy=K5, loss="loss", weights={"illness": 2})


def test_levels_stay_within_their_limits(people: Table) -> None:
    for limits, allowed in (((2, 3), {2, 3}), (3, {3}), ((0, 1), {0, 1})):
        result = tarnkappe.anonymize(
            people, privacy=K5, hierarchies=HIERARCHIES, levels={"age": limits}, suppression_limit=0.1
        )
        assert result.levels["age"] in allowed


JOB = """
[input]
path = "people.csv"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
hierarchy = {builder = "intervals", width = [10, 20]}
%s
[columns.town]
role = "quasi-identifier"
%s
[columns.illness]
role = "sensitive"
[[privacy]]
model = "k-anonymity"
k = 5
[search]
loss = "loss"
suppression_limit = 0.2
%s
[output]
path = "release.csv"
report = "report.html"
"""


def job_file(people: Table, folder: Path, age: str = "", town: str = "", search: str = "") -> Path:
    write(people, folder / "people.csv")
    (folder / "job.toml").write_text(JOB % (age, town, search), encoding="utf-8")
    return folder / "job.toml"


def flags(job: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    with pytest.raises(SystemExit) as ended:
        main(["anonymize", str(job), "--json", *words])
    assert ended.value.code == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_job_file_flags_and_python_do_the_same(
    people: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    job = run(Job.load(job_file(people, tmp_path / "a", "min_level = 1\nmax_level = 2\nweight = 2.5")))
    plain = job_file(people, tmp_path / "b")
    flagged = flags(plain, "--level", "age=1..2", "--weight", "age=2.5", capsys=capsys)
    python = tarnkappe.anonymize(
        people,
        privacy=K5,
        hierarchies={"age": HIERARCHIES["age"]},
        levels={"age": (1, 2)},
        weights={"age": 2.5},
        loss="loss",
        suppression_limit=0.2,
    )
    assert job.levels == flagged["levels"] == python.levels
    assert job.loss == flagged["loss"] == python.loss
    assert flagged["weights"] == {"age": 2.5}
    fixed = flags(
        plain, "--level", "age=3", "--aggregate", "town=mode", "--suppression", "cell", capsys=capsys
    )
    assert fixed["levels"]["age"] == 3
    assert fixed["aggregates"]["town"]["function"] == "mode"
    assert fixed["suppression"] == "cell"
    local = flags(plain, "--local-recoding", "--suppress", "town", capsys=capsys)
    assert local["suppressed_columns"] == ["town"]
    assert flags(plain, "--leave", "0.3", capsys=capsys)["algorithm"].startswith("local recoding")


@pytest.mark.parametrize(
    ("age", "town", "search", "message"),
    [
        ("weight = true", "", "", "weight: a number is needed, not True"),
        ("weigth = 2", "", "", "did you mean 'weight'"),
        ("", 'aggregate = "avg"', "", "aggregate: one of mean, geometric-mean"),
        ("", 'suppressed = "yes"', "", "suppressed: true or false is needed"),
        ("", "suppressed = true\nlevel = 1", "", "is suppressed: it can have no level"),
        ("", "", 'suppression = "attribute"', "suppression: one of record, cell is needed"),
        ("", "", 'local_recoding = "yes"', "local_recoding: true or false or a number is needed"),
    ],
)
def test_what_a_job_file_gets_wrong_is_named(
    people: Table, tmp_path: Path, age: str, town: str, search: str, message: str
) -> None:
    with pytest.raises((JobError, ParameterError), match=message):
        Job.load(job_file(people, tmp_path, age, town, search))


def test_flags_that_make_no_sense_are_refused(
    people: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = job_file(people, tmp_path)
    for words in (
        ["--level", "age"],
        ["--level", "age=low"],
        ["--weight", "age=much"],
        ["--aggregate", "age"],
    ):
        with pytest.raises(SystemExit) as ended:
            main(["anonymize", str(job), *words])
        assert ended.value.code == 2
        assert words[0] in capsys.readouterr().err


# ---------------------------------------------------------------- aggregates


def test_an_aggregated_column_tells_the_mean_of_its_class_and_nothing_else(people: Table) -> None:
    result = tarnkappe.anonymize(
        people, privacy=K5, hierarchies=HIERARCHIES, aggregates={"age": "mean"}, suppression_limit=0.1
    )
    ages = dict(zip(people.data["name"].to_pylist(), people.data["age"].to_pylist(), strict=True))
    assert len(class_sizes(result)) == len(Counter(result.release.data["town"].to_pylist()))
    kept = [
        age for age, town in zip(ages.values(), people.data["town"].to_pylist(), strict=True) if town == "Ulm"
    ]
    by_town = dict(
        zip(result.release.data["town"].to_pylist(), result.release.data["age"].to_pylist(), strict=True)
    )
    assert by_town == {"Ulm": pytest.approx(sum(kept) / len(kept))}
    assert result.aggregates["age"].error == pytest.approx(1.0)  # one class: no more than the mean of all


def test_an_aggregated_column_may_form_classes_at_a_level_first(people: Table) -> None:
    result = tarnkappe.anonymize(
        people,
        privacy=K5,
        hierarchies=HIERARCHIES,
        aggregates={"age": "interval"},
        levels={"age": 1},
        suppression_limit=0.1,
    )
    assert set(result.release.data["age"].to_pylist()) == {"[20, 29]", "[30, 38]"}
    assert result.aggregates["age"].error < 0.6
    assert min(class_sizes(result).values()) >= 5
    assert "interval of each class, width" in str(result)
    assert "the least and the greatest value of the group (width" in render(result)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_aggregates_are_verified_as_they_are_written(people: Table, tmp_path: Path, suffix: str) -> None:
    days = pa.array([dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(40)])
    people = Table(people.data.append_column("day", days), people.roles)
    people = people.with_roles({**people.roles, "day": "quasi-identifier"})
    write(people, tmp_path / "people.parquet")
    job = Job.from_dict(
        {
            "input": {"path": "people.parquet"},
            "columns": {
                "name": {"role": "identifier"},
                "age": {"role": "quasi-identifier", "aggregate": "mean"},
                "day": {"role": "quasi-identifier", "aggregate": "median"},
                "town": {"role": "quasi-identifier"},
            },
            "privacy": K5,
            "search": {"suppression_limit": 0.2},
            "output": {"path": f"release{suffix}"},
        },
        tmp_path,
    )
    result = run(job)
    written = tarnkappe.read(tmp_path / f"release{suffix}")
    assert written.data.to_pylist() == result.release.data.to_pylist()
    assert result.verified[0].value >= 5


def test_who_knows_the_population_would_see_who_is_missing_from_a_mean(people: Table) -> None:
    """The attacker: one of two people of a kind is in the table, and the mean of one value is that value."""
    population = Table(pa.table({"age": [*people.data["age"].to_pylist(), 90], "town": ["Ulm"] * 41}))
    with pytest.raises(ParameterError, match="delta-presence cannot be promised with aggregated columns"):
        tarnkappe.anonymize(
            people,
            privacy=[{"model": "delta-presence", "minimum": 0, "maximum": 0.5}],
            aggregates={"age": "mean"},
            population=population,
        )
    with pytest.raises(ParameterError, match="k-map cannot be promised with aggregated columns"):
        tarnkappe.anonymize(
            people,
            privacy=[{"model": "k-map", "k": 5, "sampling_fraction": 0.1}],
            aggregates={"age": "mean"},
        )
    with pytest.raises(ParameterError, match="how general an aggregate is cannot be said"):
        tarnkappe.anonymize(
            people,
            privacy=[
                {
                    "model": "prosecutor-profitability",
                    "publisher_benefit": 100,
                    "publisher_loss": 150,
                    "adversary_gain": 300,
                    "adversary_cost": 100,
                }
            ],
            aggregates={"age": "mean"},
        )


def test_aggregates_that_single_out_groups_are_seen(people: Table) -> None:
    """Who knows only the aggregate must not find fewer than k people either, if that is promised."""
    small = Table(
        pa.table({"age": [20, 21, 30, 31, 40, 41], "town": ["a", "a", "b", "b", "c", "c"]})
    ).with_roles(quasi_identifiers=["age", "town"])
    promise = [{"model": "subset-anonymity", "l": 1, "k": 3}]
    stay = {"town": {"builder": "groups", "levels": [{"x": ["a", "b"], "y": ["c"]}]}}
    with pytest.raises((NoSolutionError, ParameterError)):
        tarnkappe.anonymize(
            small, privacy=promise, hierarchies=stay, aggregates={"age": "mean"}, levels={"town": 0, "age": 1}
        )


# ---------------------------------------------------------------- suppression


def test_suppressed_rows_stay_as_a_class_of_stars_if_they_are_enough(people: Table) -> None:
    towns = [f"village {i}" if i % 8 == 0 else "Ulm" for i in range(40)]
    scattered = Table(people.data.set_column(2, "town", pa.array(towns)), people.roles)
    options: dict[str, Any] = {
        "privacy": K5,
        "hierarchies": {"age": HIERARCHIES["age"]},
        "levels": {"town": 0},
        "suppression_limit": 0.2,
        "loss": "loss",
    }
    left_out = tarnkappe.anonymize(scattered, **options)
    stars = tarnkappe.anonymize(scattered, **options, suppression="cell")
    assert left_out.suppressed == stars.suppressed == stars.starred == 5
    assert left_out.release.num_rows == 35
    assert stars.release.num_rows == 40
    assert class_sizes(stars)["*", "*"] == 5
    assert min(class_sizes(stars).values()) >= 5
    assert stars.to_dict()["starred"] == 5
    assert "5 suppressed rows stay in the release" in render(stars)
    assert "left out of the release" in render(left_out)


def test_too_few_suppressed_rows_are_left_out_and_not_starred(people: Table) -> None:
    """The attacker: three rows of stars would be three people he can name."""
    result = tarnkappe.anonymize(
        people,
        privacy=K5,
        hierarchies=HIERARCHIES,
        levels={"town": 0},
        suppression_limit=0.1,
        suppression="cell",
    )
    assert result.suppressed == 3
    assert result.starred == 0
    assert result.release.num_rows == 37


def test_stars_that_share_a_value_are_left_out(people: Table) -> None:
    """The attacker: whoever is suppressed has the flu."""
    towns = [f"village {i}" if i % 8 == 0 else "Ulm" for i in range(40)]
    scattered = Table(people.data.set_column(2, "town", pa.array(towns)), people.roles)
    assert {i % 4 for i in range(0, 40, 8)} == {0}
    result = tarnkappe.anonymize(
        scattered,
        privacy=[*K5, {"model": "distinct-diversity", "column": "illness", "l": 2}],
        levels={"town": 0},
        suppression_limit=0.2,
        suppression="cell",
    )
    assert (result.suppressed, result.starred) == (5, 0)


def test_a_suppressed_column_tells_nothing(people: Table) -> None:
    result = tarnkappe.anonymize(
        people, privacy=K5, hierarchies=HIERARCHIES, suppressed_columns=["town"], suppression_limit=0.1
    )
    assert set(result.release.data["town"].to_pylist()) == {"*"}
    assert result.levels["town"] == 2
    assert "suppressed" in render(result)
    tampered = result.release.data.set_column(1, "town", pa.array(["Ulm"] * result.release.num_rows))
    with pytest.raises(VerificationError, match="no label of level"):
        verify_release(result, tampered)


# ---------------------------------------------------------------- local recoding


@pytest.fixture
def scattered(people: Table) -> Table:
    """Every fourth of forty people lives in a village of her own."""
    towns = pa.array([f"village {i}" if i % 4 == 0 else "Ulm" for i in range(40)])
    return Table(people.data.set_column(2, "town", towns), people.roles)


def in_passes(scattered: Table, folder: Path) -> Path:
    """A job whose towns have no level between themselves and '*'."""
    towns = dict.fromkeys(scattered.data.column("town").to_pylist())
    (folder / "towns.csv").write_text("".join(f"{town};*\n" for town in towns), encoding="utf-8")
    return job_file(scattered, folder, town='hierarchy = "towns.csv"', search="local_recoding = 0.5")


def test_a_local_recoding_is_released_pass_by_pass(scattered: Table, tmp_path: Path) -> None:
    job = run(Job.load(in_passes(scattered, tmp_path)))
    assert job.suppressed == 0
    assert len(job.passes) > 1
    assert [len(each.verified) for each in job.passes] == [1] * len(job.passes)
    assert sum(each.rows for each in job.passes) == 40
    assert min(class_sizes(job).values()) >= 5
    assert f"pass {len(job.passes)}: " in str(job)
    figures = json.loads((tmp_path / "release.csv.manifest.json").read_text())
    assert len(figures["passes"]) == len(job.passes)
    assert figures["optimal"] is False
    page = (tmp_path / "report.html").read_text()
    assert "In which passes" in page
    assert "searched again as a table of their own" in page


def test_a_pass_that_was_tampered_with_is_not_handed_over(scattered: Table, tmp_path: Path) -> None:
    job = run(Job.load(in_passes(scattered, tmp_path)))
    mixed = job.release.data.to_pylist()
    first = {
        tuple(r[n] for n in ("age", "town")) for r, p in zip(mixed, job.pass_of_row, strict=True) if p == 0
    }
    moved = next(i for i, p in enumerate(job.pass_of_row) if p == 1)
    age, town = next(iter(first))
    mixed[moved] = {**mixed[moved], "age": age, "town": town}
    with pytest.raises(VerificationError, match="does not meet k-anonymity"):
        verify_release(job, pa.Table.from_pylist(mixed, schema=job.release.data.schema))


def test_engines_do_not_pretend_to_recode_rows(people: Table, tmp_path: Path) -> None:
    path = job_file(people, tmp_path, search='suppression = "cell"')
    text = path.read_text().replace('path = "people.csv"', 'path = "people.csv"\nengine = "duckdb"')
    path.write_text(text)
    with pytest.raises(JobError, match='use engine = "memory"'):
        run(Job.load(path))
