"""From what a client asks to what a process may open: every table and hierarchy is looked up in the house.

No path and no address of a client is ever opened: a document names files and jobs by their ids, which must
be its owner's, and databases by the names in the settings. Every key that could hold a path is known here,
and what is not known is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError, NotFoundError
from tarnkappe.job.unknown_keys import refuse_unknown
from tarnkappe.schema.documents import parse
from tarnkappe.service.files import TABLE
from tarnkappe.service.people import Account
from tarnkappe.service.settings import ServiceSettings
from tarnkappe.service.work import JobKind
from tarnkappe.table.read import READING_KEYS

SOURCES = ("input", "population", "people", "sensitive_table", "release")
"""Sections that say where rows come from."""
NAMED = ("file", "job", "database")
READING = ("what", "table", *READING_KEYS)
BESIDE = {"input": ("several_rows_per_person", "engine", "memory_limit"), "people": ("names",)}
ENGINES = ("memory", "duckdb")
OUTPUT = ("shuffle", "excel")
RELATION = ("columns", "keys", "least_rows", "within", "ordered_like")
RELEASE = "release"
MOST_NESTED = 20

FindFile = Callable[[str], Path]
FindResult = Callable[[str, str], Path]


class Resolver:
    """Looks up what the documents of one person name.

    Args:
        file: the path of one of her files.
        result: the path of what one of her jobs has made.
        settings: name databases, gates, sites and federations.
        who: she; jobs in which she acts get her name.
    """

    def __init__(self, file: FindFile, result: FindResult, settings: ServiceSettings, who: Account) -> None:
        self._file, self._result, self._databases = file, result, settings.databases
        self._parts = {"gate": settings.gates, "site": settings.sites, "federation": settings.federations}
        self._who = who

    def resolve(self, document: Mapping[str, Any], kind: type[JobKind]) -> dict[str, Any]:
        """The document with paths and addresses in place of names.

        Raises:
            JobError: if it says what a document cannot say.
            NotFoundError: if it names what is not there, or not hers.
        """
        parse(kind.document, document)
        _refuse_depth(document)
        resolved = dict(document)
        for name in (section for section in SOURCES if section in document):
            resolved[name] = self._source(document[name], name, BESIDE.get(name, ()))
        if "earlier" in document:
            resolved["earlier"] = [
                self._source(each, "earlier") for each in _listed(document["earlier"], "earlier")
            ]
        if "relations" in document:
            resolved["relations"] = {
                name: self._relation(name, said)
                for name, said in _table(document["relations"], "relations").items()
            }
        if "columns" in document:
            resolved["columns"] = {
                name: said if name == "unnamed" and isinstance(said, str) else self._column(name, said)
                for name, said in _table(document["columns"], "columns").items()
            }
        if "proposal" in document:
            resolved["proposal"] = self._proposal(document["proposal"])
        if "hierarchy" in document:
            resolved["hierarchy"] = self._hierarchy(document["hierarchy"], "hierarchy")
        if "output" in document:
            refuse_unknown(_table(document["output"], "output"), OUTPUT, "key of [output]")
        for name, known in self._parts.items():
            if name in document:
                if document[name] not in known:
                    raise NotFoundError(
                        "service.no-name-settings-service",
                        "there is no {name} of this name: the settings of the service list them",
                        name=name,
                    )
                if name == "site":
                    self._who.require_own_name()
                resolved |= {name: str(known[document[name]]), "by": self._who.name}
        for name in ("search", "check", "attack", "compare", "sql", "slicing"):
            if name in document:
                _table(document[name], name)
        return resolved

    def _source(self, said: Any, section: str, beside: tuple[str, ...] = ()) -> dict[str, Any]:
        content = dict(_table(said, section))
        refuse_unknown(content, (*NAMED, *READING, *beside), f"key of [{section}]")
        if content.get("engine", "memory") not in ENGINES:
            raise JobError(
                "service.here-engine",
                "[{section}]: here the engine is {engines}",
                section=section,
                engines=" or ".join(ENGINES),
            )
        given = [key for key in NAMED if key in content]
        if len(given) != 1 or not isinstance(content[given[0]], str):
            raise JobError(
                "service.names-table-file-id",
                '[{section}] names one table: {{"file": ID}}, {{"job": ID}} or {{"database": NAME, ...}}',
                section=section,
            )
        name, what = content.pop(given[0]), content.pop("what", RELEASE)
        if given[0] == "file":
            path = self._file(name)
            if path.suffix == TABLE:
                return self._source({**content, **json.loads(path.read_bytes())}, section, beside)
            return {**content, "path": str(path)}
        if given[0] == "job":
            return {**content, "path": str(self._result(name, str(what)))}
        if name not in self._databases:
            raise NotFoundError(
                "service.no-database-name-settings",
                "there is no database of this name: the settings of the service list them",
            )
        if not isinstance(content.get("table"), str):
            raise JobError(
                "service.needs-table-database",
                "[{section}] needs the 'table' of the database",
                section=section,
            )
        return {**content, "database": self._databases[name]}

    def _relation(self, name: str, said: Any) -> dict[str, Any]:
        where = f"relations.{name}"
        content = _table(said, where)
        if "columns" in content:
            raise JobError(
                "service.names-table-here-not-columns",
                "[{where}] names a table here, not its columns",
                where=where,
            )
        kept = {key: value for key, value in content.items() if key in RELATION}
        return kept | self._source({k: v for k, v in content.items() if k not in RELATION}, where)

    def _column(self, name: str, said: Any) -> dict[str, Any]:
        content = dict(_table(said, f"columns.{name}"))
        if isinstance(content.get("noise"), str):
            raise JobError(
                "service.columns-write-noise",
                "[columns.{name}]: write the noise out, here it has no file",
                name=name,
            )
        if "hierarchy" in content:
            content["hierarchy"] = self._hierarchy(content["hierarchy"], f"columns.{name}.hierarchy")
        return content

    def _proposal(self, said: Any) -> dict[str, Any]:
        content = dict(_table(said, "proposal"))
        if "hierarchies" in content:
            content["hierarchies"] = {
                name: self._hierarchy(each, f"proposal.hierarchies.{name}")
                for name, each in _table(content["hierarchies"], "proposal.hierarchies").items()
            }
        return content

    def _hierarchy(self, said: Any, where: str) -> Any:
        if not isinstance(said, Mapping):
            raise JobError(
                "service.file-id-job-id",
                '[{where}] is {{"file": ID}}, {{"job": ID}} or {{"builder": NAME, ...}}, no path',
                where=where,
            )
        if "file" not in said and "job" not in said:
            return said
        refuse_unknown(said, ("file", "job"), f"key of [{where}]")
        if "file" in said:
            path = self._file(str(said["file"]))
            if path.suffix == TABLE:
                raise JobError(
                    "service.file-not-table-database",
                    "[{where}] is a file, not a table of a database",
                    where=where,
                )
            return str(path)
        return str(self._result(str(said["job"]), "hierarchy"))


def _table(said: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise JobError("service.must-section", "[{where}] must be a section", where=where)
    return said


def _listed(said: Any, where: str) -> list[Any]:
    if not isinstance(said, list):
        raise JobError("service.must-list", "'{where}' must be a list", where=where)
    return said


def _refuse_depth(value: Any, depth: int = 0) -> None:
    if depth > MOST_NESTED:
        raise JobError(
            "service.document-nested-more-deep",
            "the document is nested more than {most_nested} deep",
            most_nested=MOST_NESTED,
        )
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        _refuse_depth(each, depth + 1)
