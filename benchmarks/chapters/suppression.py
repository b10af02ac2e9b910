"""What suppressing a few rows gains."""

from __future__ import annotations

from benchmarks.bars import draw_bars
from benchmarks.chapter import Chapter, Experiment, Figures, Grid, Size, Story
from benchmarks.problems import adult_problem, models_of, source
from benchmarks.texts import listed, number, share
from tarnkappe.lattice import AutoSearch
from tarnkappe.table.encoding import Progress

LOSSES = ("entropy-suppression-aware", "precision", "discernibility", "aecs-released")
REPORTED = {
    "k": (55, 48, 16, 4),
    "l": (64, 57, 22, 6),
    "t": (94, 86, 82, 21),
    "kt": (94, 86, 82, 21),
    "kl": (64, 57, 22, 6),
}
"""Percent of the loss without suppression that is left at 5 %, on Adult."""


def _measure(size: Size, progress: Progress | None) -> Figures:
    lines = []
    criteria = size.pick(("k", "kl"), tuple(REPORTED))
    for done, letters in enumerate(criteria):
        for loss in LOSSES:
            if progress:
                progress("criteria", done, len(criteria), f"{letters} {loss}")
            found = [
                AutoSearch().run(adult_problem(models_of(letters), loss, limit)).best for limit in (0.0, 0.05)
            ]
            before, after = found
            assert before is not None
            assert after is not None
            lines.append(
                {
                    "criterion": letters,
                    "loss": loss,
                    "without": before.loss,
                    "with": after.loss,
                    "suppressed": after.suppressed,
                    "left": after.loss / before.loss,
                }
            )
    return {"source": source(), "lines": lines}


def _tell(figures: Figures) -> Story:
    criteria = list(dict.fromkeys(x["criterion"] for x in figures["lines"]))
    left = {(x["criterion"], x["loss"]): x["left"] for x in figures["lines"]}
    rows = tuple(
        (
            "(" + ",".join(letters) + ")",
            *(f"{share(left[letters, n])} ({REPORTED[letters][i]} %)" for i, n in enumerate(LOSSES)),
        )
        for letters in criteria
    )
    apart = [
        f"({','.join(letters)}) {n}"
        for letters in criteria
        for i, n in enumerate(LOSSES)
        if abs(100 * left[letters, n] - REPORTED[letters][i]) > 1
    ]
    details = tuple(
        (
            "(" + ",".join(x["criterion"]) + ")",
            x["loss"],
            number(x["without"]),
            number(x["with"]),
            number(x["suppressed"]),
        )
        for x in figures["lines"]
    )
    real = figures["source"] == "Adult"
    differs = () if not apart else (
        f"More than one percent point apart: {listed(apart)}."
        + ("" if real else " The table is made up; on Adult all are reproduced."),
    )  # fmt: skip
    return Story(
        (
            Grid("Loss that is left with 5 % suppression (reported)", ("criterion", *LOSSES), rows),
            Grid("Least losses", ("criterion", "loss", "0 %", "5 %", "rows suppressed"), details),
        ),
        f"Giving up one row in twenty leaves between {share(min(left.values()))} and {share(max(left.values()))} "
        "of the loss.",
        differs,
        draw_bars(
            "Loss that is left with 5 % suppression",
            {"(" + ",".join(c) + ")": {n: 100 * left[c, n] for n in LOSSES} for c in criteria},
            "% of the loss without suppression",
            shown=lambda x: "–" if x is None else f"{x:.0f} %",
        ),
    )


CHAPTER = Chapter(
    "suppression",
    "Information loss with suppression",
    "Rows that stand out force everybody else to be generalized. A release may drop a few of them instead.",
    (
        Experiment(
            "five-percent",
            "Five percent of the rows",
            "Eight quasi-identifiers of Adult; the least loss with 5 % suppression as a share of that without, for "
            "four losses and five criteria, each proven optimal.",
            "The column for Adult stands in brackets. (The published table also has four data sets that are not "
            "public in the same form, and presence with a random subset that is not known.)",
            _measure,
            _tell,
        ),
    ),
)
