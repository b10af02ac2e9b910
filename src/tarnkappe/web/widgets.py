"""The few things that pages are made of: the browser's own controls, which keyboards and screen readers know.

Texts come ready from the page. Values are given as attributes (`^value`), which the browser takes as the
start value: a later update of the page then never overwrites what somebody is typing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlencode

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import GenericEventArguments

from tarnkappe.errors import LoginError

Change = Callable[[str], Any]
Click = Callable[[], Awaitable[None] | None]

VALUE = "(event) => emit(event.target.value)"
CHECKED = "(event) => emit(event.target.checked)"


def tag(name: str, text: str = "", kind: str = "", /, **attributes: object) -> TextElement:
    """An element with a text, with its class and attributes; underscores in names become hyphens."""
    element = TextElement(tag=name, text=text)
    if kind:
        element.classes(kind)
    for attribute, value in attributes.items():
        if value is not None and value is not False:
            element.props[attribute.rstrip("_").replace("_", "-")] = value
    return element


def box(kind: str = "", name: str = "div", /, **attributes: object) -> TextElement:
    """An element that holds others."""
    return tag(name, "", kind, **attributes)


def title(text: str, lead: str = "") -> None:
    """The heading of a page and one sentence that says what it is for."""
    tag("h1", text)
    if lead:
        tag("p", lead, "lead")


@contextmanager
def card(heading: str = "", kind: str = "", level: str = "h2") -> Iterator[TextElement]:
    """A part of a page with its heading."""
    with box(f"card {kind}", "section") as part:
        if heading:
            tag(level, heading)
        yield part


@contextmanager
def details(summary: str, *, is_open: bool = False) -> Iterator[TextElement]:
    """What most people need not see."""
    with box("", "details", **{"^open": is_open or None}) as part:
        tag("summary", summary)
        yield part


def button(
    text: str, click: Click, kind: str = "", *, disabled: bool = False, label: str | None = None
) -> TextElement:
    """A button; `label` says more to those who do not see what it stands beside."""
    element = tag("button", text, f"button {kind}", type="button", disabled=disabled, aria_label=label)

    async def clicked() -> None:
        with suppress(LoginError):  # the page is being left
            waiting = click()
            if waiting is not None:
                await waiting

    element.on("click", clicked, [])
    return element


def link(text: str, address: str, kind: str = "", /, **attributes: object) -> TextElement:
    """A link."""
    return tag("a", text, kind, href=address, **attributes)


def links_to_each(address: str, names: Sequence[str], chosen: str, label: str) -> None:
    """Links to every one of the things that a page can show, the one that it shows marked."""
    with box("links card", "nav", aria_label=label):
        for name in names:
            current = "page" if name == chosen else None
            link(name, f"{address}?{urlencode({'name': name})}", aria_current=current)


def field(
    label: str,
    value: object,
    change: Change,
    *,
    hint: str = "",
    kind: str = "text",
    live: bool = False,
    **more: object,
) -> TextElement:
    """A field for a line of text or, by its kind, for a number or a password."""
    with _labelled(label, hint) as relate:
        attributes = {"^value": "" if value is None else str(value), "type": kind, **more}
        element = relate(tag("input", **attributes))
    _listen(element, "input" if live else "change", change, VALUE)
    return element


def area(
    label: str, value: str, change: Change, *, hint: str = "", rows: int = 5, live: bool = False
) -> TextElement:
    """A field for several lines."""
    with _labelled(label, hint) as relate:
        element = relate(tag("textarea", value, rows=rows, spellcheck="false"))
    _listen(element, "input" if live else "change", change, VALUE)
    return element


def choice(
    label: str,
    options: Mapping[str, str],
    value: str,
    change: Change,
    *,
    hint: str = "",
    hidden_label: bool = False,
) -> TextElement:
    """One of several options."""
    with _labelled(label, hint, "unseen" if hidden_label else "") as relate, relate(tag("select")) as element:
        for option, text in options.items():
            tag("option", text, **{"^value": option, "^selected": (option == value) or None})
    _listen(element, "change", change, VALUE)
    return element


@contextmanager
def _labelled(label: str, hint: str, kind: str = "") -> Iterator[Callable[[TextElement], TextElement]]:
    """A control with its label before and its hint after it, so that both are read with it."""
    related: list[TextElement] = []

    def relate(control: TextElement) -> TextElement:
        related.append(control)
        name.props["for"] = f"c{control.id}"
        return control

    with box("field"):
        name = tag("label", label, kind)
        yield relate
        if hint:
            related[0].props["aria-describedby"] = f"c{tag('small', hint).id}"


def tick(label: str, value: bool, change: Callable[[bool], Any]) -> TextElement:
    """Something that is so or not."""
    with box("tick", "label"):
        element = tag("input", type="checkbox", **{"^checked": value or None})
        tag("span", label)
    _listen(element, "change", change, CHECKED)
    return element


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    label: str,
    numbers: Sequence[int] = (),
    heads: bool = True,
) -> TextElement:
    """A table of texts; `numbers` tells the columns that stand to the right; rows begin with their name."""
    with scroll(label), box("", "table") as element:
        header_row(header, numbers)
        with box("", "tbody"):
            for row in rows:
                with box("", "tr"):
                    for place, text in enumerate(row):
                        name = "th" if heads and place == 0 else "td"
                        right = "number" if place in numbers else ""
                        tag(name, text, right, scope="row" if name == "th" else None)
    return element


def header_row(header: Sequence[str], numbers: Sequence[int] = ()) -> None:
    """The first row of a table."""
    with box("", "thead"), box("", "tr"):
        for place, text in enumerate(header):
            tag("th", text, "number" if place in numbers else "", scope="col")


def scroll(label: str) -> TextElement:
    """A place that scrolls sideways on small screens, with the keyboard too."""
    return box("scroll", tabindex="0", role="region", aria_label=label)


def notice(kind: str, text: str, help_text: str = "") -> TextElement:
    """Something that happened: `good`, `warn` or `bad`; what is bad is read aloud at once."""
    with box(f"notice {kind}", role="alert" if kind == "bad" else "status") as element:
        tag("p", text)
        if help_text:
            tag("p", help_text, "soft")
    return element


def empty(text: str, help_text: str, address: str = "", action: str = "") -> None:
    """What is shown where there is nothing yet: what to do to change that."""
    with box("empty"):
        tag("p", text, "strong")
        tag("p", help_text, "soft")
        if address:
            link(action, address, "button")


def figure(value: str, label: str) -> None:
    """A number with what it counts."""
    with box("figure"):
        tag("b", value)
        tag("span", label)


def picture(svg: str) -> Element:
    """A picture that our own drawing code wrote, all of whose texts are escaped."""
    return ui.html(svg, sanitize=False).classes("picture")


class Live:
    """A part of one open page that is built again when what it shows has changed."""

    def __init__(self, build: Callable[[], None], kind: str = "") -> None:
        self._build, self._place = build, box(kind)
        self.refresh()

    def refresh(self) -> None:
        """Build it again."""
        self._place.clear()
        with self._place:
            self._build()


def _listen(element: Element, event: str, change: Callable[[Any], Any], script: str) -> None:
    async def changed(event: GenericEventArguments) -> None:
        with suppress(LoginError):  # the page is being left
            waiting = change(event.args)
            if isinstance(waiting, Awaitable):
                await waiting

    element.on(event, changed, js_handler=script)
