"""What l distinct values do not say: shares, hidden cells, and classes that were changed."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import JobError, ParameterError
from tarnkappe.exchange import Anchor, AttributeCatalogue, CheckVerdict, Institution, SitePolicy, check
from tarnkappe.exchange.checking.cover import covered
from tarnkappe.exchange.checking.unverified_package import UnverifiedPackage
from tarnkappe.exchange.reports import physician_report
from tarnkappe.state import Key
from tarnkappe.table import Role, Table
from tests.exchange.scenes import FIXTURE, request, surroundings
from tests.exchange.test_desk import desk
from tests.exchange.test_selection_is_told import person

KEY = Key(bytes(32))


def men(ill: int, others: int, **limits):
    """Men who take X, with one disease or another, and as many who take something else."""
    people = [person(n, "M", "HIV" if n < ill else "flu") for n in range(ill + others)]
    people += [person(1000 + n, "M", ("HIV", "flu")[n % 2], "Y") for n in range(ill + others)]
    policy = {"thresholds": {"k": 5, "l": 2, "base": 20, "method": "levels", **limits}}
    house = Institution("B", pa.Table.from_pylist(people), "id")
    return check(request("sex", "diagnosis"), surroundings(policy=policy, institution=house))


@pytest.mark.parametrize(("ill", "shown"), [(99, False), (81, False), (80, True), (50, True)])
def test_one_value_has_at_most_its_share_of_a_group(ill: int, shown: bool) -> None:
    found = men(ill, 100 - ill)
    assert found.package is not None
    assert ("diagnosis" in found.package.release.column_names) is shown
    assert "diagnosis" in men(ill, 100 - ill, share=1.0).package.release.column_names


@given(
    st.lists(st.sampled_from(["HIV", "flu", "gout"]), min_size=30, max_size=60), st.sampled_from([0.5, 0.8])
)
@settings(max_examples=8)
def test_no_group_of_a_package_has_a_value_more_often_than_its_share(ill: list[str], share: float) -> None:
    people = [person(n, "MW"[n % 2], value, age=40 + 10 * (n % 3)) for n, value in enumerate(ill)]
    people += [{**each, "id": f"{each['id']}-1", "medication": "Y"} for each in people]
    policy = {"thresholds": {"k": 5, "l": 2, "base": 20, "share": share, "method": "levels"}}
    house = Institution("B", pa.Table.from_pylist(people), "id")
    found = check(request("sex", "age", "diagnosis"), surroundings(policy=policy, institution=house))
    if found.package is None or "diagnosis" not in found.package.release.column_names:
        return
    groups: dict[tuple, Counter] = {}
    for row in found.package.release.data.to_pylist():
        said = row.pop("diagnosis")
        groups.setdefault(tuple(map(str, row.values())), Counter())[said] += 1
    for counts in groups.values():
        assert max(counts.values()) <= share * sum(counts.values()) + 1e-9


def with_conspicuous(*values: str) -> AttributeCatalogue:
    attributes = dict(FIXTURE["catalogue"]["attributes"])
    attributes["diagnosis"] = {**attributes["diagnosis"], "conspicuous": list(values), "selects": True}
    return AttributeCatalogue.from_dict({"attributes": attributes})


def test_nobody_is_selected_by_a_conspicuous_value() -> None:
    for values in (("D3",), ("D1", "D3")):
        sent = request("sex", anchor=Anchor("diagnosis", values))
        found = check(sent, surroundings(catalogue=with_conspicuous("D3")))
        assert (found.verdict, found.steps[-1].name) == (CheckVerdict.REFUSE, "S1")


def draft(cells: list[tuple[str, str]]) -> UnverifiedPackage:
    data = pa.table({"sex": [sex for sex, _ in cells], "ill": [ill for _, ill in cells]})
    table = Table(data, {"sex": Role.QUASI_IDENTIFIER, "ill": Role.SENSITIVE})
    return UnverifiedPackage(table, pa.array(range(len(cells))).to_numpy(), (), {}, ())


groups = st.lists(st.tuples(st.sampled_from("MW"), st.sampled_from(["*", "flu", "gout", "ms"])), min_size=1)


@given(groups, st.sampled_from([0.25, 0.5, 1.0]), st.randoms())
def test_hidden_cells_hide_others_too_and_depend_on_the_values_alone(cells, cover: float, draw) -> None:
    anchor = Anchor("medication", ("X",))
    found = covered(draft(cells), ["ill"], cover, KEY, anchor).release.data
    for sex in "MW":
        before = [ill for own, ill in cells if own == sex]
        after = [row["ill"] for row in found.to_pylist() if row["sex"] == sex]
        stars = after.count("*")
        assert before.count("*") <= cover * stars + 1e-9 or stars == len(after)
        assert (stars == 0) == (before.count("*") == 0)
    other = list(cells)
    draw.shuffle(other)
    again = covered(draft(other), ["ill"], cover, KEY, anchor).release.data
    assert Counter(map(str, found.to_pylist())) == Counter(map(str, again.to_pylist()))


def test_a_column_whose_conspicuous_values_cannot_be_hidden_is_withheld() -> None:
    """All but a few have one: hidden among others, no others are left."""
    people = [person(n, "M", "D3" if n < 20 else f"D{n % 2}") for n in range(24)]
    people += [{**each, "id": f"{each['id']}-1", "medication": "Y"} for each in people]
    house = Institution("B", pa.Table.from_pylist(people), "id")
    found = check(
        request("sex", "diagnosis"), surroundings(institution=house, catalogue=with_conspicuous("D3"))
    )
    assert found.package is not None
    assert "diagnosis" not in found.package.release.column_names


def test_conspicuous_values_of_a_quasi_identifier_are_no_silent_promise() -> None:
    with pytest.raises((ParameterError, JobError), match="conspicuous"):
        AttributeCatalogue.from_dict(
            {"attributes": {"job": {"role": "quasi-identifier", "conspicuous": ["spy"]}}}
        )


LAXER = {
    "weight": Role.INSENSITIVE,
    "age": Role.SENSITIVE,
    "diagnosis": Role.INSENSITIVE,
    "medication": Role.QUASI_IDENTIFIER,
}


@pytest.mark.parametrize(("name", "role"), LAXER.items(), ids=LAXER)
def test_a_class_that_protects_less_needs_a_reason(name: str, role: Role) -> None:
    with pytest.raises(ParameterError, match="less_protected"):
        check(request(), surroundings(), roles={name: role})
    with pytest.raises(ParameterError, match="less_protected"):
        check(request(), surroundings(), roles={name: role}, less_protected={name: " "})


@pytest.mark.parametrize("role", [Role.QUASI_IDENTIFIER, Role.INSENSITIVE, Role.SENSITIVE])
def test_no_reason_makes_a_name_harmless(role: Role) -> None:
    with pytest.raises(ParameterError, match="by itself"):
        check(request(), surroundings(), roles={"name": role}, less_protected={"name": "It is nice."})


def test_who_reads_the_recommendation_the_report_or_the_log_sees_that_a_class_was_changed() -> None:
    at, sent = desk(), request()
    at.receive(sent)
    why = {"weight": "Nobody knows it."}
    found = at.check(sent.digest, "Stew", roles={"weight": Role.INSENSITIVE}, less_protected=why)
    expected = {
        "attribute": "weight",
        "was": "quasi-identifier",
        "now": "insensitive",
        "reason": "Nobody knows it.",
    }
    assert found.to_dict()["reclassified"] == [expected]
    text = physician_report(at.recommendation(sent.digest), sent.to_dict())
    assert "weight: insensitive instead of quasi-identifier, because: Nobody knows it." in text
    [entry] = [entry for entry in at.log.entries() if entry.event == "request checked"]
    assert entry.details["reclassified"] == [expected]


def test_everything_called_insensitive_does_not_make_unique_people_harmless() -> None:
    """The catalogue still knows what others may know: whoever is unique would be told by being selected."""
    names = ("age", "sex", "weight", "origin", "occupation")
    found = check(
        request(),
        surroundings(),
        roles=dict.fromkeys(names, Role.INSENSITIVE),
        less_protected=dict.fromkeys(names, "I say so."),
    )
    rows = [] if found.package is None else found.package.release.data.select(names).to_pylist()
    assert not rows or min(Counter(map(str, rows)).values()) > 1


def test_the_thresholds_are_shares() -> None:
    for name in ("share", "cover"):
        for wrong in (0, 1.1, "half", True):
            with pytest.raises((ParameterError, JobError), match=name):
                SitePolicy.from_dict({"thresholds": {name: wrong}})
