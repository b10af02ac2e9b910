"""The two tables of an Anatomy release, as its attackers read them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import ColumnError
from tarnkappe.risk.attacks.target import Target
from tarnkappe.table import Table
from tarnkappe.table.encoding import as_text


class AnatomyTables:
    """The two tables of an Anatomy release: quasi-identifiers with groups, and values with groups."""

    def __init__(self, target: Target) -> None:
        first, second = target.background.rows, target.background.sensitive_table
        assert first is not None
        assert second is not None
        shared = [name for name in first.column_names if name in second.column_names]
        values = [name for name in second.column_names if name not in shared and name != "count"]
        if len(shared) != 1 or len(values) != 1:
            raise ColumnError(
                "risk.two-tables-anatomy-release",
                "the two tables of an Anatomy release must share one column, the group, and the second must"
                " have one more, the sensitive value (and at most a column 'count')",
            )
        if shared[0] in first.quasi_identifiers:
            raise ColumnError(
                "risk.group-anatomy-release-no-quasi",
                "the group '{shared}' of an Anatomy release is no quasi-identifier",
                shared=shared[0],
            )
        self.column = values[0]
        repeats = (
            np.ones(second.num_rows, np.int64) if "count" not in second.column_names else _numbers(second)
        )
        self.groups = _texts(first, shared[0])
        self.groups_of_values = _repeated(_texts(second, shared[0]), repeats)
        self.all_values = _repeated(_texts(second, self.column), repeats)

    @cached_property
    def _values(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for group, value in zip(self.groups_of_values, self.all_values, strict=True):
            found.setdefault(group, set()).add(value)
        return found

    def values(self, group: str) -> list[str]:
        """The values of a group, in alphabetical order."""
        return sorted(self._values.get(group, ()))


def _texts(table: Table, name: str) -> list[str]:
    column = as_text(table.data.column(name).combine_chunks())
    return [text or "" for text in column.to_pylist()]


def _numbers(table: Table) -> npt.NDArray[np.int64]:
    return np.asarray(table.data.column("count").cast("int64").to_numpy(), dtype=np.int64)


def _repeated(texts: list[str], times: npt.NDArray[np.int64]) -> list[str]:
    return [text for text, number in zip(texts, times.tolist(), strict=True) for _ in range(number)]
