"""One-way and reversible pseudonyms, against who has a list of everybody, and who changes what he sees."""

from __future__ import annotations

import hashlib
import hmac
import json
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import AccessError, ColumnError, ParameterError
from tarnkappe.pseudonym import (
    KeyPair,
    OneWay,
    Reversible,
    identities,
    identity,
    pseudonymize,
    reidentify,
)
from tarnkappe.pseudonym.code import decode, encode
from tarnkappe.pseudonym.sealing import seal
from tarnkappe.state import Key
from tarnkappe.table import Table

KEY = Key(bytes(range(32)))
people = st.lists(
    st.tuples(st.none() | st.text(max_size=8), st.text(min_size=1, max_size=40)), unique=True, max_size=6
)
METHODS = [OneWay, Reversible]


@pytest.mark.parametrize("method", METHODS)
@given(people)
def test_no_synonyms_and_no_homonyms(method, some) -> None:
    given_names = method(KEY, "a").pseudonyms(some)
    assert len(set(given_names)) == len(some)
    assert method(KEY, "a").pseudonyms(some[::-1]) == given_names[::-1]


@pytest.mark.parametrize("method", METHODS)
def test_other_projects_and_keys_give_other_pseudonyms(method) -> None:
    person = [("Ann",)]
    ours = method(KEY, "a").pseudonyms(person)
    assert ours not in (method(KEY, "b").pseudonyms(person), method(Key.new(), "a").pseudonyms(person))


def test_one_way_is_hmac_of_a_key_of_its_own() -> None:
    """The twin, written out."""
    secret = hmac.new(bytes(range(32)), b"derived18:one-way pseudonyms1:a", hashlib.sha512).digest()
    digest = hmac.new(secret, json.dumps(["Ann", None]).encode(), hashlib.sha256).digest()
    assert OneWay(KEY, "a").pseudonyms([("Ann", None)]) == encode([digest[:15]])


def test_enumeration_inverts_a_plain_hash_and_not_a_keyed_one() -> None:
    """The attacker tries all birthdays; an unkeyed hash of a small space is no one-way function."""
    everybody = [(f"{year}-{month:02}-01",) for year in range(1930, 2030) for month in range(1, 13)]
    victim = everybody[777]
    plain = {hashlib.sha256(json.dumps(person).encode()).digest()[:15]: person for person in everybody}
    assert plain[hashlib.sha256(json.dumps(victim).encode()).digest()[:15]] == victim
    seen = OneWay(KEY, "a").pseudonyms([victim])[0]
    assert decode(seen) not in plain
    assert seen not in OneWay(Key.new(), "a").pseudonyms(everybody)
    assert OneWay(KEY, "a").pseudonyms(everybody).index(seen) == 777, "who has the key can: keep it apart"


@given(people)
def test_reversible_pseudonyms_come_back(some) -> None:
    method = Reversible(KEY, "a")
    assert [method.identity(pseudonym) for pseudonym in method.pseudonyms(some)] == some


@settings(max_examples=60)
@given(st.binary(min_size=1, max_size=1), st.integers(0, 47))
def test_a_changed_pseudonym_is_refused(change: bytes, place: int) -> None:
    method = Reversible(KEY, "a")
    content = bytearray(decode(method.pseudonyms([("Ann", "1980-02-29")])[0]))
    before = bytes(content)
    content[place % len(content)] ^= change[0]
    if bytes(content) != before:
        with pytest.raises(AccessError, match="right key"):
            method.identity(encode([bytes(content)])[0])


def test_the_length_of_a_name_does_not_show() -> None:
    short, long = Reversible(KEY, "a").pseudonyms([("Li",), ("Wolfeschlegelstein",)])
    assert len(short) == len(long)


def test_one_person_is_written_in_many_ways() -> None:
    composed, decomposed = "Müller", unicodedata.normalize("NFD", "Müller")
    assert composed != decomposed
    assert identity([composed]) == identity([f" {decomposed}\t"]) == ("Müller",)
    assert identity(["", None, " "]) is None


def test_columns_of_any_type_say_who_it_is() -> None:
    import datetime

    table = Table(
        pa.table(
            {
                "number": pa.array([7, None]),
                "float": pa.array([7.0, None]),
                "text": ["7", "8"],
                "born": [datetime.date(1980, 2, 29), None],
                "category": pa.array(["x", "y"]).dictionary_encode(),
                "fraction": [0.5, 1.0],
            }
        )
    )
    assert identities(table, ["number"]) == identities(table, ["float"]) == [("7",), None]
    assert identities(table, ["born", "category"]) == [("1980-02-29", "x"), (None, "y")]
    with pytest.raises(ColumnError, match="fractions"):
        identities(table, ["fraction"])
    with pytest.raises(ColumnError, match="twice"):
        identities(table, ["text", "text"])
    with pytest.raises(ParameterError, match="name the columns"):
        identities(table, [])


def test_a_table_gets_pseudonyms_and_loses_what_says_who_it_is() -> None:
    table = Table(pa.table({"name": ["Ann", None, "Bob", "Ann"], "age": [1, 2, 3, 4]})).with_roles(
        identifiers=["name"], quasi_identifiers=["age"]
    )
    method = Reversible(KEY, "a")
    result = pseudonymize(table, ["name"], method, into="who", shuffle=False)
    assert result.column_names == ("who", "age")
    assert result.quasi_identifiers == ("age",)
    assert result.data["who"].null_count == 1
    assert reidentify(result, ["name"], method, column="who").data.equals(table.data)
    with pytest.raises(ParameterError, match="made of 1 column"):
        reidentify(result, ["name", "born"], method, column="who")
    with pytest.raises(ColumnError, match="'age' already"):
        reidentify(result, ["age"], method, column="who")
    shuffled = pseudonymize(table, ["name"], method)
    assert sorted(shuffled.data["age"].to_pylist()) == [1, 2, 3, 4]


@given(st.binary(max_size=200), st.binary(max_size=9))
@settings(max_examples=50)
def test_a_sealed_message_is_read_by_its_recipient_in_its_place_only(message: bytes, context: bytes) -> None:
    ann, bob = KeyPair.new(), KeyPair.new()
    sealed = seal(ann.public, message, context)
    assert ann.unseal(sealed, context) == message
    assert len(sealed) % 64 == (32 + 16) % 64
    for attempt in (
        lambda: bob.unseal(sealed, context),
        lambda: ann.unseal(sealed, context + b"x"),
        lambda: ann.unseal(sealed[:-1] + bytes([sealed[-1] ^ 1]), context),
        lambda: ann.unseal(bytes(32) + sealed[32:], context),
        lambda: ann.unseal(b"", context),
    ):
        with pytest.raises(AccessError, match=r"damaged"):
            attempt()
