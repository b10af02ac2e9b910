"""The forms of the hierarchy builders: what can be said about each, and how what was typed is understood."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.hierarchy.code_systems import System
from tarnkappe.schema import fields_of

Plan = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Entry:
    """One line of a form.

    Attributes:
        parameter: of the builder.
        read: understands what was typed; nothing typed leaves the parameter out.
        write: shows a value as it would be typed.
        options: what can be chosen, if not everything can be typed.
        lines: how many lines the field has.
    """

    parameter: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]
    options: tuple[str, ...] = ()
    lines: int = 1


def number(text: str) -> int | float:
    """A number, whole if it can be.

    >>> number(" 5 "), number("2,5")
    (5, 2.5)
    """
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        raise ParameterError("web.no-number", "'{text}' is no number", text=text.strip()) from None
    return int(value) if value == int(value) else value


def numbers(text: str) -> list[int | float]:
    """Several numbers, with blanks or semicolons between them; commas too, if followed by a blank.

    >>> numbers("5, 10, 20"), numbers("5 10")
    ([5, 10, 20], [5, 10])
    """
    return [number(part) for part in text.replace(", ", " ").replace(";", " ").split()]


def names(text: str) -> list[str]:
    """Several names, with commas or line ends between them."""
    return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]


def groups(text: str) -> dict[str, list[str]]:
    r"""Groups of values, one line each.

    >>> groups("north: Kiel, Hamburg\nsouth: Ulm")
    {'north': ['Kiel', 'Hamburg'], 'south': ['Ulm']}
    """
    found: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, colon, members = line.partition(":")
        if not colon or not name.strip() or not names(members):
            raise ParameterError(
                "web.write-name-value-value",
                "write 'name: value, value' on each line, not '{line}'",
                line=line,
            )
        found.setdefault(name.strip(), []).extend(names(members))
    return found


def write_groups(value: Mapping[str, list[str]]) -> str:
    """Groups as they are typed."""
    return "\n".join(f"{name}: {', '.join(members)}" for name, members in value.items())


def write_list(value: Any) -> str:
    """One value or several as they are typed."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


FORMS: dict[str, tuple[Entry, ...]] = {
    "auto": (),
    "intervals": (
        Entry("width", numbers, write_list),
        Entry("quantiles", numbers, write_list),
        Entry("bottom", number, str),
        Entry("top", number, str),
        Entry("origin", number, str),
    ),
    "masking": (
        Entry("side", str, str, ("right", "left")),
        Entry("step", number, str),
        Entry("pad", str, str),
    ),
    "dates": (Entry("levels", names, write_list), Entry("format", str, str)),
    "groups": (
        Entry("groups", groups, write_groups, lines=6),
        Entry("others", str, str, ("keep", "merge", "refuse")),
        Entry("other", str, str),
    ),
    "ordered": (Entry("size", numbers, write_list), Entry("order", names, write_list, lines=4)),
    "clusters": (Entry("clusters", numbers, write_list),),
    "frequent": (Entry("keep", numbers, write_list), Entry("other", str, str)),
    "ranges": (),
    "code-system": (Entry("system", str, str, tuple(System)),),
    "root": (),
}
"""What can be said about each builder."""


def start(builder: str) -> Plan:
    """The plan with which the form of a builder begins."""
    starts = {field.name: field.start for field in fields_of(BUILDERS[builder]) if field.start is not None}
    return {"builder": builder} | {k: list(v) if isinstance(v, tuple) else v for k, v in starts.items()}


def said(plan: Plan, entry: Entry, text: str) -> Plan:
    """The plan with what was typed into one line of the form."""
    changed = {key: value for key, value in plan.items() if key != entry.parameter}
    if text.strip():
        changed[entry.parameter] = entry.read(text)
    return changed
