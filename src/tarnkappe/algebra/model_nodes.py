"""Generalization under more than k-anonymity: diversity, closeness, suppression, a loss and a method.

No rewrite rule knows this operator and nothing moves through it: which levels are chosen depends on
sensitive columns, and rows may be suppressed, so most rules of plain generalization do not hold for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tarnkappe.algebra.plan import Unary, canonical, listed
from tarnkappe.errors import ColumnError, ParameterError

NUMBERS_OF = {"distinct": 1, "entropy": 1, "recursive": 2}
"""The kinds of diversity, and how many numbers each takes: l, or c and l."""

SUPPRESSIONS = ("record", "cell")
METHODS_IN_QUERIES = ("global", "local")
"""Methods that write equal quasi-identifiers alike, so that an engine can lift rows by a join."""

Diversity = tuple[str, str, tuple[Fraction, ...]]
"""A sensitive column, the kind of diversity, its numbers."""


@dataclass(frozen=True)
class ModelGeneralization(Unary):
    """αG under privacy models: the columns X as labels, so that every class meets all of them.

    Contract: the result is a function of how often each combination of X and the sensitive columns occurs;
    rows with equal X are written alike, or suppressed alike; other columns are untouched. At most the share
    `suppress` of the rows is left out ("record"), or stays with '*' in X ("cell").
    """

    by: tuple[str, ...]
    k: int
    diversity: tuple[Diversity, ...] = ()
    closeness: tuple[tuple[str, Fraction], ...] = ()
    suppress: Fraction = Fraction(0)
    suppression: str = "record"
    loss: str = "discernibility"
    method: str = "global"

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", canonical(self.by, "the generalization"))
        object.__setattr__(self, "diversity", tuple(sorted(self.diversity)))
        object.__setattr__(self, "closeness", tuple(sorted(self.closeness)))
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise ParameterError(
                "algebra.k-generalization-must-whole",
                "The k of a generalization must be a whole number of at least 1, not {k}.",
                k=self.k,
            )
        if not self.by:
            raise ColumnError(
                "algebra.generalization-under-models-needs",
                "A generalization under models needs the columns that others may know.",
            )
        for column, kind, numbers in self.diversity:
            if NUMBERS_OF.get(kind) != len(numbers):
                forms = "l => {diagnosis: 3}, {diagnosis: {entropy: 3}} or {diagnosis: {recursive: [2, 3]}}"
                raise ParameterError(
                    "algebra.diversity-written",
                    "The diversity of '{column}' is written as {forms}.",
                    column=column,
                    forms=forms,
                )
            if kind != "entropy" and (numbers[-1].denominator != 1 or numbers[-1] < 1):
                raise ParameterError(
                    "algebra.l-must-whole-number",
                    "The l of '{column}' must be a whole number of at least 1.",
                    column=column,
                )
        if not 0 <= self.suppress <= 1:
            raise ParameterError(
                "algebra.share-rows-may-suppressed",
                "The share of rows that may be suppressed is between 0 and 1.",
            )
        _require_known(self.suppression, SUPPRESSIONS, "suppression")
        _require_known(self.method, METHODS_IN_QUERIES, "method of a query")
        known = self.sensitive & set(self.by)
        if known:
            raise ColumnError(
                "algebra.cannot-generalized-sensitive-once",
                "{known} cannot be generalized and be sensitive at once.",
                known=listed(known),
            )

    @property
    def attributes(self) -> frozenset[str]:
        """The columns that are generalized."""
        return frozenset(self.by)

    @property
    def sensitive(self) -> frozenset[str]:
        """The columns whose values the models look at."""
        return frozenset([*(each[0] for each in self.diversity), *(column for column, _ in self.closeness)])

    @property
    def keeps_columns_whole(self) -> bool:
        """Whether all rows stay and a column has one level, so that no class of any columns is split."""
        return self.method == "global" and not self.suppress

    def check(self) -> None:
        self.require(self.by, "The generalization")
        self.require(self.sensitive, "The generalization")
        super().check()


def _require_known(name: str, known: tuple[str, ...], what: str) -> None:
    if name not in known:
        raise ParameterError(
            "algebra.what-name-known",
            "There is no {what} '{name}'; there are {known}.",
            what=what,
            name=name,
            known=", ".join(known),
        )
