"""From rows and nodes to what is written: labels, aggregates, suppressed cells, and the classes they form."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import Node
from tarnkappe.privacy import DifferentialPrivacy, Model, protect
from tarnkappe.privacy.evaluate import keep_all
from tarnkappe.recoding.method import Recoding
from tarnkappe.recoding.microaggregation import Aggregates, Aggregation, aggregate
from tarnkappe.recoding.written import (
    LEFT_OUT,
    Parts,
    WrittenColumn,
    leave_out,
    split,
    write_column,
    written_state,
)
from tarnkappe.table import SUPPRESSED, ClassState, Column, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, as_text, encode_column


class Suppression(StrEnum):
    """What becomes of rows whose class does not meet the models."""

    RECORD = "record"
    """They are left out of the release."""
    CELL = "cell"
    """They stay with '*' in all quasi-identifiers if they meet the models so, and are left out otherwise."""

    @classmethod
    def parse(cls, text: str) -> Suppression:
        """The kind with this name."""
        try:
            return cls(text)
        except (ValueError, RecursionError):  # what is nested deeply cannot even be told
            raise ParameterError(
                "recoding.unknown-suppression-use-record",
                "unknown suppression '{text}': use record or cell (a whole column: suppressed = true)",
                text=text,
            ) from None


@dataclasses.dataclass(frozen=True)
class CellTreatment:
    """What is done to quasi-identifiers beside generalizing them.

    Attributes:
        aggregations: columns whose values become an aggregate of their class.
        orders: the order of the values of such columns that are no numbers.
        suppressed: columns that are suppressed altogether.
        suppression: what becomes of suppressed rows.
    """

    aggregations: Mapping[str, Aggregation] = dataclasses.field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    suppressed: frozenset[str] = frozenset()
    suppression: Suppression = Suppression.RECORD

    @property
    def stars(self) -> bool:
        """Whether suppressed rows may stay."""
        return self.suppression is Suppression.CELL

    def check(self, models: Sequence[Model], *, has_population: bool) -> None:
        """Refuse what would break a promise without anybody noticing."""
        for part in (part for model in models for part in model.parts):
            if self.stars and isinstance(part, DifferentialPrivacy):
                raise ParameterError(
                    "recoding.how-many-rows-suppressed",
                    '{part}: how many rows are suppressed depends on the data: use suppression = "record"',
                    part=part.name,
                )
            if not self.aggregations:
                continue
            if part.looks_beyond_release or part.measures_labels:
                reason = (
                    "an aggregate of the rows in the table tells who of the others is not among them"
                    if part.looks_beyond_release
                    else "how general an aggregate is cannot be said"
                )
                raise ParameterError(
                    "recoding.cannot-promised-aggregated-columns",
                    "{part} cannot be promised with aggregated columns ({aggregations}), since {reason}: "
                    "generalize them instead",
                    part=part.name,
                    aggregations=", ".join(self.aggregations),
                    reason=reason,
                )
        if self.aggregations and has_population:
            raise ParameterError(
                "recoding.population-cannot-compared-aggregated",
                "a population cannot be compared with aggregated columns ({aggregations}): leave it out, or"
                " generalize them instead",
                aggregations=", ".join(self.aggregations),
            )


@dataclasses.dataclass(frozen=True, eq=False)
class Recoded:
    """Rows as they will be written.

    Attributes:
        parts: the pass that kept each row; rows that none kept are suppressed.
        written: the quasi-identifiers.
        state: the classes of the written values, and which of them are released.
        aggregates: what became of aggregated columns.
        stars: whether suppressed rows stay with '*' in all quasi-identifiers.
    """

    parts: Parts
    written: Mapping[str, WrittenColumn]
    state: ClassState
    aggregates: Mapping[str, Aggregates] = dataclasses.field(default_factory=dict)
    stars: bool = False

    @property
    def released(self) -> Mask:
        """Which rows are released."""
        return np.asarray(self.state.kept[self.state.classes.ids])


def recode(
    rows: Tuples,
    quasi_identifiers: Sequence[str],
    nodes: Sequence[Node],
    models: Sequence[Model],
    treatment: CellTreatment,
    distributions: Sequence[tuple[str, ...]],
) -> Recoded:
    """Apply nodes to rows, one after the other, and treat the columns.

    The classes of what would be written are then judged as a whole: classes that two passes write alike are
    one class, aggregates may tell groups apart, and suppressed rows that stay are a class like any other.
    What does not meet the models there is left out. Suppressed rows stay only if nothing has to be left out
    for them.

    Args:
        rows: the rows, of the table and then of a population.
        quasi_identifiers: the columns to recode.
        nodes: the levels of each pass.
        models: what is promised.
        treatment: what is done to columns beside generalizing them.
        distributions: the distributions that models, losses and attacks look at.
    """
    if len(nodes) == 1 and not treatment.aggregations:
        state = protect(rows.classes(quasi_identifiers, nodes[0], distributions), models)
        parts: Parts = np.where(state.kept[state.classes.ids], 0, LEFT_OUT).astype(np.int32)
        if not (treatment.stars and _any_left(rows, parts)):
            everywhere = np.zeros(rows.num_tuples, np.int32)
            written = {
                name: write_column(
                    rows.columns[name], [level], everywhere, suppressed=name in treatment.suppressed
                )
                for name, level in zip(quasi_identifiers, nodes[0], strict=True)
            }
            return Recoded(parts, written, state)
    parts = split(rows, quasi_identifiers, nodes, models)
    if treatment.stars and _any_left(rows, parts):
        starred = write(rows, quasi_identifiers, nodes, models, treatment, distributions, parts, stars=True)
        if np.array_equal(starred.state.kept, starred.state.classes.released):
            return starred
    return write(rows, quasi_identifiers, nodes, models, treatment, distributions, parts)


def recoded(
    rows: Tuples, recoding: Recoding, models: Sequence[Model], distributions: Sequence[tuple[str, ...]]
) -> Recoded:
    """What a method found, as it would be written and judged as a whole; see `recode`.

    Rows that the method keeps but whose class does not meet the models are left out too. The columns keep the
    order of the table, whatever order the method took them in.
    """
    place = {name: number for number, name in enumerate(rows.columns)}
    written = {
        name: leave_out(own, rows.columns[name], recoding.kept, as_text=rows.population is not None)
        for name, own in sorted(recoding.written.items(), key=lambda each: place[each[0]])
    }
    state = written_state(rows, written, distributions)
    everything = [part for model in models for part in model.parts]
    state = ClassState(state.classes, keep_all(state.classes, state.kept, everything))
    parts = np.where(state.kept[state.classes.ids], 0, LEFT_OUT).astype(np.int32)
    return Recoded(parts, written, state)


def _any_left(rows: Tuples, parts: Parts) -> bool:
    return bool(np.any((parts == LEFT_OUT) & (rows.counts > 0)))


def write(
    rows: Tuples,
    quasi_identifiers: Sequence[str],
    nodes: Sequence[Node],
    models: Sequence[Model],
    treatment: CellTreatment,
    distributions: Sequence[tuple[str, ...]],
    parts: Parts,
    *,
    stars: bool = False,
) -> Recoded:
    """The rows of each pass (`parts`) as they would be written, judged as a whole; see `recode`.

    With `stars`, suppressed rows are written too.
    """
    written = {
        name: write_column(
            rows.columns[name],
            [node[index] for node in nodes],
            parts,
            starred=stars,
            suppressed=name in treatment.suppressed,
            as_text=rows.population is not None,
        )
        for index, name in enumerate(quasi_identifiers)
    }
    aggregates: dict[str, Aggregates] = {}
    if treatment.aggregations:
        grouped = written_state(rows, written, ())
        for name, function in treatment.aggregations.items():
            column = rows.columns[name]
            # Suppressed rows are no class of their own: they get '*', and nothing is computed from them.
            own = np.where(parts != LEFT_OUT, rows.counts, 0)
            classes = grouped.classes
            found = aggregate(
                column, function, classes.ids, classes.num_classes, own, treatment.orders.get(name)
            )
            aggregates[name] = found
            written[name] = _aggregated(column, found, classes.ids, parts, stars=stars)
    state = written_state(rows, written, distributions)
    everything = [part for model in models for part in model.parts]
    state = ClassState(state.classes, keep_all(state.classes, state.kept, everything))
    parts = np.where(state.kept[state.classes.ids], parts, LEFT_OUT).astype(np.int32)
    return Recoded(parts, written, state, aggregates, stars)


def _aggregated(column: Column, found: Aggregates, ids: Codes, parts: Parts, *, stars: bool) -> WrittenColumn:
    """Aggregates as they are written, row by row."""
    values, codes, left = found.of_class, ids, parts == LEFT_OUT
    if stars and left.any():
        values = pa.concat_arrays([as_text(values), pa.array([SUPPRESSED])])
        codes = np.where(left, len(values) - 1, ids)
    distinct = encode_column(column.name, pa.chunked_array([values]))
    codes = distinct.codes[codes]
    if stars or not left.any():
        return WrittenColumn(codes, distinct.values)
    codes = np.where(left, distinct.cardinality, codes).astype(np.int32)
    nothing = pa.nulls(1, distinct.values.type)
    return WrittenColumn(codes, pa.concat_arrays([distinct.values, nothing]), left_out=distinct.cardinality)
