"""People of a population who are not released: they are counted, and never shown."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.errors import ParameterError, ProtocolError
from tarnkappe.federation.contract import Partitioning, Protocol
from tarnkappe.federation.leakage import foretell
from tarnkappe.federation.support import refuse_unsupported
from tarnkappe.lattice import Exhaustive, SearchProblem
from tarnkappe.loss import Height
from tarnkappe.privacy import DeltaPresence, KAnonymity, KMap, Model
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import encode_column
from tests.federation.federations import PURE, example, federate, random_whole


@pytest.mark.parametrize("model", [DeltaPresence(0.0, 0.6), DeltaPresence(0.1, 0.7), KMap(4)], ids=str)
@pytest.mark.parametrize("distribution", PURE)
@pytest.mark.parametrize("protocol", [Protocol.RING, Protocol.STAR])
def test_trap_28_members_of_a_population_are_counted(
    protocol: Protocol, distribution: Partitioning, model: Model
) -> None:
    whole = random_whole(13, least_rows=24, most_rows=24)
    rng = np.random.default_rng(2)
    member = rng.random(24) < 0.4
    federation = federate(whole, protocol, distribution, (KAnonymity(2),), Height(), 0.3, seed=3)
    federation = federation.with_contract(models=(model,), member="member")
    holder = federation.contract.column(whole.quasi_identifiers[0]).owner
    marked = {
        frozenset(row.items()): flag
        for row, flag in zip(whole.table.drop_columns(["tid"]).to_pylist(), member, strict=True)
    }
    by_key = dict(zip(whole.table.column("tid").to_pylist(), member, strict=True))
    tables = {}
    for party, table in federation.tables.items():
        if distribution is Partitioning.VERTICAL:
            flags = [by_key[key] for key in table.column("tid").to_pylist()]
        else:
            flags = [marked[frozenset(row.items())] for row in table.to_pylist()]
        tables[party] = table.append_column("member", pa.array(flags)) if holder in (None, party) else table
    if distribution is Partitioning.HORIZONTAL:  # equal rows share a mark
        member = np.array(
            [marked[frozenset(r.items())] for r in whole.table.drop_columns(["tid"]).to_pylist()]
        )
    columns = [
        whole.rules[n].attach(encode_column(n, whole.table.column(n))) for n in whole.quasi_identifiers
    ]
    tuples = Tuples({c.name: c for c in columns}, member.astype(np.int64), np.ones(24, np.int64))
    best = Exhaustive().run(SearchProblem(tuples, whole.quasi_identifiers, (model,), Height(), 0.3)).best
    everybody = dataclasses.replace(federation, tables=tables).run()
    assert best is not None
    assert tuple(everybody["P1"].outcome.levels.values()) == best.node
    assert everybody["P1"].outcome.release.num_rows == member.sum() - best.suppressed
    contract = federation.contract
    learned = {line for lines in foretell(contract).values() for line in lines}
    assert any("which rows are to be released" in line for line in learned if line.startswith("subset"))


def test_parties_that_do_not_say_who_is_released_end_the_run() -> None:
    federation = example(Protocol.STAR, Partitioning.HORIZONTAL, KMap(2)).with_contract(member="member")
    with pytest.raises(ProtocolError, match="no party has the column 'member'"):
        federation.run()
    some = federation.tables["P2"]
    marked = some.append_column("member", pa.array([True] * some.num_rows))
    with pytest.raises(ProtocolError, match="only some of the parties say who is to be released"):
        dataclasses.replace(federation, tables={**federation.tables, "P2": marked}).run()


@pytest.mark.parametrize("protocol", [Protocol.MASKED, Protocol.MASKED_RING])
@pytest.mark.parametrize("model", [DeltaPresence(0.0, 0.6), KMap(3)], ids=str)
def test_a_masked_run_refuses_populations_with_the_reason(protocol: Protocol, model: Model) -> None:
    contract = example(protocol, Partitioning.HORIZONTAL).contract
    for changes in ({"models": (model,)}, {"member": "member"}):
        with pytest.raises(ParameterError, match="a row has one counter"):
            refuse_unsupported(dataclasses.replace(contract, **changes))
