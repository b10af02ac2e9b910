"""Catalog files: what they say, what they refuse, and that data are looked at only when needed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from tarnkappe.algebra.noise import Dynamic, Static
from tarnkappe.errors import ColumnError, InputError, JobError, ParameterError
from tarnkappe.job.catalog_file import CatalogFile
from tarnkappe.table import Role

FILE = """
[relations.spender]
path = "spender.csv"
keys = [["id"]]
least_rows = 3
within = {ort = ["plz"]}
[relations.ort]
database = "postgresql://db/blut"
table = "ort"
ordered_like = {spender = ["plz"]}
[relations.plan_only]
columns = ["plz", "rh"]

[slicing]
bucket = 4

[columns.id]
role = "identifier"
[columns.alter]
role = "quasi-identifier"
hierarchy = {builder = "intervals", width = 10}
noise = "alter.csv"
[columns.rh]
hierarchy = "rh.csv"
noise = "uniform"
[columns.gruppe]
noise = {A = 0.25, B = "1/4", "0" = 0.5}
"""
COLUMNS = {"spender": ("id", "plz", "alter", "gruppe"), "ort": ("plz", "stadt"), "plan_only": ("plz", "rh")}
VALUES = {
    "id": pa.chunked_array([[1, 2]]),
    "plz": pa.chunked_array([["18055", "18057", "19053"]]),
    "alter": pa.chunked_array([[18, 25, 31]]),
    "gruppe": pa.chunked_array([["A", "B"]]),
    "rh": pa.chunked_array([["+", "-"]]),
    "stadt": pa.chunked_array([["Rostock"]]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "catalog.toml").write_text(FILE, encoding="utf-8")
    (tmp_path / "rh.csv").write_text("+;*\n-;*\n", encoding="utf-8")
    (tmp_path / "alter.csv").write_text(
        "18;18;0.5\n18;25;0.5\n25;25;1\n31;18;1/3\n31;31;2/3\n", encoding="utf-8"
    )
    return tmp_path


def test_a_file_says_all_that_a_query_needs(folder: Path) -> None:
    file = CatalogFile.load(folder / "catalog.toml")
    assert file.sources["spender"].path == str(folder / "spender.csv")
    assert file.sources["ort"].table == "ort"
    assert file.columns == {"plan_only": ("plz", "rh")}
    catalog = file.declarations.catalog(COLUMNS, VALUES.__getitem__)
    assert catalog.bucket == 4
    assert catalog.roles["id"] is Role.IDENTIFIER
    assert catalog.keys == {"spender": [frozenset({"id"})]}
    assert list(catalog.inclusions) == [("spender", "ort", frozenset({"plz"}))]
    assert list(catalog.orders) == [(frozenset({"spender", "ort"}), frozenset({"plz"}))]
    assert catalog.least_rows == {"spender": 3}
    assert catalog.hierarchies["rh"].height == 1
    assert catalog.hierarchies["alter"].label("25", 1) == "20-29"
    assert catalog.noise["rh"] == Static({"+": Fraction(1, 2), "-": Fraction(1, 2)})
    assert catalog.noise["gruppe"] == Static({"A": Fraction(1, 4), "B": Fraction(1, 4), "0": Fraction(1, 2)})
    assert not catalog.facts().is_static("alter")


def test_noise_has_the_type_of_its_column(folder: Path) -> None:
    noise = (
        CatalogFile.load(folder / "catalog.toml")
        .declarations.catalog(COLUMNS, VALUES.__getitem__)
        .noise["alter"]
    )
    assert isinstance(noise, Dynamic)
    assert noise.drawn(31) == {18: Fraction(1, 3), 31: Fraction(2, 3)}


def test_a_column_without_a_hierarchy_gets_a_proposed_one(folder: Path) -> None:
    catalog = CatalogFile.load(folder / "catalog.toml").declarations.catalog(COLUMNS, VALUES.__getitem__)
    assert catalog.hierarchies["plz"].height >= 1


def test_data_are_looked_at_only_for_what_is_asked(folder: Path) -> None:
    asked: list[str] = []

    def values(column: str) -> pa.ChunkedArray:
        asked.append(column)
        return VALUES[column]

    catalog = CatalogFile.load(folder / "catalog.toml").declarations.catalog(COLUMNS, values)
    assert asked == []
    assert catalog.hierarchies["alter"] is catalog.hierarchies["alter"]
    assert asked == ["alter"]
    assert "unheard of" not in catalog.hierarchies
    with pytest.raises(KeyError):
        catalog.hierarchies["unheard of"]


def test_without_data_there_are_roles_and_noise_but_no_hierarchies(folder: Path) -> None:
    catalog = CatalogFile.load(folder / "catalog.toml").declarations.catalog(COLUMNS)
    assert not catalog.hierarchies
    assert catalog.noise["gruppe"].is_static
    assert catalog.roles["alter"] is Role.QUASI_IDENTIFIER


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[relation.a]", "did you mean 'relations'"),
        ("[slicing]\nbuckets = 3", "did you mean 'bucket'"),
        ("[relations.a]\npath = 'x.csv'\ncolumns = ['b']", "needs either its rows"),
        ("[relations.a]\nkeys = [['b']]", "needs either its rows"),
        ("[relations.a]\ndatabase = 'postgresql://x'", "name either a 'table' or a 'query'"),
        ("[relations.a]\ncolumns = 3", "a list of texts is needed, not 3"),
        ("[relations.a]\ncolumns = ['b']\nkeys = 'b'", "keys: a list of values is needed"),
        ("[relations.a]\ncolumns = ['b']\nleast_rows = true", "a whole number"),
        ("relations = 3", "a table of tables is needed"),
        ("[columns.b]\nrole = 'spy'", "role: one of identifier"),
        ("[columns.b]\nnoise = 3", "a text or a table of values is needed, not 3"),
        ("[columns.b]\nnoise = {a = true}", "a number or a text is needed, not True"),
        ("[columns.b]\nnoise = {a = 'viel'}", "not a number"),
        ("[columns.b]\nhierachy = 'x.csv'", "did you mean 'hierarchy'"),
    ],
)
def test_what_is_not_understood_is_refused_with_the_file(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.toml").write_text(text, encoding="utf-8")
    with pytest.raises((JobError, ParameterError), match=message) as error:
        CatalogFile.load(tmp_path / "c.toml")
    assert str(tmp_path / "c.toml") in str(error.value)


def test_a_section_about_no_column_is_a_typing_error() -> None:
    file = CatalogFile.from_dict({"columns": {"altr": {"role": "sensitive"}}})
    with pytest.raises(ColumnError, match="did you mean 'alter'"):
        file.declarations.catalog({"spender": ("alter",)})


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a;b;c;d", "write lines like"),
        ("a;1\na;b;1", "write lines like"),
        ("a;halb", "line 1 ends in no probability"),
        ("a;0.5\na;0.5", "line 2 says again"),
    ],
)
def test_a_noise_file_that_is_none(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "n.csv").write_text(lines, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        CatalogFile.from_dict({"columns": {"b": {"noise": "n.csv"}}}, tmp_path)


def test_probabilities_must_add_up_and_values_must_fit() -> None:
    short = CatalogFile.from_dict({"columns": {"b": {"noise": {"1": 0.5}}}})
    with pytest.raises(ParameterError, match=r"the noise of 'b': .* add up to 1"):
        short.declarations.catalog({"r": ("b",)}).noise["b"]
    wrong = CatalogFile.from_dict({"columns": {"b": {"noise": {"x": 1}}}})
    with pytest.raises(ParameterError, match="none of the type"):
        wrong.declarations.catalog({"r": ("b",)}, lambda _: pa.chunked_array([[1]])).noise["b"]
    rootless = CatalogFile.from_dict({"columns": {"b": {"noise": "uniform"}}})
    with pytest.raises(ParameterError, match="none was stated for the column"):
        rootless.declarations.catalog({"r": ("b",)}).noise["b"]


def test_neighbours_are_drawn_by_size_or_as_the_hierarchy_lists_them() -> None:
    ages = {"builder": "intervals", "width": 10}
    said = {"alter": {"noise": "neighbours", "hierarchy": ages}, "rh": {"noise": "neighbours:2"}}
    declared = CatalogFile.from_dict({"columns": said}).declarations
    noise = declared.catalog(COLUMNS, VALUES.__getitem__).noise
    assert noise["alter"] == Dynamic(
        {18: {25: Fraction(1)}, 25: {18: Fraction(1, 2), 31: Fraction(1, 2)}, 31: {25: Fraction(1)}}
    )
    with pytest.raises(ParameterError, match="the noise of 'rh': the values of a hierarchy are meant"):
        noise["rh"]  # nobody stated which values there are, and those of the data tell who is in them


@pytest.mark.parametrize(
    "said", ["neighbours:0", "neighbours:", "neighbours:x", "neighbours:99999", "neighbours:-1"]
)
def test_neighbours_are_some_steps_away(said: str) -> None:
    with pytest.raises(ParameterError, match="with 1 to 1000 steps"):
        CatalogFile.from_dict({"columns": {"rh": {"noise": said}}}, name="catalog.toml")
