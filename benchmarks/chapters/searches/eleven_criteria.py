"""Eleven criteria without suppression."""

from __future__ import annotations

from benchmarks.bars import draw_bars
from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.chapters.searches.rivals import RIVALS, agree, geometric
from benchmarks.problems import ELEVEN, adult_problem, models_of, run_search, source, warm_up
from benchmarks.texts import listed, number, seconds
from tarnkappe.lattice import SEARCHES
from tarnkappe.table.encoding import Progress


def _measure(size: Size, progress: Progress | None) -> Figures:
    warm_up()
    lines = []
    chosen = size.pick(("k", "kl", "kdt"), ELEVEN)
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
            "Reported is Flash before OLA before depth first. Where the order above is another one, why was not "
            "examined: all of these searches take milliseconds here.",
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
