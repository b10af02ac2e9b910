"""Codes: unique, saying nothing, and noticing what people mistype."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.pseudonym.code import ALPHABET, decode, encode, is_code


def times(one: int, other: int) -> int:
    """The slow twin of multiplication: polynomials over GF(2), divided by x^5 + x^2 + 1."""
    product = 0
    for bit in range(5):
        if other >> bit & 1:
            product ^= one << bit
    for bit in range(9, 4, -1):
        if product >> bit & 1:
            product ^= 0b100101 << (bit - 5)
    return product


def is_word(code: str) -> bool:
    """The slow twin of the check: both sums over all characters are zero, checks at places 0 and 1."""
    symbols = [ALPHABET.index(letter) for letter in code]
    ordered = symbols[-2:] + symbols[:-2]
    plain = weighted = 0
    power = 1
    for symbol in ordered:
        plain ^= symbol
        weighted ^= times(symbol, power)
        power = times(power, 2)
    return plain == weighted == 0


@given(st.binary(min_size=1, max_size=120))
def test_a_code_gives_its_content_back(content: bytes) -> None:
    [code] = encode([content])
    assert decode(code) == content
    spoken = "-".join(code[at : at + 4] for at in range(0, len(code), 4)).lower()
    assert decode(spoken.replace("0", "o").replace("1", "l")) == content


@given(st.binary(min_size=1, max_size=18))
def test_short_codes_are_words_of_the_twin(content: bytes) -> None:
    assert is_word(encode([content])[0])


@given(st.lists(st.binary(min_size=1, max_size=9), max_size=8))
def test_many_at_once_are_as_one_by_one(contents: list[bytes]) -> None:
    assert encode(contents) == [encode([content])[0] for content in contents]


def test_every_one_or_two_wrong_characters_and_every_exchange_are_noticed() -> None:
    [code] = encode([b"\x12\x34\x56"])
    wrong = 0
    for place, letter in itertools.product(range(len(code)), ALPHABET):
        changed = code[:place] + letter + code[place + 1 :]
        if changed == code:
            continue
        with pytest.raises(ParameterError, match=f"character {place + 1}$"):
            decode(changed)
        for second, other in itertools.product(range(place + 1, len(code)), ALPHABET[::5]):
            twice = changed[:second] + other + changed[second + 1 :]
            wrong += other != code[second] and is_code(twice)
    for one, other in itertools.combinations(range(len(code)), 2):
        letters = list(code)
        letters[one], letters[other] = letters[other], letters[one]
        wrong += letters != list(code) and is_code("".join(letters))
    assert wrong == 0


@settings(max_examples=100)
@given(st.binary(min_size=20, max_size=80), st.randoms(use_true_random=False))
def test_a_typing_error_in_a_long_code_is_noticed(content: bytes, draw: random.Random) -> None:
    [code] = encode([content])
    place = draw.randrange(len(code))
    other = draw.choice([letter for letter in ALPHABET if letter != code[place]])
    assert not is_code(code[:place] + other + code[place + 1 :])
    if place and code[place] != code[place - 1]:
        assert not is_code(code[: place - 1] + code[place] + code[place - 1] + code[place + 1 :])


def test_what_is_no_code_is_refused_without_quoting_it() -> None:
    for text in ("", "Erika Müller", "7", "64S36D1NP", "ÄÖÜ"):
        with pytest.raises(ParameterError) as refused:
            decode(text)
        assert "rika" not in str(refused.value)


def test_letters_that_are_taken_for_others_do_not_occur() -> None:
    assert not set("ILOU") & set(ALPHABET)
    assert len(set(ALPHABET)) == 32
