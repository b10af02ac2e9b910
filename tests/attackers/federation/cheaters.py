"""A helper, a master, and the party that decrypts first: each hands on another release than it should."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from tests.attackers.attacker import Attacker, Victim

Row = tuple[object, ...]


@dataclasses.dataclass
class Result:
    """A release on its way: rows (ciphertexts or values), and what is said of it.

    Attributes:
        rows: the rows.
        node: the levels.
        suppressed: how many rows are said to be suppressed.
    """

    rows: list[Row]
    node: tuple[int, ...]
    suppressed: int


Cheat = Callable[[Result], Result]


@dataclasses.dataclass(frozen=True)
class Run:
    """A run in which one party may hand on what it likes.

    Attributes:
        play: runs it with a cheat; gives what each party with data has kept, as rows, if it has kept
        anything. due: for each party its own rows as an honest run shows them.
        allowed: how many rows of all parties may be suppressed.
    """

    play: Callable[[Cheat], Mapping[str, list[Row]]]
    due: Mapping[str, list[Row]]
    allowed: int


def only_one_class(result: Result) -> Result:
    key = Counter(row[:-1] for row in result.rows).most_common(1)[0][0]
    return Result([row for row in result.rows if row[:-1] == key], result.node, 0)


def only_a_third(result: Result) -> Result:
    size = Counter(row[:-1] for row in result.rows)
    kept: Counter[Row] = Counter()
    rows = []
    for row in result.rows:
        if kept[row[:-1]] < max(3, size[row[:-1]] // 3):
            kept[row[:-1]] += 1
            rows.append(row)
    return Result(rows, result.node, result.suppressed)


def drop_some(result: Result) -> Result:
    return Result(result.rows[: len(result.rows) * 2 // 3], result.node, len(result.rows) // 3)


def say_that_more_is_suppressed(result: Result) -> Result:
    size = Counter(row[:-1] for row in result.rows)
    gone = min(size, key=lambda key: size[key])
    rows = [row for row in result.rows if row[:-1] != gone]
    return Result(rows, result.node, result.suppressed + size[gone])


def flip_the_sensitive_column(result: Result) -> Result:
    values = list(dict.fromkeys(row[-1] for row in result.rows))
    turned = dict(zip(values, [*values[1:], values[0]], strict=True))
    return Result([(*row[:-1], turned[row[-1]]) for row in result.rows], result.node, result.suppressed)


def shuffle_the_sensitive_column(result: Result) -> Result:
    values = [row[-1] for row in result.rows]
    random.Random(3).shuffle(values)
    rows = [(*row[:-1], value) for row, value in zip(result.rows, values, strict=True)]
    return Result(rows, result.node, result.suppressed)


CHEATS: Sequence[Cheat] = (
    only_one_class,
    only_a_third,
    drop_some,
    say_that_more_is_suppressed,
    flip_the_sensitive_column,
    shuffle_the_sensitive_column,
)


class Cheater(Attacker[Run]):
    promise = "own-rows"
    knows = "The protocol, and all that passes through his hands."
    sees = "What his part of the protocol gives him."
    does = "Drops rows, keeps one class, calls others suppressed, flips or shuffles the sensitive column."

    def attack(self, target: Run) -> Iterator[Victim]:
        for cheat in CHEATS:
            suppressed = 0
            for party, rows in target.play(cheat).items():
                classes = {row[:-1] for row in rows}
                missing = Counter(target.due[party]) - Counter(rows)
                changed = sum(number for row, number in missing.items() if row[:-1] in classes)
                suppressed += sum(missing.values()) - changed
                if changed:
                    yield Victim(party, f"kept a release that lacks {changed} of its rows ({cheat.__name__})")
            if suppressed > target.allowed:
                yield Victim("all parties", f"kept a release that lacks {suppressed} rows ({cheat.__name__})")


class CheatingHelper(Cheater):
    name = "cheating-helper"


class CheatingMaster(Cheater):
    name = "cheating-master"


class CheatingFirstParty(Cheater):
    name = "cheating-first-party"
