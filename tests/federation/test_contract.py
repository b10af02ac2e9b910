"""What parties agree on, and what is refused before anything is encrypted."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.federation.contract import CIPHERED, Contract, Partitioning, Protocol, SharedColumn
from tarnkappe.federation.support import refuse_unsupported
from tarnkappe.lattice import SEARCHES
from tarnkappe.loss import LOSSES, LeafLoss
from tarnkappe.privacy import MODELS, EpsilonMAnonymity, KEAnonymity, OrderedCloseness
from tarnkappe.table import Role
from tests.federation.federations import example

RING, STAR, MASKED = Protocol.RING, Protocol.STAR, Protocol.MASKED
HORIZONTAL, VERTICAL = Partitioning.HORIZONTAL, Partitioning.VERTICAL


def changed(by: Protocol = STAR, **changes: Any) -> Contract:
    return dataclasses.replace(example(by, HORIZONTAL).contract, **changes)


def test_trap_5_a_ring_of_two_is_refused_with_the_reason() -> None:
    with pytest.raises(ParameterError, match="'P1', which anonymizes, would get its own rows back"):
        changed(RING, parties=("P1", "P2"))
    with pytest.raises(ParameterError, match="ring of 2 parties with data"):
        changed(RING, without_data=("P3",))
    assert changed(RING, without_data=("P1",)).master == "P1"
    vertical = example(RING, VERTICAL).contract
    with pytest.raises(ParameterError, match="has no people to join"):
        dataclasses.replace(vertical, without_data=("P1",))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parties": ("P1",)}, "one party alone needs no federation"),
        ({"parties": ("P1", "P1")}, "same name"),
        ({"helper": "P1"}, "same name"),
        ({"helper": None}, "needs a helper without data"),
        ({"without_data": ("P1",)}, "of use in a ring only"),
        ({"columns": ()}, "no column is a quasi-identifier"),
        ({"distribution": VERTICAL}, "need a key"),
        ({"distribution": VERTICAL, "key": "tid"}, "needs an owner among P1, P2, P3"),
        ({"group": "rot13"}, "unknown group 'rot13'"),
        ({"made_up_share": -1}, "at least 0"),
        ({"fill_absent": True, "protocol": MASKED}, "filled in by the helper of a star only"),
        ({"check_master": True}, "only a ring has a master"),
        ({"link": True}, "vertical data or regions only"),
        ({"weak_ciphers": False, "protocol": MASKED}, "below current recommendations"),
        ({"weak_ciphers": False, "group": "pohlig-hellman-1536"}, "below current recommendations"),
    ],
)
def test_what_contradicts_itself_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises((ParameterError, ColumnError), match=message):
        changed(**changes)


def test_checklist_2_identifiers_cannot_be_shared() -> None:
    with pytest.raises(ColumnError, match="'name' identifies people"):
        SharedColumn("name", Role.IDENTIFIER)
    with pytest.raises(ColumnError, match="of the type 'list', which a release cannot have"):
        SharedColumn("age", Role.QUASI_IDENTIFIER, "list", height=1)
    with pytest.raises(ColumnError, match="needs a hierarchy"):
        SharedColumn("age", Role.QUASI_IDENTIFIER)
    with pytest.raises(ParameterError, match="levels 0 to 2, not 3"):
        SharedColumn("age", Role.QUASI_IDENTIFIER, height=2, least_level=3)


def test_checklist_1_two_owners_of_a_column_are_refused() -> None:
    columns = changed().columns
    with pytest.raises(ColumnError, match="same name"):
        changed(columns=(*columns, columns[0]))
    with pytest.raises(ColumnError, match="has an owner, but all parties have all columns"):
        changed(columns=(dataclasses.replace(columns[0], owner="P1"), *columns[1:]))


@pytest.mark.parametrize(
    "model",
    [OrderedCloseness("age", 0.3), KEAnonymity(2, 5, "age"), EpsilonMAnonymity("age", 1, 2)],
    ids=lambda model: model.name,
)
def test_checklist_56_models_that_compute_with_values_are_refused(model: Any) -> None:
    with pytest.raises(ParameterError, match=f"{model.name}.*cannot be had in a federation.*ciphertexts"):
        refuse_unsupported(changed(models=(model,)))


def test_checklist_56_every_model_and_loss_is_either_supported_or_refused_with_a_reason() -> None:
    for protocol in CIPHERED:
        for kind in MODELS:
            for model in kind.examples():
                _supported_or_refused(changed(protocol, models=(model,)))
        for loss in LOSSES:
            for measure in loss.examples():
                _supported_or_refused(changed(protocol, loss=measure))


def _supported_or_refused(contract: Contract) -> None:
    try:
        refuse_unsupported(contract)
    except ParameterError as error:
        reason = str(error).partition(": ")[2] or str(error).partition("which ")[2]
    else:
        reason = "supported"
    assert reason, "the refusal must give its reason"


def test_leaves_of_the_public_hierarchy_are_refused_because_they_tell_labels_apart() -> None:
    with pytest.raises(ParameterError, match="which ciphertext is which label"):
        refuse_unsupported(changed(loss=LeafLoss()))


def test_a_masked_run_refuses_searches_that_look_at_classes() -> None:
    with pytest.raises(ParameterError, match="'exhaustive' looks at classes"):
        refuse_unsupported(changed(MASKED, search=SEARCHES.create("exhaustive", {})))
    refuse_unsupported(changed(MASKED, search=SEARCHES.create("ola", {})))


def test_the_digest_binds_everything() -> None:
    contract = changed()
    assert contract.digest == dataclasses.replace(contract).digest
    others = [
        dataclasses.replace(contract, run="another"),
        dataclasses.replace(contract, suppression_limit=0.1),
        dataclasses.replace(contract, parties=("P2", "P1", "P3")),
        dataclasses.replace(contract, models=(MODELS.create("k-anonymity", {"k": 3}),)),
    ]
    assert len({contract.digest, *(other.digest for other in others)}) == 5
