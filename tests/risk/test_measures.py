"""Risk measures: each agrees with a slow and obviously correct twin on random tables."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.risk import MEASURES, check
from tarnkappe.risk.measures import (
    AttributeDisclosure,
    Contributions,
    Distinction,
    ReidentificationRisk,
    SpecialUniques,
    SurveyRisk,
    Uniqueness,
    Wildcards,
    with_usual,
)
from tarnkappe.risk.measures import contributions as contributions_module
from tarnkappe.risk.measures.contributions import exact_shapley, sampled_shapley
from tarnkappe.risk.measures.minimal_uniques import UniqueRows
from tarnkappe.risk.measures.special_uniques import score_of
from tarnkappe.table import SUPPRESSED, Classes
from tarnkappe.table.row_tuples import row_tuples
from tests.random_tables import Example, Row, examples, group
from tests.risk.test_check import as_table

Twin = Callable[[list[Row], list[Row] | None, tuple[str, ...]], dict[str, Any]]
TWINS: dict[str, Twin] = {}
THRESHOLD = Fraction(2, 5)


def twin(name: str) -> Callable[[Twin], Twin]:
    def register(function: Twin) -> Twin:
        TWINS[name] = function
        return function

    return register


def instance(name: str) -> Any:
    """The measure with the parameters that the twins assume."""
    return {
        "reidentification": ReidentificationRisk("2/5"),
        "uniqueness": Uniqueness(),
        "attribute-disclosure": AttributeDisclosure("2/5"),
        "special-uniques": SpecialUniques(3),
        "contributions": Contributions(),
        "distinction": Distinction(2, "2/5"),
        "wildcards": Wildcards("2/5"),
        "survey-risk": SurveyRisk(threshold="2/5"),
    }[name]


def classes_of(rows: list[Row], names: tuple[str, ...], population: list[Row] | None = None) -> Classes:
    everyone = None if population is None else as_table(population)
    tuples = row_tuples(as_table(rows), names, ["disease"], population=everyone)
    return tuples.classes(names, None, [("disease",)])


@twin("wildcards")
def wildcards(rows, population, names):
    """Each row compared with each."""
    seen = [{name: str(row[name]) for name in names} for row in rows]

    def fits(one, other):
        return all(one[n] == other[n] or SUPPRESSED in (one[n], other[n]) for n in names)

    risks = [Fraction(1, sum(fits(one, other) for other in seen)) for one in seen]
    return {
        "highest": max(risks),
        "average": sum(risks) / len(rows),
        "above": Fraction(sum(risk > THRESHOLD for risk in risks), len(rows)),
        "starred": Fraction(sum(SUPPRESSED in row.values() for row in seen), len(rows)),
    }


@twin("survey-risk")
def survey_risk(rows, population, names):
    """Without weights each row stands for itself, so F is f."""
    risks = [Fraction(1, len(members)) for members in group(rows, names).values() for _ in members]
    return {
        "population": float(len(rows)),
        "highest": max(risks),
        "average": sum(risks) / len(rows),
        "expected": float(sum(risks)),
        "above": Fraction(sum(risk > THRESHOLD for risk in risks), len(rows)),
    }


@twin("reidentification")
def reidentification(rows, population, names):
    sample = {key: len(members) for key, members in group(rows, names).items()}
    people = {key: len(members) for key, members in group(population or [], names).items()}
    each = [Fraction(1, sample[key]) for key, size in sample.items() for _ in range(size)]
    found = {
        "prosecutor": {
            "highest": max(each),
            "average": sum(each) / len(rows),
            "above": Fraction(sum(risk > THRESHOLD for risk in each), len(rows)),
        },
        "journalist": None,
        "marketer": sum(each) / len(rows),
    }
    if population:
        risks = [Fraction(1, people[key]) for key, size in sample.items() for _ in range(size)]
        from_person = Fraction(len(sample), sum(people[key] for key in sample))
        found["marketer"] = sum(risks) / len(rows)
        found["journalist"] = {
            "highest": max(risks),
            "average": max(from_person, sum(risks) / len(rows)),
            "above": Fraction(sum(risk > THRESHOLD for risk in risks), len(rows)),
        }
    return found


@twin("uniqueness")
def uniqueness(rows, population, names):
    alone = [key for key, members in group(rows, names).items() if len(members) == 1]
    people = {key: len(members) for key, members in group(population or [], names).items()}
    return {
        "sample_uniques": len(alone),
        "sample_share": Fraction(len(alone), len(rows)),
        "population_uniques": sum(n == 1 for n in people.values()) if population else None,
        "uniques_found": sum(people[key] == 1 for key in alone) if population else None,
    }


@twin("attribute-disclosure")
def attribute_disclosure(rows, population, names):
    shown = [row for row in rows if row["disease"] != SUPPRESSED]
    if not shown:
        return {"columns": {}}
    guessed = certain = above = 0
    highest = Fraction(0)
    for members in group(shown, names).values():
        counts = Counter(row["disease"] for row in members)
        guessed += max(counts.values())
        certain += len(members) if len(counts) == 1 else 0
        shares = {value: Fraction(number, len(members)) for value, number in counts.items()}
        above += sum(shares[row["disease"]] > THRESHOLD for row in members)
        highest = max(highest, *shares.values())
    blind = max(Counter(row["disease"] for row in shown).values())
    return {
        "columns": {
            "disease": {
                "rows": len(shown),
                "highest": highest,
                "guessed": Fraction(guessed, len(shown)),
                "blind": Fraction(blind, len(shown)),
                "gain": Fraction(guessed - blind, len(shown)),
                "certain": certain,
                "above": Fraction(above, len(shown)),
            }
        }
    }


def minimal_uniques(rows: list[Row], names: tuple[str, ...], largest: int) -> list[list[tuple[str, ...]]]:
    """For each row the smallest sets of columns in which it is unique, by looking at all sets."""
    found = []
    for row in rows:
        unique = [
            columns
            for size in range(1, largest + 1)
            for columns in itertools.combinations(names, size)
            if sum(all(other[name] == row[name] for name in columns) for other in rows) == 1
        ]
        found.append([s for s in unique if not any(set(t) < set(s) for t in unique)])
    return found


@twin("distinction")
def distinction(rows, population, names):
    """Pair by pair; every set is compared with every key."""
    found, largest = [], min(2, len(names))
    pairs = list(itertools.combinations(rows, 2))
    for size in range(1, largest + 1):
        for columns in itertools.combinations(names, size):
            told = sum(any(a[c] != b[c] for c in columns) for a, b in pairs)
            classes = len({tuple(row[c] for c in columns) for row in rows})
            separation = Fraction(told, len(pairs)) if pairs else Fraction(0)
            found.append((columns, classes, Fraction(classes, len(rows)), separation))
    found.sort(key=lambda each: (len(each[0]), -each[3], -each[1], each[0]))
    strong = [set(columns) for columns, _, share, _ in found if share >= THRESHOLD]
    keys = [each[0] for each in found if each[2] >= THRESHOLD and not any(k < set(each[0]) for k in strong)]
    sets = [
        {"columns": list(columns), "classes": classes, "distinction": share, "separation": separation}
        for columns, classes, share, separation in found
    ]
    return {"largest": largest, "sets": sets, "keys": [list(columns) for columns in keys]}


@twin("special-uniques")
def special_uniques(rows, population, names):
    width, largest = len(names), min(3, len(names))
    found = minimal_uniques(rows, names, largest)

    def score(columns: tuple[str, ...]) -> int:
        factors = [width - i for i in range(len(columns), largest + 1)]
        return math.prod(factor for factor in factors if factor)

    scores = [sum(map(score, sets)) for sets in found]
    total = max(sum(scores), 1)
    return {
        "largest": largest,
        "number": {
            str(n): sum(len(columns) == n for sets in found for columns in sets)
            for n in range(1, largest + 1)
        },
        "rows": sum(map(bool, found)),
        "highest_score": max(scores),
        "columns": {
            name: Fraction(sum(score(c) for sets in found for c in sets if name in c), total)
            for name in names
        },
    }


@twin("contributions")
def contributions(rows, population, names):
    def game(known: frozenset[str]) -> tuple[Fraction, int]:
        sizes = Counter(tuple(row[name] for name in sorted(known)) for row in rows)
        return Fraction(len(sizes), len(rows)), sum(size == 1 for size in sizes.values())

    orders = list(itertools.permutations(names))
    everyone = frozenset(names)
    shapley = dict.fromkeys(names, (Fraction(0), Fraction(0)))
    for order in orders:
        known: frozenset[str] = frozenset()
        for name in order:
            before, after = game(known), game(known | {name})
            share, uniques = shapley[name]
            shapley[name] = (share + after[0] - before[0], uniques + after[1] - before[1])
            known |= {name}
    return {
        "average": game(everyone)[0],
        "uniques": game(everyone)[1],
        "exact": True,
        "columns": {
            name: {
                "without": game(everyone - {name})[0],
                "uniques_without": game(everyone - {name})[1],
                "share": share / len(orders),
                "uniques": uniques / len(orders),
                "error": 0,
                "uniques_error": 0,
            }
            for name, (share, uniques) in shapley.items()
        },
    }


def agree(expected: Any, found: Any, where: str = "") -> None:
    """Whether all that a twin says is what the measure says."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            agree(value, found[key], f"{where}.{key}")
    elif isinstance(expected, list) and expected and isinstance(expected[0], dict):
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            agree(one, other, f"{where}[{place}]")
    elif isinstance(expected, Fraction | float):
        assert found == pytest.approx(float(expected), abs=1e-12), where
    else:
        assert found == expected, where


