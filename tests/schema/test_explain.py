"""What is explained is what is refused: msgspec decides, our walk over the type says why."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.schema import Field, InvalidError, Problem, fields_of, rule
from tarnkappe.schema.explain import explain, holds_fractions, plain
from tarnkappe.schema.problem import LONGEST_SENTENCE, place_of, sentence_of
from tests.schema.families import DECLARED, FAMILIES
from tests.schema.test_family import Hat

FIELDS = [field for kind in DECLARED for field in fields_of(kind)]
texts = st.sampled_from(
    ["", "a", "1/3", "3/2", "1/0", "0.5", "\0", "sum", "year", "total", "x" * 10_001]
) | st.text(max_size=5)
scalars = (
    st.none() | st.booleans() | texts | st.integers() | st.floats() | st.integers(-3, 70)
    | st.sampled_from([10**18, 10**18 + 1, 10**19, -(10**18), 1e300, 1e301, 10**400])
)  # fmt: skip
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts | st.integers(), inner, max_size=3),
    max_leaves=6,
)


def accepted(value: object, field: Field) -> bool:
    try:
        msgspec.convert(value, field.type)
    except msgspec.ValidationError:
        return False
    return True


@settings(max_examples=2_000)
@given(field=st.sampled_from(FIELDS), value=documents)
def test_a_problem_is_explained_exactly_where_msgspec_refuses(field: Field, value: Any) -> None:
    document = plain(value, field.info)
    problems = list(explain(document, field.info, (field.name,)))
    if not accepted(document, field):
        assert problems
    elif not holds_fractions(field.info):  # whose bounds msgspec does not know
        assert not problems


@settings(max_examples=1_000)
@given(field=st.sampled_from(FIELDS), value=documents)
def test_what_is_taken_is_taken_again_and_every_refusal_has_a_reason(field: Field, value: Any) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        taken = field.converted(value)
    except InvalidError as error:
        problems = error.problems or (Problem("schema.invalid"),)
    else:
        assert field.converted(taken) == taken
    assert all(problem.code != "schema.invalid" for problem in problems)
    assert all(problem.path[0] == field.name for problem in problems)


def test_all_that_is_wrong_is_told_at_once_with_places() -> None:
    with pytest.raises(InvalidError) as refused:
        FAMILIES["privacy model"].create(
            "negative-disclosure-recursive-diversity",
            {"colum": "a", "c1": 0, "c2": float("nan"), "l": 1, "harmless": [None]},
        )
    found = {(each.code, place_of(each.path)) for each in refused.value.problems}
    assert found == {
        ("schema.unknown", "colum"),
        ("schema.missing", "column"),
        ("schema.not-above", "c1"),
        ("schema.not-finite", "c2"),
        ("schema.below", "l"),
        ("schema.type", "harmless 1"),
    }
    assert "did you mean 'column'?" in str(refused.value)


def test_a_code_has_its_arguments() -> None:
    with pytest.raises(InvalidError) as refused:
        Hat(100)
    (problem,) = refused.value.problems
    assert (problem.code, problem.path, problem.args) == (
        "schema.above",
        ("size",),
        {"most": "99", "got": "100"},
    )
    assert str(refused.value) == "hat: size: at most 99 is allowed, not 100"


def test_more_problems_than_fit_are_counted() -> None:
    wrong = [rule("hat.feather", "feather {n} is loose", "feathers", n, n=n) for n in range(50)]
    said = sentence_of("hat", wrong)
    assert len(said) < LONGEST_SENTENCE + 20
    assert "more)" in said


def test_a_parameter_that_is_refused_by_a_rule_is_named() -> None:
    with pytest.raises(InvalidError) as refused:
        FAMILIES["privacy model"].create("distinct-diversity", {"column": "a", "l": 2, "given": "a"})
    assert refused.value.problems[0].code == "model.given-to-itself"
    assert "distinct-diversity: given: the column 'a' cannot be given to itself" in str(refused.value)
