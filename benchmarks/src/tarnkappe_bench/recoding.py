"""Publishing methods on Adult, and Mondrian on a million rows: seconds, and what is lost."""

from __future__ import annotations

import time
from typing import Any

from tarnkappe.errors import TarnkappeError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.column_plan import plan_columns
from tarnkappe.job.method_run import recode_and_release
from tarnkappe.job.preparation import Preparation, prepare
from tarnkappe.lattice import SEARCHES
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.recoding import METHODS, Method, Mondrian
from tarnkappe.schema import fields_of
from tarnkappe.table.encoding import Progress
from tarnkappe.table.examples import ExampleData, shaped
from tarnkappe_bench.adult import Adult, read_adult, reference_folder
from tarnkappe_bench.yardstick import seconds as median_seconds
from tarnkappe_bench.yardstick import yardstick

LIMITS = {"mondrian_adult_seconds": 1.0, "mondrian_million_seconds": 10.0}
"""What `make bench-check` holds us to."""
K = 5
MILLION = 1_000_000
SHAPE = "IHIS"
PATIENCE = 10.0
"""So many seconds has a method that can stop at any time."""


def run(
    progress: Progress | None = None,
    *,
    rows: int = MILLION,
    repeats: int = 5,
    methods: tuple[str, ...] = METHODS.names,
) -> dict[str, Any]:
    """5-anonymity on Adult by every method, and on a made-up large table by Mondrian.

    A time is that of the recoding alone; beside it stands the same time in yardsticks, and that of the whole
    job from the table in memory to the verified release. The best node is there to compare the loss with.
    """
    adult = read_adult(reference_folder())
    unit = yardstick(adult.table.data)
    ready = _adult(adult)
    best = SEARCHES["auto"]().run(ready.problem)
    assert best.best is not None
    own = median_seconds(lambda: Mondrian().recode(ready.rows, ready.problem), repeats)
    measured = []
    for done, name in enumerate(methods):
        if progress:
            progress("methods on Adult", done, len(methods))
        measured.append(_measure(_patient(METHODS[name]), adult, unit))
    large = _large(shaped(SHAPE, rows=rows))
    start = time.perf_counter()
    regions = Mondrian().recode(large.rows, large.problem)
    million = time.perf_counter() - start
    return {
        "rows": adult.table.num_rows,
        "k": K,
        "yardstick_seconds": unit,
        "mondrian_adult_seconds": own,
        "mondrian_adult_yardsticks": own / unit,
        "mondrian_million_rows": large.table.num_rows,
        "mondrian_million_seconds": million,
        "mondrian_million_yardsticks": million / yardstick(large.table.data, repeats=1),
        "mondrian_million_regions": regions.steps[0],
        "best_node_loss": best.best.loss,
        "methods": measured,
    }


def _adult(adult: Adult) -> Preparation:
    table = adult.table.with_roles(quasi_identifiers=list(adult.table.column_names))
    plans = plan_columns(table, adult.hierarchies, {})
    return prepare(table, plans, [MODELS.create("k-anonymity", {"k": K})], LOSSES.create("loss", {}))


def _large(example: ExampleData) -> Preparation:
    names = list(example.table.column_names)
    table = example.table.with_roles(quasi_identifiers=names, sensitive=[])
    hierarchies = {name: Hierarchy.from_rows(example.hierarchies[name]) for name in names}
    models = [MODELS.create("k-anonymity", {"k": K})]
    return prepare(table, plan_columns(table, hierarchies, {}), models, LOSSES.create("loss", {}))


def _patient(kind: type[Method]) -> Method:
    """The method as users get it, with a time limit if it takes one."""
    timed = any(field.name == "seconds" for field in fields_of(kind))
    return METHODS.create(kind.name, {"seconds": PATIENCE} if timed else {})


def _measure(method: Method, adult: Adult, unit: float) -> dict[str, Any]:
    start = time.perf_counter()
    try:
        result = recode_and_release(_adult(adult), method)
    except TarnkappeError as refused:
        return {"method": method.name, "refused": str(refused)}
    return {
        "method": method.name,
        "seconds": result.seconds["search"],
        "yardsticks": result.seconds["search"] / unit,
        "whole_job_seconds": time.perf_counter() - start,
        "loss": result.loss,
        "classes": result.state.num_kept,
        "suppressed": result.suppressed,
        "optimal": result.solution.optimal,
        "stopped": result.solution.stopped,
    }
