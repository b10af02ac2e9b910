"""Local recoding the slow way: row by row, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log2
from typing import Any

from tests.random_tables import Example, Row

Node = tuple[int, ...]
Good = Callable[[list[Row]], bool]


def label(example: Example, name: str, value: Any, level: int) -> str:
    return str(example.maps[name][level - 1][value] if level else value)


def recoded(example: Example, nodes: Sequence[Node], good: Good) -> list[tuple[str, ...] | None]:
    """What each row is written as; None if it is left out. `good` judges the rows of a class."""
    written: list[tuple[str, ...] | None] = [None] * len(example.rows)
    for node in nodes:
        left = [index for index, labels in enumerate(written) if labels is None]
        classes: dict[tuple[str, ...], list[int]] = {}
        for index in left:
            labels = tuple(
                label(example, name, example.rows[index][name], level)
                for name, level in zip(example.maps, node, strict=True)
            )
            classes.setdefault(labels, []).append(index)
        for labels, members in classes.items():
            if good([example.rows[index] for index in members]):
                for index in members:
                    written[index] = labels
    return written


def leaves(example: Example, name: str, text: str) -> int:
    """How many values a text may stand for: as many as on the most general of the levels it stands on."""
    domain = list(example.maps[name][0])
    levels = range(len(example.maps[name]) + 1)
    return max(sum(label(example, name, v, level) == text for v in domain) for level in levels)


def leaf_loss(example: Example, written: Sequence[tuple[str, ...] | None]) -> Fraction:
    """The mean over all cells of the share of the domain that a cell hides."""
    total, cells = Fraction(0), 0
    for index, name in enumerate(example.maps):
        domain = len(example.maps[name][0])
        for labels in written:
            cells += 1
            if labels is None:
                total += 1
            elif domain > 1:
                total += Fraction(leaves(example, name, labels[index]) - 1, domain - 1)
    return total / cells


def precision_cells(example: Example, written: Sequence[tuple[str, ...] | None]) -> Fraction:
    """The mean over all cells of the level of the written word, as a share of the highest."""
    shares: list[Fraction] = []
    for index, name in enumerate(example.maps):
        height = len(example.maps[name])
        for row, labels in zip(example.rows, written, strict=True):
            if labels is None or labels[index] == "*":
                shares.append(Fraction(1))
                continue
            most = leaves(example, name, labels[index])
            own = [level for level in range(height + 1) if hides(example, name, row[name], level) >= most]
            named = [level for level in own if label(example, name, row[name], level) == labels[index]]
            shares.append(Fraction((named or own)[0], height))
    return sum(shares, Fraction(0)) / len(shares)


def hides(example: Example, name: str, value: Any, level: int) -> int:
    """How many values have the label of a value on a level."""
    own = label(example, name, value, level)
    return sum(label(example, name, other, level) == own for other in example.maps[name][0])


def entropy(example: Example, written: Sequence[tuple[str, ...] | None]) -> float:
    """The bits that it takes to get each original value back from the written one."""
    bits = 0.0
    for index, name in enumerate(example.maps):
        texts = [None if labels is None else labels[index] for labels in written]
        pairs = Counter(zip((row[name] for row in example.rows), texts, strict=True))
        alike = Counter(texts)
        bits += sum(count * log2(alike[text] / count) for (_, text), count in pairs.items())
    return bits


def discernibility(example: Example, written: Sequence[tuple[str, ...] | None]) -> int:
    sizes = Counter(labels for labels in written if labels is not None)
    return sum(n * n for n in sizes.values()) + len(written) * sum(labels is None for labels in written)
