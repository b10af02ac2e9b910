"""Jiang and Clifton's method for two parties with different columns of the same people, to compare with.

1. Both encrypt the keys of their people with a commutative cipher, one after the other, so that both know the
   same people under names that say nothing.
2. Each generalizes its own columns greedily until its part alone is anonymous, and forms classes of names.
3. How many people each class of the one shares with each class of the other is computed under the first
   party's Paillier key: it sends, class by class, an encrypted 1 for every member and an encrypted 0 for
   everybody else, and the other adds them up over the members of its own classes. The table is anonymous if
   no intersection has between 1 and k - 1 people. Otherwise the column with most labels is generalized.

Every test encrypts as many numbers as the first party has classes times people, which is why it takes days
where a star takes seconds; and the result of a greedy search need not be the best.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ColumnError, NoSolutionError, ProtocolError
from tarnkappe.federation.ciphers import GROUPS, PrivateKey, PublicKey
from tarnkappe.federation.ciphers.long_numbers import mpz
from tarnkappe.federation.party_share import key_tokens
from tarnkappe.federation.share import Tokens
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Table, Tuples
from tarnkappe.table.encoding import Codes
from tarnkappe_bench.federation_baselines import generalized, rows_of_part


@dataclasses.dataclass(frozen=True, eq=False)
class TwoPartyRelease:
    """What two parties publish.

    Attributes:
        release: the joined table, in a random order.
        levels: the level of each column.
        tests: how often intersections were counted.
        key_operations: how many keys were encrypted.
        counter_operations: how many numbers were encrypted, re-randomized and decrypted.
    """

    release: pa.Table
    levels: dict[str, int]
    tests: int
    key_operations: int
    counter_operations: int


class _Side:
    """One of the two: its columns, their levels so far, and the names of its people in their order."""

    def __init__(self, part: pa.Table, key: str, hierarchies: Mapping[str, Hierarchy]) -> None:
        self.keys = key_tokens(Table(part), key)
        self.part = part.drop_columns([key])
        missing = [name for name in self.part.column_names if name not in hierarchies]
        if missing:
            raise ColumnError(
                "bench.column-needs-hierarchy-generalized",
                "the column '{missing}' needs a hierarchy: it is generalized",
                missing=missing[0],
            )
        self.rows: Tuples = rows_of_part(self.part, hierarchies)
        self.levels = dict.fromkeys(self.part.column_names, 0)
        self.names: Tokens = []

    def classes(self) -> Codes:
        """For each person the class that it is in."""
        return self.rows.classes(list(self.levels), list(self.levels.values())).ids

    def most_labels(self) -> tuple[int, str]:
        """The column to generalize next, by the number of its labels; (0, "") if all are at the top."""
        numbers = []
        for name, level in self.levels.items():
            levels = self.rows.columns[name].levels
            assert levels is not None
            if level < levels.height:
                numbers.append((levels.distinct(level), name))
        return max(numbers, default=(0, ""))


def anonymize_between_two(
    parts: Sequence[pa.Table],
    key: str,
    hierarchies: Mapping[str, Hierarchy],
    k: int,
    *,
    group: str = "ristretto255",
    counter_bits: int = 2048,
    chance: Chance | None = None,
) -> TwoPartyRelease:
    """A k-anonymous table of two parts, by Jiang and Clifton's method with Datafly's greedy choice."""
    one, two = (_Side(part, key, hierarchies) for part in parts)
    chance = chance or Chance()
    key_operations = _name_people(one, two, group, chance)
    private = PrivateKey.generate(counter_bits)
    for side in (one, two):
        while np.bincount(side.classes()).min() < k:
            _generalize(side)
    tests = counters = 0
    while True:
        people = sorted(one.names)
        sizes = intersection_sizes(_by_name(one, people), _by_name(two, people), private, chance)
        tests += 1
        counters += (int(one.classes().max()) + 1) * len(people) + 2 * len(sizes)
        if all(size == 0 or size >= k for size in sizes):
            break
        _generalize(max((one, two), key=lambda side: side.most_labels()[0]))
    order = [np.argsort(np.array(side.names, object)) for side in (one, two)]
    columns: dict[str, pa.ChunkedArray] = {}
    for side, places in zip((one, two), order, strict=True):
        shown = generalized(side.part, side.rows, side.levels).take(pa.array(places))
        columns |= dict(zip(shown.column_names, shown.columns, strict=True))
    mixed = pa.table(columns).take(pa.array(chance.order(len(one.keys))))
    return TwoPartyRelease(mixed, one.levels | two.levels, tests, key_operations, counters)


def _name_people(one: _Side, two: _Side, group_name: str, chance: Chance) -> int:
    """Give all people the names that both parties know: their keys, encrypted by both."""
    group = GROUPS[group_name]()
    own, other = group.new_key(), group.new_key()
    for side, first, second in ((one, own, other), (two, other, own)):
        once = group.apply(first, group.embed(b"two parties", side.keys))
        order = chance.order(len(once))  # who encrypts second gets them in no order that it knows
        twice = group.apply(second, [once[i] for i in order.tolist()])
        place = np.argsort(order)
        side.names = [twice[i] for i in place.tolist()]
    if set(one.names) != set(two.names):
        raise ProtocolError(
            "bench.two-parties-different-people", "the two parties have different people: link them first"
        )
    return 2 * (len(one.keys) + len(two.keys))


def _generalize(side: _Side) -> None:
    _, name = side.most_labels()
    if not name:
        raise NoSolutionError("bench.fewer-people-class", "there are fewer people than a class must have")
    side.levels[name] += 1


def _by_name(side: _Side, people: Sequence[bytes]) -> Codes:
    place = {name: index for index, name in enumerate(side.names)}
    return side.classes()[[place[name] for name in people]]


def intersection_sizes(one: Codes, two: Codes, private: PrivateKey, chance: Chance) -> list[int]:
    """How many people each class of the one shares with each class of the other, in a random order.

    Args:
        one: for each person its class at the party that has the key; all it learns are the sizes.
        two: for each person its class at the other party, which learns nothing.
        private: the key of the first party.
        chance: the source of random orders.
    """
    sizes: list[int] = []
    for own in range(int(one.max()) + 1):
        membership = private.public.encrypt((one == own).astype(int).tolist())
        sums = _sums(membership, two, private.public)
        sizes += private.decrypt([sums[i] for i in chance.order(len(sums)).tolist()])
    return [sizes[i] for i in chance.order(len(sizes)).tolist()]


def _sums(membership: list[mpz], classes: Codes, public: PublicKey) -> list[mpz]:
    """What the second party sends back."""
    sums = [
        public.add(membership[i] for i in np.flatnonzero(classes == each).tolist())
        for each in range(int(classes.max()) + 1)
    ]
    return public.rerandomize(sums)
