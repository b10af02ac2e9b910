"""What the owner is shown is what an attacker works out: exact signatures, and tables that really fit."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.cli import main
from tarnkappe.errors import ParameterError
from tarnkappe.gate import Exact, Gate, LabelDomain, Population
from tests.attackers.gate.worlds import Told, enumerated

LABELS = ("A", "B", "C", "D")


def told(gate: Gate) -> Told:
    """The answers of a gate as the attacker writes them down."""
    found = Told(labels=list(LABELS))
    for result in gate.knowledge.answers:
        people = tuple((int(number), 0) for number in gate.knowledge.members(result))
        counts = Counter({LABELS[v]: int(n) for v, n in enumerate(gate.knowledge.counts(result)) if n})
        found.answers.append((people, counts))
    return found


@settings(max_examples=40)
@given(
    values=st.lists(st.sampled_from(LABELS), min_size=3, max_size=6),
    questions=st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=4),
    domain=st.booleans(),
)
def test_signatures_and_witnesses_are_those_of_the_attacker(
    values: list[str], questions: list[set[int]], domain: bool
) -> None:
    population = Population(dict(enumerate(values)), LABELS)
    gate = Gate(population, 2, domain=LabelDomain(LABELS)) if domain else Gate(population, 2, Exact())
    for people in questions:
        gate.ask(sorted(person for person in people if person < len(values)))
    if not gate.knowledge.tuples:
        return
    before = gate.knowledge.view.allowed.copy()
    attacker, numbers = told(gate), gate.returned.number
    left = {person: enumerated(attacker)[number, 0] for person, number in numbers.items()}
    assert {person: set(found) for person, found in gate.signatures().items()} == left
    for person in numbers:
        for label in LABELS:
            world = gate.witness(person, label)
            assert (world is not None) == (label in left[person])
            if world is not None:
                assert world[person] == label
                true = {(number, 0): values[who] for who, number in numbers.items()}
                assert attacker.fits(true | {(numbers[who], 0): value for who, value in world.items()})
    assert (gate.knowledge.view.allowed == before).all(), "looking leaves no trace"


def test_exact_degrees_of_the_running_example_are_above_what_the_strategy_shows() -> None:
    """Eight people of whom three answers are known: exact keeps k = 1 and shows no more than it needs."""
    people = dict(zip("ABCDEFGH", "xyzxyzxw", strict=True))
    gate = Gate(Population(people), 1, Exact())
    for asked in ("ABC", "BCDE", "DEFGH"):
        gate.ask(asked)
    exact = {person: len(values) for person, values in gate.signatures().items()}
    assert all(exact[person] >= degree for person, degree in gate.degrees().items())
    assert max(exact.values()) > 1


def test_what_is_not_there_is_said() -> None:
    gate = Gate(Population({"a": "A", "b": "B"}, LABELS), 2, domain=LabelDomain(LABELS))
    assert gate.signatures() == {}
    gate.ask(["a"])
    with pytest.raises(ParameterError, match="was in no answer"):
        gate.witness("b", "A")
    with pytest.raises(ParameterError, match="the list has no such value"):
        gate.witness("a", "E")


POLICY = """
[table]
source = "people.csv"
name = "people"
key = "id"
quasi_identifiers = ["age"]

[sensitive.disease]
values = ["flu", "cold", "gout", "asthma"]

[protection]
k = 3
"""


def test_the_command_shows_degrees_values_and_a_witness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tarnkappe.gate.monitor import QueryMonitor
    from tarnkappe.gate.policy import GatePolicy
    from tarnkappe.gate.question import GateQuery

    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"p{n},{20 + n},{('flu', 'cold', 'gout')[n % 3]}" for n in range(9))
    Path("people.csv").write_text(f"id,age,disease\n{rows}\n", encoding="utf-8")
    Path("gate.toml").write_text(POLICY, encoding="utf-8")

    def said(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["gate", "possible", "--policy", "gate.toml", *words])
        captured = capsys.readouterr()
        return captured.out + captured.err if ended.value.code else captured.out

    assert "nothing was answered yet" in said()
    keeper = QueryMonitor.open(GatePolicy.load(Path("gate.toml")))
    for most in (24, 27):
        keeper.answer("ann", GateQuery(("disease",), '"age" < ?', (most,)))
    keeper.close()
    (found,) = json.loads(said("--json"))["histories"]
    assert sum(found["degrees"].values()) == 7
    assert min(map(int, found["degrees"])) >= 3
    assert "people keep" in said()
    (own,) = json.loads(said("--person", "p0", "--json"))["histories"]
    assert len(own["values"]) >= 3
    for value in own["values"]:
        (shown,) = json.loads(said("--person", "p0", "--value", value, "--json"))["histories"]
        assert shown["witness"]["p0"] == value
        assert len(shown["witness"]) == 7
    assert "was in no answer" in said("--person", "p8")
    assert "nobody with the key" in said("--person", "p99")
    assert "--value needs --person" in said("--value", "flu")
    assert "no such value" in said("--person", "p0", "--value", "plague")
