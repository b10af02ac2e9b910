"""What is estimated of a population from a sample: against exact sums and against simulated populations.

The stated errors are of the mean over some samples; they hold for populations of the kinds drawn here.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.privacy.frequencies import Frequencies
from tarnkappe.privacy.pitman import pitman, pitman_parameters
from tarnkappe.risk import check
from tarnkappe.risk.measures.population_sizes import expected_inverses
from tarnkappe.risk.measures.reidentification import frequencies
from tarnkappe.risk.measures.uniqueness import correct_match
from tarnkappe.table import Table
from tests.privacy.test_population_estimators import negative_binomial_populations, pitman_population

Sizes = npt.NDArray[np.int64]


def expected_inverse(size: int, unseen: int, first: float, second: float) -> float:
    """The expectation of 1 / F, term by term: people arrive one by one, each term follows from the last."""
    chance = math.exp(
        math.lgamma(unseen + second)
        + math.lgamma(first + second)
        - math.lgamma(unseen + first + second)
        - math.lgamma(second)
    )
    total = 0.0
    for members in range(unseen + 1):
        total += chance / (size + members)
        chance *= (unseen - members) / (members + 1) * (members + first) / (unseen - members - 1 + second)
    return total


@given(
    sizes=st.lists(st.integers(1, 9), min_size=4, max_size=30),
    large=st.lists(st.integers(50, 90), max_size=3),
    times=st.sampled_from([2, 7, 60]),
)
@settings(max_examples=60)
def test_expected_inverses_are_the_sum_of_their_terms(sizes: list[int], large: list[int], times: int) -> None:
    sample = frequencies(np.array([2, 1, *sizes, *large]), times * sum([2, 1, *sizes, *large]))
    a, t = pitman_parameters(sample)
    found = expected_inverses(sample)
    for size, inverse in zip(sample.sizes, found.tolist(), strict=True):
        exact = expected_inverse(size, sample.population - sample.rows, size - a, t + sample.rows - size + a)
        assert inverse == pytest.approx(exact, rel=1e-6 if size < 64 else 1e-3), size


def test_large_populations_are_integrated_right() -> None:
    sample = Frequencies((1, 2, 3, 40, 63, 64), (900, 300, 100, 20, 3, 4), 400_000)
    a, t = pitman_parameters(sample)
    for size, inverse in zip(sample.sizes, expected_inverses(sample).tolist(), strict=True):
        exact = expected_inverse(size, sample.population - sample.rows, size - a, t + sample.rows - size + a)
        assert inverse == pytest.approx(exact, rel=1e-4 if size < 64 else 1e-3), size


def test_a_unique_row_is_a_unique_person_as_often_as_pitman_says() -> None:
    """The same model, so the chance that nobody joins a class of one gives Pitman's estimate."""
    sample = Frequencies((1, 2, 3, 9), (400, 120, 60, 20), 12_000)
    a, t = pitman_parameters(sample)
    unseen = sample.population - sample.rows
    nobody = math.prod((t + sample.rows - 1 + a + i) / (t + sample.rows + i) for i in range(unseen))
    assert sample.of_size(1) * nobody / sample.fraction == pytest.approx(pitman(sample), rel=0.2)


def test_nothing_is_estimated_of_a_whole_population_or_of_unique_rows_only() -> None:
    assert expected_inverses(Frequencies((1, 4), (2, 1), 6)).tolist() == [1, 0.25]
    assert expected_inverses(Frequencies((1,), (5,), 5000)).tolist() == [1]


def sampled(population: Sizes, fraction: float, generator: np.random.Generator) -> tuple[Sizes, Sizes]:
    """The sizes in a random sample of the classes that occur in it, and their sizes in the population."""
    rows = np.repeat(np.arange(len(population)), population)
    chosen = generator.choice(rows, round(fraction * len(rows)), replace=False)
    counts = np.bincount(chosen, minlength=len(population))
    return counts[counts > 0], population[counts > 0]


def heavy_tailed_population(seed: int) -> Sizes:
    return np.ceil(np.random.default_rng(seed).lognormal(0.5, 1.3, 8_000)).astype(np.int64)


