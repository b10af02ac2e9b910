"""What was measured, as files: one JSON file a chapter, one entry an experiment."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.chapter import Chapter, Figures, Size
from tarnkappe.table.files import replace_atomically

STORED = Path(__file__).parent / "results"
"""The figures that the documentation cites."""


@dataclasses.dataclass(frozen=True)
class Result:
    """The figures of one experiment, and where they come from."""

    size: Size
    made: str
    seconds: float
    machine: Mapping[str, str]
    figures: Figures

    @classmethod
    def now(cls, size: Size, seconds: float, figures: Figures) -> Result:
        """Figures that were just measured on this machine."""
        return cls(size, datetime.now(UTC).strftime("%Y-%m-%d"), seconds, machine(), _plain(figures))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Result:
        """A result as it was stored."""
        return cls(**{**stored, "size": Size(stored["size"])})


def machine() -> dict[str, str]:
    """What the figures depend on."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "python": platform.python_version(),
        "tarnkappe": version("tarnkappe"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def read_results(chapter: Chapter, folder: Path = STORED) -> dict[str, Result]:
    """The results of a chapter by experiment; those of experiments that there are no more are left out."""
    path = folder / f"{chapter.name}.json"
    if not path.is_file():
        return {}
    stored = json.loads(path.read_text(encoding="utf-8"))
    known = [experiment.name for experiment in chapter.experiments]
    return {name: Result.from_dict(stored[name]) for name in known if name in stored}


def write_result(chapter: Chapter, name: str, result: Result, folder: Path) -> None:
    """Store one result beside the others of its chapter."""
    folder.mkdir(parents=True, exist_ok=True)
    results = read_results(chapter, folder) | {name: result}
    ordered = {e.name: dataclasses.asdict(results[e.name]) for e in chapter.experiments if e.name in results}
    with replace_atomically(folder / f"{chapter.name}.json", replace=True) as partial:
        partial.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    """What JSON can hold: no numbers of NumPy, none that are not finite, six digits of each."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, (bool, str, int)) or value is None:
        return value
    if hasattr(value, "item"):
        return _plain(value.item())
    return float(f"{value:.6g}") if math.isfinite(value) else None
