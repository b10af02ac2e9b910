"""What there is to say of a hierarchy and of a lattice, for JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tarnkappe.hierarchy import Hierarchy
    from tarnkappe.lattice import Evaluation, LatticeView

MOST_EXAMPLES = 5


def hierarchy_figures(hierarchy: Hierarchy) -> dict[str, Any]:
    """The figures of a hierarchy: values, height, root, and the labels of each level."""
    levels = []
    for level in range(hierarchy.height + 1):
        labels = hierarchy.labels(level)
        levels.append({"level": level, "labels": len(labels), "examples": list(labels[:MOST_EXAMPLES])})
    return {
        "values": len(hierarchy.values),
        "missing": hierarchy.has_missing,
        "height": hierarchy.height,
        "root": hierarchy.root,
        "levels": levels,
    }


def lattice_figures(
    view: LatticeView, seconds: float, out: Path | None, picture: Path | None
) -> dict[str, Any]:
    """What there is to say of a lattice, for JSON."""
    return {
        "nodes": len(view),
        "satisfying": int(view.satisfied.sum()),
        "models": [str(model) for model in view.problem.models],
        "loss_measure": view.problem.loss.name,
        "suppression_limit": view.problem.suppression_limit,
        "best": None if view.best is None else _node(view, view.best),
        "seconds": round(seconds, 6),
        "output": None if out is None else str(out),
        "picture": None if picture is None else str(picture),
    }


def _node(view: LatticeView, found: Evaluation) -> dict[str, Any]:
    return {
        "levels": dict(zip(view.problem.quasi_identifiers, found.node, strict=True)),
        "loss": found.loss,
        "suppressed": found.suppressed,
        "classes": found.classes,
    }
