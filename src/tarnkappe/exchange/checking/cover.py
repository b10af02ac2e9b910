"""Conspicuous values are hidden among others: their cells are `*`, and so are cells that hide nothing.

Were only conspicuous cells hidden, a `*` would tell who has them. So in every group further cells are
hidden, until at most a given share of the hidden ones is conspicuous. Which ones depends on the values of the
group and on a key, never on who the people are, and is the same whenever the same group is made: nothing
averages out by asking again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tarnkappe.exchange.checking.unverified_package import UnverifiedPackage, class_ids
from tarnkappe.exchange.cohorts.multisets import to_hide
from tarnkappe.exchange.request import Anchor
from tarnkappe.job.release import plain
from tarnkappe.state import Key
from tarnkappe.table import MISSING, SUPPRESSED, Table
from tarnkappe.table.encoding import as_text


def covered(
    draft: UnverifiedPackage, columns: Sequence[str], cover: float, key: Key, anchor: Anchor
) -> UnverifiedPackage:
    """The draft with further hidden cells in the columns that have conspicuous values.

    Args:
        draft: the package, in which conspicuous cells are hidden already.
        columns: where conspicuous values are hidden.
        cover: the most that conspicuous cells may be of the hidden ones of a group.
        key: what the other cells are drawn with.
        anchor: whom the package is about.
    """
    release = draft.release
    groups = class_ids(release)
    texts = {name: _texts(release.data.column(name)) for name in release.column_names}
    words = list(zip(*(texts[name] for name in release.quasi_identifiers), strict=True))
    lines = list(zip(*texts.values(), strict=True))
    data = release.data
    for name in columns:
        if name not in texts:
            continue
        cells = list(texts[name])
        for group in range(int(groups.max(initial=-1)) + 1):
            own = np.flatnonzero(groups == group).tolist()
            others = sorted(
                (row for row in own if texts[name][row] != SUPPRESSED), key=lambda row: lines[row]
            )
            number = to_hide(len(own) - len(others), len(others), cover)
            label = words[own[0]] if words else ()
            secret = key.derived("cover", anchor.attribute, *anchor.values, "of", *label, "in", name)
            chance = random.Random(secret)  # noqa: S311
            for row in chance.sample(others, number):
                cells[row] = SUPPRESSED
        if cells != texts[name]:
            data = data.set_column(data.column_names.index(name), name, pa.chunked_array([pa.array(cells)]))
    told = f"Conspicuous values of {', '.join(columns)} are hidden among others."
    hidden = SUPPRESSED in {cell for name in columns for cell in texts.get(name, ())}
    return UnverifiedPackage(
        Table(data, release.roles),
        draft.source_rows,
        draft.withheld,
        draft.levels,
        (*draft.told, told) if hidden else draft.told,
    )


def _texts(column: pa.ChunkedArray) -> list[str]:
    return [MISSING if text is None else str(text) for text in as_text(plain(column)).to_pylist()]
