"""Generalization under privacy models in an engine: count, search as a job does, join, and verify there.

The engine counts the combinations of quasi-identifiers and sensitive values. The search is that of
`tarn anonymize`, on these combinations. Its result says for each combination of quasi-identifiers what is
written, and becomes a table that the engine joins; what is suppressed is not in it. Then the engine counts
the labels beside the sensitive values again, and the models are asked of these counts by their own queries.
"""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from tarnkappe.algebra.lowering.rows import LoweredRows
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.world import World
from tarnkappe.engines.statements import unused
from tarnkappe.errors import HierarchyError, NoSolutionError, ParameterError, VerificationError
from tarnkappe.lattice import AutoSearch, SearchProblem
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, Model
from tarnkappe.privacy.verify import Verification, verify
from tarnkappe.recoding.local import LocalRecoding
from tarnkappe.recoding.recode import CellTreatment, Recoded, Suppression, recode
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import as_text, encode_column


def models_of(plan: ModelGeneralization) -> tuple[Model, ...]:
    """What every class has to meet, as a job would state it."""
    found = [MODELS.create("k-anonymity", {"k": plan.k})] if plan.k > 1 else []
    for column, kind, numbers in plan.diversity:
        *c, least = numbers
        stated: dict[str, Any] = {"column": column, "l": float(least) if kind == "entropy" else int(least)}
        found.append(MODELS.create(f"{kind}-diversity", stated | ({"c": float(c[0])} if c else {})))
    for column, t in plan.closeness:
        found.append(MODELS.create("equal-closeness", {"column": column, "t": float(t)}))
    return tuple(found)


def generalized_under_models(
    rows: LoweredRows, plan: ModelGeneralization, world: World, site: EngineSnapshot
) -> tuple[LoweredRows, list[Verification]]:
    """The rows with the columns `by` as labels, without those that are suppressed; and what was verified."""
    by, sensitive = list(plan.by), sorted(plan.sensitive)
    before = _counted(rows, [*by, *sensitive], site)
    problem = _problem(before, plan, world)
    found = _recoded(problem, plan)
    table, lifted = rows.table, {}
    lifts = site.upload(_mapping(before, problem, found))
    matches = []
    for n, name in enumerate(by):
        cell, value = rows.cell(name), lifts[f"v{n}"]
        has_missing = before.column(name).null_count > 0
        matches.append(cell.identical_to(value) if has_missing else cell == value)
        lifted[name] = lifts[f"s{n}"]
    written = rows.changed(table.join(lifts, matches), lifted)
    after = _counted(written, [*by, *sensitive], site)
    return written, _verified(before, after, problem)


def _counted(rows: LoweredRows, names: list[str], site: EngineSnapshot) -> pa.Table:
    """How often each combination of some columns occurs; the number stands last."""
    if len({name.casefold() for name in names}) < len(names):
        raise ParameterError(
            "algebra.two-columns-differ-case",
            "two columns differ in the case of their letters alone: rename one below",
        )
    keys = rows.table.select(**{f"g{n}": rows.cell(name) for n, name in enumerate(names)})
    counted = keys.group_by(list(keys.columns)).aggregate(n=keys.count())
    return site.fetch(counted, "counting").rename_columns([*names, unused("n", names)])


def _problem(counted: pa.Table, plan: ModelGeneralization, world: World) -> SearchProblem:
    counts = counted.columns[-1].cast(pa.int64()).to_numpy().astype(np.int64)
    if counts.sum() < plan.k:
        raise NoSolutionError(
            "algebra.modelled-generalization-k-needs-least-rows",
            "a generalization to k = {k} needs at least {k} rows; there {sum:is|are} {sum}",
            k=plan.k,
            sum=int(counts.sum()),
        )
    columns = {name: encode_column(name, counted.column(name)) for name in counted.column_names[:-1]}
    for name in plan.by:
        try:
            columns[name] = world.hierarchies[name].attach(columns[name])
        except HierarchyError as error:
            raise HierarchyError(
                "algebra.add-line-every-value",
                "'{name}': {error}: add a line for every value",
                name=name,
                error=error,
            ) from None
    tuples = Tuples(columns, counts)
    loss = LOSSES.create(plan.loss, {})
    return SearchProblem(tuples, plan.by, models_of(plan), loss, float(plan.suppress))


def _recoded(problem: SearchProblem, plan: ModelGeneralization) -> Recoded:
    search = AutoSearch() if plan.method == "global" else LocalRecoding(AutoSearch())
    solution = search.run(problem)
    if solution.stopped == "interrupted":
        raise KeyboardInterrupt
    if solution.best is None:
        raise NoSolutionError(
            "algebra.no-levels-hierarchies-meet",
            "no levels of the hierarchies meet what the generalization asks for: ask for less, or allow to "
            "suppress more",
        )
    nodes = solution.passes or (solution.best.node,)
    treatment = CellTreatment(suppression=Suppression.parse(plan.suppression))
    return recode(
        problem.tuples, problem.quasi_identifiers, nodes, problem.models, treatment, problem.distributions
    )


def _mapping(counted: pa.Table, problem: SearchProblem, found: Recoded) -> pa.Table:
    """For each combination of quasi-identifiers that stays, how it is written."""
    keys = np.stack([problem.tuples.columns[name].codes for name in problem.quasi_identifiers])
    _, first = np.unique(keys, axis=1, return_index=True)
    first = first[found.released[first]]
    places = pa.array(first, pa.int64())
    columns: dict[str, pa.ChunkedArray | pa.Array] = {}
    for n, name in enumerate(problem.quasi_identifiers):
        written = found.written[name]
        columns[f"v{n}"] = counted.column(name).take(places)
        columns[f"s{n}"] = as_text(written.values).take(pa.array(written.codes[first], pa.int32()))
    return pa.table(columns)


def _verified(before: pa.Table, after: pa.Table, problem: SearchProblem) -> list[Verification]:
    """What the models find in the counts of the engine, before and after.

    Raises:
        VerificationError: a model does not hold, or too many rows are gone; nothing is handed over.
    """
    number = before.column_names[-1]
    with duckdb.connect(config={"temp_directory": ""}) as connection:
        connection.register("written", after)
        connection.register("input", before)
        found = verify(
            connection,
            problem.models,
            problem.quasi_identifiers,
            release="written",
            input_table="input",
            weight=number,
        )
        ((left,),) = connection.execute(
            f"SELECT (SELECT sum({number}) FROM input) - coalesce((SELECT sum({number}) FROM written), 0)"
        ).fetchall()
    broken = [each.model.name for each in found if not each.holds]
    if broken or left > problem.limit:
        what = ", ".join(broken) or "the share of rows that may be suppressed"
        raise VerificationError(
            "algebra.generalized-rows-not-keep",
            "the generalized rows do not keep {what}; nothing is handed over",
            what=what,
        )
    return found
