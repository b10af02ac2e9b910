"""Catalogue, request, policy and network: what they take, what they refuse (checklist 1, 32, 40)."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import JobError, ParameterError, TarnkappeError
from tarnkappe.exchange import (
    Anchor,
    Attribute,
    AttributeCatalogue,
    DataRequest,
    Network,
    Purpose,
    SitePolicy,
    Thresholds,
    Wanted,
)
from tarnkappe.exchange.request import Operation
from tarnkappe.table import Role
from tests.exchange.scenes import FIXTURE, request

CATALOGUE = """
[attributes.insurance]
role = "identifier"
identifier_kind = 9
[attributes.age]
role = "quasi-identifier"
hierarchy = {builder = "intervals", width = 10}
purposes = ["research"]
[attributes.diagnosis]
role = "sensitive"
selects = true
special_category = "health"
conspicuous = ["F10"]
damage = 10
[attributes.ward]
role = "insensitive"
"""


def test_a_catalogue_has_the_four_classes(tmp_path: Path) -> None:
    (tmp_path / "catalogue.toml").write_text(CATALOGUE)
    catalogue = AttributeCatalogue.load(tmp_path / "catalogue.toml")
    assert {each.name: each.role for each in catalogue} == {
        "insurance": Role.IDENTIFIER,
        "age": Role.QUASI_IDENTIFIER,
        "diagnosis": Role.SENSITIVE,
        "ward": Role.INSENSITIVE,
    }
    assert catalogue["age"].purposes == {Purpose.RESEARCH}
    assert catalogue["diagnosis"].conspicuous == ("F10",)


def test_classes_can_be_overridden_for_one_request_but_an_identifier_stays_one() -> None:
    catalogue = AttributeCatalogue.from_dict(FIXTURE["catalogue"])
    changed = catalogue.override({"origin": Role.SENSITIVE})
    assert changed["origin"].role is Role.SENSITIVE
    assert catalogue["origin"].role is Role.QUASI_IDENTIFIER
    with pytest.raises(ParameterError, match="identifies a person"):
        catalogue.override({"name": Role.INSENSITIVE})
    with pytest.raises(ParameterError, match="no attribute 'shoes'"):
        catalogue.override({"shoes": Role.SENSITIVE})


@pytest.mark.parametrize(
    ("section", "error"),
    [
        ({"role": "secret"}, "unknown role"),
        ({"role": "sensitive", "rolle": 1}, "unknown key"),
        ({"title": "x"}, "with a role"),
        ({"role": "identifier", "selects": True}, "nobody may be selected"),
        ({"role": "sensitive", "purposes": ["fun"]}, "fun"),
        ({"role": "sensitive", "identifier_kind": 19}, "19"),
        ({"role": "sensitive", "damage": -1}, "damage"),
    ],
)
def test_a_wrong_catalogue_is_refused(section: dict, error: str) -> None:
    with pytest.raises(TarnkappeError, match=error):
        AttributeCatalogue.from_dict({"attributes": {"x": section}})


def test_a_catalogue_knows_no_attribute_twice() -> None:
    with pytest.raises(ParameterError, match="twice"):
        AttributeCatalogue([Attribute("a", Role.SENSITIVE), Attribute("a", Role.SENSITIVE)])


texts = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=8)


@st.composite
def requests(draw: st.DrawFn) -> DataRequest:
    names = draw(st.lists(texts, min_size=1, max_size=5, unique=True))
    return DataRequest(
        draw(texts),
        draw(texts),
        draw(texts),
        draw(st.sampled_from(Purpose)),
        draw(st.text(max_size=20).filter(str.isprintable)),
        Anchor(draw(texts), tuple(draw(st.lists(texts, min_size=1, max_size=3, unique=True)))),
        tuple(Wanted(n, draw(st.floats(0, 1)), draw(st.integers(0, 4))) for n in names),
        draw(st.booleans()),
        draw(st.sampled_from(Operation)),
        {"approval": draw(texts)} if draw(st.booleans()) else {},
    )


@given(requests())
@settings(max_examples=40)
def test_a_request_survives_being_sent(sent: DataRequest) -> None:
    received = DataRequest.from_dict(sent.to_dict())
    assert received == sent
    assert received.digest == sent.digest


@given(requests(), requests())
@settings(max_examples=30)
def test_any_change_of_a_request_changes_its_digest(one: DataRequest, other: DataRequest) -> None:
    for field in dataclasses.fields(DataRequest):
        value = getattr(other, field.name)
        changed = dataclasses.replace(one, **{field.name: value})
        same = value == getattr(one, field.name) or field.name == "received"
        assert (changed.digest == one.digest) == same, field.name


@pytest.mark.parametrize(
    "broken",
    [
        {"wanted": []},
        {"wanted": [{"name": "age"}, {"name": "age"}]},
        {"wanted": [{"name": "age", "secret": 1}]},
        {"wanted": [{"name": "age", "change_weight": 2}]},
        {"wanted": [{"name": f"a{i}"} for i in range(65)]},
        {"anchor": {"attribute": "medication", "values": []}},
        {"anchor": "X"},
        {"purpose": "fun"},
        {"reidentification": "no"},
        {"requester": ""},
        {"id": "a\nb"},
        {"question": "x" * 5000},
    ],
)
def test_what_is_no_request_is_refused(broken: dict) -> None:
    with pytest.raises(ParameterError):
        DataRequest.from_dict({**request().to_dict(), **broken})


def test_a_missing_part_of_a_request_is_named() -> None:
    sent = request().to_dict()
    del sent["anchor"]
    with pytest.raises(ParameterError, match="anchor"):
        DataRequest.from_dict(sent)


POLICY = """
rules = ["dsg-2000", "hipaa"]
four_eyes = ["teaching"]
strict = true
[thresholds]
k = 3
base = 30
[purposes.teaching]
k = 10
l = 3
[[base_sets]]
attribute = "medication"
values = ["X"]
at_least = 80
field = "psychiatry"
[statements]
lawfully_collected = true
"""


def test_a_policy_has_thresholds_by_purpose(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY)
    policy = SitePolicy.load(tmp_path / "policy.toml")
    teaching, research = (policy.thresholds_for(p) for p in (Purpose.TEACHING, Purpose.RESEARCH))
    assert (teaching.k, teaching.l, teaching.base) == (10, 3, 60)  # twice the base, as nothing else is said
    assert research.k == 3
    assert policy.least_base(Anchor("medication", ("X",)), Purpose.RESEARCH) == 80
    assert policy.least_base(Anchor("medication", ("Y",)), Purpose.RESEARCH) == 30
    assert policy.four_eyes == {Purpose.TEACHING}
    assert policy.strict


@pytest.mark.parametrize(
    "content",
    [
        {"thresholds": {"k": 1}},
        {"thresholds": {"k": "5"}},
        {"thresholds": {"l": 1}},
        {"thresholds": {"k": 10, "base": 5}},
        {"thresholds": {"method": "magic"}},
        {"thresholds": {"rare_global": 2}},
        {"thresholds": {"kk": 2}},
        {"thresholds": {"joint_k": 1}},
        {"thresholds": {"together": "nobody"}},
        {"days": -1},
        {"statistics_budget": "much"},
        {"purposes": {"fun": {}}},
        {"purposes": {"teaching": {"q": 2}}},
        {"purposes": {"teaching": {"k": 1}}},
        {"nonsense": 1},
        {"base_sets": [{"attribute": "a"}]},
    ],
)
def test_a_wrong_policy_is_refused(content: dict) -> None:
    with pytest.raises((JobError, ParameterError)):
        SitePolicy.from_dict(content)


def test_what_is_rare_here_is_what_fewer_than_k_have_unless_the_policy_says_otherwise() -> None:
    assert Thresholds(k=7).rare == 7
    assert Thresholds(k=7, rare_local=2).rare == 2


def test_a_member_that_was_revoked_is_no_member() -> None:
    network = Network.from_dict({"members": {"A": {"purposes": ["research"]}, "C": {"revoked": True}}})
    assert network.find("A").purposes == {Purpose.RESEARCH}
    assert network.find("C") is None
    assert network.find("D") is None
    with pytest.raises(JobError, match="purpose"):
        Network.from_dict({"members": {"A": {"purpose": []}}})
