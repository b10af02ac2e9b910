"""The ciphers: laws, published vectors, independent implementations, and what an attacker sees of a value."""

from __future__ import annotations

import itertools
import os
import secrets
import subprocess
import sys
from math import gcd
from pathlib import Path

import gmpy2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phe import paillier as independent

from tarnkappe.errors import ParameterError, ProtocolError
from tarnkappe.federation.ciphers import (
    GROUPS,
    Agreement,
    ColumnKey,
    Group,
    PohligHellman1536,
    PrivateKey,
    Ristretto255,
    derive,
)
from tarnkappe.federation.ciphers.pohlig_hellman import PohligHellman

VALUES = [b"34", b"45", b"20-60", b"*", b""]


class Toy(PohligHellman):
    """The safe prime of the worked example: too small for anything but looking at every element."""

    name = "toy"
    bits, constant, size = 11, 0, 2
    prime = gmpy2.mpz(2039)


@pytest.fixture(params=list(GROUPS), ids=lambda group: group.name)
def group(request: pytest.FixtureRequest) -> Group:
    return request.param()


def test_checklist_7_keys_commute_in_all_orders_and_decrypt(group: Group) -> None:
    keys = [group.new_key() for _ in range(3)]
    elements = group.embed(b"column", VALUES[:2])
    ends = []
    for order in itertools.permutations(keys):
        layer = elements
        for key in order:
            layer = group.apply(key, layer)
        ends.append(layer)
    assert all(end == ends[0] for end in ends)
    for order in (keys, keys[::-1]):
        layer = ends[0]
        for key in order:
            layer = group.apply(group.invert(key), layer)
        assert layer == elements


def test_checklist_7_toy_vector() -> None:
    toy, keys = Toy(), [k.to_bytes(2) for k in (3, 5, 7)]

    def encrypt(number: int, *chosen: int) -> int:
        layer = [number.to_bytes(2)]
        for index in chosen:
            layer = toy.apply(keys[index], layer)
        return int.from_bytes(layer[0])

    assert [encrypt(42, i) for i in range(3)] == [684, 1527, 109]
    assert [encrypt(42, *pair) for pair in [(0, 1), (0, 2), (1, 2)]] == [1486, 264, 602]
    assert {encrypt(42, *order) for order in itertools.permutations(range(3))} == {325}
    for end, d in zip((602, 109, 42), (1359, 1223, 1747), strict=True):
        before = 325 if end == 602 else {109: 602, 42: 109}[end]
        assert pow(before, d, 2039) == end  # d inverts modulo p - 1, as printed


def test_moduli_are_safe_primes() -> None:
    for kind in GROUPS:
        group = kind()
        if isinstance(group, PohligHellman):
            assert int(group.prime).bit_length() == group.bits == 8 * group.size
            assert gmpy2.is_prime(group.prime)
            assert gmpy2.is_prime(group.order)


def test_a_value_in_another_column_or_run_is_another_element(group: Group) -> None:
    assert group.embed(b"run 1, age", VALUES) != group.embed(b"run 1, zip", VALUES)
    assert len(set(group.embed(b"age", VALUES))) == len(VALUES)
    assert all(len(element) == group.size for element in group.embed(b"age", VALUES))


def test_trap_7_no_legendre_symbol_leaks_while_the_plain_scheme_leaks_it() -> None:
    group = PohligHellman1536()
    values = [str(n).encode() for n in range(40)]
    symbols = {gmpy2.jacobi(gmpy2.mpz(int.from_bytes(e)), group.prime) for e in group.embed(b"c", values)}
    assert symbols == {1}
    # The printed scheme: a plain number raised to an odd exponent keeps its symbol through all layers.
    assert {gmpy2.legendre(number, 2039) for number in (42, 684, 1527, 109, 325)} == {-1}


def test_checklist_13_zero_and_one_never_enter(group: Group) -> None:
    zero, one = bytes(group.size), (1).to_bytes(group.size)
    assert not group.is_element(zero)
    assert not group.is_element(one)
    assert all(map(group.is_element, group.embed(b"age", [b"0", b"1"])))
    with pytest.raises(ProtocolError, match="'P2' sent something that is no ciphertext"):
        group.require_elements([zero], "P2")
    with pytest.raises(ProtocolError, match="no ciphertext"):
        group.require_elements([b"short"], "P2")


def test_a_non_square_is_refused_because_it_could_draw_out_a_bit_of_the_key() -> None:
    group = PohligHellman1536()
    minus_one = int(group.prime - 1).to_bytes(group.size)  # order 2: its power tells whether a key is odd
    with pytest.raises(ProtocolError, match="no ciphertext"):
        group.require_elements([minus_one], "P2")


