"""What is answered to a request that is refused: a problem with a code, in the language of the client."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from starlette.responses import JSONResponse

from tarnkappe.errors import Reason
from tarnkappe.texts import ENGLISH, LANGUAGES, told

MEDIA_TYPE = "application/problem+json"
MOST_TOLD = 5
"""So many of the things that are wrong with a request are told at once."""

NEEDED = {
    "missing": Reason("service.part-missing", "it is missing"),
    "json_invalid": Reason("service.part-no-json", "this is no JSON"),
    "extra_forbidden": Reason("service.part-not-known", "this is not known here"),
    "string": Reason("service.part-text", "a text is needed"),
    "int": Reason("service.part-whole-number", "a whole number is needed"),
    "float": Reason("service.part-number", "a number is needed"),
    "bool": Reason("service.part-true-false", "true or false is needed"),
    "list": Reason("service.part-list", "a list is needed"),
    "dict": Reason("service.part-object", "an object is needed"),
    "model": Reason("service.part-object", "an object is needed"),
}
"""What is wrong with a part of a request, by the kind of mistake that validation tells, or how it begins."""
OTHERWISE = Reason("service.part-wrong", "this is not what is needed here")

STATUSES = {
    401: Reason("service.log-first-show-token", "log in first, or show a token"),
    404: Reason("service.nothing-at-address", "there is nothing at this address"),
    405: Reason("service.method-not-offered", "this address does not offer this method"),
    413: Reason("service.request-too-large", "the request is too large"),
}
REFUSED = Reason("service.request-not-understood", "the request cannot be understood")


def problem(
    accepted: str, said: Reason, kind: str, status: int, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """A problem as RFC 9457 writes it, with what programs know of our errors beside it.

    Args:
        accepted: the languages that the client takes, as its header says.
        said: what is wrong.
        kind: the class of the error.
        status: the code of HTTP.
        headers: what else the answer has.
    """
    text, document = told(spoken(accepted), said), said.document()
    content = {"title": kind, "status": status, "detail": text, "error": text, "kind": kind}
    content |= {"code": document["code"], "args": document["args"]}
    return JSONResponse(_sayable(content), status, headers, media_type=MEDIA_TYPE)


def spoken(accepted: str) -> str:
    """The first language of the client that we speak, or else English."""
    wanted = accepted.lower().split(",")
    return next((each.strip()[:2] for each in wanted if each.strip()[:2] in LANGUAGES), ENGLISH)


def wrong_parts(found: list[Any]) -> Reason:
    """What validation found; what was sent is not told again, since it may be a password."""
    parts = [_needed(each).within(".".join(map(str, each["loc"]))[:200]) for each in found[:MOST_TOLD]]
    return reduce(
        lambda first, next_: Reason("service.both", "{first}; {next}", first=first, next=next_),
        parts or [OTHERWISE],
    )


def _needed(found: Mapping[str, Any]) -> Reason:
    kind, limits = str(found["type"]), found.get("ctx", {})
    least = limits.get("ge", limits.get("min_length"))
    most = limits.get("le", limits.get("max_length"))
    if least is not None:
        return Reason("service.part-too-small", "at least {least} is needed", least=least)
    if most is not None:
        return Reason("service.part-too-large", "at most {most} is allowed", most=most)
    if kind in ("literal_error", "enum"):
        return Reason("service.part-one-of", "one of {known} is needed", known=str(limits["expected"]))
    return NEEDED.get(kind) or NEEDED.get(kind.partition("_")[0], OTHERWISE)


def _sayable(value: Any) -> Any:
    """The same without halves of characters."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {_sayable(key): _sayable(each) for key, each in value.items()}
    return [_sayable(each) for each in value] if isinstance(value, list) else value
