"""(X,Y)-privacy: (X,Y)-anonymity and (X,Y)-linkability together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from tarnkappe.privacy.composite import CompositeModel
from tarnkappe.privacy.exact import decimal
from tarnkappe.privacy.model import Model
from tarnkappe.privacy.x_y_anonymity import ColumnsX, ColumnsY, XYAnonymity, quoted, rules_of_two_sides
from tarnkappe.privacy.x_y_linkability import XYLinkability
from tarnkappe.schema import ExactPositiveShare, Problem, Rows, param


class XYPrivacy(CompositeModel):
    """Every value of `x` has at least k values of `y`, none with a share above p (Wang and Fung 2006).

    `x` are quasi-identifiers, all of them if none is named; `y` are other columns, whose combinations of
    values count.
    """

    name = "x-y-privacy"
    cites = ("wang2006",)

    y: ColumnsY
    k: Annotated[
        Rows, param("different values of y that every group of x has at least", unit="values", start=5)
    ]
    p: Annotated[
        ExactPositiveShare,
        param(
            "the largest confidence with which values of y may be concluded from x", kind="share", start=0.5
        ),
    ]
    x: ColumnsX = ()

    def rules(self) -> Iterator[Problem]:
        yield from rules_of_two_sides(self.x, self.y)

    @classmethod
    def examples(cls) -> tuple[XYPrivacy, ...]:
        return (cls(("disease",), 2, 0.75), cls(("disease",), 2, "2/3", x=("a",)))

    @property
    def promise(self) -> str:
        known = quoted(self.x) if self.x else "all quasi-identifiers"
        return (
            f"From {known} nobody can be linked to fewer than {self.k} values of {quoted(self.y)}, "
            f"nor to any of them with a probability above {decimal(self.p)}."
        )

    @property
    def parts(self) -> tuple[Model, ...]:
        return (XYAnonymity(self.y, self.k, x=self.x), XYLinkability(self.y, self.p, x=self.x))
