"""Classification: how many rows the majority of their class would label wrongly.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from typing import Annotated, Self

from tarnkappe.loss.measure import Loss
from tarnkappe.native import compiled
from tarnkappe.schema import Name, param
from tarnkappe.table import ClassState
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


class Classification(Loss):
    """CM (Iyengar 2002), for releases from which a class label is to be predicted:

        sum over the kept classes of (|E| - rows with the most frequent label in E) + u.

    A kept row costs 1 if its label is not the most frequent one of its class, a suppressed row always
    does. It is 0 for untouched data without duplicates. A row whose label is missing has the label
    "missing"; one whose label is suppressed can never be predicted and costs 1.

    Monotone only without suppression: the most frequent label of a union is no more frequent than those
    of its parts together, so merging classes never saves a kept row. But it may save a suppressed one.

    Lower bound: the cost while every class is kept. Suppression charges a class |E|, which is no less,
    and merging never lowers this cost.
    """

    name = "classification"
    cites = ("iyengar2002",)
    considers_suppression = True

    column: Annotated[Name, param("the column with the label to be predicted", kind="column")]

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls("treatment"), cls("disease"))

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        return ((self.column,),)

    @property
    def measures_cells(self) -> bool:
        return True

    def __call__(self, state: ClassState) -> float:
        return self._misfits(state, state.kept)

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression

    def lower_bound(self, state: ClassState, *, least_size: int = 1) -> float:
        del least_size
        return self._misfits(state, state.classes.released)

    def _misfits(self, state: ClassState, kept: Mask) -> float:
        labels = state.classes.distributions[(self.column,)]
        return float(_misfits(state.classes.sizes, kept, labels.offsets, labels.counts))


@compiled
def _misfits(sizes: Counts, kept: Mask, offsets: Counts, counts: Counts) -> int:
    # Suppressed rows are misfits altogether, so all rows are added first and the majority of kept classes is
    # taken away. The majority is found among the entries of the class, from `offsets` on: entries in time, no
    # memory.
    misfits = 0
    for index in range(len(sizes)):
        misfits += sizes[index]
        if kept[index]:
            majority = 0
            for entry in range(offsets[index], offsets[index + 1]):
                majority = max(majority, counts[entry])
            misfits -= majority
    return misfits
