"""Multi-relational k-anonymity: at least k persons in every class, however many rows each of them has."""

from __future__ import annotations

from typing import Annotated

from tarnkappe.privacy.composite import CompositeModel
from tarnkappe.privacy.model import Model
from tarnkappe.privacy.x_y_anonymity import XYAnonymity
from tarnkappe.schema import Name, Rows, param


class MultiRelationalKAnonymity(CompositeModel):
    """At least k different persons share every combination of quasi-identifiers (Nergiz et al. 2007).

    For tables in which a person has several rows, such as the join of a person table with her visits:
    k-anonymity counts rows, and k rows may all be hers. It is (X,Y)-anonymity with the quasi-identifiers
    as X and the person's number as Y. `person` is a column with one value per person, for instance a
    pseudonym.
    """

    name = "multi-relational-k-anonymity"
    cites = ("nergiz2009",)

    person: Annotated[Name, param("the column that names the person of each row", kind="column")]
    k: Annotated[Rows, param("people that every class has at least", unit="people", start=5)]

    @classmethod
    def examples(cls) -> tuple[MultiRelationalKAnonymity, ...]:
        return (cls("income", 2),)

    @property
    def promise(self) -> str:
        return (
            f"Everybody in the release looks the same as at least {self.k - 1} other persons, "
            "however many rows each of them has."
        )

    @property
    def parts(self) -> tuple[Model, ...]:
        return (XYAnonymity((self.person,), self.k),)
