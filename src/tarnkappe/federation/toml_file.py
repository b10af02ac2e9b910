"""TOML files of sites and jobs: a key that nobody reads is a misunderstanding, so it is refused."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.schema import near

Address = tuple[str, int]


def read_toml(path: Path, sections: Iterable[str], needed: str, what: str) -> dict[str, Any]:
    """The content of a file.

    Args:
        path: the file.
        sections: the sections that it may have.
        needed: the one that it must have.
        what: what kind of file it is.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise JobError(f"'{path}' cannot be read: {error}") from None
    known = list(sections)
    if needed not in content:
        has = ", ".join(f"[{name}]" for name in known)
        raise JobError(f"{path}: '{needed}' is missing: is it {what}? It has {has}")
    refuse_unknown(content, known, f"{path}: there is no section")
    for name, section in content.items():
        if not isinstance(section, dict | list):
            raise JobError(f"{path}: '{name}' is a section, not a value: write [{name}]")
    return content


def refuse_unknown(said: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Refuse keys that nobody reads, with the nearest that somebody does."""
    names = list(known)
    for key in said:
        if key not in names:
            meant = near(key, names)
            hint = f"did you mean '{meant[0]}'?" if meant else f"known are {', '.join(names)}"
            raise JobError(f"{where} '{key}': {hint}")


def parse_address(text: object) -> Address:
    """Host and port."""
    host, _, port = str(text).rpartition(":")
    if not host or not port.isdigit() or not int(port) < 2**16:
        raise JobError(f"an address is host:port, not '{text}'")
    return host, int(port)
