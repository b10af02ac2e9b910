"""What each party learns: the report is complete, and attackers who look at their transcripts find no more.

The attackers are a curious party, a curious helper, a curious holder of the counters' key, and somebody who
watches the length of messages on the wire.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.arrow_wire import tokens_of, unpack
from tarnkappe.federation.contract import CIPHERED, Partitioning, Protocol, SharedColumn
from tarnkappe.federation.leakage import ASSUMPTIONS, STATEMENTS, LeakageReport, foretell, roles_of, statement
from tarnkappe.federation.message import Message, Participant, TranscriptEntry
from tarnkappe.federation.runner import run_in_memory
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.loss import Entropy, Height
from tarnkappe.privacy import EqualCloseness, KAnonymity
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Role
from tests.federation.federations import PURE, Federation, example, federate, random_whole

EVERY_RUN = [(p, d) for p in CIPHERED for d in PURE]
IN_PLAIN = ("release", "decode")


def recorded(
    federation: Federation, **options: object
) -> tuple[dict[str, list[Message]], Mapping[str, Participant]]:
    """All messages of a run by receiver."""
    received: dict[str, list[Message]] = defaultdict(list)
    everybody = run_in_memory(
        federation.participants(**options), watch=lambda m: received[m.receiver].append(m), seed=1
    )
    return received, everybody


def secretive(
    protocol: Protocol, distribution: Partitioning, letter: str = "a", length: int = 9
) -> Federation:
    """A federation whose values are long and occur nowhere else, so that they can be looked for in bytes."""
    whole = random_whole(13, least_rows=24, most_rows=24)
    spell = {}
    for name in whole.table.column_names:
        if pa.types.is_string(whole.table.schema.field(name).type):
            for value in dict.fromkeys(whole.table.column(name).to_pylist()):
                spell[value] = f"{letter * length}-{name}-{len(spell):03d}"
    table = pa.table(
        {
            n: [spell.get(v, v) for v in whole.table.column(n).to_pylist()]
            if pa.types.is_string(whole.table.schema.field(n).type)
            else whole.table.column(n)
            for n in whole.table.column_names
        }
    )
    rules = {
        n: Hierarchy.from_rows([[spell.get(r[0], f"{letter}{r[0]}"), *r[1:]] for r in rule.rows()])
        for n, rule in whole.rules.items()
    }
    renamed = type(whole)(table, rules, whole.quasi_identifiers)
    return federate(renamed, protocol, distribution, (KAnonymity(3),), Height(), 0.3, seed=4)


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_checklist_27_nobody_receives_a_value_in_plain_that_is_not_released(
    protocol: Protocol, distribution: Partitioning
) -> None:
    federation = secretive(protocol, distribution)
    received, everybody = recorded(federation)
    texts = {
        str(value).encode()
        for table in federation.tables.values()
        for name in table.column_names
        for value in table.column(name).to_pylist()
        if isinstance(value, str)
    }
    outcome = everybody["P1"].outcome
    assert outcome is not None
    released = {str(v).encode() for column in outcome.release.columns for v in column.to_pylist()}
    assert texts - released, "some values must stay secret for this test to mean anything"
    for message in itertools.chain.from_iterable(received.values()):
        secret = texts - released if message.kind in IN_PLAIN else texts
        assert not [text for text in secret if text in message.body], message.kind


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_checklist_55_the_report_says_of_every_message_what_it_tells(
    protocol: Protocol, distribution: Partitioning
) -> None:
    federation = example(protocol, distribution)
    received, everybody = recorded(federation)
    transcripts = {name: participant.transcript for name, participant in everybody.items()}
    report = LeakageReport.of(federation.contract, transcripts)
    for name, messages in received.items():
        kinds = {message.kind for message in messages}
        assert kinds == set(roles_of(federation.contract)[name])
        assert kinds == {each.kind for each in report.of_party(name)}
        assert sum(each.size for each in report.of_party(name)) == sum(len(m.body) for m in messages)
        told_at_the_end = 1 if name == federation.contract.helper else 2  # the transcript, and how it ended
        assert len(foretell(federation.contract)[name]) == len(kinds) + told_at_the_end
    assert all(assumption in str(report) for assumption in ASSUMPTIONS[protocol])
    assert report.as_document()["contract"] == federation.contract.digest.hex()


def test_a_message_that_was_not_foretold_makes_the_report_fail() -> None:
    contract = example(Protocol.STAR, Partitioning.HORIZONTAL).contract
    stray = TranscriptEntry("P1", "P2", "subset", 1, (), "")
    with pytest.raises(ProtocolError, match="'P2' received a 'subset', which was not foretold"):
        LeakageReport.of(contract, {"P2": [stray]})
    with pytest.raises(ProtocolError, match="says nothing"):
        statement(contract, "gossip")


def test_every_kind_of_message_has_a_statement() -> None:
    for protocol, distribution in EVERY_RUN:
        for limit in (0.0, 0.1):
            contract = example(protocol, distribution, suppression_limit=limit).contract
            kinds = set(itertools.chain.from_iterable(roles_of(contract).values()))
            assert kinds <= set(STATEMENTS[protocol])


def test_the_statement_follows_the_loss_and_the_models() -> None:
    plain = example(Protocol.MASKED, Partitioning.HORIZONTAL).contract
    assert statement(plain, "marginals") == "nothing"
    counting = example(Protocol.MASKED, Partitioning.HORIZONTAL, loss=Entropy()).contract
    assert "how often each value" in statement(counting, "marginals")
    whole = random_whole(1)
    close = federate(
        whole, Protocol.MASKED, Partitioning.HORIZONTAL, (EqualCloseness("disease", 0.5),), Height()
    ).contract
    assert "sensitive values" in statement(close, "test")


# ------------------------------------------------------------------ a curious party


@pytest.mark.parametrize("distribution", PURE)
@pytest.mark.parametrize("protocol", [Protocol.STAR, Protocol.MASKED, Protocol.MASKED_RING])
def test_checklist_36_no_party_receives_the_encrypted_share_of_another(
    protocol: Protocol, distribution: Partitioning
) -> None:
    received, _ = recorded(example(protocol, distribution))
    for party in ("P1", "P2", "P3"):
        assert "subset" not in {message.kind for message in received[party]}


class NoChance(Chance):
    """Everything stays where it is."""

    def order(self, number: int) -> np.ndarray:
        return np.arange(number)


def many_values(protocol: Protocol = Protocol.RING, **options: object) -> Federation:
    """Three parties with thirty different values each, in one column."""
    values = [f"v{i:02d}" for i in range(30)]
    contract = example(protocol, Partitioning.HORIZONTAL).contract
    federation = Federation(contract, {}, {"a": lambda _: ["*"]}).with_contract(
        columns=(SharedColumn("a", Role.QUASI_IDENTIFIER, height=1),), **options
    )
    tables = {party: pa.table({"a": values}) for party in contract.parties}
    return Federation(federation.contract, tables, federation.rules)


def guessed_by_position(chance: Chance) -> int:
    """The master compares the order of the tokens that it sent with the order in which they come back."""
    federation = many_values()
    received, everybody = recorded_with_keys(federation, chance)
    (partial,) = [m for m in received["P1"] if m.kind == "partial"]
    seen = tokens_of(unpack(partial.body, "P2"), "tokens/a", "P2")
    own = everybody["P1"].dictionary
    return sum(everybody["P1"].fully[value] == token for value, token in zip(own, seen, strict=False))


def recorded_with_keys(
    federation: Federation, chance: Chance
) -> tuple[dict[str, list[Message]], Mapping[str, Participant]]:
    """A run in which the test, unlike any party, knows all keys and so the truth."""
    received: dict[str, list[Message]] = defaultdict(list)
    participants = federation.participants(chance=chance)
    keys = [dict(p._layers._keys) for p in participants]
    master = participants[0]
    group, part = master._layers._group, master._share.parts["a"]
    layered = group.embed(federation.contract.digest + b"a", part.tokens)
    for key in keys:
        layered = group.apply(key["a"], layered)
    master.fully = dict(zip(part.tokens, layered, strict=True))
    master.dictionary = list(part.tokens)
    everybody = run_in_memory(participants, watch=lambda m: received[m.receiver].append(m))
    return received, everybody


def test_trap_3_positions_in_a_dictionary_tell_nothing() -> None:
    assert guessed_by_position(Chance()) <= 8  # one by chance; more than eight once in 100,000 runs
    assert guessed_by_position(NoChance()) >= 30, "without shuffling the attack must work"


# ------------------------------------------------------------------ a curious helper


def test_the_helper_of_a_star_never_sees_what_keys_are_made_of() -> None:
    received, _ = recorded(example(Protocol.STAR, Partitioning.VERTICAL))
    assert {m.kind for m in received["X"]} == {"subset"}


def test_trap_26_two_runs_over_the_same_data_share_no_ciphertext() -> None:
    def tokens() -> set[bytes]:
        federation = example(Protocol.STAR, Partitioning.HORIZONTAL)
        received, _ = recorded(federation)
        return {
            token
            for m in received["X"]
            for name in ("sex", "age", "zip")
            for token in tokens_of(unpack(m.body, m.sender), f"tokens/{name}", m.sender)
        }

    assert not tokens() & tokens()


def test_masked_rows_hide_how_often_things_occur() -> None:
    """In a star the helper counts true rows; in a masked star the groups that it sees have other sizes."""
    whole = random_whole(2, least_rows=30)
    true = sorted(
        whole.problem((KAnonymity(2),), Height(), 0).classes((0,) * len(whole.quasi_identifiers)).sizes
    )
    for distribution in PURE:
        federation = federate(
            whole, Protocol.MASKED, distribution, (KAnonymity(2),), Height(), made_up_share=0.5
        )
        _, everybody = recorded(federation)
        helper = everybody["X"]
        bottom = helper._cells.bottom
        assert sorted(bottom.visible.tolist()) != true


# ------------------------------------------------------------------ a curious holder of the counters' key


@pytest.mark.parametrize("limit", [0.0, 0.3])
@pytest.mark.parametrize("distribution", PURE)
def test_trap_15_no_counter_is_ever_seen_twice(distribution: Partitioning, limit: float) -> None:
    federation = example(Protocol.MASKED, distribution, loss=Entropy(), suppression_limit=limit)
    received, _ = recorded(federation)
    sent = [
        token
        for message in received["X"]
        if message.kind == "subset"
        for token in tokens_of(unpack(message.body, message.sender), "counters", message.sender)
    ]
    returned = []
    for message in received["P1"]:
        for name, table in unpack(message.body, message.sender).items():
            if name in ("sizes", "counters", *federation.contract.quasi_identifiers):
                returned += tokens_of({name: table}, name, message.sender)
    assert len(set(sent)) == len(sent)
    assert len(set(returned)) == len(returned) > 0
    assert not set(sent) & set(returned)


def test_the_holder_of_the_key_sees_no_labels_in_tests() -> None:
    received, _ = recorded(example(Protocol.MASKED, Partitioning.VERTICAL))
    for message in received["P1"]:
        if message.kind == "test":
            tables = unpack(message.body, message.sender)
            assert set(tables) == {"facts", "sizes"}
            assert tables["sizes"].column_names == ["token"]
            assert tables["facts"].column_names == ["test", "node"]


def test_the_result_tells_the_holder_of_the_key_nothing_beyond_the_release() -> None:
    """Equal rows come added up: no counter tells how many rows of one party are behind it."""
    whole = random_whole(8, least_rows=25)
    federation = federate(whole, Protocol.MASKED, Partitioning.HORIZONTAL, (KAnonymity(3),), Height(), 0.3)
    received, _ = recorded(federation)
    (result,) = [m for m in received["P1"] if m.kind == "result"]
    rows = unpack(result.body, "X")["rows"]
    assert rows.num_rows == len({tuple(row.values()) for row in rows.to_pylist()})


# ------------------------------------------------------------------ somebody who watches the wire


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_the_length_of_messages_depends_on_shapes_only(
    protocol: Protocol, distribution: Partitioning
) -> None:
    lengths = []
    for letter, length in (("a", 1), ("b", 12)):
        received, _ = recorded(secretive(protocol, distribution, letter, length), chance=Chance(3))
        lengths.append(
            {
                name: [(m.kind, len(m.body)) for m in each if m.kind not in IN_PLAIN]
                for name, each in received.items()
            }
        )
    assert lengths[0] == lengths[1]
