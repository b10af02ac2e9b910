"""The report: self-contained, complete, and silent about rare values."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.report.release_page import render


@pytest.fixture(scope="module")
def result() -> tarnkappe.Result:
    town = ["Ulm"] * 60 + ["Bonn"] * 37 + ["Tinyville"] * 3
    table = tarnkappe.Table(
        pa.table(
            {
                "insurance": [f"X{i}" for i in range(100)],
                "town": town,
                "age": [20 + i % 30 for i in range(100)],
                "illness": ["flu <b>", "cold"] * 50,
            }
        )
    ).with_roles(identifiers=["insurance"], quasi_identifiers=["town", "age"], sensitive=["illness"])
    return tarnkappe.anonymize(
        table,
        privacy=[
            {"model": "k-anonymity", "k": 5},
            {"model": "distinct-diversity", "column": "illness", "l": 2},
        ],
        suppression_limit=0.1,
    )


def test_the_report_says_what_was_promised_measured_lost_and_tried(result: tarnkappe.Result) -> None:
    page = render(result)
    for model in result.problem.models:
        assert model.promise in page.replace("&#39;", "'")
    for attack in result.attacks:
        assert attack.title in page
    assert f"{result.suppressed} " in page or f">{result.suppressed}<" in page
    assert page.count("<figure>") == 2
    assert "insurance" in page


def test_the_report_has_no_external_links_and_no_scripts(result: tarnkappe.Result) -> None:
    page = render(result)
    assert not re.search(r"(src|href)\s*=|https?://|@import|url\(|<script", page)


def test_the_report_names_no_rare_value_and_no_identifier(result: tarnkappe.Result) -> None:
    page = render(result)
    assert "Tinyville" not in page
    assert not re.search(r"\bX\d+\b", page)


def test_values_are_escaped(result: tarnkappe.Result) -> None:
    """A value that looks like markup must not become markup."""
    assert "flu <b>" not in render(result)
