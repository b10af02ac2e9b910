"""Time and traffic of the three protocols, and what the cost model says of them."""

from __future__ import annotations

from typing import Any

from benchmarks import federated
from benchmarks.bars import draw_bars
from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.federated import HORIZONTAL, LETTER, MASKED, RING, STAR, VERTICAL, K
from benchmarks.problems import source
from benchmarks.texts import megabytes, number, ratio, seconds
from tarnkappe.errors import ParameterError
from tarnkappe.federation.ciphers.paillier import RECOMMENDED_BITS
from tarnkappe.federation.contract import Protocol
from tarnkappe.table.encoding import Progress

REPORTED = {
    ("ring", "vertical", 2): ("20 s", "–"),
    ("ring", "vertical", 3): ("30 s", "12.3 MB"),
    ("ring", "horizontal", 2): ("1 s", "1 MB"),
    ("ring", "horizontal", 3): ("1 s", "2.9 MB"),
    ("star", "vertical", 2): ("0.28 s", "2 MB"),
    ("star", "horizontal", 2): ("0.23 s", "–"),
    ("star", "horizontal", 3): ("0.23 s", "1.4 MB"),
    ("masked", "vertical", 2): ("48 s", "49 MB"),
    ("masked", "vertical", 3): ("44 s", "–"),
    ("masked", "horizontal", 2): ("37 s", "37 MB"),
    ("masked", "horizontal", 3): ("32 s", "–"),
}
"""Time and traffic on Adult; times of A and B without the anonymization itself."""
MASKED_ROWS = {Size.SHORT: 200, Size.FULL: 10_000}
"""Counters of 3,072 bits take minutes, and time and traffic of C grow as its rows."""


def _measure(size: Size, progress: Progress | None) -> Figures:
    lines = []
    jobs = [(p, d, n) for p in (STAR, RING, MASKED) for d in (HORIZONTAL, VERTICAL) for n in (2, 3)]
    for done, (protocol, distribution, parties) in enumerate(jobs):
        if parties == 2 and (protocol is MASKED or size is Size.SHORT):
            continue
        if size is Size.SHORT and (protocol, distribution) == (MASKED, VERTICAL):
            continue
        if progress:
            progress("protocols", done, len(jobs), f"{protocol} {distribution} {parties}")
        data = federated.adult_rows(MASKED_ROWS[size] if protocol is MASKED else size.pick(600, None))
        line: dict[str, Any] = {
            "protocol": str(protocol),
            "distribution": str(distribution),
            "parties": parties,
            "rows": data.num_rows,
        }
        weak = {"counter_bits": 512, "weak_ciphers": True} if size is Size.SHORT else {}
        try:
            contract = federated.agreed(protocol, distribution, data, parties, K, **weak)
        except ParameterError as refused:
            lines.append(line | {"refused": str(refused)})
            continue
        split = federated.horizontal if distribution is HORIZONTAL else federated.vertical
        found = federated.run(contract, split(data, parties))
        whole = federated.central(data, K)
        foretold = federated.foretold(contract, data, found["tests"], found["groups_a_test"])
        lines.append(
            line
            | {key: value for key, value in found.items() if key != "levels"}
            | {
                "same_levels": found["levels"] == whole["levels"],
                "central_seconds": whole["seconds"],
                "foretold_seconds": foretold["computing"],
                "foretold_bytes": foretold["bytes"],
            }
        )
    bits = weak.get("counter_bits", RECOMMENDED_BITS)
    return {"source": source(), "counter_bits": bits, "lines": lines}


def _tell(figures: Figures) -> Story:
    done = [x for x in figures["lines"] if "refused" not in x]
    refused = [x for x in figures["lines"] if "refused" in x]
    rows = tuple(
        (
            f"{LETTER[Protocol(x['protocol'])]}, {x['protocol']}",
            x["distribution"],
            str(x["parties"]),
            number(x["rows"]),
            seconds(x["seconds"]),
            REPORTED.get((x["protocol"], x["distribution"], x["parties"]), ("–", "–"))[0],
            megabytes(x["bytes"]),
            REPORTED.get((x["protocol"], x["distribution"], x["parties"]), ("–", "–"))[1],
            number(x["tests"]) if x["tests"] else "–",
        )
        for x in done
    )
    predicted = tuple(
        (
            f"{x['protocol']}, {x['distribution']}, {x['parties']}",
            seconds(x["foretold_seconds"]),
            seconds(x["seconds"]),
            ratio(x["seconds"] / x["foretold_seconds"]),
            megabytes(x["foretold_bytes"]),
            megabytes(x["bytes"]),
            ratio(x["bytes"] / x["foretold_bytes"]),
        )
        for x in done
    )
    same = all(x["same_levels"] for x in done)
    by = {(x["protocol"], x["distribution"], x["parties"]): x for x in done}
    star = by["star", "horizontal", 3]
    differs = [
        f"Other ciphers than the reported ones: a group of 255 bits instead of 192, counters of "
        f"{figures['counter_bits']} bits instead of 768.",
        "Nothing is compressed: lengths would tell about contents. Codes take as few bytes as they need instead.",
        "Equal horizontal rows travel as one with a counter, so C has no more counters than distinct rows there.",
        "The search is the one that users get, which needs other tests than Flash; times include it.",
    ]
    if refused:
        differs.insert(
            0, "A ring of two is reported and refused here: its master would get its own rows back unmixed."
        )
    return Story(
        (
            Grid(
                f"{figures['source']}, k = {K}; reported for all 30,162 rows",
                (
                    "protocol",
                    "distribution",
                    "parties",
                    "rows",
                    "time",
                    "reported",
                    "traffic",
                    "reported",
                    "tests",
                ),
                rows,
            ),
            Grid(
                "The cost model, with the ciphers timed on this machine",
                ("run", "foretold", "measured", "ratio", "foretold", "measured", "ratio"),
                predicted,
            ),
        ),
        f"{'Every run ends with the levels of the central search' if same else 'Some runs end with other levels'}; "
        f"the star takes {seconds(star['seconds'])} where one house would take {seconds(star['central_seconds'])}.",
        tuple(differs),
        draw_bars(
            "Time by protocol",
            {
                f"{x['protocol']}, {x['distribution']}, {x['parties']}": {
                    "foretold (ciphers only)": x["foretold_seconds"],
                    "measured (all)": x["seconds"],
                }
                for x in done
            },
            "seconds",
            logarithmic=True,
            shown=seconds,
        ),
    )


EXPERIMENT = Experiment(
    "protocols",
    "Time and traffic of A, B and C",
    "Adult, nine quasi-identifiers, 5-anonymity without suppression, both distributions, two and three parties (C: "
    "three, a third of the rows); default ciphers. The cost model is calibrated on this machine.",
    "On four desktops of 2012 with 100 Mbit/s; figures in the table. 13 of 20 estimates of A within 2 s; B "
    "within 1 to 16 %.",
    _measure,
    _tell,
)
