"""The keys of an institution, one for each purpose: who gets one of them does not have the others."""

from __future__ import annotations

import dataclasses

from tarnkappe.state import Key, Seals


@dataclasses.dataclass(frozen=True)
class InstitutionKeys:
    """What an institution signs, seals and marks with.

    Attributes:
        sign: signs answers and heads of the log; others know its public part.
        seal: seals the entries of the log.
        marks: marks patients and values, and makes the pseudonyms in packages.
    """

    sign: Key
    seal: Key
    marks: Key

    @classmethod
    def of(cls, key: Key) -> InstitutionKeys:
        """One key for everything, as earlier versions had it."""
        return cls(key, key, key)

    @property
    def seals(self) -> Seals:
        """Seals the entries of the log."""
        return Seals(self.seal)
