"""Packages together: the joint release of all of them keeps k and l, by a plain twin (traps: history)."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import InputError
from tarnkappe.exchange import Thresholds
from tarnkappe.exchange.checking.told import Told
from tarnkappe.exchange.desk import PatientRegister
from tarnkappe.exchange.desk.earlier import EarlierReleases
from tarnkappe.exchange.desk.exposure import Trails
from tarnkappe.exchange.desk.tables import TRAILS
from tarnkappe.state import Key, Store
from tarnkappe.table import Role, Table

PATIENTS = [f"P{number}" for number in range(12)]
LIMITS = Thresholds(k=2, l=2, base=2)
KEY = Key(bytes(32))
NOTHING = Told.none()
"""Here only the groups of people in packages are compared; what is told of everybody has tests of its own."""


def package(groups: dict[str, int], **columns: dict[str, str]) -> tuple[Table, list[str]]:
    who = sorted(groups)
    data = {"group": [f"g{groups[p]}" for p in who]}
    data |= {name: [said[p] for p in who] for name, said in columns.items()}
    roles = {"group": Role.QUASI_IDENTIFIER, **dict.fromkeys(columns, Role.SENSITIVE)}
    return Table(pa.table(data), roles), who


class House:
    """What has left an institution, without the rest of it."""

    def __init__(self) -> None:
        self.store, self._sent = Store.in_memory(), 0
        self.register = PatientRegister(self.store, KEY)
        self.earlier = EarlierReleases(self.store, KEY, self.register, "B")

    def objection(self, made: tuple[Table, list[str]], to: str = "A", limits: Thresholds = LIMITS) -> str:
        release, patients = made
        with self.store.reading() as connection:
            marks = self.register.marks(patients)
            return self.earlier.objection_within(connection, release, marks, limits, to, NOTHING)

    def accept(self, made: tuple[Table, list[str]], to: str = "A") -> str:
        self._sent += 1
        digest = str(self._sent)
        with self.store.writing() as connection:
            self.earlier.accept(connection, digest, made[0], self.register.marks(made[1]), to, NOTHING)
        return digest

    def leave(self, made: tuple[Table, list[str]], to: str = "A") -> None:
        digest = self.accept(made, to)
        with self.store.writing() as connection:
            self.earlier.leave(connection, digest)

    def kept(self) -> list[bytes]:
        with self.store.reading() as connection:
            return list(connection.execute(sa.select(TRAILS.c.trails).order_by(TRAILS.c.recipient)).scalars())


packages = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(PATIENTS), st.integers(0, 2), min_size=2, max_size=12), st.booleans()
    ),
    min_size=1,
    max_size=4,
)
illnesses = st.fixed_dictionaries({p: st.sampled_from(["flu", "gout", "ms"]) for p in PATIENTS})


@given(packages, illnesses, st.booleans())
@settings(max_examples=25)
def test_a_package_may_follow_if_all_together_are_like_one_good_package(several, ill, left: bool) -> None:
    """A joint group is good if it has k people and, if any package told illnesses of it, l of them."""
    house = House()
    trails: dict[str, tuple] = {}
    told: set[str] = set()
    for number, (groups, tells) in enumerate(several):
        made = package(groups, ill=ill) if tells else package(groups)
        before = {p: trails.get(p, (None,) * number) for p in {*trails, *groups}}
        joined = {p: (*before[p], groups.get(p)) for p in before}
        known = told | set(groups) if tells else told
        touched = {before[p] for p in groups if p in trails}
        looked_at = [p for p in joined if p in groups or (p in trails and before[p] in touched)]
        sizes = Counter(joined[p] for p in looked_at)
        values = [
            {ill[p] for p in looked_at if joined[p] == trail and p in known}
            for trail in {joined[p] for p in looked_at if p in known}
        ]
        good = min(sizes.values()) >= 2 and min(map(len, values), default=2) >= 2
        assert (house.objection(made) == "") == (
            good or not number
        )  # the first is taken care of by the check
        (house.leave if left else house.accept)(made)
        trails, told = joined, known


SIX = dict.fromkeys(PATIENTS[:6], 0)
ILL = dict(zip(PATIENTS, ["flu", "flu", "flu", "gout", "gout", "gout"] * 2, strict=True))


def test_a_package_without_illnesses_must_not_split_an_earlier_one_that_told_them() -> None:
    """Those who have flu in one group, those with gout in another: the earlier package tells who has what."""
    house = House()
    house.leave(package(SIX, ill=ILL))
    by_illness = package({p: ILL[p] == "flu" for p in SIX})
    assert "sensitive values" in house.objection(by_illness)
    assert house.objection(package({p: int(p[1:]) % 2 for p in SIX})) == ""


def test_who_is_left_out_of_a_package_must_not_be_given_away_by_it() -> None:
    house = House()
    house.leave(package(SIX, ill=ILL))
    some = {p: 0 for p in SIX if ILL[p] == "flu"}
    assert "sensitive values" in house.objection(package(some))


def test_asking_again_must_not_bring_back_what_was_suppressed() -> None:
    """Each time other cells are suppressed; all answers together would show the whole second column."""
    house = House()
    drug = {p: {"flu": "a", "gout": "b"}[ILL[p]] for p in SIX}
    every = list(SIX)
    shown = [dict.fromkeys(SIX, "*") | {p: drug[p] for p in half} for half in (every[::2], every[1::2])]
    house.leave(package(SIX, ill=ILL))
    assert house.objection(package(SIX, drug=shown[0])) != ""  # known with the illness, a drug gives it away
    other = House()
    other.leave(package(SIX, drug=dict.fromkeys(SIX, "*")))
    assert other.objection(package(SIX, ill=ILL)) == ""


def test_what_was_told_differently_is_kept_beside_it() -> None:
    house = House()
    house.leave(package(SIX, ill=ILL))
    later = {p: "ms" if p == "P0" else ILL[p] for p in SIX}
    house.leave(package(SIX, ill=later))
    assert set(Trails.from_bytes(house.kept()[0]).values) == {"ill", "ill'"}
    only = {p: int(ILL[p] == "flu") for p in SIX}  # now {ms, flu, flu} are diverse, then they were not
    assert "sensitive values" in house.objection(package(only))


def test_institutions_may_be_trusted_not_to_compare_packages() -> None:
    trusting = Thresholds(k=2, l=2, base=2, together="recipient")
    house = House()
    house.leave(package(SIX, ill=ILL), "A")
    by_illness = package({p: ILL[p] == "flu" for p in SIX})
    assert house.objection(by_illness, "C", LIMITS) != ""
    assert house.objection(by_illness, "C", trusting) == ""
    assert house.objection(by_illness, "A", trusting) != ""
    house.accept(by_illness, "C")
    assert house.objection(package(SIX, ill=ILL), "C", trusting) != ""  # not left yet, and counted


def test_the_joint_groups_may_be_asked_to_be_larger_or_smaller_than_those_of_one_package() -> None:
    house = House()
    house.leave(package(dict.fromkeys(PATIENTS, 0)))
    halves = package({p: int(p[1:]) // 4 for p in PATIENTS})
    for asked, may in ((3, True), (4, True), (5, False)):
        assert (house.objection(halves, limits=Thresholds(k=4, base=4, joint_k=asked)) == "") is may


def test_groups_that_a_package_says_nothing_of_do_not_count_against_it() -> None:
    """Else a package with small groups would keep every other one from being released for teaching."""
    house = House()
    house.leave(package(dict.fromkeys(PATIENTS[:2], 0)))
    rest = package(dict.fromkeys(PATIENTS[2:], 0))
    assert house.objection(rest, limits=Thresholds(k=8, base=8)) == ""


def test_a_package_that_did_not_leave_is_as_if_it_had_never_been() -> None:
    house = House()
    digest = house.accept(package(SIX, ill=ILL))
    rest = package(dict.fromkeys(PATIENTS[1:6], 0), ill=ILL)
    assert house.objection(rest) != ""
    with house.store.writing() as connection:
        house.earlier.take_back(connection, digest)
    assert house.objection(rest) == ""


def test_what_is_kept_of_packages_can_be_read_by_nobody_without_the_key() -> None:
    house = House()
    house.leave(package(SIX, ill=ILL))
    kept = b"".join(house.kept())
    assert b"flu" not in kept
    assert b"P0" not in kept


def test_damaged_trails_let_nothing_out() -> None:
    house = House()
    house.leave(package(SIX, ill=ILL))
    with house.store.writing() as connection:
        connection.execute(TRAILS.update().values(trails=b"x"))
    with pytest.raises(InputError, match="damaged"):
        house.objection(package(SIX))
