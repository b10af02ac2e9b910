"""The engine of shared bits: every gate against plain arithmetic, and what a single party sees of it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.oblivious import gates
from tarnkappe.federation.oblivious.computer import Opening
from tarnkappe.federation.oblivious.dense import CellGrid, Criterion, LocalRows, kept_cells, satisfied_nodes
from tarnkappe.federation.oblivious.fixed_log import log2_fixed
from tarnkappe.federation.oblivious.streams import KeyStream
from tests.federation.three import NAMES, Three

BITS = 4
PAIRS = list(itertools.product(range(1 << BITS), repeat=2))


def test_a_key_stream_is_that_of_the_specification_and_no_stream_is_used_twice() -> None:
    stream = KeyStream(bytes(range(16)))
    expected = "c6a13b37878f5b826f4f8162a1c8d8797346139595c0b41e497bbde365f42d0a"
    assert stream.words(0, 4).tobytes().hex() == expected
    stream.words(5, 1)
    for used in (5, 0, 1 << 32):
        with pytest.raises(ProtocolError, match="used twice"):
            stream.words(used, 1)


def test_and_is_right_for_every_setting_of_shares() -> None:
    three = Three()
    settings = list(itertools.product((0, 1), repeat=6))
    shares = [gates.packed(np.array([s[i] for s in settings], np.uint8)) for i in range(6)]
    x = [np.stack([shares[i], shares[(i + 1) % 3]]) for i in range(3)]
    y = [np.stack([shares[3 + i], shares[3 + (i + 1) % 3]]) for i in range(3)]
    found = three.flags(three.run(lambda c, x, y: c.both(x, y), x, y), len(settings))
    assert found == [(s[0] ^ s[1] ^ s[2]) & (s[3] ^ s[4] ^ s[5]) == 1 for s in settings]
    assert three.rounds == 1


@pytest.mark.parametrize(
    ("circuit", "plain"),
    [
        (lambda c, x, y: gates.add(c, x, y, 5), lambda a, b: a + b),
        (lambda c, x, y: gates.add_few(c, x, y, 5), lambda a, b: a + b),
        (lambda c, x, y: gates.subtract(c, x, y, 4), lambda a, b: (a - b) % 16),
        (lambda c, x, y: gates.multiply(c, x, y, 8), lambda a, b: a * b),
        (lambda c, x, y: gates.multiply(c, x, y, 5), lambda a, b: a * b % 32),
        (lambda c, x, _: gates.square(c, x, 8), lambda a, _: a * a),
        (lambda c, x, y: gates.add_all(c, [x, y, y], 15), lambda a, b: a + b + b),
        (lambda c, x, y: gates.either(c, x, y), lambda a, b: a | b),
    ],
)
def test_a_circuit_of_numbers_is_right_for_all_small_numbers(circuit: Any, plain: Any) -> None:
    three = Three()
    x, y = (three.numbers([pair[side] for pair in PAIRS], BITS) for side in range(2))
    found = three.read(three.run(circuit, x, y), len(PAIRS))
    assert found == [plain(*pair) for pair in PAIRS]


def test_comparisons_are_right_for_all_small_numbers() -> None:
    three = Three()
    x, y = (three.numbers([pair[side] for pair in PAIRS], BITS) for side in range(2))
    smaller = three.flags(three.run(gates.less, x, y), len(PAIRS))
    assert smaller == [a < b for a, b in PAIRS]
    for least in range(18):
        found = three.run(lambda c, x, least=least: gates.at_least(c, x, least), x)
        assert three.flags(found, len(PAIRS)) == [a >= least for a, _ in PAIRS]
    chosen = three.run(lambda c, x, y, f: gates.select(c, f, x, y), x, y, three.run(gates.less, x, y))
    assert three.read(chosen, len(PAIRS)) == [min(pair) for pair in PAIRS]


@given(st.lists(st.integers(0, 255), min_size=1, max_size=70))
@settings(max_examples=10)
def test_the_least_of_numbers_is_found(numbers: list[int]) -> None:
    three = Three()
    found = three.run(lambda c, x: gates.least_of(c, x, len(numbers)), three.numbers(numbers, 8))
    assert three.read(found, 1) == [min(numbers)]


@given(st.lists(st.integers(1, 300), min_size=1, max_size=6), st.integers(0, 2**32))
@settings(max_examples=10)
def test_parts_of_different_lengths_are_counted_at_once(lengths: list[int], seed: int) -> None:
    rng, three = np.random.default_rng(seed), Three(seed)
    cells = CellGrid(tuple(lengths))
    numbers = [rng.integers(0, 8, length) for length in lengths]
    planes = [
        np.concatenate([gates.packed((part >> bit & 1).astype(np.uint8)) for part in numbers])
        for bit in range(3)
    ]
    bits = gates.bits_of(7 * sum(lengths))
    found = three.run(
        lambda c, x: gates.count_per_part(c, x, cells.parts, len(lengths), bits),
        three.share(np.stack(planes)),
    )
    assert three.read(found, len(lengths)) == [int(part.sum()) for part in numbers]


def test_the_logarithm_in_the_circuit_is_that_of_the_fixtures() -> None:
    fixtures = {1: 0, 3: 1742684699131, 5: 2552986939188, 1000: 10957495700893, 30162: 16361221726096, 0: 0}
    numbers = [*fixtures, *range(2, 60)]
    three = Three()
    found = three.read(three.run(log2_fixed, three.numbers(numbers, 15)), len(numbers))
    for number, value in zip(numbers, found, strict=True):
        assert fixtures.get(number, value) == value
        assert number == 0 or abs(value - math.log2(number) * 2**40) < 1.01


# ------------------------------------------------------------------ what one party sees


def test_what_a_party_receives_does_not_depend_on_the_data() -> None:
    """Same sizes, order and rounds for other data; and words that no test of frequencies tells from noise."""

    def view(numbers: list[int], seed: int) -> Three:
        three = Three(seed)
        three.run(lambda c, x: gates.multiply(c, x, x, 16), three.numbers(numbers, 8))
        return three

    zeros, ones = view([0] * 640, 1), view([255] * 640, 2)
    assert zeros.sizes == ones.sizes
    assert zeros.rounds == ones.rounds
    for three in (zeros, ones):
        for name in NAMES:
            words = np.concatenate(three.received[name])
            bits = np.unpackbits(words.view(np.uint8))
            assert abs(bits.mean() - 0.5) < 5 / math.sqrt(4 * len(bits))
            assert len(np.unique(words)) == len(words)


def test_the_view_of_each_party_has_one_distribution_whatever_the_others_have() -> None:
    """All that a party holds of (x, y, x & y), over many keys, is as likely for every x and y."""
    views: dict[tuple[str, int, int], Counter[tuple[int, ...]]] = {}
    lanes = 64 * 64
    for x, y in itertools.product((0, 1), repeat=2):
        three = Three(7 * x + 3 * y)
        shares = [three.numbers([value] * lanes, 1) for value in (x, y)]
        results = three.run(lambda c, a, b: c.both(a, b), *shares)
        for i, name in enumerate(NAMES):
            held = [gates.unpacked(each[i], lanes).reshape(2, lanes) for each in (*shares, results)]
            views[name, x, y] = Counter(map(tuple, np.concatenate(held).T.tolist()))
    for name in NAMES:
        for seen in (views[name, x, y] for x, y in itertools.product((0, 1), repeat=2)):
            assert len(seen) == 64
            expected = lanes / 64
            spread = sum((count - expected) ** 2 / expected for count in seen.values())
            assert spread < 150  # chi square with 63 degrees of freedom: far beyond one in a million


def test_a_flipped_share_is_noticed_when_it_is_opened() -> None:
    three = Three()
    shares = three.numbers([1, 2, 3], 2)
    opened = three.run(
        lambda c, x: c.open(x, Opening.ROWS, NAMES, NAMES[c.index]), [share.copy() for share in shares]
    )
    assert all(np.array_equal(each, three.plain(shares)) for each in opened)
    shares[1][1, 0, 0] ^= np.uint64(1)
    with pytest.raises(ProtocolError, match="different shares"):
        three.run(lambda c, x: c.open(x, Opening.ROWS, NAMES, NAMES[c.index]), shares)


def test_every_order_of_four_rows_is_as_likely_after_a_shuffle() -> None:
    seen: Counter[tuple[int, ...]] = Counter()
    three = Three(5)
    runs = 2_400
    rows = np.arange(4, dtype=np.uint64).reshape(4, 1)
    for _ in range(runs):
        mixed = three.plain(three.run(lambda c, x: c.shuffle(x), three.share(rows)))
        seen[tuple(mixed[:, 0].tolist())] += 1
    assert len(seen) == 24
    spread = sum((count - runs / 24) ** 2 / (runs / 24) for count in seen.values())
    assert spread < 70  # chi square with 23 degrees of freedom


# ------------------------------------------------------------------ the dense test


def rows_of(counts: list[int], values: list[list[int]] | None = None) -> LocalRows:
    """The rows of a site, one column of one level, from how many rows each cell has."""
    cells = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    sensitive = () if values is None else (np.array([v for cell in values for v in cell], np.int32),)
    return LocalRows(((cells,),), sensitive, ((len(counts),),))


def test_the_dense_fixture() -> None:
    sites = [rows_of([2, 0, 5, 0]), rows_of([1, 1, 0, 0]), rows_of([0, 1, 0, 0])]
    cells, criterion = CellGrid((4,)), Criterion(3, (), 2, 10)
    three = Three()
    shared = [
        three.share(site.planes([(0,)], cells, criterion).reshape(criterion.planes, cells.words))
        for site in sites
    ]
    by_party = [[site[i] for site in shared] for i in range(3)]
    kept, small = zip(*three.run(lambda c, s: kept_cells(c, s, criterion), by_party), strict=True)
    assert three.flags(kept, 4) == [True, False, True, False]
    assert three.read(small, 4) == [0, 2, 0, 0]
    good = three.run(lambda c, s: satisfied_nodes(c, s, cells, criterion), by_party)
    assert three.flags(good, 1) == [True]
    strict = Criterion(3, (), 1, 10)
    good = three.run(lambda c, s: satisfied_nodes(c, s, cells, strict), by_party)
    assert three.flags(good, 1) == [False]


@given(st.lists(st.integers(0, 300), min_size=1, max_size=20), st.integers(1, 100))
def test_clipped_counts_decide_as_counts_do(counts: list[int], k: int) -> None:
    clipped = sum(min(count, k) for count in counts)
    assert (clipped >= k) == (sum(counts) >= k)
    assert clipped >= k or clipped == sum(counts)


@given(st.data())
@settings(max_examples=12)
def test_the_dense_test_decides_as_plain_counting_does(data: st.DataObject) -> None:
    sites = data.draw(st.integers(2, 6))
    size, values = data.draw(st.integers(1, 80)), 3
    k, limit = data.draw(st.integers(1, 9)), data.draw(st.integers(0, 40))
    least = data.draw(st.sampled_from([None, 1, 2, 3]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    counts = rng.poisson(1.2, (sites, size))
    drawn = [[rng.integers(0, values, n).tolist() for n in row] for row in counts]
    diversity = () if least is None else ((values, least),)
    criterion = Criterion(k, diversity, limit, int(counts.sum()))
    cells, three = CellGrid((size,)), Three()
    shared = []
    for row, kinds in zip(counts.tolist(), drawn, strict=True):
        planes = rows_of(row, None if least is None else kinds).planes([(0,)], cells, criterion)
        shared.append(three.share(planes))
    by_party = [[site[i] for site in shared] for i in range(3)]
    kept, _ = zip(*three.run(lambda c, s: kept_cells(c, s, criterion), by_party), strict=True)
    good = three.run(lambda c, s: satisfied_nodes(c, s, cells, criterion), by_party)
    expected = [
        sum(counts[:, cell]) >= max(k, 1)
        and (least is None or len({v for site in drawn for v in site[cell]}) >= least)
        for cell in range(size)
    ]
    assert three.flags(kept, size) == expected
    suppressed = sum(int(counts[:, cell].sum()) for cell in range(size) if not expected[cell])
    assert three.flags(good, 1) == [suppressed <= limit]
