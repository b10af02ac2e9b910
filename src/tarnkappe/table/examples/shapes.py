"""Tables in the shape of the data sets on which full-domain searches are usually evaluated.

The shape is that of ADULT, CUP, FARS, ATUS and IHIS: number of rows, column names, distinct values
per column and levels per hierarchy, so lattices have the published sizes. The content is made up. It
is skewed and correlated as data of people are, so that a search meets a realistic lattice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ParameterError
from tarnkappe.schema import near
from tarnkappe.table.examples.draw import Choice, Codes, Streams
from tarnkappe.table.examples.evaluation import SHAPE_NAMES
from tarnkappe.table.examples.evaluation import shape as shape_of
from tarnkappe.table.examples.example import ExampleData, check_size
from tarnkappe.table.examples.model import ColumnModel, TableShape
from tarnkappe.table.table import Table

BATCH_ROWS = 2**18


def shaped(name: str, rows: int | None = None, seed: int = 0) -> ExampleData:
    """A made-up table in the shape of ADULT, CUP, FARS, ATUS or IHIS.

    Every column has as many distinct values as the original, or as many as there are rows if these
    are fewer. The starred column of the original evaluation is sensitive and also has a hierarchy, so
    that it can be made a quasi-identifier. The same name, rows and seed give the same table on every
    platform. Columns are dictionary-encoded.

    Args:
        name: one of `SHAPE_NAMES`.
        rows: how many rows; as many as the original has if not given.
        seed: another seed gives another table of the same kind.

    >>> adult = shaped("ADULT", rows=1000)
    >>> adult.table.sensitive, adult.table.quasi_identifiers[:3]
    (('occupation',), ('sex', 'age', 'race'))
    >>> adult.hierarchies["age"][3]
    ['20', 'age 20-24', 'age 20-29', 'age 20-39', '*']
    >>> adult.description["lattice"], adult.description["lattice_without_sensitive"]
    (12960, 4320)
    """
    shape = _shape(name)
    size = shape.rows if rows is None else rows
    data = pa.Table.from_batches(shaped_batches(name, size, seed, BATCH_ROWS))
    return ExampleData(
        table=Table(data, {attribute.name: attribute.role for attribute in shape.attributes}),
        hierarchies={attribute.name: attribute.domain.hierarchy() for attribute in shape.attributes},
        description=_description(shape, size, seed),
    )


def shaped_batches(
    name: str, rows: int, seed: int = 0, batch_rows: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """The rows of `shaped` batch by batch, for tables that do not fit in memory.

    The rows do not depend on `batch_rows`, and all batches share their dictionaries. Roles and
    hierarchies do not depend on the number of rows: take them from `shaped(name, rows=1)`.

    >>> batches = shaped_batches("IHIS", rows=50_000_000, batch_rows=10_000)
    >>> next(batches).schema.field("educ").type
    DictionaryType(dictionary<values=string, indices=int32, ordered=0>)
    """
    check_size(rows, seed, batch_rows)
    return _batches(_shape(name), rows, seed, batch_rows)


def _shape(name: str) -> TableShape:
    if name not in SHAPE_NAMES:
        meant = near(name.upper(), SHAPE_NAMES)
        hint = f"did you mean {meant[0]}?" if meant else f"known are {', '.join(SHAPE_NAMES)}"
        raise ParameterError(
            "table.unknown-example-shape", "unknown example shape '{name}': {hint}", name=name, hint=hint
        )
    return shape_of(name)


def _description(shape: TableShape, rows: int, seed: int) -> dict[str, object]:
    levels = [attribute.domain.levels for attribute in shape.attributes]
    free = [attribute.domain.levels for attribute in shape.attributes if not attribute.sensitive]
    return {
        "name": shape.name,
        "text": f"made-up data in the shape of {shape.name}: {shape.text}",
        "rows": rows,
        "seed": seed,
        "columns": {
            attribute.name: {
                "role": str(attribute.role),
                "distinct": attribute.domain.distinct,
                "levels": attribute.domain.levels,
            }
            for attribute in shape.attributes
        },
        "lattice": math.prod(levels),
        "lattice_without_sensitive": math.prod(free),
    }


def _batches(shape: TableShape, rows: int, seed: int, batch_rows: int) -> Iterator[pa.RecordBatch]:
    streams = Streams(seed, shape.name)
    drawers = [_Drawer(attribute, shape, rows, streams) for attribute in shape.by_dependence()]
    names = [attribute.name for attribute in shape.attributes]
    for start in range(0, rows, batch_rows):
        stop = min(start + batch_rows, rows)
        codes: dict[str, Codes] = {}
        for drawer in drawers:
            codes[drawer.attribute.name] = drawer.draw(codes, start, stop)
        columns = [
            pa.DictionaryArray.from_arrays(codes[attribute.name], attribute.domain.values)
            for attribute in shape.attributes
        ]
        yield pa.RecordBatch.from_arrays(columns, names=names)


class _Drawer:
    """Draws the codes of one column, given those of the columns it depends on.

    So that every value occurs, each is planted once: in rows spread evenly over the table, and before
    the columns that depend on it are drawn. Without this, rare values would be there in one table and
    not in the next. A planted value takes no notice of the columns that its own depends on; real data
    have such rows, too.
    """

    def __init__(self, attribute: ColumnModel, shape: TableShape, rows: int, streams: Streams) -> None:
        self.attribute = attribute
        self._contexts = [shape[link.parent].domain.label_codes[link.level] for link in attribute.links]
        self._choice = Choice(attribute.conditional_weights(shape))
        self._streams = streams
        distinct = attribute.domain.distinct
        planted = min(rows, distinct)
        order = np.argsort(streams.uniform(f"{attribute.name}: order", distinct), kind="stable")
        shift = int(streams.uniform(f"{attribute.name}: shift", 1)[0] * rows)
        places = (np.arange(planted, dtype=np.int64) * rows // planted + shift) % rows
        self._places, self._planted = places, order[:planted].astype(np.int32)

    def draw(self, codes: dict[str, Codes], start: int, stop: int) -> Codes:
        """The codes of the rows from start to stop."""
        context = np.zeros(stop - start, dtype=np.int32)
        for link, labels in zip(self.attribute.links, self._contexts, strict=True):
            context = context * (int(labels.max()) + 1) + labels[codes[link.parent]]
        drawn = self._choice.draw(self._streams.uniform(self.attribute.name, stop - start), context)
        here = (self._places >= start) & (self._places < stop)
        drawn[self._places[here] - start] = self._planted[here]
        return drawn
