"""The search or the publishing method that a job asks for, with its parameters."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from tarnkappe.errors import JobError, ParameterError
from tarnkappe.lattice import SEARCHES, Effort, Search
from tarnkappe.parameters import shown
from tarnkappe.recoding import BUCKETIZATIONS, METHODS, Bucketization, Method
from tarnkappe.registry import Registry

Algorithm = Search | Method | Bucketization
"""What a job may name as its algorithm."""

KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "bool": ("true or false", (bool,)),
    "int": ("a whole number", (int,)),
    "float": ("a number", (int, float)),
    "str": ("a text", (str,)),
}


def create_algorithm(
    algorithm: str, parameters: Mapping[str, Any] | None = None, *, beside: Sequence[str] = ()
) -> Algorithm:
    """A search or a method by name, with its parameters and those of a search's `Effort`.

    Args:
        algorithm: the name.
        parameters: what to set; anything else is as the search or method has it.
        beside: other names that a user may have meant.
    """
    if not isinstance(algorithm, str):
        raise ParameterError(f"an algorithm is called by its name, a text, not by {shown(algorithm)}")
    for family in (METHODS, BUCKETIZATIONS):
        if algorithm in family:
            return _create_method(family, algorithm, parameters or {}, beside)
    if algorithm not in SEARCHES:
        known = [*SEARCHES.names, *METHODS.names, *BUCKETIZATIONS.names]
        near = difflib.get_close_matches(str(algorithm), known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
        raise ParameterError(f"unknown algorithm '{algorithm}': {hint}")
    return create_search(algorithm, parameters, beside=beside)


def _create_method(
    family: Registry[Method] | Registry[Bucketization],
    algorithm: str,
    given: Mapping[str, Any],
    beside: Sequence[str],
) -> Method | Bucketization:
    known = {f.name: str(f.type) for f in dataclasses.fields(family[algorithm]) if f.init}
    for name, value in given.items():
        _check(f"method '{algorithm}'", name, value, known, beside)
    return family.create(algorithm, given)


def create_search(
    algorithm: str, parameters: Mapping[str, Any] | None = None, *, beside: Sequence[str] = ()
) -> Search:
    """A search by name, with its parameters and those of its `Effort`; see `create_algorithm`."""
    given = parameters or {}
    own = {
        f.name: str(f.type) for f in dataclasses.fields(SEARCHES[algorithm]) if f.init and f.name != "effort"
    }
    effort = {f.name: str(f.type) for f in dataclasses.fields(Effort)}
    for name, value in given.items():
        _check(f"search '{algorithm}'", name, value, own | effort, beside)
    chosen = {name: value for name, value in given.items() if name in own}
    settings = {name: value for name, value in given.items() if name in effort}
    return SEARCHES.create(algorithm, chosen | ({"effort": Effort(**settings)} if settings else {}))


def _check(owner: str, name: str, value: Any, known: Mapping[str, str], beside: Sequence[str]) -> None:
    if name not in known:
        near = difflib.get_close_matches(str(name), [*known, *beside], n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"it takes {', '.join(known) or 'none'}"
        raise JobError(f"the {owner} has no parameter '{name}': {hint}")
    kind = known[name].removesuffix(" | None")
    if kind not in KINDS:
        return  # the search or the method itself looks at what it gets
    words, types = KINDS[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and kind != "bool"):
        raise JobError(f"the parameter '{name}' of the {owner} is {words}, not {shown(value)}")