@given(st.lists(st.binary(max_size=12), min_size=1, max_size=8))
@settings(max_examples=25)
def test_commutative_encryption_keeps_equality_and_nothing_else(values: list[bytes]) -> None:
    group = Ristretto255()
    one, two = group.new_key(), group.new_key()
    cipher = group.apply(two, group.apply(one, group.embed(b"c", values)))
    for (v, c), (w, d) in itertools.combinations(zip(values, cipher, strict=True), 2):
        assert (v == w) == (c == d)


# ------------------------------------------------------------------ deterministic cells


def test_checklist_12_equal_cells_have_equal_ciphertexts_under_one_column_key_only() -> None:
    secret = ColumnKey.new()
    age, zip_code = ColumnKey(secret, "age", 8), ColumnKey(secret, "zip", 8)
    assert age.encrypt([b"34", b"34"])[0] == age.encrypt([b"34"])[0]
    assert age.encrypt([b"34"]) != zip_code.encrypt([b"34"])
    assert ColumnKey(ColumnKey.new(), "age", 8).encrypt([b"34"]) != age.encrypt([b"34"])


@given(st.lists(st.binary(max_size=20), max_size=10))
@settings(max_examples=30)
def test_cells_have_one_length_and_come_back(cells: list[bytes]) -> None:
    key = ColumnKey(ColumnKey.new(), "c", 20)
    sealed = key.encrypt(cells)
    assert {len(each) for each in sealed} <= {key.size}
    assert key.decrypt(sealed, "X") == cells


def test_trap_1_common_beginnings_stay_hidden() -> None:
    key = ColumnKey(ColumnKey.new(), "c", 64)
    one, two = key.encrypt([b"a" * 48 + b"1", b"a" * 48 + b"2"])
    assert all(a != b for a, b in zip(_blocks(one), _blocks(two), strict=True))


def _blocks(cipher: bytes) -> list[bytes]:
    return [cipher[start : start + 16] for start in range(0, len(cipher) - 15, 16)]


def test_foreign_and_overlong_cells_are_refused() -> None:
    key, foreign = ColumnKey(ColumnKey.new(), "age", 4), ColumnKey(ColumnKey.new(), "age", 4)
    with pytest.raises(ProtocolError, match="'helper' sent cells of 'age'"):
        key.decrypt(foreign.encrypt([b"34"]), "helper")
    with pytest.raises(ParameterError, match="5 bytes, and the contract allows 4"):
        key.encrypt([b"12345"])


# ------------------------------------------------------------------ key agreement


def agree(names: tuple[str, ...], context: bytes = b"run") -> tuple[list[bytes], list[bytes]]:
    parties = {n: Agreement(n, tuple(o for o in names if o != n), context) for n in names}
    offers = {n: p.offer() for n, p in parties.items()}
    sealed = {n: p.accept({o: offers[o] for o in names if o != n}) for n, p in parties.items()}
    for sender, boxes in sealed.items():
        for receiver, box in boxes.items():
            parties[receiver].open(sender, box)
    seen = [*offers.values(), *(box for boxes in sealed.values() for box in boxes.values())]
    return [p.secret() for p in parties.values()], seen


@pytest.mark.parametrize("number", [2, 3, 5])
def test_checklist_14_all_primaries_agree_on_a_secret_that_the_helper_does_not_see(number: int) -> None:
    agreed, seen = agree(tuple(f"P{i}" for i in range(number)))
    assert len(set(agreed)) == 1
    assert all(agreed[0] not in message for message in seen)
    assert derive(agreed[0], b"run", "age") != derive(agreed[0], b"other run", "age")


def test_trap_26_every_run_has_another_secret() -> None:
    assert agree(("P1", "P2"))[0] != agree(("P1", "P2"))[0]


def test_a_damaged_contribution_is_refused() -> None:
    one, two = Agreement("P1", ("P2",), b"run"), Agreement("P2", ("P1",), b"run")
    box = one.accept({"P2": two.offer()})["P2"]
    two.accept({"P1": one.offer()})
    with pytest.raises(ProtocolError, match="contribution of 'P1'"):
        two.open("P1", box[:-1] + bytes([box[-1] ^ 1]))
    with pytest.raises(ProtocolError, match="'P2' offered a key that is none"):
        one.accept({"P2": bytes(32)})


# ------------------------------------------------------------------ Paillier


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    return PrivateKey.generate(256)


def test_checklist_11_toy_vectors() -> None:
    toy = PrivateKey(gmpy2.mpz(11), gmpy2.mpz(13))
    n = 143

    def textbook(number: int, r: int) -> int:
        return pow(n + 1, number, n * n) * pow(r, n, n * n) % (n * n)

    ciphertexts = [textbook(1, 2), textbook(1, 3), textbook(0, 5), textbook(0, 7)]
    assert ciphertexts == [5376, 5703, 7704, 7009]
    a, b, c, d = map(gmpy2.mpz, ciphertexts)
    public = toy.public
    assert [public.add([a, b, c]), public.add([a, c, d]), public.add([c, d])] == [16572, 9524, 11976]
    assert toy.decrypt([gmpy2.mpz(x) for x in (16572, 9524, 11976)]) == [2, 1, 0]


