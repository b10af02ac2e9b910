"""The layers of a commutative cipher over a share: put on, take off, and what is left made readable."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.ciphers import GROUPS
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.share import PartyShare, Tokens

KEY_COLUMN = "\0key"
"""The cipher key of the column by which people are joined, whose own name a shared column may have."""

KNOWN, HASH = b"\1", b"\0"


class Layers:
    """What one party does to the shares of all: it has one key a column, those of others' columns included.

    Args:
        contract: what all have agreed on.
        count: told how many cells were encrypted or decrypted.
    """

    def __init__(self, contract: Contract, count: Callable[[str, int], None]) -> None:
        self._context = contract.digest
        self._count = count
        self._group = GROUPS[contract.group]()
        names = [*(column.name for column in contract.columns), KEY_COLUMN]
        self._keys = {column: self._group.new_key() for column in names}
        self._known: dict[str, dict[bytes, bytes]] = {}

    def hashed(self, share: PartyShare) -> PartyShare:
        """A share in plain as elements of the group; what they stand for is remembered for the end."""

        def embed(column: str, tokens: Tokens) -> Tokens:
            elements = self._group.embed(self._context + column.encode(), tokens)
            if column != KEY_COLUMN:
                self._known.setdefault(column, {}).update(zip(elements, tokens, strict=True))
            return elements

        return _everywhere(share, embed)

    def put_on(self, share: PartyShare) -> PartyShare:
        """A share with one more layer."""

        def encrypt(column: str, tokens: Tokens) -> Tokens:
            self._count("encrypted", len(tokens))
            return self._group.apply(self._keys[column], tokens)

        return _everywhere(share, encrypt)

    def take_off(self, share: PartyShare) -> PartyShare:
        """A share with the layer of this party removed."""

        def decrypt(column: str, tokens: Tokens) -> Tokens:
            self._count("decrypted", len(tokens))
            return self._group.apply(self._group.invert(self._keys[column]), tokens)

        return _everywhere(share, decrypt)

    def require(self, share: PartyShare, sender: str) -> PartyShare:
        """Refuse a share with anything but elements of the group."""
        for part in share.parts.values():
            self._group.require_elements(part.tokens, sender)
        if share.keys is not None:
            self._group.require_elements(share.keys, sender)
        return share

    def readable(self, share: PartyShare) -> PartyShare:
        """A share of hashes and values with all hashes replaced that this party knows."""

        def known(column: str, tokens: Tokens) -> Tokens:
            own = self._known.get(column, {})
            return [KNOWN + own[t[1:]] if t[:1] == HASH and t[1:] in own else t for t in tokens]

        return _everywhere(share, known)

    def forget(self) -> None:
        """Give up keys and values."""
        self._keys.clear()
        self._known.clear()


def as_hashes(share: PartyShare) -> PartyShare:
    """A share without any layer, as hashes that are yet to be replaced."""
    return _everywhere(share, lambda _, tokens: [HASH + token for token in tokens])


def as_values(share: PartyShare, party: str) -> PartyShare:
    """A share of which all hashes were replaced, in plain."""
    if any(token[:1] != KNOWN for part in share.parts.values() for token in part.tokens):
        raise ProtocolError(
            "federation.got-result-hash-no-party",
            "'{party}' got a result with a hash that no party knows: the run ends",
            party=party,
        )
    return _everywhere(share, lambda _, tokens: [token[1:] for token in tokens])


def _everywhere(share: PartyShare, function: Callable[[str, Tokens], Tokens]) -> PartyShare:
    changed = share.with_parts(lambda name, part: part.mapped(lambda tokens: function(name, tokens)))
    if share.keys is None:
        return changed
    return dataclasses.replace(changed, keys=function(KEY_COLUMN, share.keys))
