"""`make bench` and `make bench-check`: the book of measurements, and whether anything became slower."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks import figures, regression
from benchmarks.book import write_book
from benchmarks.chapter import Chapter, Experiment, Size
from benchmarks.chapters import CHAPTERS
from benchmarks.results import STORED, Result, write_result
from benchmarks.texts import seconds
from tarnkappe.cli.console import progress_bar

BOOK = Path("tarnkappe-book")
STORED_BOOK = Path(__file__).parent.parent / "docs" / "book"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write the book; or check the ratios."""
    asked = _parser().parse_args(arguments)
    if asked.check:
        return regression.main(store=asked.store)
    if asked.list:
        print("\n".join(f"{c.name}/{e.name}: {e.title}" for c in CHAPTERS for e in c.experiments))
        return 0
    try:
        chosen = choose(asked.what)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    results, book = (STORED, STORED_BOOK) if asked.store else (asked.out / "results", asked.out)
    failed = 0
    if not asked.render:
        failed = measure(chosen, Size.SHORT if asked.short else Size.FULL, results)
    for path in write_book(CHAPTERS, results, book):
        print(path)
    if asked.store:
        figures.update()
    return 1 if failed else 0


def choose(names: Sequence[str]) -> list[tuple[Chapter, Experiment]]:
    """The experiments with such names: `chapter` or `chapter/experiment`; all if none is named."""
    every = [(chapter, experiment) for chapter in CHAPTERS for experiment in chapter.experiments]
    if not names:
        return every
    found = []
    for name in names:
        some = [(c, e) for c, e in every if name in (c.name, f"{c.name}/{e.name}")]
        if not some:
            raise ValueError(f"there is no chapter or experiment '{name}': see python -m benchmarks --list")
        found += some
    return found


def measure(chosen: Sequence[tuple[Chapter, Experiment]], size: Size, folder: Path) -> int:
    """Run experiments and store their results; how many failed."""
    failed = 0
    for place, (chapter, experiment) in enumerate(chosen, 1):
        print(f"[{place}/{len(chosen)}] {chapter.name}/{experiment.name}", end=" ", flush=True)
        start = time.perf_counter()
        try:
            with progress_bar() as progress:
                measured = experiment.measure(size, progress)
            result = Result.now(size, time.perf_counter() - start, measured)
            experiment.tell(result.figures)
        except Exception:  # one experiment that fails must not cost the hour of all others
            failed += 1
            print("FAILED", flush=True)
            traceback.print_exc()
            continue
        write_result(chapter, experiment.name, result, folder)
        print(seconds(result.seconds), flush=True)
        if size is Size.FULL:
            for name, (value, limit) in experiment.exceeded(result.figures).items():
                print(f"    {name} is {value:.3g}, the limit is {limit:g}", flush=True)
    return failed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", nargs="*", help="a chapter, or chapter/experiment; all if nothing is said")
    parser.add_argument("--short", action="store_true", help="small data: a few minutes instead of an hour")
    parser.add_argument("--out", type=Path, default=BOOK, help=f"where the book goes ({BOOK})")
    parser.add_argument("--render", action="store_true", help="write the book again, without measuring")
    parser.add_argument("--store", action="store_true", help="keep the figures: the documentation cites them")
    parser.add_argument("--check", action="store_true", help="fail if a key ratio became worse by 25 %%")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    return parser


if __name__ == "__main__":
    sys.exit(main())
