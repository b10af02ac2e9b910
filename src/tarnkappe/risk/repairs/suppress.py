"""Suppress: leave out classes, as few rows as possible."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.risk.attacks import Attack, Target
from tarnkappe.risk.repairs.repair import MOST_TRIES, Repair, RepairProposal, released_rows, replay, stopped
from tarnkappe.table import ClassState, Table
from tarnkappe.table.classes import Mask


class Suppress(Repair):
    """Leave out whole classes.

    If each class is judged by itself, the classes that fall victim are the smallest set there is. Otherwise
    sets of classes are tried in the order of their rows, so that the first that stops the attack is the
    smallest; when that takes too long, victims are suppressed until there are none, and whatever need not be
    is put back.
    """

    name = "suppress"

    @classmethod
    def propose(cls, attack: Attack, target: Target) -> RepairProposal | None:
        assert target.state is not None
        victims = _victims(attack, target, target.kept)
        if victims is None:
            return None
        kept = target.kept.copy()
        kept[victims] = False
        smallest = True
        if not attack.judges_classes_alone:
            exact = _smallest_set(attack, target)
            smallest = exact is not None
            kept = _needed(attack, target) if exact is None else exact
        if not kept.any():
            return None
        table = _without(target, kept)
        after = replay(attack, target, table)
        if not stopped(after):
            return None
        rows = released_rows(target).num_rows - table.num_rows
        classes = int((target.kept & ~kept).sum())
        told = f"Suppress {_number(classes, 'class', 'es')} ({_number(rows, 'row', 's')})."
        cells = rows * len(table.column_names)
        return RepairProposal(cls.name, told, table, rows, cells, smallest, after)


def _number(number: int, what: str, plural: str) -> str:
    return f"{number:,} {what}{plural if number > 1 else ''}"


def _without(target: Target, kept: Mask) -> Table:
    table = released_rows(target)
    classes = target.classes.ids[: table.num_rows]
    return table.with_data(table.data.filter(np.asarray(kept)[classes]))


def _with_kept(target: Target, kept: Mask) -> Target:
    assert target.state is not None
    return Target(ClassState(target.classes, kept), target.background)


def _victims(attack: Attack, target: Target, kept: Mask) -> npt.NDArray[np.int64] | None:
    """The classes that victims are in, or None if the attack does not say."""
    return attack.find(_with_kept(target, kept), 0).classes


def _stops(attack: Attack, target: Target, kept: Mask) -> bool:
    return stopped(attack.run(_with_kept(target, kept), shown=0))


def _smallest_set(attack: Attack, target: Target) -> Mask | None:
    """What is kept when the smallest number of rows is suppressed; None if finding it takes too long."""
    classes = np.flatnonzero(target.kept)
    order = classes[np.argsort(target.classes.sizes[classes], kind="stable")]
    sizes = target.classes.sizes[order].tolist()
    for chosen in itertools.islice(_by_rows(sizes), MOST_TRIES):
        kept = target.kept.copy()
        kept[order[list(chosen)]] = False
        if _stops(attack, target, kept):
            return kept
    return None


def _by_rows(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All sets of classes, given their sizes in ascending order, in the order of their rows.

    Every set but the empty one comes from exactly one other by adding the next class to it or by exchanging
    its last class for the next; neither has fewer rows, so a heap yields the sets in order.
    """
    heap: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while heap:
        rows, chosen = heapq.heappop(heap)
        yield chosen
        following = chosen[-1] + 1 if chosen else 0
        if following < len(sizes):
            heapq.heappush(heap, (rows + sizes[following], (*chosen, following)))
            if chosen:
                exchanged = rows - sizes[following - 1] + sizes[following]
                heapq.heappush(heap, (exchanged, (*chosen[:-1], following)))


def _needed(attack: Attack, target: Target) -> Mask:
    """Suppress victims until there are none, then put back classes that need not be, the largest first."""
    kept = target.kept.copy()
    while kept.any() and not _stops(attack, target, kept):
        victims = _victims(attack, target, kept)
        if victims is None or not kept[victims].any():
            return np.zeros_like(kept)
        kept[victims] = False
    gone = np.flatnonzero(target.kept & ~kept)
    for index in gone[np.argsort(-target.classes.sizes[gone], kind="stable")].tolist():
        kept[index] = True
        if not _stops(attack, target, kept):
            kept[index] = False
    return kept
