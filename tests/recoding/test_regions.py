"""Regions: worked examples, the slow twin, the bound against the optimum, what is written, what is refused."""

from __future__ import annotations

from collections import Counter
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.column_plan import plan_columns
from tarnkappe.job.preparation import Preparation, prepare
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, Model
from tarnkappe.recoding import Mondrian, Regions, cut_tree, regions_run
from tarnkappe.recoding.best_cuts import powers, propose
from tarnkappe.recoding.box_costs import box_cost
from tarnkappe.recoding.class_rules import ruled
from tarnkappe.recoding.deadline import Patience
from tarnkappe.recoding.labels import LabelReader
from tarnkappe.recoding.regions_run import RegionsRun
from tarnkappe.table import Table
from tarnkappe_bench.adult import read_adult
from tests.recoding import regions_twin as twin
from tests.recoding.method_tables import Case, as_text, cases, k_anonymity

AGES = Hierarchy.from_rows([[str(age), "20-24" if age < 25 else "25-29", "*"] for age in range(20, 30)])
TOWNS = Hierarchy.from_rows([["a", "N", "*"], ["b", "N", "*"], ["c", "S", "*"], ["d", "S", "*"]])
FIRST = [(20, "a"), (21, "a"), (21, "b"), (23, "c"), (24, "b"), (25, "c"), (28, "d"), (29, "d")]
SECOND = [(20, "b"), (22, "b"), (23, "d"), (26, "d"), (26, "d"), (28, "a"), (28, "b"), (28, "d")]


def people(rows: list[tuple[int, str]]) -> Table:
    data = pa.table({"age": [age for age, _ in rows], "town": [town for _, town in rows]})
    return Table(data).with_roles(quasi_identifiers=["age", "town"])


def published(rows: list[tuple[int, str]], algorithm: Any, **asked: Any) -> tarnkappe.Result:
    return tarnkappe.anonymize(
        people(rows),
        algorithm=algorithm,
        hierarchies={"age": AGES, "town": TOWNS},
        shuffle=False,
        **{"privacy": [k_anonymity(2)], "loss": "loss", **asked},
    )


def cells(result: tarnkappe.Result) -> list[tuple[str, ...]]:
    return [tuple(map(str, row.values())) for row in result.release.data.to_pylist()]


# ------------------------------------------------------------------ worked examples


def test_eight_people_are_cut_by_town_first_and_lose_the_least_possible() -> None:
    assert published(FIRST, "auto").loss == pytest.approx(0.5)
    assert published(FIRST, Mondrian()).loss == pytest.approx(0.486111, abs=1e-6)
    cut = published(FIRST, Regions(refine=False, intervals="exact"))
    assert cut.loss == pytest.approx(0.097222, abs=1e-6)
    assert cut.solution.bound == pytest.approx(0.097222, abs=1e-6)
    assert cells(cut)[:3] == [("[20, 21]", "a"), ("[20, 21]", "a"), ("[21, 24]", "b")]
    assert sorted(Counter(cells(cut)).values()) == [2, 2, 2, 2]


def test_an_exchange_of_rows_reaches_the_optimum_that_cuts_miss() -> None:
    cut = published(SECOND, Regions(refine=False, intervals="exact"))
    assert cut.loss == pytest.approx(0.208333, abs=1e-6)
    refined = published(SECOND, Regions(intervals="exact"))
    assert refined.loss == pytest.approx(0.138889, abs=1e-6)
    assert sorted(Counter(cells(refined)).values()) == [2, 2, 2, 2]


def test_the_result_says_how_far_from_the_best_it_may_be() -> None:
    result = published(SECOND, "regions")
    assert result.solution.bound == pytest.approx(0.1875)
    assert "at most 18.52% above the least possible loss" in result.solution.proof
    assert result.to_dict()["bound"] == result.solution.bound


def test_a_bound_that_is_too_much_work_is_estimated_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regions_run, "AFFORDABLE", 0)
    estimated = published(SECOND, "regions")
    assert estimated.solution.bound is None
    assert "no release of this kind can lose less than about 0.187 (from 7 rows" in str(estimated)
    assert published(SECOND, Regions(bound=True)).solution.bound == pytest.approx(0.1875)


# ------------------------------------------------------------------ the twin


