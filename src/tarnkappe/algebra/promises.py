"""What a plan promises of its result, read from the plan alone.

A generalization promises k rows for every combination of its columns, in its own result. Operators above
may keep that promise, restrict it to fewer columns, or end it: a selection can leave one row of a class. What
is left at the top is what a release can be held to, and is verified from the released values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Plan,
    PostProcessing,
    Projection,
    Randomization,
    Rename,
    SlicingNode,
    Union,
)


@dataclass(frozen=True)
class Promise:
    """Every combination of values in the columns occurs in at least k rows."""

    columns: frozenset[str]
    k: int

    def as_dict(self) -> dict[str, object]:
        """The promise for machines."""
        return {"columns": sorted(self.columns), "k": self.k}

    def __str__(self) -> str:
        return f"{self.k}-anonymous in {', '.join(sorted(self.columns))}"


def promises(plan: Plan) -> tuple[Promise, ...]:
    """The promises that hold of a plan's result whatever the data are; none is implied by another.

    >>> from tarnkappe.algebra.nodes import Relation
    >>> late = Projection(Generalization(Relation("r", ("A", "B", "C")), ("A", "B"), 3), ("A", "C"))
    >>> [str(promise) for promise in promises(late)]
    ['3-anonymous in A']
    """
    return strongest(_kept(plan))


def ended(plan: Plan) -> Iterator[tuple[Generalization | ModelGeneralization, Plan]]:
    """The generalizations whose promise does not reach the result, each with the operator that ends it.

    A promise about columns that are not shown has not ended: there is nothing left to promise.
    """
    for path in _paths(plan):
        generalization = path[-1]
        if not isinstance(generalization, Generalization | ModelGeneralization):
            continue
        promise: Promise | None = Promise(generalization.attributes & generalization.schema, generalization.k)
        for below, above in zip(path[::-1], path[-2::-1], strict=False):
            if promise is None or promise.k == 1 or not promise.columns & above.schema:
                break
            if _shows_whole_classes(above, promise):
                break
            promise = max(_upwards(above, below, promise), key=lambda p: len(p.columns), default=None)
            if promise is None:
                yield generalization, above


def _shows_whole_classes(above: Plan, promise: Promise) -> bool:
    """Whether each row of the result stands for one or more classes, each of them whole."""
    match above:
        case Grouping(_, by) | Projection(_, by, True):
            return set(by) <= promise.columns
        case PostProcessing():  # it is verified below, and anything may be computed from it
            return True
    return False


def _kept(plan: Plan) -> list[Promise]:
    if isinstance(plan, PostProcessing):  # what is verified of each input, before it runs
        return [promise for each in plan.inputs for promise in _kept(each)]
    if isinstance(plan, Union):
        pairs = ((left, right) for left in _kept(plan.left) for right in _kept(plan.right))
        return _real(Promise(a.columns & b.columns, min(a.k, b.k)) for a, b in pairs)
    below = [promise for child in plan.children for promise in _kept(child)]
    own = []
    if isinstance(plan, Generalization | ModelGeneralization):
        own = [Promise(plan.attributes & plan.schema, plan.k)]
    return _real([*own, *_through(plan, below)])


def _through(plan: Plan, below: Iterable[Promise]) -> list[Promise]:
    """What is left of promises about the only child."""
    match plan:
        case Generalization():  # lifting a whole column merges classes and never splits one
            return list(below)
        case ModelGeneralization():
            return list(below) if plan.keeps_columns_whole else []
        case Projection(_, onto, False):
            return _real(Promise(promise.columns & set(onto), promise.k) for promise in below)
        case Rename(_, names):
            new = dict(names)
            return [Promise(frozenset(new.get(c, c) for c in p.columns), p.k) for p in below]
        case SlicingNode():
            groups = [frozenset(group) for group in plan.groups]
            return _real(Promise(p.columns & group, p.k) for p in below for group in groups)
        case Randomization():
            noised = {column for column, probability in plan.probabilities if probability}
            return _real(Promise(promise.columns - noised, promise.k) for promise in below)
    return []


def _upwards(above: Plan, below: Plan, promise: Promise) -> list[Promise]:
    """What is left of a promise about one child; a union keeps it if its other side makes it, too."""
    if not isinstance(above, Union):
        return _through(above, [promise])
    other = above.right if above.left is below else above.left
    return _real(Promise(promise.columns & p.columns, min(promise.k, p.k)) for p in promises(other))


def _paths(plan: Plan) -> Iterator[list[Plan]]:
    yield [plan]
    for child in plan.children:
        for path in _paths(child):
            yield [plan, *path]


def _real(found: Iterable[Promise]) -> list[Promise]:
    return [promise for promise in found if promise.columns and promise.k > 1]


def strongest(found: Iterable[Promise]) -> tuple[Promise, ...]:
    """The promises that no other one implies, in a fixed order."""
    every = set(found)
    kept = (
        promise
        for promise in every
        if not any(
            other != promise and other.columns >= promise.columns and other.k >= promise.k for other in every
        )
    )
    return tuple(sorted(kept, key=lambda promise: (sorted(promise.columns), promise.k)))
