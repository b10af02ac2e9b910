"""Adult over three parties: the levels of one house with all the data, and no more traffic than the model says.

With the published lengths of codes and ciphertexts the model gives the traffic that was measured without
compression; our messages are not compressed, since their lengths would then tell of their content.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.federation.contract import Contract, Partitioning, Protocol, SharedColumn
from tarnkappe.federation.cost import FederationWorkload, Speed, estimate
from tarnkappe.federation.message import Message
from tarnkappe.lattice import AutoSearch, SearchProblem
from tarnkappe.loss import Entropy
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import Role, Tuples
from tarnkappe.table.encoding import encode_column
from tarnkappe_bench.adult import read_adult
from tests.federation.federations import HELPER, Federation

PARTIES = ("P1", "P2", "P3")
OWNERS = {
    "P1": ("age", "race", "sex"),
    "P2": ("education", "marital-status", "native-country"),
    "P3": ("occupation", "salary-class", "workclass"),
}
PUBLISHED = FederationWorkload(parties=3, rows=30_162, columns=9, distinct=166)


def split_adult(
    folder: Path, protocol: Protocol, distribution: Partitioning
) -> tuple[Federation, SearchProblem]:
    """Adult as it was distributed in the published measurements, and the problem of one house with all of it."""
    adult = read_adult(folder.parent)
    data = pa.table(
        {
            n: c.cast(pa.string())
            for n, c in zip(adult.table.column_names, adult.table.data.columns, strict=True)
        }
    )
    rules = adult.hierarchies
    vertical = distribution is Partitioning.VERTICAL
    owner = {name: party for party, names in OWNERS.items() for name in names} if vertical else {}
    columns = tuple(
        SharedColumn(name, Role.QUASI_IDENTIFIER, "string", rules[name].height, owner=owner.get(name))
        for name in data.column_names
    )
    contract = Contract(
        protocol,
        distribution,
        PARTIES,
        columns,
        (KAnonymity(5),),
        Entropy(),
        helper=None if protocol is Protocol.RING else HELPER,
        key="person" if vertical else None,
    )
    if vertical:
        people = data.append_column("person", pa.array([f"{i:06}" for i in range(data.num_rows)]))
        tables = {party: people.select(["person", *names]) for party, names in OWNERS.items()}
    else:
        cuts = np.linspace(0, data.num_rows, len(PARTIES) + 1).astype(int).tolist()
        tables = {p: data.slice(cuts[i], cuts[i + 1] - cuts[i]) for i, p in enumerate(PARTIES)}
    encoded = [rules[name].attach(encode_column(name, data.column(name))) for name in data.column_names]
    central = SearchProblem(
        Tuples.of_rows(encoded).distinct(), tuple(data.column_names), contract.models, contract.loss
    )
    return Federation(contract, tables, rules), central


def compare(federation: Federation, central: SearchProblem) -> None:
    best = AutoSearch().run(central).best
    assert best is not None
    sent: list[Message] = []
    outcome = federation.run(sent.append, seed=None)["P2"].outcome
    assert tuple(outcome.levels.values()) == best.node
    assert outcome.release.num_rows == int(central.tuples.counts.sum())
    contract, bits = federation.contract, {Protocol.RING: 192, Protocol.STAR: 128}
    published = estimate(
        contract.protocol, contract.distribution, PUBLISHED, Speed(1, 1, bits[contract.protocol])
    )
    assert 0 < sum(len(message.body) for message in sent) <= published.bits / 8


@pytest.mark.parametrize("protocol", [Protocol.RING, Protocol.STAR])
def test_checklist_49_51_traffic_of_rows(adult: Path, protocol: Protocol) -> None:
    compare(*split_adult(adult, protocol, Partitioning.HORIZONTAL))


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [Protocol.RING, Protocol.STAR])
def test_checklist_49_51_traffic_of_columns(adult: Path, protocol: Protocol) -> None:
    compare(*split_adult(adult, protocol, Partitioning.VERTICAL))
