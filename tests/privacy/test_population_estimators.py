"""Estimators of population uniqueness: against their definitions and against simulated populations."""

from __future__ import annotations

import math
from fractions import Fraction

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tarnkappe.privacy import PopulationUniqueness
from tarnkappe.privacy.frequencies import Frequencies
from tarnkappe.privacy.pitman import _by_newton, pitman, pitman_by_nested_roots
from tarnkappe.privacy.population_estimators import (
    UniquenessEstimator,
    population_uniques,
    shlosser,
    slide_negative_binomial,
    zayatz,
)
from tarnkappe.privacy.verify import verify

Sizes = npt.NDArray[np.int64]
sizes = st.lists(st.integers(1, 6), min_size=2, max_size=10).map(lambda s: np.array(s, dtype=np.int64))


def frequencies(sample: Sizes, population: int) -> Frequencies:
    values, counts = np.unique(sample, return_counts=True)
    return Frequencies(tuple(values.tolist()), tuple(counts.tolist()), population)


def draw(population: Sizes, fraction: float, generator: np.random.Generator) -> Sizes:
    """The class sizes of a random sample of a population with these class sizes."""
    rows = np.repeat(np.arange(len(population)), population)
    chosen = generator.choice(rows, round(fraction * len(rows)), replace=False)
    counts = np.bincount(chosen)
    return counts[counts > 0]


def pitman_population(people: int, a: float, t: float, generator: np.random.Generator) -> Sizes:
    """Class sizes by Pitman's formula, person by person."""
    counts: list[int] = []
    for n, place in enumerate(generator.random(people)):
        threshold = place * (t + n)
        for index, size in enumerate(counts):  # the first classes are the largest, so this ends soon
            threshold -= size - a
            if threshold < 0:
                counts[index] += 1
                break
        else:
            counts.append(1)
    return np.array(counts, dtype=np.int64)


def error(populations: list[Sizes], fraction: float, estimator: UniquenessEstimator) -> float:
    """The relative error of the mean estimate over some populations, two samples of each."""
    generator = np.random.default_rng(1)
    true = sum(int((population == 1).sum()) for population in populations)
    estimated = [
        population_uniques(draw(population, fraction, generator), int(population.sum()), estimator).uniques
        for population in populations
        for _ in range(2)
    ]
    return sum(estimated) / (2 * true) - 1


@pytest.fixture(scope="module")
def pitman_populations() -> list[Sizes]:
    return [pitman_population(8_000, 0.4, 50, np.random.default_rng(seed)) for seed in range(8)]


@pytest.mark.parametrize("fraction", [0.06, 0.1])
@pytest.mark.parametrize("estimator", [UniquenessEstimator.PITMAN, UniquenessEstimator.DANKAR])
def test_pitmans_estimate_is_near_the_truth_in_populations_of_its_kind(
    pitman_populations: list[Sizes], fraction: float, estimator: UniquenessEstimator
) -> None:
    assert abs(error(pitman_populations, fraction, estimator)) < 0.15


def negative_binomial_populations(a: float, b: float) -> list[Sizes]:
    return [1 + np.random.default_rng(seed).negative_binomial(a, b, 6_000) for seed in range(3)]


@pytest.mark.parametrize("fraction", [0.4, 0.7])
def test_the_slide_negative_binomial_is_near_the_truth_in_populations_of_its_kind(fraction: float) -> None:
    assert abs(error(negative_binomial_populations(1.2, 0.3), fraction, UniquenessEstimator.SNB)) < 0.15


@pytest.mark.parametrize("fraction", [0.8, 0.95])
def test_zayatz_is_near_the_truth_if_the_sample_is_much_like_the_population(fraction: float) -> None:
    assert abs(error(negative_binomial_populations(0.8, 0.4), fraction, UniquenessEstimator.ZAYATZ)) < 0.15


def test_small_samples_mislead_zayatz_towards_too_many_uniques() -> None:
    """Classes look smaller in a sample than they are: the error is on the side of caution."""
    assert error(negative_binomial_populations(0.8, 0.4), 0.1, UniquenessEstimator.ZAYATZ) > 0.5


@pytest.mark.parametrize("estimator", UniquenessEstimator)
def test_of_a_whole_population_nothing_is_estimated(estimator: UniquenessEstimator) -> None:
    found = population_uniques(np.array([1, 1, 2, 6]), 10, estimator)
    assert (found.uniques, found.share, found.estimator) == (2, 0.2, None)
    assert population_uniques(np.array([2, 3]), 100, estimator).uniques == 0


