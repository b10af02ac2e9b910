"""One sequence of queries through one strategy of the gate: what it cost, query by query."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

from tarnkappe.errors import VerificationError
from tarnkappe.gate import Answer, CloneMatching, Gate, Knowledge, Population, Strategy
from tarnkappe.gate.certificate import certify
from tarnkappe.gate.delta_top.strategy import TableStrategy
from tarnkappe.gate.exact_test import settle
from tarnkappe.gate.pool import Pool
from tarnkappe_bench.gate_workloads import SETUPS
from tarnkappe_bench.plain_delta_top import PlainDeltaTop
from tarnkappe_bench.plain_extension import clone_matching

CLOCK = time.process_time
"""The gate decides in one thread: its processor time is what a query takes on an idle machine."""
POINTS = 20
"""How many points a curve has."""

Work = tuple[Population, list[list[int]]]


def exact_signatures(seeds: int) -> dict[str, Any]:
    """Setup 1: all exact signatures after every answer."""
    seconds: list[float] = []
    averages: list[list[float]] = []
    betrayed: list[int] = []
    for seed in range(-1, seeds):  # the first run compiles and is not counted
        population, queries = SETUPS["1"].draw(max(seed, 0))
        knowledge = Knowledge(len(population.labels))
        pool = Pool(knowledge)
        number: dict[int, int] = {}
        truth: list[int] = []
        lowest: list[int] = []
        average: list[float] = []
        for query in queries:
            for person in query:
                if person not in number:
                    number[person] = len(number)
                    truth.append(population.secret(person))
            known = np.array(truth, dtype=np.int32)
            members = np.array([number[person] for person in query], dtype=np.int32)
            start = CLOCK()
            knowledge.publish(members, np.bincount(known[members], minlength=knowledge.values))
            pool = pool.carried(known, knowledge.values, 100)
            if not settle(pool):
                raise VerificationError(
                    "bench.exact-test-must-decide", "the exact test must decide everything"
                )
            pool.trim(knowledge.values)
            if seed >= 0:
                seconds.append(CLOCK() - start)
            lowest.append(int(pool.degrees().min()))
            average.append(float(pool.degrees().mean()))
        if seed >= 0:
            betrayed.append(1 + lowest.index(1) if 1 in lowest else len(lowest) + 1)
            averages.append(average)
    return {
        "exact_signatures_queries": len(seconds),
        "exact_signatures_median_seconds": statistics.median(seconds),
        "exact_signatures_worst_seconds": max(seconds),
        "exact_first_average_degree": statistics.mean(average[0] for average in averages),
        "exact_first_degree_1_after": max(betrayed),
        "curve": _means(averages),
    }


def measure(population: Population, queries: list[list[int]], k: int, strategy: Strategy) -> dict[str, Any]:
    """Run a sequence through a gate; what it cost, and what the least possible cost was.

    What the strategy claims is proven afterwards: by its witnesses, or by distributions made from its table.
    """
    gate = Gate(population, k, strategy)
    seconds: list[float] = []
    shares: list[float] = []
    added = least = real = 0
    knows = True
    for query in queries:
        start = CLOCK()
        answer = gate.ask(query)
        seconds.append(CLOCK() - start)
        if not isinstance(answer, Answer):
            raise VerificationError(
                "bench.artificial-values-every-query", "with artificial values every query can be answered"
            )
        added += answer.artificial
        least += answer.least or 0
        knows &= answer.least is not None
        real += len(query)
        shares.append(answer.artificial / len(query))
    if "witnesses" in (state := strategy.state()):
        certify(gate.knowledge, state["witnesses"], k)
    if isinstance(strategy, TableStrategy) and strategy.proven_degrees().min() < k:
        raise VerificationError(
            "bench.table-not-prove-values",
            "the table of '{strategy}' does not prove {k} values for everybody",
            strategy=strategy.name,
            k=k,
        )
    return {
        "added": added,
        "least": least if knows else None,
        "real": real,
        "shares": shares,
        "seconds": seconds,
    }


def together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Several runs as one line of figures.

    `share` is the mean share of artificial to real values, `curve` the mean share by query and
    `largest_share` the largest of these means. A strategy that does not know what was necessary has no
    ratio to it.
    """
    seconds = [s for run in runs for s in run["seconds"]]
    added, real = sum(run["added"] for run in runs), sum(run["real"] for run in runs)
    least = None if any(run["least"] is None for run in runs) else sum(run["least"] for run in runs)
    by_query = np.mean([run["shares"] for run in runs], axis=0)
    return {
        "runs": len(runs),
        "share": added / real,
        "least_share": None if least is None else least / real,
        "largest_share": float(by_query.max()),
        "last_quarter_share": float(by_query[-(len(by_query) // 4 or 1) :].mean()),
        "ratio": None if least is None else (added / least if least else 1.0 + added),
        "median_seconds": statistics.median(seconds),
        "worst_seconds": max(seconds),
        "curve": _means([run["shares"] for run in runs]),
    }


def _means(runs: list[list[float]]) -> list[list[float]]:
    """The mean of several runs by query, as the points of a curve."""
    by_query = np.mean(runs, axis=0)
    ends = np.unique(np.linspace(1, len(by_query), min(POINTS, len(by_query))).round().astype(int))
    starts = [0, *ends[:-1].tolist()]
    return [
        [int(end), round(float(by_query[start:end].mean()), 4)]
        for start, end in zip(starts, ends.tolist(), strict=True)
    ]


def without_criterion(strategy: type[Strategy], seeds: int) -> dict[str, Any]:
    """Setup 1 with an approximation: nothing is refused or added, the degrees fall."""
    seconds: list[float] = []
    averages: list[list[float]] = []
    betrayed: list[int] = []
    for seed in range(-1, seeds):
        population, queries = SETUPS["1"].draw(max(seed, 0))
        gate = Gate(population, 1, strategy(), may_add=False)
        lowest: list[int] = []
        average: list[float] = []
        for query in queries:
            start = CLOCK()
            gate.ask(query)
            if seed >= 0:
                seconds.append(CLOCK() - start)
            degrees = list(gate.degrees().values())
            lowest.append(min(degrees))
            average.append(statistics.mean(degrees))
        averages.append(average)
        betrayed.append(1 + lowest.index(1) if 1 in lowest else len(lowest) + 1)
    return {
        "first_average_degree": statistics.mean(average[0] for average in averages),
        "first_degree_1_after": max(betrayed),
        "median_seconds": statistics.median(seconds),
        "worst_seconds": max(seconds),
        "curve": _means(averages),
    }


def against_plain_python(setup: str, k: int, queries: int, seeds: int = 1) -> dict[str, Any]:
    """Clone matching, compiled and in plain Python, on the same queries: they must decide the same."""
    compiled_seconds = plain_seconds = 0.0
    population, asked = SETUPS[setup].draw(0)
    Gate(population, k, CloneMatching()).ask(asked[0])  # compiles
    for seed in range(seeds):
        population, asked = SETUPS[setup].draw(seed)
        plain = PlainDeltaTop(k, len(population.labels), clone_matching)
        gate = Gate(population, k, CloneMatching())
        number: dict[int, int] = {}
        truth: list[int] = []
        for query in asked[:queries]:
            for person in query:
                if person not in number:
                    number[person] = len(number)
                    truth.append(population.secret(person))
            start = CLOCK()
            added = plain.answer([number[person] for person in query], list(truth), may_add=True)
            middle = CLOCK()
            answer = gate.ask(query)
            compiled_seconds += CLOCK() - middle
            plain_seconds += middle - start
            if added is None or not isinstance(answer, Answer) or added.total() != answer.artificial:
                raise VerificationError(
                    "bench.compiled-strategy-not-decide",
                    "the compiled strategy does not decide as its plain twin",
                )
    return {
        "clone_matching_compiled_seconds": compiled_seconds / (seeds * queries),
        "clone_matching_plain_python_seconds": plain_seconds / (seeds * queries),
        "clone_matching_to_plain_python": compiled_seconds / plain_seconds,
    }
