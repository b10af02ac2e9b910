"""Statistics from peer to peer with noise: no central collector, a budget, and bounds that hold (R1, §12.1)."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
import sqlalchemy as sa

from tarnkappe.errors import AccessError, InputError, JobError, ParameterError
from tarnkappe.exchange import Institution, Network, NetworkMember, Purpose, Statistics
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.figures import Figures
from tarnkappe.exchange.desk.tables import SHARED
from tarnkappe.exchange.statistics import EVERYBODY, PopulationDistribution, PopulationFigure
from tarnkappe.exchange.statistics.example import patients as drawn
from tarnkappe.exchange.statistics.profile import bounds, ratios
from tarnkappe.exchange.statistics.sharing import (
    CountingPlan,
    CountTable,
    Shown,
    combined,
    count,
    noise_bound,
)
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.state import Budgets, Key, Signer, Store
from tests.exchange.scenes import surroundings
from tests.exchange.test_desk import STAFF

VALUES = {"sex": ("M", "W"), "age": ("0-49", "50-120"), "medication": ("ibuprofen", "metformin")}
PLAN = CountingPlan(VALUES, (CountTable(("age", "sex")), CountTable(("sex",), given="medication")))
KEYS = {"A": Key(b"a" * 32), "B": Key(b"b" * 32)}
MEMBERS = [
    NetworkMember(name, frozenset(Purpose), public_key=Signer(key).public) for name, key in KEYS.items()
]
SURE = Fraction(10**6)
"""An epsilon that promises nothing, so that the noise is all but gone."""


def figures(
    name: str = "B", budget: float = 2.0, people: pa.Table | None = None, plan: CountingPlan = PLAN
) -> Figures:
    ward = Institution(name, drawn(4000, ord(name)) if people is None else people, "patient")
    around = surroundings(policy={"statistics_budget": budget}, institution=ward, network=Network(MEMBERS))
    return Figures(RequestWorkflow(Store.in_memory(), KEYS[name], around, STAFF), plan)


def test_counts_are_those_of_the_patients() -> None:
    table = drawn(2000, 5)
    shown = count(table, PLAN, "B", SURE)
    rows = table.to_pylist()
    by_age = Counter(("0-49" if row["age"] < 50 else "50-120", row["sex"]) for row in rows)
    by_medication = Counter((row["medication"], row["sex"]) for row in rows)
    assert shown.counts[0] == tuple(by_age[key] for key in PLAN.keys(PLAN.tables[0]))
    assert shown.counts[1] == tuple(by_medication[key] for key in PLAN.keys(PLAN.tables[1]))


def test_what_is_not_in_the_plan_is_not_counted_and_what_is_is_shown_even_if_nobody_has_it() -> None:
    """Else the presence of a figure would tell that somebody has it."""
    odd = pa.table({"sex": ["M", "X", None], "age": [200, 30, 30], "medication": ["new", "new", "new"]})
    shown = count(odd, PLAN, "B", SURE)
    assert shown.counts == ((0, 0, 0, 0), (0, 0, 0, 0))


def test_the_noise_is_that_of_the_epsilon_of_each_table() -> None:
    """Two tables share the epsilon: differences from the truth follow the discrete Laplace distribution."""
    empty = pa.table({name: pa.array([], pa.string()) for name in VALUES})
    off = [
        cell for _ in range(100) for cells in count(empty, PLAN, "B", Fraction(1)).counts for cell in cells
    ]
    expected = scipy.stats.dlaplace(1 / 2)
    assert abs(np.mean(off)) < 5 * expected.std() / len(off) ** 0.5
    places = np.arange(-20, 21)
    seen = np.mean(np.array(off)[:, np.newaxis] <= places, axis=0)
    assert np.abs(seen - expected.cdf(places)).max() < 0.08  # by chance once in a million runs


def test_a_bound_on_the_noise_holds() -> None:
    rng = np.random.default_rng(1)
    for scales, cells in (([1.0], 1), ([5.0, 1.0], 3), ([2.0], 200)):
        sums = sum(rng.laplace(0, scale, (20_000, cells)).sum(axis=1) for scale in scales)
        for doubt in (0.1, 0.01):
            assert np.mean(np.abs(sums) > noise_bound(scales, cells, doubt)) <= doubt


def test_figures_of_several_institutions_are_added_up_with_margins_that_cover_the_truth() -> None:
    wards = {name: drawn(4000, ord(name)) for name in "AB"}
    shown = [count(table, PLAN, name, Fraction(1)) for name, table in wards.items()]
    together = pa.concat_tables(wards.values())
    facts = combined(shown, PLAN)
    assert facts
    sexes = together.column("sex").to_pylist()
    ages = ["0-49" if age < 50 else "50-120" for age in together.column("age").to_pylist()]
    for fact in (fact for fact in facts if fact.condition == EVERYBODY):
        true = sum(
            a == fact.values["age"] and s == fact.values["sex"] for a, s in zip(ages, sexes, strict=True)
        )
        assert abs(true / 8000 - fact.probability) <= fact.margin < 0.05
        assert fact.source == "patients of A, B, counted with noise"
        assert abs(fact.population - 8000) < 200


def test_figures_about_too_few_people_are_no_statistics() -> None:
    shown = count(drawn(900, 1), PLAN, "B", SURE)
    assert combined([shown], PLAN) == []


def test_two_institutions_share_without_anybody_in_the_middle() -> None:
    one, other = figures("A"), figures("B")
    statistics = Statistics(Store.in_memory())
    one.share(Fraction(1), "Stew")
    other.share(Fraction(1), "Stew")
    assert one.take("B", other.own())
    assert not one.take("B", other.own())  # known already
    assert one.combine(statistics) >= 4
    found = statistics.distribution(EVERYBODY, ("age", "sex"))
    assert abs(sum(found.shares.values()) - 1) < 1e-9
    assert 0 < found.margin < 0.1
    assert "A, B" in found.sources[0]


def test_the_budget_is_spent_before_anything_is_shown_and_what_is_not_left_cannot_be_spent() -> None:
    own = figures(budget=1.0)
    own.share(Fraction("0.75"), "Stew")
    before = own.own()
    with pytest.raises(AccessError, match="budget"):
        own.share(Fraction("0.5"), "Stew")
    assert own.own() == before
    [budget] = Budgets(own._store).all()
    assert (budget.granted, budget.spent) == (1, Fraction("0.75"))
    events = [entry.event for entry in own._desk.log.entries()]
    assert events == ["budget granted", "budget spent", "statistics shared"]


def test_reading_costs_nothing_more() -> None:
    own = figures(budget=1.0)
    own.share(Fraction(1), "Stew")
    assert own.own() == own.own()
    assert [budget.left for budget in Budgets(own._store).all()] == [0]


def test_without_a_budget_nothing_is_shared_and_only_a_steward_shares() -> None:
    with pytest.raises(AccessError, match="budget"):
        figures(budget=0.0).share(Fraction(1), "Stew")
    with pytest.raises(AccessError, match="steward"):
        figures().share(Fraction(1), "Ann")
    with pytest.raises(AccessError, match="no statistics"):
        figures().own()


def test_who_withdrew_is_not_counted() -> None:
    own = figures(budget=100)
    own._desk.around = dataclasses.replace(
        own._desk.around, policy=dataclasses.replace(own._desk.around.policy, statistics_budget=100)
    )
    table = own._desk.around.institution.everybody(["sex"])
    for patient in table.column("patient").to_pylist()[:400]:
        own._desk.register.withdraw(patient)
    shown = own.share(Fraction(100), "Stew")
    assert abs(sum(shown.counts[0]) - 3600) < 10


def test_forged_changed_and_old_statistics_are_refused() -> None:
    one, other = figures("A"), figures("B", budget=50)
    other.share(Fraction(1), "Stew")
    true = other.own()
    changed = {**true["content"], "counts": [[0, 0, 0, 0], [0, 0, 0, 0]]}
    with pytest.raises(AccessError, match="forged"):
        one.take("B", {**true, "content": changed})
    with pytest.raises(AccessError, match="forged"):
        one.take("A", true)
    with pytest.raises(AccessError, match="not a member"):
        one.take("Z", true)
    with pytest.raises(InputError, match="no statistics"):
        one.take("B", {"content": 1})
    other.share(Fraction(1), "Stew")
    assert one.take("B", other.own())
    assert not one.take("B", true)  # replayed


@pytest.mark.parametrize(
    "change",
    [
        {"counts": [[1]]},
        {"plan": "x"},
        {"epsilon": "0"},
        {"epsilon": "1/0"},
        {"counts": None},
        {"made": "now"},
    ],
)
def test_what_are_no_statistics_are_refused(change: dict) -> None:
    shown = count(drawn(100, 1), PLAN, "B", Fraction(1)).to_dict()
    assert Shown.from_dict(shown, PLAN).to_dict() == shown
    with pytest.raises(InputError):
        Shown.from_dict({**shown, **change}, PLAN)
    future = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    with pytest.raises(InputError, match="future"):
        Shown.from_dict({**shown, "made": future}, PLAN)


def test_what_others_see_holds_no_patient() -> None:
    own = figures()
    own.share(Fraction(1), "Stew")
    told = json.dumps(own.own())
    assert "P0000" not in told
    assert set(own.own()["content"]) == {"institution", "plan", "epsilon", "counts", "made"}


def test_published_figures_come_before_noisy_ones() -> None:
    statistics, day = Statistics(Store.in_memory()), datetime(2020, 1, 1, tzinfo=UTC).date()
    noisy = PopulationFigure(EVERYBODY, {"sex": "M"}, 0.9, 5000, "network", day, margin=0.05)
    statistics.add([noisy], "network", "0" * 64)
    assert statistics.distribution(EVERYBODY, ("sex",)).margin == 0.05
    statistics.add([PopulationFigure(EVERYBODY, {"sex": "M"}, 0.5, 10**6, "census", day)], "census", "0" * 64)
    found = statistics.distribution(EVERYBODY, ("sex",))
    assert (found.shares, found.margin) == ({("M",): 0.5}, 0.0)


def test_what_noise_may_explain_is_proof_of_nothing() -> None:
    sexes = Hierarchy.from_rows([["M", "*"], ["W", "*"]])
    figures_ = PopulationDistribution(("sex",), {("M",): 0.02, ("W",): 0.98}, 5000, (), 0.03)
    found = bounds(figures_, ["M", "W"], sexes)
    assert (found.low[0], found.high[0]) == (0.0, 0.05)
    exact = PopulationDistribution(("sex",), {("M",): 0.5, ("W",): 0.5}, 10**6)
    assert ratios(figures_, exact)["M"] == pytest.approx(0.05 / 0.5)
    near = PopulationDistribution(("sex",), {("M",): 0.49, ("W",): 0.51}, 5000, (), 0.03)
    assert ratios(near, exact) == {"M": 1.0, "W": 1.0}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "no tables"),
        ('[[tables]]\nof = ["sex"]', "no values of 'sex'"),
        ('[values]\nsex = ["M"]\n[[tables]]\nof = ["sex", "sex"]', "each once"),
        ('[values]\nsex = ["M"]\n[[tables]]\nof = ["sex"]\nby = 1', "unknown key"),
        ('[values]\nsex = ["M"]\n[tables]\nof = ["sex"]', r"\[\[tables\]\]"),
    ],
)
def test_a_wrong_plan_is_refused(text: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "counted.toml").write_text(text)
    with pytest.raises((ParameterError, JobError), match=error):
        CountingPlan.load(tmp_path / "counted.toml")


def test_figures_that_were_changed_in_the_database_are_not_added_up() -> None:
    own = figures("B")
    own.share(Fraction(1), "Stew")
    with own._store.writing() as connection:
        content = json.loads(connection.execute(sa.select(SHARED.c.content)).scalar_one())
        content["counts"][0][0] += 1000
        connection.execute(sa.update(SHARED).values(content=json.dumps(content)))
    with pytest.raises(AccessError, match="forged"):
        own.combine(Statistics(Store.in_memory()))
