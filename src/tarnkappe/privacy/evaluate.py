"""Deciding which classes may be released under several models at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tarnkappe.privacy.model import Model, ModelScope
from tarnkappe.table import Classes, ClassState
from tarnkappe.table.classes import Mask


def needed_distributions(models: Iterable[Model]) -> tuple[tuple[str, ...], ...]:
    """The distributions that the models look at."""
    return tuple(dict.fromkeys(names for model in models for names in model.distributions))


def protect(classes: Classes, models: Sequence[Model]) -> ClassState:
    """Suppress every class that some model forbids: a class must meet all models or goes as a whole."""
    parts = [part for model in models for part in model.parts]
    return ClassState(classes, keep_all(classes, classes.released, parts))


def keep_all(classes: Classes, kept: Mask, parts: Sequence[Model]) -> Mask:
    """Of the classes kept so far, those that all models together allow to be released.

    Models on classes are asked once. Models on groups look at what is left, until nothing changes; models
    on the table look at what all others left, and if they suppress something, the groups are looked at
    again. Models of one kind are asked together, so that their order does not matter.
    """
    kept = _keep(classes, kept, [part for part in parts if part.scope is ModelScope.CLASS])
    later = [
        [part for part in parts if part.scope is scope] for scope in (ModelScope.GROUP, ModelScope.TABLE)
    ]
    stage = 0 if any(later) else len(later)
    while stage < len(later):
        left = _keep(classes, kept, later[stage])
        stage = stage + 1 if np.array_equal(left, kept) else 0
        kept = left
    return kept


def _keep(classes: Classes, kept: Mask, parts: Sequence[Model]) -> Mask:
    """What each of the models keeps."""
    left = kept.copy()
    for part in parts:
        left &= part.keep(classes, kept)
    return left


def satisfied(state: ClassState, models: Iterable[Model], limit: int) -> bool:
    """Whether a state may be released: at most `limit` rows suppressed and nothing irreparable."""
    return state.suppressed_rows <= limit and not any(
        part.irreparable(state.classes) for model in models for part in model.parts
    )


def monotone(models: Iterable[Model], *, suppression: bool) -> bool:
    """Whether every generalization of a state that satisfies all models satisfies them too.

    Without suppression it is so if each model is monotone. With suppression, let S be the rows kept at some
    levels, and at higher levels take all classes that contain a row of S. They meet every model that is
    monotone with suppression: their groups contain groups of S, and their risk as a whole is not higher.

    Models on classes and groups never suppress any of them, since more rows do not hurt. A model on the
    table, asked last, suppresses the smallest classes and keeps at least as many rows as these; models on
    classes do not mind. But groups may miss the rows, so models on groups and on the table together are not
    monotone.
    """
    parts = [part for model in models for part in model.parts]
    if not all(part.monotonicity.holds(suppression) for part in parts):
        return False
    return not suppression or not {ModelScope.GROUP, ModelScope.TABLE} <= {part.scope for part in parts}
