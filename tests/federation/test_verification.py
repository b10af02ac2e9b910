"""A party keeps no release that breaks the promise, whoever made it."""

from __future__ import annotations

import pytest

from tarnkappe.errors import ProtocolError
from tarnkappe.federation import ring, star
from tarnkappe.federation.contract import Contract, Partitioning, Protocol
from tarnkappe.federation.verification import verifiable
from tarnkappe.privacy import DistinctDiversity, EqualCloseness, KAnonymity
from tests.federation.federations import PURE, example
from tests.federation.test_check_master import lazy


@pytest.mark.parametrize("distribution", PURE)
@pytest.mark.parametrize(("protocol", "module"), [(Protocol.STAR, star), (Protocol.RING, ring)])
def test_nobody_keeps_what_a_cheating_helper_or_master_did_not_anonymize(
    protocol: Protocol, module: object, distribution: Partitioning, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "anonymize", lazy)
    with pytest.raises(ProtocolError, match=r"does not keep k-anonymity.*it is not kept"):
        example(protocol, distribution).run()


def test_what_can_be_verified_depends_on_what_the_release_shows() -> None:
    models = (KAnonymity(2), DistinctDiversity("s", 2), EqualCloseness("s", 0.5))
    contract = _with(example(Protocol.STAR, Partitioning.HORIZONTAL).contract, models)
    assert [model.name for model in verifiable(contract, 0)] == [model.name for model in models]
    assert [model.name for model in verifiable(contract, 1)] == ["k-anonymity", "distinct-diversity"]


def _with(contract: Contract, models: tuple[object, ...]) -> Contract:
    changed = object.__new__(Contract)
    changed.__dict__.update(contract.__dict__, models=models)
    return changed
