"""Random powers of one base: the powers of all digits are looked up and only multiplied.

Python's lock is held while numbers are multiplied, so threads would only wait for each other: other cores
are used by processes. This file is also what they run, by its path, so that they start without importing
anything but gmpy2.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import sys
import weakref
from functools import cached_property

try:
    from gmpy2 import mpz
except ImportError:  # pragma: no cover - tested in a process of its own
    mpz = int

LARGE = 1024
"""From so many bits of the exponent's double on, a large table is worth its memory: about 20 MB with 2048
bits, 45 MB with 3072. Smaller numbers are not worth other processes."""

WORTH_PROCESSES = 1000
"""After so many powers it is worth starting processes, each of which needs its own table."""

WORTH_SHARING = 16
"""So many powers at once are shared with processes that are there already."""

LENGTH = 4


class FixedBase:
    """A number that is raised to random powers.

    Args:
        base: the number.
        modulus: what is computed modulo.
        bits: how long exponents are.
    """

    def __init__(self, base: mpz, modulus: mpz, bits: int) -> None:
        self.base = base
        self.modulus = modulus
        self.bits = bits
        self._size = (int(modulus).bit_length() + 7) // 8
        self._makers: list[subprocess.Popen[bytes]] = []
        self._made = 0

    @cached_property
    def table(self) -> list[list[mpz]]:
        """For every digit of the exponent, the power of the base that each value of the digit stands for."""
        window = 8 if 2 * self.bits >= LARGE else 4
        table, base = [], self.base
        for _ in range(-(-self.bits // window)):
            row = [mpz(1)]
            for _ in range(2**window - 1):
                row.append(row[-1] * base % self.modulus)
            table.append(row)
            base = row[-1] * base % self.modulus
        return table

    def random_powers(self, number: int) -> list[mpz]:
        """The base raised to fresh random exponents; many of them on all cores."""
        self._made += number
        if not self._makers and self._made >= WORTH_PROCESSES and 2 * self.bits >= LARGE:
            self._start()
        if not self._makers or number < WORTH_SHARING:
            return [self._power() for _ in range(number)]
        share = number // (len(self._makers) + 1)
        for maker in self._makers:
            assert maker.stdin is not None
            maker.stdin.write(share.to_bytes(LENGTH))
            maker.stdin.flush()
        powers = [self._power() for _ in range(number - share * len(self._makers))]
        for maker in self._makers:
            assert maker.stdout is not None
            made = maker.stdout.read(share * self._size)
            if len(made) < share * self._size:
                raise RuntimeError("a process that helps to encrypt counters has ended")
            powers += _numbers(made, self._size)
        return powers

    def serve(self) -> None:
        """Make powers for the process that has started this one, until it is gone."""
        while asked := sys.stdin.buffer.read(LENGTH):
            powers = (int(self._power()).to_bytes(self._size) for _ in range(int.from_bytes(asked)))
            sys.stdout.buffer.write(b"".join(powers))
            sys.stdout.buffer.flush()

    def close(self) -> None:
        """End the processes."""
        _end(self._makers)

    def _power(self) -> mpz:
        modulus, table, power = self.modulus, self.table, mpz(1)
        digits = secrets.token_bytes(len(table))
        for row, digit in zip(table, digits, strict=True):
            power = power * row[digit % len(row)] % modulus
        return power

    def _start(self) -> None:
        facts = b"".join(
            int(number).to_bytes(self._size) for number in (self.base, self.modulus, mpz(self.bits))
        )
        for _ in range((os.cpu_count() or 1) - 1):
            maker = subprocess.Popen(  # noqa: S603 - this very file
                [sys.executable, "-I", __file__, str(self._size)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert maker.stdin is not None
            maker.stdin.write(facts)
            self._makers.append(maker)
        weakref.finalize(self, _end, self._makers)


def _end(makers: list[subprocess.Popen[bytes]]) -> None:
    while makers:
        maker = makers.pop()
        assert maker.stdin is not None
        assert maker.stdout is not None
        with contextlib.suppress(OSError):
            maker.stdin.close()
        maker.stdout.close()
        maker.kill()
        maker.wait()


def _numbers(raw: bytes, size: int) -> list[mpz]:
    return [mpz(int.from_bytes(raw[start : start + size])) for start in range(0, len(raw), size)]


if __name__ == "__main__":
    size = int(sys.argv[1])
    base, modulus, bits = _numbers(sys.stdin.buffer.read(3 * size), size)
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        FixedBase(base, modulus, int(bits)).serve()
