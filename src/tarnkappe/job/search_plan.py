"""The search that a job asks for, with its parameters."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.lattice import SEARCHES, Effort, Search

KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "bool": ("true or false", (bool,)),
    "int": ("a whole number", (int,)),
    "float": ("a number", (int, float)),
    "str": ("a text", (str,)),
}


def create_search(
    algorithm: str, parameters: Mapping[str, Any] | None = None, *, beside: Sequence[str] = ()
) -> Search:
    """A search by name, with its parameters and those of its `Effort`.

    Args:
        algorithm: the name of the search.
        parameters: what to set; anything else is as the search has it.
        beside: other names that a user may have meant.
    """
    given = parameters or {}
    own = {
        f.name: str(f.type) for f in dataclasses.fields(SEARCHES[algorithm]) if f.init and f.name != "effort"
    }
    effort = {f.name: str(f.type) for f in dataclasses.fields(Effort)}
    for name, value in given.items():
        _check(algorithm, name, value, own | effort, beside)
    chosen = {name: value for name, value in given.items() if name in own}
    settings = {name: value for name, value in given.items() if name in effort}
    return SEARCHES.create(algorithm, chosen | ({"effort": Effort(**settings)} if settings else {}))


def _check(algorithm: str, name: str, value: Any, known: Mapping[str, str], beside: Sequence[str]) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, [*known, *beside], n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"it takes {', '.join(known)}"
        raise JobError(f"the search '{algorithm}' has no parameter '{name}': {hint}")
    kind = known[name].removesuffix(" | None")
    if kind not in KINDS:
        return  # the search itself looks at what it gets
    words, types = KINDS[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and kind != "bool"):
        raise JobError(f"the parameter '{name}' of the search '{algorithm}' is {words}, not {value!r}")