@pytest.mark.parametrize("estimator", [UniquenessEstimator.PITMAN, UniquenessEstimator.SNB])
def test_without_a_solution_every_unique_row_is_taken_for_a_unique_person(
    estimator: UniquenessEstimator,
) -> None:
    found = population_uniques(np.array([1, 1, 1]), 30, estimator)
    assert (found.uniques, found.share, found.estimator) == (30, 1, None)


@given(sample=sizes, times=st.integers(2, 40))
def test_zayatz_follows_its_definition(sample: Sizes, times: int) -> None:
    assume((sample == 1).any())
    n, population = int(sample.sum()), times * int(sample.sum())

    def one_sampled(size: int) -> Fraction:
        return Fraction(size * math.comb(population - size, n - 1), math.comb(population, n))

    uniques = int((sample == 1).sum())
    unique_if_sampled_once = uniques * one_sampled(1) / sum(one_sampled(size) for size in sample.tolist())
    expected = uniques * unique_if_sampled_once / Fraction(n, population)
    assert zayatz(frequencies(sample, population)) == pytest.approx(float(expected), rel=1e-6)


@given(sample=sizes)
@settings(max_examples=25)
def test_pitmans_parameters_make_the_sample_most_probable(sample: Sizes) -> None:
    """The same by products written out and a general optimizer, over a grid of starts."""
    assume((sample == 1).any() and (sample > 1).any())
    n, u, population = int(sample.sum()), len(sample), 50 * int(sample.sum())

    def loss(a: float, t: float) -> float:
        if not (0 <= a < 1 and t > -a):
            return math.inf
        gained = sum(math.log(t + i * a) for i in range(1, u)) - sum(math.log(t + i) for i in range(1, n))
        return -gained - sum(math.log(j - a) for size in sample.tolist() for j in range(1, size))

    starts = [(a, t) for a in (0.0, 0.3, 0.7) for t in (0.5, 3.0, 30.0)]
    found = min(
        (
            minimize(lambda x: loss(*x), start, method="Nelder-Mead", options={"maxiter": 400})
            for start in starts
        ),
        key=lambda result: float(result.fun),
    )
    estimate = pitman(frequencies(sample, population))
    a, t = found.x
    log_expected = math.log(population) + sum(
        math.log((t + a + i - 1) / (t + i)) for i in range(1, population)
    )
    assert estimate == pytest.approx(math.exp(log_expected), rel=0.05)


def test_newtons_method_finds_what_nested_roots_find() -> None:
    """On 1,000 samples of four kinds; where it gives up, most often because a is 0, the roots are looked for."""
    drawn, found, compared = np.random.default_rng(11), 0, 0
    while compared < 1000:
        number = int(drawn.integers(4, 400))
        sample = [
            lambda n: 1 + drawn.negative_binomial(drawn.uniform(0.2, 4), drawn.uniform(0.05, 0.9), n),
            lambda n: np.ceil(drawn.lognormal(0.5, 1.3, n)).astype(np.int64),
            lambda n: np.minimum(drawn.zipf(1.5 + 2 * drawn.random(), n), 3000),
            lambda n: drawn.integers(1, 4, n),
        ][compared % 4](number)
        seen = frequencies(sample, 20 * int(sample.sum()))
        if 0 < seen.of_size(1) < seen.rows:
            compared += 1
            by_newton = _by_newton(seen)
            if by_newton is not None:
                found += 1
                a, t = pitman_by_nested_roots(seen)
                assert by_newton == pytest.approx((a, t), rel=1e-6, abs=1e-8)
    assert found > 300


def test_the_slide_negative_binomial_recovers_its_parameters_from_what_it_expects() -> None:
    """With the numbers of classes that the model itself expects, the estimate is the true K b^a."""
    classes, a, b, f = 100_000, 1.5, 0.3, 0.5
    sampled: dict[int, float] = {}
    for hidden in range(80):
        chance = math.exp(math.lgamma(a + hidden) - math.lgamma(a) - math.lgamma(hidden + 1))
        chance *= classes * b**a * (1 - b) ** hidden
        for seen in range(hidden + 2):
            thinned = math.comb(hidden + 1, seen) * f**seen * (1 - f) ** (hidden + 1 - seen)
            sampled[seen] = sampled.get(seen, 0.0) + chance * thinned
    counts = {size: round(n) for size, n in sampled.items() if size > 0 and round(n) > 0}
    people = round(classes * (1 + a * (1 - b) / b))
    observed = Frequencies(tuple(counts), tuple(counts.values()), people)
    assert observed.rows == pytest.approx(f * people, rel=1e-3)
    assert shlosser(observed) == pytest.approx(classes, rel=0.02)
    assert slide_negative_binomial(observed) == pytest.approx(classes * b**a, rel=0.05)


