"""The pages that still have a socket, one file each; importing this registers them all."""

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
    sql,
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
    "sql",
]
