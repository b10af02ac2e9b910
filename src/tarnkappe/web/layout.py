"""What stands around every page: the way in, the parts of the house, who is there, language and colours."""

from __future__ import annotations

import html
from collections.abc import Iterator
from contextlib import contextmanager

from nicegui import ui

from tarnkappe.web.errors import place_for_troubles
from tarnkappe.web.navigation import OWN, PARTS, asset
from tarnkappe.web.texts import LANGUAGES
from tarnkappe.web.visit import THEMES, Visit
from tarnkappe.web.widgets import box, link, tag

IN_EVERY_HEAD = STYLE, SCRIPT = "style.css", "frame.js"


def head_html(visit: Visit) -> str:
    """Colours and language, before anything is painted."""
    return (
        f'<link rel="stylesheet" href="{asset(STYLE)}">'
        f'<script src="{asset(SCRIPT)}" data-language="{html.escape(visit.language)}" '
        f'data-theme="{html.escape(visit.theme)}"></script>'
    )


@contextmanager
def frame(visit: Visit, title: str) -> Iterator[None]:
    """The page around its content."""
    ui.page_title(f"{title} · {visit.t('app.name')}")
    ui.add_head_html(head_html(visit))
    link(visit.t("app.skip"), "#main", "skip")
    with box("top", "header"), box("bar"):
        link(visit.t("app.name"), "/", "brand")
        with box("links", "nav", aria_label=visit.t("app.parts")):
            for address, key, rights in PARTS:
                if visit.may(rights):
                    current = "page" if visit.path.startswith(address) else None
                    link(visit.t(key), address, "own" if address == OWN else "", aria_current=current)
        _tools(visit)
    with box("", "main", id="main", tabindex="-1"):
        place_for_troubles(visit)
        yield


def _tools(visit: Visit) -> None:
    with box("tools"):
        link(visit.who.name, OWN, "who")
        for language, name in LANGUAGES.items():
            if language != visit.language:
                _quiet_button(name, f"tarnkappe.prefer('language', '{language}')", lang=language)
        later = {now: THEMES[(i + 1) % len(THEMES)] for i, now in enumerate(THEMES)}
        cycle = "".join(f"{now}: '{after}', " for now, after in later.items())
        script = f"tarnkappe.prefer('theme', ({{{cycle}}})[document.documentElement.dataset.wanted])"
        _quiet_button(visit.t("app.theme"), script)
        _quiet_button(visit.t("app.log_out"), f"tarnkappe.leave('/logout?csrf={visit.csrf}')")


def _quiet_button(text: str, script: str, **attributes: object) -> None:
    tag("button", text, type="button", **attributes).on("click", js_handler=f"() => {script}")