def test_dankars_rule_chooses_by_the_fraction() -> None:
    generator = np.random.default_rng(4)
    population = negative_binomial_populations(1.0, 0.3)[0]
    people = int(population.sum())
    small, large = draw(population, 0.05, generator), draw(population, 0.5, generator)
    assert (
        population_uniques(small, people, UniquenessEstimator.DANKAR).estimator is UniquenessEstimator.PITMAN
    )
    found = population_uniques(large, people, UniquenessEstimator.DANKAR)
    both = [
        population_uniques(large, people, e).uniques
        for e in (UniquenessEstimator.SNB, UniquenessEstimator.ZAYATZ)
    ]
    assert found.uniques == min(both)


def mixed_population() -> Sizes:
    """Fifty unique people beside a thousand classes of twelve: no smooth model describes both."""
    return np.array([1] * 50 + [12] * 1000, dtype=np.int64)


def made_populations() -> dict[str, Sizes]:
    generator = np.random.default_rng(8)
    return {
        "negative binomial": 1 + generator.negative_binomial(1.2, 0.3, 3000),
        "lognormal": np.ceil(generator.lognormal(0.5, 1.3, 3000)).astype(np.int64),
        "zipf": np.minimum(generator.zipf(2, 3000), 3000),
        "equal": np.full(2000, 5),
        "large": np.full(500, 20),
        "uniform": generator.integers(1, 60, 1000),
        "mixed": mixed_population(),
    }


@pytest.mark.parametrize("kind", list(made_populations()))
@pytest.mark.parametrize("fraction", [0.15, 0.3, 0.5, 0.8])
def test_a_model_that_does_not_fit_gives_no_low_estimate(kind: str, fraction: float) -> None:
    """Whatever the population: the slide negative binomial is not below the truth by more than noise."""
    population = made_populations()[kind]
    true, people = int((population == 1).sum()), int(population.sum())
    generator = np.random.default_rng(17)
    for _ in range(6):
        sample = draw(population, fraction, generator)
        found = population_uniques(sample, people, UniquenessEstimator.SNB)
        assert found.uniques >= 0.5 * true, found
        by_rule = population_uniques(sample, people, UniquenessEstimator.DANKAR)
        by_zayatz = population_uniques(sample, people, UniquenessEstimator.ZAYATZ)
        assert by_rule.uniques >= 0.5 * min(true, by_zayatz.uniques), (by_rule, by_zayatz)


def test_a_fit_that_finds_hardly_anybody_is_refused() -> None:
    """The model would find 0.066 unique people where Zayatz finds 3.45."""
    sample = np.repeat([1, 2, 3, 50], [5, 8, 7, 100])
    assert zayatz(frequencies(sample, 20_000)) == pytest.approx(3.45, abs=0.005)
    found = population_uniques(sample, 20_000, UniquenessEstimator.DANKAR)
    assert (found.estimator, found.uniques) == (UniquenessEstimator.ZAYATZ, pytest.approx(3.45, abs=0.005))
    alone = population_uniques(sample, 20_000, UniquenessEstimator.SNB)
    assert (alone.estimator, alone.uniques) == (None, pytest.approx(5 / (5042 / 20_000)))


@given(
    a=st.floats(0.2, 4.0),
    b=st.floats(0.05, 0.9),
    fraction=st.sampled_from([0.11, 0.2, 0.5, 0.9]),
    seed=st.integers(0, 2**32 - 1),
    family=st.sampled_from(["negative binomial", "lognormal", "zipf"]),
)
@settings(max_examples=60)
def test_dankars_rule_is_never_far_below_zayatz_where_it_asks_the_slide_negative_binomial(
    a: float, b: float, fraction: float, seed: int, family: str
) -> None:
    generator = np.random.default_rng(seed)
    population = {
        "negative binomial": lambda: 1 + generator.negative_binomial(a, b, 800),
        "lognormal": lambda: np.ceil(generator.lognormal(a / 4, a / 3, 800)).astype(np.int64),
        "zipf": lambda: np.minimum(generator.zipf(1.5 + a, 800), 800),
    }[family]()
    sample, people = draw(population, fraction, generator), int(population.sum())
    found = population_uniques(sample, people, UniquenessEstimator.DANKAR)
    assert found.uniques >= zayatz(frequencies(sample, people)) / 5 - 1e-9


