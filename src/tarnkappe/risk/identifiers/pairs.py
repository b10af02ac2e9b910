"""What a column is, by the columns beside it: a second part of a name, a number that stands for a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.risk.identifiers.detector import Certainty, IdentifierFinding, IdentifierKind
from tarnkappe.risk.identifiers.names import LOOKS, looks_like_names
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.risk.identifiers.words import ORDINARY, TOWNS
from tarnkappe.table import SUPPRESSED, Role

OneToOne = Callable[[str, str, bool], bool]
"""Whether each value of one column goes with one value of another, and the other way round.

With the third argument pairs of values must repeat: where all rows differ, everything goes with everything.
"""

PARTS = frozenset(
    ["first", "last", "middle", "given", "family", "second", "prefix", "suffix", "initial", "initials"]
)
"""Words that speak of a part of a name where there is a name beside."""
AND_NAME = frozenset(["name", "names", "nm", "n"])
VARIOUS = 0.8
MANY = 20
FEW_NAMES = 4
HALF = 0.5
REPEATED = 1.2
"""So many rows must have a pair of values, on average, before it tells that two columns go together."""
OF_PEOPLE = ("name", "unique-code", "e-mail", "telephone")
"""What detectors find that stands for one person."""


def beside(
    views: Sequence[ColumnView],
    found: Mapping[str, Sequence[IdentifierFinding]],
    open_columns: Collection[str],
    organisations: Collection[str],
    one_to_one: OneToOne,
) -> dict[str, tuple[IdentifierFinding, Certainty]]:
    """Identifiers that only the columns beside them show.

    Args:
        views: all columns.
        found: what detectors found in each.
        open_columns: those that nothing explains.
        organisations: those that have names of things.
        one_to_one: tells of two columns whether they say the same in other words.
    """
    whole = {
        name: {each.detector for each in findings if each.whole and each.role is Role.IDENTIFIER}
        for name, findings in found.items()
    }
    by_variety = {name for name, findings in found.items() if any(each.by_variety for each in findings)}
    named = any("name" in detectors for detectors in whole.values())
    standing = [
        name for name, said in whole.items() if said.intersection(OF_PEOPLE) and name not in by_variety
    ]
    names = _words_of_names(
        view for view in views if "name" in whole.get(view.name, ()) and view.name not in organisations
    )
    shown: dict[str, tuple[IdentifierFinding, Certainty]] = {}
    for view in views:
        if whole.get(view.name) or not view.filled:
            continue
        if named and _is_part_of_name(view):
            reason = "the header speaks of a part of a name, beside other names"
            shown[view.name] = _finding(view, "name", (IdentifierKind.NAME,), reason), Certainty.LIKELY
        elif view.name in open_columns and _has_the_same_names(view, names):
            reason = "most values have a word that occurs in the names of people in another column"
            shown[view.name] = _finding(view, "name", (IdentifierKind.NAME,), reason), Certainty.LIKELY
        elif view.name in {*open_columns, *organisations} and _may_stand_for_people(view):
            repeats = view.name not in organisations
            other = next((name for name in standing if one_to_one(view.name, name, repeats)), None)
            if other is not None:
                reason = f"each value goes with one of '{other}', which names people, and so does it"
                shown[view.name] = (
                    _finding(view, "unique-code", (IdentifierKind.OTHER,), reason),
                    Certainty.LIKELY,
                )
    return shown


def one_to_one_in(data: pa.Table) -> OneToOne:
    """The test on columns in memory."""

    def says_the_same(one: str, other: str, repeats: bool) -> bool:
        return go_together(data.column(one), data.column(other), repeats)

    return says_the_same


def go_together(
    one: pa.ChunkedArray,
    other: pa.ChunkedArray,
    repeats: bool,
    counts: npt.NDArray[np.int64] | None = None,
) -> bool:
    """Whether two columns say the same in other words, over the rows where both are filled.

    Args:
        one: the cells of a column.
        other: those of another.
        repeats: whether pairs of values must repeat.
        counts: how often each pair occurs, if each stands for so many rows.
    """
    weights = pa.array(np.ones(len(one), np.int64) if counts is None else counts)
    rows = pa.table([_filled(one), _filled(other), weights], names=["one", "other", "rows"])
    pairs = rows.drop_null().group_by(["one", "other"]).aggregate([("rows", "sum")])
    number = pairs.num_rows
    if number < MANY or (repeats and pc.sum(pairs.column("rows_sum")).as_py() < REPEATED * number):
        return False
    return all(pc.count_distinct(pairs.column(name)).as_py() == number for name in ("one", "other"))


def _filled(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells that say something; the others missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pa.types.is_string(column.type):
        return column
    nothing = pc.is_in(pc.utf8_trim_whitespace(column), pa.array(["", SUPPRESSED]))
    return pc.if_else(nothing, pa.scalar(None, pa.string()), column)


def _words_of_names(columns: Iterable[ColumnView]) -> frozenset[str]:
    """The words of the names that were found, without those that are also ordinary words or towns."""
    found = {word for view in columns for text in view.sample for word in _words(text)}
    return frozenset(found - ORDINARY - TOWNS)


def _words(text: str) -> list[str]:
    """Words of three letters or more, or two where letters have no cases, as in Chinese and Korean."""
    return [word.lower() for word in re.findall(r"[^\W\d_]{2,}", text) if len(word) > 2 or not word.isascii()]


def _has_the_same_names(view: ColumnView, names: frozenset[str]) -> bool:
    """Whether most values, words with capitals, share a word with names: those of staff beside clients."""
    if not names or view.is_numeric or view.distinct < FEW_NAMES or view.names_things:
        return False
    if view.about("place", "town", "thing", "group") or any(text[0].islower() for text in view.sample):
        return False
    if looks_like_names(view) < LOOKS:
        return False
    shared = {word for text in view.sample for word in _words(text) if word in names}
    return (
        len(shared) >= FEW_NAMES and view.cell_share(lambda text: not names.isdisjoint(_words(text))) >= HALF
    )


def _is_part_of_name(view: ColumnView) -> bool:
    words = set(view.header_words)
    return bool(words & PARTS) and words <= PARTS | AND_NAME and not view.is_numeric


def _may_stand_for_people(view: ColumnView) -> bool:
    if view.distinct < MANY or view.rarefied_share <= VARIOUS:
        return False
    return not view.is_numeric or view.is_whole_number


def _finding(
    view: ColumnView, detector: str, kinds: tuple[IdentifierKind, ...], reason: str
) -> IdentifierFinding:
    return IdentifierFinding(view.name, detector, kinds, view.filled, reason, Role.IDENTIFIER)
