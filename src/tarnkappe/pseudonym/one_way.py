"""One-way pseudonyms: the same person gets the same one in every source, and nobody can go back.

The attacker has the pseudonyms and a list of all possible identities, of which there are few: he could try
them all against a plain hash. So the hash is keyed (HMAC-SHA-256), and who has no key cannot try. Who has
the key can, so it belongs to somebody who does not see the data. Each project has a key of its own, derived
from the key in the file: pseudonyms of two projects cannot be joined.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence

from tarnkappe.errors import VerificationError
from tarnkappe.pseudonym.code import encode
from tarnkappe.pseudonym.identity import Identity
from tarnkappe.state import Key

CODE_BYTES = 15
"""120 bits: among a billion people the chance that two get one pseudonym is 4 in 10^19."""


class OneWay:
    """One-way pseudonyms of a project.

    >>> one_way = OneWay(Key(bytes(32)), "asthma")
    >>> one_way.pseudonyms([("Müller", "1980-02-29"), ("Meier", None)])
    ['FEV5H6GACVZAD4GJ7C4R9CYKTY', 'F2H7P2HEAB06HR9DDR5ZWP4PHW']
    """

    def __init__(self, key: Key, project: str) -> None:
        self._secret = key.derived("one-way pseudonyms", project)

    def pseudonyms(self, people: Sequence[Identity]) -> list[str]:
        """The pseudonym of each person."""
        digests = [
            hmac.digest(self._secret, json.dumps(person).encode(), "sha256")[:CODE_BYTES] for person in people
        ]
        if len(set(digests)) < len(set(people)):
            raise VerificationError(
                "pseudonym.two-people-got-pseudonym",
                "two people got one pseudonym: nothing was written; use another project",
            )
        return encode(digests)
