"""Files that tell what an attacker knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarnkappe.errors import InputError, ParameterError, TarnkappeError
from tarnkappe.risk.attacks import ExclusionRule, Function, Listing, PublishedAggregate
from tarnkappe.risk.background_files import read_answers, read_earlier, read_rules
from tarnkappe.table import read


def test_rules(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(
        '[[rule]]\ncolumn = "illness"\nexcludes = ["flu", 7]\nwhere = {age = 24}\n'
        '[[rule]]\ncolumn = "illness"\nexcludes = ["cold"]\n'
    )
    assert read_rules(tmp_path / "rules.toml") == (
        ExclusionRule("illness", ("flu", "7"), {"age": "24"}),
        ExclusionRule("illness", ("cold",), {}),
    )


def test_answers(tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text(
        '[[answer]]\nfunction = "count"\nvalue = 3\n'
        '[[answer]]\nfunction = "count"\nvalue = 1\ncolumn = "illness"\nequals = "flu"\nwhere = {sex = "f"}\n'
        '[[answer]]\nfunction = "sum"\nvalue = 10.5\ncolumn = "salary"\n'
        '[[answer]]\nfunction = "list"\ncolumn = "illness"\nvalues = ["flu", 7]\nwhere = {age = 24}\n'
    )
    answers, listings = read_answers(tmp_path / "answers.toml")
    assert answers == (
        PublishedAggregate(Function.COUNT, 3),
        PublishedAggregate(Function.COUNT, 1, {"sex": "f"}, "illness", "flu"),
        PublishedAggregate(Function.SUM, 10.5, {}, "salary"),
    )
    assert listings == (Listing("illness", ("flu", "7"), {"age": "24"}),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[rule]]\ncolumn = 'x'\n", "excludes: it is missing"),
        ("[[rule]]\ncolumn = 'x'\nexcludes = 3\n", "excludes: a list of texts is needed, not 3"),
        ("[[rule]]\ncolumn = 'x'\nexcludes = ['y']\nwhom = 1\n", "whom: there is no such key"),
        ("[[rule]]\ncolumn = 'x'\nexcludes = []\n", "excludes nothing"),
        ("rule = 3\n", r"\[\[rule\]\]"),
        ("no toml", "not valid TOML"),
    ],
)
def test_rules_that_cannot_be_understood(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "rules.toml").write_text(text)
    with pytest.raises(TarnkappeError, match=words):
        read_rules(tmp_path / "rules.toml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("function = 'max'\nvalue = 1", "one of count, list, sum is needed"),
        ("function = 'count'", "a count has one 'value'"),
        ("function = 'sum'\ncolumn = 'x'\nvalues = [1]", "a sum has one 'value'"),
        ("function = 'list'\ncolumn = 'x'\nvalue = 1", "a list has a 'column' and its 'values'"),
        ("function = 'sum'\nvalue = 1", "a sum needs a column"),
        ("function = 'count'\nvalue = 1.5", "whole number"),
        ("function = 'count'\nvalue = 1\ncolumn = 'x'", "both column and equals"),
        ("function = 'count'\nvalue = true", "is needed, not True"),
    ],
)
def test_answers_that_cannot_be(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "answers.toml").write_text(f"[[answer]]\n{text}\n")
    with pytest.raises((InputError, ParameterError), match=words):
        read_answers(tmp_path / "answers.toml")


def test_a_folder_of_releases(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no release"):
        read_earlier(tmp_path, read, ["age"], ["illness"])
    (tmp_path / "2.csv").write_text("age;illness\n30;flu\n")
    (tmp_path / "1.csv").write_text("age;town\n30;Ulm\n")
    (tmp_path / "1.csv.manifest.json").write_text("{}")
    (tmp_path / "notes.md").write_text("not a table")
    earlier = read_earlier(tmp_path, read, ["age"], ["illness"])
    assert [(name, table.sensitive) for name, table in earlier.items()] == [
        ("1.csv", ()),
        ("2.csv", ("illness",)),
    ]
    (tmp_path / "3.csv").write_text("height;weight\n180;70\n")
    with pytest.raises(InputError, match=r"3\.csv: the earlier release has none of the columns age"):
        read_earlier(tmp_path, read, ["age"], ["illness"])
