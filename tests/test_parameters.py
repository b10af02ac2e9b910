"""Whatever is made by name refuses wrong parameters with an error of ours, at once: over all families."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import random
import time
import typing
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tarnkappe
from tarnkappe.errors import ParameterError, TarnkappeError
from tarnkappe.gate import STRATEGIES
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.job import Job
from tarnkappe.job.job import Memory, Output, Source
from tarnkappe.lattice import SEARCHES
from tarnkappe.loss import LOSSES
from tarnkappe.parameters import fits
from tarnkappe.privacy import MODELS
from tarnkappe.recoding import BUCKETIZATIONS, METHODS
from tarnkappe.registry import Registry
from tarnkappe.risk.attacks import ATTACKS
from tarnkappe.risk.measures import MEASURES
from tarnkappe.table.encoding import Progress

FAMILIES: dict[str, Registry[Any]] = {
    family.family: family
    for family in (
        MODELS, LOSSES, SEARCHES, BUILDERS, METHODS, BUCKETIZATIONS, ATTACKS, MEASURES, STRATEGIES,
    )
}  # fmt: skip
MEMBERS = [(family, name) for family, registry in FAMILIES.items() for name in registry.names]

WRONG: tuple[Any, ...] = (
    None, True, False, float("nan"), float("inf"), float("-inf"), -1, 0, 1, 2, 0.5, -0.5, 1e308, 10**8, 10**30,
    10**5000, "", "x", "1/0", "1/3", "nan", "-1", "\0", "x" * 10_000, b"x", [], [None], [1, 2], [2, 1], [[]],
    ["a", "a"], [["a"], ["a"]], [float("nan")], ["x", 1, None], (), ("a",), {}, {"a": None}, {"a": float("nan")},
    {"a": 1}, {1: 2}, {"a": [1]}, {"a": ("0", "1")}, {"a": ("x", "1/0")}, set(), {"a"}, frozenset({1}), object(),
    Fraction(1, 2), decimal.Decimal("NaN"), np.float64("nan"), np.int64(3), datetime.date(2020, 1, 1),
    lambda: None, int, Ellipsis,
)  # fmt: skip
each_value = pytest.mark.parametrize("value", WRONG, ids=[f"value {n}" for n in range(len(WRONG))])
PLAUSIBLE: dict[Any, Any] = {int: 2, float: 0.5, str: "a", bool: False}


def fields(kind: type) -> list[str]:
    return [field.name for field in dataclasses.fields(kind) if field.init]  # type: ignore[arg-type]


def plausible(kind: type) -> dict[str, Any]:
    """Values for the parameters that must be given."""
    hints = typing.get_type_hints(kind)
    missing = dataclasses.MISSING
    found = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        if field.init and field.default is missing and field.default_factory is missing:
            origin = typing.get_origin(hints[field.name])
            found[field.name] = PLAUSIBLE.get(hints[field.name], ["a"] if origin is tuple else 0.5)
    return found | {"width": 5} if getattr(kind, "name", "") == "intervals" else found


def constructions(kind: type, extra: int = 40) -> Iterator[dict[str, Any]]:
    """Every wrong value for every parameter, and some for several at once."""
    base, names = plausible(kind), fields(kind)
    for name in names:
        for value in WRONG:
            yield {**base, name: value}
    chance = random.Random(kind.__name__)
    for _ in range(extra if names else 0):
        some = chance.sample(names, chance.randint(1, len(names)))
        yield {**base, **{name: chance.choice(WRONG) for name in some}}


def made_or_refused(create: Any) -> str:
    """What came of a construction: an error of ours, or something that can be told."""
    start, said = time.process_time(), "made"
    try:
        told = create()
        str(told)
        repr(told)
        getattr(told, "promise", None)
    except TarnkappeError as error:
        said = str(error)
    assert time.process_time() - start < 1, "too long for a construction"
    assert said, "an error without a sentence"
    assert len(said) < 2_100, "an error that quotes everything"
    return said


@pytest.mark.parametrize(("family", "name"), MEMBERS)
def test_a_wrong_parameter_is_refused_with_a_sentence(family: str, name: str) -> None:
    registry = FAMILIES[family]
    for parameters in constructions(registry[name]):
        made_or_refused(lambda given=parameters: registry.create(name, given))
        made_or_refused(lambda given=parameters: registry[name](**given))


def test_thousands_of_constructions_are_drawn() -> None:
    drawn = sum(1 for family, name in MEMBERS for _ in constructions(FAMILIES[family][name]))
    assert drawn > 4_592


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
        for name, hint in typing.get_type_hints(kind).items():
            if hint in (int, float) and name in fields(kind):
                with pytest.raises(ParameterError, match=name):
                    kind(**{**plausible(kind), name: number})


@pytest.mark.parametrize("kind", [Source, Output, Memory, Job])
def test_a_setting_of_the_wrong_kind_is_refused(kind: type) -> None:
    for parameters in constructions(kind, extra=200):
        made_or_refused(lambda given=parameters: kind(**given))


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
            made_or_refused(lambda given=document: Job.from_dict(given))


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
        (kind.name, name)
        for kind in BUILDERS
        for name, hint in typing.get_type_hints(kind).items()
        if name in fields(kind) and (hint is int or int in typing.get_args(hint))
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
