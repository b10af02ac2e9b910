"""Where the tables, people and budgets of a query are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarnkappe.algebra.answer_text import budget_text
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.declarations import Declarations, StatedCatalog
from tarnkappe.algebra.lowering import Backend
from tarnkappe.algebra.lowering import connect as connect_backend
from tarnkappe.algebra.numbers import read_number
from tarnkappe.cli.arguments import parse_column
from tarnkappe.cli.console import errors, output, print_json
from tarnkappe.errors import ParameterError
from tarnkappe.table.formats.address import is_address

if TYPE_CHECKING:
    from tarnkappe.state.budgets import Budgets

SELF_DECLARED = (
    "advisory: --user is whatever name is given, and whoever runs this can grant any budget to any name"
)


def _persons(said: Sequence[str]) -> dict[str, str]:
    """The column that tells people apart, of each table."""
    found = {}
    for text in said:
        table, column = parse_column(text)
        if column is None:
            raise ParameterError(
                "cli.person-write-table-column", "--person {text}: write TABLE=COLUMN", text=text
            )
        found[table] = column
    return found


def _places(file: StatedCatalog, data: Sequence[str]) -> str | dict[str, str] | list[Any]:
    """Where the tables are: files by name, one database, or several of these side by side."""
    databases = [text for text in data if is_address(text) or text.startswith("spark:")]
    files: dict[str, str] = {}
    for name, source in file.sources.items():
        if source.database is not None:
            if (source.table or "").rpartition(".")[2] != name and source.table != name:
                raise ParameterError(
                    "cli.relations-call-relation-table",
                    "[relations.{name}]: call the relation as its table, '{table}'",
                    name=name,
                    table=source.table,
                )
            databases.append(source.database)
        else:
            files[name] = str(source.path)
    named: set[str] = set()
    for text in data:
        name, path = parse_column(text)
        if text in databases:
            continue
        if path is None:
            raise ParameterError(
                "cli.data-write-name-file-address",
                "--data {text}: write NAME=FILE, or the address of a database",
                text=text,
            )
        if name in named:
            raise ParameterError(
                "cli.data-named-twice-leave",
                "--data {text}: '{name}' is named twice: leave one out",
                text=text,
                name=name,
            )
        named.add(name)
        files[name] = path
    databases = list(dict.fromkeys(databases))
    if len(databases) > 1 or (databases and files):
        return [*databases, *([files] if files else [])]
    return databases[0] if databases else files


def _connect(places: str | dict[str, str] | list[Any], engine: str | None) -> Backend:
    if not places:
        raise ParameterError(
            "cli.say-where-tables-data", "say where the tables are: --data NAME=FILE, or --catalog FILE"
        )
    if isinstance(places, str):
        scheme = places.partition(":")[0]
        if engine not in (None, scheme, scheme.partition("+")[0]):
            raise ParameterError(
                "cli.engine-not-read-leave",
                "--engine {engine} does not read {scheme}: leave it out",
                engine=engine,
                scheme=scheme,
            )
        return connect_backend(places)
    if engine == "postgresql":
        raise ParameterError(
            "cli.engine-postgresql-reads-no-files",
            "--engine postgresql reads no files: give --data postgresql://user@host/database",
        )
    return connect_backend(places, engine=engine)


def _schema(file: StatedCatalog, declared: Declarations, data: Sequence[str], engine: str | None) -> Catalog:
    """A catalog for proofs: the columns of the tables count, their rows are not looked at."""
    places = _places(file, data)
    if not places:
        return declared.catalog(file.columns) if file.columns else Catalog({})
    with _connect(places, engine) as backend:
        return declared.catalog({**file.columns, **backend.relations})


def _is_file(text: str) -> bool:
    return text.endswith((".json", ".xml", ".sql")) and Path(text).is_file()


def _budgets(kept: Budgets | None, user: str | None, grants: Sequence[str], as_json: bool) -> None:
    """Grant budgets, and show all that there are."""
    if kept is None:
        raise ParameterError(
            "cli.grant-say-where-budgets", "--grant: say where budgets are kept: --budgets FILE"
        )
    for text in grants:
        table, epsilon = parse_column(text)
        if epsilon is None or not user:
            raise ParameterError(
                "cli.grant-write-user-name",
                "--grant {text}: write --user NAME --grant TABLE=EPSILON",
                text=text,
            )
        kept.grant(user, table, read_number(epsilon))
    if as_json:
        figures = ("granted", "spent", "left")
        print_json(
            {
                "budgets": [
                    {"user": each.user, "table": each.table, **{f: float(getattr(each, f)) for f in figures}}
                    for each in kept.all()
                ],
                "advisory": SELF_DECLARED,
            }
        )
        return
    for each in kept.all():
        output.print(budget_text(each), highlight=False, markup=False)
    errors.print(SELF_DECLARED, highlight=False, markup=False, soft_wrap=True)
