"""What a run may look like beyond the worked examples, each compared with the central solution."""

from __future__ import annotations

import dataclasses
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, HierarchyError, JobError, ProtocolError
from tarnkappe.federation.contract import CIPHERED, Contract, Partitioning, Protocol, SharedColumn
from tarnkappe.federation.job_file import FederatedJob
from tarnkappe.federation.leakage import roles_of
from tarnkappe.federation.masked import MaskedHelper, MaskedParty
from tarnkappe.federation.party_share import canonical, local_share, readable
from tarnkappe.federation.runner import run_in_memory
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.lattice import Exhaustive, SearchProblem
from tarnkappe.loss import AverageClassSize, DiscernibilityStar, Entropy, Height, PrecisionStar
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import Role, Table, Tuples
from tarnkappe.table.encoding import encode_column
from tests.federation.federations import (
    EXAMPLE,
    EXPECTED,
    HEIGHTS,
    PURE,
    RULES,
    Federation,
    age_rule,
    example,
    federate,
    multiset,
    random_whole,
    zip_rule,
)

RING, STAR, MASKED = Protocol.RING, Protocol.STAR, Protocol.MASKED
HORIZONTAL, VERTICAL = Partitioning.HORIZONTAL, Partitioning.VERTICAL
EVERY_RUN = [(p, d) for p in CIPHERED for d in PURE]


# ------------------------------------------------------------------ what a party does at home


def test_checklist_4_only_rules_of_values_that_occur_leave_a_party() -> None:
    federation = example(STAR, HORIZONTAL)
    part = local_share(Table(federation.tables["P1"]), "P1", federation.contract, RULES).parts["age"]
    lines = {tuple(readable(part.tokens[i]) for i in rule) for rule in part.rules.tolist()}
    assert lines == {("34", "20-60", "*"), ("45", "20-60", "*"), ("66", "≥61", "*")}


def test_erratum_4_the_first_zip_generalizes_to_its_own_label() -> None:
    federation = example(STAR, HORIZONTAL)
    part = local_share(Table(federation.tables["P1"]), "P1", federation.contract, RULES).parts["zip"]
    labels = {readable(part.tokens[rule[0]]): readable(part.tokens[rule[1]]) for rule in part.rules.tolist()}
    assert labels["82667"] == "8266*"


def test_checklist_21_dictionary_coding_of_the_example() -> None:
    rows, contract = EXAMPLE["dictionary"]["rows"], example(STAR, HORIZONTAL).contract
    table = pa.table(dict(zip(("sex", "age", "zip"), map(list, zip(*rows, strict=True)), strict=True)))
    share = local_share(Table(table), "P1", contract, RULES)
    for index, (name, words) in enumerate(
        zip(("sex", "age", "zip"), EXAMPLE["dictionary"]["dict"], strict=True)
    ):
        part = share.parts[name]
        coded = [words[line[index]] for line in EXAMPLE["dictionary"]["structure"]]
        assert [readable(part.tokens[code]) for code in part.codes] == [str(word) for word in coded]


@given(st.decimals(-1000, 1000, places=3), st.integers(1, 3))
@settings(max_examples=40)
def test_checklist_3_a_function_gives_the_same_rules_everywhere(number: Decimal, height: int) -> None:
    def shorten(text: str | None) -> list[str]:
        return [*(str(round(Decimal(text or 0), 3 - level)) for level in range(1, height)), "*"]

    contract = example(STAR, HORIZONTAL).contract
    column = SharedColumn("x", Role.QUASI_IDENTIFIER, "decimal128(12, 3)", height)
    contract = dataclasses.replace(contract, columns=(column,))
    others = pa.array([number, Decimal("1.234")], pa.decimal128(12, 3))
    shares = [
        local_share(Table(pa.table({"x": values})), "P1", contract, {"x": shorten})
        for values in (others.slice(0, 1), others)
    ]
    rules = [
        {tuple(share.parts["x"].tokens[i] for i in rule) for rule in share.parts["x"].rules.tolist()}
        for share in shares
    ]
    assert rules[0] <= rules[1]


