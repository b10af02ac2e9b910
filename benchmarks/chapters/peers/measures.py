"""What another tool measures on a release."""

from __future__ import annotations

import tempfile
from pathlib import Path

import tarnkappe
from benchmarks.alone import alone
from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.peers import environment
from benchmarks.peers.comparing import FEW, K, failures, original_rows
from benchmarks.peers.environment import PeerError
from benchmarks.problems import SENSITIVE, adult, source
from benchmarks.texts import number, ratio, seconds
from tarnkappe.privacy import KAnonymity, RecursiveDiversity
from tarnkappe.table import Table, write
from tarnkappe.table.encoding import Progress


def _measure(size: Size, progress: Progress | None) -> Figures:
    del progress
    original = original_rows(size.pick(1500, None))
    table = Table(original).with_roles(quasi_identifiers=list(FEW), sensitive=[SENSITIVE])
    hierarchies = {name: adult().hierarchies[name] for name in FEW}
    release = tarnkappe.anonymize(
        table, privacy=[KAnonymity(K)], hierarchies=hierarchies, loss="entropy", suppression_limit=0.05
    ).release.data.select([*FEW, SENSITIVE])
    judged = Table(release)

    def work() -> dict[str, float]:
        report = tarnkappe.check(judged, quasi_identifiers=list(FEW), sensitive=[SENSITIVE])
        found = report.sensitive[SENSITIVE].measured
        return {"k": float(report.k)} | {
            name: float(found[name].value) for name in ("distinct_l", "entropy_l", "t_equal")
        }

    work()
    done = alone(work, repeats=3)
    ours = dict(done.outcome)
    figures: Figures = {"source": source(), "rows": release.num_rows, "seconds": done.seconds}
    figures["megabytes"] = done.megabytes
    with tempfile.TemporaryDirectory(prefix="tarnkappe-peer-") as name:
        write(judged, Path(name) / "table.csv", delimiter=";")
        try:
            told = environment.PYCANON.run(
                table=Path(name) / "table.csv", quasi_identifiers=list(FEW), sensitive=SENSITIVE
            )
        except PeerError as error:
            return figures | {"ours": ours, "lines": [{"tool": "pycanon", "failed": str(error)}]}
    theirs = told["found"]
    length = int(theirs["recursive_l"])
    if length >= 2:
        report = tarnkappe.check(
            judged,
            quasi_identifiers=list(FEW),
            sensitive=[SENSITIVE],
            models=[RecursiveDiversity(SENSITIVE, 1, length)],
        )
        ours |= {"recursive_l": length, "recursive_c": report.verdicts[0].value}
    return figures | {"ours": ours, "lines": [{"tool": "pycanon", **told}]}


def _tell(figures: Figures) -> Story:
    line, ours = figures["lines"][0], figures["ours"]
    if "failed" in line:
        return Story(
            (Grid("Ours", ("measure", "value"), tuple((k, number(v)) for k, v in ours.items())),),
            "There is nothing to compare with.",
            failures(figures),
        )
    theirs = line["found"]
    names = {
        "k": "k",
        "distinct_l": "distinct l",
        "entropy_l": "entropy l",
        "t_equal": "t, equal distances",
        "recursive_c": f"c of recursive (c,{number(ours.get('recursive_l'))})-diversity: more than",
    }
    rows = tuple(
        (text, number(ours.get(key)), number(theirs.get(key))) for key, text in names.items() if key in theirs
    )
    apart = (
        "pycanon rounds entropy l down to a whole number.",
        "pycanon's c is computed from counts sorted upwards; by the definition c must exceed "
        f"{number(ours.get('recursive_c'))}, and it says {number(theirs['recursive_c'])}.",
    )
    return Story(
        (
            Grid(
                f"A 5-anonymous release of four columns, {number(figures['rows'])} rows",
                ("measure", "tarnkappe", f"pycanon {line['version']}"),
                rows,
            ),
            Grid(
                "Cost",
                ("tool", "time", "memory"),
                (
                    (
                        "tarnkappe (all measures and attacks)",
                        seconds(figures["seconds"]),
                        f"{figures['megabytes']:.0f} MB",
                    ),
                    ("pycanon (the five above)", seconds(line["seconds"]), f"{line['megabytes']:.0f} MB"),
                ),
            ),
        ),
        f"Ours takes {ratio(figures['seconds'] / line['seconds'])} the time, and recursive diversity is where they "
        "disagree.",
        apart,
    )


EXPERIMENT = Experiment(
    "measures",
    "What a table promises, by pycanon",
    "The same 5-anonymous release of Adult, measured by both.",
    "pycanon's report takes 61 s on Adult.",
    _measure,
    _tell,
)
