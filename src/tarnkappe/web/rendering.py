"""Pages that the server writes as a whole: a template, what it shows, and one strict policy for scripts.

A page keeps nothing in the memory of the server. What somebody sees stands in the address and in the store,
so a page works after a restart, in two tabs, and without any script. A part of a page can be asked for alone
(a block of the same template), which `assets/fragments.js` puts in the place of the old one.
"""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any

import jinja2
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from tarnkappe.web.navigation import PARTS, asset
from tarnkappe.web.texts import LANGUAGES, has
from tarnkappe.web.visit import THEMES, Visit

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Scripts come from files of ours alone: nothing in a page can be run, whatever gets into it."""


def show(visit: Visit, template: str, *, status: int = 200, **content: Any) -> HTMLResponse:
    """A page."""
    html = _environment().get_template(template).render(_around(visit) | content)
    return _answer(html, status)


def show_part(visit: Visit, template: str, block: str, *, status: int = 200, **content: Any) -> HTMLResponse:
    """One block of a page, to be put in the place of the old one."""
    chosen = _environment().get_template(template)
    context = chosen.new_context(_around(visit) | content)
    return _answer("".join(chosen.blocks[block](context)), status)


def picture(svg: str) -> Markup:
    """A picture that our own drawing code wrote, all of whose texts are escaped."""
    return Markup(svg)  # noqa: S704


def _answer(html: str, status: int) -> HTMLResponse:
    return HTMLResponse(html, status, headers={"Content-Security-Policy": POLICY})


def _around(visit: Visit) -> dict[str, Any]:
    """What every page can say and link to."""
    return {
        "visit": visit,
        "t": visit.t,
        "n": visit.n,
        "has": has,
        "asset": asset,
        "parts": [] if visit.person is None else [part for part in PARTS if visit.may(part[2])],
        "languages": LANGUAGES,
        "later_theme": THEMES[(THEMES.index(visit.theme) + 1) % len(THEMES)],
        "moment": moment,
        "day": day,
        "role_names": lambda roles: ", ".join(visit.t(f"roles.{role}") for role in sorted(roles)),
        "percent": lambda share: percent(visit, share),
        "size": lambda count: size(visit, count),
    }


def moment(seconds: float | None) -> str:
    """A time, in UTC.

    >>> moment(0.0), moment(None)
    ('1970-01-01 00:00', '–')
    """
    if seconds is None:
        return "–"
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M")


def day(seconds: float) -> str:
    """A day, in UTC."""
    return moment(seconds)[:10]


def percent(visit: Visit, share: float | None) -> str:
    """A share in percent."""
    return "–" if share is None else f"{visit.n(round(100 * share, 2))}\u00a0%"


def size(visit: Visit, count: int) -> str:
    """An amount of bytes, in units of which there are not too many."""
    for unit in ("B", "KB", "MB"):
        if count < 1024:
            return f"{visit.n(count)} {unit}"
        count = round(count / 1024)
    return f"{visit.n(count)} GB"


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("tarnkappe.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
