"""The counterexamples of the literature to monotonicity under suppression (fixtures/local)."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tarnkappe.privacy import MODELS, Model, protect, satisfied
from tests.conftest import FIXTURES
from tests.privacy.tables import classes_of, measured, weighted

CASES = json.loads((FIXTURES / "local" / "counterexamples.json").read_text())
HIERARCHY = [{"P": "respiratory", "G": "gastro-intestinal"}, {"P": "*", "G": "*"}]


def create(description: dict[str, Any]) -> Model:
    return MODELS.create(description["model"], {k: v for k, v in description.items() if k != "model"})


def label_of(state: dict[str, list[int]]) -> dict[int, str]:
    return {row: label for label, rows in state.items() for row in rows}


@pytest.mark.parametrize(
    ("case", "stated"),
    [(case, stated) for case in CASES.values() for stated in case["models"]],
    ids=lambda value: value["model"]["model"] if "model" in value else "",
)
def test_a_satisfying_state_has_a_generalization_that_does_not_satisfy(
    case: dict[str, Any], stated: dict[str, Any]
) -> None:
    rows = range(len(case["diagnosis"]))
    tuples = weighted(
        {"age": rows, "diagnosis": case["diagnosis"]},
        [int(row in case.get("in_table", rows)) for row in rows],
        hierarchies={"age": [label_of(case["left"]), label_of(case["right"])], "diagnosis": HIERARCHY},
        population=[1] * len(rows) if "in_table" in case else None,
    )
    model = create(stated["model"])
    for level, side in enumerate(["left", "right"], 1):
        expected = {k: math.inf if v == "infinite" else v for k, v in stated[side].items()}
        assert measured(tuples, model, "age", level) == pytest.approx(expected, abs=0.005)
    left, right = (classes_of(tuples, model, "age", level) for level in (1, 2))
    state = protect(left, [model])
    assert [left.labels(i)["age"] for i in range(left.num_classes) if not state.kept[i]] == case["suppressed"]
    assert satisfied(state, [model], case["limit"])
    assert not satisfied(protect(right, [model]), [model], case["limit"])
    assert not model.monotonicity.with_suppression