def test_every_measure_has_a_twin() -> None:
    assert set(TWINS) == set(MEASURES.names)


@pytest.mark.parametrize("name", MEASURES.names)
@given(example=examples(max_columns=3))
@settings(max_examples=60)
def test_measures_agree_with_their_twins(name: str, example: Example) -> None:
    names = example.quasi_identifiers
    found = instance(name).measure(classes_of(example.rows, names)).to_dict()
    agree(TWINS[name](example.rows, None, names), json.loads(json.dumps(found)))


@pytest.mark.parametrize("name", MEASURES.names)
@given(example=examples(max_columns=2, with_population=True))
@settings(max_examples=40)
def test_measures_agree_with_their_twins_in_a_population(name: str, example: Example) -> None:
    names = example.quasi_identifiers
    found = instance(name).measure(classes_of(example.rows, names, example.population)).to_dict()
    agree(TWINS[name](example.rows, example.population, names), json.loads(json.dumps(found)))


@pytest.mark.parametrize("name", MEASURES.names)
def test_what_a_measure_found_can_be_shown(name: str) -> None:
    rows = [{"a": n % 3, "b": n % 5, "c": n // 4, "disease": "flu" if n % 2 else "*"} for n in range(20)]
    found = instance(name).measure(classes_of(rows, ("a", "b", "c")))
    json.dumps(found.to_dict(), allow_nan=False)
    figures = list(found.figures())
    assert figures
    assert all(figure.label and figure.meaning and figure.text for figure in figures)
    for chart in found.charts():
        assert chart.bars
        assert chart.title
        assert chart.caption
        assert all(0 <= bar.value <= chart.longest for bar in chart.bars)


@pytest.mark.parametrize("name", MEASURES.names)
@given(example=examples(), data=st.data())
@settings(max_examples=15)
def test_measures_do_not_depend_on_the_order_of_the_rows(name: str, example: Example, data: Any) -> None:
    def found(rows: list[Row]) -> Any:
        told = instance(name).measure(classes_of(rows, example.quasi_identifiers)).to_dict()
        told.pop("worst", None)  # it names rows by their places
        return json.loads(json.dumps(told), parse_float=lambda text: round(float(text), 9))

    assert found(example.rows) == found(data.draw(st.permutations(example.rows)))


# Special uniques.


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 2)] * 5), min_size=1, max_size=25),
    largest=st.integers(1, 5),
)
@settings(max_examples=80)
def test_minimal_uniques_are_those_of_a_search_through_all_sets(
    rows: list[tuple[int, ...]], largest: int
) -> None:
    names = tuple("vwxyz")
    plain = [dict(zip(names, row, strict=True)) for row in rows]
    table = [{**row, "disease": "flu"} for row in plain]
    found = SpecialUniques(largest).measure(classes_of(table, names))
    expected = minimal_uniques(plain, names, largest)
    scores = [sum(score_of(len(columns), 5, largest) for columns in sets) for sets in expected]
    assert found.scores.tolist() == scores
    for special in found.worst:
        assert list(special.columns) == expected[special.row - 1]
        assert special.score == scores[special.row - 1]
    assert sorted((s.score for s in found.worst), reverse=True) == [s.score for s in found.worst]


