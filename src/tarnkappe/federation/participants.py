"""The state machine of a party for each protocol."""

from __future__ import annotations

from collections.abc import Mapping

from tarnkappe.errors import AccessError
from tarnkappe.federation.contract import Contract, Protocol
from tarnkappe.federation.linkage import LinkedParty
from tarnkappe.federation.masked import MaskedHelper, MaskedParty
from tarnkappe.federation.masked_ring import MaskedRingParty
from tarnkappe.federation.message import Participant
from tarnkappe.federation.oblivious.party import ObliviousParty
from tarnkappe.federation.party_share import Rule
from tarnkappe.federation.ring import RingParty
from tarnkappe.federation.star import StarHelper, StarParty
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import Table

PARTIES: Mapping[Protocol, type[StarParty]] = {
    Protocol.STAR: StarParty,
    Protocol.MASKED: MaskedParty,
    Protocol.MASKED_RING: MaskedRingParty,
}
"""The parties with data of all protocols that have a helper."""


def participant(
    name: str,
    contract: Contract,
    table: Table | None,
    hierarchies: Mapping[str, Hierarchy | Rule],
) -> Participant:
    """The state machine of a party or helper of a contract."""
    if contract.link and name != contract.helper:
        if table is None:
            raise AccessError(
                "federation.no-data-say-input",
                "'{name}' has no data: say [input] path in its configuration",
                name=name,
            )
        return LinkedParty(name, contract, table, lambda common: _party(name, contract, common, hierarchies))
    return _party(name, contract, table, hierarchies)


def _party(
    name: str, contract: Contract, table: Table | None, hierarchies: Mapping[str, Hierarchy | Rule]
) -> Participant:
    if contract.is_oblivious:
        return ObliviousParty(name, contract, table, hierarchies)
    if name == contract.helper:
        return (MaskedHelper if contract.protocol.is_masked else StarHelper)(name, contract)
    if contract.protocol is Protocol.RING:
        return RingParty(name, contract, table, hierarchies)
    if table is None:
        raise AccessError(
            "federation.no-data-say-input",
            "'{name}' has no data: say [input] path in its configuration",
            name=name,
        )
    return PARTIES[contract.protocol](name, contract, table, hierarchies)
