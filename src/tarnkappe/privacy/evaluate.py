"""Deciding which classes may be released under several models at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tarnkappe.privacy.model import Model
from tarnkappe.table import Classes, State


def needed_distributions(models: Iterable[Model]) -> tuple[tuple[str, ...], ...]:
    """The distributions that the models look at."""
    return tuple(dict.fromkeys(names for model in models for names in model.distributions))


def protect(classes: Classes, models: Sequence[Model]) -> State:
    """Suppress every class that some model forbids.

    A class must meet all models or is suppressed as a whole. Models on the table as a whole look at
    what the others left, so the pass is repeated until nothing changes.
    """
    parts = [part for model in models for part in model.parts]
    kept = classes.released.copy()
    while True:
        before = int(kept.sum())
        for part in parts:
            kept = part.keep(classes, kept)
        if int(kept.sum()) == before:
            return State(classes, kept)


def satisfied(state: State, models: Iterable[Model], limit: int) -> bool:
    """Whether a state may be released: at most `limit` rows suppressed and nothing irreparable."""
    return state.suppressed_rows <= limit and not any(
        part.irreparable(state.classes) for model in models for part in model.parts
    )
