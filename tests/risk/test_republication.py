"""m-invariant republication with joining and leaving people, against brute force and attackers."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.risk import Target
from tarnkappe.risk.attacks import Background, ComplementaryRelease
from tarnkappe.risk.continuation import continues
from tarnkappe.risk.history import ReleaseHistory
from tarnkappe.risk.republication import Republication, republish
from tarnkappe.state import Key, Store
from tarnkappe.table import Table
from tarnkappe_bench.m_invariance import m_invariance

VALUES = ["flu", "cold", "ulcer", "fever"]


def people(rows: list[tuple[str, int, str]]) -> Table:
    names, ages, diseases = zip(*rows, strict=True)
    data = pa.table({"name": names, "age": [str(age) for age in ages], "disease": diseases})
    return Table(data).with_roles(identifiers=["name"], quasi_identifiers=["age"], sensitive=["disease"])


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for smaller in partitions(rest):
        yield [[first], *smaller]
        for index, block in enumerate(smaller):
            yield [*smaller[:index], [first, *block], *smaller[index + 1 :]]


def fewest_counterfeits(values: list[str], signatures: list[frozenset[str] | None], m: int) -> int:
    """By trying all ways to group the people."""

    def allowed(block: list[int]) -> bool:
        shown = [values[i] for i in block]
        wanted = {signatures[i] for i in block} - {None}
        distinct = len(set(shown)) == len(shown) <= m
        return distinct and len(wanted) <= 1 and all(set(shown) <= (s or set()) for s in wanted)

    ways = [p for p in partitions(list(range(len(values)))) if all(map(allowed, p))]
    return min(len(way) for way in ways) * m - len(values)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[frozenset[str] | None], int]:
    m = draw(st.integers(1, 3))
    values = draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=6))
    signatures: list[frozenset[str] | None] = []
    for value in values:
        if draw(st.booleans()):
            others = draw(st.permutations([v for v in VALUES if v != value]))
            signatures.append(frozenset([value, *others[: m - 1]]))
        else:
            signatures.append(None)
    return values, signatures, m


@given(tables())
def test_no_grouping_needs_fewer_counterfeits(
    case: tuple[list[str], list[frozenset[str] | None], int],
) -> None:
    values, signatures, m = case
    table = people([(f"P{i}", i, value) for i, value in enumerate(values)])
    found = republish(table, m, sensitive="disease", signatures=signatures, domain=VALUES)
    assert found.num_counterfeits == fewest_counterfeits(values, signatures, m)
    assert sorted(person for group in found.groups for person in group) == list(range(len(values)))
    for group, extra in zip(found.groups, found.counterfeits, strict=True):
        shown = {values[person] for person in group} | set(extra)
        assert len(shown) == m == len(group) + len(extra)
        assert all(signatures[person] in (None, shown) for person in group)


@st.composite
def lives(draw: st.DrawFn) -> list[list[tuple[str, int, str]]]:
    """Who is there at several times; some join, some leave, some come back."""
    everybody = [
        (f"P{i}", draw(st.integers(20, 40)), draw(st.sampled_from(VALUES)))
        for i in range(draw(st.integers(2, 7)))
    ]
    times = draw(st.integers(2, 4))
    some = st.lists(st.sampled_from(everybody), unique=True, min_size=1)
    return [draw(some) for _ in range(times)]


@given(lives(), st.integers(2, 3))
@settings(max_examples=40)
def test_a_sequence_of_republications_is_m_invariant_and_no_attack_succeeds(
    life: list[list[tuple[str, int, str]]], m: int
) -> None:
    history = ReleaseHistory(Store.in_memory(), Key(bytes(32)), "town")
    earlier: dict[str, Table] = {}
    owner: list[pa.Table] = []
    for number, rows in enumerate(life):
        table = people(rows)
        signatures = history.signatures(table, "disease", VALUES)
        made = republish(table, m, sensitive="disease", signatures=signatures, domain=VALUES)
        released = made.release(table, "disease")
        target = Target.of(released.table, Background(people=released.people))
        owner.append(whose(table, made))
        assert history.check(target, k=1, diversity=m).safe
        history.record(f"release {number}", target, counterfeits=made.num_counterfeits)
        staying = [name for name, *_ in rows if all(name in [n for n, *_ in r] for r in life[: number + 1])]
        if earlier and staying:
            everywhere = table.data.filter(pc.is_in(table.data["name"], pa.array(staying)))
            attacked = Target.of(
                released.table, Background(people=Table(everywhere, table.roles), earlier=earlier)
            )
            assert not ComplementaryRelease("disease").run(attacked).succeeds
            assert continues(attacked, k=1, diversity=m).safe
        earlier[f"release {number}"] = released.table
    broken = m_invariance(owner, m, person="name", groups=["group"], sensitive="disease")
    assert broken == []


def whose(table: Table, made: Republication) -> pa.Table:
    """The release as the owner knows it: whose row it is, nobody's for counterfeits."""
    rows = table.data.to_pylist()
    entries = [
        (rows[person]["name"], str(number), rows[person]["disease"])
        for number, group in enumerate(made.groups)
        for person in group
    ]
    entries += [
        (None, str(number), value) for number, extra in enumerate(made.counterfeits) for value in extra
    ]
    names, groups, values = zip(*entries, strict=True)
    return pa.table({"name": pa.array(names, pa.string()), "group": groups, "disease": values})


