"""What every publishing method must do, on random tables. A new method is tested here without being asked.

The attacker reads the release as it stands, so SQL is asked about the written values, by code that had no part
in writing them. Beside the promises every cell must be true of its row, and what the release lost must be
measured rightly.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from math import log2
from typing import Any

import duckdb
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.errors import ColumnError, JobError, NoSolutionError, ParameterError
from tarnkappe.job.truthfulness import require_true_cells
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, DifferentialPrivacy, Model
from tarnkappe.privacy.verify import verify
from tarnkappe.recoding import METHODS, Method
from tarnkappe.schema import Parameters
from tests.conftest import ROOT
from tests.recoding.method_tables import KINDS, Case, as_text, cases, k_anonymity

EVERY = [instance for method in METHODS for instance in method.examples()]
INSTANCES = [instance for kind in MODELS if kind is not DifferentialPrivacy for instance in kind.examples()]
COMMON = [
    k_anonymity(2),
    k_anonymity(3),
    MODELS.create("distinct-diversity", {"column": "disease", "l": 2}),
    MODELS.create("entropy-diversity", {"column": "disease", "l": 1.5}),
    MODELS.create("recursive-diversity", {"column": "disease", "c": 3.0, "l": 2}),
    MODELS.create("equal-closeness", {"column": "disease", "t": 0.4}),
]
LIMITS = st.sampled_from([0.0, 0.3, 1.0])
REFUSALS = (NoSolutionError, ParameterError, ColumnError)

every_method = pytest.mark.parametrize(
    "method", EVERY, ids=[f"{each.name}-{index}" for index, each in enumerate(EVERY)]
)


def release_of(
    case: Case, method: Method, models: list[Model], *, backwards: bool = False, **settings: Any
) -> tarnkappe.Result | None:
    """The release, or None where the method says that there is none, in plain words and without a value."""
    try:
        return tarnkappe.anonymize(
            case.table(backwards=backwards),
            privacy=models,
            hierarchies=case.hierarchies(),
            algorithm=method,
            population=case.everyone(),
            shuffle=False,
            **{"loss": "loss", **settings},
        )
    except REFUSALS as refused:
        event(type(refused).__name__)
        words = str(refused)
        assert len(words) > 20
        assert not any(town in words for town in ("Aachen", "Bern", "Calw", "Dachau", "nurse", "clerk"))
        return None


def require_every_promise(result: tarnkappe.Result) -> None:
    release = result.release.data
    for name in result.withheld.column_names:
        release = release.append_column(name, result.withheld.column(name))
    columns = result.problem.tuples.columns if result.passes else require_true_cells(result, release)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("release", release)
        connection.register("input", result.input.data)
        if result.population is not None:
            connection.register("everyone", result.population.data)
        found = verify(
            connection,
            result.problem.models,
            result.problem.quasi_identifiers,
            population=None if result.population is None else "everyone",
            sensitive=columns,
        )
    assert all(each.holds for each in found), found


@every_method
@given(case=cases(min_rows=3, max_rows=10, max_columns=3), model=st.sampled_from(COMMON), limit=LIMITS)
@settings(max_examples=8)
def test_the_common_promises_are_kept_within_the_limit(
    method: Method, case: Case, model: Model, limit: float
) -> None:
    result = release_of(case, method, [model], suppression_limit=limit)
    if result is None:
        return
    require_every_promise(result)
    assert result.suppressed <= limit * len(case.rows) + 1e-9
    assert result.release.num_rows == len(case.rows) - result.suppressed


@every_method
@given(
    case=cases(min_rows=3, max_rows=10, max_columns=3),
    models=st.lists(st.sampled_from(INSTANCES), min_size=1, max_size=2, unique=True),
    limit=LIMITS,
)
@settings(max_examples=8)
def test_every_model_of_the_registry_is_kept_or_refused(
    method: Method, case: Case, models: list[Model], limit: float
) -> None:
    result = release_of(case, method, models, suppression_limit=limit)
    if result is not None:
        require_every_promise(result)
        assert result.suppressed <= limit * len(case.rows) + 1e-9


@every_method
@given(
    case=cases(min_rows=3, max_rows=8, max_columns=3, with_population=True),
    model=st.sampled_from([k_anonymity(2), *(m for m in INSTANCES if m.looks_beyond_release)]),
)
@settings(max_examples=8)
def test_with_a_population_it_keeps_the_promise_or_refuses(method: Method, case: Case, model: Model) -> None:
    result = release_of(case, method, [model], suppression_limit=0.3)
    if result is not None:
        require_every_promise(result)
        assert result.population is not None
        assert case.population is not None
        assert result.population.num_rows == len(case.population)


def stands_for(text: Any, value: Any, case: Case, name: str) -> bool:
    """Whether a cell is true of a value, as a person would read it."""
    shown = None if value is None else as_text(value)
    word = None if text is None else as_text(text)
    if word == shown or word == "*" or word in (level[value] for level in case.levels[name]):
        return True
    assert word is not None
    interval = re.fullmatch(r"\[(\S+), (\S+)\]", word)
    if interval and value is not None and name in ("age", "weight"):
        labels = case.levels[name][0]
        ends = [[v for v in labels if labels[v] == end] for end in interval.groups()]
        if all(ends):  # a run of labels of level 1
            return bool(min(ends[0]) <= value <= max(ends[1]))
        return float(interval[1]) <= value <= float(interval[2])
    inner = word[1:-1]
    alike = [shown or "(missing)", *(level[value] for level in case.levels[name])]
    return word.startswith("{") and any(
        inner == each
        or inner.startswith(f"{each}, ")
        or inner.endswith(f", {each}")
        or f", {each}, " in inner
        for each in alike
    )


@every_method
@given(case=cases(min_rows=3, max_rows=10, max_columns=3), k=st.integers(1, 3), limit=LIMITS)
@settings(max_examples=8)
def test_every_cell_is_true_of_its_row_and_other_columns_are_untouched(
    method: Method, case: Case, k: int, limit: float
) -> None:
    result = release_of(case, method, [k_anonymity(k)], suppression_limit=limit)
    if result is None:
        return
    for source, row in zip(result.source_rows.tolist(), result.release.data.to_pylist(), strict=True):
        original = case.rows[source]
        assert all(stands_for(row[name], original[name], case, name) for name in case.names)
        assert all(row[name] == original[name] for name in ("disease", "treatment", "income"))


@every_method
@given(case=cases(min_rows=3, max_rows=9, max_columns=3), model=st.sampled_from(COMMON), limit=LIMITS)
@settings(max_examples=6)
def test_the_same_input_gives_the_same_output_whatever_the_order_of_columns(
    method: Method, case: Case, model: Model, limit: float
) -> None:
    first = release_of(case, method, [model], suppression_limit=limit)
    for backwards in (False, True) if method.any_column_order else (False,):
        again = release_of(case, method, [model], backwards=backwards, suppression_limit=limit)
        assert (first is None) == (again is None)
        if first is not None and again is not None:
            assert (
                first.release.data.to_pylist()
                == again.release.data.select(first.release.column_names).to_pylist()
            )


# ------------------------------------------------------------------ what was lost, the slow way


def leaves(case: Case, name: str, text: Any) -> int:
    """How many values of the hierarchy a cell may stand for."""
    domain = list(case.levels[name][0])
    return sum(stands_for_any_level(case, name, text, value) for value in domain)


def stands_for_any_level(case: Case, name: str, text: Any, value: Any) -> bool:
    if text is None:
        return value is None
    return stands_for(text, value, case, name)


def slow_losses(case: Case, result: tarnkappe.Result) -> dict[str, float]:
    written: list[tuple[Any, ...] | None] = [None] * len(case.rows)
    for source, row in zip(result.source_rows.tolist(), result.release.data.to_pylist(), strict=True):
        written[source] = tuple(row[name] for name in case.names)
    shares, bits = [], 0.0
    for index, name in enumerate(case.names):
        domain = len(case.levels[name][0])
        texts = ["(left out)" if own is None else own[index] for own in written]
        for text, own in zip(texts, written, strict=True):
            if own is None:
                shares.append(Fraction(1))  # whatever the column, nothing is left of it
            else:
                shares.append(Fraction(leaves(case, name, text) - 1, max(domain - 1, 1)))
        pairs = Counter((as_text(row[name]), text) for row, text in zip(case.rows, texts, strict=True))
        alike = Counter(texts)
        bits += sum(n * log2(alike[text] / n) for (_, text), n in pairs.items())
    sizes = Counter(own for own in written if own is not None)
    left_out = sum(own is None for own in written)
    return {
        "loss": float(sum(shares) / len(shares)),
        "discernibility": sum(n * n for n in sizes.values()) + len(case.rows) * left_out,
        "entropy": bits,
    }


@every_method
@given(case=cases(min_rows=3, max_rows=9, max_columns=3), k=st.integers(1, 3), limit=LIMITS)
@settings(max_examples=8)
def test_the_measured_losses_are_those_of_the_slow_twin(
    method: Method, case: Case, k: int, limit: float
) -> None:
    result = release_of(case, method, [k_anonymity(k)], suppression_limit=limit)
    if result is None:
        return
    assert result.loss == result.problem.loss(result.state)
    for name, slow in slow_losses(case, result).items():
        if name != "entropy" or not result.suppressed:
            assert LOSSES.create(name, {})(result.state) == pytest.approx(slow, abs=1e-9), name


# ------------------------------------------------------------------ what it says of itself


@every_method
def test_it_says_what_it_is_for(method: Method) -> None:
    assert len(method.summary) > 40
    assert isinstance(method, Parameters)
    page = (ROOT / "docs" / "how-to" / "methods.md").read_text(encoding="utf-8")
    assert f"`{method.name}`" in page, "docs/how-to/methods.md tells when each method is the right one"


def small() -> Case:
    rows = [{"age": n % 3, "town": "Calw", "disease": "flu", "treatment": "A", "income": n} for n in range(8)]
    return Case(rows, {"age": [dict.fromkeys(range(3), "*")], "town": [{"Calw": "*"}]})


@every_method
def test_what_it_cannot_promise_is_refused_before_any_work(method: Method) -> None:
    case = small()

    def run(**asked: Any) -> None:
        tarnkappe.anonymize(
            case.table(),
            hierarchies=case.hierarchies(),
            algorithm=method,
            **{"loss": "loss", "privacy": [k_anonymity(2)], **asked},
        )

    unfit: list[dict[str, Any]] = [
        {"aggregates": {"age": "mean"}},
        {"suppressed_columns": ["town"]},
        {"suppression": "cell"},
        {"local_recoding": True},
    ]
    if not method.keeps_level_limits:
        unfit.append({"levels": {"age": (0, 0)}})
    if not method.one_node:
        unfit.append({"loss": "height"})
    for asked in unfit:
        with pytest.raises(ParameterError):
            run(**asked)
    private = MODELS.create("differential-privacy", {"epsilon": 2.0, "delta": 0.01})
    with pytest.raises(ParameterError):
        run(privacy=[private], suppression_limit=1.0)


@every_method
@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_engines_refuse_it_and_say_what_to_do(method: Method, engine: str) -> None:
    job = tarnkappe.Job.from_dict(
        {
            "input": {"path": "nowhere.csv", "engine": engine},
            "columns": {"age": {"role": "quasi-identifier"}},
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "search": {"algorithm": method.name, "loss": "loss"},
            "output": {"path": "nowhere.parquet"},
        }
    )
    with pytest.raises(JobError, match='use engine = "memory", or a search'):
        tarnkappe.run(job)


def test_kinds_of_the_random_tables_are_numbers_and_text() -> None:
    """What a person reads as an interval is a number in these tables."""
    assert [name for name, kind in KINDS.items() if str(kind) in ("int64", "double")] == ["age", "weight"]
