"""Paillier's additively homomorphic encryption with short exponents and a fixed-base table.

With N = p q, the plaintext m is encrypted as (1 + m N) s^r mod N², where s = h^N mod N² and h = -x² mod N
for a random x, and r is random with half as many bits as N (Damgård, Jurik and Nielsen 2010). That r is
short, and that s never changes, makes encryption some thirty times faster than the textbook's r^N: the
powers s^(d 2^(w i)) of every digit d are looked up and only multiplied. Whoever decrypts need not know how
r was chosen, so ciphertexts are those of Paillier 1999.

Two encryptions of one number cannot be told apart from encryptions of different numbers (IND-CPA), under
the decisional composite residuosity assumption in the subgroup that h generates.
"""

from __future__ import annotations

import dataclasses
import math
import secrets
from collections.abc import Iterable, Sequence
from functools import cached_property

from tarnkappe.errors import ParameterError, ProtocolError
from tarnkappe.federation.ciphers.batch import in_pieces
from tarnkappe.federation.ciphers.fixed_base import FixedBase
from tarnkappe.federation.ciphers.long_numbers import is_prime, mpz, powers

RECOMMENDED_BITS = 3072
LEAST_BITS = 2048
"""Fewer bits are only for tests and for comparison with published figures."""


@dataclasses.dataclass(frozen=True, eq=False)
class PublicKey:
    """What everybody may know: how to encrypt, add and re-randomize.

    Attributes:
        n: the modulus N.
        base: s = h^N mod N².
    """

    n: mpz
    base: mpz

    @property
    def bits(self) -> int:
        """The length of the modulus."""
        return int(self.n).bit_length()

    @property
    def size(self) -> int:
        """How many bytes a ciphertext has: twice as many as the modulus."""
        return 2 * ((self.bits + 7) // 8)

    @cached_property
    def square(self) -> mpz:
        """N², modulo which ciphertexts are computed."""
        return self.n * self.n

    def encrypt(self, numbers: Sequence[int]) -> list[mpz]:
        """A fresh ciphertext of each number."""
        n, square = self.n, self.square
        masks = self.masks.random_powers(len(numbers))
        return [(1 + number % n * n) * mask % square for number, mask in zip(numbers, masks, strict=True)]

    def rerandomize(self, ciphertexts: Sequence[mpz]) -> list[mpz]:
        """Other ciphertexts of the same numbers: nobody can link them to the ones before."""
        square, masks = self.square, self.masks.random_powers(len(ciphertexts))
        return [ciphertext * mask % square for ciphertext, mask in zip(ciphertexts, masks, strict=True)]

    def add(self, ciphertexts: Iterable[mpz]) -> mpz:
        """A ciphertext of the sum; the sum of nothing is the trivial ciphertext of 0."""
        total = mpz(1)
        for ciphertext in ciphertexts:
            total = total * ciphertext % self.square
        return total

    def to_bytes(self, ciphertexts: Sequence[mpz]) -> list[bytes]:
        """Ciphertexts as bytes of one length."""
        return [int(ciphertext).to_bytes(self.size) for ciphertext in ciphertexts]

    def from_bytes(self, ciphertexts: Sequence[bytes], sender: str) -> list[mpz]:
        """Ciphertexts from bytes; what is none is refused."""
        numbers = [mpz(int.from_bytes(ciphertext)) for ciphertext in ciphertexts]
        if not all(0 < number < self.square for number in numbers):
            raise ProtocolError(
                "federation.sent-counter-no-ciphertext",
                "'{sender}' sent a counter that is no ciphertext: the run ends",
                sender=sender,
            )
        return numbers

    @cached_property
    def masks(self) -> FixedBase:
        """Where fresh encryptions of 0 come from: the base to random powers of half the modulus's length."""
        return FixedBase(self.base, self.square, (self.bits + 1) // 2)


@dataclasses.dataclass(frozen=True, eq=False)
class PrivateKey:
    """What only the holder of the key knows: the factors of the modulus."""

    p: mpz
    q: mpz

    @classmethod
    def generate(cls, bits: int = RECOMMENDED_BITS) -> PrivateKey:
        """A new key from the operating system's randomness."""
        if bits < 64 or bits % 2:
            raise ParameterError(
                "federation.paillier-key-even-number",
                "a Paillier key has an even number of at least 64 bits, not {bits}",
                bits=bits,
            )
        while True:
            p, q = _prime(bits // 2), _prime(bits // 2)
            if p != q and math.gcd(p - 1, q - 1) == 2 and int(p * q).bit_length() == bits:
                return cls(p, q)

    @cached_property
    def public(self) -> PublicKey:
        """The public part, with a fresh base."""
        n = self.p * self.q
        x = mpz(secrets.randbelow(int(n) - 2) + 2)
        while math.gcd(x, n) != 1:
            x = mpz(secrets.randbelow(int(n) - 2) + 2)
        return PublicKey(n, pow(-x * x % n, n, n * n))

    def decrypt(self, ciphertexts: Sequence[mpz]) -> list[int]:
        """The numbers, on all cores; modulo p and modulo q, then put together."""
        p, q = self.p, self.q
        in_p, in_q, p_inverse = self._factor(p), self._factor(q), pow(p, -1, q)

        def work(piece: Sequence[mpz]) -> list[int]:
            halves = zip(_logarithms(piece, p, in_p), _logarithms(piece, q, in_q), strict=True)
            return [int(a + p * ((b - a) * p_inverse % q)) for a, b in halves]

        return in_pieces(work, ciphertexts)

    def _factor(self, prime: mpz) -> mpz:
        n = self.p * self.q
        return pow((pow(n + 1, prime - 1, prime * prime) - 1) // prime, -1, prime)


def _logarithms(ciphertexts: Sequence[mpz], prime: mpz, factor: mpz) -> list[mpz]:
    """The plaintexts modulo one of the primes."""
    square = prime * prime
    raised = powers([c % square for c in ciphertexts], prime - 1, square)
    return [(power - 1) // prime * factor % prime for power in raised]


def _prime(bits: int) -> mpz:
    """A random prime with its two highest bits set that is 3 modulo 4."""
    while True:
        candidate = mpz(secrets.randbits(bits)) | mpz(3) << (bits - 2) | 3
        if is_prime(candidate):
            return candidate
