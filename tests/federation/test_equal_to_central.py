"""On random tables and distributions every protocol gives the release that a central search would give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import NoSolutionError, TarnkappeError
from tarnkappe.federation.contract import CIPHERED, Partitioning, Protocol
from tarnkappe.federation.runner import run_in_memory
from tarnkappe.lattice import SEARCHES
from tarnkappe.loss import LOSSES, LeafLoss, Leaves, Loss
from tarnkappe.privacy import MODELS, Model
from tests.federation.federations import federate, multiset, random_whole

LIMITS = (0.0, 0.03, 0.1, 0.3)
K2, K3 = ("k-anonymity", {"k": 2}), ("k-anonymity", {"k": 3})


def models(*each: tuple[str, dict[str, Any]]) -> tuple[Model, ...]:
    return tuple(MODELS.create(name, parameters) for name, parameters in each)


CRITERIA = [
    models(K2),
    models(K3),
    models(("distinct-diversity", {"column": "disease", "l": 2})),
    models(("entropy-diversity", {"column": "disease", "l": 2})),
    models(("recursive-diversity", {"column": "disease", "c": 2, "l": 2})),
    models(K2, ("equal-closeness", {"column": "disease", "t": 0.4})),
    models(("hierarchical-closeness", {"column": "disease", "t": 0.3})),
    models(("p-sensitive-k-anonymity", {"column": "disease", "k": 3, "p": 2})),
]
ONLY_WHERE_LABELS_ARE_SEEN = [
    models(("subset-anonymity", {"l": 1, "k": 2})),
    models(K2, ("distinct-diversity", {"column": "disease", "l": 2, "given": ("visits",)})),
]
MEASURES = [
    LOSSES.create(name, {})
    for name in (
        "height",
        "precision-star",
        "precision",
        "entropy",
        "discernibility-star",
        "aecs",
        "normalized-entropy",
    )
]
ONLY_WITH_CLASS_LABELS: list[Loss] = [
    LeafLoss(leaves=Leaves.DATA),
    LOSSES.create("entropy-suppression-aware", {}),
]


@st.composite
def cases(draw: st.DrawFn, protocol: Protocol) -> dict[str, Any]:
    masked = protocol.is_masked
    return {
        "seed": draw(st.integers(0, 10**6)),
        "parties": draw(st.integers(3 if protocol is Protocol.RING else 2, 5)),
        "models": draw(st.sampled_from(CRITERIA if masked else CRITERIA + ONLY_WHERE_LABELS_ARE_SEEN)),
        "loss": draw(st.sampled_from(MEASURES if masked else MEASURES + ONLY_WITH_CLASS_LABELS)),
        "limit": draw(st.sampled_from(LIMITS)),
        "made_up_share": draw(st.sampled_from([0.0, 0.25, 1.0])),
    }


def compare(case: dict[str, Any], protocol: Protocol, distribution: Partitioning, **options: Any) -> None:
    whole = random_whole(case["seed"])
    try:
        expected = whole.central(case["models"], case["loss"], case["limit"])
    except TarnkappeError:
        expected = None  # the table is too small for what is promised
    federation = federate(
        whole,
        protocol,
        distribution,
        case["models"],
        case["loss"],
        case["limit"],
        parties=case["parties"],
        seed=case["seed"],
        made_up_share=case["made_up_share"],
        **options,
    )
    if expected is None:
        with pytest.raises(TarnkappeError):
            federation.run(seed=case["seed"])
        return
    everybody = federation.run(seed=case["seed"])
    levels, rows = expected
    for party in federation.contract.parties:
        outcome = everybody[party].outcome
        assert outcome.levels == levels
        assert multiset(outcome.release) == rows
        assert outcome.suppressed == whole.table.num_rows - rows.total()


RUNS = [
    pytest.param(Protocol.RING, Partitioning.HORIZONTAL, {}, id="checklist 26: ring, horizontal"),
    pytest.param(Protocol.RING, Partitioning.VERTICAL, {}, id="checklist 26: ring, vertical"),
    pytest.param(Protocol.STAR, Partitioning.HORIZONTAL, {}, id="checklist 35: star, horizontal"),
    pytest.param(Protocol.STAR, Partitioning.VERTICAL, {}, id="checklist 35: star, vertical"),
    pytest.param(
        Protocol.STAR, Partitioning.VERTICAL, {"private_keys": True}, id="checklist 33: star, private keys"
    ),
    pytest.param(Protocol.MASKED, Partitioning.HORIZONTAL, {}, id="checklist 41, 46, 47: masked, horizontal"),
    pytest.param(Protocol.MASKED, Partitioning.VERTICAL, {}, id="checklist 41, 46, 47: masked, vertical"),
    pytest.param(
        Protocol.MASKED,
        Partitioning.VERTICAL,
        {"private_keys": True},
        id="checklist 33: masked, private keys",
    ),
    pytest.param(Protocol.MASKED_RING, Partitioning.HORIZONTAL, {}, id="checklist 57: A and C, horizontal"),
    pytest.param(Protocol.MASKED_RING, Partitioning.VERTICAL, {}, id="checklist 57: A and C, vertical"),
]


@pytest.mark.parametrize(("protocol", "distribution", "options"), RUNS)
@given(data=st.data())
@settings(max_examples=10)
def test_a_federated_release_equals_the_central_one(
    protocol: Protocol, distribution: Partitioning, options: dict[str, Any], data: st.DataObject
) -> None:
    compare(data.draw(cases(protocol)), protocol, distribution, **options)


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "distribution", "options"), RUNS)
@given(data=st.data())
@settings(max_examples=150)
def test_hundreds_of_federated_releases_equal_the_central_ones(
    protocol: Protocol, distribution: Partitioning, options: dict[str, Any], data: st.DataObject
) -> None:
    compare(data.draw(cases(protocol)), protocol, distribution, **options)


@pytest.mark.parametrize("name", ["flash-2p", "bfs", "dfs", "exhaustive", "ola", "incognito"])
def test_every_search_works_on_ciphertexts(name: str) -> None:
    whole, limit = random_whole(3), 0.1
    search, loss = SEARCHES.create(name, {}), LOSSES.create("precision-star", {})
    expected = whole.central(models(K2), loss, limit)
    federation = federate(
        whole, Protocol.STAR, Partitioning.HORIZONTAL, models(K2), loss, limit, search=search
    )
    assert expected is not None
    assert federation.run()["P1"].outcome.levels == expected[0]


@pytest.mark.parametrize("protocol", CIPHERED)
def test_what_no_levels_can_promise_is_said_and_nothing_is_released(protocol: Protocol) -> None:
    whole, loss = random_whole(5), LOSSES.create("height", {})
    promise = models(("recursive-diversity", {"column": "disease", "c": 0.35, "l": 2}))
    assert whole.central(promise, loss, 0.0) is None
    federation = federate(whole, protocol, Partitioning.HORIZONTAL, promise, loss)
    everybody = federation.participants()
    with pytest.raises(NoSolutionError, match="no levels meet recursive-diversity"):
        run_in_memory(everybody)
    assert all(participant.outcome is None for participant in everybody)
