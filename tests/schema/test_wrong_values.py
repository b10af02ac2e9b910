"""Whatever is made by name refuses wrong parameters with an error of ours, at once: over all families."""

from __future__ import annotations

import dataclasses
import gc
import random
import time
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from msgspec import inspect

import tarnkappe
from tarnkappe.errors import TarnkappeError
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.job import Job
from tarnkappe.job.sources import InputSource, Memory, Output
from tarnkappe.schema import InvalidError, fields_of
from tarnkappe.schema.arguments import fits
from tarnkappe.schema.described import alternatives
from tarnkappe.table.encoding import Progress
from tests.schema.families import DECLARED, FAMILIES, MEMBERS, WRONG, constructions, plausible

each_value = pytest.mark.parametrize("value", WRONG, ids=[f"value {n}" for n in range(len(WRONG))])
LONGEST_SECONDS = 0.05
"""Of processor time, for one construction."""


def fields(kind: type) -> list[str]:
    return [field.name for field in fields_of(kind)]


@pytest.fixture(scope="module", autouse=True)
def types_are_known() -> None:
    """What is worked out once for a class is not part of a construction."""
    for kind in DECLARED:
        for field in fields_of(kind):
            assert field.info


def made_or_refused(create: Any, *, longest: int = 300, seconds: float = LONGEST_SECONDS) -> str:
    """What came of a construction: an error of ours, or something that can be told."""
    took = []
    for _ in range(
        5
    ):  # one that takes long does so again; another thread or the collection of garbage does not
        gc.disable()
        start, said, codes = time.thread_time(), "made", set()
        try:
            told = create()
        except TarnkappeError as error:
            said, codes = str(error), {problem.code for problem in getattr(error, "problems", ())}
        finally:
            gc.enable()
        took.append(time.thread_time() - start)
        if took[-1] < seconds:
            break
    assert min(took) < seconds, "too long for a construction"
    assert said, "an error without a sentence"
    assert "schema.invalid" not in codes, "an error that does not say what is wrong"
    assert len(said) < longest, "an error that quotes everything"
    if said == "made":
        assert len(f"{told}{told!r}{getattr(told, 'promise', None)}") > 0
    return said


@pytest.mark.parametrize(("family", "name"), MEMBERS)
def test_a_wrong_parameter_is_refused_with_a_sentence(family: str, name: str) -> None:
    members = FAMILIES[family]
    for parameters in constructions(members[name], extra=5):
        made_or_refused(lambda given=parameters: members.create(name, given))


@pytest.mark.slow
def test_twenty_thousand_constructions_end_in_a_member_or_in_an_error_of_ours(capsys: Any) -> None:
    made = refused = 0
    for family, name in MEMBERS:
        members = FAMILIES[family]
        for parameters in constructions(members[name], extra=200):
            for create in (lambda: members.create(name, parameters), lambda: members[name](**parameters)):  # noqa: B023
                ended = made_or_refused(create) == "made"
                made, refused = made + ended, refused + (not ended)
    with capsys.disabled():
        print(f"{made + refused} constructions: {made} made, {refused} refused, nothing else")
    assert made + refused > 20_000


@pytest.mark.parametrize("family", FAMILIES)
def test_a_name_of_the_wrong_kind_is_refused(family: str) -> None:
    for name in WRONG:
        with pytest.raises(TarnkappeError):
            FAMILIES[family].create(name, {})
        with pytest.raises(TarnkappeError):
            FAMILIES[family].create(FAMILIES[family].names[0], [name])  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), True, None, [1]])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_member_takes_what_is_no_number_for_one(family: str, number: object) -> None:
    for kind in FAMILIES[family]:
        for field in fields_of(kind):
            kinds = {type(each) for each in alternatives(field.info)}
            if kinds <= {inspect.IntType, inspect.FloatType}:
                with pytest.raises(InvalidError, match=field.name):
                    kind(**{**plausible(kind), field.name: number})


SETTINGS: dict[type, dict[str, Any]] = {
    InputSource: {"path": "a"},
    Output: {},
    Memory: {"store": "a", "key": "b"},
    Job: dict.fromkeys(("input", "columns", "privacy", "loss", "search"), 0.5),
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_setting_of_the_wrong_kind_is_refused(kind: type) -> None:
    known: Any = fields_of(kind) or dataclasses.fields(kind)  # type: ignore[arg-type]
    names, base = [field.name for field in known], SETTINGS[kind]
    chance = random.Random(kind.__name__)
    for name in names:
        for value in WRONG:
            made_or_refused(lambda given={**base, name: value}: kind(**given), longest=2_100)
    for _ in range(200):
        some = chance.sample(names, chance.randint(1, len(names)))
        given = {**base, **{name: chance.choice(WRONG) for name in some}}
        made_or_refused(lambda given=given: kind(**given), longest=2_100)


SECTIONS = ("input", "population", "columns", "privacy", "search", "history", "output")
GOOD: dict[str, Any] = {
    "input": {"path": "people.csv", "several_rows_per_person": False},
    "columns": {
        "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": 5}, "weight": 1.0}
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "search": {"algorithm": "auto", "loss": "entropy", "suppression_limit": 0.0, "seconds": 1.0},
    "history": {"store": "a.db", "key": "a.key"},
    "output": {"path": "out.csv", "shuffle": True, "report": "r.html"},
}