def twin_of(case: Case, least: int, good: twin.Good, *, exact: bool) -> twin.Table:
    columns = [
        twin.Column(
            name, [row[name] for row in case.rows], case.levels[name], name in ("age", "weight"), exact
        )
        for name in case.names
    ]
    return twin.Table(columns, good, least)


def in_order(table: twin.Table, case: Case) -> list[int]:
    """Rows by their places, and equal ones by what the model looks at."""
    return sorted(
        range(len(case.rows)),
        key=lambda row: (*(c.key(c.values[row]) for c in table.by_name), case.rows[row]["disease"], row),
    )


def prepared(case: Case, models: list[Model], limit: float = 0.0) -> Preparation | None:
    try:
        return case.prepared(models, limit=limit)
    except ParameterError:  # k is larger than the table, or there are too few diseases
        return None


@given(
    case=cases(max_rows=18),
    k=st.integers(1, 4),
    diverse=st.booleans(),
    exact=st.booleans(),
    refine=st.booleans(),
    block=st.sampled_from([8, 500]),
    lopsided=st.sampled_from([0, 3, 16]),
    limit=st.sampled_from([0.0, 0.3]),
)
@settings(max_examples=60)
def test_every_row_is_written_as_the_twin_writes_it(
    case: Case, k: int, diverse: bool, exact: bool, refine: bool, block: int, lopsided: int, limit: float
) -> None:
    models = [k_anonymity(k)]
    if diverse:
        models.append(MODELS.create("distinct-diversity", {"column": "disease", "l": 2}))
    ready = prepared(case, models, limit)
    if ready is None:
        return

    def good(rows: twin.Rows) -> bool:
        return not diverse or len({case.rows[row]["disease"] for row in rows}) >= 2

    table = twin_of(case, max(k, 2 if diverse else 1), good, exact=exact)
    rows = in_order(table, case)
    method = Regions(intervals="exact" if exact else "labels", refine=refine, block=block)
    try:
        with mock.patch.multiple(cut_tree, LARGE=5, LOPSIDED=lopsided):
            recoding = method.recode(ready.rows, ready.problem)
    except NoSolutionError:
        assert not table.allowed(rows)
        return
    found = twin.classes_of(table, rows, block=block, large=5, lopsided=lopsided, refine=refine, sweeps=4)
    gone = twin.suppressed(table, found, ready.problem.limit, twin.ONE)
    assert np.flatnonzero(~recoding.kept).tolist() == sorted(gone)
    for own in (own for each in found for own in each):
        for column in table.columns:
            expected = column.written({column.values[row] for row in own})
            written = recoding.written[column.name].rows(0, len(case.rows)).to_pylist()
            shown = {None if written[row] is None else as_text(written[row]) for row in own}
            assert shown == {expected}


@given(case=cases(min_rows=2, max_rows=7, max_columns=3), k=st.integers(1, 3), exact=st.booleans())
@settings(max_examples=60)
def test_no_division_loses_less_than_the_bound_and_none_more_than_the_release(
    case: Case, k: int, exact: bool
) -> None:
    ready = prepared(case, [k_anonymity(k)])
    if ready is None:
        return
    table = twin_of(case, k, lambda _: True, exact=exact)
    rows = range(len(case.rows))
    best = twin.optimum(table, rows)
    assert best is not None
    intervals = "exact" if exact else "labels"
    recoding = Regions(intervals=intervals).recode(ready.rows, ready.problem)
    loss = ready_loss(ready, recoding)
    unit = twin.ONE * len(rows)
    assert recoding.bound is not None
    assert recoding.bound == pytest.approx(twin.bound(table, rows) / unit, abs=1e-6)
    assert recoding.bound * unit <= best + 1
    assert best / unit <= loss + 1e-6
    cuts = Regions(intervals=intervals, refine=False).recode(ready.rows, ready.problem)
    assert loss <= ready_loss(ready, cuts) + 1e-9


def ready_loss(ready: Preparation, recoding: Any) -> float:
    found = tarnkappe.recoding.recoded(ready.rows, recoding, ready.problem.models, ready.counted)
    return ready.problem.loss(found.state)


