"""A slow, obviously correct twin of every attack, in plain Python and exact fractions.

A twin gets the attack, the rows of one class, all released rows and the levels of the sensitive
column. It returns what is learned about the members of the class (the value, the values, the
category), or None if the attack fails on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tarnkappe.table import MISSING, SUPPRESSED
from tests.random_tables import Row

Twin = Callable[[Any, list[Row], list[Row], list[dict[Any, str]]], str | None]
TWINS: dict[str, Twin] = {}


def twin(name: str) -> Callable[[Twin], Twin]:
    def register(function: Twin) -> Twin:
        TWINS[name] = function
        return function

    return register


def shown(rows: list[Row], column: str) -> Counter[Any]:
    """The values of a column, suppressed cells left out."""
    return Counter(row[column] for row in rows if row[column] != SUPPRESSED)


def text(value: Any) -> str:
    return MISSING if value is None else str(value)


def exact(number: float) -> Fraction:
    return Fraction(str(number))


@twin("linking")
def linking(attack, members, everyone, levels):
    if len(members) >= attack.k:
        return None
    return "which row is theirs" if len(members) == 1 else f"that one of {len(members)} rows is theirs"


@twin("homogeneity")
def homogeneity(attack, members, everyone, levels):
    values = shown(members, attack.column)
    return text(next(iter(values))) if len(values) == 1 else None


@twin("background-knowledge")
def background_knowledge(attack, members, everyone, levels):
    values = shown(members, attack.column)
    if not values or len(values) - 1 > attack.exclusions:
        return None
    return " or ".join(sorted(text(value) for value in values))


@twin("probabilistic-inference")
def probabilistic_inference(attack, members, everyone, levels):
    values = shown(members, attack.column)
    if not values:
        return None
    # Of equally frequent values the least is guessed; the missing value comes last.
    value, number = min(values.items(), key=lambda entry: (-entry[1], entry[0] is None, entry[0]))
    share = Fraction(number, sum(values.values()))
    return f"{text(value)} ({100 * float(share):.0f} %)" if share > exact(attack.confidence) else None


@twin("skewness")
def skewness(attack, members, everyone, levels):
    values, overall = shown(members, attack.column), shown(everyone, attack.column)
    found = []
    for value, number in values.items():
        share = Fraction(number, sum(values.values()))
        ratio = share / Fraction(overall[value], sum(overall.values()))
        if share >= exact(attack.likely) and ratio >= exact(attack.ratio):
            found.append((-ratio, value is None, value, share))
    if not found:
        return None
    ratio, _, value, share = min(found)
    return f"{text(value)} ({100 * float(share):.0f} %, {float(-ratio):.3g} times as often as overall)"


@twin("similarity")
def similarity(attack, members, everyone, levels):
    values = shown(members, attack.column)
    for level in levels[:-1]:
        categories = {level[value] for value in values}
        if len(categories) == 1:
            return categories.pop()
    return None
