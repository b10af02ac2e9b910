"""Packed classes against classes grouped from the tuples themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.lattice import EvaluationSettings, Exhaustive, SearchProblem, groups, packing
from tarnkappe.lattice.exhaustive import visit, wheels_of
from tarnkappe.lattice.groups import PackedClasses, join_pieces
from tarnkappe.lattice.merging import HANDS
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.table import Classes
from tests.random_tables import Example, examples

WANTED = (("disease",), ("disease", "treatment"))


@pytest.fixture(params=[64, 2], ids=["one word", "several words"])
def _word(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "WORD", request.param)


def described(classes: Classes) -> Iterator[tuple[object, ...]]:
    assert classes.population is not None
    for index in range(classes.num_classes):
        members = tuple(classes.labels(index).values())
        counts = [
            sorted(
                (d.column.labels[d.codes[entry]], int(d.counts[entry]))
                for entry in range(d.offsets[index], d.offsets[index + 1])
            )
            for d in (classes.distributions[names] for names in WANTED)
        ]
        yield members, int(classes.sizes[index]), int(classes.population[index]), *counts


def some_problem(example: Example, **changes: object) -> SearchProblem:
    models = (MODELS.create("k-anonymity", {"k": 1}),)
    return SearchProblem(
        example.tuples, example.quasi_identifiers, models, LOSSES.create("height", {}), 0.5, **changes
    )


@pytest.mark.usefixtures("_word")
@given(example=examples(with_population=True), data=st.data())
def test_classes_made_from_classes_are_those_made_from_tuples(example: Example, data: st.DataObject) -> None:
    nodes = list(example.nodes())
    below = data.draw(st.sampled_from(nodes))
    above = data.draw(
        st.sampled_from([n for n in nodes if all(a >= b for a, b in zip(n, below, strict=True))])
    )
    packed = PackedClasses.of_tuples(some_problem(example), WANTED).at(below).at(above)
    plain = example.tuples.classes(example.quasi_identifiers, above, WANTED)
    # Even their numbers are the same: as they first occur.
    assert list(described(packed.classes())) == list(described(plain))
    assert packed.classes().ids.tolist() == plain.ids.tolist()
    for names in WANTED:
        ours, theirs = packed.classes().distributions[names], plain.distributions[names]
        assert ours.totals.tolist() == theirs.totals.tolist()


@pytest.mark.usefixtures("_word")
@given(example=examples(with_population=True), data=st.data(), at_once=st.integers(1, 3))
def test_many_classes_are_dealt_and_merged_to_the_same_classes(
    example: Example, data: st.DataObject, at_once: int
) -> None:
    node = data.draw(st.sampled_from(list(example.nodes())))
    alone = PackedClasses.of_tuples(some_problem(example), WANTED).at(node).classes()
    bottom = PackedClasses.of_tuples(some_problem(example), WANTED, EvaluationSettings(many_classes=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "CLASSES_AT_ONCE", at_once)
        dealt = bottom.at(node).classes()
    assert sorted(map(str, described(dealt))) == sorted(map(str, described(alone)))
    assert dealt.ids[dealt.representatives].tolist() == list(range(dealt.num_classes))
    plain = example.tuples.classes(example.quasi_identifiers, node)
    assert len(set(zip(dealt.ids.tolist(), plain.ids.tolist(), strict=True))) == plain.num_classes


@given(example=examples(with_population=True), data=st.data(), cut=st.integers(0, HANDS))
def test_a_class_is_whole_in_one_hand(example: Example, data: st.DataObject, cut: int) -> None:
    node = data.draw(st.sampled_from(list(example.nodes())))
    bottom = PackedClasses.of_tuples(some_problem(example), WANTED)
    every = sorted(map(str, described(bottom.at(node).classes())))
    hands = bottom.deal(node)
    pieces = [hands.take(0, cut), hands.take(cut, HANDS)]
    assert sorted(str(each) for piece in pieces for each in described(piece.classes())) == every
    assert sorted(map(str, described(join_pieces(pieces).classes()))) == every


@given(example=examples(), data=st.data())
def test_the_odometer_visits_every_node_that_may_be_chosen_once(
    example: Example, data: st.DataObject
) -> None:
    limits = {}
    for column in example.tuples.columns.values():
        if column.name in example.quasi_identifiers and column.levels is not None:
            least = data.draw(st.integers(0, column.levels.height))
            limits[column.name] = (least, data.draw(st.integers(least, column.levels.height)))
    problem = some_problem(example, level_limits=limits)
    bottom = PackedClasses.of_tuples(problem, ())
    visited = list(visit(bottom, bottom, wheels_of(bottom)))
    assert sorted(made.node for _, made in visited) == sorted(problem.nodes())
    assert all(a <= b for base, made in visited for a, b in zip(base.node, made.node, strict=True))
    assert Exhaustive().run(problem).checked == problem.num_nodes
