"""How the result of a run travels and what becomes of it."""

from __future__ import annotations

import pyarrow as pa

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.arrow_wire import Tables, facts_of, facts_table
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.engine import FederatedSolution
from tarnkappe.federation.message import RunOutcome
from tarnkappe.federation.party_share import as_table
from tarnkappe.federation.share import PartyShare
from tarnkappe.federation.verification import require_levels, require_own_rows, require_promises


def finding_facts(finding: FederatedSolution) -> pa.Table:
    """What was found, as a table of one row."""
    return facts_table(
        node=list(finding.node),
        suppressed=finding.suppressed,
        loss=None if finding.loss is None else float(finding.loss),
    )


def finding_of(tables: Tables, sender: str) -> FederatedSolution:
    """What was found, from a message."""
    facts = facts_of(tables, sender)
    try:
        return FederatedSolution(
            tuple(map(int, facts["node"])), int(facts["suppressed"]), float(facts["loss"])
        )
    except (KeyError, TypeError, ValueError):
        raise ProtocolError(
            "federation.sent-result-not-say",
            "'{sender}' sent a result that does not say what was done: the run ends",
            sender=sender,
        ) from None


def outcome_of(
    share: PartyShare, contract: Contract, finding: FederatedSolution, own: PartyShare
) -> RunOutcome:
    """The end of a run, from the release in plain, which is verified.

    Args:
        share: the release.
        contract: what is promised.
        finding: what was done, as who anonymized has told it.
        own: the rows that this party has sent, in plain.
    """
    require_levels(contract, finding, share.num_rows)
    levels = dict(zip(contract.quasi_identifiers, finding.node, strict=True))
    share = share.in_order_of_columns([column.name for column in contract.columns])
    release = as_table(share, contract, levels)
    require_promises(release, contract, finding.suppressed)
    found = require_own_rows(share, own, contract, finding)
    return RunOutcome(release, levels, finding.suppressed, finding.loss, found)
