"""The guarantees as the wizard offers them: by the question they answer, with a start for every parameter."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from msgspec import inspect

from tarnkappe.errors import ParameterError
from tarnkappe.privacy import MODELS
from tarnkappe.schema import Field, fields_of
from tarnkappe.schema.described import alternatives
from tarnkappe.schema.written import toml_value
from tarnkappe.web.builder_forms import names, number

QUESTIONS: dict[str, tuple[str, ...]] = {
    "first": ("k-anonymity", "distinct-diversity", "recursive-diversity", "equal-closeness"),
    "singled_out": (
        "k-map",
        "subset-anonymity",
        "multi-relational-k-anonymity",
        "x-y-anonymity",
        "m-privacy",
        "sample-uniqueness",
        "population-uniqueness",
        "average-risk",
        "records-at-risk",
    ),
    "known_value": (
        "entropy-diversity",
        "positive-disclosure-recursive-diversity",
        "negative-disclosure-recursive-diversity",
        "p-sensitive-k-anonymity",
        "m-private-diversity",
        "alpha-k-anonymity",
        "confidence-bounding",
        "x-y-linkability",
        "x-y-privacy",
        "subset-confidence",
        "lkc-privacy",
        "personalized-anonymity",
        "value-closeness",
    ),
    "close_to_all": (
        "ordered-closeness",
        "hierarchical-closeness",
        "variational-closeness",
        "kullback-leibler-closeness",
        "n-t-closeness",
        "delta-disclosure",
        "basic-beta-likeness",
        "enhanced-beta-likeness",
    ),
    "numbers": ("value-range", "k-e-anonymity", "epsilon-m-anonymity", "squared-error-diversity"),
    "membership": ("delta-presence", "population-coverage", "differential-privacy"),
    "worth_it": (
        "prosecutor-profitability",
        "journalist-profitability",
        "prosecutor-no-attack",
        "journalist-no-attack",
    ),
}
"""Every model of the registry under the question it answers; the first ones are what most people need."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a model: what kind of thing it is, and whether it may be left out."""

    name: str
    kind: str
    options: tuple[str, ...]
    optional: bool

    def read(self, typed: str) -> Any:
        """What was typed, as a job file would say it; None leaves it out."""
        typed = typed.strip()
        if not typed:
            return None
        match self.kind:
            case "number":
                return number(typed)
            case "names":
                return names(typed)
            case "table":
                return _table(typed)
            case _:
                return typed

    def write(self, value: Any) -> str:
        """A value as it would be typed."""
        if value is None:
            return ""
        if self.kind == "table":
            return ", ".join(f"{key} = {each}" for key, each in value.items())
        if isinstance(value, float):
            return f"{value:g}"
        return ", ".join(value) if isinstance(value, list | tuple) else str(value)


def parameters_of(model: str) -> list[Parameter]:
    """The parameters of a model, in their order.

    >>> [(each.name, each.kind) for each in parameters_of("recursive-diversity")]
    [('column', 'column'), ('c', 'number'), ('l', 'number'), ('given', 'names')]
    """
    return [Parameter(each.name, *_kind(each), not each.required) for each in fields_of(MODELS[model])]


def _kind(field: Field) -> tuple[str, tuple[str, ...]]:
    """How a parameter is asked for, and what can be chosen, from its declaration."""
    kinds = list(alternatives(field.info))
    choices = next((tuple(map(str, each.cls)) for each in kinds if isinstance(each, inspect.EnumType)), ())
    if choices:
        return "choice", choices
    if any(isinstance(each, inspect.DictType) for each in kinds):
        return "table", ()
    if any(isinstance(each, inspect.BoolType) for each in kinds):
        return "tick", ()
    return {"column": "column", "columns": "names", "values": "names"}.get(field.kind, "number"), ()


def begin(model: str, sensitive: Sequence[str], known: Sequence[str]) -> dict[str, Any]:
    """A guarantee with start values; columns are taken from those that have the right role.

    >>> begin("distinct-diversity", ["illness"], ["age"])
    {'model': 'distinct-diversity', 'column': 'illness', 'l': 3}
    """
    entry: dict[str, Any] = {"model": model}
    starts = {field.name: field.start for field in fields_of(MODELS[model])}
    for each in parameters_of(model):
        if each.optional and starts[each.name] is None:
            continue
        if each.kind == "column":
            if not sensitive and not known:
                raise ParameterError(
                    "web.guarantee-about-column-first",
                    "this guarantee is about a column: first say what the columns are",
                )
            entry[each.name] = (*sensitive, *known)[0]
        elif each.kind == "names":
            entry[each.name] = list(sensitive)
        elif each.kind == "table":
            entry[each.name] = {}
        else:
            entry[each.name] = starts[each.name]
    return entry


def shown(entry: dict[str, Any]) -> dict[str, str]:
    """The parameters of a guarantee as texts can name them; those left out are dashes."""
    given = {each.name: each.write(entry.get(each.name)) or "–" for each in parameters_of(entry["model"])}
    if isinstance(entry.get("k"), int):
        given["others"] = str(entry["k"] - 1)
    return given


def _table(typed: str) -> dict[str, Any]:
    try:
        content = toml_value(f"{{{typed}}}")
    except ValueError:
        raise ParameterError(
            "web.write-value-0-5", 'write it as: "value" = 0.5, "other value" = 0.3'
        ) from None
    assert isinstance(content, dict)
    return content
