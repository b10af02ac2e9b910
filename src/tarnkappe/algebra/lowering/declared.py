"""What is declared of relations, verified where the rows are, before anything relies on it.

A rule that moves a generalization over a join because a column is a key is wrong on data in which it is none.
So the declarations that a rewritten plan rests on are looked up in the same snapshot in which the plan runs.
"""

from __future__ import annotations

from functools import reduce
from operator import and_, or_
from typing import Any

import ibis

from tarnkappe.algebra.facts import Declaration
from tarnkappe.algebra.lowering.hidden import with_person
from tarnkappe.algebra.lowering.rows import LoweredRows, common
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.algebra.person_paths import HIDDEN
from tarnkappe.algebra.persons import Persons
from tarnkappe.algebra.plan import listed
from tarnkappe.errors import ParameterError


def require(declaration: Declaration, site: EngineSnapshot, persons: Persons | None = None) -> None:
    """Refuse a declaration that the data contradict; the message names it and quotes no value.

    Raises:
        ParameterError: it is not true.
    """
    name, columns = declaration.relation, sorted(declaration.columns)
    rows = site.relation(name, numbered=False)
    named = listed(columns)
    match declaration.what:
        case "not_null":
            if _lacks(rows, columns, site):
                _refuse(declaration, "not_null", f"{named} is missing in some rows")
        case "key":
            if _lacks(rows, columns, site):
                _refuse(declaration, "keys", f"{named} is missing in some rows, so it is no key")
            if _repeats(rows, columns, site):
                _refuse(declaration, "keys", f"some rows agree in {named}, so it is no key")
        case "person":
            rows = with_person(rows, name, persons or {name: columns[0]}, site)
            if _lacks(rows, [HIDDEN], site):
                message = f"{named} is missing in some rows, or leads to nobody: leave them out by WHERE"
                raise ParameterError(
                    "algebra.declared-person",
                    "'{name}' is declared with `person`, but {message}",
                    name=name,
                    message=message,
                )
            most = max(declaration.number, 1)
            if _repeats(rows, [HIDDEN], site, most) and most == 1:
                raise ParameterError(
                    "algebra.several-rows-person-noise",
                    "'{name}' has several rows of one person ({named}), and noise or buckets for one row do"
                    " not hide a person: declare rows_per_person, the most rows that one person has, or "
                    "make one row for each person first, by GROUP BY",
                    name=name,
                    named=named,
                )
            if _repeats(rows, [HIDDEN], site, most):
                _refuse(declaration, "rows_per_person", f"somebody has more than {most} rows")
        case "within":
            if _is_found(_without_partner(rows, declaration, site), site):
                message = f"some rows have no partner in '{declaration.other}' that agrees in {named}"
                _refuse(declaration, "within", message)
        case "ordered_like":
            if not _same_order(declaration, site):
                message = f"{named} does not have the same values in the same order in '{declaration.other}'"
                _refuse(declaration, "ordered_like", message)
        case "least_rows":
            if _count(rows.table, site) < declaration.number:
                _refuse(declaration, "least_rows", "it has fewer rows")


def _refuse(declaration: Declaration, key: str, message: str) -> None:
    raise ParameterError(
        "algebra.declared-but-correct-data",
        "'{relation}' is declared with `{key}`, but {message}: correct the data or leave the declaration out",
        relation=declaration.relation,
        key=key,
        message=message,
    )


def _lacks(rows: LoweredRows, columns: list[str], site: EngineSnapshot) -> bool:
    missing = reduce(or_, (rows.cell(column).isnull() for column in columns))
    return _is_found(rows.table.filter(missing), site)


def _repeats(rows: LoweredRows, columns: list[str], site: EngineSnapshot, most: int = 1) -> bool:
    """Whether more rows than that agree in the columns."""
    keys = rows.table.select(**{f"k{n}": rows.cell(column) for n, column in enumerate(columns)})
    counted = keys.group_by(list(keys.columns)).aggregate(n=keys.count())
    return _is_found(counted.filter(counted["n"] > most), site)


def _without_partner(rows: LoweredRows, declaration: Declaration, site: EngineSnapshot) -> Any:
    """The rows that a join drops; one that lacks a value is among them."""
    other = site.relation(declaration.other, numbered=False)
    columns = list(enumerate(sorted(declaration.columns)))
    theirs = other.table.select(**{f"o{n}": other.cell(column) for n, column in columns}).view()
    pairs = [common(rows.cell(column), theirs[f"o{n}"], column) for n, column in columns]
    return rows.table.anti_join(theirs, [mine == its for mine, its in pairs])


def _same_order(declaration: Declaration, site: EngineSnapshot) -> bool:
    columns = sorted(declaration.columns)
    sides = [
        site.relation(name, numbered=True).renumbered().onto(columns)
        for name in (declaration.relation, declaration.other)
    ]
    counts = [_count(side.table, site) for side in sides]
    left, right = sides[0].table, sides[1].table.rename(lambda name: f"o{name}")
    same = reduce(and_, (left[f"c{n}"].identical_to(right[f"oc{n}"]) for n in range(len(columns))))
    agreeing = left.join(right, [left["i0"] == right["oi0"], same])
    return counts[0] == counts[1] == _count(agreeing, site)


def _is_found(table: Any, site: EngineSnapshot) -> bool:
    """Whether there is a row; of which it is, nothing is fetched."""
    found = table.limit(1).select(found=ibis.literal(1, "int64"))
    return bool(site.fetch(found, "verifying").num_rows)


def _count(table: Any, site: EngineSnapshot) -> int:
    return int(site.fetch(table.aggregate(n=table.count()), "verifying").column("n")[0].as_py())
