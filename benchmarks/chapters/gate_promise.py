"""The gate as a policy starts it: what a decision costs, and what answers are good for."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.texts import number, ratio, seconds, share
from tarnkappe.gate.monitor import QueryMonitor
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import CountedAnswer, GateQuery
from tarnkappe.gate.slot import Slot
from tarnkappe.table.encoding import Progress

CLOCK = time.process_time
DEADLINE = 0.25
RARE, COMMON = "v00", "v01"
SHARES = {"100 people": (100, 8, 3, 60, 8), "1,000 people": (1_000, 100, 5, 40, 30)}


class Asked:
    """A gate before made-up people with numbers, and the processor time of every answer."""

    def __init__(self, folder: Path, values: list[str], labels: int, k: int, **protection: Any) -> None:
        people = pa.table(
            {"id": [f"p{n}" for n in range(len(values))], "nr": range(len(values)), "disease": values}
        )
        pq.write_table(people, folder / "people.parquet")
        table = {"source": "people.parquet", "name": "people", "key": "id", "quasi_identifiers": ["nr"]}
        content = {
            "table": table | {"refresh": 3600},
            "sensitive": {"disease": {"values": [f"v{n:02}" for n in range(labels - 1)]}},  # and (other)
            "protection": {"k": k} | protection,
        }
        self.keeper = QueryMonitor.open(GatePolicy.from_dict(content, folder))
        self.seconds: list[float] = []
        self.added = self.real = self.above = 0

    def ask(self, where: str, values: tuple[int, ...]) -> CountedAnswer:
        """One question, as `select disease, count(*) ... group by 1` asks it."""
        slot, start = Slot(DEADLINE), CLOCK()
        found = self.keeper.figures("ann", GateQuery(("disease",), where, values), slot)
        assert isinstance(found, CountedAnswer)
        self.seconds.append(CLOCK() - start)
        self.above += self.seconds[-1] > slot.length
        self.real += found.people
        self.added += sum(found.shown["disease"].values()) - found.people
        return found

    def of(self, people: list[int]) -> CountedAnswer:
        """A question for people by their numbers."""
        return self.ask(f'"nr" IN ({", ".join("?" * len(people))})', tuple(people))


def _values(people: int, labels: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [f"v{chance.randrange(labels - 1):02}" for _ in range(people)]


def _asked(make: Callable[[Path], Asked], questions: Callable[[Asked], None]) -> Asked:
    with tempfile.TemporaryDirectory() as folder:
        asked = make(Path(folder))
        questions(asked)
        asked.keeper.close()
    return asked


def _random(people: int, questions: int, size: int, seed: int = 1) -> Callable[[Asked], None]:
    def ask(gate: Asked) -> None:
        chance = random.Random(seed)
        for _ in range(questions):
            gate.of(chance.sample(range(people), size))

    return ask


def _adaptive(people: int, questions: int, size: int) -> Callable[[Asked], None]:
    """Half of each group was in the last answer that lacked the rare value; the rest is new."""

    def ask(gate: Asked) -> None:
        chance, last = random.Random(1), list(range(size))
        for _ in range(questions):
            group = {*chance.sample(last, size // 2)}
            while len(group) < size:
                group.add(chance.randrange(people))
            if not gate.of(sorted(group)).shown["disease"].get(RARE, 0):
                last = sorted(group)

    return ask


def _ranges(people: int, questions: int) -> Callable[[Asked], None]:
    def ask(gate: Asked) -> None:
        chance = random.Random(1)
        for _ in range(questions):
            size = chance.randrange(people // 100, people // 10)
            begin = chance.randrange(people - size)
            gate.ask('"nr" >= ? AND "nr" < ?', (begin, begin + size))

    return ask


def _timed(asked: Asked) -> dict[str, float]:
    spent = sorted(asked.seconds)
    tenth = max(1, len(spent) // 10)
    first, last = asked.seconds[:tenth], asked.seconds[-tenth:]
    return {
        "questions": len(spent),
        "median": statistics.median(spent),
        "95 of 100": spent[int(0.95 * (len(spent) - 1))],
        "worst": spent[-1],
        "above": asked.above,
        "last_to_first": statistics.median(last) / statistics.median(first),
        "added": asked.added / asked.real,
    }


def _estimates(runs: int) -> Iterator[tuple[float, bool]]:
    """How far the estimate of a rare value is from the truth, and whether its interval has it."""
    values = [RARE] * 20 + [COMMON] * 1_980
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            gate = Asked(Path(folder), values, 20, 3)
            found = gate.ask('"nr" >= ?', (0,))
            shown: Counter[str] = Counter(found.shown["disease"])
            estimate = found.draws["disease"].count(shown, RARE)
            gate.keeper.close()
        yield abs(estimate.value - 20), estimate.low <= 20 <= estimate.high


def _measure(size: Size, progress: Progress | None) -> Figures:
    def say(done: int) -> None:
        if progress is not None:
            progress("the gate as a policy starts it", done, 5)

    _asked(lambda folder: Asked(folder, _values(40, 8, 0), 8, 3), _random(40, 5, 20))  # compiles
    say(1)
    lines: dict[str, dict[str, float]] = {}
    halves = _asked(lambda folder: Asked(folder, _values(40, 8, 1), 8, 3), _random(40, 60, 20))
    lines["40 people, 8 values, k = 3, halves"] = _timed(halves)
    for name, (people, labels, k, questions, group) in SHARES.items():
        made = _asked(
            lambda folder, p=people, n=labels, k=k: Asked(folder, _values(p, n, 1), n, k),  # type: ignore[misc]
            _random(people, questions, group),
        )
        lines[f"{name}, {labels} values, k = {k}, {group} at a time"] = _timed(made)
    say(2)
    many, often = size.pick((2_000, 40), (10_000, 2_000))
    overlapping = _asked(
        lambda folder: Asked(folder, _values(many, 60, 1), 60, 5), _adaptive(many, often, 50)
    )
    lines[f"{many:,} people, 60 values, k = 5, 50 at a time, adaptive"] = _timed(overlapping)
    say(3)
    most, asked = size.pick((50_000, 20), (1_000_000, 1_000))
    large = _asked(lambda folder: Asked(folder, _values(most, 20, 1), 20, 5), _ranges(most, asked))
    lines[f"{most:,} people, 20 values, k = 5, 1 to 10 %"] = _timed(large)
    say(4)
    far = list(_estimates(size.pick(20, 400)))
    say(5)
    return {
        "lines": lines,
        "halves_worst": max(halves.seconds),
        "adaptive_95": _timed(overlapping)["95 of 100"],
        "large_median": _timed(large)["median"],
        "large_last_to_first": _timed(large)["last_to_first"],
        "above_deadline": halves.above + overlapping.above + large.above,
        "estimates": len(far),
        "estimates_far": sum(error > 10 for error, _ in far) / len(far),
        "intervals_missed": sum(not held for _, held in far) / len(far),
    }


def _tell(figures: Figures) -> Story:
    rows = tuple(
        (
            name,
            number(line["questions"]),
            seconds(line["median"]),
            seconds(line["95 of 100"]),
            seconds(line["worst"]),
            ratio(line["last_to_first"]),
            share(line["added"]),
        )
        for name, line in figures["lines"].items()
    )
    header = (
        "what",
        "questions",
        "median",
        "95 of 100",
        "worst",
        "last tenth to first",
        "artificial to real",
    )
    near = (
        ("within 10 of the truth", share(1 - figures["estimates_far"])),
        ("95 % intervals that hold", share(1 - figures["intervals_missed"])),
    )
    return Story(
        (
            Grid("Processor time of a decision, and artificial values", header, rows),
            Grid("20 of 2,000 people have a value: estimates", ("of all runs", "share"), near),
        ),
        f"{number(figures['above_deadline'])} decisions took more processor time than their slot is long.",
    )


EXPERIMENT = Experiment(
    "promise",
    "The gate as a policy starts it: time, artificial values, estimates",
    "The monitor of a policy with witness-pool, a public list and slots of 0.25 s answers counts: random halves of 40 people, "
    "random groups of 100 and 1,000, 2,000 groups of 50 among 10,000 people of which half is taken from the last answer without a "
    "rare value, 1,000 ranges of 1 to 10 % of a million people; and 400 gates are asked how many of 2,000 people have a value that "
    "20 have.",
    "Nothing: the rule is ours.",
    _measure,
    _tell,
    {
        "halves_worst": 0.15,
        "adaptive_95": 0.05,
        "large_median": 0.05,
        "large_last_to_first": 1.2,
        "above_deadline": 0.0,
        "estimates_far": 0.05,
        "intervals_missed": 0.06,
    },
)
