"""Somebody who knows all rows but one, and tells from releases whether that one is among them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import exp

from scipy.stats import beta

from tests.attackers.attacker import Attacker, Victim

Released = tuple[tuple[str, ...], ...]
"""The rows of a release."""
Event = Callable[[Released], bool]
"""Something that a release shows or does not show."""
DOUBT = 1e-6
"""How likely chance alone may name a victim."""


@dataclasses.dataclass(frozen=True)
class PrivateProgram:
    """A program that publishes a table with a row or without it, and what it promises about that."""

    epsilon: float
    delta: float
    publish: Callable[[bool], Released]
    runs: int


class OneRowMore(Attacker[PrivateProgram]):
    """Learns from some runs what to look for, and counts in others how often it is seen with the row and without."""

    name = "one row more"
    promise = "differential_privacy"
    knows = "All rows but one, what that one says, and the program with all its parameters."
    sees = "Releases of the table with the row, and of the table without it."
    does = "Looks for what one of them shows more often than promised, and counts it in releases made anew."

    def attack(self, target: PrivateProgram) -> Iterator[Victim]:
        learned = {row: [target.publish(row) for _ in range(target.runs)] for row in (True, False)}
        events = dict(_events([*learned[True], *learned[False]]))

        def excess(event: str, row: bool) -> float:
            often, seldom = (_seen(events[event], learned[each]) for each in (row, not row))
            return often - exp(target.epsilon) * seldom

        name, row = max(
            ((event, row) for event in events for row in (True, False)), key=lambda one: excess(*one)
        )
        fresh = {each: [target.publish(each) for _ in range(target.runs)] for each in (True, False)}
        seen = {each: sum(map(events[name], fresh[each])) for each in (True, False)}
        least = beta.ppf(DOUBT, seen[row], target.runs - seen[row] + 1) if seen[row] else 0.0
        other = seen[not row]
        most = beta.ppf(1 - DOUBT, other + 1, target.runs - other) if other < target.runs else 1.0
        if least > exp(target.epsilon) * most + target.delta:
            yield Victim(
                "the row",
                f"{name} in {seen[True]} of {target.runs} releases with it and {seen[False]} without it",
            )


def _seen(event: Event, releases: Sequence[Released]) -> float:
    return sum(map(event, releases)) / len(releases)


def _events(releases: Sequence[Released]) -> Iterator[tuple[str, Event]]:
    """What may be looked for: a word that is there or not, a number of rows that is reached or not."""

    def shown(words: tuple[str, ...]) -> Event:
        return lambda release: words in release

    def reached(words: tuple[str, ...], number: int) -> Event:
        return lambda release: release.count(words) >= number

    for words in sorted({words for release in releases for words in release}):
        yield f"{words} is seen", shown(words)
        yield f"{words} is not seen", _not(shown(words))
        for number in sorted({Counter(release)[words] for release in releases} - {0}):
            yield f"at least {number} of {words}", reached(words, number)
            yield f"fewer than {number} of {words}", _not(reached(words, number))
    for number in sorted({len(release) for release in releases}):
        yield f"{number} rows or more", lambda release, number=number: len(release) >= number  # type: ignore[misc]
        yield f"fewer than {number} rows", lambda release, number=number: len(release) < number  # type: ignore[misc]


def _not(event: Event) -> Event:
    return lambda release: not event(release)
