"""S5 and S6: flags and the least-loss set of actions, against trying everything (checklist 34, 35)."""

from __future__ import annotations

import dataclasses
import math
from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.exchange import Anchor, Attribute, Statistics, Thresholds
from tarnkappe.exchange.checking.actions import choose, loss_of
from tarnkappe.exchange.checking.rarity import Flagger, KnownAttribute, pattern
from tarnkappe.exchange.findings import Flag
from tarnkappe.exchange.statistics import (
    EVERYBODY,
    Asked,
    PopulationDistribution,
    PopulationFigure,
    PopulationProfile,
    ask,
)
from tarnkappe.exchange.statistics.profile import bounds, joint_bound
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.state import Store
from tarnkappe.table import Role
from tarnkappe.table.encoding import encode_column
from tests.exchange.twins import Twin

ANCHOR = Anchor("medication", ("X",))
NOTHING = PopulationProfile(ANCHOR)
HIERARCHIES = {
    "age": {v: (v, "low" if v in "12" else "high", "*") for v in "1234"},
    "sex": {v: (v, "*") for v in "MW"},
    "origin": {v: (v, "here" if v == "A" else "abroad", "world", "*") for v in "ABC"},
}


def known(rows, prices, useful, shares=None, detail=None) -> list[KnownAttribute]:
    found = []
    for name, lines in HIERARCHIES.items():
        hierarchy = Hierarchy.from_rows([list(line) for line in lines.values()])
        column = encode_column(name, pa.chunked_array([pa.array([row[name] for row in rows], pa.string())]))
        own = PopulationDistribution(
            (name,), {(v,): float(p) for v, p in (shares or {}).get(name, {}).items()}, 10**6
        )
        attribute = Attribute(name, Role.QUASI_IDENTIFIER, useful_level=useful[name])
        found.append(
            KnownAttribute(
                attribute, hierarchy.attach(column), hierarchy, (detail or {}).get(name, 0), prices[name], own
            )
        )
    return found


@st.composite
def selections(draw: st.DrawFn):
    rows = draw(
        st.lists(
            st.fixed_dictionaries(
                {name: st.sampled_from(list(lines)) for name, lines in HIERARCHIES.items()}
            ),
            min_size=1,
            max_size=9,
        )
    )
    prices = {name: draw(st.sampled_from([1.0, 2.0, 4.0])) for name in HIERARCHIES}
    useful = {"age": draw(st.sampled_from([0, 1])), "sex": 0, "origin": draw(st.sampled_from([1, 2]))}
    shares = {}
    for name, lines in HIERARCHIES.items():
        if draw(st.booleans()):
            weights = [draw(st.sampled_from([0, 1, 4, 16])) for _ in lines]
            if sum(weights):
                shares[name] = {v: Fraction(w, sum(weights)) for v, w in zip(lines, weights, strict=True)}
    detail = {"age": draw(st.sampled_from([0, 0, 1]))}
    return rows, prices, useful, shares, detail


LIMITS = Thresholds(k=2, l=2, base=2, rare_global=0.05, peak=4.0)


@given(selections(), st.integers(0, 4))
@settings(max_examples=60)
def test_the_chosen_actions_are_the_best_of_all(selection, least_rows: int) -> None:
    rows, prices, useful, shares, detail = selection
    twin = Twin(rows, HIERARCHIES, useful, prices, 2, shares, Fraction(1, 20), 4, detail)
    mine = known(rows, prices, useful, shares, detail)
    found = choose(mine, Flagger(mine, LIMITS), NOTHING, 2, least_rows)
    best = twin.best_loss(least_rows)
    if best is None:
        assert found is None
        return
    assert found is not None
    assert found.exact
    assert math.isclose(found.loss, float(best), rel_tol=1e-12, abs_tol=1e-12)
    live = set(np.flatnonzero(~found.deleted).tolist())
    assert all(twin.clear(name, level, live) for name, level in found.levels.items())
    assert loss_of(mine, found.levels, int(found.deleted.sum()), len(rows)) == found.loss
    assert set(found.withheld) | set(found.levels) == set(HIERARCHIES)


