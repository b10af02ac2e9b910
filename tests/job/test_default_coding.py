"""When one level in a column is chosen without being asked for, and what is said then."""

import pytest

from tarnkappe.job.default_coding import DEFAULT_LOSS, default_coding
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.recoding import METHODS


def test_nothing_said_means_local_recoding_and_nobody_left_out() -> None:
    coding = default_coding([MODELS.create("k-anonymity", {"k": 5})], LOSSES.create(DEFAULT_LOSS, {}))
    assert (coding.algorithm, coding.suppression_limit, coding.reason) == ("regions", 0.0, "")
    assert coding.algorithm in METHODS
    assert not coding.uniform


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"uniform": True}, "asked for"),
        ({"levels": ["age", "sex"]}, "age, sex"),
        ({"loss": LOSSES.create("height", {})}, "height"),
        (
            {"models": [MODELS.create("differential-privacy", {"epsilon": 1.0, "delta": 0.01})]},
            "differential",
        ),
        ({"treatments": ["local_recoding"]}, "local_recoding"),
        ({"settings": ["nodes"]}, "nodes"),
        ({"engine": "duckdb"}, "duckdb"),
        ({"federated": True}, "sites"),
        ({"continues": True}, "earlier releases"),
        ({"refined_population": True}, "population"),
    ],
)
def test_every_reason_for_one_level_is_told_in_one_sentence(facts: dict[str, object], told: str) -> None:
    coding = default_coding(**facts)  # type: ignore[arg-type]
    assert coding.uniform
    assert coding.suppression_limit == 0.05
    assert coding.reason.startswith("one level in a column: ")
    assert told in coding.reason
    assert "\n" not in coding.reason


def test_a_loss_that_measures_cells_is_no_reason() -> None:
    for each in LOSSES:
        loss = each.examples()[0]
        assert default_coding(loss=loss).uniform is not loss.measures_cells, loss