@pytest.mark.parametrize("seed", range(4))
def test_corners_of_crowded_places_give_the_cuts_that_their_rows_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        (int(a), str(t))
        for a, t in zip(rng.integers(20, 30, 300), rng.choice(list("abcd"), 300), strict=True)
    ]
    table = people(rows)
    ready = prepare(
        table,
        plan_columns(table, {"age": AGES, "town": TOWNS}, {}),
        [k_anonymity(2)],
        LOSSES.create("loss", {}),
    )
    run = RegionsRun(
        ready.rows, ready.problem, Patience(None), None, labels=False, block=500, balance=0.1, blind=False
    )
    tree, rules = run.tree, ruled(ready.rows, [])
    power = powers(300, 0.1)
    ends = np.array([0, 40]), np.array([300, 300])
    found = []
    for columns in (0, 1):  # a column of suppressed cells changes nothing but the way
        values = np.full((300, columns), -1, np.int32)
        cuts, estimates = np.full((2, 9, 3), -1, np.int32), np.zeros((2, 9))
        propose(
            tree.codes, tree.weights, tree.order, *ends, np.array([False, True]), run.costs, power, 2,
            rules.rules, values, 0, 1, cuts, estimates,
        )  # fmt: skip
        found.append((cuts.tolist(), estimates.tolist()))
    assert found[0] == found[1]
    assert found[0][0][0][0][0] >= 0


@pytest.mark.parametrize("seed", range(4))
def test_every_proposed_cut_has_the_estimate_of_its_two_sides(seed: int) -> None:
    """Also where one label in the middle is cut off: the other side is then in two pieces."""
    rng = np.random.default_rng(seed)
    towns = rng.choice(list("abcdefgh"), 60)
    own = np.array(["abcdefgh".index(town) for town in towns]) + rng.integers(0, 3, 60)
    ages = 20 + own if seed % 2 else 29 - own  # the least age is before the label, or behind it
    table = people([(int(age), str(town)) for age, town in zip(ages, towns, strict=True)])
    parts = Hierarchy.from_rows(
        [[town, part, "*"] for town, part in zip("abcdefgh", "NNOSSWWW", strict=True)]
    )
    ready = prepare(
        table,
        plan_columns(table, {"age": AGES, "town": parts}, {}),
        [k_anonymity(2)],
        LOSSES.create("loss", {}),
    )
    run = RegionsRun(
        ready.rows, ready.problem, Patience(None), None, labels=False, block=500, balance=0.1, blind=False
    )
    codes, weights, power = run.tree.codes, run.tree.weights, powers(60, 0.1)
    cuts, estimates = np.full((1, 99, 3), -1, np.int32), np.zeros((1, 99))
    propose(
        codes, weights, run.tree.order, np.array([0]), np.array([len(codes)]), np.array([False, True]),
        run.costs, power, 2, ruled(ready.rows, []).rules, np.zeros((len(codes), 0), np.int32), 0, 1, cuts,
        estimates,
    )  # fmt: skip
    found = {
        tuple(cut): estimate
        for cut, estimate in zip(cuts[0].tolist(), estimates[0], strict=True)
        if cut[0] >= 0
    }
    middle = [
        (d, low, high) for d, low, high in found if codes[:, d].min() < low and high < codes[:, d].max()
    ]
    assert {d for d, _, _ in middle} == {1}, "labels in the middle, and no numbers"
    for (d, low, high), estimate in found.items():
        is_inside = (codes[:, d] >= low) & (codes[:, d] <= high)
        sides = [np.flatnonzero(is_inside), np.flatnonzero(~is_inside)]
        assert estimate == sum(
            power[weights[rows].sum()] * box_cost(run.costs, codes[rows].min(axis=0), codes[rows].max(axis=0))
            for rows in sides
        )
    assert list(found.values()) == sorted(found.values())


# ------------------------------------------------------------------ what is written


@given(case=cases(min_rows=4), k=st.integers(1, 3), exact=st.booleans(), limit=st.sampled_from([0.0, 0.3]))
@settings(max_examples=40)
def test_every_cell_covers_the_value_of_its_row(case: Case, k: int, exact: bool, limit: float) -> None:
    ready = prepared(case, [k_anonymity(k)], limit)
    if ready is None:
        return
    recoding = Regions(intervals="exact" if exact else "labels").recode(ready.rows, ready.problem)
    for name, written in recoding.written.items():
        column = ready.rows.columns[name]
        reader = LabelReader(column)
        words = np.array(written.labels)[written.codes]
        for code, word in zip(column.codes[recoding.kept].tolist(), words[recoding.kept], strict=True):
            meaning = reader.meaning(str(word))
            assert meaning is not None
            assert code in meaning


