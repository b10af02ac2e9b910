"""The person of each row as a hidden column: copied from a column, or found along foreign keys."""

from __future__ import annotations

from tarnkappe.algebra.lowering.rows import LoweredRows, common, made
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.algebra.person_paths import HIDDEN, path_of
from tarnkappe.algebra.persons import Persons
from tarnkappe.errors import ParameterError


def with_person(rows: LoweredRows, relation: str, persons: Persons, site: EngineSnapshot) -> LoweredRows:
    """The rows of a base relation with the column `HIDDEN`; it is missing where the path leads to nobody.

    An outer join along a foreign key keeps every row once, since the path is verified to end in a key.
    """
    path = path_of(persons, relation)
    if path is None:
        raise ParameterError(
            "algebra.not-declared-people",
            "it is not declared who the people of '{relation}' are",
            relation=relation,
        )
    columns = (*rows.columns, HIDDEN)
    if path.column:
        return made(rows.table, columns, [*rows.cells, rows.cell(path.column)], rows.id, rows.is_dense)
    target = with_person(site.relation(path.to, numbered=False), path.to, persons, site)
    found = target.table.select(k=target.cell(path.through), u=target.cell(HIDDEN)).view()
    mine, its = common(rows.cell(path.through), found["k"], path.through)
    table = rows.table.left_join(found, mine == its)
    cells = [table[f"c{n}"] for n in range(len(rows.columns))]
    return made(
        table, columns, [*cells, found["u"]], [table[f"i{n}"] for n in range(rows.ids)], rows.is_dense
    )
