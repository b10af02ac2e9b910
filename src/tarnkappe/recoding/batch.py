"""Models on classes asked of many possible classes at once, before any of them is made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.privacy import Model, needed_distributions
from tarnkappe.table import Classes, Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import group_codes, sort_pairs_by_group, sum_by_group


class Batch:
    """Asks some models. Sensitive values are compared with those of the whole table."""

    def __init__(self, rows: Tuples, models: Sequence[Model]) -> None:
        self._rows, self._models = rows, models
        names = needed_distributions(models)
        self._whole = rows.classes((), distributions=names).distributions
        self._visible = {each: rows.visible_counts(each) for each in names}

    def judge(self, rows: Counts, parts: Codes, num_parts: int) -> tuple[Counts, Mask]:
        """The size of each part, and whether all models allow it to be a class.

        Args:
            rows: some rows of the table.
            parts: the part that each of them would be in.
            num_parts: how many parts there are.
        """
        everyone = self._rows
        representatives = np.zeros(num_parts, np.int64)
        representatives[parts] = rows
        population = everyone.population
        classes = Classes(
            tuples=everyone,
            quasi_identifiers=(),
            levels=(),
            sizes=sum_by_group(parts, everyone.counts[rows], num_parts),
            population=None if population is None else sum_by_group(parts, population[rows], num_parts),
            representatives=representatives,
            distributions={names: self._count(names, rows, parts, num_parts) for names in self._whole},
        )
        good = classes.released.copy()
        for model in self._models:
            good &= model.holds(classes)
        return classes.sizes, good

    def _count(self, names: tuple[str, ...], rows: Counts, parts: Codes, num_parts: int) -> Distribution:
        whole = self._whole[names]
        codes = whole.column.codes[rows]
        pairs = group_codes([parts, codes], [num_parts, whole.column.cardinality])
        counts = sum_by_group(pairs.ids, self._visible[names][rows], pairs.num_groups)
        occurring = np.flatnonzero(counts)
        first = pairs.representatives[occurring]
        order, offsets = sort_pairs_by_group(parts[first], num_parts)
        return Distribution(
            whole.column, whole.totals, offsets, codes[first][order], counts[occurring][order]
        )
