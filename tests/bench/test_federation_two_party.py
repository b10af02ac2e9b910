"""The vertical method for two parties that the protocols are compared with."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, NoSolutionError, ProtocolError
from tarnkappe.federation.ciphers import PrivateKey
from tarnkappe.federation.contract import Partitioning, Protocol
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.randomness import Chance
from tarnkappe_bench.federation_two_party import anonymize_between_two, intersection_sizes
from tests.federation.federations import EXAMPLE, RULES, SMALL_KEY, example, random_whole


def classes_of(groups: list[list[int]]) -> np.ndarray:
    place = {key: index for index, members in enumerate(groups) for key in members}
    return np.array([place[key] for key in sorted(place)], np.int32)


def test_checklist_54_the_intersections_of_the_broken_integration_are_found() -> None:
    broken = EXAMPLE["broken_integration"]
    one, two = (classes_of(broken[party]) for party in ("P1_classes", "P2_classes"))
    sizes = intersection_sizes(one, two, PrivateKey.generate(SMALL_KEY), Chance())
    assert Counter(sizes) == {0: 10, 1: 4, 2: 2}


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=15),
)
@settings(max_examples=20)
def test_encrypted_intersections_equal_plain_ones(people: list[tuple[int, int]]) -> None:
    one, two = (np.array(column, np.int32) for column in zip(*people, strict=True))
    sizes = intersection_sizes(one, two, PrivateKey.generate(SMALL_KEY), Chance(1))
    together = Counter(people)
    pairs = itertools.product(range(int(one.max()) + 1), range(int(two.max()) + 1))
    assert Counter(sizes) == Counter(together[pair] for pair in pairs)


def example_parts() -> tuple[list[pa.Table], dict[str, Hierarchy]]:
    tables = example(Protocol.STAR, Partitioning.VERTICAL).tables
    second = tables["P2"].join(tables["P3"], "tid").combine_chunks()
    rules = {}
    for name, table in (("zip", tables["P1"]), ("age", tables["P2"]), ("sex", tables["P3"])):
        values = dict.fromkeys(str(v) for v in table.column(name).to_pylist())
        rules[name] = Hierarchy.from_rows([[v, *RULES[name](v)] for v in values])
    return [tables["P1"], second], rules


def test_checklist_54_the_example_becomes_anonymous_and_costs_far_more_than_the_protocols() -> None:
    parts, rules = example_parts()
    done = anonymize_between_two(parts, "tid", rules, 2, counter_bits=SMALL_KEY)
    rows = Counter(zip(*(column.to_pylist() for column in done.release.columns), strict=True))
    assert sum(rows.values()) == 8
    assert min(rows.values()) >= 2
    best = EXAMPLE["optimum_sex_age_zip"]
    assert sum(done.levels.values()) >= sum(best)
    assert done.key_operations == 32  # 2 parties, 8 people, 2 layers
    # Every test encrypts classes x people numbers; a masked star re-randomizes and decrypts its groups.
    assert done.counter_operations > done.tests * 8


@given(seed=st.integers(0, 10**6), k=st.integers(2, 3))
@settings(max_examples=10)
def test_every_release_of_two_parties_is_anonymous(seed: int, k: int) -> None:
    whole = random_whole(seed, least_rows=10, most_rows=16)
    names = whole.quasi_identifiers
    if len(names) < 2:
        return
    parts = [whole.table.select(["tid", names[0]]), whole.table.select(["tid", *names[1:]])]
    done = anonymize_between_two(parts, "tid", whole.rules, k, counter_bits=SMALL_KEY)
    rows = Counter(zip(*(column.to_pylist() for column in done.release.columns), strict=True))
    assert min(rows.values()) >= k
    expected = Counter(
        tuple(whole.rules[n].label(row[n], done.levels[n]) for n in names) for row in whole.table.to_pylist()
    )
    assert rows == expected


def test_what_two_parties_cannot_do_is_said() -> None:
    parts, rules = example_parts()
    with pytest.raises(NoSolutionError, match="fewer people"):
        anonymize_between_two(parts, "tid", rules, 9, counter_bits=SMALL_KEY)
    with pytest.raises(ColumnError, match="'zip' needs a hierarchy"):
        anonymize_between_two(parts, "tid", {}, 2, counter_bits=SMALL_KEY)
    with pytest.raises(ProtocolError, match="different people"):
        anonymize_between_two([parts[0].slice(1), parts[1]], "tid", rules, 2, counter_bits=SMALL_KEY)
