"""Signed statements: one byte string for one content, and nothing that reads two ways."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import AccessError, ParameterError, VerificationError
from tarnkappe.state import Key, Seals, Signer, Statement, canonical_json, is_public_key, require_signature

DECISION = Statement("decision", {"b": "ü", "a": 1, "t": None})
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
CONTENTS = st.dictionaries(st.text(), PLAIN, max_size=4)


def test_the_bytes_of_a_statement_are_those_of_the_fixture() -> None:
    assert DECISION.bytes == 'tarnkappe/1 decision\n{"a":1,"b":"ü","t":null}'.encode()
    assert DECISION.digest == "4fce475e5049282dbc52da84b85845ca0a19bbc74f041c4c700eccddfe8b271f"
    signature = Ed25519PrivateKey.from_private_bytes(bytes(32)).sign(DECISION.bytes).hex()
    assert signature.startswith("cf3d384f0c7a3173")
    assert signature.endswith("9b2f115101")


def test_keys_are_sorted_by_utf_16_unit() -> None:
    assert canonical_json({"\ue000": 1, "\U00010000": 2}) == '{"\U00010000":2,"\ue000":1}'.encode()


@pytest.mark.parametrize(
    "value", [2**53, -(2**53), float("nan"), 1.5, 1.0, "\ud800", {1: 2}, b"x", {1}, object()]
)
def test_what_does_not_read_the_same_everywhere_is_refused(value: object) -> None:
    for content in ({"a": value}, {"a": [value]}, {"a": {"b": value}}):
        with pytest.raises(ParameterError):
            Statement("x", content)


def test_a_key_that_is_no_unicode_text_is_refused() -> None:
    with pytest.raises(ParameterError):
        Statement("x", {"\ud800": 1})


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":{"b":1,"b":1}}',
        '{"a":1.0}',
        '{"a":1e2}',
        '{"a":NaN}',
        '{"a":Infinity}',
        '{"a":9007199254740992}',
        "[1]",
        '"text"',
        "{",
        "[" * 100_000,
        '{"a":' * 40 + "1" + "}" * 40,
        json.dumps({"a": "x" * 2**20}),
    ],
    ids=lambda text: text[:20],
)
def test_what_can_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        Statement.read("x", text)
    with pytest.raises(ParameterError):
        Statement.read_bytes("x", b"tarnkappe/1 x\n" + text.encode())


@pytest.mark.parametrize("kind", ["", "Decision", "a\nb", "9", "x" * 41, "a/b"])
def test_a_kind_is_a_few_plain_words(kind: str) -> None:
    with pytest.raises(ParameterError):
        Statement(kind, {})


@given(CONTENTS)
def test_what_was_signed_comes_out_the_same_again(content: dict[str, object]) -> None:
    statement = Statement("anything", content)
    assert Statement.read_bytes("anything", statement.bytes) == statement
    assert json.loads(statement.bytes.partition(b"\n")[2]) == content
    spaced = b"tarnkappe/1 anything\n" + json.dumps(content, indent=1).encode()
    if content:
        with pytest.raises(ParameterError, match="canonical"):
            Statement.read_bytes("anything", spaced)


@given(
    CONTENTS | st.dictionaries(st.text('az\x00\x1f\x7f"\\/\n\ue000\U00010000', max_size=3), PLAIN, max_size=4)
)
def test_the_bytes_are_those_of_rfc_8785(content: dict[str, object]) -> None:
    assert Statement("anything", content).bytes == b"tarnkappe/1 anything\n" + canonical_json(content)


@given(CONTENTS, CONTENTS)
def test_different_contents_have_different_bytes(one: dict[str, object], other: dict[str, object]) -> None:
    alike = Statement("a", one).bytes == Statement("a", other).bytes
    # Python says 1 == True; JSON does not.
    assert alike == (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))


def test_a_signature_is_about_its_kind_its_content_and_its_signer() -> None:
    signer, other = Signer(Key(bytes(32))), Signer(Key(bytes([1] * 32)))
    signature = signer.sign(DECISION)
    require_signature(signer.public, DECISION, signature)
    for public, statement, signed in (
        (other.public, DECISION, signature),
        (signer.public, Statement("answer", DECISION.content), signature),
        (signer.public, Statement("decision", {**DECISION.content, "a": 2}), signature),
        (signer.public, DECISION, "00"),
        (signer.public, DECISION, "no digits"),
        (signer.public, DECISION, None),
        ("", DECISION, signature),
        ("00" * 32, DECISION, "00" * 64),
    ):
        with pytest.raises(AccessError, match="forged"):
            require_signature(public, statement, signed)


def test_a_seal_is_about_its_statement_and_its_key() -> None:
    seals, other = Seals(Key(bytes(32))), Seals(Key(bytes([1] * 32)))
    seal = seals.seal(DECISION)
    seals.require(DECISION, seal)
    for wrong in (
        other.seal(DECISION),
        seals.seal(Statement("answer", DECISION.content)),
        seal[:-1],
        "",
        None,
    ):
        with pytest.raises(VerificationError):
            seals.require(DECISION, wrong)


def test_points_for_which_anybody_can_sign_are_no_public_keys() -> None:
    assert is_public_key(Signer(Key(bytes(32))).public)
    small = ["01" + "00" * 31, "00" * 32, "ec" + "ff" * 30 + "7f", "00" * 31 + "80"]
    small += ["c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"]
    for text in [*small, "ff" * 32, "02" + "00" * 31, "zz" * 32, "ab", "", None, 7, " " + "ab" * 32]:
        assert not is_public_key(text)


@pytest.mark.parametrize(
    "document",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        2**53,
        -(2**53),
        "\ud800",
        {1: "a"},
        object(),
        b"bytes",
        {1, 2},
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("wrap", [lambda it: it, lambda it: [1, it], lambda it: {"a": {"b": (it,)}}])
def test_what_json_cannot_say_exactly_has_no_canonical_bytes(
    document: object, wrap: Callable[[object], object]
) -> None:
    with pytest.raises(ParameterError, match="cannot be written as canonical JSON"):
        canonical_json(wrap(document))


def test_a_document_that_contains_itself_has_no_canonical_bytes() -> None:
    document: list[object] = []
    document.append(document)
    with pytest.raises(ParameterError, match="cannot be written as canonical JSON"):
        canonical_json(document)