@given(data=st.data())
@settings(max_examples=30)
def test_keys_too_many_for_64_bits_are_counted_right(data: st.DataObject) -> None:
    """Codes are told apart by hash table and by array alike, and when their product overflows."""
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=20, unique=True))
    columns = [np.array(codes, np.int32) for codes in zip(*rows, strict=True)]
    sizes = np.array(data.draw(st.lists(st.integers(1, 2), min_size=len(rows), max_size=len(rows))))
    answers = []
    for cardinality in (4, 2**20, 2**30):  # by array, by hash table, and by groups of the first columns
        found = UniqueRows(columns, [cardinality] * 3, sizes).minimal_uniques(3)
        answers.append([(unique.columns, unique.rows.tolist()) for unique in found])
    assert answers[0] == answers[1] == answers[2]
    for columns_found, unique_rows in answers[0]:
        for row in unique_rows:
            assert columns_found in UniqueRows(columns, [4] * 3, sizes).of_row(row, 3)


def test_scores_are_those_of_elliot_and_manning() -> None:
    """With 8 columns and sets of up to 3: a set of 1 scores 7 x 6 x 5, of 2 scores 6 x 5, of 3 scores 5."""
    assert [score_of(size, 8, 3) for size in (1, 2, 3)] == [210, 30, 5]
    assert [score_of(size, 3, 3) for size in (1, 2, 3)] == [2, 1, 1]
    assert score_of(1, 1, 1) == 1


