"""Losses on Adult against published figures and the scores of another implementation."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, Model, needed_distributions, protect
from tarnkappe.table import ClassState
from tests.adult import COLUMNS, WITHOUT_OCCUPATION, adult_tuples

Spec = tuple[str, dict[str, Any]]

K5: Spec = ("k-anonymity", {"k": 5})
RECURSIVE: Spec = ("recursive-diversity", {"column": "occupation", "c": 3.0, "l": 4})
CLOSE: Spec = ("hierarchical-closeness", {"column": "occupation", "t": 0.2})


def create(specs: tuple[Spec, ...]) -> list[Model]:
    missing = [name for name, _ in specs if name not in MODELS]
    if missing:
        pytest.skip(f"no such model yet: {', '.join(missing)}")
    return [MODELS.create(name, parameters) for name, parameters in specs]


def state_at(
    folder: Path, names: tuple[str, ...], levels: tuple[int, ...], specs: tuple[Spec, ...]
) -> ClassState:
    models = create(specs)
    classes = adult_tuples(folder).classes(names, levels, needed_distributions(models))
    return protect(classes, models)


@pytest.mark.parametrize(
    ("k", "levels", "expected", "suppressed"),
    [
        (2, (1, 1, 1, 1, 3, 2, 2, 1, 1), 379417.346, 0),
        (2, (0, 0, 1, 1, 3, 2, 2, 0, 1), 228142.214, 451),
        (2, (0, 0, 1, 2, 2, 2, 2, 0, 0), 200830.986, 1187),
        (2, (0, 0, 1, 1, 2, 2, 2, 0, 1), 195181.889, 1259),
        (5, (1, 2, 1, 1, 3, 2, 2, 1, 1), 407289.539, 0),
        (5, (0, 0, 1, 1, 3, 2, 2, 1, 1), 282939.034, 309),
        (5, (1, 0, 1, 1, 3, 2, 2, 0, 1), 255559.855, 906),
        (5, (0, 0, 1, 1, 2, 2, 2, 1, 1), 249978.708, 1285),
        (10, (1, 1, 1, 1, 3, 2, 2, 2, 1), 427068.641, 0),
        (10, (1, 0, 1, 1, 2, 2, 2, 1, 1), 277396.348, 1320),
        (100, (0, 4, 1, 1, 3, 2, 2, 1, 1), 453196.893, 0),
        (100, (1, 0, 1, 2, 3, 2, 2, 2, 0), 363657.066, 1439),
    ],
)
def test_entropy_of_the_optima_for_k_anonymity(
    adult: Path, k: int, levels: tuple[int, ...], expected: float, suppressed: int
) -> None:
    state = state_at(adult, COLUMNS, levels, (("k-anonymity", {"k": k}),))
    assert state.suppressed_rows == suppressed
    assert LOSSES.create("entropy", {})(state) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("models", "loss", "levels", "expected", "suppressed"),
    [
        ((K5,), "entropy-suppression-aware", (1, 1, 1, 1, 3, 2, 2, 1), 324620.527, 0),
        ((K5,), "entropy-suppression-aware", (0, 0, 1, 1, 2, 2, 2, 0), 180132.408, 889),
        ((K5,), "precision", (0, 4, 1, 2, 3, 2, 0, 0), 0.625, 0),
        ((K5,), "precision", (0, 4, 0, 0, 2, 1, 0, 0), 0.299650, 1192),
        ((K5,), "discernibility", (1, 1, 1, 1, 3, 2, 2, 1), 55170356, 0),
        ((K5,), "discernibility", (0, 0, 1, 2, 3, 2, 2, 0), 9268952, 60),
        ((K5,), "aecs-released", (0, 4, 1, 2, 0, 2, 2, 1), 942.5625, 0),
        ((K5,), "aecs-released", (1, 0, 1, 2, 0, 2, 2, 0), 36.3836, 1257),
        ((RECURSIVE,), "entropy-suppression-aware", (1, 1, 1, 1, 3, 2, 2, 1), 324620.527, 0),
        ((RECURSIVE,), "entropy-suppression-aware", (1, 0, 1, 1, 2, 2, 2, 0), 206352.717, 894),
        ((RECURSIVE,), "precision", (0, 4, 0, 1, 3, 2, 2, 1), 0.6875, 0),
        ((RECURSIVE,), "precision", (0, 4, 0, 0, 3, 1, 1, 0), 0.391308, 787),
        ((RECURSIVE,), "discernibility", (1, 1, 1, 1, 3, 2, 2, 1), 55170356, 0),
        ((RECURSIVE,), "discernibility", (1, 0, 1, 1, 3, 2, 2, 1), 12281896, 30),
        ((RECURSIVE,), "aecs-released", (0, 1, 1, 2, 3, 2, 2, 1), 1005.4, 0),
        ((RECURSIVE,), "aecs-released", (1, 0, 0, 0, 3, 2, 2, 1), 61.0567, 1190),
        ((K5, RECURSIVE), "precision", (0, 4, 0, 0, 3, 1, 1, 0), 0.392137, None),
        ((CLOSE,), "entropy-suppression-aware", (0, 4, 1, 1, 3, 2, 2, 1), 398400.074, 0),
        ((CLOSE,), "entropy-suppression-aware", (1, 4, 0, 0, 3, 1, 2, 1), 374778.019, 1384),
        ((CLOSE,), "precision", (0, 4, 1, 1, 3, 2, 2, 1), 0.8125, 0),
        ((CLOSE,), "precision", (1, 4, 0, 0, 3, 1, 2, 1), 0.701839, 1384),
        ((CLOSE,), "discernibility", (0, 4, 1, 1, 3, 2, 2, 1), 290180796, 0),
        ((CLOSE,), "discernibility", (1, 4, 1, 1, 2, 2, 2, 1), 238920350, 484),
        ((CLOSE,), "aecs-released", (1, 4, 0, 2, 3, 2, 2, 1), 6032.4, 0),
        ((CLOSE,), "aecs-released", (1, 4, 0, 0, 3, 1, 2, 1), 1256.75, 1384),
    ],
)
def test_losses_of_the_optima_with_a_sensitive_column(
    adult: Path,
    models: tuple[Spec, ...],
    loss: str,
    levels: tuple[int, ...],
    expected: float,
    suppressed: int | None,
) -> None:
    state = state_at(adult, WITHOUT_OCCUPATION, levels, models)
    assert suppressed is None or state.suppressed_rows == suppressed
    assert LOSSES.create(loss, {})(state) == pytest.approx(
        expected, rel=1e-9, abs=5e-4 if expected > 1e3 else 5e-5
    )


@cache
def reference_optima(folder: Path) -> list[dict[str, str]]:
    with (folder / "reference-optima.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


REFERENCE_MODELS: dict[str, tuple[Spec, ...]] = {
    "distinct-3-diversity(occupation)": (("distinct-diversity", {"column": "occupation", "l": 3}),),
    "entropy-3-diversity(occupation)": (("entropy-diversity", {"column": "occupation", "l": 3}),),
    "recursive-(4,3)-diversity(occupation)": (
        ("recursive-diversity", {"column": "occupation", "c": 4.0, "l": 3}),
    ),
    "k5+equal-EMD-0.2-closeness(occupation)": (
        K5,
        ("equal-closeness", {"column": "occupation", "t": 0.2}),
    ),
    "k5+hier-EMD-0.2-closeness(occupation)": (K5, CLOSE),
}


def compare_with_reference(folder: Path, line: dict[str, str], specs: tuple[Spec, ...]) -> None:
    levels = tuple(int(level) for level in line["levels"].split(","))
    state = state_at(folder, COLUMNS if len(levels) == 9 else WITHOUT_OCCUPATION, levels, specs)
    assert state.suppressed_rows == int(line["suppressed_rows"]), line
    assert state.num_kept == int(line["classes"]), line
    # The other implementation computes `loss` to about nine digits.
    score = LOSSES.create(line["loss"], {})(state)
    assert score == pytest.approx(float(line["optimal_score"]), rel=1e-8, abs=1e-9), line


def test_k_anonymity_scores_of_another_implementation(adult: Path) -> None:
    lines = [line for line in reference_optima(adult) if line["model"] == "k-anonymity"]
    assert len(lines) == 88
    assert len({line["loss"] for line in lines}) == 8
    for line in lines:
        compare_with_reference(adult, line, (("k-anonymity", {"k": int(line["k"])}),))


@pytest.mark.parametrize("model", REFERENCE_MODELS)
def test_scores_of_another_implementation_with_a_sensitive_column(adult: Path, model: str) -> None:
    lines = [line for line in reference_optima(adult) if line["model"] == model]
    assert lines
    for line in lines:
        compare_with_reference(adult, line, REFERENCE_MODELS[model])
