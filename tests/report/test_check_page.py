"""The page of a check: whole, self-contained, with pictures, and without a single value of the table."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest
from markupsafe import escape

from tarnkappe.privacy import KAnonymity
from tarnkappe.report import write_html
from tarnkappe.report.check_page import render
from tarnkappe.risk import MEASURES, check
from tarnkappe.risk.report import Report
from tarnkappe.table import Table

VOID = {"meta", "line", "br", "rect"}
SECRETS = ("Zwiefalten", "hidradenitis", "q7-secret", "acromegaly")


class Balanced(HTMLParser):
    """Refuses a page whose tags are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def report() -> Report:
    table = pa.table(
        {
            "<b>town": ["Zwiefalten", "Ulm", "Ulm", "Ulm"],
            "code": ["q7-secret", "x", "x", "y"],
            "illness": ["hidradenitis", "flu", "acromegaly", "flu"],
        }
    )
    return check(
        Table(table),
        quasi_identifiers=["<b>town", "code"],
        sensitive=["illness"],
        models=[KAnonymity(2)],
        measures=[kind() for kind in MEASURES],
        sampling_fraction="1/10",
        safe_harbor=True,
    )


def test_the_page_is_whole_and_has_a_picture_of_each_measure(report: Report) -> None:
    page = render(report, "ward.csv")
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    charts = [chart for found in report.measures.values() for chart in found.charts()]
    assert parser.seen.count("svg") == len(charts) + 1
    for chart in charts:
        assert escape(chart.title) in page
    for kind in MEASURES:
        assert f"<h2>{escape(kind.title)}</h2>" in page
    assert page.startswith("<!doctype html>")
    assert "ward.csv" in page
    assert "broken for 2 rows" in page


def test_the_page_needs_nothing_from_elsewhere(report: Report) -> None:
    page = render(report)
    assert not re.search(r"(?:src|href)=|https?://|@import|url\(", page)


def test_the_page_names_no_value_of_the_table(report: Report) -> None:
    page = render(report)
    assert not any(secret in page for secret in SECRETS)
    assert "<b>town" not in page
    assert "&lt;b&gt;town" in page


def test_the_page_is_written_whole_or_not_at_all(report: Report, tmp_path: Path) -> None:
    write_html(report, tmp_path / "risk.html", "ward.csv")
    assert (tmp_path / "risk.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert [file.name for file in tmp_path.iterdir()] == ["risk.html"]


def test_a_table_without_sensitive_columns_has_a_page_too() -> None:
    page = render(check(Table(pa.table({"a": [1, 1, 2]})), quasi_identifiers=["a"]))
    assert "No sensitive column was named." in page