def test_checklist_2_what_the_contract_does_not_name_stays_at_home() -> None:
    federation = example(STAR, HORIZONTAL)
    tables = {
        party: table.append_column("name", pa.array([f"Erika {i}" for i in range(table.num_rows)]))
        for party, table in federation.tables.items()
    }
    seen: list[bytes] = []
    dataclasses.replace(federation, tables=tables).run(lambda message: seen.append(message.body))
    assert not [body for body in seen if b"Erika" in body]
    named = Table(federation.tables["P1"]).with_roles(identifiers=["sex"])
    with pytest.raises(ColumnError, match="'sex', which identifies people"):
        local_share(named, "P1", federation.contract, RULES)


def test_trap_24_values_are_written_the_same_everywhere() -> None:
    assert canonical("Zoe\u0308") == canonical("Zoë")
    assert canonical(None) != canonical("")
    assert readable(canonical("ß≥")) == "ß≥"


@pytest.mark.parametrize("bad", [["1", "1", "3"], ["1", None, "3"]])
def test_checklist_1_keys_must_be_there_and_unique(bad: list[str | None]) -> None:
    contract = example(STAR, VERTICAL).contract
    table = Table(pa.table({"tid": bad, "zip": ["82676", "81775", "81925"]}))
    with pytest.raises(ColumnError, match="the key 'tid'"):
        local_share(table, "P1", contract, RULES)


def test_a_hierarchy_of_another_height_is_refused() -> None:
    contract = example(STAR, HORIZONTAL).contract
    table = Table(example(STAR, HORIZONTAL).tables["P1"])
    with pytest.raises(HierarchyError, match="'sex' has the height 2, and the contract says 1"):
        local_share(table, "P1", contract, {**RULES, "sex": lambda _: ["any", "*"]})


# ------------------------------------------------------------------ parties that do not fit together


@pytest.mark.parametrize("protocol", CIPHERED)
def test_trap_25_two_rules_for_one_value_end_the_run(protocol: Protocol) -> None:
    federation = example(protocol, HORIZONTAL)
    participants = federation.participants()
    other = {**RULES, "sex": lambda _: ["any"]}
    participants[1] = type(participants[1])("P2", federation.contract, Table(federation.tables["P2"]), other)
    with pytest.raises(ProtocolError, match="generalize the same value of 'sex' in different ways"):
        run_in_memory(participants)


@pytest.mark.parametrize("protocol", CIPHERED)
def test_trap_8_different_people_end_the_run(protocol: Protocol) -> None:
    federation = example(protocol, VERTICAL)
    other = federation.tables["P2"].set_column(0, "tid", pa.array([*"1234567", "9"]))
    with pytest.raises(ProtocolError, match="people"):
        dataclasses.replace(federation, tables={**federation.tables, "P2": other}).run()


def test_checklist_34_absent_people_are_filled_in() -> None:
    federation = example(STAR, VERTICAL, fill_absent=True)
    rules = {**RULES, "age": lambda text: ["unknown", "*"] if text is None else age_rule(text)}
    rules["zip"] = lambda text: ["?", "?", "?", "?", "*"] if text is None else zip_rule(text)
    tables = dict(federation.tables)
    tables["P2"] = tables["P2"].slice(2)
    everybody = dataclasses.replace(federation, tables=tables, rules=rules).run()
    joined = tables["P3"].join(tables["P2"], "tid").join(tables["P1"], "tid")
    columns = []
    for name in HEIGHTS:
        column = encode_column(name, joined.column(name))
        lines = [[text, *rules[name](text)] for text in column.values.cast(pa.string()).to_pylist()]
        columns.append(Hierarchy.from_rows(lines).attach(column))
    problem = SearchProblem(Tuples.of_rows(columns).distinct(), tuple(HEIGHTS), (KAnonymity(2),), Height())
    best = Exhaustive().run(problem).best
    assert best is not None
    assert tuple(everybody["P1"].outcome.levels.values()) == best.node
    assert everybody["P1"].outcome.release.num_rows == 8


# ------------------------------------------------------------------ pre-generalization, parties without data


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_checklist_28_columns_are_generalized_before_anything_is_encrypted(
    protocol: Protocol, distribution: Partitioning
) -> None:
    federation = example(protocol, distribution)
    columns = tuple(
        dataclasses.replace(c, least_level=2) if c.name == "zip" else c for c in federation.contract.columns
    )
    federation = federation.with_contract(columns=columns)
    part = local_share(Table(federation.tables["P1"]), "P1", federation.contract, RULES).parts["zip"]
    assert not {len(readable(t) or "") - (readable(t) or "").count("*") for t in part.tokens} & {4, 5}
    everybody = federation.run()
    assert everybody["P3"].outcome.levels["zip"] == 3
    assert multiset(everybody["P3"].outcome.release) == EXPECTED


