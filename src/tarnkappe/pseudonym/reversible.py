"""Reversible pseudonyms: deterministic authenticated encryption (AES-SIV), which who has the key can undo.

The attacker has the pseudonyms, or can change them. Without the key he can neither read nor try out
identities, and one that he has changed, or that belongs to another project, is refused. What he sees is
which rows belong to one person (that is what pseudonyms are for) and the length of an identity, roughly:
it is filled up to a multiple of 32 bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from tarnkappe.errors import AccessError
from tarnkappe.pseudonym.code import decode, encode
from tarnkappe.pseudonym.identity import Identity
from tarnkappe.state import Key

BLOCK = 32


class Reversible:
    """Reversible pseudonyms of a project.

    >>> reversible = Reversible(Key(bytes(32)), "asthma")
    >>> [pseudonym] = reversible.pseudonyms([("Müller", None)])
    >>> reversible.identity(pseudonym)
    ('Müller', None)
    """

    def __init__(self, key: Key, project: str) -> None:
        self._cipher = AESSIV(key.derived("reversible pseudonyms", project))

    def pseudonyms(self, people: Sequence[Identity]) -> list[str]:
        """The pseudonym of each person."""
        return encode([self._cipher.encrypt(_filled(person), None) for person in people])

    def identity(self, pseudonym: str) -> Identity:
        """Who a pseudonym stands for."""
        try:
            content = self._cipher.decrypt(decode(pseudonym), None)
        except (InvalidTag, ValueError):
            raise AccessError(
                "pseudonym.pseudonym-not-made-key",
                "a pseudonym was not made with this key for this project: name the right key and project",
            ) from None
        return tuple(json.loads(content))


def _filled(person: Identity) -> bytes:
    """JSON ignores the blanks at the end."""
    content = json.dumps(person, ensure_ascii=False).encode()
    return content.ljust(-(-len(content) // BLOCK) * BLOCK)