def changed(content: Any, value: object) -> Iterator[Any]:
    """A document with one of its parts replaced, each in its turn."""
    yield value
    if isinstance(content, dict):
        for key in content:
            for each in changed(content[key], value):
                yield {**content, key: each}
    elif isinstance(content, list):
        for number, part in enumerate(content):
            for each in changed(part, value):
                yield [*content[:number], each, *content[number + 1 :]]


@each_value
def test_a_job_with_one_wrong_part_is_read_or_refused_with_a_sentence(value: object) -> None:
    for document in changed(GOOD, value):
        if isinstance(document, dict):
            made_or_refused(lambda given=document: Job.from_dict(given), longest=2_100, seconds=0.5)


def test_a_truth_is_asked_for_where_a_text_would_count_as_one() -> None:
    for section, key in (("output", "shuffle"), ("input", "several_rows_per_person")):
        for word in ("no", "false", 0, 1):
            with pytest.raises(TarnkappeError, match=key):
                Job.from_dict({**GOOD, section: {**GOOD[section], key: word}})


@each_value
def test_arguments_of_anonymize_are_refused_with_a_sentence(value: Any) -> None:
    table = tarnkappe.examples.hospital(rows=20, seed=1).table
    good: dict[str, Any] = {"privacy": [tarnkappe.models.KAnonymity(100)]}
    names = ("privacy", "hierarchies", "levels", "weights", "aggregates", "suppressed_columns", "publish", "loss",
             "suppression_limit", "suppression", "local_recoding", "algorithm", "population", "shuffle", "seed")  # fmt: skip
    for name in names:
        with pytest.raises(TarnkappeError):
            tarnkappe.anonymize(table, **{**good, name: value})
    with pytest.raises(TarnkappeError):
        tarnkappe.anonymize(value, **good)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_error_is_no_longer_than_a_page_whatever_it_quotes(family: str) -> None:
    for kind in FAMILIES[family]:
        for name in fields(kind):
            with pytest.raises(TarnkappeError) as refused:
                kind(**{**plausible(kind), name: b"secret" * 1000})
            assert len(str(refused.value)) <= 2_010


def numbers_of_builders() -> list[tuple[str, str]]:
    """The parameters of builders that may be whole numbers."""
    return [
        (kind.name, field.name)
        for kind in BUILDERS
        for field in fields_of(kind)
        if any(isinstance(each, inspect.IntType) for each in alternatives(field.info))
    ]


@pytest.mark.parametrize(("builder", "parameter"), numbers_of_builders())
def test_a_huge_number_of_levels_or_labels_is_refused_at_once(builder: str, parameter: str) -> None:
    table = tarnkappe.examples.hospital(rows=50, seed=1).table
    needed = {"intervals": {"width": 5}, "groups": {"groups": {"a": ["x"]}}, "dates": {"levels": ["year"]}}
    for huge in (10**8, 10**15, -(10**8)):
        start, said = time.process_time(), "made"
        try:
            plan = {"builder": builder, **needed.get(builder, {}), parameter: huge}
            if parameter != "width" and "width" in plan and parameter == "quantiles":
                del plan["width"]
            tarnkappe.anonymize(
                table.with_roles(quasi_identifiers=["age"]),
                privacy=tarnkappe.models.KAnonymity(1),
                hierarchies={"age": plan},
            )
        except TarnkappeError as error:
            said = str(error)
        assert said
        assert time.process_time() - start < 5


def test_what_is_told_about_progress_may_be_left_out_by_name() -> None:
    assert fits(None, Progress | None)
    assert fits(print, Progress | None)


@pytest.mark.parametrize(
    ("value", "hint", "is_right"),
    [
        ("".join(["au", "to"]), Literal["auto", "none"], True),  # equal, and another object
        (10**3, Literal[1000], True),
        (1.0, Literal[1], False),
        (True, Literal[1], False),
        (1, Literal[True], False),
        ("other", Literal["auto", "none"], False),
        (int, type[int], True),
        (3, type[int], False),
        ("int", type[int], False),
    ],
)
def test_a_choice_is_one_of_its_values_and_a_class_is_a_class(
    value: object, hint: Any, is_right: bool
) -> None:
    assert fits(value, hint) is is_right
