"""What people read is all that they agree to: every field, what is weak, what is not protected, in numbers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.federation.contract import CIPHERED, Contract, Partitioning, Protocol, Reveal, SharedColumn
from tarnkappe.federation.decoding import estimate, match
from tarnkappe.federation.insiders import simulate
from tarnkappe.federation.leakage import ASSUMPTIONS, MEASURED, STATEMENTS
from tarnkappe.federation.party_share import local_share
from tarnkappe.federation.printable import printable
from tarnkappe.federation.wording import describe
from tarnkappe.lattice import SEARCHES, EvaluationSettings
from tarnkappe.loss import LOSSES, Entropy, Height
from tarnkappe.privacy import KAnonymity
from tarnkappe.schema import fields_of
from tarnkappe.table import Role, Table
from tests.attackers.federation.stages import COLUMNS, hierarchies, population
from tests.federation.federations import example
from tests.federation.test_adult import split_adult

HORIZONTAL, VERTICAL = Partitioning.HORIZONTAL, Partitioning.VERTICAL
STAR, RING, MASKED = Protocol.STAR, Protocol.RING, Protocol.MASKED

BASE = dataclasses.replace(
    example(STAR, HORIZONTAL).contract, run="run", weak_ciphers=True, counter_bits=3072, group="ristretto255"
)
CHANGES: dict[str, Any] = {
    "protocol": MASKED,
    "distribution": None,
    "parties": ("P1", "P2", "P4"),
    "columns": None,
    "models": (KAnonymity(7),),
    "loss": Entropy(),
    "suppression_limit": 0.000001,
    "search": SEARCHES.create("auto", {"effort": EvaluationSettings(snapshots=7)}),
    "helper": "Y",
    "key": "tid",
    "regions": None,
    "member": "member",
    "without_data": None,
    "group": "pohlig-hellman-2048",
    "counter_bits": 3073,
    "made_up_share": 0.26,
    "private_keys": True,
    "fill_absent": True,
    "link": None,
    "shared_tests": None,
    "check_master": None,
    "weak_ciphers": False,
    "person": ("insurance_number",),
    "compute": ("P1", "P2", "X"),
    "reveal": Reveal.TESTS,
    "insiders": 1,
    "run": "another",
}
COLUMN_CHANGES: dict[str, Any] = {
    "name": "other",
    "role": Role.SENSITIVE,
    "kind": "float64",
    "height": 3,
    "least_level": 1,
    "width": 41,
    "owner": None,
    "owners": None,
    "labels": (9, 3, 1),
    "hierarchy_digest": "00" * 32,
}


def text_of(contract: Contract) -> str:
    return describe(contract).rpartition("digest ")[0]


def forced(contract: Contract, **changes: Any) -> Contract:
    """A contract with other fields, whether or not they fit together: the text must show them anyway."""
    made = object.__new__(Contract)
    vars(made).update({f.name: getattr(contract, f.name) for f in dataclasses.fields(Contract)} | changes)
    return made


def test_every_field_of_a_contract_changes_what_people_read() -> None:
    assert set(CHANGES) == {field.name for field in dataclasses.fields(Contract)}
    vertical, ring, masked = (
        example(STAR, VERTICAL).contract,
        example(RING, HORIZONTAL).contract,
        example(MASKED, HORIZONTAL).contract,
    )
    special = {
        "distribution": (BASE, {"distribution": Partitioning.HYBRID}),
        "columns": (BASE, {"columns": BASE.columns[:2]}),
        "regions": (BASE, {"regions": (("P1",), ("P2", "P3"))}),
        "without_data": (ring, {"without_data": ("P1",)}),
        "link": (vertical, {"link": True}),
        "shared_tests": (masked, {"shared_tests": True}),
        "check_master": (ring, {"check_master": True}),
    }
    for name, value in CHANGES.items():
        before, change = special.get(name, (BASE, {name: value}))
        assert text_of(before) != text_of(forced(before, **change)), name


def test_every_field_of_a_column_changes_what_people_read() -> None:
    assert set(COLUMN_CHANGES) == {field.name for field in dataclasses.fields(SharedColumn)}
    special = {"owner": {"owner": "P1"}, "owners": {"owners": ("P1",)}}
    for name, value in COLUMN_CHANGES.items():
        first = BASE.columns[1]
        column = object.__new__(SharedColumn)
        vars(column).update(vars(first) | special.get(name, {name: value}))
        assert text_of(BASE) != text_of(forced(BASE, columns=(BASE.columns[0], column, *BASE.columns[2:]))), (
            name
        )


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
def test_every_parameter_of_every_search_changes_text_and_digest(search: Any) -> None:
    plain = forced(BASE, search=search())
    values = {field.name: getattr(search(), field.name) for field in fields_of(search)}
    for name, value in values.items():
        if not isinstance(value, int):
            continue
        other = forced(BASE, search=search(**{name: not value if isinstance(value, bool) else value + 1}))
        assert text_of(plain) != text_of(other), name
        assert plain.digest != other.digest
        assert Contract.from_document(other.as_document()).digest == other.digest
    slow = forced(BASE, search=search(seconds=3.0))
    assert text_of(slow) != text_of(plain)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_parameters_of_losses_change_the_text(loss: Any) -> None:
    texts = {text_of(forced(BASE, loss=each)) for each in loss.examples()}
    assert len(texts) == len(loss.examples())


def test_what_is_weak_is_said_to_be_weak() -> None:
    weak = dataclasses.replace(BASE, group="pohlig-hellman-1536")
    told = describe(weak)
    assert "weaker than recommended" in told
    assert "weak_ciphers: ciphers that can be broken" in told
    assert "group pohlig-hellman-1536: it is there to compare figures" in told
    strong = dataclasses.replace(BASE, weak_ciphers=False, models=(KAnonymity(5),))
    assert "weaker than recommended" not in describe(strong)
    assert "counter_bits 512" in describe(
        dataclasses.replace(example(MASKED, HORIZONTAL).contract, counter_bits=512)
    )


@pytest.mark.parametrize("protocol", CIPHERED)
def test_a_contract_says_in_numbers_what_its_ciphers_give_away(protocol: Protocol) -> None:
    told = describe(example(protocol, HORIZONTAL).contract)
    assert MEASURED[protocol] in told
    assert "% of all cells" in MEASURED[protocol]
    assert "Encryption does not protect against this" in told
    assert any(MEASURED[protocol] in sentence for sentence in ASSUMPTIONS[protocol])
    if protocol.is_masked:
        assert "Made-up rows do not change that." in told
    everything = told + " ".join([*ASSUMPTIONS[protocol], *STATEMENTS[protocol].values()])
    for claim in ("hide how often ciphertexts occur", "Nobody can decrypt"):
        assert claim not in everything


def test_a_contract_never_claims_to_count_people() -> None:
    for protocol in CIPHERED:
        told = describe(example(protocol, HORIZONTAL).contract)
        assert "Rows are counted, not people" in told
        assert "is the word of" in told
        assert "takes its own rows out of the release" in told


def test_numbers_of_the_contract_are_those_that_the_attack_measures(adult: Any) -> None:
    federation, _ = split_adult(adult, STAR, HORIZONTAL)
    table = pa.concat_tables(federation.tables.values())
    order = np.random.default_rng(1).permutation(table.num_rows)
    share = local_share(Table(table.take(order[:18_000])), "P1", federation.contract, federation.rules)
    columns, sizes = (
        [part.codes for part in share.parts.values()],
        [len(p.tokens) for p in share.parts.values()],
    )

    def attacked(known: slice) -> tuple[float, float]:
        read = match([c[:9000] for c in columns], [c[known] for c in columns], sizes)
        right = [mapping[c[:9000]] == c[:9000] for mapping, c in zip(read, columns, strict=True)]
        return float(np.mean(right)), float(np.all(right, axis=0).mean())

    cells, rows = attacked(slice(9000, 18_000))
    assert 0.88 <= cells <= 0.95
    assert 0.15 <= rows <= 0.5
    cells, rows = attacked(slice(0, 3000))
    assert cells >= 0.985
    assert rows >= 0.93


def test_frequencies_alone_and_pairs_of_values_are_both_matched() -> None:
    def codes(*groups: tuple[int, int, int]) -> list[Any]:
        rows = np.repeat([group[:2] for group in groups], [group[2] for group in groups], axis=0)
        return [rows[:, 0].astype(np.int32), rows[:, 1].astype(np.int32)]

    seen, known = codes((0, 1, 40), (1, 0, 39), (2, 0, 21)), codes((0, 1, 39), (1, 0, 40), (2, 0, 21))
    assert [mapping.tolist() for mapping in match(seen, known, [3, 2])] == [[0, 1, 2], [0, 1]]
    alone = match(seen[:1], known[:1], [3])
    assert alone[0].tolist() == [1, 0, 2]


@pytest.mark.parametrize("protocol", [STAR, MASKED])
def test_a_site_measures_what_is_read_of_its_own_rows_and_what_insiders_find(protocol: Protocol) -> None:
    rows = population(1200, 3)
    table = Table(pa.table({name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}))
    lines = {name: {line[0]: line[1:] for line in each} for name, each in hierarchies(rows).items()}
    rules = {name: lambda text, each=each: each[text] for name, each in lines.items()}
    columns = tuple(SharedColumn(n, height=len(next(iter(e.values())))) for n, e in lines.items())
    contract = dataclasses.replace(
        example(protocol, HORIZONTAL).contract,
        columns=(*columns, SharedColumn("diagnosis", Role.SENSITIVE)),
        models=(KAnonymity(5),),
        loss=Height(),
    )
    share = local_share(table, "P1", contract, rules)
    found = estimate(share, contract, "P1")
    assert found is not None
    assert found == estimate(share, contract, "P1")
    assert found.is_reliable
    assert found.high.cells > 0.9
    assert 0.3 < found.low.cells <= found.high.cells
    equal, large = simulate(share.take(np.arange(150)), contract)
    assert equal.insider_share == pytest.approx(1 / 3)
    assert equal.below <= large.below <= 1
    assert large.below > 0


@pytest.mark.parametrize(
    "name",
    [
        "a\nb",
        "a\rb",
        "a\x1b[31mb",
        "a\x9bb",
        "a\u202eb",
        "a\u2066b",
        "a\u0301\u0301",
        "a\u2028b",
        "a\x00",
        "שלום",
    ],
)
def test_no_name_reaches_a_screen_as_it_is(name: str) -> None:
    shown = printable(name)
    assert shown.isprintable()
    assert all(each.isascii() for each in shown)
    assert printable(shown) != shown  # what looks like an escape is one, and not a name that imitates it


@pytest.mark.parametrize(
    "model", [{"model": "k-anonymity", "k": 1}, {"model": "entropy-diversity", "column": "s", "l": 1}]
)
def test_a_promise_that_protects_nobody_is_no_contract(model: dict[str, Any]) -> None:
    document = {**BASE.as_document(), "models": [model]}
    with pytest.raises(ParameterError, match="protects nobody"):
        Contract.from_document(document)
    with pytest.raises(ParameterError, match="promises nothing"):
        Contract.from_document({**document, "models": []})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weak_ciphers", "false"),
        ("parties", "ulm"),
        ("made_up_share", "much"),
        ("made_up_share", float("nan")),
        ("counter_bits", 3072.5),
        ("check_master", 0),
        ("helper", 7),
        ("suppression_limit", -0.1),
        ("suppression_limit", 2),
        ("run", ""),
    ],
)
def test_values_of_other_types_are_no_contract(name: str, value: Any) -> None:
    with pytest.raises((ParameterError, ColumnError)):
        Contract.from_document({**BASE.as_document(), name: value})