def test_checklist_28_the_search_space_shrinks() -> None:
    columns = example(STAR, HORIZONTAL).contract.columns
    higher = tuple(dataclasses.replace(c, least_level=4) if c.name == "zip" else c for c in columns)
    everybody = example(STAR, HORIZONTAL).with_contract(columns=higher).run()
    assert everybody["P1"].outcome.levels["zip"] == 4


@pytest.mark.parametrize("number", [2, 3])
def test_checklist_29_a_party_without_data_may_anonymize(number: int) -> None:
    federation = example(RING, HORIZONTAL)
    holders = ("P1", "P2", "P3")[:number]
    contract = dataclasses.replace(federation.contract, parties=("M", *holders), without_data=("M",))
    tables = {"M": None, **{party: federation.tables[party] for party in holders}}
    if number == 2:
        tables["P2"] = pa.concat_tables([federation.tables["P2"], federation.tables["P3"]])
    everybody = Federation(contract, tables, RULES).run()
    assert multiset(everybody["M"].outcome.release) == EXPECTED


# ------------------------------------------------------------------ protocol C in detail


def masked_example(distribution: Partitioning) -> tuple[Contract, list[MaskedParty], MaskedHelper]:
    """The worked example with the made-up rows that the specification prints."""
    federation = example(MASKED, distribution)
    made_up: dict[str, pa.Table] = {}
    if distribution is VERTICAL:
        by_key = EXAMPLE["protocolC_vertical"]["pseudo_by_tid"]
        zips = iter(EXAMPLE["pseudo_zips"])
        cells = {"P1": "zip", "P2": "age", "P3": "sex"}
        for party, name in cells.items():
            values = [next(zips) if name == "zip" else row[name] for row in by_key.values()]
            made_up[party] = pa.table({"tid": list(by_key), name: values})
    else:
        row = EXAMPLE["protocolC_horizontal"]["pseudo_of_P1"]
        made_up["P1"] = pa.table({n: [v] for n, v in zip(("sex", "age", "zip"), row, strict=True)})
    empty = {party: table.slice(0, 0) for party, table in federation.tables.items()}
    parties = [
        MaskedParty(p, federation.contract, Table(t), RULES, made_up=Table(made_up.get(p, empty[p])))
        for p, t in federation.tables.items()
    ]
    return federation.contract, parties, MaskedHelper("X", federation.contract)


@pytest.mark.parametrize("distribution", PURE)
def test_checklist_37_38_41_made_up_rows_leave_the_answers_of_all_36_nodes_unchanged(
    distribution: Partitioning,
) -> None:
    _, parties, helper = masked_example(distribution)
    private = parties[0]._private
    everybody = run_in_memory([*parties, helper])
    assert multiset(everybody["P1"].outcome.release) == EXPECTED
    assert private is not None
    anonymous = []
    for node in np.ndindex(2, 3, 6):
        cells = helper._cells.at(node)
        sizes = private.decrypt(helper._cells.sums(helper._cells.groups(cells), cells.counters))
        assert sum(sizes) == 8
        if all(size == 0 or size >= 2 for size in sizes):
            anonymous.append(list(node))
    assert anonymous == EXAMPLE["anonymous_nodes"]


def test_checklist_37_40_the_groups_of_the_printed_example() -> None:
    _, parties, helper = masked_example(VERTICAL)
    private = parties[0]._private
    run_in_memory([*parties, helper])
    cells = helper._cells.at((0, 1, 3))
    groups = helper._cells.groups(cells)
    assert private is not None
    true = private.decrypt(helper._cells.sums(groups, cells.counters))
    visible = np.bincount(groups.ids, weights=cells.visible).astype(int)
    expected = [(g["true"], g["visible"]) for g in EXAMPLE["protocolC_vertical"]["groups_at_0_1_3"]]
    assert Counter(zip(true, visible.tolist(), strict=True)) == Counter(expected)


def test_checklist_45_the_printed_example_gives_a_made_up_row_away_and_blocks_do_not() -> None:
    _, parties, helper = masked_example(VERTICAL)
    run_in_memory([*parties, helper])
    assert "1 groups have too few visible rows to be true" in helper.warnings[0]
    everybody = example(MASKED, VERTICAL).run()
    assert everybody["X"].warnings == []


