"""How a file was read: told in a line, and every guess correctable; the file is then read again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tarnkappe.table.reading import DELIMITER_NAMES, ENCODING_NAMES
from tarnkappe.web.draft import Draft
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.reasons import in_words
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import box, card, choice, details, field, table, tag

ENCODINGS = ("utf-8", "cp1252", "cp1250", "cp1251", "cp850", "mac_roman", "utf-16")
CHOICES = {
    "encoding": {name: ENCODING_NAMES.get(name, name) for name in ENCODINGS},
    "delimiter": {mark: mark for mark in DELIMITER_NAMES},
    "quote": {mark: mark for mark in ('"', "'")},
    "header": {"yes": "yes", "no": "no"},
    "decimal": {".": ".", ",": ","},
    "dates": {"dmy": "31.12.1980", "mdy": "12/31/1980"},
    "bad_lines": {"refuse": "refuse", "skip": "skip"},
}
"""What can be said of a text file, each with what can be chosen."""
TYPES = ("text", "number", "code", "date")
WITH_SHEETS = ("Excel", "spreadsheet")
Profile = dict[str, Any]
Changed = Callable[[], None]


def reading_card(visit: Visit, draft: Draft, profile: Profile | None, again: Changed) -> None:
    """Show how the file was read; without a profile it could not be read, and the fields are open.

    Args:
        visit: of the page.
        draft: keeps what is said about the file.
        profile: what was read.
        again: is called after a change, to read the file anew.
    """
    reading = None if profile is None else profile.get("reading")
    if profile is not None and reading is None:  # a table of a database, which has no spelling
        _head(visit, profile)
        return
    with card(visit.t("reading.title")):
        if reading is not None:
            tag("p", visit.t("reading.read_as", summary=_summary(visit, reading)), "strong")
            for note in reading["notes"]:
                tag("p", in_words(visit.language, note), "soft small")
        with details(visit.t("reading.change"), is_open=profile is None):
            tag("p", visit.t("reading.change_help"), "soft")
            _fields(visit, draft, reading, again)
        _head(visit, profile or {})


def _head(visit: Visit, profile: Profile) -> None:
    head = profile.get("head") or {}
    if head.get("rows"):
        with details(visit.t("columns.first_rows")):
            rows = [[str(cell) for cell in row] for row in head["rows"]]
            table(head["columns"], rows, label=visit.t("columns.first_rows"), heads=False)


def type_choice(visit: Visit, draft: Draft, name: str, found: str, again: Changed) -> None:
    """What a column holds: as it was found, or as somebody says."""
    options = {"": visit.t("reading.as_found", found=found)}
    options |= {kind: visit.t(f"reading.types.{kind}") for kind in TYPES}
    said = draft.reading.get("types", {})

    async def change(kind: str) -> None:
        types = {each: value for each, value in said.items() if each != name}
        await state(visit, draft, "types", types | ({name: kind} if kind else {}), again)

    label = visit.t("reading.type_of", name=name)
    choice(label, options, said.get(name, ""), change, hidden_label=True)


async def state(visit: Visit, draft: Draft, key: str, value: Any, again: Changed) -> None:
    """Keep what somebody says about the file, or forget it, and read again."""
    with shown_errors():
        draft.reading = {each: kept for each, kept in draft.reading.items() if each != key}
        if value:
            draft.reading[key] = value
        await draft.save(visit)
        again()


def _fields(visit: Visit, draft: Draft, reading: dict[str, Any] | None, again: Changed) -> None:
    is_text = reading is None or reading["format"] == "CSV"
    found = reading or {}
    with box("row"):
        for key, options in CHOICES.items():
            if is_text or key in ("decimal", "dates"):
                _choice(visit, draft, key, options, _found(visit, key, found), again)
        words = ", ".join(draft.reading.get("missing", ()))

        async def missing(typed: str) -> None:
            said = [word for word in map(str.strip, typed.split(",")) if word]
            await state(visit, draft, "missing", said, again)

        field(visit.t("reading.missing"), words, missing, hint=visit.t("reading.missing_help"))
        if reading is None or reading["format"] in WITH_SHEETS or reading.get("sheet"):
            sheet = draft.reading.get("sheet", "")

            async def choose(typed: str) -> None:
                await state(visit, draft, "sheet", typed.strip(), again)

            field(visit.t("reading.sheet"), sheet, choose, hint=visit.t("reading.sheet_help"))


def _choice(
    visit: Visit, draft: Draft, key: str, options: dict[str, str], found: str, again: Changed
) -> None:
    words = {
        mark: visit.t(f"reading.{key}_is.{DELIMITER_NAMES.get(mark, mark).replace(' ', '_')}")
        if key in ("delimiter", "header", "bad_lines")
        else text
        for mark, text in options.items()
    }

    async def change(chosen: str) -> None:
        await state(visit, draft, key, chosen, again)

    auto = visit.t("reading.as_found", found=found) if found else visit.t("reading.by_itself")
    choice(visit.t(f"reading.{key}"), {"": auto, **words}, str(draft.reading.get(key, "")), change)


def _found(visit: Visit, key: str, reading: dict[str, Any]) -> str:
    """What was found, in a word; nothing where nothing shows it."""
    value = reading.get(key)
    if not value:
        return ""
    if key == "encoding":
        return ENCODING_NAMES.get(str(value), str(value))
    if key == "delimiter":
        return _delimiter(visit, str(value))
    return str(value) if key in ("quote", "decimal") else ""


def _delimiter(visit: Visit, mark: str) -> str:
    name = DELIMITER_NAMES.get(mark)
    return mark if name is None else visit.t(f"reading.delimiter_is.{name.replace(' ', '_')}")


def _summary(visit: Visit, reading: dict[str, Any]) -> str:
    """In one line, as the command line says it."""
    parts = [_found(visit, "encoding", reading) or str(reading["format"])]
    parts += [str(reading["compression"])] if reading.get("compression") else []
    parts += [_delimiter(visit, str(reading["delimiter"]))] if reading.get("delimiter") else []
    if reading.get("decimal"):
        parts.append(visit.t("reading.comma" if reading["decimal"] == "," else "reading.point"))
    dates = [each for each in reading["columns"].values() if each["kind"] == "date"]
    if dates:
        parts.append(visit.t("reading.dates_in", columns=visit.n(len(dates))))
    return ", ".join(parts)
