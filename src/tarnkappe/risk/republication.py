"""Republication after people joined and left: m-invariant groups, with counterfeits where they are needed.

Every group has m rows with m different sensitive values, and whoever was in a release before finds the same
m values in her group again (her signature). So an attacker who knows all releases, and in which of them
somebody is, always has m values to choose from (Xiao and Tao 2007). Where nobody is left to fill a place, a
counterfeit row does.

Why no grouping needs fewer counterfeits: the rows are m for each group, so the fewest groups have the
fewest counterfeits. People with a signature need as many groups of it as its most frequent value has
people. Their free places can be filled by newcomers, each value for itself. The r newcomers who are left,
at most f of them with the same value, need at least f groups and at least r / m; dealing them out value by
value to max(f, r / m, rounded up) groups in turn succeeds, since nobody meets his own value and no group
gets more than m.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from tarnkappe.errors import ParameterError
from tarnkappe.privacy.requiring import require, require_whole
from tarnkappe.risk.cells import widen
from tarnkappe.table import Table, encode

Signature = frozenset[str]


@dataclasses.dataclass(frozen=True)
class Republication:
    """Groups of a new release.

    Attributes:
        groups: the people of each group, as places in the table.
        counterfeits: the values of the counterfeit rows of each group.
        m: how many rows and values each group has.
    """

    groups: tuple[tuple[int, ...], ...]
    counterfeits: tuple[tuple[str, ...], ...]
    m: int

    @property
    def num_counterfeits(self) -> int:
        """How many rows belong to nobody."""
        return sum(map(len, self.counterfeits))

    def release(self, table: Table, sensitive: str) -> RepublishedTable:
        """The rows to be released: cells that all of a group share, a group number, and the value.

        Groups are numbered and rows are ordered at random, and a counterfeit looks like any other row.
        Group numbers of different releases have nothing to do with each other, so their columns have
        different names.
        """
        columns = encode(table, [*table.quasi_identifiers, sensitive])
        texts = {name: [c.labels[code] for code in c.codes.tolist()] for name, c in columns.items()}
        order = list(range(len(self.groups)))
        random = secrets.SystemRandom()
        random.shuffle(order)
        group = f"group {secrets.token_hex(3)}"
        rows: list[dict[str, str]] = []
        numbers = [""] * table.num_rows
        for number, index in enumerate(order, start=1):
            people = self.groups[index]
            shared = {n: widen([texts[n][person] for person in people]) for n in table.quasi_identifiers}
            values = [texts[sensitive][person] for person in people]
            rows += [
                {**shared, group: str(number), sensitive: v} for v in (*values, *self.counterfeits[index])
            ]
            for person in people:
                numbers[person] = str(number)
        random.shuffle(rows)
        known = [*table.quasi_identifiers, group]
        data = pa.table({n: pa.array([row[n] for row in rows], pa.string()) for n in (*known, sensitive)})
        kept = Table(table.data.append_column(group, pa.array(numbers, pa.string())), table.roles)
        return RepublishedTable(
            Table(data).with_roles(quasi_identifiers=known, sensitive=[sensitive]), kept, group
        )


class RepublishedTable(NamedTuple):
    """A republication: what is handed out, and what the owner keeps."""

    table: Table
    """The rows to be released."""
    people: Table
    """Everybody with the number of the group; only the owner has it, to record the release."""
    group: str
    """The column with the group numbers."""


def republish(
    table: Table,
    m: int,
    *,
    sensitive: str,
    signatures: Sequence[Signature | None],
    domain: Sequence[str] = (),
) -> Republication:
    """Group the people of a new release so that the sequence of releases stays m-invariant.

    The number of counterfeits is the least possible. People with like quasi-identifiers are put together as
    far as that allows; the loss is not proven to be the least.

    Args:
        table: everybody who is to be in the new release, with the roles of the columns.
        m: how many values every group has, as in the earlier releases.
        sensitive: the sensitive column.
        signatures: for each person the values of her group in earlier releases, None for a newcomer
            (see `History.signatures`).
        domain: further values of the sensitive column, for counterfeits.
    """
    require_whole("m-invariance", "m", m)
    values = _values(table, sensitive)
    known = list(dict.fromkeys([*(v for v, _ in Counter(values).most_common()), *domain]))
    for signature in signatures:
        known += sorted(value for value in signature or () if value not in known)
    require(
        len(known) >= m,
        "risk.m-invariance-m-needs",
        "m-invariance with m = {m} needs {m} different values of '{sensitive}'",
        m=m,
        sensitive=sensitive,
    )
    _refuse_broken(values, signatures, m)
    near = _order(table)
    waiting: dict[str, list[int]] = {value: [] for value in known}
    for person in near:
        if signatures[person] is None:
            waiting[values[person]].append(person)
    groups: list[list[int]] = []
    wanted: list[Signature] = []
    staying: dict[Signature, dict[str, list[int]]] = {}
    for person in near:
        signature = signatures[person]
        if signature is not None:
            places = staying.setdefault(signature, {value: [] for value in sorted(signature)})
            places[values[person]].append(person)
    for signature in sorted(staying, key=sorted):
        places = staying[signature]
        number = max(map(len, places.values()))
        for value, people in places.items():
            free = number - len(people)
            people += waiting[value][:free]
            waiting[value] = waiting[value][free:]
        groups += [[people[i] for people in places.values() if i < len(people)] for i in range(number)]
        wanted += [signature] * number
    for newcomers in _dealt(waiting, m):
        groups.append(newcomers)
        wanted.append(_filled({values[person] for person in newcomers}, known, m))
    counterfeits = [
        tuple(sorted(signature - {values[person] for person in people}))
        for people, signature in zip(groups, wanted, strict=True)
    ]
    return Republication(tuple(map(tuple, groups)), tuple(counterfeits), m)


def _values(table: Table, sensitive: str) -> list[str]:
    column = encode(table, [sensitive])[sensitive]
    return [column.labels[code] for code in column.codes.tolist()]


def _refuse_broken(values: Sequence[str], signatures: Sequence[Signature | None], m: int) -> None:
    require(
        len(values) == len(signatures),
        "risk.give-signature-everybody-none",
        "give the signature of everybody, None for a newcomer",
    )
    wrong = sum(signature is not None and len(signature) != m for signature in signatures)
    if wrong:
        raise ParameterError(
            "risk.people-not-values-earlier",
            "{wrong} people had not {m} values in their earlier group: m must stay the same",
            wrong=wrong,
            m=m,
        )
    pairs = zip(values, signatures, strict=True)
    changed = sum(signature is not None and value not in signature for value, signature in pairs)
    if changed:
        raise ParameterError(
            "risk.sensitive-value-people-none",
            "the sensitive value of {changed} people is none of those in their earlier group: m-invariance "
            "does not protect values that change; leave these people out",
            changed=changed,
        )


def _order(table: Table) -> list[int]:
    """All people, those with like quasi-identifiers near each other."""
    columns = [column.codes.tolist() for column in encode(table, table.quasi_identifiers).values()]
    return sorted(range(table.num_rows), key=lambda person: [codes[person] for codes in columns])


def _dealt(waiting: Mapping[str, list[int]], m: int) -> list[list[int]]:
    """Newcomers in the fewest groups of at most m people with different values."""
    by_value = sorted((people for people in waiting.values() if people), key=len, reverse=True)
    number = max([*map(len, by_value), -(-sum(map(len, by_value)) // m)], default=0)
    dealt: list[list[int]] = [[] for _ in range(number)]
    for place, person in enumerate(person for people in by_value for person in people):
        dealt[place % number].append(person)
    return dealt


def _filled(values: set[str], known: Sequence[str], m: int) -> Signature:
    """Values with the most frequent others that make them m."""
    others = [value for value in known if value not in values]
    return frozenset([*values, *others[: m - len(values)]])
