"""Exports: what leaves a database for research, under pseudonyms made for this one export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
from tarnkappe.pseudonym.models.parcels import shuffled
from tarnkappe.pseudonym.one_way import OneWay
from tarnkappe.state import Key

Rows = list[dict[str, Any]]


def export(
    people: Mapping[str, Sequence[Mapping[str, Any]]],
    consents: Mapping[str, Consent],
    use: ConsentScope,
    now: datetime,
    linkage: tuple[Key, str] | None = None,
) -> Rows:
    """The data of those whose consent covers the use now, each row under an ad hoc pseudonym.

    Two exports cannot be joined: the key of the pseudonyms is new and thrown away. Only if joining is part
    of the approved purpose (`linkage`: a key and the purpose's name) do exports for it share pseudonyms.
    Whoever has no consent on record has given none.
    """
    key, purpose = linkage or (Key.new(), "")
    agreed = [name for name in people if name in consents and consents[name].covers(use, now)]
    names = OneWay(key, f"export {purpose}").pseudonyms([(name,) for name in agreed])
    return shuffled(
        {**row, "pseudonym": fresh} for name, fresh in zip(agreed, names, strict=True) for row in people[name]
    )