def test_far_too_many_sets_of_columns_are_refused() -> None:
    rows = [{f"c{n}": n for n in range(70)} | {"disease": "flu"}]
    with pytest.raises(ParameterError, match="choose a smaller size"):
        SpecialUniques(5).measure(classes_of(rows, tuple(f"c{n}" for n in range(70))))
    with pytest.raises(ParameterError, match="at least 1"):
        SpecialUniques(0)


def test_a_person_shared_by_two_rows_is_never_special() -> None:
    rows = [{"a": 1, "disease": "flu"}, {"a": 1, "disease": "flu"}, {"a": 2, "disease": "flu"}]
    found = SpecialUniques(1).measure(classes_of(rows, ("a",)))
    assert found.scores.tolist() == [0, 0, 1]
    assert found.worst[0].row == 3


# Contributions.


def test_two_columns_that_say_the_same_share_what_is_due_to_them() -> None:
    """Leaving out either changes nothing, which is why leaving out alone does not tell enough."""
    rows = [{"a": n, "b": n, "c": n % 2, "disease": "flu"} for n in range(10)]
    found = Contributions().measure(classes_of(rows, ("a", "b", "c")))
    a, b, c = found.columns.values()
    assert a.without == b.without == found.average == 1
    assert a.share == pytest.approx(b.share)
    assert a.share > 0.4
    assert a.share + b.share + c.share == pytest.approx(found.average - 1 / len(rows))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=10)
