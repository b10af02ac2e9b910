"""Codes that people can read out, write down and type, and that notice their mistakes.

A code has digits and capital letters without I, L, O and U, which are taken for others; it says nothing
about what it stands for. Of every 31 characters the last two are check characters. The characters are
elements of the field with 32 elements, a word is a Reed-Solomon code word of distance 3: whatever two
characters are wrong, and whichever two are exchanged, it is noticed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import ParameterError

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CHECKS = 2
WORD = 31
"""The length of the longest word; a longer code is several words."""

Symbols = npt.NDArray[np.uint8]

_LETTERS = np.frombuffer(ALPHABET.encode(), dtype=np.uint8)
_READ_AS = {letter: place for place, letter in enumerate(ALPHABET)} | {"O": 0, "I": 1, "L": 1}


def _powers() -> Symbols:
    """The powers of a primitive element: the field is GF(2)[x] modulo x^5 + x^2 + 1."""
    powers, current = [], 1
    for _ in range(WORD):
        powers.append(current)
        current = (current << 1) ^ (0b100101 if current & 0b10000 else 0)
    return np.array(powers, dtype=np.uint8)


_POWER = _powers()
_LOG = np.zeros(32, dtype=np.int64)
_LOG[_POWER] = np.arange(WORD)
_POWERS: list[int] = _POWER.tolist()
_LOGS: list[int] = _LOG.tolist()


def _times(one: Symbols, other: Symbols) -> Symbols:
    product = _POWER[(_LOG[one] + _LOG[other]) % WORD]
    return np.where((one == 0) | (other == 0), 0, product).astype(np.uint8)


def encode(contents: Sequence[bytes]) -> list[str]:
    """A code for each content.

    >>> encode([b"12345"])
    ['64S36D1NPH']
    """
    codes = [""] * len(contents)
    by_length: dict[int, list[int]] = {}
    for place, content in enumerate(contents):
        by_length.setdefault(len(content), []).append(place)
    for length, places in by_length.items():
        together = np.frombuffer(b"".join(contents[place] for place in places), dtype=np.uint8)
        symbols = _symbols(together.reshape(len(places), length))
        step = WORD - CHECKS
        words = [_with_checks(symbols[:, at : at + step]) for at in range(0, symbols.shape[1], step)]
        written = _LETTERS[np.hstack(words)]
        for place, row in zip(places, written, strict=True):
            codes[place] = row.tobytes().decode()
    return codes


def decode(code: str) -> bytes:
    """What a code stands for; hyphens, blanks and small letters are as good, a wrong character is refused.

    >>> decode("64s3-6d1n-ph")
    b'12345'
    >>> decode("64s3-6a1n-ph")
    Traceback (most recent call last):
    tarnkappe.errors.ParameterError: this pseudonym has a typing error: look at its character 6
    """
    letters = [letter for letter in code.upper() if letter not in "- "]
    if not letters or any(letter not in _READ_AS for letter in letters):
        raise ParameterError(
            "pseudonym.no-pseudonym-digits-letters",
            "this is no pseudonym: it has digits and letters from A to Z only",
        )
    symbols = [_READ_AS[letter] for letter in letters]
    number = bits = 0
    for at in range(0, len(symbols), WORD):
        for symbol in _checked(symbols[at : at + WORD], at):
            number, bits = number << 5 | symbol, bits + 5
    spare = bits % 8
    if spare >= 5 or number & ((1 << spare) - 1):
        raise ParameterError(
            "pseudonym.no-pseudonym-characters-missing",
            "this is no pseudonym: characters are missing or added",
        )
    return (number >> spare).to_bytes(bits // 8)


def is_code(text: str) -> bool:
    """Whether a text is a code without a mistake."""
    try:
        decode(text)
    except ParameterError:
        return False
    return True


def _symbols(rows: Symbols) -> Symbols:
    """The bits of each row, five by five; the last five are filled up with zeros."""
    bits = np.unpackbits(rows, axis=1)
    bits = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 5)))
    fives = bits.reshape(len(rows), -1, 5)
    return (fives @ np.array([16, 8, 4, 2, 1], dtype=np.uint8)).astype(np.uint8)


def _sums(data: Symbols) -> tuple[Symbols, Symbols]:
    """The plain and the weighted sum of the data of each word; places 0 and 1 are those of the checks."""
    weights = _POWER[CHECKS : CHECKS + data.shape[1]]
    plain = np.bitwise_xor.reduce(data, axis=1)
    weighted = np.bitwise_xor.reduce(_times(data, np.broadcast_to(weights, data.shape)), axis=1)
    return plain, weighted


def _with_checks(data: Symbols) -> Symbols:
    """Words with the two characters that make both sums of the whole word zero."""
    plain, weighted = _sums(data)
    inverse = _POWER[-_LOG[1 ^ _POWER[1]] % WORD]
    second = _times(plain ^ weighted, np.broadcast_to(inverse, plain.shape))
    return np.column_stack([data, plain ^ second, second])


def _checked(word: Sequence[int], start: int) -> Sequence[int]:
    """The data of a word; a single wrong character is pointed at."""
    if len(word) <= CHECKS:
        raise ParameterError(
            "pseudonym.no-pseudonym-characters-missing",
            "this is no pseudonym: characters are missing or added",
        )
    data = word[:-CHECKS]
    plain = weighted = 0
    for place, symbol in enumerate((*word[-CHECKS:], *data)):
        plain ^= symbol
        if symbol:
            weighted ^= _POWERS[(_LOGS[symbol] + place) % WORD]
    if plain == weighted == 0:
        return data
    at = (_LOGS[weighted] - _LOGS[plain]) % WORD if plain and weighted else WORD
    place = at - CHECKS if at >= CHECKS else len(data) + at
    hint = f": look at its character {start + place + 1}" if at < len(word) else ""
    raise ParameterError(
        "pseudonym.pseudonym-typing-error", "this pseudonym has a typing error{hint}", hint=hint
    )
