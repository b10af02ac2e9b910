"""Random sampling, for the promise that needs it: differential privacy without noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from tarnkappe.errors import ParameterError
from tarnkappe.job.column_plan import ColumnPlan
from tarnkappe.job.private_levels import require_conditions
from tarnkappe.privacy import DifferentialPrivacy, Model
from tarnkappe.table import Table


def draw_sample(
    table: Table,
    models: Sequence[Model],
    plans: Mapping[str, ColumnPlan],
    suppression_limit: float,
    seed: int | None,
) -> Table:
    """Draw the rows that differential privacy asks for; without that model, all rows.

    The model's promise rests on conditions that a careless job would break without notice, so each is
    demanded here: levels that nobody chose by looking at the data, no column that is released as it is, and
    no refusal to release, since that would depend on the data too.
    """
    for model in models:
        if isinstance(model, DifferentialPrivacy):
            require_conditions(table, plans, suppression_limit)
            _require_fixed_levels(table, plans)
            table = table.with_data(table.data.filter(pa.array(model.draw(table.num_rows, seed))))
    return table


def _require_fixed_levels(table: Table, plans: Mapping[str, ColumnPlan]) -> None:
    searched = [
        name
        for name in table.quasi_identifiers
        if len(set(plans.get(name, ColumnPlan()).level_limits(-1))) > 1
        or not plans.get(name, ColumnPlan()).has_level_limits
    ]
    if searched:
        raise ParameterError(
            "job.differential-privacy-levels-would-searched",
            "differential-privacy: the levels of {searched} would be searched for, which looks at the data:"
            " fix the level of every quasi-identifier, or give a search_budget for a private choice",
            searched=", ".join(searched),
        )
