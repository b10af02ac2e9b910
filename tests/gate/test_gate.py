"""The gate and the population: what is asked, what is said, what is kept."""

from __future__ import annotations

import json
import threading

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.errors import ColumnError, ParameterError, VerificationError
from tarnkappe.gate import STRATEGIES, Answer, Gate, HistoryEntry, Population, Refusal, WitnessPool
from tarnkappe.gate.certificate import certify
from tarnkappe.table.table import Table
from tests.conftest import FIXTURES
from tests.gate import twin

RUNNING = json.loads((FIXTURES / "gate" / "histories.json").read_text(encoding="utf-8"))[0]


def test_a_population_is_read_from_a_table_with_roles() -> None:
    data = pa.table({"name": ["Ann", "Bob", "Cid"], "age": [20, 21, 22], "disease": ["flu", None, "flu"]})
    roles = {"identifiers": ["name"], "quasi_identifiers": ["age"], "sensitive": ["disease"]}
    people = Population.from_table(Table(data).with_roles(**roles))
    assert len(people) == 3
    assert people.labels == ["flu", "(missing)"]
    assert [people.secret(name) for name in ("Ann", "Bob", "Cid")] == [0, 1, 0]


@pytest.mark.parametrize(
    ("names", "roles", "message"),
    [
        (["Ann", "Ann"], {"identifiers": ["name"], "sensitive": ["disease"]}, "names 1 row twice"),
        (["Ann", None], {"identifiers": ["name"], "sensitive": ["disease"]}, "some rows have none"),
        (
            ["Ann", "Bob"],
            {"sensitive": ["disease"]},
            "exactly one column with the role identifier; it has none",
        ),
        (
            ["Ann", "Bob"],
            {"identifiers": ["name"], "sensitive": ["disease", "age"]},
            "it has 'age', 'disease'",
        ),
    ],
)
def test_a_table_that_breaks_the_assumptions_is_refused(names, roles, message) -> None:
    data = pa.table({"name": names, "age": [20, 21], "disease": ["flu", "cold"]})
    with pytest.raises(ColumnError, match=message) as error:
        Population.from_table(Table(data).with_roles(**roles))
    assert "Ann" not in str(error.value), "an error quotes nobody"


def test_the_running_example_is_answered_for_k_2_and_the_second_query_refused_for_k_3() -> None:
    population = Population({int(t): v for t, v in RUNNING["truth"].items()}, "ABCD")
    gate = Gate(population, 2, may_add=False)
    assert [gate.ask(query).blocks[0].values for query in RUNNING["queries"]] == [
        ("A", "A", "B", "C"),
        ("A", "B", "B", "D"),
        ("A", "B", "C", "D"),
    ]
    assert all(degree >= 2 for degree in gate.degrees().values())
    strict = Gate(population, 3, may_add=False)
    assert [type(strict.ask(query)) for query in RUNNING["queries"]] == [Answer, Refusal, Answer]


def test_nobody_is_asked_for_twice_and_nobody_unknown() -> None:
    gate = Gate(Population({1: "A", 2: "B"}), 1)
    with pytest.raises(ParameterError, match="twice"):
        gate.ask([1, 1])
    with pytest.raises(ParameterError, match="not in the protected table"):
        gate.ask([1, 3])
    assert gate.knowledge.results == 0
    assert gate.degrees() == {}
    assert gate.ask([]).blocks == ()


def test_the_texts_for_a_log_tell_neither_how_many_values_are_artificial_nor_whom_a_refusal_protects() -> (
    None
):
    gate = Gate(Population({1: "A", 2: "A", 3: "B"}), 2)
    gate.ask([1, 2, 3])
    assert "artificial" not in repr(gate.ask([1, 2]))
    assert repr(Gate(Population({1: "A"}), 2).ask([1])) == "Refusal()"


def test_testing_for_values_by_refusals_fails_when_artificial_values_are_added() -> None:
    """F5.4: in refusal mode three refused queries tell Emily's value; with artificial values nothing is refused."""
    truth = {"Alina": "A", "Clive": "B", "Doris": "C", "Emily": "D"}
    probes = [["Alina", "Clive", "Emily"], ["Alina", "Doris", "Emily"], ["Clive", "Doris", "Emily"]]
    refusing = Gate(Population(truth), 3, may_add=False)
    assert isinstance(refusing.ask(["Alina", "Clive", "Doris"]), Answer)
    assert all(isinstance(refusing.ask(probe), Refusal) for probe in probes)
    for letter, answered in (("C", 0), ("B", 1), ("A", 2)):
        other = Gate(Population(truth | {"Emily": letter}), 3, may_add=False)
        other.ask(["Alina", "Clive", "Doris"])
        assert isinstance(other.ask(probes[answered]), Answer), "so each refusal excludes one value for Emily"
    adding = Gate(Population(truth), 3)
    assert all(isinstance(adding.ask(q), Answer) for q in [["Alina", "Clive", "Doris"], *probes])
    assert twin.degree(twin.published(adding.knowledge)) >= 3


def test_many_clients_at_once_are_decided_one_after_the_other() -> None:
    rng = np.random.default_rng(7)
    gate = Gate(Population({i: "ABCDEF"[v] for i, v in enumerate(rng.integers(0, 6, 120))}), 3)
    asked = [[int(i) for i in rng.choice(120, 6, replace=False)] for _ in range(32)]
    failures: list[BaseException] = []

    def client(own: list[list[int]]) -> None:
        try:
            for query in own:
                gate.ask(query)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=client, args=(asked[i::8],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert gate.knowledge.results == 32
    certify(gate.knowledge, gate.strategy.state()["witnesses"], 3)


def test_a_forged_certificate_is_not_taken_over() -> None:
    population = Population({i: "AABBC"[i] for i in range(5)})
    entries: list[HistoryEntry] = []
    gate = Gate(population, 2, record=lambda entry, strategy: entries.append(entry))
    gate.ask([0, 1, 2, 3])
    gate.ask([0, 2, 4])
    forged = gate.strategy.state()["witnesses"]
    forged[-1] = (forged[-1] + 1) % 3
    with pytest.raises(VerificationError):
        Gate(population, 2).resume(entries, {"witnesses": forged})


def test_strategies_are_made_by_name() -> None:
    assert STRATEGIES.create("witness-pool", {"steps": 50}) == WitnessPool(steps=50)
    with pytest.raises(ParameterError, match="did you mean"):
        STRATEGIES["witnes-pool"]


def test_a_larger_history_is_proven_by_its_certificate_alone() -> None:
    """30 answers about 300 people, checked without a solver; a restart needs none either."""
    rng = np.random.default_rng(11)
    population = Population({i: f"v{v}" for i, v in enumerate(rng.integers(0, 12, 300))})
    entries: list[HistoryEntry] = []
    gate = Gate(population, 4, record=lambda entry, strategy: entries.append(entry))
    for _ in range(30):
        assert isinstance(gate.ask(rng.choice(300, 15, replace=False).tolist()), Answer)
    state = gate.strategy.state()
    certify(gate.knowledge, state["witnesses"], 4)
    for given in (state, None):
        other = Gate(population, 4)
        other.resume(entries, given)
        assert min(other.degrees().values()) >= 4
    with pytest.raises(VerificationError):
        Gate(population, 4).resume(entries[:-1], state)
