"""What is left of each column of a release: exact cells, coarse ones, hidden ones.

There are two readers. Whoever has nothing but the release, and the code lists that were fixed before anybody
looked at the data, reads words by these lists and otherwise by their form: what he counts may be published.
Whoever has the original, too, knows all values that occur.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.labels import LabelReader
from tarnkappe.table import MISSING, SUPPRESSED
from tarnkappe.table.encoding import Codes, as_text, encode_column
from tarnkappe.utility.domain import ColumnDomain, Weights
from tarnkappe.utility.plain_words import Detail, detail_by_form, ends_of


@dataclasses.dataclass(frozen=True, eq=False)
class ColumnWords:
    """The words of one column of a release, and what each tells.

    Attributes:
        name: the column.
        rows: for each row, the number of its word.
        texts: the words.
        details: how much each tells.
        losses: for each word the share of the domain that it leaves open, from 0 to 1; None if nobody knows.
        widths: for each word how far its greatest number is from its least; not a number if it has none.
    """

    name: str
    rows: Codes
    texts: tuple[str, ...]
    details: tuple[Detail, ...]
    losses: Weights | None
    widths: Weights

    @property
    def counts(self) -> Weights:
        """How many rows have each word."""
        return np.bincount(self.rows, minlength=len(self.texts)).astype(np.float64)

    @property
    def outcome(self) -> ColumnOutcome:
        """What is left of the column."""
        counts, total = self.counts, max(float(len(self.rows)), 1.0)
        shares = {
            detail: float(counts[[own is detail for own in self.details]].sum()) / total for detail in Detail
        }
        coarse = np.array([own is Detail.COARSE for own in self.details], dtype=bool) & ~np.isnan(self.widths)
        coarse &= np.isfinite(self.widths)
        rows = float(counts[coarse].sum())
        return ColumnOutcome(
            shares[Detail.EXACT],
            shares[Detail.COARSE],
            shares[Detail.HIDDEN],
            int((counts > 0).sum()),
            None if self.losses is None else float(counts @ self.losses) / total,
            float(counts[coarse] @ self.widths[coarse]) / rows if rows else None,
        )


@dataclasses.dataclass(frozen=True)
class ColumnOutcome:
    """What is left of one column.

    Attributes:
        exact: the share of cells that tell one value.
        coarse: that of cells that tell several.
        hidden: that of cells that tell nothing.
        distinct: how many different words there are.
        loss: the mean share of the domain that a cell leaves open, 0 if all are exact, 1 if all are hidden.
        mean_width: the mean width of the coarse cells of a column of numbers.
    """

    exact: float
    coarse: float
    hidden: float
    distinct: int
    loss: float | None
    mean_width: float | None

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {name: {"value": value} for name, value in dataclasses.asdict(self).items()}

    def __str__(self) -> str:
        coarse = f"coarser in {self.coarse:.0%}"
        if self.mean_width is not None:
            coarse += f" (within {self.mean_width:.3g} on average)"
        told = ((self.exact, f"exact in {self.exact:.0%}"), (self.coarse, coarse))
        parts = [text for share, text in told if share > 0]
        return ", ".join([*parts, *([f"hidden in {self.hidden:.0%}"] if self.hidden else [])]) or "no rows"


def details_of(hierarchy: Hierarchy) -> dict[str, Detail]:
    """How much the labels of a hierarchy tell.

    A label that is also a value counts as a label: whether the value occurs is not to be told.
    """
    found = {label: Detail.COARSE for names in hierarchy.names[:-1] for label in names}
    return found | {hierarchy.root: Detail.HIDDEN}


def read_words(
    release: pa.Table,
    code_lists: Mapping[str, Hierarchy],
    labels: Mapping[str, Mapping[str, Detail]] | None = None,
) -> dict[str, ColumnWords]:
    """Every column as somebody reads it who has the release and the code lists alone.

    Args:
        release: the release.
        code_lists: hierarchies that were fixed before anybody looked at the data.
        labels: for columns without a code list, how much the labels of the method tell.
    """
    found = {}
    for name in release.column_names:
        rows, texts = _texts(name, release.column(name))
        if name in code_lists:
            found[name] = _listed(name, rows, texts, code_lists[name])
        else:
            known = (labels or {}).get(name, {})
            details = tuple(known.get(text) or detail_by_form(text) for text in texts)
            found[name] = ColumnWords(name, rows, texts, details, None, np.array([_width(t) for t in texts]))
    return found


def read_with_domains(release: pa.Table, domains: Mapping[str, ColumnDomain]) -> dict[str, ColumnWords]:
    """Every column as somebody reads it who knows all values of the original."""
    found = {}
    for name, domain in domains.items():
        rows, texts = _texts(name, release.column(name))
        meanings = domain.meanings(texts)
        sizes = np.diff(meanings.indptr)
        most = max(domain.size - 1, 1)
        details = tuple(
            Detail.HIDDEN
            if text == SUPPRESSED or size == domain.size > 1
            else Detail.EXACT
            if size == 1
            else Detail.COARSE
            for text, size in zip(texts, sizes.tolist(), strict=True)
        )
        levels = domain.column.levels
        if levels is not None and levels.domain_size > 1:
            reader = LabelReader(domain.column)
            losses = np.array([(reader.leaves(text) - 1) / (levels.domain_size - 1) for text in texts])
        else:
            losses = (sizes - 1) / most
        losses = np.where([detail is Detail.EXACT for detail in details], 0.0, losses)
        found[name] = ColumnWords(name, rows, texts, details, losses, _widths(domain, meanings))
    return found


def _widths(domain: ColumnDomain, meanings: Any) -> Weights:
    if domain.numbers is None or not domain.summable:
        return np.full(meanings.shape[0], np.nan)
    ends = meanings.indptr
    widths = []
    for start, stop in itertools.pairwise(ends):
        own = domain.numbers[meanings.indices[start:stop]]
        own = own[~np.isnan(own)]
        widths.append(float(own.max() - own.min()) if len(own) else np.nan)
    return np.array(widths)


def _width(text: str) -> float:
    ends = ends_of(text)
    return np.nan if ends is None else ends[1] - ends[0]


def _listed(name: str, rows: Codes, texts: tuple[str, ...], hierarchy: Hierarchy) -> ColumnWords:
    column = hierarchy.attach(encode_column(name, pa.chunked_array([_typed(hierarchy)])))
    reader, size = LabelReader(column), len(hierarchy.values)
    leaves = np.array([1 if t == MISSING else reader.leaves(t) for t in texts])
    known = [t in (SUPPRESSED, MISSING) or reader.meaning(t) is not None for t in texts]
    details = tuple(
        (Detail.HIDDEN if n == size > 1 else Detail.EXACT if n == 1 else Detail.COARSE)
        if is_known
        else detail_by_form(text)
        for text, n, is_known in zip(texts, leaves.tolist(), known, strict=True)
    )
    losses = (leaves - 1) / max(size - 1, 1)
    widths = np.array([_width(text) for text in texts])
    return ColumnWords(name, rows, texts, details, losses if all(known) else None, widths)


def _typed(hierarchy: Hierarchy) -> pa.Array:
    """The values of a code list as numbers if they are such, so that ranges of them can be read."""
    texts = pa.array(hierarchy.values, pa.string())
    for kind in (pa.int64(), pa.float64()):
        try:
            typed = texts.cast(kind)
        except pa.ArrowInvalid:
            continue
        if as_text(typed).equals(texts):
            return typed
    return texts


def _texts(name: str, values: pa.ChunkedArray) -> tuple[Codes, tuple[str, ...]]:
    encoded = encode_column(name, values)
    return encoded.codes, encoded.labels
