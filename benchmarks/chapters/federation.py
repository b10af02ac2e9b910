"""Several sites, one release: time and traffic of the protocols, what the cost model says, and the baselines."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any

from benchmarks import federated
from benchmarks.bars import draw_bars
from benchmarks.chapter import Chapter, Experiment, Figures, Grid, Size, Story
from benchmarks.problems import SENSITIVE, source
from benchmarks.texts import megabytes, number, ratio, seconds, share
from tarnkappe.bench import federation
from tarnkappe.errors import ParameterError
from tarnkappe.federation.baselines import anonymize_in_turns, anonymize_then_concatenate
from tarnkappe.federation.ciphers import GROUPS
from tarnkappe.federation.ciphers.paillier import RECOMMENDED_BITS
from tarnkappe.federation.contract import Distribution, Protocol
from tarnkappe.federation.cost import Speed, Workload, estimate
from tarnkappe.lattice import Auto, Problem
from tarnkappe.loss import Entropy
from tarnkappe.privacy import KAnonymity, Model, RecursiveDiversity
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import Progress, encode_column

RING, STAR, MASKED = Protocol.RING, Protocol.STAR, Protocol.MASKED
HORIZONTAL, VERTICAL = Distribution.HORIZONTAL, Distribution.VERTICAL
LETTER = {RING: "A", STAR: "B", MASKED: "C"}
K = 5

# ------------------------------------------------------------------------------------------ time and traffic

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


def _measure_protocols(size: Size, progress: Progress | None) -> Figures:
    lines = []
    jobs = [(p, d, n) for p in (STAR, RING, MASKED) for d in (HORIZONTAL, VERTICAL) for n in (2, 3)]
    for done, (protocol, distribution, parties) in enumerate(jobs):
        if size is Size.SHORT and (parties == 2 or (protocol, distribution) == (MASKED, VERTICAL)):
            continue
        if progress:
            progress("protocols", done, len(jobs), f"{protocol} {distribution} {parties}")
        data = federated.adult_rows(size.pick(200 if protocol is MASKED else 600, None))
        line: dict[str, Any] = {
            "protocol": str(protocol), "distribution": str(distribution), "parties": parties,
        }  # fmt: skip
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
    return {"source": source(), "rows": data.num_rows, "counter_bits": bits, "lines": lines}


def _tell_protocols(figures: Figures) -> Story:
    done = [x for x in figures["lines"] if "refused" not in x]
    refused = [x for x in figures["lines"] if "refused" in x]
    rows = tuple(
        (
            f"{LETTER[Protocol(x['protocol'])]}, {x['protocol']}",
            x["distribution"],
            str(x["parties"]),
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
                f"{number(figures['rows'])} rows of {figures['source']}, k = {K}",
                ("protocol", "distribution", "parties", "time", "reported", "traffic", "reported", "tests"),
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


# --------------------------------------------------------------------------------- the published estimates

DATA = {
    "ADULT": (30_162, 9, 166, 169, 353),
    "CUP": (63_441, 8, 14_407, 40, 4808),
    "FARS": (100_937, 8, 238, 135, 1464),
    "ATUS": (539_253, 9, 299, 557, 1170),
    "IHIS": (1_193_504, 9, 186, 295, 6376),
}
"""Rows, columns, distinct values, tests and groups of a test."""
SPEEDS = {
    RING: Speed(3000, 88e6, 192),
    STAR: Speed(3_000_000, 88e6, 128),
    MASKED: Speed(3240, 88e6, 128, 768, shared_tests=True),
}
PRINTED = {
    RING: ((21, 32, 1, 1), (58, 85, 20, 31), (69, 105, 1, 3), (369, 560, 7, 13), (816, 1239, 14, 28)),
    STAR: (
        (0.32, 0.37, 0.20, 0.20), (0.66, 0.77, 0.47, 0.49), (0.99, 1.17, 0.59, 0.59), (5.67, 6.65, 3.53, 3.53),
        (12.55, 14.72, 7.81, 7.81),
    ),
    MASKED: ((43, 37, 37, 29), (112, 93, 99, 76), (143, 124, 123, 97), (647, 584, 539, 435), (1557, 1376, 1318, 1048)),
}  # fmt: skip
RUNS = ((VERTICAL, 2), (VERTICAL, 3), (HORIZONTAL, 2), (HORIZONTAL, 3))


def _measure_model(size: Size, progress: Progress | None) -> Figures:
    del size, progress
    lines = []
    for protocol, speed in SPEEDS.items():
        for (name, (rows, columns, distinct, tests, groups)), printed in zip(
            DATA.items(), PRINTED[protocol], strict=True
        ):
            computed = [
                estimate(
                    protocol, d, Workload(n, rows, columns, distinct, rows // 4, tests, groups), speed
                ).seconds
                for d, n in RUNS
            ]
            lines.append(
                {"protocol": str(protocol), "data": name, "computed": computed, "printed": list(printed)}
            )
    return {"lines": lines}


def _tell_model(figures: Figures) -> Story:
    rows = tuple(
        (
            LETTER[Protocol(x["protocol"])],
            x["data"],
            *(
                f"{number(float(f'{a:.3g}'))} / {number(b)}"
                for a, b in zip(x["computed"], x["printed"], strict=True)
            ),
        )
        for x in figures["lines"]
    )
    off = [
        abs(a / b - 1)
        for x in figures["lines"]
        for a, b in zip(x["computed"], x["printed"], strict=True)
        if b >= 10
    ]
    return Story(
        (
            Grid(
                "Seconds, computed / printed",
                ("protocol", "data", "vertical 2", "vertical 3", "horizontal 2", "horizontal 3"),
                rows,
            ),
        ),
        f"The published estimates of ten seconds and more are reproduced within {share(max(off))}.",
        (
            "The printed formulas multiply operations by a rate; only dividing reproduces the printed tables. Printed "
            "sizes of C leave out a factor, and its times need the test that parties share.",
        ),
    )


# ----------------------------------------------------------------------------------- ciphers and dictionaries


def _rate(work: Callable[[], object], number_of: int) -> float:
    start = time.perf_counter()
    work()
    return number_of / (time.perf_counter() - start)


def _measure_options(size: Size, progress: Progress | None) -> Figures:
    some = size.pick(30, 400)
    rates: dict[str, dict[str, float]] = {}
    for group in GROUPS:
        cipher = group()
        key = cipher.new_key()
        elements = cipher.embed(b"book", [secrets.token_bytes(8) for _ in range(some)])
        rates[group.name] = {
            "operations": _rate(lambda c=cipher, k=key, e=elements: c.apply(k, e), some),  # type: ignore[misc]
            "bytes": cipher.size,
        }
    prime = 2**2048 - 1942289  # any odd number of the length will do for a rate
    base, exponent = secrets.randbits(2047), secrets.randbits(256)
    rates["plain Python, 2048 bits"] = {
        "operations": _rate(lambda: [pow(base + n, exponent, prime) for n in range(20)], 20),
        "bytes": 256,
    }
    rows = size.pick(600, 10_000)
    data = federated.adult_rows(rows)
    runs = []
    for name in size.pick(("ristretto255",), ("ristretto255", "pohlig-hellman-2048")):
        for distribution in (HORIZONTAL, VERTICAL):
            if progress:
                progress("ring", len(runs), 4, f"{name} {distribution}")
            contract = federated.agreed(RING, distribution, data, 3, K, group=name)
            split = federated.horizontal if distribution is HORIZONTAL else federated.vertical
            found = federated.run(contract, split(data, 3))
            runs.append(
                {
                    "group": name,
                    "distribution": str(distribution),
                    "seconds": found["seconds"],
                    "bytes": found["bytes"],
                }
            )
    cells = 3 * data.num_rows * data.num_columns
    distinct = 3 * sum(len(data.column(name).unique()) for name in data.column_names)
    return {"rates": rates, "rows": rows, "runs": runs, "cells": cells, "distinct": distinct}


def _tell_options(figures: Figures) -> Story:
    rates, runs = figures["rates"], figures["runs"]
    curve = rates["ristretto255"]["operations"]
    plain = rates["plain Python, 2048 bits"]["operations"]
    return Story(
        (
            Grid(
                "Commutative operations",
                ("cipher", "a second and core", "bytes of a cell"),
                tuple(
                    (name, number(round(x["operations"])), number(x["bytes"])) for name, x in rates.items()
                ),
            ),
            Grid(
                f"Ring of three, {number(figures['rows'])} rows",
                ("group", "distribution", "time", "traffic"),
                tuple(
                    (x["group"], x["distribution"], seconds(x["seconds"]), megabytes(x["bytes"]))
                    for x in runs
                ),
            ),
            Grid(
                "Operations of the horizontal encryption",
                ("", "operations"),
                (
                    ("every cell", number(figures["cells"])),
                    ("distinct values (dictionary)", number(figures["distinct"])),
                ),
            ),
        ),
        f"The curve is {ratio(curve / plain)} as fast as powers of 2048 bits in plain Python, and dictionaries save "
        f"{share(1 - figures['distinct'] / figures['cells'])} of the horizontal operations.",
        (
            "Compression is reported to save 11 to 65 % of the traffic. It is not offered: the length of a compressed "
            "message depends on what it says.",
        ),
        draw_bars(
            "Commutative operations a second and core",
            {name: {"": x["operations"]} for name, x in rates.items()},
            "operations",
            logarithmic=True,
        ),
    )


# ---------------------------------------------------------------------------------------------- baselines

REPORTED_SHARES = {
    ("k", "vertical", 2): 0.50,
    ("k", "vertical", 3): 0.45,
    ("k", "horizontal", 2): 0.92,
    ("k", "horizontal", 3): 0.97,
    ("l", "horizontal", 2): 0.70,
    ("l", "horizontal", 3): 0.68,
}


def _measure_baselines(size: Size, progress: Progress | None) -> Figures:
    data = federated.adult_rows(size.pick(2000, None))
    everything = federated.rules()
    known = {name: rule for name, rule in everything.items() if name != SENSITIVE}
    criteria: dict[str, tuple[tuple[Model, ...], Any]] = {
        "k": ((KAnonymity(K),), everything),
        "l": ((RecursiveDiversity(SENSITIVE, c=4, l=3),), known),
    }
    lines = []
    for letters, distribution, parties in REPORTED_SHARES:
        models, rules = criteria[letters]
        if progress:
            progress("baselines", len(lines), len(REPORTED_SHARES), f"{letters} {distribution} {parties}")
        limit = 0.03 if distribution == "horizontal" else 0.0
        columns = [encode_column(name, data.column(name)) for name in data.column_names]
        rows = Tuples.of_rows([rules[c.name].attach(c) if c.name in rules else c for c in columns])
        names = tuple(name for name in data.column_names if name in rules)
        best = Auto().run(Problem(rows.distinct(), names, models, Entropy(), limit)).best
        assert best is not None
        if distribution == "horizontal":
            baseline = anonymize_then_concatenate(
                federated.horizontal(data, parties), rules, models, Entropy(), limit
            )
        else:
            baseline = anonymize_in_turns(
                federated.vertical(data, parties), federated.KEY, rules, models, Entropy()
            )
        lines.append(
            {
                "criterion": letters,
                "distribution": distribution,
                "parties": parties,
                "central": best.loss,
                "baseline": baseline.loss,
                "share": best.loss / baseline.loss,
            }
        )
    return {"source": source(), "rows": data.num_rows, "lines": lines}


def _tell_baselines(figures: Figures) -> Story:
    rows = tuple(
        (
            {"k": "5-anonymity", "l": "recursive (4,3)-diversity"}[x["criterion"]],
            x["distribution"],
            str(x["parties"]),
            number(x["central"]),
            number(x["baseline"]),
            share(x["share"]),
            share(REPORTED_SHARES[x["criterion"], x["distribution"], x["parties"]]),
        )
        for x in figures["lines"]
    )
    upright = [x for x in figures["lines"] if x["distribution"] == "vertical"]
    least = min(x["share"] for x in upright)
    return Story(
        (
            Grid(
                f"Entropy, {number(figures['rows'])} rows of {figures['source']}",
                (
                    "criterion",
                    "distribution",
                    "parties",
                    "central",
                    "baseline",
                    "central to baseline",
                    "reported",
                ),
                rows,
            ),
        ),
        f"Anonymizing at home and putting the parts together loses more: vertically the protocols leave "
        f"{share(least)} of that loss.",
        (
            "Who starts vertically, how suppression is split and how a union of several levels is measured were not "
            "published. Here parties go in the published order, nothing is suppressed vertically, and the loss of a "
            "union is counted cell by cell over the rows that are left, so horizontal shares can exceed 100 %: parties "
            "may choose different levels, which is local recoding, and each suppresses its own outliers.",
            "Vertical diversity is left out: the party that starts does not have the sensitive column.",
        ),
        draw_bars(
            "Loss of the central release as a share of the baseline's",
            {
                f"{x['criterion']}, {x['distribution']}, {x['parties']}": {
                    "ours": 100 * x["share"],
                    "reported": 100 * REPORTED_SHARES[x["criterion"], x["distribution"], x["parties"]],
                }
                for x in figures["lines"]
            },
            "%",
        ),
    )


# ------------------------------------------------------------------------------------- the related method


def _measure_related(size: Size, progress: Progress | None) -> Figures:
    """What DkA would have to do: Datafly, and after every step all secure intersections of classes."""
    del progress
    data = federated.adult_rows(size.pick(2000, None))
    rules = federated.rules()
    rows = Tuples.of_rows(
        [rules[name].attach(encode_column(name, data.column(name))) for name in data.column_names]
    )
    mine = [name for name in data.column_names if name in federated.OWNERS[2][0]]
    lines = []
    for k in (20, 50, 100):
        level = dict.fromkeys(data.column_names, 0)
        steps, operations = 0, 0.0
        while True:
            first = rows.classes(mine, [level[name] for name in mine])
            theirs = [name for name in data.column_names if name not in mine]
            second = rows.classes(theirs, [level[name] for name in theirs])
            # One encrypted mark for each person and class, added up by the other, one sum for each pair.
            operations += 2.0 * len(first.sizes) * data.num_rows + len(first.sizes) * len(second.sizes)
            steps += 1
            together = rows.classes(list(level), list(level.values()))
            can_rise = [name for name in level if level[name] < rules[name].height]
            if together.sizes.min() >= k or not can_rise:
                break
            most = max(can_rise, key=lambda name: len(rows.columns[name].levels.labels[level[name]]))  # type: ignore[union-attr]
            level[most] += 1
        lines.append({"k": k, "steps": steps, "operations": operations, "days": operations / 3000 / 86_400})
    return {"rows": data.num_rows, "lines": lines}


def _tell_related(figures: Figures) -> Story:
    reported = {20: "5 days", 50: "6 days", 100: "8 days"}
    rows = tuple(
        (str(x["k"]), number(x["steps"]), f"{x['operations']:.2g}", f"{x['days']:.2g} days", reported[x["k"]])
        for x in figures["lines"]
    )
    return Story(
        (
            Grid(
                f"Two parties, vertical, {number(figures['rows'])} rows, 3,000 operations a second",
                ("k", "tests", "operations", "estimated", "reported"),
                rows,
            ),
        ),
        f"Days of ciphers (about {max(x['days'] for x in figures['lines']):.2g}) against seconds of the protocols "
        "above, for the same guarantee.",
        (
            "The reported estimate does not say how its columns are split or its operations counted; ours counts one "
            "encrypted mark for each person and class of the first party, one addition for each, and one "
            "decryption for each pair of classes, after every step of Datafly.",
        ),
    )


# ------------------------------------------------------------------------------------------ large tables


def _measure_large(size: Size, progress: Progress | None) -> Figures:
    small = {"rows": 5000, "operations": 50, "tested_rows": 200, "compared_rows": 1000, "counter_bits": 512}
    return federation.run(progress, **size.pick(small, {}))


def _tell_large(figures: Figures) -> Story:
    plain = {k: v for k, v in figures.items() if isinstance(v, (int, float))}
    rows = tuple(
        (name.replace("_", " "), seconds(value) if name.endswith("seconds") else number(value))
        for name, value in plain.items()
    )
    return Story(
        (Grid("Measured", ("", "figure"), rows),),
        f"On {number(figures['ihis_rows'])} rows the star takes {ratio(figures['ihis_star_ratio'])} the time of one "
        "house with all the data.",
    )


CHAPTER = Chapter(
    "federation",
    "Several sites, one release",
    "Protocols A (ring), B (star) and C (masked star) give the release of a central search without anybody seeing "
    "the rows of others. All parties run in one process, one after the other; a time is that of the busiest party "
    "and of the helper, without a network.",
    (
        Experiment(
            "protocols",
            "Time and traffic of A, B and C",
            "Adult, nine quasi-identifiers, 5-anonymity without suppression, both distributions, two and three parties; "
            "default ciphers. The cost model is calibrated on this machine.",
            "On four desktops of 2012 with 100 Mbit/s; figures in the table. 13 of 20 estimates of A within 2 s; B "
            "within 1 to 16 %.",
            _measure_protocols,
            _tell_protocols,
        ),
        Experiment(
            "cost-model",
            "The published estimates",
            "The cost model with the published rates (3,000 commutative, 3,000,000 symmetric and 3,240 homomorphic "
            "operations a second, 88 Mbit/s) for five data sets.",
            "Three tables of estimates, printed beside ours.",
            _measure_model,
            _tell_model,
        ),
        Experiment(
            "optimizations",
            "Ciphers and dictionaries",
            "Commutative operations in every group that is offered and in plain Python; the ring with a curve and with "
            "powers modulo a prime; dictionaries against every cell.",
            "Protocol A on Adult, vertical: 15 min in plain Java, 3 min with GMP, 50 s with four threads, 30 s with a "
            "curve; traffic 44 MB with powers, 12.3 MB with a curve and compression.",
            _measure_options,
            _tell_options,
        ),
        Experiment(
            "baselines",
            "Anonymize at home, then put together",
            "5-anonymity and recursive (4,3)-diversity with entropy; horizontally each party by itself with 3 % "
            "suppression, vertically in turns without.",
            "Loss of the protocols as a share of the baseline's: Adult 45 to 97 %; over five data sets always below 100 %.",
            _measure_baselines,
            _tell_baselines,
        ),
        Experiment(
            "related",
            "The related method DkA",
            "Operations of secure intersections after every step of Datafly, at a generous 3,000 a second.",
            "5, 6 and 8 days for k = 20, 50 and 100.",
            _measure_related,
            _tell_related,
        ),
        Experiment(
            "large",
            "A large table by star",
            "Adult by star and ring, and 1.2 million made-up rows in the shape of IHIS by star, three parties.",
            "B on IHIS: about 13 s vertically and 8 s horizontally, on top of 92 s of anonymization.",
            _measure_large,
            _tell_large,
            federation.LIMITS,
        ),
    ),
)
