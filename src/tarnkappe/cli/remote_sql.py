"""`tarn sql --remote`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tarnkappe.cli.arguments import hierarchy_files, parse_column
from tarnkappe.cli.console import errors, output, print_json, progress_bar
from tarnkappe.cli.remote import FOR_PAGES, Remote, refuse_local, tell
from tarnkappe.cli.sql import ADVISORY, print_rows
from tarnkappe.errors import ParameterError
from tarnkappe.job import read_job_file


def sql_remotely(
    url: str,
    query: str | None,
    data: Sequence[str],
    catalog: Path | None,
    hierarchies: Sequence[str],
    asked: Mapping[str, Any],
    refused: Mapping[str, Any],
    out: Path | None,
    rows: int,
    as_json: bool,
) -> None:
    """Run a query at a service, or let it be explained there."""
    refuse_local(**refused)
    if not query:
        raise ParameterError(
            "cli.write-query-first-argument",
            'write the query as the first argument, in quotes: tarn sql "SELECT ... FROM ..."',
        )
    with Remote(url) as there, progress_bar() as progress:
        document = _document(there, data, catalog, hierarchies)
        document |= {"query": query, "sql": {key: v for key, v in asked.items() if v is not None}}
        found = there.run("sql", document, progress)
        table = there.table("release").data if "release" in found["files"] and out is None else None
        if out is not None and "release" in found["files"]:
            there.take_table("release", out)
    if as_json and "release" in found["files"]:
        told = {key: value for key, value in found["figures"].items() if key not in FOR_PAGES}
        cells = {} if table is None else {"data": [list(row.values()) for row in table.to_pylist()]}
        print_json({**told, **cells, "advisory": ADVISORY, "output": None if out is None else str(out)})
        return
    if table is not None and not as_json:
        print_rows(table, rows)
    tell(found, as_json)
    if out is not None and not as_json:
        output.print(f"written to {out}", highlight=False)
    if "release" in found["files"]:
        errors.print(ADVISORY, highlight=False, markup=False, soft_wrap=True)


def _document(
    there: Remote, data: Sequence[str], catalog: Path | None, hierarchies: Sequence[str]
) -> dict[str, Any]:
    content = read_job_file(catalog) if catalog is not None else {}
    folder = catalog.parent if catalog is not None else Path()
    relations = {name: there.source(said, folder) for name, said in content.get("relations", {}).items()}
    for text in data:
        name, path = parse_column(text)
        if path is None:
            raise ParameterError("cli.data-write-name-file", "--data {text}: write NAME=FILE", text=text)
        relations[name] = there.file(path)
    columns = there.columns(content.get("columns", {}), folder)
    for name, file in hierarchy_files(hierarchies).items():
        columns.setdefault(name, {})["hierarchy"] = there.file(file)
    return {**content, "relations": relations, "columns": columns}