def test_the_published_example_is_repaired_by_republication() -> None:
    """After the second release Clive has diabetes for certain; published m-invariantly he keeps 3 values."""
    first = people([("Alina", 20, "flu"), ("Bill", 21, "cold"), ("Clive", 21, "ulcer")])
    second = people([("Jill", 20, "fever"), ("Ken", 21, "fever"), ("Clive", 21, "ulcer")])
    history = ReleaseHistory(Store.in_memory(), Key(bytes(32)), "town")
    made = republish(first, 3, sensitive="disease", signatures=[None] * 3)
    assert made.num_counterfeits == 0
    released = made.release(first, "disease")
    history.record("first", Target.of(released.table, Background(people=released.people)))
    with pytest.raises(ParameterError, match="the domain lacks"):
        history.signatures(second, "disease", ["fever", "ulcer"])
    signatures = history.signatures(second, "disease", VALUES)
    assert signatures == [None, None, frozenset({"flu", "cold", "ulcer"})]
    again = republish(second, 3, sensitive="disease", signatures=signatures)
    # Clive's group needs flu and cold again, which nobody has any more; the two fevers may not meet.
    assert again.num_counterfeits == 6
    released = again.release(second, "disease")
    target = Target.of(released.table, Background(people=released.people))
    assert history.check(target, k=1, diversity=3).safe
    naive = Table(second.data.drop_columns("name")).with_roles(
        quasi_identifiers=["age"], sensitive=["disease"]
    )
    assert not history.check(Target.of(naive, Background(people=second)), k=1, diversity=2).safe


def test_a_counterfeit_looks_like_any_other_row() -> None:
    table = people([("Ann", 30, "flu"), ("Bob", 34, "flu"), ("Cem", 31, "cold")])
    released = republish(table, 2, sensitive="disease", signatures=[None] * 3).release(table, "disease")
    assert released.table.num_rows == 4
    cells = released.table.data.select(["age", released.group]).to_pylist()
    assert all(cells.count(row) == 2 for row in cells)
    assert "name" not in released.table.column_names
    assert released.people.data.column("name").to_pylist() == ["Ann", "Bob", "Cem"]


def test_what_is_refused() -> None:
    table = people([("Ann", 30, "flu"), ("Bob", 34, "cold")])
    with pytest.raises(ParameterError, match="needs 3 different values"):
        republish(table, 3, sensitive="disease", signatures=[None, None])
    with pytest.raises(ParameterError, match="1 people had not 2 values"):
        republish(table, 2, sensitive="disease", signatures=[frozenset({"flu"}), None])
    with pytest.raises(ParameterError, match="sensitive value of 1 people"):
        republish(table, 2, sensitive="disease", signatures=[frozenset({"cold", "ulcer"}), None])
    with pytest.raises(ParameterError, match="None for a newcomer"):
        republish(table, 2, sensitive="disease", signatures=[None])