def numbers(values: list[int], **builder: Any) -> tuple[Table, dict[str, Any]]:
    table = Table(pa.table({"x": values})).with_roles(quasi_identifiers=["x"])
    return table, {"x": {"builder": "intervals", **builder}}


@pytest.mark.parametrize(
    ("values", "builder", "words"),
    [
        ([21, 23, 28, 33], {"width": [5]}, "20-34"),
        ([21, 22, 23, 24], {"width": [5]}, "20-24"),
        ([21, 23, 24, 29], {"width": [5, 10]}, "20-29"),
        ([12, 13, 25, 27], {"width": [5], "bottom": 20, "top": 90}, "[<20, 25-29]"),
        ([0.5, 1.5, 2.5, 3.5], {"width": 1}, "[0, 4)"),
    ],
)
def test_numbers_read_as_runs_of_labels(values: list[float], builder: dict[str, Any], words: str) -> None:
    data = pa.array([*values, *[70] * 4], pa.float64() if isinstance(values[0], float) else pa.int64())
    result = tarnkappe.anonymize(
        Table(pa.table({"x": data})).with_roles(quasi_identifiers=["x"]),
        privacy=[k_anonymity(4)],
        hierarchies={"x": {"builder": "intervals", **builder}},
        loss="loss",
        algorithm="regions",
    )
    assert set(result.release.data["x"].to_pylist()) == {words, "70"}


def test_dates_read_as_runs_from_label_to_label_and_missing_ones_stand_apart() -> None:
    days = [date(2026, 1, 3), date(2026, 2, 5), date(2026, 3, 1), *[date(2027, 5, 5)] * 3, None, None, None]
    result = tarnkappe.anonymize(
        Table(pa.table({"day": days})).with_roles(quasi_identifiers=["day"]),
        privacy=[k_anonymity(3)],
        hierarchies={"day": {"builder": "dates", "levels": ["month", "year"]}},
        loss="loss",
        algorithm="regions",
        shuffle=False,
    )
    assert result.release.data["day"].to_pylist() == [*["2026"] * 3, *["2027-05-05"] * 3, None, None, None]


def test_the_ends_of_intervals_are_nobodys_values_unless_asked_for() -> None:
    rng = np.random.default_rng(5)
    ages = rng.integers(18, 90, 400)
    table = Table(pa.table({"age": ages})).with_roles(quasi_identifiers=["age"])
    asked = {
        "privacy": [k_anonymity(7)],
        "hierarchies": {"age": {"builder": "intervals", "width": [5, 20]}},
        "loss": "loss",
    }
    labels = tarnkappe.anonymize(table, algorithm="regions", **asked)
    for word in set(labels.release.data["age"].to_pylist()) - {"*"}:
        low, _, high = word.partition("-")
        assert not high or (int(low) % 5 == 0 and (int(high) + 1) % 5 == 0)
    exact = tarnkappe.anonymize(table, algorithm=Regions(intervals="exact"), **asked)
    assert any(word.startswith("[") for word in exact.release.data["age"].to_pylist())
    assert exact.loss < labels.loss


# ------------------------------------------------------------------ what does not matter


def test_neither_the_order_of_rows_and_columns_nor_cores_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    data = pa.table(
        {
            "x": rng.integers(0, 50, 1500),
            "y": rng.integers(0, 7, 1500),
            "z": rng.integers(0, 900, 1500),
            "ill": rng.choice(["flu", "cold", "gout"], 1500),
        }
    )
    models = [k_anonymity(3), MODELS.create("distinct-diversity", {"column": "ill", "l": 2})]

    def run(data: pa.Table) -> Counter[tuple[Any, ...]]:
        table = Table(data).with_roles(quasi_identifiers=["x", "y", "z"], sensitive=["ill"])
        result = tarnkappe.anonymize(table, privacy=models, algorithm="regions", loss="loss")
        rows = result.release.data.select(["x", "y", "z", "ill"]).to_pylist()
        return Counter(tuple(row.values()) for row in rows)

    alone = run(data)
    assert run(data.take(rng.permutation(1500))) == alone
    assert run(data.select(["ill", "z", "y", "x"])) == alone
    monkeypatch.setattr("tarnkappe.recoding.cut_tree.WORTH_A_THREAD", 10)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert run(data) == alone


