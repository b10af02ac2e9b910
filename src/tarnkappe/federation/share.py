"""A dictionary-coded table of opaque tokens: what parties exchange and what is anonymized.

A token is a value in plain, an element of a group or a ciphertext; all that can be done with it is to
compare it with another one. Generalization only replaces values by other values, and how is written
in the rules, so a table of ciphertexts with rules of ciphertexts is anonymized as the table of values
would be.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.ciphers.long_numbers import mpz
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts

Tokens = list[bytes]


@dataclasses.dataclass(frozen=True, eq=False)
class ShareColumn:
    """One column.

    Attributes:
        tokens: the distinct tokens, of cells and of labels.
        codes: for each row the position of its token.
        rules: for each value that occurs a line with the positions of the value and its labels, level by
            level; None if the column is not generalized.
    """

    tokens: Tokens
    codes: Codes
    rules: Codes | None = None

    def mapped(self, function: Callable[[Tokens], Tokens]) -> ShareColumn:
        """The same column with every token replaced, each once."""
        return dataclasses.replace(self, tokens=function(self.tokens))

    def take(self, rows: Counts | Mask) -> ShareColumn:
        """Some rows."""
        return dataclasses.replace(self, codes=self.codes[rows])

    def shuffled(self, chance: Chance) -> ShareColumn:
        """The same column with tokens and rules in a random order: no position tells what stood there."""
        order = chance.order(len(self.tokens))
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        rules = None if self.rules is None else place[self.rules][chance.order(len(self.rules))]
        return ShareColumn([self.tokens[i] for i in order.tolist()], place[self.codes], rules)

    def without_rules(self) -> ShareColumn:
        """The cells alone: labels that no row has are forgotten."""
        used, codes = self.occurring()
        return ShareColumn([self.tokens[i] for i in used.tolist()], codes)

    def occurring(self) -> tuple[Counts, Codes]:
        """The tokens that some row has, and for each row the place of its token among them.

        There are few tokens and many rows: counting is far cheaper than sorting.
        """
        used = np.flatnonzero(np.bincount(self.codes, minlength=len(self.tokens)))
        place = np.zeros(len(self.tokens), np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        return used, place[self.codes]

    def at(self, level: int) -> ShareColumn:
        """Every cell generalized to a level, without rules."""
        if self.rules is None or level == 0:
            return self.without_rules()
        label = np.full(len(self.tokens), -1, np.int32)
        label[self.rules[:, 0]] = self.rules[:, level]
        return ShareColumn(self.tokens, label[self.codes]).without_rules()


@dataclasses.dataclass(frozen=True, eq=False)
class PartyShare:
    """Some rows and columns.

    Attributes:
        parts: the columns by name.
        num_rows: how many rows there are.
        keys: what tells whose row it is, where rows are joined by it.
        counters: an encrypted count for each row, where some rows are made up.
        members: which rows are to be released, where the others are population only.
    """

    parts: Mapping[str, ShareColumn]
    num_rows: int
    keys: Tokens | None = None
    counters: list[mpz] | None = None
    members: Mask | None = None

    def take(self, rows: Counts) -> PartyShare:
        """Some rows, in the order given."""
        chosen = [] if self.keys is None and self.counters is None else rows.tolist()
        return PartyShare(
            {name: part.take(rows) for name, part in self.parts.items()},
            len(rows),
            None if self.keys is None else [self.keys[i] for i in chosen],
            None if self.counters is None else [self.counters[i] for i in chosen],
            None if self.members is None else self.members[rows],
        )

    def with_parts(self, function: Callable[[str, ShareColumn], ShareColumn]) -> PartyShare:
        """The same rows with every column replaced."""
        return dataclasses.replace(self, parts={n: function(n, part) for n, part in self.parts.items()})

    def mixed(self, chance: Chance) -> PartyShare:
        """The same table with rows, dictionaries and rules in a random order."""
        return self.take(chance.order(self.num_rows)).with_parts(lambda _, part: part.shuffled(chance))

    def without_counters(self) -> PartyShare:
        """The same rows without their counters."""
        return dataclasses.replace(self, counters=None)

    def sorted_by_key(self) -> PartyShare:
        """The same rows in the order of their keys."""
        assert self.keys is not None
        return self.take(np.array(sorted(range(self.num_rows), key=self.keys.__getitem__), np.int64))

    def in_order_of_columns(self, names: Sequence[str]) -> PartyShare:
        """The same table with its columns in this order; others than these are refused."""
        if set(names) != set(self.parts):
            raise ProtocolError(
                "federation.parties-sent-other-columns",
                "the parties sent other columns than the contract names: the run ends",
            )
        return dataclasses.replace(self, parts={name: self.parts[name] for name in names})


def concatenate(shares: Sequence[PartyShare]) -> PartyShare:
    """The rows of all shares, which have the same columns."""
    names = list(shares[0].parts)
    if any(set(share.parts) != set(names) for share in shares):
        raise ProtocolError(
            "federation.parties-sent-different-columns", "the parties sent different columns: the run ends"
        )
    counters = [share.counters for share in shares if share.counters is not None]
    keys = [share.keys for share in shares if share.keys is not None]
    members = [share.members for share in shares if share.members is not None]
    if 0 < len(members) < len(shares):
        raise ProtocolError(
            "federation.only-some-parties-say",
            "only some of the parties say who is to be released: the run ends",
        )
    return PartyShare(
        {name: concatenate_parts(name, [share.parts[name] for share in shares]) for name in names},
        sum(share.num_rows for share in shares),
        [key for each in keys for key in each] if keys else None,
        [counter for each in counters for counter in each] if counters else None,
        members=np.concatenate(members) if members else None,
    )


def concatenate_parts(name: str, parts: Sequence[ShareColumn]) -> ShareColumn:
    """The rows of one column from several shares; a value has one rule, whoever it comes from."""
    place: dict[bytes, int] = {}
    codes: list[Codes] = []
    rules: dict[int, tuple[int, ...]] = {}
    for part in parts:
        moved = np.array([place.setdefault(token, len(place)) for token in part.tokens], np.int32)
        codes.append(moved[part.codes] if len(part.codes) else part.codes)
        for rule in [] if part.rules is None else map(tuple, moved[part.rules].tolist()):
            if rules.setdefault(rule[0], rule) != rule:
                raise ProtocolError(
                    "federation.two-parties-generalize-same",
                    "two parties generalize the same value of '{name}' in different ways: agree on one "
                    "hierarchy; the run ends",
                    name=name,
                )
    has_rules = parts[0].rules is not None
    lines = np.array(list(rules.values()), np.int32) if rules else _no_rules(parts)
    return ShareColumn(list(place), np.concatenate(codes), lines if has_rules else None)


def _no_rules(parts: Sequence[ShareColumn]) -> Codes:
    rules = parts[0].rules
    return np.empty((0, 0 if rules is None else rules.shape[1]), np.int32)


def join(
    shares: Sequence[PartyShare], sum_counters: Callable[[Sequence[list[mpz]]], list[mpz]]
) -> PartyShare:
    """The columns of all shares, row by row; they stand in the same order."""
    if len({share.num_rows for share in shares}) > 1:
        raise ProtocolError(
            "federation.parties-different-numbers-people",
            "the parties have different numbers of people: the run ends",
        )
    counters = [share.counters for share in shares if share.counters is not None]
    members = [share.members for share in shares if share.members is not None]
    return PartyShare(
        {name: part for share in shares for name, part in share.parts.items()},
        shares[0].num_rows,
        counters=sum_counters(counters) if counters else None,
        members=members[0] if members else None,
    )
