"""The protocols of a federation, how its data are distributed, and what a run tells."""

from __future__ import annotations

from enum import StrEnum


class Protocol(StrEnum):
    """Who works together, and how."""

    RING = "ring"
    """A: all encrypt everything in turn; one of them anonymizes the ciphertexts. Nobody else is needed."""
    STAR = "star"
    """B: all encrypt with common keys; a helper without keys anonymizes the ciphertexts."""
    MASKED = "masked"
    """C: as the star, with made-up rows among the others; only the holder of a key counts the true ones."""
    MASKED_RING = "masked-ring"
    """A and C: as the masked star, with layers of all parties instead of common keys."""
    OBLIVIOUS = "oblivious"
    """Three parties compute on shared bits; nobody gets a value, a ciphertext of a value, or a count."""

    @property
    def is_masked(self) -> bool:
        """Whether there are made-up rows, and counters that tell them from true ones."""
        return self in (Protocol.MASKED, Protocol.MASKED_RING)


CIPHERED = tuple(protocol for protocol in Protocol if protocol is not Protocol.OBLIVIOUS)
"""The protocols that send ciphertexts of values, which keep how often values occur."""


class Reveal(StrEnum):
    """What an oblivious run tells beside its release."""

    RESULT = "result"
    """Nothing: all nodes are tested, and only the best one is opened."""
    TESTS = "tests"
    """Which nodes of the lattice satisfy: far fewer are then tested."""


class Partitioning(StrEnum):
    """How the data are distributed."""

    HORIZONTAL = "horizontal"
    """Everybody has the same columns of different people."""
    VERTICAL = "vertical"
    """Everybody has different columns of the same people."""
    HYBRID = "hybrid"
    """Both: everybody has some columns of some people."""
