"""Verification of an answer before it is handed over: from its values, in SQL, whoever computed them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from tarnkappe.algebra.promises import Promise
from tarnkappe.errors import VerificationError


@dataclass(frozen=True)
class VerifiedPromise:
    """A promise and what was measured of it.

    Attributes:
        promise: what was promised.
        measured: the number of rows of the smallest class, or of people; None if there are no rows.
        people: whether people were counted, and not rows.
    """

    promise: Promise
    measured: int | None
    people: bool = False

    def as_dict(self) -> dict[str, object]:
        """The finding for machines."""
        counted = "people" if self.people else "rows"
        return {**self.promise.as_dict(), "measured": self.measured, "counted": counted}

    def __str__(self) -> str:
        if self.measured is None:
            return f"{self.promise}: no rows"
        if self.people:
            others = f"the rows of at least {self.measured - 1} other people"
            return f"{self.promise}: every row shares it with {others}"
        others = f"every row shares it with at least {self.measured - 1} other rows"
        return f"{self.promise}: {others} (rows were counted, not people)"


def verify(
    answer: pa.Table, promised: Iterable[Promise], *, person: str | None = None
) -> tuple[VerifiedPromise, ...]:
    """Measure every promise in the values of an answer.

    `person` is the column of the answer that tells people apart; then people are counted, and not rows.

    Raises:
        VerificationError: one is broken; then nothing may be handed over.
    """
    found = tuple(
        VerifiedPromise(promise, smallest_class(answer, promise.columns, person), person is not None)
        for promise in promised
    )
    for kept in found:
        if kept.measured is not None and kept.measured < kept.promise.k:
            raise VerificationError(
                f"the answer is not {kept.promise}, as the query promises: a class has {kept.measured} "
                f"{'people' if kept.people else 'rows'}; "
                "nothing is handed over"
            )
    return found


def smallest_class(answer: pa.Table, columns: Iterable[str], person: str | None = None) -> int | None:
    """How many rows the smallest class of these columns has; missing values are a value like any other.

    With a `person` column, how many different people; rows that lack one are nobody's.
    """
    names = sorted(columns)
    if not answer.num_rows:
        return None
    if not names and person is None:
        return int(answer.num_rows)
    with duckdb.connect(config={"temp_directory": ""}) as connection:  # nothing is spilled to disk
        # Names of the data are numbered: DuckDB does not tell apart names that differ in case alone.
        numbered = [f"c{i}" for i in range(len(names))]
        who, counted = ([person], ["u"]) if person is not None else ([], [])
        connection.register("answer", answer.select([*names, *who]).rename_columns([*numbered, *counted]))
        by = f" GROUP BY {', '.join(numbered)}" if numbered else ""
        size = "count(*)" if person is None else "count(DISTINCT u)"
        found = connection.execute(f"SELECT min(n) FROM (SELECT {size} AS n FROM answer{by})").fetchone()
    assert found is not None
    return int(found[0])
