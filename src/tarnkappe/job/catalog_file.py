"""Catalog files: what queries need to know of relations and columns, in TOML.

Columns have the same sections as in a job file, with `noise` beside. Everything is checked before any work;
paths are relative to the catalog file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.algebra.catalog import LEAST_BUCKET
from tarnkappe.algebra.declarations import Declarations
from tarnkappe.algebra.noise_plan import read_noise
from tarnkappe.algebra.persons import PersonPath
from tarnkappe.errors import JobError, ParameterError, TarnkappeError
from tarnkappe.job.job import InputSource, column_section, read_job_file, refuse_unknown
from tarnkappe.table.read import READING_KEYS

SECTIONS = ("relations", "columns", "slicing")
LOCATION = ("path", "database", "table", *(key for key in READING_KEYS if key != "types"))
RELATION_KEYS = (*LOCATION, "columns", "keys", "not_null", "person", "rows_per_person", "public")
RELATION_KEYS += ("least_rows", "within", "ordered_like")


@dataclasses.dataclass(frozen=True)
class CatalogFile:
    """What a catalog file says, before any data are looked at.

    Attributes:
        sources: where the rows of each relation are.
        columns: the columns of relations without rows; they can be explained, but not run.
        declarations: all that is said of columns and relations.
    """

    sources: Mapping[str, InputSource] = dataclasses.field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    declarations: Declarations = dataclasses.field(default_factory=Declarations)

    @classmethod
    def load(cls, path: str | Path) -> CatalogFile:
        """Read a catalog file."""
        try:
            return cls.from_dict(read_job_file(path), Path(path).parent)
        except TarnkappeError as error:
            raise (error if str(path) in str(error) else type(error)(f"{path}: {error}")) from None

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path()) -> CatalogFile:
        """The content of a catalog file; relative paths start at the folder."""
        refuse_unknown(content, SECTIONS, "section")
        slicing = _table(content.get("slicing", {}), "[slicing]")
        refuse_unknown(slicing, ("bucket",), "key of [slicing]")
        relations = {
            name: _relation(name, _table(said, f"[relations.{name}]"))
            for name, said in _table(content.get("relations", {}), "[relations]").items()
        }
        sections = {
            name: dict(_table(plan, f"[columns.{name}]"))
            for name, plan in _table(content.get("columns", {}), "[columns]").items()
        }
        noise = {name: plan.pop("noise") for name, plan in sections.items() if "noise" in plan}
        plans = {name: column_section(name, plan, folder) for name, plan in sections.items()}
        return cls(
            {name: _source(said, folder) for name, said in relations.items() if "columns" not in said},
            {name: tuple(said["columns"]) for name, said in relations.items() if "columns" in said},
            Declarations(
                hierarchies={n: plan.hierarchy for n, plan in plans.items() if plan.hierarchy is not None},
                noise={name: read_noise(name, said, folder) for name, said in noise.items()},
                bucket=slicing.get("bucket", LEAST_BUCKET),
                roles={name: plan.role for name, plan in plans.items()},
                keys={
                    name: [frozenset(key) for key in said["keys"]]
                    for name, said in relations.items()
                    if "keys" in said
                },
                not_null={
                    n: frozenset(said["not_null"]) for n, said in relations.items() if "not_null" in said
                },
                inclusions=[
                    (name, other, frozenset(columns))
                    for name, said in relations.items()
                    for other, columns in said.get("within", {}).items()
                ],
                orders=[
                    (frozenset({name, other}), frozenset(columns))
                    for name, said in relations.items()
                    for other, columns in said.get("ordered_like", {}).items()
                ],
                persons={n: _person(n, said) for n, said in relations.items() if "person" in said},
                public=frozenset(n for n, said in relations.items() if said.get("public")),
                least_rows={n: said["least_rows"] for n, said in relations.items() if "least_rows" in said},
            ),
        )


def _source(said: Mapping[str, Any], folder: Path) -> InputSource:
    location = {key: said[key] for key in LOCATION if key in said}
    if isinstance(location.get("path"), str):
        location["path"] = str(folder / location["path"])
    return InputSource(**location)


def _relation(name: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
    """The section of a relation, checked."""
    where = f"[relations.{name}]"
    refuse_unknown(said, RELATION_KEYS, f"key of {where}")
    if any(key in said for key in LOCATION) == ("columns" in said):
        raise JobError(f"{where} needs either its rows (path, or database and table) or its columns alone")
    _names(said.get("columns", []), f"{where}: columns")
    least = said.get("least_rows", 0)
    if isinstance(least, bool) or not isinstance(least, int) or least < 0:
        raise JobError(f"{where}: least_rows is a whole number, not {least!r}")
    if "rows_per_person" in said and "person" not in said:
        raise JobError(f"{where}: rows_per_person needs `person`, which tells people apart")
    if not isinstance(said.get("public", False), bool):
        raise JobError(f"{where}: public is true or false")
    keys = said.get("keys", [])
    if not isinstance(keys, list):
        raise JobError(f'{where}: keys is a list of lists of columns, as [["id"]]')
    for key in keys:
        _names(key, f"{where}: a key")
    _names(said.get("not_null", []), f"{where}: not_null")
    for declaration in ("within", "ordered_like"):
        for columns in _table(said.get(declaration, {}), f"{where}: {declaration}").values():
            _names(columns, f"{where}: {declaration}")
    return said


PERSON_KEYS = ("space", "column", "through", "to")


def _person(name: str, said: Mapping[str, Any]) -> PersonPath:
    """How the person of a row is found: a column, or a path through a foreign key."""
    where, person = f"[relations.{name}]", said["person"]
    if isinstance(person, str):
        person = {"column": person}
    if not isinstance(person, Mapping) or not all(isinstance(each, str) for each in person.values()):
        raise JobError(
            f"{where}: person is the name of the column that tells people apart, or as "
            '{space = "patient", column = "pid"} or {through = "case_id", to = "cases"}'
        )
    refuse_unknown(person, PERSON_KEYS, f"key of `person` of {where}")
    try:
        return PersonPath(**person, rows=said.get("rows_per_person", 1))
    except ParameterError as error:
        raise JobError(f"{where}: {error}") from None


def _names(said: Any, where: str) -> None:
    if not isinstance(said, list) or not all(isinstance(name, str) for name in said):
        raise JobError(f'{where} must be a list of column names, as ["plz", "alter"]')


def _table(said: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise JobError(f"{where} must be a section or a table in braces")
    return said
