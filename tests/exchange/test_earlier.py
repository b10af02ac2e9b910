"""Packages together: the joint release of all of them keeps k and l, by a plain twin."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.exchange import Thresholds
from tarnkappe.exchange.desk import PatientRegister
from tarnkappe.exchange.desk.earlier import EarlierReleases
from tarnkappe.state import Key, Store
from tarnkappe.table import Role, Table

PATIENTS = [f"P{number}" for number in range(12)]
LIMITS = Thresholds(k=2, l=2, base=2)


def package(groups: dict[str, int], ill: dict[str, str]) -> tuple[Table, list[str]]:
    who = sorted(groups)
    data = pa.table({"group": [f"g{groups[p]}" for p in who], "ill": [ill[p] for p in who]})
    return Table(data, {"group": Role.QUASI_IDENTIFIER, "ill": Role.SENSITIVE}), who


packages = st.lists(
    st.dictionaries(st.sampled_from(PATIENTS), st.integers(0, 2), min_size=2, max_size=12),
    min_size=1,
    max_size=4,
)
illnesses = st.fixed_dictionaries({p: st.sampled_from(["flu", "gout", "ms"]) for p in PATIENTS})


@given(packages, illnesses)
@settings(max_examples=25)
def test_a_package_may_follow_if_all_together_are_like_one_good_package(several, ill) -> None:
    store = Store.in_memory()
    register = PatientRegister(store, Key(bytes(32)))
    earlier = EarlierReleases(store, register, "B")
    trails: dict[str, tuple] = {}
    for number, groups in enumerate(several):
        release, who = package(groups, ill)
        everybody = set(trails) | set(groups)
        joined = {p: (*trails.get(p, (None,) * number), groups.get(p)) for p in everybody}
        sizes = Counter(joined.values())
        values = {
            trail: {ill[p] for p in groups if joined[p] == trail} for trail in (joined[p] for p in groups)
        }
        good = min(sizes.values()) >= 2 and min(map(len, values.values())) >= 2
        objection = earlier.objection(release, who, LIMITS)
        if number:  # of the first alone the check itself takes care
            assert (objection == "") == good
        else:
            assert objection == ""
        with store.writing() as connection:
            earlier.remember(connection, release, register.marks(who))
        trails = joined
