"""The search or the publishing method that a job asks for, with its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tarnkappe.errors import JobError, ParameterError, Reason
from tarnkappe.lattice import SEARCHES, EvaluationSettings, Search
from tarnkappe.recoding import BUCKETIZATIONS, METHODS, Bucketization, Method
from tarnkappe.schema import fields_of, hint_of, near, shown
from tarnkappe.schema.problem import meant_or

Algorithm = Search | Method | Bucketization
"""What a job may name as its algorithm."""


def create_algorithm(
    algorithm: str, parameters: Mapping[str, Any] | None = None, *, beside: Sequence[str] = ()
) -> Algorithm:
    """A search or a method by name, with its parameters and those of a search's `EvaluationSettings`.

    Args:
        algorithm: the name.
        parameters: what to set; anything else is as the search or method has it.
        beside: other names that a user may have meant.
    """
    if not isinstance(algorithm, str):
        raise ParameterError(
            "job.algorithm-called-name-text",
            "an algorithm is called by its name, a text, not by {algorithm}",
            algorithm=shown(algorithm),
        )
    given = parameters or {}
    for family in (METHODS, BUCKETIZATIONS):
        if algorithm in family:
            _refuse_unknown(f"method '{algorithm}'", given, names_of(family[algorithm]), beside)
            return family.create(algorithm, given)
    if algorithm not in SEARCHES:
        hint = hint_of(algorithm, [*SEARCHES.names, *METHODS.names, *BUCKETIZATIONS.names])
        raise ParameterError(
            "job.unknown-algorithm",
            "unknown algorithm {algorithm}: {hint}",
            algorithm=shown(algorithm),
            hint=hint,
        )
    return create_search(algorithm, given, beside=beside)


def create_search(
    algorithm: str, parameters: Mapping[str, Any] | None = None, *, beside: Sequence[str] = ()
) -> Search:
    """A search by name, with its parameters and those of its `EvaluationSettings`; see `create_algorithm`."""
    given = parameters or {}
    own, effort = names_of(SEARCHES[algorithm]), names_of(EvaluationSettings)
    own.remove("effort")  # whose settings stand beside those of the search
    _refuse_unknown(f"search '{algorithm}'", given, [*own, *effort], beside)
    chosen = {name: value for name, value in given.items() if name in own}
    settings = {name: value for name, value in given.items() if name in effort}
    return SEARCHES.create(
        algorithm, chosen | ({"effort": EvaluationSettings(**settings)} if settings else {})
    )


def names_of(kind: type) -> list[str]:
    """The names of the parameters of a class."""
    return [field.name for field in fields_of(kind)]


def _refuse_unknown(
    owner: str, given: Mapping[str, Any], known: Sequence[str], beside: Sequence[str]
) -> None:
    for name in given:
        if name not in known:
            meant = near(name, [*known, *beside])
            hint = meant_or(
                meant,
                Reason(
                    "schema.takes",
                    "it takes {known}",
                    known=", ".join(known) or Reason("schema.none", "none"),
                ),
            )
            raise JobError(
                "job.no-parameter",
                "the {owner} has no parameter {name}: {hint}",
                owner=owner,
                name=shown(name),
                hint=hint,
            )
