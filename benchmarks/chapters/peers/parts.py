"""Noise and ciphers of other packages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.peers import environment
from benchmarks.peers.comparing import failures
from benchmarks.peers.environment import PeerError
from benchmarks.texts import number, ratio, seconds
from tarnkappe.algebra.noisy.mechanisms import laplace
from tarnkappe.federation.ciphers import PrivateKey
from tarnkappe.table.encoding import Progress


def _measure(size: Size, progress: Progress | None) -> Figures:
    del progress
    lines: list[dict[str, Any]] = []
    times, rows = size.pick(50, 1000), 30_162
    start = time.perf_counter()
    noisy = [laplace([rows], 1, Fraction(1))[0] for _ in range(times)]
    took = time.perf_counter() - start
    lines.append(
        {"tool": "tarnkappe (OpenDP)", "part": "count", "each": took / times, "error": _error(noisy, rows)}
    )
    try:
        told = environment.DIFFPRIVLIB.run(rows=rows, epsilon=1.0, times=times)
        lines.append(
            {
                "tool": f"diffprivlib {told['version']}",
                "part": "count",
                "each": told["seconds"] / times,
                "error": _error(told["found"], rows),
            }
        )
    except PeerError as error:
        lines.append({"tool": "diffprivlib", "failed": str(error)})
    bits, numbers = 2048, [n % 5 for n in range(size.pick(20, 200))]
    private = PrivateKey.generate(bits)
    private.public.encrypt([1])  # makes the table of powers
    start = time.perf_counter()
    encrypted = private.public.encrypt(numbers)
    between = time.perf_counter()
    right = private.decrypt(encrypted) == numbers
    end = time.perf_counter()
    lines.append(
        {
            "tool": "tarnkappe",
            "part": "cipher",
            "encrypt": (between - start) / len(numbers),
            "decrypt": (end - between) / len(numbers),
            "right": right,
        }
    )
    try:
        told = environment.PHE.run(bits=bits, numbers=numbers)
        lines.append(
            {
                "tool": f"phe {told['version']}",
                "part": "cipher",
                "encrypt": told["encrypt_seconds"] / len(numbers),
                "decrypt": told["decrypt_seconds"] / len(numbers),
                "right": told["right"] and told["total"] == sum(numbers),
            }
        )
    except PeerError as error:
        lines.append({"tool": "phe", "failed": str(error)})
    return {"times": times, "bits": bits, "lines": lines}


def _error(found: Sequence[float], truth: int) -> float:
    return float(np.mean(np.abs(np.array(found, dtype=float) - truth)))


def _tell(figures: Figures) -> Story:
    counts = [x for x in figures["lines"] if x.get("part") == "count"]
    ciphers = [x for x in figures["lines"] if x.get("part") == "cipher"]
    tables = (
        Grid(
            f"A count with epsilon 1, {figures['times']} times; the mean error should be near 0.85 to 1",
            ("tool", "each", "mean error"),
            tuple((x["tool"], seconds(x["each"]), number(x["error"])) for x in counts),
        ),
        Grid(
            f"Paillier's cipher, {figures['bits']} bits",
            ("tool", "encrypt", "decrypt", "right"),
            tuple(
                (x["tool"], seconds(x["encrypt"]), seconds(x["decrypt"]), "yes" if x["right"] else "no")
                for x in ciphers
            ),
        ),
    )
    faster = ratio(ciphers[1]["encrypt"] / ciphers[0]["encrypt"]) if len(ciphers) > 1 else None
    return Story(
        tables,
        f"Counters are encrypted {faster} as fast as by phe."
        if faster
        else "There is nothing to compare with.",
        (*failures(figures),),
    )


EXPERIMENT = Experiment(
    "parts",
    "Noise and ciphers: diffprivlib and phe",
    "Counts with noise, and counters of the masked protocol.",
    "A count: diffprivlib 0.24 ms, opendp 27 ms. phe: 91 encryptions a second at 2048 bits.",
    _measure,
    _tell,
)
