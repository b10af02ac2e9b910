"""What every attack must fulfil; an attack in the registry is tested here without being asked."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, HierarchyError, ParameterError
from tarnkappe.privacy import DistinctDiversity, EqualCloseness, KAnonymity, RecursiveDiversity, protect
from tarnkappe.risk import ATTACKS, Attack, Target, VictimClass, attack_all
from tarnkappe.risk.attacks import (
    BackgroundKnowledge,
    Homogeneity,
    Linking,
    ProbabilisticInference,
    Similarity,
    Skewness,
)
from tarnkappe.schema import fields_of
from tarnkappe.table import SUPPRESSED, ClassState
from tarnkappe.table.classes import release_everything
from tests.random_tables import DISEASE_LEVELS, Example, build_tuples, examples
from tests.risk import background_twins
from tests.risk.background_twins import WORLDS
from tests.risk.twins import TWINS

LEVELS = [{**DISEASE_LEVELS[0], SUPPRESSED: "nothing"}, {**DISEASE_LEVELS[1], SUPPRESSED: "*"}]
SOME = max(60, settings.default.max_examples // 3)  # pairs of releases have many ways to be joined
COLUMNS = ("disease", "treatment", "income")

INSTANCES: list[Attack] = [
    Linking(2),
    Linking(3),
    *(Homogeneity(column) for column in COLUMNS),
    *(BackgroundKnowledge("disease", exclusions) for exclusions in (0, 1, 2)),
    *(ProbabilisticInference(c, share) for c in COLUMNS for share in (0.3, 0.5, 0.8)),
    *(Skewness("disease", ratio, likely) for ratio in (1.2, 2, 10) for likely in (0.0, 0.5)),
    Similarity("disease"),
]


@st.composite
def releases(draw: st.DrawFn) -> tuple[Example, ClassState]:
    """A random table with some suppressed cells, generalized, some of its classes suppressed."""
    example = draw(examples())
    starred = draw(st.sets(st.integers(0, len(example.rows) - 1), max_size=4))
    rows = [
        {**row, "disease": SUPPRESSED} if index in starred else row for index, row in enumerate(example.rows)
    ]
    tuples = build_tuples(rows, {**example.maps, "disease": LEVELS})
    example = dataclasses.replace(example, rows=rows, tuples=tuples)
    levels = draw(st.sampled_from(list(example.nodes())))
    classes = tuples.classes(example.quasi_identifiers, levels, [(column,) for column in COLUMNS])
    kept = draw(st.lists(st.booleans(), min_size=classes.num_classes, max_size=classes.num_classes))
    return example, ClassState(classes, np.array(kept, dtype=bool))


def test_every_attack_has_a_twin_and_is_tried() -> None:
    assert set(TWINS) == {attack.name for attack in INSTANCES}
    assert set(WORLDS) == set(background_twins.TWINS) == set(background_twins.TRUTHS)
    assert set(ATTACKS.names) == {*TWINS, *WORLDS}


def instances(name: str) -> list[Attack]:
    """An attack that needs a background, with several parameters."""
    columns = {"knowledge-rules", "complementary-release", "sensitive-join", "temporal"}
    own = {"column": "disease"} if name in columns else {}
    numbers = {"k": (2, 3, 4), "confidence": (1.0, 0.75, 0.5)}
    fields = {field.name for field in fields_of(ATTACKS[name])}
    for parameter, choices in numbers.items():
        if parameter in fields:
            return [ATTACKS.create(name, {**own, parameter: choice}) for choice in choices]
    return [ATTACKS.create(name, own)]


@pytest.mark.parametrize("name", WORLDS)
@settings(max_examples=SOME)
@given(data=st.data())
def test_every_attack_with_a_background_finds_what_its_twin_finds_and_claims_what_is_true(
    name: str, data: st.DataObject
) -> None:
    world = data.draw(WORLDS[name])
    assume(name == "differencing" or world.known or not {"people"} & set(ATTACKS[name].needs))
    target = world.target
    assume(all(target.has(need) for need in ATTACKS[name].needs))
    for attack in instances(name):
        result = attack.run(target, shown=None)
        expected = background_twins.TWINS[name](attack, world)
        if name == "temporal":  # of overlapping classes only one is named
            found = [(1 + _further(v), v.size, v.learned) for v in result.examples]
        else:
            found = [(tuple(v.labels.items()), v.size, v.learned, v.who) for v in result.examples]
        assert Counter(found) == Counter(expected), attack
        assert result.victims == sum(entry[1] for entry in expected)
        for claim in result.examples:
            assert background_twins.TRUTHS[name](world, claim), (attack, claim)
            assert 0 < claim.certainty <= 1
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["victims"] == result.victims
        assert len(attack.run(target, shown=1).examples) == min(1, len(expected))


def _further(claim: VictimClass) -> int:
    return int(claim.labels["and"].split()[0]) if "and" in claim.labels else 0


@pytest.mark.parametrize("name", WORLDS)
def test_an_attack_says_what_it_lacks(name: str) -> None:
    target = Target(None)
    assert ATTACKS[name].against(target) == []
    with pytest.raises(ParameterError, match=f"'{name}' needs a"):
        instances(name)[0].run(target)


@given(release=releases())
def test_every_attack_finds_the_victims_that_its_slow_twin_finds(release: tuple[Example, ClassState]) -> None:
    example, state = release
    classes = example.members(state.classes.levels)
    released = {
        key: classes[key]
        for index in np.flatnonzero(state.kept)
        if (key := tuple(state.classes.labels(int(index)).values())) in classes
    }
    everyone = [row for members in released.values() for row in members]
    for attack in INSTANCES:
        result = attack.run(Target(state))
        learned = {
            key: found
            for key, members in released.items()
            if (found := TWINS[attack.name](attack, members, everyone, LEVELS)) is not None
        }
        victims = sum(len(released[key]) for key in learned)
        assert (result.victims, result.classes) == (victims, len(learned)), attack
        assert result.share == (victims / len(everyone) if everyone else 0.0)
        assert len(result.examples) == min(5, len(learned))
        for example_class in result.examples:
            key = tuple(example_class.labels.values())
            assert (example_class.size, example_class.learned) == (len(released[key]), learned[key]), attack


@given(release=releases())
@settings(max_examples=50)
def test_a_result_can_be_read_by_people_and_machines(release: tuple[Example, ClassState]) -> None:
    for result in attack_all(release[1]):
        assert result.explanation.endswith(".")
        assert result.knowledge.endswith(".")
        assert result.succeeds == (result.victims > 0) == bool(result.examples)
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["victims"] == result.victims


@given(example=examples(), data=st.data())
@settings(max_examples=50)
def test_victims_do_not_depend_on_the_order_of_the_rows(example: Example, data: st.DataObject) -> None:
    def attacked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        tuples = build_tuples(rows, {**example.maps, "disease": DISEASE_LEVELS})
        return [
            result.to_dict()
            for result in attack_all(
                release_everything(tuples.classes(example.quasi_identifiers, None, [("disease",)]))
            )
        ]

    assert attacked(example.rows) == attacked(data.draw(st.permutations(example.rows)))


@given(release=releases())
@settings(max_examples=80)
def test_models_stop_the_attacks_that_they_are_made_for(release: tuple[Example, ClassState]) -> None:
    classes = release[1].classes
    anonymous = Target(protect(classes, [KAnonymity(3)]))
    assert not Linking(3).run(anonymous).succeeds
    for values in (2, 3):
        diverse = Target(protect(classes, [DistinctDiversity("disease", values)]))
        assert not Homogeneity("disease").run(diverse).succeeds
        assert not BackgroundKnowledge("disease", values - 2).run(diverse).succeeds
    even = Target(protect(classes, [RecursiveDiversity("disease", 1.5, 2)]))
    assert not ProbabilisticInference("disease", 0.6).run(even).succeeds
    assume(classes.distributions["disease",].totals.any())
    everything = Target(release_everything(classes))
    distance = EqualCloseness("disease", 1).value(classes, classes.released)
    for ratio, likely in ((2, 0.5), (10, 0.5), (1.5, 0.3)):
        if distance < likely * (1 - 1 / ratio):
            assert not Skewness("disease", ratio, likely).run(everything).succeeds


def test_all_attacks_are_run_on_what_they_can_be_run_on() -> None:
    rows = [{"a": 1, "disease": "flu", "treatment": "A", "income": 5}]
    tuples = build_tuples(rows, {"disease": DISEASE_LEVELS})
    state = release_everything(
        tuples.classes(["a"], None, [("disease",), ("income",), ("income", "disease")])
    )
    run = [(result.attack, result.parameters.get("column")) for result in attack_all(state)]
    on_columns = ["homogeneity", "background-knowledge", "probabilistic-inference", "skewness"]
    assert run == [
        ("linking", None),
        *(
            (name, column)
            for name in on_columns
            # What is excluded of one column may tell the other: both ways, and each by itself.
            for column in ("disease", "income") * (2 if name == "background-knowledge" else 1)
        ),
        ("similarity", "disease"),
    ]
    only = attack_all(state, [Linking(5)])
    assert [(result.attack, result.victims, result.certain) for result in only] == [("linking", 1, False)]


def test_what_cannot_be_attacked_is_refused() -> None:
    rows = [{"a": 1, "disease": "flu"}]
    target = Target(release_everything(build_tuples(rows, {}).classes(["a"], None, [("disease",)])))
    with pytest.raises(ColumnError, match="'income'"):
        Homogeneity("income").run(target)
    with pytest.raises(HierarchyError, match="'disease'"):
        Similarity("disease").run(target)
    with pytest.raises(ParameterError, match="unknown attack 'linkage': did you mean linking"):
        ATTACKS.create("linkage", {})
    with pytest.raises(ParameterError, match="k: at least 2 is needed"):
        ATTACKS.create("linking", {"k": 1})


def test_a_category_that_covers_the_whole_hierarchy_is_no_discovery() -> None:
    rows = [{"a": 1, "disease": "flu"}, {"a": 1, "disease": "cold"}]
    twice_the_root = [dict.fromkeys(["flu", "cold"], "disease"), dict.fromkeys(["flu", "cold"], "*")]
    tuples = build_tuples(rows, {"disease": twice_the_root})
    target = Target(release_everything(tuples.classes(["a"], None, [("disease",)])))
    assert not Similarity("disease").run(target).succeeds
