"""S7 to S9: packages are protected, verified by other code, and nothing unverified can be recommended
(checklist 2, 37, 41)."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import InputError
from tarnkappe.exchange import Attribute, CheckVerdict, Recommendation, Thresholds, check
from tarnkappe.exchange.checking import STEPS
from tarnkappe.exchange.checking.component import s9_verify
from tarnkappe.exchange.checking.protect import NotEnoughError, protect
from tarnkappe.exchange.checking.rarity import KnownAttribute
from tarnkappe.exchange.checking.unverified_package import UnverifiedPackage
from tarnkappe.exchange.checking.verify import Inquiry, Verified, verify
from tarnkappe.exchange.findings import CheckStep
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import Role, Table, read
from tarnkappe.table.encoding import encode_column
from tests.conftest import FIXTURES
from tests.exchange.scenes import ASKED, patients, request, surroundings

ROLES = {
    "id": Role.IDENTIFIER,
    "age": Role.QUASI_IDENTIFIER,
    "town": Role.QUASI_IDENTIFIER,
    "ill": Role.SENSITIVE,
}
AGES = Hierarchy.from_rows([[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(20, 60)])
TOWNS = Hierarchy.from_rows([[t, t[0] + "*", "*"] for t in ("A1", "A2", "B1", "B2")])


def known(data: pa.Table) -> list[KnownAttribute]:
    found = []
    for name, hierarchy in (("age", AGES), ("town", TOWNS)):
        column = encode_column(name, data.column(name))
        found.append(
            KnownAttribute(Attribute(name, Role.QUASI_IDENTIFIER), hierarchy.attach(column), hierarchy)
        )
    return found


def ward(rows) -> pa.Table:
    ids = [f"p{i}" for i in range(len(rows))]
    columns = list(zip(*rows, strict=True))
    return pa.table({"id": ids, "age": list(columns[0]), "town": list(columns[1]), "ill": list(columns[2])})


people = st.lists(
    st.tuples(
        st.integers(20, 59), st.sampled_from(["A1", "A2", "B1", "B2"]), st.sampled_from(["flu", "gout", "ms"])
    ),
    min_size=4,
    max_size=14,
)


def inquiry(data: pa.Table, draft: UnverifiedPackage, limits: Thresholds, **changes) -> Inquiry:
    values = {
        "draft": draft,
        "base": data,
        "known": known(data),
        "sensitive": ["ill"],
        "allowed": ("age", "town", "ill"),
        "identifiers": ("id",),
        "limits": limits,
        "least": limits.base,
        "detail": {},
    }
    return Inquiry(**{**values, **changes})


@given(people, st.integers(2, 4), st.integers(2, 3), st.sampled_from(["levels", "k-optimize"]))
@settings(max_examples=8)
def test_whatever_is_protected_is_verified_and_private_by_counting(
    rows, k: int, values: int, method: str
) -> None:
    data = ward(rows)
    limits = Thresholds(k=k, l=values, base=max(k, values), rare_local=1, method=method, seconds=1)
    enough = len(rows) >= max(k, values) and len({row[2] for row in rows}) >= values
    levels = {"age": 0, "town": 0}
    if not enough:
        with pytest.raises(NotEnoughError):
            protect(Table(data, ROLES), known(data), levels, ["ill"], limits)
        return
    draft = protect(Table(data, ROLES), known(data), levels, ["ill"], limits)
    names = list(draft.quasi_identifiers)
    groups: dict[tuple, list[str]] = {}
    for row in draft.release.data.to_pylist():
        groups.setdefault(tuple(row[name] for name in names), []).append(row["ill"])
    assert all(len(ills) >= k and len(set(ills)) >= values for ills in groups.values())
    assert sorted(draft.source_rows.tolist()) == list(range(len(rows)))  # nobody is invented, nobody left out
    verified, failures = verify(inquiry(data, draft, limits))
    assert failures == ()
    assert verified is not None
    assert (verified.k, verified.l) == (
        min(map(len, groups.values())),
        min(len(set(i)) for i in groups.values()),
    )


def good() -> tuple[pa.Table, UnverifiedPackage, Thresholds]:
    data = ward([(20 + i % 10, "A1" if i % 2 else "A2", ("flu", "gout")[i // 2 % 2]) for i in range(12)])
    limits = Thresholds(k=3, l=2, base=10)
    draft = protect(Table(data, ROLES), known(data), {"age": 1, "town": 0}, ["ill"], limits, seed=1)
    return data, draft, limits


def spoiled(draft: UnverifiedPackage, **columns) -> UnverifiedPackage:
    data = draft.release.data
    for name, cells in columns.items():
        data = data.set_column(data.column_names.index(name), name, pa.chunked_array([cells]))
    return dataclasses.replace(draft, release=Table(data, draft.release.roles))


def test_a_good_package_passes() -> None:
    data, draft, limits = good()
    verified, failures = verify(inquiry(data, draft, limits))
    assert failures == ()
    assert verified.release is draft.release


SPOILS = {
    "no_identifiers_in_cells": lambda draft: spoiled(
        draft, ill=pa.array([f"ann{i}@example.org" for i in range(12)])
    ),
    "only_what_was_allowed": lambda draft: dataclasses.replace(
        draft,
        release=Table(
            draft.release.data.append_column("id", pa.array([f"p{i}" for i in range(12)])),
            draft.release.roles,
        ),
    ),
    "enough_different_people": lambda draft: dataclasses.replace(draft, source_rows=np.zeros(12, np.int64)),
    "protected_groups": lambda draft: spoiled(draft, town=pa.array(["B1", *["A1"] * 11])),
    "true_cells": lambda draft: spoiled(draft, age=pa.array(["30-39"] * 12)),
    "no_rare_value": lambda draft: spoiled(draft, town=pa.array(["A1", *["A*"] * 11])),
    "attacks_fail": lambda draft: spoiled(draft, ill=pa.array(["flu"] * 12)),
}


@pytest.mark.parametrize("name", SPOILS)
def test_each_check_finds_its_own_fault(name: str) -> None:
    data, draft, limits = good()
    verified, failures = verify(inquiry(data, SPOILS[name](draft), limits))
    assert verified is None
    assert name.replace("_", " ") in " ".join(finding.text for finding in failures)


def test_more_detail_than_asked_for_is_found() -> None:
    data, draft, limits = good()
    assert verify(inquiry(data, draft, limits, detail={"town": 1}))[0] is None


def test_a_package_out_of_balance_is_found() -> None:
    from tarnkappe.exchange.statistics import PopulationDistribution

    data, draft, limits = good()
    rare_here = PopulationDistribution(("town",), {("A1",): 0.9, ("A2",): 0.1})
    uneven = [dataclasses.replace(k, selected=rare_here) if k.name == "town" else k for k in known(data)]
    strict = dataclasses.replace(limits, imbalance=0.2)
    assert "balance" in verify(inquiry(data, draft, strict, known=uneven))[1][0].text
    assert (
        verify(inquiry(data, draft, dataclasses.replace(limits, imbalance=0.5), known=uneven))[0] is not None
    )


def test_ranges_of_regions_that_overlap_are_not_out_of_balance() -> None:
    """Half of all write 20-29 and half 20-39: at least half are in their twenties, and that is all."""
    from tarnkappe.exchange.statistics import PopulationDistribution

    data, draft, limits = good()
    towns = data.column("town").take(pa.array(draft.source_rows)).to_pylist()
    cells = pa.array(["20-29" if town == "A1" else "20-39" for town in towns])
    draft = spoiled(draft, age=cells)
    strict = dataclasses.replace(limits, imbalance=0.2)

    def found(twenties: float):
        share = PopulationDistribution(("age",), {("20-29",): twenties, ("30-39",): 1 - twenties})
        known_now = [dataclasses.replace(k, selected=share) if k.name == "age" else k for k in known(data)]
        return " ".join(each.text for each in verify(inquiry(data, draft, strict, known=known_now))[1])

    assert "balance" not in found(0.6)
    assert "balance" not in found(1.0)
    assert "balance" in found(0.1)


def test_a_check_that_breaks_lets_nothing_out() -> None:
    data, draft, limits = good()

    def broken(_: Inquiry) -> str:
        raise RuntimeError("a secret: p1")

    verified, [failure] = verify(inquiry(data, draft, limits), [broken])
    assert verified is None
    assert "RuntimeError" in failure.text
    assert "p1" not in failure.text


def test_nobody_else_can_make_a_verified_package() -> None:
    data, draft, limits = good()
    verified, _ = verify(inquiry(data, draft, limits))
    with pytest.raises(TypeError, match="verification only"):
        Verified(draft.release, 99, 99, True, ())
    with pytest.raises(TypeError):
        dataclasses.replace(verified, k=99)


@pytest.mark.parametrize("verdict", [CheckVerdict.RELEASE, CheckVerdict.RELEASE_WITH_CHANGES])
def test_no_release_can_be_recommended_without_a_verified_package(verdict: CheckVerdict) -> None:
    with pytest.raises(TypeError, match="verified package"):
        Recommendation(request(), verdict, (), (), ())


@pytest.mark.parametrize("place", range(len(STEPS)))
@pytest.mark.parametrize("how", ["break", "skip"])
def test_a_failed_step_never_yields_a_release(place: int, how: str) -> None:
    def broken(_) -> CheckStep:
        raise InputError("test.problem", "the patient P05 has a problem")

    replaced = {"break": [broken], "skip": []}[how]
    found = check(request(), surroundings(), steps=(*STEPS[:place], *replaced, *STEPS[place + 1 :]))
    assert found.verdict is CheckVerdict.REFUSE
    assert found.package is None
    assert "P05" not in str(found.to_dict())


def test_a_package_that_fails_verification_is_refused() -> None:
    def tampered(case) -> CheckStep:
        case.draft = spoiled(case.draft, age=pa.array(["80-89"] * 12))
        return s9_verify(case)

    steps = tuple(tampered if step is s9_verify else step for step in STEPS)
    found = check(request(), surroundings(), steps=steps)
    assert found.verdict is CheckVerdict.REFUSE
    assert found.steps[-1].name == "S9"


@pytest.mark.parametrize("name", ["f-t1", "f-t2"])
def test_removing_names_is_not_anonymity(name: str) -> None:
    table = read(FIXTURES / "release-check" / f"{name}.csv").data
    known_to_all = ("PLZ", "Alter", "Nationalitaet")
    roles = dict.fromkeys(known_to_all, Role.QUASI_IDENTIFIER)
    data = table.select(list(known_to_all))
    draft = UnverifiedPackage(Table(data, roles), np.arange(12), (), {}, ())
    columns = []
    for name in known_to_all:
        column = encode_column(name, data.column(name))
        hierarchy = Hierarchy.from_rows([[label, "*root*"] for label in column.labels])
        columns.append(
            KnownAttribute(Attribute(name, Role.QUASI_IDENTIFIER), hierarchy.attach(column), hierarchy)
        )
    asked = Inquiry(draft, data, columns, [], known_to_all, (), Thresholds(k=2, base=2, rare_local=1), 2, {})
    verified, failures = verify(asked)
    assert verified is None
    assert any("k-anonymity" in failure.text for failure in failures)
    assert asked.measured[0].value == 1


def test_rows_come_in_an_order_that_tells_nothing() -> None:
    seen = Counter()
    for _ in range(6):
        data, _, limits = good()
        draft = protect(Table(data, ROLES), known(data), {"age": 1, "town": 0}, ["ill"], limits)
        seen[tuple(draft.source_rows.tolist())] += 1
    assert len(seen) == 6
    assert tuple(range(12)) not in seen


def test_a_second_sensitive_column_must_not_tell_the_first() -> None:
    rows = {f"P{i:02}": {"diagnosis": f"D{i % 2}", "medication": "X" if i % 2 else "Y"} for i in range(1, 14)}
    from tarnkappe.exchange import Anchor

    both = Anchor("medication", ("X", "Y"))
    found = check(request(*ASKED, "medication", anchor=both), surroundings(patients(**rows)))
    assert "medication" not in found.package.release.column_names
    assert "diagnosis" in found.package.release.column_names


def test_a_sensitive_column_that_is_the_same_for_all_is_withheld() -> None:
    rows = {f"P{i:02}": {"diagnosis": "D1"} for i in range(1, 14)}
    found = check(request(), surroundings(patients(**rows)))
    assert "diagnosis" not in found.package.release.column_names
    assert found.package.l is None
    alone = check(request("diagnosis"), surroundings(patients(**rows)))
    assert alone.verdict is CheckVerdict.REFUSE
    assert "diversity" in alone.steps[-1].reply


def test_conspicuous_features_are_hidden_among_as_many_others() -> None:
    from tarnkappe.exchange import AttributeCatalogue
    from tests.exchange.scenes import FIXTURE

    attributes = {**FIXTURE["catalogue"]["attributes"]}
    attributes["diagnosis"] = {**attributes["diagnosis"], "conspicuous": ["D3"]}
    around = surroundings(catalogue=AttributeCatalogue.from_dict({"attributes": attributes}))
    found = check(request("diagnosis"), around)
    cells = Counter(found.package.release.data.column("diagnosis").to_pylist())
    assert "D3" not in cells
    assert cells["*"] >= 2 * 3
