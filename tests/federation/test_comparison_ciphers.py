"""What is there to compare with: the curve of the published implementation, and numbers in plain Python."""

from __future__ import annotations

import hashlib
import itertools
import subprocess
import sys

import gmpy2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.federation.ciphers import Curve192, PohligHellman1536, curve192
from tarnkappe.federation.ciphers.curve192 import non_adjacent_form
from tarnkappe.federation.ciphers.long_numbers import plain_is_prime, plain_jacobi, plain_powers, powers
from tests.conftest import ROOT

# ------------------------------------------------------------------ P-192, for comparison


VECTORS = {
    "20-60": (
        "f095b13a7fc1b295f22c4976b6642c02b30437fb",
        "12f9496b922934d2d62aeb14ee8e95f3f471dc256bf5dfa3",
    ),
    "m": ("6b0d31c0d563223024da45691584643ac78c96e8", "e74226260b94662b5452eb523f6b0b64e6f8e53d727d241e"),
    "82***": ("01da90eb5fdb7676b72188a1f99a0cbb325c4ff9", "7856a8bde56922f2f9fb9bb9ae3e2744553ee78332f3a6a6"),
}


@pytest.mark.parametrize("text", list(VECTORS))
def test_checklist_8_9_vectors_of_p_192_with_first_coordinates_alone(text: str) -> None:
    curve, (hashed, expected) = Curve192(), VECTORS[text]
    digest = hashlib.sha1(text.encode()).digest()
    assert digest.hex() == hashed
    element = curve.into(digest + bytes(44))
    assert int.from_bytes(element) == int(hashed, 16) * 256  # the ending 0 does in all three
    assert curve.hash_of(element) == digest
    for order in itertools.permutations((0x1234567, 0x89ABCDEF1, 0xFEDCBA98765)):
        layer = [element]
        for key in order:
            layer = curve.apply(key.to_bytes(24), layer)
        assert layer[0].hex() == expected


@given(st.binary(min_size=20, max_size=20))
@settings(max_examples=40)
def test_checklist_9_hashes_become_points_and_come_back(digest: bytes) -> None:
    curve = Curve192()
    element = curve.into(digest + bytes(44))
    assert curve.is_element(element) or int.from_bytes(element) < 2
    assert curve.into(digest + bytes(44)) == element
    assert curve.hash_of(element) == digest


@given(st.integers(1, 2**64), st.integers(0, 1000))
@settings(max_examples=15)
def test_checklist_10_non_adjacent_forms_multiply_as_the_school_method_does(number: int, value: int) -> None:
    digits = non_adjacent_form(number)
    assert sum(digit * 2**place for place, digit in enumerate(digits)) == number
    assert not any(a and b for a, b in itertools.pairwise(digits))
    curve = Curve192()
    (element,) = curve.embed(b"c", [str(value).encode()])
    x = int.from_bytes(element)
    assert int.from_bytes(curve.apply(number.to_bytes(24), [element])[0]) == school_multiple(number, x)


def school_multiple(number: int, x: int) -> int:
    """The first coordinate of a multiple, by doubling and adding with slopes and inverses."""
    p, b = int(curve192.PRIME), int(curve192.B)
    point, total = (x, pow(x**3 - 3 * x + b, (p + 1) // 4, p)), None
    while number:
        if number % 2:
            total = point if total is None else school_sum(total, point, p)
        point, number = school_sum(point, point, p), number // 2
    assert total is not None
    return total[0]


def school_sum(one: tuple[int, int], two: tuple[int, int], p: int) -> tuple[int, int]:
    (x1, y1), (x2, y2) = one, two
    slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, p) if one == two else (y2 - y1) * pow(x2 - x1, -1, p)
    x3 = (slope * slope - x1 - x2) % p
    return x3, (slope * (x1 - x3) - y1) % p


# ------------------------------------------------------------------ long numbers without a library


@given(st.integers(2, 2**80), st.integers(0, 2**60), st.integers(0, 2**80))
@settings(max_examples=60)
def test_checklist_15_plain_python_computes_what_the_library_computes(m: int, e: int, b: int) -> None:
    modulus, exponent = 2 * m + 1, gmpy2.mpz(e)
    bases = [gmpy2.mpz(b), gmpy2.mpz(b + 1)]
    assert plain_powers(bases, exponent, gmpy2.mpz(modulus)) == powers(bases, exponent, gmpy2.mpz(modulus))
    assert plain_jacobi(b, modulus) == gmpy2.jacobi(b, modulus)
    for candidate in (m, modulus, int(gmpy2.next_prime(m))):
        assert plain_is_prime(candidate) == gmpy2.is_prime(candidate)


WITHOUT_LIBRARY = """
import sys
sys.modules["gmpy2"] = None
from tarnkappe.federation.ciphers import PohligHellman1536, PrivateKey
from tarnkappe.federation.ciphers.long_numbers import mpz
assert mpz is int
group = PohligHellman1536()
print(group.apply((3).to_bytes(192), group.embed(b"column", [b"34"]))[0].hex())
key = PrivateKey.generate(128)
assert key.decrypt(key.public.rerandomize(key.public.encrypt([0, 5, 7]))) == [0, 5, 7]
from tests.federation.federations import EXPECTED, Partitioning, Protocol, example, multiset
for protocol in (Protocol.RING, Protocol.MASKED):
    assert multiset(example(protocol, Partitioning.VERTICAL).run()["P2"].outcome.release) == EXPECTED
"""


@pytest.mark.slow
def test_checklist_15_everything_works_without_the_library() -> None:
    run = [sys.executable, "-c", WITHOUT_LIBRARY]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    group = PohligHellman1536()
    assert done.stdout.strip() == group.apply((3).to_bytes(192), group.embed(b"column", [b"34"]))[0].hex()
