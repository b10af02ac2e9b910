"""The running example, blood donations, written as SQL: the figures come out of the queries."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tarnkappe.algebra.distribution import OutcomeDistribution, Rows, as_bag
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.sql.query import read_sql
from tests.algebra.blood import EXAMPLES, base, rows, world


def run(text: str, name: str, bucket: int = 3) -> OutcomeDistribution:
    """The result of a query over one of the base relations, which it calls spende."""
    relation, table = base(name)
    query = read_sql(text, {"spende": relation.columns})
    return evaluate(query.plan, world(bucket, spende=table))


def only(result: OutcomeDistribution) -> Rows:
    ((outcome, probability),) = result
    assert probability == 1
    return outcome


BY_DAY = "k => 3, by => [A]"


@pytest.mark.parametrize(
    ("text", "name", "figure", "side"),
    [
        ("SELECT * FROM generalize(spende, k => 3, by => [A, C])", "BASE7", "fig7", "expected"),
        (f"SELECT * FROM generalize((SELECT A, B FROM spende), {BY_DAY})", "BASE6", "G9-G10-fig13", "left"),
        (f"SELECT A, B FROM generalize(spende, {BY_DAY})", "BASE6", "G9-G10-fig13", "right"),
        (f"SELECT B, C FROM generalize(spende, {BY_DAY})", "BASE6", "G11-fig14", "right"),
        ("SELECT B, C FROM spende", "BASE6", "G11-fig14", "left"),
        (
            "SELECT A, B FROM generalize(generalize(spende, k => 3, by => [A]), k => 5, by => [A])",
            "BASE6",
            "G6-fig10",
            "left",
        ),
        ("SELECT * FROM generalize(spende, k => 3, by => [A, C])", "BASE11", "G7-fig11", "right"),
        (
            f"SELECT * FROM generalize((SELECT A, B FROM spende WHERE B <> 'B0'), {BY_DAY})",
            "BASE6",
            "G14-fig17",
            "left_final",
        ),
        (
            f"SELECT * FROM generalize((SELECT A, B FROM spende), {BY_DAY}) WHERE B <> 'B0'",
            "BASE6",
            "G14-fig17",
            "right_final",
        ),
    ],
)
def test_a_figure_comes_out_of_its_query(text: str, name: str, figure: str, side: str) -> None:
    expected = EXAMPLES[figure][side]
    steps = side in ("left", "right")
    assert only(run(text, name)) == as_bag(rows(expected[-1] if steps else expected))


def test_figure_23_has_324_equally_likely_results() -> None:
    example = EXAMPLES["fig23"]
    result = run("SELECT * FROM slice(spende, groups => [[A], [B, C], [D]])", "BASE6")
    assert set(result.probabilities.values()) == {Fraction(1, 324)}
    assert len(result.probabilities) == 324
    assert as_bag(rows(example["possible_outcome"])) in result.probabilities


def test_noise_on_blood_groups_and_rhesus_factors() -> None:
    """The single cell that the example computes: AA stays AA with 1 - p + p·q."""
    text = "SELECT B FROM randomize((SELECT DISTINCT B FROM spende WHERE B = '00'), probability => {B: 0.33})"
    result = run(text, "BASE6")
    cell = {outcome[0][0]: float(probability) for outcome, probability in result}
    assert cell == pytest.approx(EXAMPLES["noise-cell-oracle"]["B"]["out"], abs=1e-9)
