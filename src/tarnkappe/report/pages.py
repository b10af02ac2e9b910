"""What all pages that we write have in common: where their templates are, and how figures look."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

OWN = "tarnkappe.report"


def page_environment(package: str = OWN) -> jinja2.Environment:
    """Where the templates of pages come from: a package of its own, and this folder with the style of all."""
    import jinja2  # only those who want a page wait for it

    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), jinja2.PackageLoader(OWN)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = _number
    environment.filters["percent"] = _percent
    return environment


def _number(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"
