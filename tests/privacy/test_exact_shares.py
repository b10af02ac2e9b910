"""Every share may be written as a fraction and is compared as one: at the bound, nothing is rounded."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe import anonymize
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.privacy import MODELS, DeltaPresence, EqualCloseness, KMap, Model
from tarnkappe.privacy.exact import decimal
from tarnkappe.risk import ATTACKS
from tarnkappe.schema import fields_of, replace
from tarnkappe.table import Role, Table
from tarnkappe.table.row_tuples import row_tuples

INSTANCES = [model for kind in MODELS for model in kind.examples()]


def accepted_shares(instance: Any) -> list[str]:
    """The parameters that take 0.5 but neither 1.5 nor -0.5, whatever their type is called."""
    found = []
    for field in fields_of(type(instance)):
        if isinstance(getattr(instance, field.name), dict | str | tuple) or field.name == "search_budget":
            continue  # the part of an epsilon is no share, though one of epsilon = 1 lies between 0 and 1

        def takes(value: object, name: str = field.name) -> bool:
            try:
                replace(instance, **{name: value})
            except (ParameterError, TypeError):
                return False
            return True

        if takes(0.5) and not takes(1.5) and not takes(-0.5):
            found.append(field.name)
    return found


@pytest.mark.parametrize("model", INSTANCES, ids=str)
def test_every_share_of_a_model_takes_exact_fractions(model: Model) -> None:
    for name in accepted_shares(model):
        value = getattr(model, name)
        if value is None:
            value = "1/3"
        near = Fraction(decimal(value)).limit_denominator(7)
        as_text = replace(model, **{name: f"{near.numerator}/{near.denominator}"})
        as_fraction = replace(model, **{name: near})
        assert as_text.promise == as_fraction.promise
        assert as_text.bound == as_fraction.bound
        assert isinstance(as_text.bound, int | float)
        with pytest.raises(ParameterError, match="fraction such as '1/3'"):
            replace(model, **{name: "a third"})
        with pytest.raises(ParameterError):
            replace(model, **{name: "1/0"})


@pytest.mark.parametrize("kind", ATTACKS, ids=lambda kind: kind.name)
def test_every_share_of_an_attack_takes_exact_fractions(kind: Any) -> None:
    required = {field.name: "disease" for field in fields_of(kind) if field.required}
    if set(required) - {"column"}:
        return
    attack = kind(**required)
    for name in accepted_shares(attack):
        assert isinstance(replace(attack, **{name: "2/3"}), kind)


def test_models_with_shares_were_found() -> None:
    """The search for shares is no search for nothing."""
    names = {(type(model).name, name) for model in INSTANCES for name in accepted_shares(model)}
    assert names >= {
        ("delta-presence", "minimum"),
        ("delta-presence", "maximum"),
        ("equal-closeness", "t"),
        ("average-risk", "threshold"),
        ("k-map", "sampling_fraction"),
        ("sample-uniqueness", "threshold"),
    }


@pytest.mark.parametrize("part", [(2, 3), (1, 6), (1, 7), (3, 7), (5, 9)])
def test_a_share_of_exactly_the_bound_passes(part: tuple[int, int]) -> None:
    """As text, as a fraction and as a quotient computed in Python; in memory and in SQL."""
    few, many = part
    population = pa.table({"q": ["x"] * many})
    release = pa.table({"q": ["x"] * few})
    tuples = row_tuples(Table(release), ["q"], population=Table(population)).distinct()
    classes = tuples.classes(("q",))
    for bound in (f"{few}/{many}", Fraction(few, many), few / many):
        exact = DeltaPresence(bound, bound)
        assert exact.holds(classes).all(), bound
        below = DeltaPresence(0, Fraction(few, many) - Fraction(1, 10**9))
        assert not below.holds(classes).any()
        result = anonymize(
            Table(release).with_roles({"q": Role.QUASI_IDENTIFIER}),
            privacy=[exact],
            hierarchies={"q": Hierarchy.from_rows([["x", "*"]])},
            population=Table(population),
            seed=1,
        )
        assert all(found.holds for found in result.verified), bound


def test_other_models_pass_at_their_bound_too() -> None:
    assert KMap(6, sampling_fraction="1/6").sub_criteria(None)[0].k == 1  # type: ignore[arg-type, attr-defined]
    assert KMap(6, sampling_fraction=1 / 6).sub_criteria(None)[0].k == 1  # type: ignore[arg-type, attr-defined]
    rows = Table(pa.table({"q": list("aaabbb"), "s": list("xxyxyy")}))
    classes = row_tuples(rows, ["q"], ["s"]).distinct().classes(("q",), distributions=[("s",)])
    for bound in ("1/6", Fraction(1, 6), 1 / 6):
        assert EqualCloseness("s", bound).holds(classes).all(), bound
    assert not np.any(EqualCloseness("s", "9/60").holds(classes))


def test_numbers_are_read_as_they_were_written() -> None:
    assert decimal(0.1) == Fraction(1, 10)
    assert decimal(0.333333) == Fraction(333333, 10**6)
    assert decimal("0.1666666666666666666") != Fraction(1, 6)
    assert all(decimal(a / b) == Fraction(a, b) for b in range(1, 200) for a in range(b + 1))
    generator = np.random.default_rng(0)
    for number in generator.random(200).tolist():
        assert decimal(number) == Fraction(str(number)) or float(decimal(number)) == number


def test_promises_show_fractions_as_fractions() -> None:
    assert "at most 2/3" in DeltaPresence(0, "2/3").promise
    assert "at most 50 percent" in DeltaPresence(0, 0.5).promise
    for model in INSTANCES:
        assert not re.search(r"\d\.\d{8}", model.promise)
