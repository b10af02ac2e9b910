"""Verification of an answer before it is handed over: from its values, in SQL, whoever computed them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from tarnkappe.algebra.promises import Promise
from tarnkappe.errors import VerificationError


@dataclass(frozen=True)
class Kept:
    """A promise and what was measured of it: the size of the smallest class, None if there are no rows."""

    promise: Promise
    measured: int | None

    def as_dict(self) -> dict[str, object]:
        """The finding for machines."""
        return {**self.promise.as_dict(), "measured": self.measured}

    def __str__(self) -> str:
        return f"{self.promise}: {'no rows' if self.measured is None else self.measured}"


def verify(answer: pa.Table, promised: Iterable[Promise]) -> tuple[Kept, ...]:
    """Measure every promise in the values of an answer.

    Raises:
        VerificationError: one is broken; then nothing may be handed over.
    """
    found = tuple(Kept(promise, smallest_class(answer, promise.columns)) for promise in promised)
    for kept in found:
        if kept.measured is not None and kept.measured < kept.promise.k:
            raise VerificationError(
                f"the answer is not {kept.promise}, as the query promises: a class has {kept.measured} rows; "
                "nothing is handed over"
            )
    return found


def smallest_class(answer: pa.Table, columns: Iterable[str]) -> int | None:
    """How many rows the smallest class of these columns has; missing values are a value like any other."""
    names = sorted(columns)
    if not answer.num_rows:
        return None
    if not names:
        return int(answer.num_rows)
    with duckdb.connect(config={"temp_directory": ""}) as connection:  # nothing is spilled to disk
        # Names of the data are numbered: DuckDB does not tell apart names that differ in case alone.
        numbered = [f"c{i}" for i in range(len(names))]
        connection.register("answer", answer.select(names).rename_columns(numbered))
        by = ", ".join(numbered)
        found = connection.execute(
            f"SELECT min(n) FROM (SELECT count(*) AS n FROM answer GROUP BY {by})"
        ).fetchone()
    assert found is not None
    return int(found[0])