POPULATIONS = {
    "pitman": lambda: [pitman_population(8_000, 0.4, 50, np.random.default_rng(seed)) for seed in range(4)],
    "negative binomial": lambda: negative_binomial_populations(1.2, 0.3),
    "lognormal": lambda: [heavy_tailed_population(seed) for seed in range(3)],
}


@pytest.fixture(scope="module")
def populations() -> dict[str, list[Sizes]]:
    return {name: make() for name, make in POPULATIONS.items()}


@pytest.mark.parametrize(
    ("kind", "fraction", "least", "most"),
    [
        ("pitman", 0.05, -0.1, 0.1),
        ("pitman", 0.2, -0.05, 0.05),
        ("pitman", 0.5, -0.05, 0.05),
        ("negative binomial", 0.05, 0, 0.35),
        ("negative binomial", 0.2, 0, 0.25),
        ("negative binomial", 0.5, 0, 0.15),
        ("lognormal", 0.05, 0, 0.35),
        ("lognormal", 0.2, 0, 0.2),
        ("lognormal", 0.5, 0, 0.1),
    ],
)
def test_the_journalists_average_risk_is_near_the_truth(
    populations: dict[str, list[Sizes]], kind: str, fraction: float, least: float, most: float
) -> None:
    """In populations that are not of Pitman's kind the estimate is too high: it errs on the side of caution."""
    generator = np.random.default_rng(5)
    true = estimated = 0.0
    for population in populations[kind]:
        for _ in range(4):
            sizes, people = sampled(population, fraction, generator)
            rows = int(sizes.sum())
            true += float((sizes / people).sum()) / rows
            sample = frequencies(sizes, int(population.sum()))
            inverses = expected_inverses(sample)
            estimated += float(sizes @ inverses[np.searchsorted(sample.sizes, sizes)]) / rows
    assert least < estimated / true - 1 < most


@pytest.mark.parametrize("fraction", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("kind", list(POPULATIONS))
def test_the_chance_of_a_correct_match_is_near_the_truth(
    populations: dict[str, list[Sizes]], kind: str, fraction: float
) -> None:
    """True: of the people of the population who fit a unique row, the share whose row it is."""
    generator = np.random.default_rng(6)
    true, estimated = [], []
    for population in populations[kind]:
        for _ in range(4):
            sizes, people = sampled(population, fraction, generator)
            alone = sizes == 1
            true.append(alone.sum() / people[alone].sum())
            estimated.append(correct_match(int(alone.sum()), int((sizes == 2).sum()), fraction))
    assert np.mean(estimated) == pytest.approx(np.mean(true), rel=0.15)
    assert correct_match(0, 3, fraction) == 0


def test_a_report_estimates_what_a_population_would_have_told() -> None:
    """The same sample once with its population and once with its fraction only."""
    generator = np.random.default_rng(8)
    population = pitman_population(20_000, 0.4, 60, generator)
    people = np.repeat(np.arange(len(population)), population)
    chosen = generator.choice(people, 2_000, replace=False)
    table = Table(pa.table({"combination": chosen}))
    names = ["combination"]
    known = check(table, quasi_identifiers=names, population=Table(pa.table({"combination": people})))
    guessed = check(table, quasi_identifiers=names, sampling_fraction="1/10")
    true, estimate = (report.measures["reidentification"].to_dict() for report in (known, guessed))
    assert (true["basis"], estimate["basis"]) == ("population table", "estimate")
    assert estimate["marketer"] == pytest.approx(true["marketer"], rel=0.15)
    assert estimate["journalist"]["average"] == pytest.approx(true["journalist"]["average"], rel=0.15)
    uniques = guessed.measures["uniqueness"].to_dict()["estimates"]
    people_alone = known.measures["uniqueness"].to_dict()["population_uniques"]
    assert uniques["dankar"]["by"] == "pitman"
    assert uniques["dankar"]["uniques"] == pytest.approx(people_alone, rel=0.2)
    assert set(uniques) == {"pitman", "zayatz", "snb", "dankar"}