@pytest.mark.parametrize("distribution", PURE)
def test_trap_20_made_up_rows_have_values_of_true_ones(distribution: Partitioning) -> None:
    federation = example(MASKED, distribution, made_up_share=2.0)
    everybody = federation.run()
    for name, height in HEIGHTS.items():
        columns = [t.column(name).to_pylist() for t in federation.tables.values() if name in t.column_names]
        distinct = {value for values in columns for value in values}
        column = everybody["X"]._problem.tuples.columns[name]
        assert column.cardinality == len(distinct)
        assert column.levels.height == height


def test_checklist_39_trap_13_only_one_vertical_party_counts() -> None:
    federation = example(MASKED, VERTICAL)
    participants = federation.participants()
    private = participants[0]._private
    everybody = run_in_memory(participants)
    counts = private.decrypt(everybody["X"]._share.counters)
    assert Counter(counts) == {1: 8, 0: 2}  # a quarter of the people is made up


def test_checklist_43_equal_rows_travel_as_one_and_come_back_as_many() -> None:
    tables = {p: pa.table({"a": ["x"] * 5 + ["y"] * 2}) for p in ("P1", "P2", "P3")}
    contract = dataclasses.replace(
        example(MASKED, HORIZONTAL).contract, columns=(SharedColumn("a", Role.QUASI_IDENTIFIER, height=1),)
    )
    sent = []
    federation = Federation(contract, tables, {"a": lambda _: ["*"]})
    everybody = federation.run(lambda m: sent.append(m))
    assert all(e.shape[0] == ("rows", 2) for e in everybody["X"].transcript if e.kind == "subset")
    assert multiset(everybody["P2"].outcome.release) == {("x",): 15, ("y",): 6}


# ------------------------------------------------------------------ the figures of the example


def test_the_lattice_of_the_example_has_the_printed_sizes_and_losses() -> None:
    table = None
    for part in (
        pa.table({"tid": list(next(iter(d.values()))), **{n: list(v.values()) for n, v in d.items()}})
        for d in EXAMPLE["vertical"].values()
    ):
        table = part if table is None else table.join(part, "tid")
    columns = []
    for name in HEIGHTS:
        column = encode_column(name, table.column(name))
        lines = [[text, *RULES[name](text)] for text in column.values.cast(pa.string()).to_pylist()]
        columns.append(Hierarchy.from_rows(lines).attach(column))
    tuples = Tuples.of_rows(columns)
    for line in EXAMPLE["lattice"]:
        node = tuple(line["node"])
        problem = SearchProblem(tuples, tuple(HEIGHTS), (KAnonymity(1),), Height())
        assert sorted(problem.classes(node).sizes.tolist()) == line["sizes"]
        for loss, expected in (
            (Height(), line["hm"]),
            (PrecisionStar(), 1 - line["pm"]),
            (Entropy(), line["nuem"]),
            (DiscernibilityStar(), line["dm"]),
            (AverageClassSize(2), line["aecs"]),
        ):
            measured = dataclasses.replace(problem, loss=loss).evaluate(node).loss
            assert measured == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("limit", [0.0, 0.3])
@pytest.mark.parametrize(
    ("protocol", "distribution"), [(p, d) for p in (MASKED, Protocol.MASKED_RING) for d in PURE]
)
def test_checklist_44_shared_tests_have_the_same_answers(
    protocol: Protocol, distribution: Partitioning, limit: float
) -> None:
    whole = random_whole(13)
    alone = federate(whole, protocol, distribution, (KAnonymity(3),), Entropy(), limit)
    expected = whole.central((KAnonymity(3),), Entropy(), limit)
    assert expected is not None
    for shared in (False, True):
        everybody = alone.with_contract(shared_tests=shared).run(seed=5)
        outcome = everybody["P2"].outcome
        assert (outcome.levels, multiset(outcome.release)) == expected
        assert ("counters decrypted" in everybody["P2"].work) is shared
        contract = everybody["P1"].contract
        for name, party in everybody.items():
            assert {entry.kind for entry in party.transcript} == set(roles_of(contract)[name])


def test_the_job_of_one_house_is_not_taken_for_that_of_a_federation(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text('[input]\npath = "people.csv"\n')
    with pytest.raises(JobError, match="the job of a federation says what is done"):
        FederatedJob.from_file(job)
