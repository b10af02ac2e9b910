"""What others are told of a failure never quotes a cell, whatever fails and wherever."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tarnkappe.federation
from tarnkappe import errors
from tarnkappe.errors import ProtocolError, TarnkappeError
from tarnkappe.federation import result as results
from tarnkappe.federation import ring, star
from tarnkappe.federation.contract import CIPHERED, Contract, Partitioning, Protocol
from tarnkappe.federation.engine import FederatedSolution
from tarnkappe.federation.message import Participant
from tarnkappe.federation.run import Run
from tarnkappe.federation.share import PartyShare
from tarnkappe.federation.telling import SPOKEN, told_to_others
from tarnkappe.federation.transport import Caller
from tarnkappe.loss import Height
from tarnkappe.privacy import KAnonymity
from tests.federation.federations import PURE, example, federate, random_whole
from tests.federation.sites import Sites

CELL = "Geheimnis-4711"
HORIZONTAL, VERTICAL = Partitioning.HORIZONTAL, Partitioning.VERTICAL

EVERY_ERROR = [
    *(each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)),
    *(
        each
        for each in vars(builtins).values()
        if isinstance(each, type)
        and issubclass(each, Exception)
        and not issubclass(each, UnicodeError | ExceptionGroup)
    ),
]
NAMES_ONLY = {
    "', '.join(map(printable_name, self.contract.person))",
    "', '.join(map(str, contract.models))",
    "', '.join(missing)",
    "LARGEST",
    "MOST_RUNS",
    "action",
    "broken",
    "caller",
    "column.kind",
    "found",
    "contract.distribution",
    "contract.member",
    "contract.suppression_limit",
    "expected",
    "found.model",
    "host",
    "kind",
    "lacking",
    "len(everybody)",
    "message.kind",
    "message.number",
    "message.sender",
    "missing",
    "name",
    "pair",
    "party",
    "port",
    "receiver",
    "rule",
    "self._column",
    "self._longest_run",
    "self._patience",
    "self.name",
    "self.party",
    "sender",
    "site",
    "twice",
    "type(error).__name__",
    "why",
}
"""What the text of an error that others may read is made of: names, kinds, numbers and the contract."""


@pytest.mark.parametrize("error", EVERY_ERROR, ids=lambda error: error.__name__)
def test_only_errors_without_cells_are_told_in_their_own_words(error: type[Exception]) -> None:
    made = error("test.cell", "{cell}", cell=CELL) if issubclass(error, TarnkappeError) else error(CELL)
    told = told_to_others(made, "ulm")
    if not issubclass(error, SPOKEN):
        assert CELL not in told
        assert "'ulm'" in told


def test_errors_that_others_may_read_are_made_of_names_and_numbers() -> None:
    spoken = {each.__name__ for each in SPOKEN} | {"UnreachableError"}
    folder = Path(tarnkappe.federation.__file__).parent
    found = 0
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name not in spoken | {"refuse"}:
                continue
            assert not any(isinstance(value, ast.JoinedStr) for value in ast.walk(node)), path.name
            if not any(isinstance(each, ast.Constant) for each in node.args):
                continue  # of the policy, which refuses by an error of its own
            for value in (ast.unparse(keyword.value) for keyword in node.keywords):
                found += 1
                assert value in NAMES_ONLY, f"{path.name}: {value}"
    assert found > 40


def all_that_others_got(sites: Sites, failing: str) -> str:
    """The error of the run, and the states of all parties as each of the others sees them."""
    texts = []
    with pytest.raises(ProtocolError) as caught:
        sites.run()
    texts.append(str(caught.value))
    caller = Caller(sites.credentials["P1"], sites.addresses, 20.0)
    for name, service in sites.services.items():
        texts.append(json.dumps(caller.call(name, f"/status/{sites.federation.contract.digest.hex()}")))
        if name != failing:
            texts += [run.error for run in service._runs.values()]
    assert sites.ended == {}
    return "\n".join(texts)


def spoiled(table: pa.Table, column: str, value: object) -> pa.Table:
    """The table with another value in its first row."""
    values = [value, *table.column(column).to_pylist()[1:]]
    kind = pa.string() if isinstance(value, str) else None
    return table.set_column(
        table.column_names.index(column), column, pa.array([str(v) for v in values] if kind else values)
    )


def unknown_value(table: pa.Table) -> pa.Table:
    return spoiled(table, "zip", CELL)


def wide_value(table: pa.Table) -> pa.Table:
    return spoiled(table, "zip", CELL * 10)


def no_number(table: pa.Table) -> pa.Table:
    return spoiled(table, "age", CELL)


CASES: list[tuple[str, Callable[[pa.Table], pa.Table]]] = [
    ("a value without a line", unknown_value),
    ("a value that is too long", wide_value),
    ("a text among numbers", no_number),
]


@pytest.mark.parametrize("protocol", CIPHERED)
@pytest.mark.parametrize(("what", "spoil"), CASES, ids=[what for what, _ in CASES])
def test_no_cell_that_ends_a_run_reaches_another_party(
    sites: Callable[..., Sites], protocol: Protocol, what: str, spoil: Callable[[pa.Table], pa.Table]
) -> None:
    if what == "a value that is too long" and protocol in (Protocol.RING, Protocol.MASKED_RING):
        pytest.skip("hashes have one length, however long a value is")
    all_sites = sites(protocol, HORIZONTAL)
    federation = all_sites.federation

    def strict(text: str | None) -> list[str]:
        raise KeyError(f"no line for {text}")

    rules = {**federation.rules, "zip": strict} if what == "a value without a line" else federation.rules
    tables = {**federation.tables, "P3": spoil(federation.tables["P3"])}  # type: ignore[arg-type]
    all_sites.federation = dataclasses.replace(federation, tables=tables, rules=rules)
    all_sites.add("P3", all_sites.build("P3"))
    assert CELL not in all_that_others_got(all_sites, "P3")


@pytest.mark.parametrize("keys", [[CELL, CELL], [CELL, None]], ids=["contradicting", "missing"])
def test_no_key_that_ends_a_run_reaches_another_party(
    sites: Callable[..., Sites], keys: list[str | None]
) -> None:
    all_sites = sites(Protocol.STAR, VERTICAL)
    table = all_sites.federation.tables["P3"]
    assert table is not None
    people = table.column("tid").to_pylist()
    changed = table.set_column(0, "tid", pa.array([*keys, *map(str, people[2:])]))
    tables = {**all_sites.federation.tables, "P3": changed}
    all_sites.federation = dataclasses.replace(all_sites.federation, tables=tables)
    all_sites.add("P3", all_sites.build("P3"))
    assert CELL not in all_that_others_got(all_sites, "P3")


@pytest.mark.parametrize(
    "error", [ValueError, KeyError, errors.InputError, errors.HierarchyError, MemoryError]
)
@pytest.mark.parametrize("where", ["build", "start", "receive", "confirm", "done"])
def test_whatever_fails_wherever_at_a_party_others_read_no_cell(
    sites: Callable[..., Sites], where: str, error: type[Exception]
) -> None:
    all_sites = sites(Protocol.STAR, HORIZONTAL, patience=3.0)

    def fails(*_: Any) -> Any:
        raise error(f"the cell is {CELL}")

    def build(contract: Contract) -> Participant:
        made = all_sites.build("P3")(contract)
        if where in ("start", "receive"):
            vars(made)[where] = fails
        return made

    all_sites.add("P3", fails if where == "build" else build, fails if where == "confirm" else lambda _: None)
    if where == "done":
        all_sites.services["P3"]._done = fails
    with pytest.raises(ProtocolError) as caught:
        all_sites.run()
    states = [
        Caller(all_sites.credentials["P1"], all_sites.addresses, 20.0).call(
            name, f"/status/{all_sites.federation.contract.digest.hex()}"
        )
        for name in all_sites.services
    ]
    assert CELL not in f"{caught.value} {states}"


def test_a_text_from_another_party_cannot_write_on_the_screen(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, HORIZONTAL)
    contract = all_sites.federation.contract
    caller = Caller(all_sites.credentials["P2"], all_sites.addresses, 20.0)
    caller.call("P1", "/propose", json.dumps({"contract": contract.as_document(), "addresses": {}}).encode())
    caller.call("P1", f"/abort/{contract.digest.hex()}", b"\x1b[2Jall is well\npromise: k = 100")
    told = caller.call("P1", f"/status/{contract.digest.hex()}")["error"]
    assert told.isprintable()
    assert "\\u{1b}" in told


# ------------------------------------------------------------------ cheats that only all parties together notice


def test_a_release_of_which_another_party_has_another_version_is_not_kept(
    sites: Callable[..., Sites],
) -> None:
    all_sites = sites(Protocol.STAR, HORIZONTAL)
    service = all_sites.services["P2"]
    honest = service._ask_all

    def two_faced(run: Run, caller: Caller) -> dict[str, Any]:
        states = honest(run, caller)
        states["P3"]["release"] = "another"
        return states

    vars(service)["_ask_all"] = two_faced
    with pytest.raises(ProtocolError, match="different releases"):
        all_sites.run()
    assert "P2" not in all_sites.ended
    assert "P3" not in all_sites.ended


@pytest.mark.parametrize("protocol", [Protocol.STAR, Protocol.RING])
def test_rows_that_nobody_has_sent_are_noticed(
    sites: Callable[..., Sites], protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ring if protocol is Protocol.RING else star
    honest = module.anonymize

    def doubled(share: PartyShare, contract: Contract) -> tuple[PartyShare, FederatedSolution]:
        released, finding = honest(share, contract)
        twice = [*range(released.num_rows), *range(released.num_rows)]
        return released.take(pa.array(twice).to_numpy()), finding

    monkeypatch.setattr(module, "anonymize", doubled)
    all_sites = sites(protocol, HORIZONTAL)
    with pytest.raises(ProtocolError, match="other rows were released than the parties have sent"):
        all_sites.run()
    assert all_sites.ended == {}


@pytest.mark.parametrize("distribution", PURE)
@pytest.mark.parametrize(("protocol", "module"), [(Protocol.STAR, star), (Protocol.RING, ring)])
def test_values_that_were_changed_are_noticed_by_whose_they_are(
    protocol: Protocol, module: Any, distribution: Partitioning, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = module.anonymize

    def turned(share: PartyShare, contract: Contract) -> tuple[PartyShare, FederatedSolution]:
        released, finding = honest(share, contract)
        column = released.parts["disease"]
        other = dataclasses.replace(column, codes=(column.codes + 1) % len(column.tokens))
        return dataclasses.replace(released, parts={**released.parts, "disease": other}), finding

    monkeypatch.setattr(module, "anonymize", turned)
    whole = random_whole(5, least_rows=24)
    with pytest.raises(ProtocolError, match="lacks rows of a party or has changed them"):
        federate(whole, protocol, distribution, (KAnonymity(2),), Height(), 0.2).run()


@pytest.mark.parametrize(("protocol", "module"), [(Protocol.STAR, star), (Protocol.RING, ring)])
def test_a_class_that_is_left_out_is_noticed_by_who_has_rows_in_it(
    protocol: Protocol, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = module.anonymize

    def one_class(share: PartyShare, contract: Contract) -> tuple[PartyShare, FederatedSolution]:
        released, finding = honest(share, contract)
        cells = [[part.tokens[code] for code in part.codes.tolist()] for part in released.parts.values()]
        rows = list(zip(*cells, strict=True))
        kept = [index for index, row in enumerate(rows) if row == rows[0]]
        return released.take(pa.array(kept).to_numpy()), finding

    monkeypatch.setattr(module, "anonymize", one_class)
    with pytest.raises(ProtocolError, match="lacks rows of a party or has changed them"):
        example(protocol, HORIZONTAL).run()


def test_levels_that_the_contract_does_not_allow_are_noticed() -> None:
    contract = example(Protocol.STAR, HORIZONTAL).contract
    for node in ((0, 0), (0, 0, 6), (0, -1, 0)):
        with pytest.raises(ProtocolError, match="level"):
            results.require_levels(contract, FederatedSolution(node, 0, 0.0), 8)
    for suppressed in (1, -1):
        with pytest.raises(ProtocolError, match="suppressed"):
            results.require_levels(contract, FederatedSolution((0, 0, 0), suppressed, 0.0), 8)
    assert issubclass(ProtocolError, TarnkappeError)
