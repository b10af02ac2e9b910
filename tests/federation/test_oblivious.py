"""The oblivious protocol: the central release, nothing opened beside it, and no trace of data on the wire."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import (
    HierarchyError,
    JobError,
    NoSolutionError,
    ParameterError,
    ProtocolError,
    TarnkappeError,
)
from tarnkappe.federation.certificates import Authority
from tarnkappe.federation.contract import Contract, Partitioning, Protocol, Reveal
from tarnkappe.federation.job_file import FederatedJob
from tarnkappe.federation.leakage import LeakageReport, foretell
from tarnkappe.federation.message import Message
from tarnkappe.federation.oblivious.common_labels import CommonLabels
from tarnkappe.federation.oblivious.computer import Computer, Opening
from tarnkappe.federation.oblivious.plan import ObliviousRun, RunShape
from tarnkappe.federation.oblivious.streams import KeyStream
from tarnkappe.federation.policy import Policy
from tarnkappe.federation.runner import run_in_memory
from tarnkappe.federation.support import refuse_unsupported
from tarnkappe.federation.wording import describe
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.loss import LOSSES, Entropy, Height, Loss
from tarnkappe.privacy import MODELS, KAnonymity, Model
from tarnkappe.schema.documents import parse
from tests.federation.federations import HELPER, multiset, random_whole
from tests.federation.sites import Sites
from tests.federation.three import ObliviousFederation, obliviously

LIMITS = (0.0, 0.03, 0.1, 0.3)
PUBLIC: list[Loss] = [LOSSES.create("height", {}), LOSSES.create("precision-star", {})]
CRITERIA: list[tuple[Model, ...]] = [
    (MODELS.create("k-anonymity", {"k": 2}),),
    (MODELS.create("k-anonymity", {"k": 3}),),
    (MODELS.create("distinct-diversity", {"column": "disease", "l": 2}),),
    (MODELS.create("p-sensitive-k-anonymity", {"column": "disease", "k": 3, "p": 2}),),
    (
        MODELS.create("k-anonymity", {"k": 4}),
        MODELS.create("distinct-diversity", {"column": "disease", "l": 3}),
    ),
]


def compare(data: st.DataObject, losses: list[Loss], most_sites: int = 4) -> None:
    seed = data.draw(st.integers(0, 10**6))
    models, loss = data.draw(st.sampled_from(CRITERIA)), data.draw(st.sampled_from(losses))
    limit, whole = data.draw(st.sampled_from(LIMITS)), random_whole(seed)
    try:
        expected = whole.central(models, loss, limit)
    except TarnkappeError:
        expected = None  # the table is too small for what is promised
    federation = obliviously(
        whole,
        models,
        loss,
        limit,
        parties=data.draw(st.integers(2, most_sites)),
        reveal=data.draw(st.sampled_from(Reveal)),
        seed=seed,
    )
    if expected is None:
        with pytest.raises(NoSolutionError):
            federation.run(seed=seed)
        return
    everybody = federation.run(seed=seed)
    for party in federation.contract.parties:
        outcome = everybody[party].outcome
        assert outcome.levels == expected[0]
        assert multiset(outcome.release) == expected[1]
        assert outcome.suppressed == whole.table.num_rows - expected[1].total()


@given(data=st.data())
@settings(max_examples=54)
def test_a_release_equals_the_central_one(data: st.DataObject) -> None:
    compare(data, PUBLIC)


@given(data=st.data())
@settings(max_examples=6)
def test_a_release_of_least_entropy_equals_the_central_one(data: st.DataObject) -> None:
    compare(data, [Entropy()])


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=500)
def test_hundreds_of_releases_equal_the_central_ones(data: st.DataObject) -> None:
    compare(data, [*PUBLIC, Entropy()], most_sites=6)


def some(
    loss: Loss | None = None, reveal: Reveal = Reveal.RESULT, limit: float = 0.1, **options: Any
) -> ObliviousFederation:
    whole = random_whole(0, least_rows=20)
    return obliviously(whole, (KAnonymity(3),), loss or Height(), limit, reveal=reveal, **options)


# ------------------------------------------------------------------ what is opened, and what travels


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Opening, int]]:
    """Who opened what, and how many words."""
    seen: list[tuple[str, Opening, int]] = []
    real = Computer.open

    def spy(self: Computer, x: Any, why: Opening, receivers: Any, name: str) -> Any:
        seen.append((name, why, x[0].size))
        return real(self, x, why, receivers, name)

    monkeypatch.setattr(Computer, "open", spy)
    return seen


@pytest.mark.parametrize("loss", [Height(), Entropy()])
def test_a_run_that_reveals_its_result_opens_nothing_else(
    opened: list[tuple[str, Opening, int]], loss: Loss
) -> None:
    some(loss).run()
    assert [why for name, why, _ in opened if name == "P1"] == [
        Opening.LEVELS,  # one bit: whether any levels satisfy
        Opening.LEVELS,  # the number of the best
        Opening.CLASSES,
        Opening.ROWS,
    ]
    assert opened[0][2] == 1


def test_a_run_that_reveals_its_tests_opens_one_bit_for_each_node_more(
    opened: list[tuple[str, Opening, int]],
) -> None:
    federation = some(reveal=Reveal.TESTS)
    federation.run()
    kinds = [why for name, why, _ in opened if name == "P1"]
    tests = [words for name, why, words in opened if name == "P1" and why is Opening.TESTS]
    assert kinds[len(tests) :] in (
        [Opening.LEVELS, Opening.CLASSES, Opening.ROWS],
        [Opening.CLASSES, Opening.ROWS],
    )
    nodes = np.prod([column.height + 1 for column in federation.contract.columns if column.labels])
    assert sum(tests) <= nodes


def test_a_row_that_is_not_released_never_leaves_its_site(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    real = ObliviousRun._release

    def spy(self: ObliviousRun, node: Any) -> Any:
        rows = yield from real(self, node)
        seen.append(rows)
        return rows

    monkeypatch.setattr(ObliviousRun, "_release", spy)
    federation = some(limit=0.3)
    outcome = federation.run()["P1"].outcome
    assert outcome.suppressed > 0
    for rows in seen:
        empty = rows[rows[:, 0] == 0]
        assert len(empty) == outcome.suppressed
        assert not empty.any()


def traffic(federation: ObliviousFederation) -> list[tuple[str, str, str, int]]:
    sent: list[Message] = []
    federation.run(watch=sent.append, seed=None)
    return [(m.sender, m.receiver, m.kind, len(m.body)) for m in sent]


@pytest.mark.parametrize("parties", [2, 4])
def test_other_data_of_the_same_size_make_the_same_messages(parties: int) -> None:
    federation = some(parties=parties)
    turned = {
        name: pa.table({c: table.column(c).take(pa.array([0] * table.num_rows)) for c in table.column_names})
        for name, table in federation.tables.items()
        if table is not None
    }
    assert traffic(federation) == traffic(dataclasses.replace(federation, tables=turned))


def test_a_site_that_does_not_compute_gives_no_party_all_three_shares() -> None:
    federation = some(parties=4)
    rows = dict.fromkeys(federation.contract.parties, 10)
    keys = [bytes([i]) * 16 for i in range(2)]
    seeds = KeyStream(keys[0]), KeyStream(keys[1])
    member = ObliviousRun("P4", RunShape(federation.contract, rows), None, None, seeds)
    exchange = next(member._share(np.zeros(50, np.uint64), {}))
    first, second = (KeyStream(key).words(0, 50) for key in keys)
    assert [to for to, _, _ in exchange.send] == ["P2", "P3"]
    for _, _, words in exchange.send:  # P2 holds the second stream and this, P3 this and the first one
        assert np.array_equal(words, first ^ second)
        assert (words ^ first).any()
        assert (words ^ second).any()


def test_everybody_receives_what_was_foretold_and_nothing_else() -> None:
    for federation in (some(parties=2, reveal=Reveal.TESTS), some(parties=5)):
        contract = federation.contract
        done = federation.run()
        report = LeakageReport.of(contract, {name: each.transcript for name, each in done.items()})
        assert {each.party for each in report.learned} == set(contract.everybody)
        helper = [each.kind for each in report.learned if each.party == HELPER]
        assert Opening.ROWS not in helper
        assert Opening.CLASSES not in helper
        assert "how many rows each other site has" in str(foretell(contract))


def test_what_no_levels_can_promise_is_said_and_nothing_is_released() -> None:
    promise = (MODELS.create("distinct-diversity", {"column": "disease", "l": 4}),)
    whole = random_whole(0)
    one = whole.table.slice(0, 12).set_column(
        whole.table.column_names.index("disease"), "disease", pa.array(["flu"] * 12)
    )
    for reveal in Reveal:
        federation = obliviously(dataclasses.replace(whole, table=one), promise, Height(), reveal=reveal)
        everybody = federation.participants()
        with pytest.raises(NoSolutionError, match="no levels meet distinct-diversity"):
            run_in_memory(everybody)
        assert all(each.outcome is None for each in everybody)


def test_a_party_that_has_ended_a_run_remembers_nothing_but_the_release() -> None:
    done = some().run()["P1"]
    done.forget()
    kept = {"name", "contract", "outcome", "has_done_its_part", "transcript", "sent", "work", "handlers"}
    assert set(vars(done)) <= kept | {"_sent", "_received"}


def test_a_message_out_of_turn_or_of_another_length_ends_the_run() -> None:
    for change in (lambda words: words[:-1], lambda words: np.append(words, words[:1])):
        everybody = some().participants()
        first = everybody[0]
        real = first.send

        def cut(to: str, kind: str, tables: Any, real: Any = real, change: Any = change) -> Message:
            if kind == "gates":
                words = tables["words"].column("words").to_numpy()
                tables = {"words": pa.table({"words": change(words)})}
            sent: Message = real(to, kind, tables)
            return sent

        first.send = cut
        with pytest.raises(ProtocolError, match="other bits than the protocol says"):
            run_in_memory(everybody)


# ------------------------------------------------------------------ contract, sites


def test_sites_over_tls_publish_the_central_release(tmp_path: Path) -> None:
    whole = random_whole(0, least_rows=20)
    expected = whole.central((KAnonymity(3),), Height(), 0.1)
    assert expected is not None
    sites = Sites(tmp_path, some(parties=4))
    try:
        sites.run()
    finally:
        sites.close()
    for name in sites.federation.contract.parties:
        outcome = sites.ended[name].outcome
        assert outcome is not None
        assert outcome.levels == expected[0]
        assert multiset(outcome.release) == expected[1]


def test_the_text_of_a_contract_says_who_together_can_read_everything() -> None:
    told = describe(some(reveal=Reveal.TESTS, parties=2).contract)
    assert "P1, P2, X compute on bits that are random to each of them alone" in told
    assert "Any two of them together can read everything" in told
    assert "trusted to keep to the protocol" in told
    assert "All learn which levels satisfy" in told
    assert "Encryption does not protect" not in told
    assert "All learn which levels" not in describe(some().contract)


def test_a_contract_survives_its_document() -> None:
    contract = some(parties=4).contract
    assert contract.compute == ("P1", "P2", "P3")
    assert Contract.from_document(contract.as_document()).digest == contract.digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"compute": ("P1", "P2")}, "needs three parties that compute"),
        ({"compute": ("P1", "P2", "nobody")}, "needs three parties that compute"),
        ({"parties": ("P1", "P2"), "compute": ()}, "needs three parties that compute"),
        ({"helper": "X", "compute": ("P1", "P2", "P3")}, "does not compute"),
        ({"distribution": Partitioning.HYBRID, "key": "tid"}, "horizontal data only"),
        ({"member": "visits"}, "has no 'member'"),
        ({"protocol": Protocol.STAR, "helper": "X"}, "only an oblivious run"),
        ({"insiders": 3}, "somebody must be left"),
        ({"parties": tuple(f"P{i}" for i in range(1, 16)), "insiders": 2}, "more than 100 coalitions"),
    ],
)
def test_a_contract_that_cannot_be_computed_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dataclasses.replace(some().contract, **changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda c: {"models": (MODELS.create("equal-closeness", {"column": "disease", "t": 0.3}),)},
            "made for d",
        ),
        (lambda c: {"loss": LOSSES.create("aecs", {})}, "its circuits are made for entropy"),
        (lambda c: {"loss": Entropy(weights={"a": 2.0})}, "no weights"),
        (lambda c: {"columns": tuple(dataclasses.replace(x, labels=()) for x in c.columns)}, "hierarchy ="),
        (
            lambda c: {
                "columns": tuple(
                    dataclasses.replace(x, labels=(10**6,) * len(x.labels)) if x.labels else x
                    for x in c.columns
                )
            },
            "reveal = 'tests'",
        ),
    ],
)
def test_what_the_circuits_cannot_do_is_refused_before_the_start(
    change: Callable[[Contract], dict[str, Any]], message: str
) -> None:
    contract = some().contract
    with pytest.raises(ParameterError, match=message):
        refuse_unsupported(dataclasses.replace(contract, **change(contract)))


def test_a_site_with_another_hierarchy_or_a_value_without_a_line_refuses_without_telling_it() -> None:
    federation = some()
    name = federation.contract.quasi_identifiers[0]
    rules = federation.rules[name]
    rows = [list(row) for row in rules.rows()]
    other = Hierarchy.from_rows([*rows, ["secret value", *rows[0][1:]]])
    with pytest.raises(HierarchyError, match="another one than the contract names"):
        dataclasses.replace(federation, rules={**federation.rules, name: other}).participants()
    table = federation.tables["P1"]
    assert table is not None
    cells = pa.array(["secret value"] * table.num_rows)
    spoiled = table.set_column(table.column_names.index(name), name, cells)
    with pytest.raises(HierarchyError, match="has no line") as refusal:
        dataclasses.replace(federation, tables={**federation.tables, "P1": spoiled}).participants()
    assert "secret value" not in str(refusal.value)


def test_a_site_as_it_comes_agrees_to_an_oblivious_run_and_to_no_other_one() -> None:
    contract = dataclasses.replace(some().contract, models=(KAnonymity(5),), insiders=1)
    Policy().refuse(contract, "P1", "P2", sends_rows=True)
    star = dataclasses.replace(
        contract, protocol=Protocol.STAR, helper=HELPER, compute=(), reveal=Reveal.RESULT, insiders=0
    )
    with pytest.raises(TarnkappeError, match="accept_decodable_rows"):
        Policy().refuse(star, "P1", "P2", sends_rows=True)


@pytest.mark.parametrize(
    ("rules", "broken"),
    [
        ({"reveal": ["tests"]}, "reveal"),
        ({"never_together": [["P2", "P3"]]}, "never_together"),
        ({"reveal": ["result"], "never_together": [["P3", "P4"], ["P4", "P5"]]}, None),
        ({"least_insiders": 2}, "least_insiders"),
    ],
)
def test_a_site_says_who_may_compute_and_what_may_be_told(rules: dict[str, Any], broken: str | None) -> None:
    contract = dataclasses.replace(some(parties=4).contract, models=(KAnonymity(5),), insiders=1)
    policy = parse(Policy, rules)
    if broken is None:
        policy.refuse(contract, "P1", "P2", sends_rows=True)
        return
    with pytest.raises(TarnkappeError, match=f"policy says otherwise .{broken}:"):
        policy.refuse(contract, "P1", "P2", sends_rows=True)


@pytest.mark.parametrize("rules", [{"never_together": ["P1", "P2"]}, {"reveal": ["all"]}])
def test_a_policy_that_cannot_be_meant_is_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(
        JobError, match=r"never_together: a group has at least two|reveal.* is needed, not 'all'"
    ):
        parse(Policy, rules)


def test_a_job_names_the_hierarchy_that_all_sites_have(tmp_path: Path) -> None:
    Authority(tmp_path).issue("ulm")
    (tmp_path / "age.csv").write_text("34;30+;*\n38;30+;*\n45;40+;*\n", encoding="utf-8")
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    contract = FederatedJob.from_file(tmp_path / "job.toml").contract
    (age,) = contract.columns
    expected = CommonLabels.of(
        Hierarchy.from_rows([["45", "40+", "*"], ["34", "30+", "*"], ["38", "30+", "*"]])
    )
    assert (age.height, age.labels, age.hierarchy_digest) == (2, (3, 2, 1), expected.digest)
    assert contract.compute == ("ulm", "bonn", "kiel")
    assert contract.reveal is Reveal.TESTS
    assert contract.insiders == 1  # of three sites each may take out its own rows
    for wrong in ('"everything"', "3"):
        changed = JOB.replace('"tests"', wrong)
        (tmp_path / "job.toml").write_text(changed, encoding="utf-8")
        with pytest.raises(JobError, match=r"\[federation\], reveal: .* is needed"):
            FederatedJob.from_file(tmp_path / "job.toml")


JOB = """
[federation]
protocol = "oblivious"
distribution = "horizontal"
parties = ["ulm", "bonn", "kiel"]
reveal = "tests"

[identity]
certificate = "ulm.pem"
key = "ulm.key"
authority = "authority.pem"

[addresses]
ulm = "127.0.0.1:1"
bonn = "127.0.0.1:2"
kiel = "127.0.0.1:3"

[columns.age]
role = "quasi-identifier"
kind = "int64"
hierarchy = "age.csv"

[[privacy]]
model = "k-anonymity"
k = 5
"""
