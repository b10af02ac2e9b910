"""Figures that are kept as they are measured, so that a long measurement can be spread out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tarnkappe.errors import InputError

Figures = dict[str, Any]


class Kept:
    """Figures by what was measured, each on a line of a file; without a file they are only remembered.

    Several measurements may write to one file at the same time: each adds whole lines at its end.

    >>> kept = Kept()
    >>> kept.of({"setup": "2", "k": 3}, lambda: {"share": 0.5})
    {'share': 0.5}
    >>> kept.of({"setup": "2", "k": 3}, lambda: {"share": 0.7})  # it was measured already
    {'share': 0.5}
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._figures: dict[str, Figures] = {}
        if path is not None and path.exists():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                try:
                    entry = json.loads(line)
                    self._figures[_name(entry["measured"])] = entry["figures"]
                except (ValueError, KeyError, TypeError):
                    raise InputError(
                        "bench.line-no-figures-earlier",
                        "{path}, line {number}: these are no figures of an earlier run: name another file",
                        path=path,
                        number=number,
                    ) from None

    def of(self, measured: dict[str, Any], measure: Callable[[], Figures]) -> Figures:
        """The figures of what was measured before, or else those of measuring it now."""
        name = _name(measured)
        if name not in self._figures:
            self._figures[name] = measure()
            if self._path is not None:
                entry = {"measured": measured, "figures": self._figures[name]}
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(entry) + "\n")
        return dict(self._figures[name])


def _name(measured: dict[str, Any]) -> str:
    return json.dumps(measured, sort_keys=True)
