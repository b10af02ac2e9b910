"""A registrar must not try out names: who gives a name gets the pseudonym, and finds it in a released table.

Small tables, and tables of people who are mostly known, are what such attempts look like. They need the key
of an approver, too; every table is logged with how many of its people were known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tarnkappe.pseudonym.identity import Identity
from tarnkappe.pseudonym.vault.registrar import Registrar
from tarnkappe.pseudonym.vault.tables import VaultRole
from tarnkappe.pseudonym.vault.vault import Vault
from tarnkappe.state import Key

FEWEST = 20
"""A table of fewer people needs an approver."""
LOOKED_UP = "people looked up"


class LookupApproval(NamedTuple):
    """An approver who agrees that a table gets its pseudonyms, by her key."""

    person: str
    key: Key


def require_lookup(
    vault: Vault, registrar: Registrar, people: Sequence[Identity], approval: LookupApproval | None = None
) -> None:
    """Refuse a table by which names could be tried out, unless an approver agrees; both are logged.

    Args:
        vault: the vault; while it is empty there is nothing to be tried out.
        registrar: who is at work.
        people: everybody in the table.
        approval: who agrees.

    Raises:
        AccessError: if somebody has to agree and nobody does, or it is not an approver with her key.
    """
    if registrar.is_first:
        return
    distinct = list(dict.fromkeys(people))
    if approval is not None:
        vault.share(approval.person, approval.key, VaultRole.APPROVER)
    known = registrar.count_known(distinct)
    if approval is None and (len(distinct) < FEWEST or 2 * known > len(distinct)):
        # One sentence for both reasons: which of them it was would tell who is known.
        vault.refuse(
            registrar.person,
            f"names could be tried out with a table of fewer than {FEWEST} people, or of people who are "
            "mostly known: an approver has to agree (--approved-by NAME --approver-key FILE)",
            "look people up",
        )
    told = {"people": len(distinct), "known": known, "new": len(distinct) - known}
    by = None if approval is None else approval.person
    vault.log(LOOKED_UP, registrar.person, {**told, "approved_by": by})
