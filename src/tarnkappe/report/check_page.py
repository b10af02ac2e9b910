"""A report of a check as one self-contained HTML page with pictures.

The page names columns, never values: it can be passed on to those who may not see the data.
"""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tarnkappe.report.pages import page_environment
from tarnkappe.risk.measures import MEASURES, Chart, RiskFigure
from tarnkappe.risk.report import Report
from tarnkappe.table.files import replace_atomically


def write_html(report: Report, path: Path | str, source: str = "") -> None:
    """Write a report as an HTML page.

    Args:
        report: what a check found.
        path: where the page goes.
        source: what was checked, as the page shall name it.
    """
    with replace_atomically(Path(path)) as partial:
        partial.write_text(render(report, source), encoding="utf-8")


def render(report: Report, source: str = "") -> str:
    """The page, without external links."""
    return (
        page_environment()
        .get_template("check.html.j2")
        .render(
            report=report,
            source=source,
            created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            version=version("tarnkappe"),
            sizes=_sizes(report),
            titles={kind.name: kind.title for kind in MEASURES},
        )
    )


def _sizes(report: Report) -> Chart:
    bars = (
        RiskFigure(f"{b.least:,}" if b.least == b.most else f"{b.least:,}–{b.most:,}", b.rows, "rows")
        for b in report.sizes.histogram
    )
    return Chart(
        "How many rows look the same",
        "People by the number of those who share all their known values.",
        tuple(bars),
    )
