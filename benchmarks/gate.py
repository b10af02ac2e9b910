"""How fast the gate answers, how many artificial values it needs, and how far from the least that is."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from benchmarks.gate_workloads import SETUPS, adult
from tarnkappe.gate import Answer, Gate, Knowledge, Population, Strategy, WitnessPool
from tarnkappe.gate.certificate import certify
from tarnkappe.gate.exact_test import settle
from tarnkappe.gate.pool import Pool

LIMITS = {
    "exact_signatures_median_seconds": 0.1,
    "exact_signatures_worst_seconds": 1.0,
    "witness_pool_setup_2_ratio": 1.5,
    "witness_pool_setup_3_ratio": 1.5,
    "witness_pool_setup_10_ratio": 1.5,
    "witness_pool_median_seconds": 0.1,
}
"""What `make bench-check` holds us to. A ratio is of artificial values to the least possible number."""


def exact_signatures(seeds: int) -> dict[str, Any]:
    """Setup 1: all exact signatures after every answer."""
    seconds: list[float] = []
    for seed in range(-1, seeds):  # the first run compiles and is not counted
        population, queries = SETUPS["1"].draw(max(seed, 0))
        knowledge = Knowledge(len(population.labels))
        pool = Pool(knowledge)
        number: dict[int, int] = {}
        truth: list[int] = []
        for query in queries:
            for person in query:
                if person not in number:
                    number[person] = len(number)
                    truth.append(population.secret(person))
            known = np.array(truth, dtype=np.int32)
            members = np.array([number[person] for person in query], dtype=np.int32)
            start = time.perf_counter()
            knowledge.publish(members, np.bincount(known[members], minlength=knowledge.values))
            pool = pool.carried(known, knowledge.values, 100)
            if not settle(pool):
                raise AssertionError("the exact test must decide everything")
            pool.trim(knowledge.values)
            if seed >= 0:
                seconds.append(time.perf_counter() - start)
    return {
        "exact_signatures_queries": len(seconds),
        "exact_signatures_median_seconds": statistics.median(seconds),
        "exact_signatures_worst_seconds": max(seconds),
    }


def measure(population: Population, queries: list[list[int]], k: int, strategy: Strategy) -> dict[str, Any]:
    """Run a sequence through a gate; what it cost, and what the least possible cost was."""
    gate = Gate(population, k, strategy)
    seconds: list[float] = []
    shares: list[float] = []
    added = least = real = 0
    for query in queries:
        start = time.perf_counter()
        answer = gate.ask(query)
        seconds.append(time.perf_counter() - start)
        if not isinstance(answer, Answer):
            raise AssertionError("with artificial values every query can be answered")
        added += answer.artificial
        least += answer.least or 0
        real += len(query)
        shares.append(answer.artificial / len(query))
    if "witnesses" in (state := strategy.state()):
        certify(gate.knowledge, state["witnesses"], k)
    return {
        "added": added,
        "least": least,
        "real": real,
        "mean_share": statistics.mean(shares),
        "largest_share": max(shares),
        "seconds": seconds,
    }


def together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Several runs as one line of figures."""
    seconds = [s for run in runs for s in run["seconds"]]
    least, added = sum(run["least"] for run in runs), sum(run["added"] for run in runs)
    return {
        "share": added / sum(run["real"] for run in runs),
        "least_share": least / sum(run["real"] for run in runs),
        "largest_share": max(run["largest_share"] for run in runs),
        "ratio": added / least if least else (1.0 if not added else float("inf")),
        "median_seconds": statistics.median(seconds),
        "worst_seconds": max(seconds),
    }


def adult_data() -> pa.Table:
    """The reference data set if it is here, else a table of the same shape."""
    from tests.conftest import reference_folder

    path = Path(reference_folder()) / "adult" / "adult.csv"
    if path.is_file():
        return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=";"))
    from tarnkappe.table.examples import shaped

    return shaped("ADULT").table.data


def run(seeds: int = 20) -> dict[str, Any]:
    """Measure the exact test on setup 1 and the witness pool on setups 2, 3, 4 and 10."""
    figures = exact_signatures(seeds)
    lines: dict[str, dict[str, Any]] = {}
    for name in ("2", "3-7", "3-6"):
        for k in SETUPS[name].ks:
            runs = [measure(*SETUPS[name].draw(seed), k, WitnessPool()) for seed in range(seeds)]
            lines[f"setup_{name}_k{k}"] = together(runs)
    data = adult_data()
    for k in (5, 7):
        runs = [measure(*adult(data, seed), k, WitnessPool()) for seed in range(max(1, seeds // 10))]
        lines[f"setup_10_k{k}"] = together(runs)
    lines["setup_4_10000_100_k10"] = together([measure(*SETUPS["4-10000-100"].draw(0), 10, WitnessPool())])
    figures["witness_pool"] = lines
    for number in ("2", "3", "10"):
        own = [
            line
            for name, line in lines.items()
            if name.startswith(f"setup_{number}_") or name.startswith(f"setup_{number}-")
        ]
        figures[f"witness_pool_setup_{number}_ratio"] = max(line["ratio"] for line in own)
    figures["witness_pool_median_seconds"] = max(
        line["median_seconds"] for name, line in lines.items() if not name.startswith("setup_4")
    )
    return figures


if __name__ == "__main__":
    import json
    import sys

    print(json.dumps(run(int(sys.argv[1]) if len(sys.argv) > 1 else 20), indent=2))