def test_checklist_11_two_encryptions_of_one_number_differ(key: PrivateKey) -> None:
    ciphertexts = key.public.encrypt([0] * 50)
    assert len(set(ciphertexts)) == 50
    assert key.decrypt(ciphertexts) == [0] * 50


@given(st.lists(st.integers(0, 10**12), max_size=12))
@settings(max_examples=30)
def test_checklist_11_sums_of_ciphertexts_are_sums(numbers: list[int]) -> None:
    key = PrivateKey(gmpy2.next_prime(2**64), gmpy2.next_prime(2**65))
    public = key.public
    assert key.decrypt([public.add(public.encrypt(numbers))]) == [sum(numbers)]


def test_an_independent_implementation_reads_ours_and_we_read_it() -> None:
    key = PrivateKey.generate(512)
    their_public = independent.PaillierPublicKey(int(key.public.n))
    theirs = independent.PaillierPrivateKey(their_public, int(key.p), int(key.q))
    numbers = [0, 1, 2, 1000, 2**40]
    assert [theirs.raw_decrypt(int(c)) for c in key.public.encrypt(numbers)] == numbers
    assert key.decrypt([gmpy2.mpz(their_public.raw_encrypt(n)) for n in numbers]) == numbers
    mixed = key.public.add([key.public.encrypt([5])[0], gmpy2.mpz(their_public.raw_encrypt(7))])
    assert theirs.raw_decrypt(int(mixed)) == 12


def test_trap_15_re_randomized_counters_cannot_be_linked(key: PrivateKey) -> None:
    before = key.public.encrypt([1, 0, 3])
    after = key.public.rerandomize(before)
    assert not set(before) & set(after)
    assert key.decrypt(after) == [1, 0, 3]


def test_the_fixed_base_table_computes_powers_of_the_base(key: PrivateKey) -> None:
    public = key.public
    for index, row in enumerate(public.masks.table):
        digit = secrets.randbelow(len(row))
        exponent = digit * len(row) ** index
        assert row[digit] == gmpy2.powmod(public.base, exponent, public.square)


@pytest.mark.slow
def test_many_counters_are_encrypted_by_processes_on_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    key = PrivateKey.generate(1024)
    ciphertexts = key.public.encrypt([5] * 1200)
    makers = list(key.public.masks._makers)
    assert len(makers) == 2
    again = key.public.rerandomize(ciphertexts[:100])
    assert len({*ciphertexts, *again}) == 1300
    assert set(key.decrypt(ciphertexts[::40] + again[::10])) == {5}
    key.public.masks.close()
    assert all(maker.poll() is not None for maker in makers)


@pytest.mark.slow
def test_many_tests_with_a_few_groups_each_use_all_cores_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    key = PrivateKey.generate(1024)
    ciphertexts = key.public.encrypt([5] * 300)
    started = []
    for _ in range(4):
        ciphertexts = key.public.rerandomize(ciphertexts)
        started.append(len(key.public.masks._makers))
    assert started == [0, 0, 1, 1]
    assert set(key.decrypt(ciphertexts[::30])) == {5}
    key.public.masks.close()


def test_trap_22_ciphertexts_are_twice_as_long_as_the_modulus(key: PrivateKey) -> None:
    assert {len(c) for c in key.public.to_bytes(key.public.encrypt([0, 1, 2**100]))} == {2 * 256 // 8}


def test_generated_keys_fit_short_exponents() -> None:
    for _ in range(3):
        key = PrivateKey.generate(128)
        assert int(key.p) % 4 == int(key.q) % 4 == 3
        assert gcd(int(key.p) - 1, int(key.q) - 1) == 2
        assert int(key.public.n).bit_length() == 128


def test_impossible_keys_and_ciphertexts_are_refused(key: PrivateKey) -> None:
    with pytest.raises(ParameterError, match="even number of at least 64 bits"):
        PrivateKey.generate(63)
    with pytest.raises(ProtocolError, match="'P1' sent a counter that is no ciphertext"):
        key.public.from_bytes([bytes(key.public.size)], "P1")


@pytest.mark.slow
def test_real_sizes() -> None:
    key = PrivateKey.generate()
    assert key.public.bits == 3072
    numbers = list(range(300))
    assert key.decrypt(key.public.rerandomize(key.public.encrypt(numbers))) == numbers


def test_loading_the_group_leaves_no_file_behind(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", "import tarnkappe.federation.ciphers.ristretto"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        check=True,
    )
    assert not [path.name for path in tmp_path.rglob("*.so")]