def test_shapley_values_add_up_and_pass_by_a_column_that_adds_nothing(seed: int) -> None:
    generator = np.random.default_rng(seed)
    worth = {frozenset(s): generator.random(2) for n in range(5) for s in itertools.combinations(range(4), n)}

    def game(known: frozenset[int]) -> Any:
        return worth[known - {4}]  # the fifth adds nothing

    values = exact_shapley(game, 5)
    assert values.sum(axis=0) == pytest.approx(game(frozenset(range(5))) - game(frozenset()))
    assert values[4] == pytest.approx([0, 0])
    sampled, errors = sampled_shapley(game, 5, 2000, generator)
    assert sampled.sum(axis=0) == pytest.approx(values.sum(axis=0))
    assert (np.abs(sampled - values) <= 2.5 * errors + 1e-9).all()


@pytest.mark.parametrize("pairs", [15, 60])
def test_the_stated_error_of_sampled_values_holds_in_19_of_20_cases(pairs: int) -> None:
    generator = np.random.default_rng(3)
    weights = generator.random(8)

    def game(known: frozenset[int]) -> Any:
        return np.array([math.sqrt(sum(weights[n] for n in known))])

    exact = exact_shapley(game, 8)
    within = []
    for _ in range(100):
        sampled, errors = sampled_shapley(game, 8, pairs, generator)
        within.append(np.abs(sampled - exact) <= errors)
    assert 0.9 <= np.mean(within) <= 1


def test_more_columns_are_sampled_near_the_exact_values_and_say_so(monkeypatch: Any) -> None:
    generator = np.random.default_rng(1)
    rows = [
        {**{f"c{n}": int(generator.integers(0, 2 + n % 3)) for n in range(8)}, "disease": "flu"}
        for _ in range(300)
    ]
    classes = classes_of(rows, tuple(f"c{n}" for n in range(8)))
    exact, sampled = Contributions().measure(classes), Contributions(most_exact=4).measure(classes)
    assert (exact.exact, sampled.exact) == (True, False)
    for name, found in sampled.columns.items():
        true = exact.columns[name]
        assert 0 < found.error < 0.02
        assert abs(found.share - true.share) <= 2 * found.error
        assert abs(found.uniques - true.uniques) <= 2 * found.uniques_error
        assert (found.without, found.uniques_without) == (true.without, true.uniques_without)
    assert sampled.to_dict() == Contributions(most_exact=4).measure(classes).to_dict()
    monkeypatch.setattr(contributions_module, "EXACT_WORK", 10_000)  # as if the table were very large
    assert not Contributions().measure(classes).exact


# The choice of measures.


def test_usual_measures_are_taken_anyway_and_replaced_by_their_namesakes() -> None:
    rows = [{"a": n % 3, "disease": "flu"} for n in range(7)]
    table = as_table(rows)
    report = check(table, quasi_identifiers=["a"], sensitive=["disease"])
    assert list(report.measures) == ["reidentification", "uniqueness", "attribute-disclosure"]
    found = check(table, quasi_identifiers=["a"], measures=[ReidentificationRisk(0.4), SpecialUniques(1)])
    assert list(found.measures)[-1] == "special-uniques"
    assert found.measures["reidentification"].to_dict()["threshold"] == 0.4
    chosen = with_usual([], "1/4")
    assert all(getattr(m, "sampling_fraction", "1/4") == "1/4" for m in chosen)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "two", True])
def test_impossible_parameters_are_refused(bad: Any) -> None:
    for create in (
        lambda: ReidentificationRisk(bad),
        lambda: ReidentificationRisk(sampling_fraction=bad),
        lambda: Uniqueness(bad),
        lambda: AttributeDisclosure(bad),
    ):
        with pytest.raises(ParameterError):
            create()


def test_a_risk_equal_to_the_threshold_is_not_above_it() -> None:
    rows = [{"a": n % 2, "disease": "flu"} for n in range(10)]
    found = ReidentificationRisk(0.2).measure(classes_of(rows, ("a",)))
    assert found.prosecutor.above == 0
    assert ReidentificationRisk(0.199).measure(classes_of(rows, ("a",))).prosecutor.above == 1
    assert sum(part.rows for part in found.distribution) == 10
    assert [part.most for part in found.distribution if part.rows] == [0.2]
