"""Generalize: some columns one or more levels further, in the fewest steps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import prod

import pyarrow as pa

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.risk.attacks import Attack, Target
from tarnkappe.risk.repairs.repair import (
    MOST_TRIES,
    Repair,
    RepairProposal,
    changed_cells,
    released_rows,
    replay,
    stopped,
    with_cells,
)
from tarnkappe.table import SUPPRESSED, Table, encode

Ladder = list[dict[str, str]]
"""For each number of steps what every cell of a column becomes."""


class Generalize(Repair):
    """Take columns up their hierarchies, in the fewest steps altogether, then with the fewest changed cells.

    A column without a hierarchy can only be suppressed as a whole, which counts as one step. All choices of
    steps are tried in order, fewest steps first, so the first that stops the attack is the smallest.
    """

    name = "generalize"

    @classmethod
    def propose(cls, attack: Attack, target: Target) -> RepairProposal | None:
        table = released_rows(target)
        ladders = {
            name: ladder(column.labels, target.background.hierarchies.get(name))
            for name, column in encode(table, table.quasi_identifiers).items()
        }
        heights = [len(steps) - 1 for steps in ladders.values()]
        tried = 0
        for total in range(1, sum(heights) + 1):
            found: list[RepairProposal] = []
            for chosen in steps_of(heights, total):
                if tried == MOST_TRIES:
                    return None
                tried += 1
                changed = _climb(table, ladders, chosen)
                after = replay(attack, target, changed)
                if stopped(after):
                    told = _description(dict(zip(ladders, chosen, strict=True)), ladders)
                    cells = changed_cells(table, changed)
                    found.append(RepairProposal(cls.name, told, changed, 0, cells, True, after))
            if found:
                return min(found, key=lambda proposal: proposal.changed_cells)
        return None


def ladder(labels: Sequence[str], hierarchy: Hierarchy | None) -> Ladder:
    """What the cells of a column become after 0, 1, ... steps, up to one cell for all.

    >>> towns = Hierarchy.from_rows([["Ulm", "south", "*"], ["Bonn", "west", "*"]])
    >>> ladder(["Ulm", "west"], towns)
    [{'Ulm': 'Ulm', 'west': 'west'}, {'Ulm': 'south', 'west': '*'}, {'Ulm': '*', 'west': '*'}]
    """
    steps: Ladder = [{label: label for label in labels}]
    parents = {} if hierarchy is None else _parents(hierarchy)
    while set(steps[-1].values()) != {SUPPRESSED}:
        above = {label: parents.get(cell, SUPPRESSED) for label, cell in steps[-1].items()}
        if above == steps[-1]:
            break
        steps.append(above)
    return steps


def steps_of(heights: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """All ways to divide a number of steps among columns of these heights."""
    if prod(height + 1 for height in heights) <= MOST_TRIES * 10:
        choices = itertools.product(*(range(height + 1) for height in heights))
        yield from (chosen for chosen in choices if sum(chosen) == total)
    elif heights:
        for first in range(min(heights[0], total) + 1):
            yield from ((first, *rest) for rest in steps_of(heights[1:], total - first))
    elif total == 0:
        yield ()


def _parents(hierarchy: Hierarchy) -> dict[str, str]:
    """The label one level above each label; a label that stays the same on a level is left there."""
    above: dict[str, str] = {}
    for row in hierarchy.rows():
        cells = [cell for cell in row if cell is not None]
        distinct = [cell for cell, _ in itertools.groupby(cells)]
        above.update(itertools.pairwise(distinct))
        above[distinct[-1]] = distinct[-1]
    return above


def _climb(table: Table, ladders: dict[str, Ladder], steps: Sequence[int]) -> Table:
    cells = {}
    for (name, rungs), number in zip(ladders.items(), steps, strict=True):
        if number:
            column = encode(table, [name])[name]
            labels = pa.array([rungs[number][label] for label in column.labels], pa.string())
            cells[name] = labels.take(pa.array(column.codes))
    return with_cells(table, cells)


def _description(steps: dict[str, int], ladders: dict[str, Ladder]) -> str:
    told = []
    for name, number in steps.items():
        if number == len(ladders[name]) - 1:
            told.append(f"suppress the column '{name}'")
        elif number:
            told.append(f"generalize '{name}' by {number} level{'s' if number > 1 else ''}")
    sentence = " and ".join(told)
    return f"{sentence[0].upper()}{sentence[1:]}."
