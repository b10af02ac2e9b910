"""Which pairs to look at: those that agree on one of several combinations of fields.

All pairs would be too many. Whatever one or two typing errors do to a person, one of the combinations is
nearly always left: names are compared by their sound, and dates by parts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tarnkappe.pseudonym.linkage.records import CODE_LENGTH, LinkageRecords, Numbers
from tarnkappe.table.encoding import Progress

LARGEST = 3000
"""A block with more people than this says nothing about them; it is left to the other combinations."""

BLOCKS = (
    ("born",),
    ("surname sound", "given sound"),
    ("surname sound", "year"),
    ("surname sound", "month and day"),
    ("given sound", "month and day"),
    ("surname sound", "postcode"),
    ("given sound", "year", "postcode"),
    ("surname start", "given start", "year"),
    ("surname start", "given start", "postcode"),
)


def candidates(records: LinkageRecords, progress: Progress | None = None) -> npt.NDArray[np.int64]:
    """Pairs of people (the smaller number first) who are in different sources and share a block."""
    parts = _parts(records)
    usable = [block for block in BLOCKS if all(part in parts for part in block)]
    pairs = [np.empty(0, dtype=np.int64)]
    count = len(records.people)
    for done, block in enumerate(usable):
        if progress:
            progress("looking for pairs", done, len(usable))
        keys = _combined([parts[part] for part in block])
        for left, right in _pairs_within(keys):
            apart = (records.sources[left] & records.sources[right]) == 0
            left, right = left[apart], right[apart]
            pairs.append(np.minimum(left, right) * count + np.maximum(left, right))
    found = np.concatenate(pairs)
    found.sort()  # and not np.unique, which hashes, and takes most of the time that linking takes
    found = found[np.diff(found, prepend=-1) > 0]
    return np.column_stack([found // count, found % count])


def _parts(records: LinkageRecords) -> dict[str, Numbers]:
    """What people can be blocked by: equal numbers are equal values, -1 is a missing one."""
    parts: dict[str, Numbers] = {}
    for field in records.fields:
        parts[field.kind] = field.codes
        if field.kind in ("surname", "given"):
            parts[f"{field.kind} sound"] = field.sounds
            width = 3 if field.kind == "surname" else 1
            parts[f"{field.kind} start"] = _slices(field.letters[:, :width])
        if field.kind == "born":
            parts["year"] = _slices(field.letters[:, :4])
            months, days = _slices(field.letters[:, 4:6]), _slices(field.letters[:, 6:8])
            # In either order: they are often exchanged.
            both = np.minimum(months, days) * 2**20 + np.maximum(months, days)
            parts["month and day"] = np.where(field.codes < 0, -1, both)
    return parts


def _slices(letters: npt.NDArray[np.uint32]) -> Numbers:
    keys = np.zeros(len(letters), dtype=np.int64)
    for place in range(min(letters.shape[1], CODE_LENGTH)):
        # Numbers stay small enough to be combined: letters of other scripts may share one.
        keys = keys * 64 + letters[:, place].astype(np.int64) % 64
    return np.where(letters[:, 0] == 0, -1, keys)


def _combined(parts: list[Numbers]) -> Numbers:
    """One number for a combination of parts; -1 if one of them is missing."""
    keys = np.zeros(len(parts[0]), dtype=np.int64)
    missing = np.zeros(len(parts[0]), dtype=bool)
    for part in parts:
        missing |= part < 0
        _, dense = np.unique(part, return_inverse=True)
        keys = keys * (int(dense.max(initial=0)) + 1) + dense
        _, keys = np.unique(keys, return_inverse=True)
    return np.where(missing, -1, keys)


def _pairs_within(keys: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """All pairs with the same key: first neighbours in the order of the keys, then those one further on."""
    order = np.argsort(keys, kind="stable")
    order = order[keys[order] >= 0]
    sizes = np.bincount(keys[order]) if len(order) else np.zeros(1, dtype=np.int64)
    order = order[sizes[keys[order]] <= LARGEST]
    ordered = keys[order]
    distance = 1
    start = np.arange(len(order))
    while len(start):
        start = start[start + distance < len(order)]
        start = start[ordered[start] == ordered[start + distance]]
        yield order[start], order[start + distance]
        distance += 1
