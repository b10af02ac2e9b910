"""k-anonymity by other tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.bars import draw_bars
from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.peers import environment
from benchmarks.peers.comparing import KNOWN, K, failures, original_rows, ours_of, peer_of
from benchmarks.problems import source
from benchmarks.texts import number, ratio, seconds, share
from tarnkappe.privacy import KAnonymity, Model
from tarnkappe.table.encoding import Progress


def _measure(size: Size, progress: Progress | None) -> Figures:
    original = original_rows(size.pick(1000, None))
    models: list[Model] = [KAnonymity(K)]
    ours_of(original.slice(0, 300), KNOWN, models, 0.05)  # compiles
    jobs: list[Callable[[], dict[str, Any]]] = [
        lambda: ours_of(original, KNOWN, models, 0.05) | {"limit": 0.05},
        lambda: (
            peer_of(environment.ANJANA, original, KNOWN, models, k=K, suppression_limit=0.05)
            | {"limit": 0.05}
        ),
        lambda: ours_of(original, KNOWN, models, 0.0) | {"limit": 0.0},
        lambda: (
            peer_of(environment.ANJANA, original, KNOWN, models, k=K, suppression_limit=0.0) | {"limit": 0.0}
        ),
        lambda: ours_of(original, KNOWN, models, 0.0, "mondrian") | {"limit": 0.0},
        lambda: peer_of(environment.ANONYPY, original, KNOWN, models, k=K) | {"limit": 0.0},
    ]
    lines = []
    for done, job in enumerate(jobs):
        if progress:
            progress("tools", done, len(jobs))
        lines.append(job())
    return {"source": source(), "rows": original.num_rows, "lines": lines}


def _tell(figures: Figures) -> Story:
    done = [x for x in figures["lines"] if "failed" not in x]
    rows = tuple(
        (
            x["tool"],
            share(x["limit"]),
            seconds(x["seconds"]),
            f"{x['megabytes']:.0f} MB",
            number(x["k"]),
            number(x["classes"]),
            number(figures["rows"] - x["rows"]),
            number(x.get("lost_bits")),
            "yes" if x["right"] else "no",
        )
        for x in done
    )
    ours = {x["limit"]: x for x in done if x["tool"] == "tarnkappe, auto"}
    slower = [
        x["seconds"] / ours[x["limit"]]["seconds"] for x in done if not x["tool"].startswith("tarnkappe")
    ]
    meaning = (
        f"The others take {ratio(min(slower))} to {ratio(max(slower))} the time of the proven optimum."
        if slower
        else "No other tool could be installed."
    )
    return Story(
        (
            Grid(
                f"5-anonymity of eight columns, {number(figures['rows'])} rows of {figures['source']}",
                (
                    "tool",
                    "suppression",
                    "time",
                    "memory",
                    "k",
                    "classes",
                    "rows left out",
                    "bits lost",
                    "right",
                ),
                rows,
            ),
        ),
        meaning,
        failures(figures),
        draw_bars(
            "5-anonymity of Adult",
            {f"{x['tool']}, {share(x['limit'])}": {"": x["seconds"]} for x in done},
            "seconds",
            logarithmic=True,
            shown=seconds,
        ),
    )


EXPERIMENT = Experiment(
    "k-anonymity",
    "k-anonymity by anjana and anonypy",
    "Eight quasi-identifiers of Adult, k = 5. anjana generalizes by hierarchies, greedily; anonypy is Mondrian. "
    "Bits lost count rows that were left out as hidden altogether; anonypy does not say which row is which.",
    "On two cores: anjana 3.7 to 12 s, anonypy 31 to 57 s, ARX up to 9.6 s.",
    _measure,
    _tell,
)