def test_equal_rows_are_one_class_and_small_tables_too_and_k_1_is_the_table_itself() -> None:
    equal = published([(20, "a")] * 9, "regions")
    assert (equal.loss, equal.state.num_kept) == (0, 1)
    assert published(FIRST, "regions", privacy=[k_anonymity(5)]).state.num_kept == 1
    same = published(FIRST, "regions", privacy=[k_anonymity(1)])
    assert cells(same) == [(str(age), town) for age, town in FIRST]


def test_the_loss_of_a_column_falls_with_its_weight() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (int(age), str(town))
        for age, town in zip(rng.integers(20, 30, 200), rng.choice(list("abcd"), 200), strict=True)
    ]

    def own_loss(weight: float) -> float:
        result = published(
            rows, Regions(intervals="exact"), privacy=[k_anonymity(8)], weights={"age": weight}
        )
        return result.problem.loss.by_column(result.state)[0]  # type: ignore[attr-defined]

    assert own_loss(4) < own_loss(1) < own_loss(0)


# ------------------------------------------------------------------ suppression, time, population


def test_rows_are_suppressed_only_within_the_limit_and_only_if_they_cost_more_than_themselves() -> None:
    rows = [(20 + n % 2, "a") for n in range(10)] + [(29, "d")]
    without = published(rows, "regions", privacy=[k_anonymity(5)])
    assert without.suppressed == 0
    within = published(rows, "regions", privacy=[k_anonymity(5)], suppression_limit=0.1)
    assert within.suppressed == 1
    assert within.loss < without.loss
    assert Fraction(within.suppressed, len(rows)) <= Fraction(1, 10)
    nobody_stands_out = published(rows[:9], "regions", privacy=[k_anonymity(3)], suppression_limit=0.5)
    assert nobody_stands_out.suppressed == 0


def test_out_of_time_it_shows_a_verified_release() -> None:
    rng = np.random.default_rng(7)
    data = pa.table({"x": rng.integers(0, 50, 3000), "y": rng.integers(0, 900, 3000)})
    table = Table(data).with_roles(quasi_identifiers=["x", "y"])
    result = tarnkappe.anonymize(
        table, privacy=[k_anonymity(3)], algorithm=Regions(seconds=1e-9), loss="loss"
    )
    assert result.solution.stopped == "out of time"
    assert result.state.num_kept == 1
    assert result.solution.bound is None
    assert all(found.holds for found in result.verified)


