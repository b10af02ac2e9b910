"""The levels of a generalization, from the distinct combinations that an engine counted.

The choice is that of `algebra.generalizing`, node for node: the least sum of squared class sizes, then the
least sum of normalized levels, then the levels in the order of column names. There every node is tried; here
the searches of `tarnkappe.lattice` find it on combinations of any number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.algebra.world import Ladder
from tarnkappe.errors import NoSolutionError
from tarnkappe.lattice import AutoSearch, Node, SearchProblem
from tarnkappe.loss.discernibility import Discernibility
from tarnkappe.privacy import Model
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.multi_relational_k_anonymity import MultiRelationalKAnonymity
from tarnkappe.table import SUPPRESSED, Column, Levels, Tuples
from tarnkappe.table.encoding import Codes, Counts, as_text


@dataclass(frozen=True, eq=False)
class Rungs:
    """One column as it stands in its hierarchy.

    Attributes:
        values: the distinct values as the engine gave them; a missing one is among them.
        texts: what they are in the hierarchy.
        codes: for each combination the place of its value.
        ladder: how labels rise.
        start: the highest level found: a column of mixed levels is brought there first.
    """

    values: pa.Array
    texts: tuple[str | None, ...]
    codes: Codes
    ladder: Ladder
    start: int

    @classmethod
    def of(cls, column: pa.ChunkedArray, ladder: Ladder) -> Rungs:
        """The rungs of a counted column; a value that the hierarchy lacks is refused."""
        plain = column.combine_chunks()
        if pa.types.is_dictionary(plain.type):
            plain = plain.dictionary_decode()
        encoded = plain.dictionary_encode(null_encoding="encode")
        texts = tuple(as_text(encoded.dictionary).to_pylist())
        start = max(map(ladder.level, texts))
        return cls(encoded.dictionary, texts, np.asarray(encoded.indices, np.int32), ladder, start)

    def labels(self, level: int) -> list[str | None]:
        """What each value is shown as on a level."""
        return [self.ladder.lift(text, level) for text in self.texts]

    def column(self, name: str) -> Column:
        """The column for a search: its lowest level is the one where it stands."""
        numbered = [_numbered(self.labels(n)) for n in range(self.start, self.ladder.height + 1)]
        lowest, first = numbered[0]
        representative = np.zeros(len(lowest), np.int64)
        representative[first] = np.arange(len(first))
        maps = [codes[representative].astype(np.int32) for _, codes in numbered]
        names = [tuple("" if label is None else label for label in labels) for labels, _ in numbered]
        leaves = [np.ones(len(labels), np.int64) for labels in names]
        values = pa.array(lowest, pa.string())
        levels = Levels(tuple(maps), tuple(names), tuple(leaves))
        return Column(name, first[self.codes], values, levels)


def _numbered(labels: Sequence[str | None]) -> tuple[list[str | None], Codes]:
    """The distinct labels, and the number of each."""
    number = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    return list(number), np.array([number[label] for label in labels], np.int32)


class _LevelProblem(SearchProblem):
    """A problem whose equally good nodes are told apart as the algebra does; exactly, not nearly equal."""

    starts: Node
    full_heights: Node

    def order(self, node: Node) -> tuple[int, int, int, Node]:
        sizes = self.classes(node).sizes
        common = math.lcm(*self.full_heights)
        levels = tuple(start + level for start, level in zip(self.starts, node, strict=True))
        shares = (level * common // height for level, height in zip(levels, self.full_heights, strict=True))
        return sum(size * size for size in sizes.tolist()), sum(shares), 0, levels


def best_levels(
    columns: dict[str, Rungs],
    counts: Counts,
    k: int,
    people: pa.ChunkedArray | None = None,
    *,
    counted: str = "rows",
) -> dict[str, int]:
    """The level of each column, by the algebra's key, on which all classes have at least k rows, or people.

    Args:
        columns: the columns to generalize.
        counts: how often each combination occurs; once, if people stand beside them.
        k: how many a class has.
        people: the person of each combination, if some have several. A missing one is nobody.
        counted: what the counts are of, for messages.

    Raises:
        NoSolutionError: there are fewer than k of them.
    """
    total = int(counts.sum()) if people is None else int(pc.count_distinct(people).as_py())
    if total < k:
        raise NoSolutionError(
            "algebra.generalization-k-needs",
            "a generalization to k = {k} needs at least {k} {counted}; there {total:is|are} {total}",
            k=k,
            counted=counted,
            total=total,
        )
    names = tuple(sorted(columns))
    held = {name: columns[name].column(name) for name in names}
    model: Model = KAnonymity(k)
    if people is not None:
        held[PERSON] = _person_column(people)
        model = MultiRelationalKAnonymity(PERSON, k)
    tuples = Tuples(held, counts).distinct()
    problem = _LevelProblem(tuples, names, (model,), Discernibility())
    object.__setattr__(problem, "starts", tuple(columns[name].start for name in names))
    object.__setattr__(problem, "full_heights", tuple(columns[name].ladder.height for name in names))
    solution = AutoSearch().run(problem)
    if solution.stopped == "interrupted":
        raise KeyboardInterrupt
    if solution.best is None or not solution.optimal:
        raise NoSolutionError(
            "algebra.no-levels-proven-least-general",
            "no levels of {names} were proven to be the least general: generalize fewer columns",
            names=", ".join(names),
        )
    return {name: columns[name].start + level for name, level in zip(names, solution.best.node, strict=True)}


PERSON = "person"
"""The column of people in a search, beside those that are generalized."""


def _person_column(people: pa.ChunkedArray) -> Column:
    """People as a column whose values are told apart; nobody is a suppressed value, which counts as none."""
    encoded = people.combine_chunks().dictionary_encode(null_encoding="encode")
    values = encoded.dictionary.is_null().to_pylist()
    labels = [SUPPRESSED if is_missing else str(number) for number, is_missing in enumerate(values)]
    return Column(PERSON, np.asarray(encoded.indices, np.int32), pa.array(labels, pa.string()), None)


def level_table(rungs: Rungs, level: int, value: str, label: str) -> pa.Table:
    """The table that lifts the values of a column by a join; a missing value is no row of it."""
    labels = pa.array(rungs.labels(level), pa.string())
    present = pc.is_valid(rungs.values)
    return pa.table({value: rungs.values.filter(present), label: labels.filter(present)})