@given(selections())
@settings(max_examples=60)
def test_flags_are_those_of_the_twin(selection) -> None:
    rows, prices, useful, shares, detail = selection
    twin = Twin(rows, HIERARCHIES, useful, prices, 2, shares, Fraction(1, 20), 4, detail)
    mine = known(rows, prices, useful, shares, detail)
    flagger, everybody = Flagger(mine, LIMITS), np.ones(len(rows), dtype=bool)
    for each in mine:
        for level in range(each.levels.height):
            found = flagger.flagged(each.name, level, everybody)
            expected = twin.flags(each.name, level, range(len(rows)))
            for place, label in enumerate(each.levels.labels[level]):
                own = {flag for flag, labels in found.flags.items() if labels[place]} - {Flag.TYPICAL}
                assert own == expected[label], (each.name, level, label)


def test_an_attribute_that_must_not_change_is_released_as_it_is_or_the_request_fails() -> None:
    rows = [{"age": "1", "sex": s, "origin": "A"} for s in "MMWW"]
    prices, useful = {"age": math.inf, "sex": 1.0, "origin": 1.0}, {"age": 1, "sex": 0, "origin": 2}
    mine = known(rows, prices, useful)
    assert choose(mine, Flagger(mine, LIMITS), NOTHING, 2, 1).levels["age"] == 0
    mine = known([*rows, {"age": "2", "sex": "M", "origin": "A"}], prices, useful)
    assert choose(mine, Flagger(mine, LIMITS), NOTHING, 2, 1) is None


def test_what_costs_more_to_change_is_changed_less() -> None:
    rows = [{"age": a, "sex": "M", "origin": "A"} for a in "1212"]
    pairs = [("age", "sex"), ("sex", "age")]
    statistics = Statistics(Store.in_memory())
    statistics.add(
        [
            PopulationFigure(EVERYBODY, {"age": a, "sex": "M"}, 1e-9, 10**6, "s", date(2020, 1, 1))
            for a in "1234"
        ]
        + [PopulationFigure(EVERYBODY, {"age": "1", "sex": "W"}, 1 - 4e-9, 10**6, "s", date(2020, 1, 1))],
        "f",
        "0" * 64,
    )
    profile = ask(statistics, Asked(ANCHOR, tuple(HIERARCHIES), {}))
    for cheap, dear in pairs:
        prices = {"origin": 1.0, cheap: 1.0, dear: 10.0}
        mine = known(rows, prices, {"age": 1, "sex": 0, "origin": 2})
        found = choose(mine, Flagger(mine, LIMITS), profile, 2, 1)
        assert found.withheld == (cheap,)
        assert found.levels[dear] == 0


def test_a_rare_combination_is_proven_by_its_rarest_value_or_by_a_joint_figure_never_by_independence() -> (
    None
):
    rows = [{"age": "1", "sex": "M", "origin": "A"}] * 4
    mine = known(rows, dict.fromkeys(HIERARCHIES, 1.0), {"age": 1, "sex": 0, "origin": 2})
    levels, live = {"age": 0, "sex": 0, "origin": 0}, np.ones(4, dtype=bool)

    def judged(*facts: PopulationFigure):
        statistics = Statistics(Store.in_memory())
        statistics.add(facts, "f", "0" * 64)
        return pattern(mine, levels, live, ask(statistics, Asked(ANCHOR, tuple(HIERARCHIES), {})), 5)

    def fact(probability: float, **values: str) -> PopulationFigure:
        return PopulationFigure(EVERYBODY, values, probability, 1000, "s", date(2020, 1, 1))

    rare = judged(fact(0.004, age="1"), fact(0.996, age="2"))
    assert (rare.rare, rare.people) == (1, 4)
    # Each value has 50 of 1000 people; were they independent, 2.5 would have both. That proves nothing.
    apart = judged(fact(0.05, age="1"), fact(0.95, age="2"), fact(0.05, sex="M"), fact(0.95, sex="W"))
    assert (apart.rare, apart.unknown) == (0, 1)
    joint = judged(fact(0.004, age="1", sex="M"), fact(0.996, age="2", sex="M"))
    assert joint.rare == 1
    whole = judged(fact(0.01, age="1", sex="M", origin="A"), fact(0.99, age="2", sex="M", origin="A"))
    assert (whole.rare, whole.unknown) == (0, 0)


