"""What other ciphers and dictionaries save."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any

from benchmarks import federated
from benchmarks.bars import draw_bars
from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.federated import HORIZONTAL, RING, VERTICAL, K
from benchmarks.texts import megabytes, number, ratio, seconds, share
from tarnkappe.federation.ciphers import GROUPS
from tarnkappe.table.encoding import Progress


def _rate(work: Callable[[], object], number_of: int) -> float:
    start = time.perf_counter()
    work()
    return number_of / (time.perf_counter() - start)


def _measure(size: Size, progress: Progress | None) -> Figures:
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
    runs: list[dict[str, Any]] = []
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


def _tell(figures: Figures) -> Story:
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


EXPERIMENT = Experiment(
    "optimizations",
    "Ciphers and dictionaries",
    "Commutative operations in every group that is offered and in plain Python; the ring with a curve and with "
    "powers modulo a prime; dictionaries against every cell.",
    "Protocol A on Adult, vertical: 15 min in plain Java, 3 min with GMP, 50 s with four threads, 30 s with a "
    "curve; traffic 44 MB with powers, 12.3 MB with a curve and compression.",
    _measure,
    _tell,
)
