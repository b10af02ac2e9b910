"""What the package of a case tells of everybody: the table that is compared with all earlier ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.errors import InputError
from tarnkappe.exchange.checking.case import Case
from tarnkappe.exchange.checking.told import LEFT_OUT, NO_LABEL, NO_ROW, Told, value_mark, value_marks
from tarnkappe.exchange.checking.verify import Verified
from tarnkappe.job.release import plain
from tarnkappe.recoding.labels import LabelReader
from tarnkappe.state import Key
from tarnkappe.table import MISSING, SUPPRESSED, Role
from tarnkappe.table.encoding import Codes, as_text, encode_column
from tarnkappe.table.grouping import group_codes

Numbers = npt.NDArray[np.int64]
PATIENT = "patient of the exchange"
MOST_ALIKE = 8
"""With so many others who sets an end of a region is compared; they are compared with nobody else."""


def told_by(case: Case, package: Verified, key: Key) -> Told:
    """What a package tells of everybody who could have been in it.

    People look alike if their known values are written alike at the levels of the package. Intervals and
    regions are cut to the people who were selected, so there people look alike who are within one of them;
    but who alone has a value by which it is cut, such as the oldest, looks like nobody without a row.
    """
    assert case.everybody is not None
    assert case.base is not None
    names = _texts(case.everybody, case.patient)
    place = {name: number for number, name in enumerate(names)}
    rows = _places(place, case.patients_of(package))
    selected = _places(place, _texts(case.base, case.patient))
    hidden = hidden_attributes(case)
    release = package.release
    looks = [name for name in release.column_names if name not in hidden]
    shown = [name for name in release.column_names if name in hidden]
    written = _ids(release.data, looks)
    if case.draft is None or set(case.draft.levels) >= set(release.quasi_identifiers):
        labels = _labels(_look_alike(case, looks), written, rows, selected)
    else:
        labels = _labels_of_regions(case, release.data.select(looks), written, rows)
    ways = np.full(len(names), NO_ROW, np.int64)
    ways[rows] = written
    cells = np.full(len(names), NO_ROW, np.int64)
    cells[selected] = LEFT_OUT
    cells[rows] = _ids(release.data, shown)
    anchor = case.request.anchor
    selecting = anchor.attribute if anchor.attribute in hidden else ""
    asked = np.arange(len(names)) if selecting else np.sort(selected)
    taken = pa.array(asked)
    return Told(
        key.marks(PATIENT, ([name] for name in names)).take(taken),
        labels[asked],
        cells[asked],
        ways[asked],
        {name: value_marks(case.everybody.column(name), name, key).take(taken) for name in sorted(hidden)},
        selecting,
        tuple(value_mark(value, anchor.attribute, key) for value in anchor.values) if selecting else (),
        tuple(shown),
    )


def hidden_attributes(case: Case) -> set[str]:
    """The sensitive attributes that requests may select by, or that this one asks for.

    A class that a steward gave for one request makes nothing known that is not.
    """
    both = case.around.catalogue, case.catalogue
    sensitive = {name for catalogue in both for name in catalogue.select(Role.SENSITIVE)}
    asked = {case.request.anchor.attribute, *case.request.names}
    return {name for name in sensitive if name in asked or case.catalogue[name].selects}


def _look_alike(case: Case, looks: Sequence[str]) -> Numbers:
    """What everybody looks like in the known columns of the package."""
    assert case.everybody is not None
    assert case.draft is not None
    columns = [_at_level(case, name, case.draft.levels.get(name)) for name in looks]
    if not columns:
        return np.zeros(case.everybody.num_rows, np.int64)
    found = group_codes(columns, [int(codes.max(initial=0)) + 1 for codes in columns])
    return found.ids.astype(np.int64)


def _at_level(case: Case, name: str, level: int | None) -> Codes:
    """Everybody's value of a column at a level; without one, as it is."""
    assert case.everybody is not None
    if level is None:
        return encode_column(name, plain(case.everybody.column(name))).codes
    levels = case.everybodys[name].levels
    assert levels is not None
    return levels.maps[level][case.everybodys[name].codes]


