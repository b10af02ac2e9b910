"""The pages, one file each; importing this registers them all."""

from tarnkappe.web.pages import (
    columns,
    compare,
    exchange,
    federation,
    files,
    gate,
    hierarchies,
    lattice,
    privacy,
    risk,
    run,
    runs,
    settings,
    sql,
    utility,
)

__all__ = [
    "columns",
    "compare",
    "exchange",
    "federation",
    "files",
    "gate",
    "hierarchies",
    "lattice",
    "privacy",
    "risk",
    "run",
    "runs",
    "settings",
    "sql",
    "utility",
]
