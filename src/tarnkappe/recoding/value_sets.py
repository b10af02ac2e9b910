"""The value sets of a problem: what they cost, and how rows are written by one of them.

Discernibility and the classification loss depend on the classes alone, so value sets can be compared and
bounded by them. Under any other loss discernibility is minimized, and what is proven is said of it alone.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import SearchProblem
from tarnkappe.loss import Classification, Discernibility
from tarnkappe.privacy import KAnonymity
from tarnkappe.recoding.method import Recoding
from tarnkappe.recoding.partitions import Alphabet, alphabet
from tarnkappe.recoding.value_classes import Price
from tarnkappe.recoding.value_set_search import Hill
from tarnkappe.table import Tuples
from tarnkappe.table.classes import Mask


@dataclasses.dataclass(frozen=True, eq=False)
class ValueSets:
    """What is searched.

    Attributes:
        alphabet: the values.
        hill: the table and the prices.
        minimized: the loss that is minimized.
        is_loss: whether it is the loss of the problem.
    """

    alphabet: Alphabet
    hill: Hill
    minimized: str
    is_loss: bool

    @property
    def price(self) -> Price:
        """What rows cost."""
        return self.hill.price

    @property
    def least(self) -> int:
        """What any value set costs at least: no class is smaller than a cell, and none too small."""
        cells = self.hill.cells
        if cells.labels.shape[1]:
            return int((cells.sizes - cells.labels.max(axis=1)).sum())
        return int((cells.sizes * np.maximum(cells.sizes, self.price.least_size)).sum())

    def recoding(
        self, rows: Tuples, head: Mask, steps: tuple[str, ...], *, bound: int | None = None, stopped: str = ""
    ) -> Recoding:
        """The rows as a value set writes them; a bound that the value set reaches proves it optimal."""
        cost = self.hill.standing(head).cost
        proof = "" if bound is None else f", at least {bound:,} for any value set"
        optimal = bound is not None and bound >= cost
        return Recoding(
            self.alphabet.write(rows, head),
            self.alphabet.kept(rows, head, self.price.least_size),
            optimal=optimal and self.is_loss,
            bound=float(bound) if bound is not None and self.is_loss else None,
            stopped=stopped,
            steps=(
                f"{self.alphabet.size} values in {len(self.alphabet.letters)} columns",
                *steps,
                f"value set {{{', '.join(map(str, self.alphabet.value_set(head)))}}}",
                f"{self.minimized} {cost:,}{', the least possible' if optimal else proof}",
            ),
        )


def value_sets(problem: SearchProblem) -> ValueSets:
    """The value sets of a problem that `require_sizes_only` lets pass."""
    least_size = max(model.least_size(problem.tuples) for model in problem.models)
    own, loss = alphabet(problem), problem.loss
    if isinstance(loss, Classification):
        cells, suppressed = own.cells(problem.tuples, loss.column), 1
    else:
        cells, suppressed = own.cells(problem.tuples), problem.tuples.num_rows
    price = Price(least_size, suppressed, problem.limit)
    minimized = loss.name if isinstance(loss, Classification) else Discernibility.name
    return ValueSets(own, Hill(cells, own.numbering, own.free, price), minimized, loss.name == minimized)


def require_sizes_only(name: str, problem: SearchProblem) -> None:
    """Refuse models that look at more than the size of a class."""
    for part in (part for model in problem.models for part in model.parts):
        if not isinstance(part, KAnonymity):
            raise ParameterError(
                "recoding.promises-k-anonymity-only-not-use",
                "{name} promises k-anonymity only, not {part}: use mondrian, which asks any model, or a "
                "search over levels",
                name=name,
                part=part.name,
            )
