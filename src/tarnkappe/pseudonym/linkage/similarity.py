"""How alike two people are, field by field, in a few levels.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.pseudonym.linkage.records import NAMES, Letters, LinkageField, LinkageRecords, Numbers

MISSING, DIFFERENT, FAINT, CLOSE, EQUAL = range(5)
"""The levels of likeness; a missing value says nothing."""
LEVELS = 5

CLOSE_NAMES, FAINT_NAMES = 0.88, 0.75
"""From which Jaro-Winkler similarity on names are close, and faintly alike."""

PARTS_OF_DATE = (slice(0, 4), slice(4, 6), slice(6, 8))

Levels = npt.NDArray[np.int8]


def levels(records: LinkageRecords, pairs: Numbers) -> Levels:
    """The level of each pair (a row) in each field (a column)."""
    left, right = pairs[:, 0], pairs[:, 1]
    columns = [
        _name_levels(field, left, right) if field.kind in NAMES else _code_levels(field, left, right)
        for field in records.fields
    ]
    return np.column_stack(columns)


def _name_levels(field: LinkageField, left: Numbers, right: Numbers) -> Levels:
    equal = field.codes[left] == field.codes[right]
    alike = np.ones(len(left))
    others = np.flatnonzero(~equal)
    alike[others] = jaro_winkler(field.letters, left[others], right[others])
    found = np.full(len(left), DIFFERENT, dtype=np.int8)
    found[alike >= FAINT_NAMES] = FAINT
    short = np.flatnonzero(found == DIFFERENT)  # Jaro-Winkler calls 'Jan' and 'Jna' different
    found[short[one_slip(field.letters, left[short], right[short])]] = FAINT
    same_sound = (field.sounds[left] == field.sounds[right]) & (alike >= FAINT_NAMES)
    found[(alike >= CLOSE_NAMES) | same_sound] = CLOSE
    return _finished(field, found, equal, left, right)


def one_slip(letters: Letters, left: Numbers, right: Numbers) -> npt.NDArray[np.bool_]:
    """Where two names differ by one letter that was left out, or by two neighbours that were exchanged.

    A letter that is another one does not count: 'Lea' and 'Lia' are two names.
    """
    length = (letters != 0).sum(axis=1)
    found = np.zeros(len(left), dtype=np.bool_)
    near = np.flatnonzero(np.abs(length[left] - length[right]) <= 1)  # far fewer, and all that can be
    left, right = left[near], right[near]
    one, other = letters[left], letters[right]
    lengths = length[left], length[right]
    longer = np.where((lengths[0] > lengths[1])[:, np.newaxis], one, other)
    shorter = np.where((lengths[0] > lengths[1])[:, np.newaxis], other, one)
    # What agrees from the beginning, and, moved by one, from the end, is all of the shorter name.
    begin = np.cumprod(longer[:, :-1] == shorter[:, :-1], axis=1).sum(axis=1)
    end = np.cumprod((longer[:, 1:] == shorter[:, :-1])[:, ::-1], axis=1).sum(axis=1)
    left_out = (np.abs(lengths[0] - lengths[1]) == 1) & (begin + end >= letters.shape[1] - 1)
    wrong = one != other
    crossed = (one[:, :-1] == other[:, 1:]) & (one[:, 1:] == other[:, :-1]) & wrong[:, :-1] & wrong[:, 1:]
    exchanged = (lengths[0] == lengths[1]) & (wrong.sum(axis=1) == 2) & crossed.any(axis=1)
    found[near] = (left_out | exchanged) & (np.minimum(*lengths) >= 2)
    return found


def _code_levels(field: LinkageField, left: Numbers, right: Numbers) -> Levels:
    """Dates, postcodes and sexes: one character wrong, two exchanged, or one part the same."""
    one, other = field.letters[left], field.letters[right]
    wrong = one != other
    count = wrong.sum(axis=1)
    crossed = (one[:, :-1] == other[:, 1:]) & (one[:, 1:] == other[:, :-1])
    exchanged = (crossed & wrong[:, :-1] & wrong[:, 1:]).any(axis=1)
    found = np.full(len(left), DIFFERENT, dtype=np.int8)
    if field.kind == "born":
        same = [(one[:, part] == other[:, part]).all(axis=1) for part in PARTS_OF_DATE]
        found[np.sum(same, axis=0) >= 2] = FAINT
        turned = (one[:, 4:6] == other[:, 6:8]).all(1) & (one[:, 6:8] == other[:, 4:6]).all(1) & same[0]
        found[turned] = CLOSE
    elif field.kind == "postcode":
        found[(one[:, :2] == other[:, :2]).all(axis=1)] = FAINT
    if field.kind != "sex":
        found[(count == 1) | ((count == 2) & exchanged)] = CLOSE
    return _finished(field, found, count == 0, left, right)


def _finished(
    field: LinkageField, found: Levels, equal: npt.NDArray[np.bool_], left: Numbers, right: Numbers
) -> Levels:
    found[equal] = EQUAL
    found[(field.codes[left] < 0) | (field.codes[right] < 0)] = MISSING
    return found


@compiled
def jaro_winkler(letters: Letters, left: Numbers, right: Numbers) -> npt.NDArray[np.float64]:
    """The Jaro-Winkler similarity of names, given as rows of characters that end with zeros."""
    # The definition, pair by pair: letters match within half the longer name, greedily from the left, which
    # is what published values were computed with. `taken` and `matched` are made once and cleared for each
    # pair. Names are rows of one array that end with zeros, so no texts are touched; width squared in time at
    # most.
    # Not by rapidfuzz: it rewards equal beginnings only from 0.7 on and counts half exchanges differently, so
    # 302 of 400,000 pairs of example names got another level, and it took 2.3 times as long (Python texts).
    width = letters.shape[1]
    found = np.empty(len(left))
    taken = np.zeros(width, dtype=np.bool_)
    matched = np.zeros(width, dtype=np.bool_)
    for pair in range(len(left)):
        one, other = letters[left[pair]], letters[right[pair]]
        length = 0
        while length < width and one[length] != 0:
            length += 1
        other_length = 0
        while other_length < width and other[other_length] != 0:
            other_length += 1
        taken[:] = False
        matched[:] = False
        window = max(max(length, other_length) // 2 - 1, 0)
        common = 0
        for i in range(length):
            for j in range(max(0, i - window), min(other_length, i + window + 1)):
                if not taken[j] and one[i] == other[j]:
                    taken[j] = matched[i] = True
                    common += 1
                    break
        if common == 0:
            found[pair] = 0.0
            continue
        displaced = 0
        j = 0
        for i in range(length):
            if matched[i]:
                while not taken[j]:
                    j += 1
                if one[i] != other[j]:
                    displaced += 1
                j += 1
        jaro = (common / length + common / other_length + (common - displaced / 2) / common) / 3
        prefix = 0
        while prefix < 4 and prefix < min(length, other_length) and one[prefix] == other[prefix]:
            prefix += 1
        found[pair] = jaro + prefix * 0.1 * (1 - jaro)
    return found
