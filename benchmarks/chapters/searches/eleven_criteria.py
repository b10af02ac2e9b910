"""Eleven criteria without suppression."""

from __future__ import annotations

from benchmarks.bars import draw_bars
from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.chapters.searches.rivals import RIVALS, agree, geometric
from benchmarks.problems import ELEVEN, adult_problem, models_of, run_search, source, warm_up
from benchmarks.texts import listed, number, ratio, seconds
from tarnkappe.lattice import SEARCHES
from tarnkappe.table.encoding import Progress


def _measure(size: Size, progress: Progress | None) -> Figures:
    warm_up()
    lines = []
    chosen = size.pick(("k", "kt"), ELEVEN)
    for done, letters in enumerate(chosen):
        problem = adult_problem(models_of(letters), "entropy", 0.0)
        for search in RIVALS:
            if progress:
                progress("criteria", done, len(chosen), f"{letters} {search}")
            measured = run_search(SEARCHES.create(search, {}), problem, repeats=size.pick(1, 5))
            lines.append({"criterion": letters} | measured)
    return {"source": source(), "lines": lines}


def _tell(figures: Figures) -> Story:
    done = [line for line in figures["lines"] if "refused" not in line]
    criteria = list(dict.fromkeys(line["criterion"] for line in done))
    by = {(x["criterion"], x["search"]): x for x in done}
    rows = tuple(
        (
            "(" + ",".join(letters) + ")",
            *(
                f"{seconds(by[letters, s]['seconds'])} / {number(by[letters, s]['checked'])}"
                if (letters, s) in by
                else "–"
                for s in RIVALS
            ),
        )
        for letters in criteria
    )
    full = [c for c in criteria if all((c, s) in by for s in RIVALS)]
    means = {s: geometric(by[c, s]["seconds"] for c in full) for s in RIVALS}
    tests = {s: geometric(by[c, s]["checked"] for c in full) for s in RIVALS}
    ranked = sorted(means, key=lambda s: means[s])
    return Story(
        (
            Grid(
                f"Time and tests without suppression, {figures['source']}, 4,320 nodes",
                ("criterion", *RIVALS),
                rows,
            ),
        ),
        f"Over the criteria that all of them take, the order by time is {listed(ranked)}; "
        f"{'all optima agree' if agree(done, ('criterion',)) else 'searches disagree'}.",
        (
            "Reported is Flash before OLA before depth first. Time is the number of tests times the time of one: OLA "
            f"makes {ratio(tests['ola'] / tests['flash'])} the tests of Flash and needs "
            f"{ratio(means['ola'] / tests['ola'] / (means['flash'] / tests['flash']))} as long for each. What Flash gains "
            "by starting a test from the classes of an earlier one is little where a test takes "
            f"{seconds(means['ola'] / tests['ola'])}, so that the number of tests decides.",
        ),
        draw_bars(
            "Geometric mean over the criteria, no suppression",
            {s: {"": means[s]} for s in RIVALS},
            "seconds",
            shown=seconds,
        ),
    )


EXPERIMENT = Experiment(
    "eleven-criteria",
    "Eleven criteria without suppression",
    "All combinations of 5-anonymity, diversity, closeness and presence that the literature uses; eight "
    "quasi-identifiers of Adult, entropy.",
    "Flash always fastest or equal to OLA; depth first third, Incognito fourth, breadth first far behind.",
    _measure,
    _tell,
)
