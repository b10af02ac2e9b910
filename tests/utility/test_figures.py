"""Summaries, tables and dependence: those of pandas, SciPy and plain loops on the same numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.table.encoding import encode_column
from tarnkappe.utility import ColumnDomain, ReleaseReader, exact_view, sliced_view, written_view
from tarnkappe.utility.contingency import contingency, cramers_v, groups, mutual_information, pairs_of
from tarnkappe.utility.dependence import (
    cell_distance,
    correlation_ratio,
    dependences,
    eigenvalue_difference,
    pearson,
    spearman,
)
from tarnkappe.utility.summaries import summary

pandas = pytest.importorskip("pandas", reason="pandas is not installed")
RANDOM = np.random.default_rng(7)
AGE = RANDOM.integers(20, 70, 400)
PEOPLE = pa.table(
    {
        "age": AGE,
        "income": (AGE * 31 + RANDOM.integers(1, 900, 400)) / 7,
        "sex": RANDOM.choice(["f", "m"], 400),
        "town": RANDOM.choice(["a", "b", "c", "d"], 400, p=[0.5, 0.2, 0.2, 0.1]),
    }
)
FRAME = PEOPLE.to_pandas()


def domains(table: pa.Table) -> dict[str, ColumnDomain]:
    return {name: ColumnDomain(encode_column(name, table.column(name))) for name in table.column_names}


DOMAINS = domains(PEOPLE)
ORIGINAL = exact_view(DOMAINS, PEOPLE)


def expanded(word: str) -> list[float]:
    """The ages of the table that a word may stand for, read by a plain loop."""
    ages = sorted({*AGE.tolist()})
    if word == "*":
        return ages
    if "-" in word:
        low, high = map(int, word.split("-"))
        return [age for age in ages if low <= age <= high]
    return [float(word)]


@pytest.mark.parametrize("name", ["age", "income"])
def test_summaries_of_numbers_are_those_of_pandas(name: str) -> None:
    found, column = summary(ORIGINAL, name), FRAME[name].astype(float)
    expected = {
        "least": column.min(),
        "greatest": column.max(),
        "range": column.max() - column.min(),
        "median": column.median(),
        "lower_quartile": column.quantile(0.25),
        "upper_quartile": column.quantile(0.75),
        "mean": column.mean(),
        "variance": column.var(),
        "population_variance": column.var(ddof=0),
        "deviation": column.std(),
        "skewness": column.skew(),
        "kurtosis": column.kurt(),
        "geometric_mean": math.exp(np.log(column).mean()),
    }
    for figure, value in expected.items():
        assert getattr(found, figure) == pytest.approx(value, rel=1e-9), figure
    assert found.distinct == column.nunique()


def test_a_nominal_column_has_a_mode_and_no_mean() -> None:
    found = summary(ORIGINAL, "town")
    assert DOMAINS["town"].column.labels[found.mode] == FRAME["town"].mode()[0]
    assert (found.distinct, found.mean, found.median) == (4, None, None)


@given(st.lists(st.sampled_from(["*", "20-29", "30-49", "25", "61"]), min_size=4, max_size=12))
def test_a_generalized_cell_is_spread_over_what_it_may_stand_for(words: list[str]) -> None:
    known = [word for word in words if expanded(word)[0] in AGE or len(expanded(word)) > 1]
    if len(known) < 4:
        return
    release = written_view({"age": DOMAINS["age"]}, pa.table({"age": known}))
    found = summary(release, "age")
    means = [float(np.mean(expanded(word))) for word in known]
    within = [float(np.var(expanded(word))) for word in known]
    assert found.mean == pytest.approx(np.mean(means))
    assert found.population_variance == pytest.approx(np.var(means) + np.mean(within), abs=1e-9)


def test_dependence_is_that_of_pandas_and_scipy() -> None:
    from scipy.stats import chi2_contingency

    assert pearson(ORIGINAL, "age", "income") == pytest.approx(FRAME["age"].corr(FRAME["income"]))
    ranks = FRAME["age"].corr(FRAME["income"], method="spearman")
    assert spearman(ORIGINAL, "age", "income") == pytest.approx(ranks)
    table = pandas.crosstab(FRAME["sex"], FRAME["town"]).to_numpy().astype(float)
    chi = chi2_contingency(table, correction=False)[0]
    assert cramers_v(table) == pytest.approx(math.sqrt(chi / 400))
    own = ORIGINAL.joint("sex", "town", groups(ORIGINAL, "sex"), groups(ORIGINAL, "town"))
    assert own.tolist() == table.tolist()
    total = ((FRAME["income"] - FRAME["income"].mean()) ** 2).sum()
    by_town = FRAME.groupby("town")["income"]
    between = (by_town.count() * (by_town.mean() - FRAME["income"].mean()) ** 2).sum()
    assert correlation_ratio(ORIGINAL, "town", "income") == pytest.approx(math.sqrt(between / total))


def test_the_corrected_v_of_independent_columns_is_about_nothing() -> None:
    corrected = cramers_v(
        pandas.crosstab(FRAME["sex"], FRAME["town"]).to_numpy().astype(float), corrected=True
    )
    assert corrected is not None
    assert corrected < 0.1


def test_mutual_information_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    table = pandas.crosstab(FRAME["age"], FRAME["town"]).to_numpy().astype(float)
    nats = metrics.mutual_info_score(None, None, contingency=table)
    assert mutual_information(table) == pytest.approx(nats / math.log(2))


def test_an_exact_release_loses_nothing_in_any_figure() -> None:
    same = written_view(DOMAINS, PEOPLE)
    for pair in pairs_of(PEOPLE.column_names):
        found = contingency(ORIGINAL, same, *pair)
        assert found.total_variation == found.hellinger == 0
        assert found.information_kept == pytest.approx(1)
    assert {each.difference for each in dependences(ORIGINAL, same, PEOPLE.column_names)} == {0.0}
    assert eigenvalue_difference(ORIGINAL, same, PEOPLE.column_names) == 0
    assert cell_distance(ORIGINAL, same, PEOPLE.column_names, np.arange(400)) == 0


def test_a_hidden_column_depends_on_nothing() -> None:
    hidden = PEOPLE.set_column(0, "age", pa.array(["*"] * 400))
    release = written_view(DOMAINS, hidden)
    assert pearson(release, "age", "income") == pytest.approx(0, abs=1e-9)
    found = contingency(ORIGINAL, release, "age", "town")
    assert found.information_kept == pytest.approx(0, abs=1e-9)
    assert found.total_variation > 0.1


def test_the_distance_of_cells_is_that_of_a_loop() -> None:
    words = ["*" if i % 3 else str(age) for i, age in enumerate(AGE.tolist())]
    release = written_view({"age": DOMAINS["age"]}, pa.table({"age": words}))
    mean = float(np.mean(sorted({*AGE.tolist()})))
    off = [abs(age - (mean if i % 3 else age)) for i, age in enumerate(AGE.tolist())]
    expected = np.mean(off) / (np.std(AGE, ddof=1) * math.sqrt(2))
    assert cell_distance(ORIGINAL, release, ["age"], np.arange(400)) == pytest.approx(expected)


def test_eigenvalues_are_compared_as_sdcmicro_does() -> None:
    blurred = PEOPLE.set_column(0, "age", pa.array([str(age // 10 * 10 + 5) for age in AGE.tolist()]))
    table = pa.table({name: blurred.column(name) for name in ("age", "income")})
    both = domains(
        pa.table(
            {"age": pa.array([*AGE.tolist(), *range(20, 70)]), "income": [*FRAME["income"], *[1.0] * 50]}
        )
    )
    original = exact_view(both, PEOPLE.select(["age", "income"]))
    release = written_view(both, table)
    mine = np.corrcoef(AGE, FRAME["income"])
    theirs = np.corrcoef(AGE // 10 * 10 + 5, FRAME["income"])
    ours, others = (np.sort(np.linalg.eigvalsh(each))[::-1] for each in (mine, theirs))
    expected = (np.abs(ours - others) / ours).sum()
    assert eigenvalue_difference(original, release, ["age", "income"]) == pytest.approx(expected)


def test_columns_of_a_sliced_table_go_together_within_buckets_only() -> None:
    rows = pa.table({"sex": ["f", "m", "f", "m"], "town": ["a", "b", "c", "c"], "bucket": [1, 1, 2, 2]})
    described = pa.table({"column": ["sex", "town"], "group": [1, 2]})
    known = {name: ColumnDomain(encode_column(name, rows.column(name))) for name in ("sex", "town")}
    view: ReleaseReader = sliced_view(known, rows, described)
    joint = view.joint("sex", "town", np.eye(2), np.eye(3))
    expected = np.zeros((2, 3))
    for bucket in ((0, 1), (2, 3)):
        for i, j in itertools.product(bucket, bucket):
            sex, town = known["sex"].column.codes[i], known["town"].column.codes[j]
            expected[sex, town] += 1 / 2
    assert joint.tolist() == expected.tolist()


def test_pairs_with_a_sensitive_column_come_first_and_there_are_not_too_many() -> None:
    names = [f"c{i}" for i in range(40)]
    pairs = pairs_of(names, ["c7"])
    assert len(pairs) == 200
    assert all("c7" in pair for pair in pairs[:39])