@pytest.mark.parametrize("times", [4, 12.5])
def test_a_model_that_implies_another_population_is_not_used(times: float) -> None:
    """The same sample, stated to come from more people than its classes can be, has no estimate."""
    population = negative_binomial_populations(1.2, 0.3)[0]
    sample = draw(population, 0.5, np.random.default_rng(2))
    people = int(population.sum())
    assert population_uniques(sample, people, UniquenessEstimator.SNB).estimator is UniquenessEstimator.SNB
    wrong = round(people * times)
    found = population_uniques(sample, wrong, UniquenessEstimator.SNB)
    naive = int((sample == 1).sum()) / (int(sample.sum()) / wrong)
    assert (found.estimator, found.uniques) == (None, pytest.approx(naive))


@given(
    counts=st.lists(st.integers(0, 60), min_size=3, max_size=12),
    fraction=st.sampled_from([0.12, 0.3, 0.6, 0.9]),
)
@settings(max_examples=150)
def test_an_accepted_model_explains_both_the_population_and_the_sample(
    counts: list[int], fraction: float
) -> None:
    """Recomputed by another way: of all parameters on a grid, some nearby explain what was seen."""
    assume(counts[0] > 0 and counts[1] > 0)
    sample = np.repeat(np.arange(1, len(counts) + 1), counts)
    people = round(int(sample.sum()) / fraction)
    assume(people > int(sample.sum()))
    found = population_uniques(sample, people, UniquenessEstimator.SNB)
    if found.estimator is None:
        return
    classes = shlosser(frequencies(sample, people))
    mean = people / classes - 1  # of the people beside the first of each class
    chance = found.uniques / classes  # b^a, with which the mean fixes a and b
    low, high = 1e-12, 1.0 - 1e-12
    for _ in range(200):
        b = (low + high) / 2
        a = mean * b / (1 - b)
        low, high = (low, b) if a * math.log(b) > math.log(max(chance, 1e-300)) else (b, high)
    thinned = b / (1 - (1 - fraction) * (1 - b))
    none = thinned**a
    ones = classes * ((1 - fraction) * a * none * (1 - thinned) + fraction * none)
    assert counts[0] / 4 - 10 <= ones <= 4 * counts[0] + 10


@pytest.mark.parametrize(
    ("model", "before", "after"),
    [
        (
            PopulationUniqueness(0.08, UniquenessEstimator.ZAYATZ, sampling_fraction=0.5),
            [1, 1, 2, 2, 2, 2],
            [1, 1, 8],
        ),
        (
            PopulationUniqueness(0.01, UniquenessEstimator.PITMAN, sampling_fraction=0.01),
            [1] * 4 + [4, 4],
            [1] * 4 + [8],
        ),
        (
            PopulationUniqueness(0.01, UniquenessEstimator.DANKAR, sampling_fraction=0.01),
            [1] * 4 + [4, 4],
            [1] * 4 + [8],
        ),
    ],
    ids=str,
)
def test_merging_classes_of_several_rows_may_raise_an_estimate(
    model: PopulationUniqueness, before: list[int], after: list[int]
) -> None:
    """Why population uniqueness is not monotone by any estimator, even if a row may be suppressed."""
    rows = sum(before)
    assert model.sizes_hold(np.array(before), rows)
    assert not model.sizes_hold(np.array(after), rows)
    assert not model.sizes_hold(np.array(after[1:]), rows)


def test_the_population_is_given_by_its_size_or_by_the_sampled_fraction() -> None:
    sample = np.array([1, 1, 2, 6])
    by_size = PopulationUniqueness(0.1, population_size=100)
    by_fraction = PopulationUniqueness(0.1, sampling_fraction="1/10")
    assert by_size.measure_sizes(sample, 10) == by_fraction.measure_sizes(sample, 10)
    suppressed = by_fraction.measure_sizes(sample[1:], 10)
    assert suppressed == population_uniques(sample[1:], 100, UniquenessEstimator.DANKAR).share


def test_sql_counts_the_classes_and_asks_the_estimator() -> None:
    model = PopulationUniqueness(0.02, UniquenessEstimator.PITMAN, population_size=1000)
    release = pa.table({"a": ["x"] * 5 + ["y"] + ["z"] * 3})
    connection = duckdb.connect()
    connection.register("release", release)
    connection.register("input", release)
    (found,) = verify(connection, [model], ["a"])
    assert found.value == pytest.approx(pitman(frequencies(np.array([5, 1, 3]), 1000)) / 1000)
