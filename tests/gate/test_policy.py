"""The policy file: every key is known and checked, and what is given up must be said by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tarnkappe.errors import AccessError, InputError, ParameterError
from tarnkappe.gate import STRATEGIES
from tarnkappe.gate.policy import LEAKS, GatePolicy
from tarnkappe.gate.policy_columns import WorldEffort

WHOLE = """
[table]
source = "patients.parquet"
name = "patients"
key = "id"
quasi_identifiers = ["age", "zip", "sex"]

[sensitive.disease]
values = ["flu", "asthma", "cold"]
alike = [["flu", "cold"]]

[sensitive.salary]
k = 5
closeness = 0.9

[protection]
k = 3
on_violation = "add"
accept_leak_through = []
collusion = "groups"
strategy = "exact"

[surplus]
share = 0.5
least = 2
spread = 2

[search]
steps = 50
work = 500

[answer]
form = "generalized"
tell_artificial = true
min_rows = 2
max_rows = 1000

[state]
store = "answers.db"
key = "answers.key"

[users]
names = ["ann", "bob"]
groups = { study = ["ann"], billing = ["bob"] }
"""


def said(**sections: Any) -> dict[str, Any]:
    table = {"source": "p.csv", "name": "p", "key": "id", "quasi_identifiers": ["age"]}
    return {"table": table, "sensitive": {"disease": {}}, "protection": {"k": 2}} | sections


def test_a_file_with_everything(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(WHOLE, encoding="utf-8")
    policy = GatePolicy.load(tmp_path / "gate.toml")
    assert policy.source == str(tmp_path / "patients.parquet")
    assert [(column.name, column.k) for column in policy.sensitive] == [("disease", 3), ("salary", 5)]
    assert policy.sensitive[0].alike == (frozenset({"flu", "cold"}),)
    assert policy.columns == ("age", "zip", "sex", "disease", "salary")
    assert (policy.surplus.share, policy.surplus.least, policy.surplus.spread) == (0.5, 2, 2.0)
    assert policy.search == WorldEffort(steps=50, work=500, largest=10_000)
    assert policy.history_of("ann") == "group study"
    assert (policy.store, policy.key_file) == (str(tmp_path / "answers.db"), str(tmp_path / "answers.key"))


def test_by_default_every_leak_is_closed_and_everybody_is_presumed_to_collude() -> None:
    policy = GatePolicy.from_dict(said())
    assert policy.open_leaks == ()
    assert policy.warnings == ()
    assert policy.on_violation == "add"
    assert policy.history_of("ann") == policy.history_of("bob") == "everyone"
    assert not policy.tell_artificial
    assert GatePolicy.from_dict(said(protection={"k": 2, "on_violation": "refuse"})).open_leaks == ()


@pytest.mark.parametrize(("mode", "leak"), [("add", "minimal-values"), ("refuse", "refusals")])
def test_a_leak_must_be_accepted_by_name_and_is_warned_about(mode: str, leak: str) -> None:
    protection = {"k": 2, "on_violation": mode, "accept_leak_through": [leak]}
    policy = GatePolicy.from_dict(said(protection=protection))
    assert policy.open_leaks == (leak,)
    assert leak in policy.warnings[0]
    assert LEAKS[leak] in policy.warnings[0]


def test_a_policy_does_not_show_its_passwords() -> None:
    source = "postgresql://ann:secret@db/clinic"
    table = {"source": source, "name": "p", "key": "id", "quasi_identifiers": ["age"]}
    policy = GatePolicy.from_dict(said(table=table, state={"store": source}))
    assert policy.source == policy.store == source
    assert "secret" not in repr(policy)


@pytest.mark.parametrize("name", sorted(set(STRATEGIES.names) - {"witness-pool", "exact"}))
@pytest.mark.parametrize("leaks", [[], ["minimal-values"]], ids=["closed", "open"])
def test_a_policy_names_only_strategies_whose_promise_is_kept(name: str, leaks: list[str]) -> None:
    protection = {"k": 2, "strategy": name, "accept_leak_through": leaks}
    with pytest.raises(ParameterError, match="choose witness-pool or exact"):
        GatePolicy.from_dict(said(protection=protection))


def test_users_who_are_not_presumed_to_collude_are_warned_about_and_have_histories_of_their_own() -> None:
    policy = GatePolicy.from_dict(said(protection={"k": 2, "collusion": "single"}))
    assert policy.history_of("ann") != policy.history_of("bob")
    assert "comparing their answers" in policy.warnings[0]


def test_nobody_else_is_let_in() -> None:
    groups = said(protection={"k": 2, "collusion": "groups"}, users={"groups": {"a": ["ann"]}})
    with pytest.raises(AccessError, match="in no group"):
        GatePolicy.from_dict(groups).history_of("bob")
    with pytest.raises(AccessError, match="no user 'bob'"):
        GatePolicy.from_dict(said(users={"names": ["ann"]})).history_of("bob")


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"tabel": {}}, r"\[tabel\]: there is no such section: did you mean 'table'"),
        ({"protection": {"k": 2, "on_violaton": "add"}}, "did you mean 'on_violation'"),
        ({"protection": {"k": 2, "on_violation": "ad"}}, "did you mean 'add'"),
        (
            {"protection": {"k": 2, "accept_leak_through": ["sizes"]}},
            "one of minimal-values, refusals is needed, not 'sizes'",
        ),
        ({"protection": {"k": True}}, "k: a whole number is needed, not True"),
        ({"protection": {"k": 0}}, "k: at least 1 is needed, not 0"),
        ({"protection": {}}, "Set k"),
        ({"sensitive": {}}, "no column is sensitive"),
        ({"sensitive": {"age": {}}}, "'age' has two roles"),
        ({"sensitive": {"disease": {"values": ["flu"], "k": 4}}}, "nobody can keep 4"),
        ({"sensitive": {"disease": {"closeness": 2}}}, "closeness"),
        ({"sensitive": {"disease": {"values": ["flu", True]}}}, "values 2: a text or a number is needed"),
        ({"sensitive": {"disease": {"values": ["a", "b"], "values_from": "tabel"}}}, "did you mean 'table'"),
        ({"sensitive": {"disease": {"values": ["a", "(other)"]}}}, "stands for whatever the list lacks"),
        ({"sensitive": {"disease": {"values": ["a", "b"], "holders": 5}}}, "belongs to values_from"),
        ({"sensitive": {"disease": {"values": ["a", "b"], "values_from": "table"}}}, "at least 2"),
        (
            {"sensitive": {"disease": {"values": ["a", "b"], "values_from": "table", "holders": 1}}},
            "at least 2",
        ),
        ({"sensitive": {"disease": {"values": ["flu", "flu"]}}}, "values: the list has something twice"),
        (
            {
                "sensitive": {"disease": {"alike": [["a", "b"]]}},
                "protection": {"k": 2, "on_violation": "refuse"},
            },
            "'alike' needs surplus values",
        ),
        ({"surplus": {"spread": 0}}, "spread: a number above 0 is needed"),
        ({"surplus": {"share": -1}}, "share: at least 0 is needed, not -1"),
        ({"search": {"work": -1}}, "work: at least 0 is needed, not -1"),
        ({"search": {"stepps": 1}}, "did you mean 'steps'?"),
        ({"answer": {"min_rows": 5, "max_rows": 4}}, "not less"),
        ({"answer": {"form": "table"}}, "form: one of anatomy, generalized, permuted is needed"),
        ({"protection": {"k": 2, "collusion": "groups"}}, "belong together"),
        (
            {
                "protection": {"k": 2, "collusion": "groups"},
                "users": {"groups": {"a": ["ann"], "b": ["ann"]}},
            },
            "in two groups",
        ),
        ({"table": {"source": "p.csv", "name": "p", "key": "id"}}, "quasi_identifiers: it is missing"),
        ({"table": 3}, "table: a table is needed, not 3"),
    ],
)
def test_a_wrong_policy_is_refused_and_says_where(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        GatePolicy.from_dict(said(**sections))


def test_a_file_that_cannot_be_read_names_itself(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the policy"):
        GatePolicy.load(tmp_path / "gate.toml")
    (tmp_path / "gate.toml").write_text("[table", encoding="utf-8")
    with pytest.raises(InputError, match="not valid TOML"):
        GatePolicy.load(tmp_path / "gate.toml")
