"""The levels of a job whose promise is differential privacy: fixed by the user, or chosen privately.

The promise rests on conditions that a careless job would break without notice, so each is demanded here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import BUILDERS, Hierarchy
from tarnkappe.hierarchy.builder import Builder
from tarnkappe.job.column_plan import ColumnPlan
from tarnkappe.lattice import SearchProblem
from tarnkappe.lattice.private_choice import choose_node
from tarnkappe.loss import Loss, Precision
from tarnkappe.privacy import DifferentialPrivacy, Model
from tarnkappe.table import Role, Table, Tuples
from tarnkappe.table.encoding import Progress

Encode = Callable[[Table], Tuples]
"""The distinct tuples of a table with the levels of its quasi-identifiers."""


def with_private_levels(
    table: Table,
    models: Sequence[Model],
    plans: Mapping[str, ColumnPlan],
    loss: Loss,
    suppression_limit: float,
    encode: Encode,
    progress: Progress | None = None,
) -> Mapping[str, ColumnPlan]:
    """The plans of a job; with a search budget, those with the levels that were chosen for all rows."""
    promise = next((model for model in models if isinstance(model, DifferentialPrivacy)), None)
    if promise is None or not promise.search_budget:
        return plans
    if len(models) > 1:
        raise ParameterError(
            "job.private-levels-alone",
            "differential-privacy with a search_budget stands alone: what another promise suppresses would "
            "depend on the data",
        )
    require_conditions(table, plans, suppression_limit)
    if loss != Precision():
        raise ParameterError(
            "job.private-levels-precision",
            "levels are chosen privately by how precise the release is expected to be, all columns alike: "
            'write loss = "precision", without weights and further parameters',
        )
    tuples = encode(table)
    limits = {}
    for name in table.quasi_identifiers:
        plan, levels = plans.get(name, ColumnPlan()), tuples.columns[name].levels
        limits[name] = plan.level_limits(0 if levels is None else levels.height)
    names = table.quasi_identifiers
    problem = SearchProblem(tuples, names, tuple(models), loss, suppression_limit, limits)
    node = choose_node(problem, promise, progress)
    chosen = dict(plans)
    for name, level in zip(names, node, strict=True):
        plan = plans.get(name, ColumnPlan(Role.QUASI_IDENTIFIER))
        if not plan.suppressed:
            chosen[name] = dataclasses.replace(plan, level=level, min_level=None, max_level=None)
    return chosen


def require_conditions(table: Table, plans: Mapping[str, ColumnPlan], suppression_limit: float) -> None:
    """Demand what differential privacy by sampling rests on, whoever chooses the levels.

    Raises:
        ParameterError: with what to change.
    """
    unchanged = [n for n in table.column_names if table.roles[n] in (Role.SENSITIVE, Role.INSENSITIVE)]
    if unchanged:
        raise ParameterError(
            "job.differential-privacy-would-released",
            "differential-privacy: {unchanged} would be released unchanged: make every column that is "
            "released a quasi-identifier, and the others identifiers, which are left out",
            unchanged=", ".join(unchanged),
        )
    built = [name for name in table.quasi_identifiers if looks_at_data(plans.get(name, ColumnPlan()))]
    if built:
        raise ParameterError(
            "job.differential-privacy-hierarchy",
            "differential-privacy: the hierarchy of {built} would be made from the data: give a file, or a "
            "builder that says all it does, such as intervals with a width",
            built=", ".join(built),
        )
    if suppression_limit < 1:
        raise ParameterError(
            "job.differential-privacy-set-suppression",
            "differential-privacy: set suppression_limit = 1: refusing to release because too many rows are"
            " suppressed would depend on the data",
        )


def looks_at_data(plan: ColumnPlan) -> bool:
    """Whether the hierarchy of a column may depend on the rows."""
    hierarchy = plan.hierarchy
    if plan.suppressed or isinstance(hierarchy, str | Hierarchy):
        return False
    if isinstance(hierarchy, Mapping):
        options = dict(hierarchy)
        hierarchy = BUILDERS.create(options.pop("builder", "auto"), options)
    return not isinstance(hierarchy, Builder) or hierarchy.looks_at_data