def _labels_of_regions(case: Case, data: pa.Table, written: Numbers, rows: Numbers) -> Numbers:
    """In which region everybody is, where that is one; who alone sets an end of hers looks like who could."""
    assert case.everybody is not None
    number = int(written.max(initial=-1)) + 1
    first = [int(np.flatnonzero(written == region)[0]) for region in range(number)]
    inside = np.ones((number, case.everybody.num_rows), dtype=bool)
    ends: dict[int, list[Codes]] = {}
    for name in data.column_names:
        words = [str(word) for word in as_text(plain(data.column(name))).fill_null(MISSING).to_pylist()]
        if name not in case.everybodys:
            own = as_text(plain(case.everybody.column(name))).fill_null(MISSING).to_pylist()
            for region, row in enumerate(first):
                inside[region] &= np.array([words[row] in (text, SUPPRESSED) for text in own], dtype=bool)
            continue
        column = case.everybodys[name]
        reader, level = LabelReader(column), 0 if case.actions is None else case.actions.levels.get(name, 0)
        known = _at_level(case, name, level)
        for region, row in enumerate(first):
            meaning = reader.meaning(words[row]) or ()
            inside[region] &= np.isin(column.codes, list(meaning))
            members = np.flatnonzero(written == region)
            codes, values = column.codes[rows[members]], known[rows[members]]
            cut_by = rows if case.limits.method == "k-optimize" else rows[members]  # one cut for all regions
            alone = np.bincount(known[cut_by], minlength=int(known.max()) + 1)[values] == 1
            if isinstance(meaning, range) and len(meaning) > 1:
                alone &= (codes == meaning.start) | (codes == meaning.stop - 1)
            for member in members[alone & (len(meaning) > 1)].tolist():
                ends.setdefault(member, []).append(known)
    labels = np.where(inside.sum(axis=0) == 1, inside.argmax(axis=0), NO_LABEL)
    labels[rows] = number  # for now, so that nobody in the package is taken for somebody outside
    for member, columns in ends.items():
        could = labels == written[member]
        for known in columns:
            could &= known == known[rows[member]]
        labels[np.flatnonzero(could)[:MOST_ALIKE]] = number + 1 + member
    labels[rows] = written
    for member in ends:
        labels[rows[member]] = number + 1 + member
    return _dense(labels)


def _labels(alike: Numbers, written: Numbers, rows: Numbers, selected: Numbers) -> Numbers:
    """What everybody looks like, as it is written; people who look alike may be written in several ways."""
    kinds = int(alike.max(initial=0)) + 1
    ways = int(written.max(initial=0)) + 2
    pairs = np.unique(np.stack([alike[rows], written], axis=1), axis=0)
    number = np.bincount(pairs[:, 0], minlength=kinds)
    way = np.full(kinds, ways - 1, np.int64)
    way[pairs[:, 0]] = pairs[:, 1]
    labels = np.where(number[alike] > 1, NO_LABEL, alike * ways + way[alike])
    lost = selected[labels[selected] == NO_LABEL]
    labels[lost] = kinds * ways + np.arange(len(lost))  # nobody knows how they would have been written
    labels[rows] = alike[rows] * ways + written
    return _dense(labels)


def _dense(labels: Numbers) -> Numbers:
    known = labels != NO_LABEL
    result = np.full(len(labels), NO_LABEL, np.int64)
    result[known] = np.unique(labels[known], return_inverse=True)[1].reshape(-1)
    return result


def _ids(data: pa.Table, names: Sequence[str]) -> Numbers:
    if not names:
        return np.zeros(data.num_rows, np.int64)
    own = [encode_column(name, plain(data.column(name))) for name in names]
    found = group_codes([column.codes for column in own], [column.cardinality for column in own])
    return found.ids.astype(np.int64)


def _texts(table: pa.Table, name: str) -> list[str]:
    return [str(value) for value in table.column(name).to_pylist()]


def _places(place: dict[str, int], names: Sequence[str]) -> Numbers:
    try:
        return np.array([place[name] for name in names], dtype=np.int64)
    except KeyError:
        raise InputError(
            "exchange.patients-came-left-while",
            "patients came or left while the request was checked: check it again",
        ) from None
