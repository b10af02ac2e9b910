"""What one institution asks of another: which columns, of whom, and what for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.state.statement import Statement

MOST_ATTRIBUTES = 64
MOST_VALUES = 64
MOST_TEXT = 4000
"""Longer texts are refused: nobody reads them, and a request is kept for years."""


class Purpose(StrEnum):
    """What a package is for; each has thresholds of its own in the policy."""

    RESEARCH = "research"
    TEACHING = "teaching"
    CLINICAL = "clinical"


class Operation(StrEnum):
    """What the requester does with a package: the law has other conditions for each."""

    PROCESS = "process"
    HAND_OVER = "hand-over"
    TRANSMIT = "transmit"


@dataclasses.dataclass(frozen=True)
class Wanted:
    """One attribute that is asked for.

    Attributes:
        name: the attribute.
        change_weight: how readily it may be changed, from 0 (never) to 1 (first of all).
        detail: the least level of generalization that the purpose needs; more detail is removed anyway.
    """

    name: str
    change_weight: float = 1.0
    detail: int = 0

    def __post_init__(self) -> None:
        _require_text("the name of an attribute", self.name)
        weight = self.change_weight
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
            raise ParameterError(
                "exchange.change-weight-number-0",
                "'{name}': a change weight is a number from 0 (never) to 1 (first)",
                name=self.name,
            )
        if isinstance(self.detail, bool) or not isinstance(self.detail, int) or not 0 <= self.detail < 1000:
            raise ParameterError(
                "exchange.detail-level-whole-number",
                "'{name}': detail is a level, a whole number from 0",
                name=self.name,
            )


@dataclasses.dataclass(frozen=True)
class Anchor:
    """Who is asked about: everybody with one of some values of one attribute (a disease, a medication).

    One attribute only, so that nobody can describe his neighbour in a selection.
    """

    attribute: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _require_text("the attribute of the selection", self.attribute)
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise ParameterError(
                "exchange.selection-names-no-value",
                "the selection names no value: say whose data are asked for",
            )
        if len(self.values) > MOST_VALUES:
            raise ParameterError(
                "exchange.selection-names-most-values",
                "a selection names at most {most_values} values, not {values}",
                most_values=MOST_VALUES,
                values=len(self.values),
            )
        for value in self.values:
            _require_text("a value of the selection", value)
        if len(set(self.values)) < len(self.values):
            raise ParameterError("exchange.selection-names-value-twice", "a selection names a value twice")


@dataclasses.dataclass(frozen=True)
class DataRequest:
    """A request for a package.

    Two requests with the same content have the same `digest`; a decision is about a digest, so nothing of a
    request can be changed after it.

    Attributes:
        id: the number that the requester gave it.
        requester: the person who asks.
        institution: where she works.
        purpose: what kind of use it is.
        question: what exactly the data are needed for, in words.
        anchor: whose data are asked for.
        wanted: which attributes.
        reidentification: whether somebody may have to be identified again; that needs consent.
        operation: what the requester will do with the data.
        legal_basis: what the requester claims beside consent, by name: `special_law` or `approval`, with the
            reference by which a human can look it up.
        received: when the request came in.
    """

    id: str
    requester: str
    institution: str
    purpose: Purpose
    question: str
    anchor: Anchor
    wanted: tuple[Wanted, ...]
    reidentification: bool = False
    operation: Operation = Operation.PROCESS
    legal_basis: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)
    received: datetime = dataclasses.field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        for what in ("id", "requester", "institution"):
            _require_text(f"the {what} of a request", getattr(self, what))
        if (
            not isinstance(self.question, str)
            or len(self.question) > MOST_TEXT
            or not _is_shown(self.question)
        ):
            raise ParameterError(
                "exchange.question-request-text-most-characters",
                "the question of a request is a text of at most {most_text} characters that can be shown",
                most_text=MOST_TEXT,
            )
        if not isinstance(self.legal_basis, Mapping) or len(self.legal_basis) > MOST_ATTRIBUTES:
            raise ParameterError(
                "exchange.legal-basis-request-names",
                "the legal basis of a request names what it claims, each with a reference",
            )
        for name, reference in self.legal_basis.items():
            _require_text("the name of a legal basis", name)
            _require_text("the reference of a legal basis", reference)
        object.__setattr__(self, "wanted", tuple(self.wanted))
        names = [each.name for each in self.wanted]
        if not names or len(names) > MOST_ATTRIBUTES:
            raise ParameterError(
                "exchange.request-asks-1-attributes",
                "a request asks for 1 to {most_attributes} attributes, not {names}",
                most_attributes=MOST_ATTRIBUTES,
                names=len(names),
            )
        if len(set(names)) < len(names):
            raise ParameterError(
                "exchange.request-names-attribute-twice", "a request names an attribute twice"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that are asked for."""
        return tuple(each.name for each in self.wanted)

    @cached_property
    def digest(self) -> str:
        """Stands for the whole content, except for when it came in."""
        content = {key: value for key, value in self.to_dict().items() if key != "received"}
        for each in content["wanted"]:
            each["change_weight"] = repr(float(each["change_weight"]) + 0.0)
        return Statement("request", content).digest

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "id": self.id,
            "requester": self.requester,
            "institution": self.institution,
            "purpose": str(self.purpose),
            "question": self.question,
            "anchor": {"attribute": self.anchor.attribute, "values": list(self.anchor.values)},
            "wanted": [dataclasses.asdict(each) for each in self.wanted],
            "reidentification": self.reidentification,
            "operation": str(self.operation),
            "legal_basis": dict(self.legal_basis),
            "received": self.received.isoformat(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DataRequest:
        """From plain data, as it is kept; anything amiss is refused."""
        try:
            anchor, wanted = data["anchor"], data["wanted"]
            return cls(
                id=data["id"],
                requester=data["requester"],
                institution=data["institution"],
                purpose=Purpose(data["purpose"]),
                question=data["question"],
                anchor=Anchor(anchor["attribute"], tuple(_list(anchor["values"]))),
                wanted=tuple(Wanted(**each) for each in _list(wanted)),
                reidentification=_truth(data.get("reidentification", False)),
                operation=Operation(data.get("operation", "process")),
                legal_basis=dict(data.get("legal_basis", {}).items()),
                received=_instant(data["received"]) if "received" in data else datetime.now(UTC),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else "a part has the wrong form"
            raise ParameterError(
                "exchange.request-no-request", "this is no request: {reason}", reason=reason
            ) from None

    @classmethod
    def from_message(cls, data: Mapping[str, Any]) -> DataRequest:
        """From plain data, as another institution sends it.

        When it came in is not his to say: `received` is not read. What is not known here is refused, since
        nobody would look at it.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := set(data) - known:
            raise ParameterError(
                "exchange.no-request-parts-not-known",
                "this is no request: it has {unknown} parts that are not known here",
                unknown=len(unknown),
            )
        request = cls.from_dict({key: value for key, value in data.items() if key != "received"})
        request.digest  # noqa: B018 - what has no digest cannot be kept
        return request


def _list(value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise TypeError("a list")
    return list(value)


def _instant(text: object) -> datetime:
    """A time as an instant; earlier versions kept what others had sent, some without a time zone."""
    if not isinstance(text, str):
        raise TypeError("a time")
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _is_shown(text: str) -> bool:
    """Whether a text shows all of itself: no control or direction marks; lines may be broken."""
    return all(character.isprintable() or character in "\n\t" for character in text)


def _require_text(what: str, text: object) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > MOST_TEXT or not text.isprintable():
        raise ParameterError(
            "exchange.line-text-not-empty", "{what} is a line of text, and not empty", what=what
        )


def price_of_change(weight: float) -> float:
    """What changing an attribute costs, by its change weight; what must never be changed has no price.

    >>> price_of_change(1.0), price_of_change(0.5), price_of_change(0.0)
    (1.0, 2.0, inf)
    """
    return math.inf if weight == 0 else 1 / weight
