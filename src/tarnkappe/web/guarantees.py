"""The guarantees as the wizard offers them: by the question they answer, with a start for every parameter."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Sequence
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.privacy import MODELS
from tarnkappe.privacy.population_estimators import Estimator
from tarnkappe.web.builder_forms import names, number

QUESTIONS: dict[str, tuple[str, ...]] = {
    "first": ("k-anonymity", "distinct-diversity", "recursive-diversity", "equal-closeness"),
    "singled_out": (
        "k-map",
        "subset-anonymity",
        "multi-relational-k-anonymity",
        "x-y-anonymity",
        "sample-uniqueness",
        "population-uniqueness",
        "average-risk",
    ),
    "known_value": (
        "entropy-diversity",
        "positive-disclosure-recursive-diversity",
        "negative-disclosure-recursive-diversity",
        "p-sensitive-k-anonymity",
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

STARTS: dict[str, Any] = {
    "k": 5,
    "l": 3,
    "c": 3.0,
    "c1": 3.0,
    "c2": 3.0,
    "t": 0.3,
    "p": 0.5,
    "m": 3.0,
    "e": 10.0,
    "error": 10.0,
    "epsilon": 1.0,
    "delta": 1.0,
    "beta": 2.0,
    "alpha": 0.5,
    "minimum": 0.0,
    "maximum": 0.5,
    "threshold": 0.05,
    "publisher_benefit": 1200.0,
    "publisher_loss": 300.0,
    "adversary_gain": 300.0,
    "adversary_cost": 4.0,
}
OWN_STARTS: dict[tuple[str, str], Any] = {
    ("p-sensitive-k-anonymity", "p"): 3,
    ("recursive-diversity", "l"): 3,
    ("subset-anonymity", "l"): 2,
    ("subset-confidence", "l"): 2,
    ("lkc-privacy", "l"): 2,
    ("subset-confidence", "c"): 0.5,
    ("lkc-privacy", "c"): 0.5,
    ("differential-privacy", "delta"): 0.000001,
    ("sample-uniqueness", "threshold"): 0.0,
    ("population-uniqueness", "sampling_fraction"): 0.01,
}
COLUMN = ("column", "guard", "person")
COLUMNS = ("given", "x", "y", "quasi_identifiers")
TEXTS = ("harmless", "must_not_be_excluded", "values")
ESTIMATORS = tuple(map(str, Estimator))
TABLES = ("templates", "nodes", "bounds")


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a model: what kind of thing it is, and whether it may be left out."""

    name: str
    kind: str
    optional: bool
    options: tuple[str, ...] = ()

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
    [('column', 'column'), ('given', 'names'), ('c', 'number'), ('l', 'number')]
    """
    found = []
    for each in dataclasses.fields(MODELS[model]):
        if not each.init:
            continue
        kind = "number"
        if each.name in COLUMN:
            kind = "column"
        elif each.name in (*COLUMNS, *TEXTS):
            kind = "names"
        elif each.name in TABLES:
            kind = "table"
        elif each.name == "estimator":
            found.append(Parameter(each.name, "choice", True, ESTIMATORS))
            continue
        elif each.type == "bool":
            kind = "tick"
        required = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        found.append(Parameter(each.name, kind, not required))
    return found


def begin(model: str, sensitive: Sequence[str], known: Sequence[str]) -> dict[str, Any]:
    """A guarantee with start values; columns are taken from those that have the right role.

    >>> begin("distinct-diversity", ["illness"], ["age"])
    {'model': 'distinct-diversity', 'column': 'illness', 'l': 3}
    """
    entry: dict[str, Any] = {"model": model}
    for each in parameters_of(model):
        if each.optional and (model, each.name) not in OWN_STARTS:
            continue
        if each.kind == "column":
            if not sensitive and not known:
                raise ParameterError("this guarantee is about a column: first say what the columns are")
            entry[each.name] = (*sensitive, *known)[0]
        elif each.kind == "names":
            entry[each.name] = list(sensitive)
        elif each.kind == "table":
            entry[each.name] = {}
        else:
            entry[each.name] = OWN_STARTS.get((model, each.name), STARTS.get(each.name))
    return entry


def shown(entry: dict[str, Any]) -> dict[str, str]:
    """The parameters of a guarantee as texts can name them; those left out are dashes."""
    given = {each.name: each.write(entry.get(each.name)) or "–" for each in parameters_of(entry["model"])}
    if isinstance(entry.get("k"), int):
        given["others"] = str(entry["k"] - 1)
    return given


def _table(typed: str) -> dict[str, Any]:
    try:
        content = tomllib.loads(f"table = {{{typed}}}")["table"]
    except tomllib.TOMLDecodeError:
        raise ParameterError('write it as: "value" = 0.5, "other value" = 0.3') from None
    assert isinstance(content, dict)
    return content
