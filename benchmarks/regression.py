"""The regression gate: key ratios, held against those that are stored in the repository.

Every ratio is processor time of some work to processor time of a yardstick, both measured by turns in the
same run, the best of several each; or a number that does not depend on time at all. On another kind of
machine ratios differ: store those of the state before a change (`--check --store`), then check the change.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from benchmarks.chapter import Size
from benchmarks.chapters import CHAPTERS
from benchmarks.ratios import RATIOS, Ratio
from benchmarks.results import STORED, machine, read_results
from tarnkappe.table.files import replace_atomically

STORED_RATIOS = Path(__file__).parent / "ratios.json"
WORSE = 1.25
"""A ratio that is more than so many times the stored one has become worse."""
ROUNDS, MORE_ROUNDS = 5, 15
SHORT = 0.05
"""Work is repeated until it takes so many seconds at least: clocks of the processor are coarse."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One ratio that is not as it should be."""

    name: str
    what: str

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"


def main(*, store: bool = False) -> int:
    """Measure all ratios; store them, or fail if one became worse."""
    stored = {} if store else read_ratios(STORED_RATIOS)
    measured = {}
    for place, ratio in enumerate(RATIOS, 1):
        start = time.perf_counter()
        measured[ratio.name] = patiently(ratio, stored.get(ratio.name))
        before = f", stored {stored[ratio.name]:.4g}" if ratio.name in stored else ""
        took = time.perf_counter() - start
        print(
            f"[{place}/{len(RATIOS)}] {ratio.name}: {measured[ratio.name]:.4g}{before} ({took:.0f} s)",
            flush=True,
        )
    if store:
        write_ratios(measured, STORED_RATIOS)
        print(STORED_RATIOS)
        return 0
    findings = [*compare(stored, measured), *exceeded_limits()]
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


def compare(stored: Mapping[str, float], measured: Mapping[str, float]) -> list[Finding]:
    """What became worse, and what was never stored."""
    found = []
    for name, value in measured.items():
        if name not in stored:
            found.append(Finding(name, "nothing is stored: python -m benchmarks --check --store"))
        elif value > WORSE * stored[name]:
            worse = f"{value / stored[name] - 1:.0%}" if stored[name] else "from nothing"
            found.append(Finding(name, f"{value:.4g} instead of {stored[name]:.4g}, worse by {worse}"))
    gone = [name for name in stored if name not in measured]
    return found + [Finding(name, "is stored but not measured any more: store anew") for name in gone]


def exceeded_limits(folder: Path = STORED) -> Iterable[Finding]:
    """What the stored book, as far as it was run in full, exceeds of the limits that we hold ourselves to."""
    for chapter in CHAPTERS:
        results = read_results(chapter, folder)
        for experiment in chapter.experiments:
            result = results.get(experiment.name)
            if result is not None and result.size is Size.FULL:
                for name, (value, limit) in experiment.exceeded(result.figures).items():
                    where = f"{chapter.name}/{experiment.name}"
                    yield Finding(where, f"{name} is {value:.3g} in the stored book, the limit is {limit:g}")


def patiently(ratio: Ratio, stored: float | None) -> float:
    """A ratio; one that looks worse than stored is measured for longer, since noise only ever adds."""
    if ratio.count is not None:
        return ratio.count()
    work, yardstick = ratio.prepare()
    both = Both(work, yardstick)
    both.measure(ROUNDS)
    if stored is not None and both.ratio > WORSE * stored:
        both.measure(MORE_ROUNDS)
    return both.ratio


class Both:
    """Work and its yardstick, measured by turns.

    Attributes:
        times: the least processor time of each that was seen.
    """

    def __init__(
        self,
        work: Callable[[], object],
        yardstick: Callable[[], object],
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._sides, self._clock = (work, yardstick), clock
        for side in self._sides:
            side()  # it may compile
        self._calls = [self._often_enough(side) for side in self._sides]
        self.times = [float("inf"), float("inf")]

    @property
    def ratio(self) -> float:
        """Time of the work to that of the yardstick."""
        return self.times[0] / self.times[1]

    def measure(self, rounds: int) -> None:
        """Measure by turns, so that a slow moment of the machine hits both."""
        for _ in range(rounds):
            for place, side in enumerate(self._sides):
                self.times[place] = min(self.times[place], self._seconds(side, self._calls[place]))

    def _often_enough(self, side: Callable[[], object]) -> int:
        calls = 1
        while calls < 1000 and self._seconds(side, calls) * calls < SHORT:
            calls *= 2
        return calls

    def _seconds(self, side: Callable[[], object], calls: int) -> float:
        start = self._clock()
        for _ in range(calls):
            side()
        return max((self._clock() - start) / calls, 1e-9)


def read_ratios(path: Path) -> dict[str, float]:
    """The stored ratios."""
    if not path.is_file():
        return {}
    ratios: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))["ratios"]
    return ratios


def write_ratios(ratios: Mapping[str, float], path: Path) -> None:
    """Store ratios, with the machine that they are of."""
    rounded = {name: float(f"{value:.4g}") for name, value in ratios.items()}
    with replace_atomically(path, replace=True) as partial:
        text = json.dumps({"machine": machine(), "ratios": rounded}, indent=1)
        partial.write_text(text + "\n", encoding="utf-8")