def test_members_of_the_population_are_in_one_region_each_and_no_rows_are_exchanged() -> None:
    everyone = Table(pa.table({"age": list(range(20, 80)), "sex": ["f", "m"] * 30}))
    table = Table(everyone.data.filter(pa.array([i % 2 == 1 or i % 3 == 0 for i in range(60)])))
    table = table.with_roles(quasi_identifiers=["age", "sex"])
    presence = MODELS.create("delta-presence", {"minimum": 0.3, "maximum": 0.8})
    result = tarnkappe.anonymize(
        table, privacy=[presence], algorithm="regions", population=everyone, loss="loss", shuffle=False
    )
    assert result.state.num_kept > 2
    assert result.population is not None
    regions = Counter(tuple(row.values()) for row in result.population.data.to_pylist())
    released = Counter(tuple(row.values()) for row in result.release.data.to_pylist())
    assert set(regions) == set(released)
    assert all(0.3 <= released[region] / number <= 0.8 for region, number in regions.items())
    assert any("no rows were exchanged" in step for step in result.recoding.steps)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"intervals": "wide"}, "intervals: one of labels, exact is needed, not 'wide'"),
        ({"block": 0}, "block: at least 1 is needed, not 0"),
        ({"sweeps": -1}, "sweeps: at least 0 is needed, not -1"),
        ({"balance": 1.0}, "balance: .* is (needed|allowed), not 1.0"),
        ({"seconds": 0.0}, "seconds: .* is needed, not 0.0"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Regions(**parameters)


def test_blind_classes_that_break_a_promise_are_refused_as_a_whole_even_within_the_limit() -> None:
    table = Table(pa.table({"x": [1, 1, 2, 2, 2, 2], "ill": ["HIV"] * 2 + ["flu"] * 4}))
    asked: dict[str, Any] = {
        "privacy": [k_anonymity(2), MODELS.create("distinct-diversity", {"column": "ill", "l": 2})],
        "hierarchies": {"x": Hierarchy.from_rows([["1", "*"], ["2", "*"]])},
        "loss": "loss",
    }
    table = table.with_roles(quasi_identifiers=["x"], sensitive=["ill"])
    assert tarnkappe.anonymize(table, algorithm="regions", **asked).state.num_kept == 1
    for limit in (0.0, 1.0):
        with pytest.raises(NoSolutionError, match="made without looking at sensitive values"):
            tarnkappe.anonymize(table, algorithm=Regions(blind=True), suppression_limit=limit, **asked)


@given(case=cases(min_rows=4, max_rows=12, max_columns=3), k=st.integers(1, 3), data=st.data())
@settings(max_examples=30)
def test_what_is_written_does_not_depend_on_sensitive_values_where_it_is_promised(
    case: Case, k: int, data: st.DataObject
) -> None:
    diseases = data.draw(st.permutations([row["disease"] for row in case.rows]))
    other = Case([{**row, "disease": ill} for row, ill in zip(case.rows, diseases, strict=True)], case.levels)
    models = [k_anonymity(k), MODELS.create("entropy-diversity", {"column": "disease", "l": 1.2})]
    written = []
    for each in (case, other):
        for method, asked in ((Regions(), models[:1]), (Regions(blind=True), models)):
            ready = prepared(each, asked)
            try:
                found = None if ready is None else method.recode(ready.rows, ready.problem)
            except NoSolutionError:
                found = None
            if found is not None:
                written.append(
                    {name: own.rows(0, len(case.rows)).to_pylist() for name, own in found.written.items()}
                )
    assert all(each == written[0] for each in written)


def test_many_columns_are_cut_evenly_where_the_best_cut_takes_a_few_rows_away() -> None:
    """Independent columns: what a cut in the middle gains in one of sixteen is less than what balance takes."""
    rng = np.random.default_rng(0)
    data = pa.table({f"c{place:02}": rng.integers(0, 500, 1500) for place in range(16)})
    table = Table(data).with_roles(quasi_identifiers=data.column_names)

    def run() -> tuple[float, int]:
        result = tarnkappe.anonymize(
            table, algorithm=Regions(refine=False), privacy=[k_anonymity(5)], loss="loss"
        )
        assert result.recoding is not None
        told = next(step for step in result.recoding.steps if "rounds" in step)
        return float(result.loss), int(told.split()[-2].replace(",", ""))

    loss, rounds = run()
    with mock.patch.object(cut_tree, "LARGE", 10_000):
        worse, more = run()
    assert loss < 0.9 * worse
    assert 5 * rounds < more


def test_under_a_loss_that_is_no_sum_over_cells_it_minimizes_loss_and_says_so() -> None:
    result = published(FIRST, "regions", loss="discernibility")
    assert result.solution.bound is None
    assert "minimized: loss, since discernibility is no sum over cells" in result.recoding.steps  # type: ignore[union-attr]


# ------------------------------------------------------------------ Adult


def test_adult_loses_little_more_than_half_of_what_mondrian_loses(adult: Path) -> None:
    """Eight columns, occupation sensitive; the bound is that of the definition."""
    data = read_adult(adult)
    names = [name for name in data.table.column_names if name != "occupation"]
    table = data.table.with_roles(quasi_identifiers=names, sensitive=["occupation"])
    asked = {"privacy": [k_anonymity(5)], "hierarchies": data.hierarchies, "loss": "loss"}
    cut = tarnkappe.anonymize(table, algorithm="mondrian", **asked)
    exact = tarnkappe.anonymize(table, algorithm=Regions(intervals="exact"), **asked)
    labels = tarnkappe.anonymize(table, algorithm="regions", **asked)
    assert exact.verified[0].value == labels.verified[0].value == 5
    assert exact.loss < 0.6 * cut.loss
    assert labels.loss < 0.65 * cut.loss
    assert exact.solution.bound == pytest.approx(0.00976, abs=1e-5)
    assert exact.solution.gap is not None
    assert exact.solution.gap < 1.2
    hidden = [labels.release.data[name].to_pylist().count("*") for name in names]
    assert max(hidden) < table.num_rows / 2