@pytest.mark.parametrize("group", ["origin", "sex"])
@pytest.mark.parametrize("rare", ["feature", "selection"])
def test_what_is_rare_within_a_group_counts_whatever_the_group_is_called(group: str, rare: str) -> None:
    """Of the 1000 people of a group 4 have the age, or what the others were selected by."""
    rows = [{"age": "1", "sex": "M", "origin": "A"}] * 4
    mine = known(rows, dict.fromkeys(HIERARCHIES, 1.0), {"age": 1, "sex": 0, "origin": 2})
    value = rows[0][group]
    about = {"age": "1"} if rare == "feature" else {ANCHOR.attribute: ANCHOR.values[0]}
    others = {"age": "2"} if rare == "feature" else {ANCHOR.attribute: "something else"}
    asked = Asked(ANCHOR, tuple(HIERARCHIES), {group: [value]})

    def profile(share: float) -> PopulationProfile:
        statistics = Statistics(Store.in_memory())
        facts = [
            PopulationFigure((group, value), said, part, 1000, "s", date(2020, 1, 1))
            for said, part in ((about, share), (others, 1 - share))
        ]
        statistics.add(facts, "f", "0" * 64)
        return ask(statistics, asked)

    levels, live = {"age": 0, "sex": 0, "origin": 0}, np.ones(4, dtype=bool)
    assert pattern(mine, levels, live, profile(0.004), 5).people == 4
    assert pattern(mine, levels, live, profile(0.4), 5).people == 0
    withheld = {name: level for name, level in levels.items() if name != group}
    assert pattern(mine, withheld, live, profile(0.004), 5).people == 0
    found = [choose(mine, Flagger(mine, LIMITS), profile(share), 5, 1) for share in (0.004, 0.4)]
    conspicuous, usual = (each and (dict(each.levels), each.withheld) for each in found)
    assert conspicuous != usual


def test_typical_values_are_released_in_ranges() -> None:
    rows = [{"age": a, "sex": "M", "origin": "A"} for a in "112233"]
    [age, sex, origin] = known(rows, dict.fromkeys(HIERARCHIES, 1.0), {"age": 1, "sex": 0, "origin": 2})
    typical = PopulationDistribution(("age",), {("1",): 0.4, ("2",): 0.4, ("3",): 0.2})
    everybody = PopulationDistribution(("age",), {("1",): 0.01, ("2",): 0.4, ("3",): 0.2, ("4",): 0.39})
    age = dataclasses.replace(age, selected=typical, everybody=everybody)
    mine = [age, sex, origin]
    flagger = Flagger(mine, LIMITS)
    assert flagger.flagged("age", 0, np.ones(6, dtype=bool)).people(Flag.TYPICAL) == 2
    assert choose(mine, flagger, NOTHING, 2, 1).levels["age"] == 1


@pytest.mark.parametrize(
    ("label", "low", "high"),
    [
        ("40-49", 0.3, 0.3),  # the words of the statistics
        ("40-59", 0.5, 0.6),  # two of its values, and maybe those of whom nothing is known
        ("45", 0.0, 0.4),  # one of those in 40-49, or of those of whom nothing is known
        ("45-54", 0.0, 0.6),
        ("90-99", 0.0, 0.1),
        ("*", 0.9, 1.0),
    ],
)
def test_the_statistics_answer_in_bounds(label: str, low: float, high: float) -> None:
    figures = PopulationDistribution(("age",), {("40-49",): 0.3, ("50-59",): 0.2, ("60-69",): 0.4})
    hierarchy = Hierarchy.from_rows([["45", "*"], ["55", "*"]])
    found = bounds(figures, [label], hierarchy)
    assert np.isclose(found.low[0], low)
    assert np.isclose(found.high[0], high)


def test_a_joint_bound_is_the_sum_of_all_that_may_be_meant() -> None:
    figures = PopulationDistribution(
        ("age", "sex"), {("40-49", "M"): 0.3, ("40-49", "W"): 0.2, ("50-59", "M"): 0.5}
    )
    ages = Hierarchy.from_rows([["45", "40-49", "40-59", "*"], ["55", "50-59", "40-59", "*"]])
    sexes = Hierarchy.from_rows([["M", "*"], ["W", "*"]])
    labels = {"age": ["45", "40-59"], "sex": ["M", "W"]}
    codes = {"age": np.array([0, 1, 1], np.int32), "sex": np.array([0, 0, 1], np.int32)}
    assert np.allclose(joint_bound(figures, labels, {"age": ages, "sex": sexes}, codes), [0.3, 0.8, 0.2])
