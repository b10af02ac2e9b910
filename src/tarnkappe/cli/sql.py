"""`tarn sql`: queries with anonymization operators: run them, explain them, prove what may be rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich.table import Table as Grid

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.declarations import Declarations
from tarnkappe.algebra.equivalence import EquivalenceFinding, EquivalenceVerdict
from tarnkappe.algebra.explanation import Explanation
from tarnkappe.algebra.json_document import plan_json
from tarnkappe.algebra.lowering import Backend
from tarnkappe.algebra.lowering import connect as connect_backend
from tarnkappe.algebra.nodes import PostProcessing
from tarnkappe.algebra.numbers import read_number
from tarnkappe.algebra.proof import RuleFinding
from tarnkappe.algebra.proving import prove as prove_claim
from tarnkappe.algebra.proving import read_plan
from tarnkappe.algebra.session import QueryResult, QuerySession
from tarnkappe.algebra.sql.printing import plan_sql
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.algebra.xml_document import plan_xml
from tarnkappe.cli.arguments import hierarchy_files, parse_column
from tarnkappe.cli.console import errors, output, print_json, progress_bar
from tarnkappe.cli.remote_option import RemoteOption
from tarnkappe.errors import InputError, ParameterError
from tarnkappe.job.catalog_file import CatalogFile
from tarnkappe.report.answer_text import SHOWN, answer_lines, budget_text
from tarnkappe.state import Store
from tarnkappe.state.budgets import BUDGETS_COMPONENT, Budgets
from tarnkappe.table import write
from tarnkappe.table.files import format_of, writable
from tarnkappe.table.formats.address import is_address

ADVISORY = "advisory: whoever runs this can read the raw tables, and nothing here keeps anybody from them"
SELF_DECLARED = (
    "advisory: --user is whatever name is given, and whoever runs this can grant any budget to any name"
)
Words = list[str]


def sql(
    query: Annotated[str | None, typer.Argument(help="The query; its tables are named by --data.")] = None,
    data: Annotated[
        Words | None,
        typer.Option(
            help="NAME=FILE for a table, or a database: postgresql://..., duckdb:///..., spark:FOLDER."
        ),
    ] = None,
    catalog: Annotated[
        Path | None, typer.Option(help="Tables, roles, hierarchies and noise of columns (TOML).")
    ] = None,
    hierarchies: Annotated[
        Words | None, typer.Option(help="How columns generalize: COLUMN=FILE. Proposed where not given.")
    ] = None,
    person: Annotated[
        Words | None,
        typer.Option(help="TABLE=COLUMN that tells people apart. Without it, k counts rows and not people."),
    ] = None,
    engine: Annotated[str | None, typer.Option(help="For files: duckdb (the default) or spark.")] = None,
    mode: Annotated[
        str | None, typer.Option(help="Which rewrites: strict (the default), relaxed or explicit.")
    ] = None,
    rule: Annotated[
        Words | None,
        typer.Option(help="A rule to use in explicit mode, in order: D9, D12.rl, G14.lr@//union."),
    ] = None,
    parallelism: Annotated[int, typer.Option(min=1, help="How many parts of a plan run at once.")] = 1,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show the plan, every rewrite, and what was refused; run nothing."),
    ] = False,
    prove: Annotated[
        Words | None, typer.Option(help="A rule, or two plans (SQL, XML or JSON): on all small relations.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="Whose privacy budget noisy aggregates spend.")] = None,
    budgets: Annotated[
        str | None, typer.Option(help="Where budgets are kept: a file, or postgresql://...")
    ] = None,
    grant: Annotated[
        Words | None, typer.Option(help="Set what --user may spend on a table in all: TABLE=EPSILON.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(help="Run a plan from a file (.xml or .json) in place of a query.")
    ] = None,
    write_plan: Annotated[
        Path | None, typer.Option(help="Write the plan that runs: .xml, .json or .sql.", writable=True)
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="A policy file: print its verdict on the query, and run nothing.")
    ] = None,
    judged_as: Annotated[str | None, typer.Option("--as", help="With --policy: whose rights count.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the answer: .parquet, .csv, ...", writable=True)
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="How many rows to show.")] = SHOWN,
    remote: RemoteOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run SQL with generalize, slice and randomize inside, on DuckDB, PostgreSQL or Spark.

    The answer is held to what the query promises before it is shown. This is advisory: whoever runs it can
    read the raw tables and name any user. Ends with exit code 1 if there are too few rows for a promise, or
    if two plans given to --prove are different.
    """
    if out is not None:
        format_of(writable(out))
    if write_plan is not None:
        writable(write_plan)
    if remote is not None:
        from tarnkappe.cli.remote_sql import sql_remotely

        refuse = {
            "prove": prove,
            "user": user,
            "budgets": budgets,
            "grant": grant,
            "engine": engine,
            "person": person,
            "plan": plan,
            "write_plan": write_plan,
            "policy": policy,
        }
        asked = {"mode": mode, "rules": rule, "explain": explain or None}
        sql_remotely(remote, query, data or (), catalog, hierarchies or (), asked, refuse, out, rows, as_json)
        return
    if policy is not None or judged_as is not None:
        if policy is None or judged_as is None or not query:
            raise ParameterError("the verdict of a policy needs --policy FILE, --as USER and the query")
        from tarnkappe.cli.policy import judged

        judged(policy, judged_as, query, as_json)
        return
    file = CatalogFile.load(catalog) if catalog is not None else CatalogFile()
    declared = file.declarations.merged(
        Declarations(
            hierarchies={name: str(path) for name, path in hierarchy_files(hierarchies or ()).items()},
            persons=_persons(person or ()),
        )
    )
    if prove:
        _prove([*([query] if query else []), *prove], _schema(file, declared, data or (), engine), as_json)
        return
    with nullcontext() if budgets is None else Store.open(budgets, BUDGETS_COMPONENT) as store:
        kept = None if store is None else Budgets(store)
        if grant or (kept is not None and not query and plan is None):
            _budgets(kept, user, grant or (), as_json)
            return
        if plan is not None and query:
            raise ParameterError("--plan stands in place of the query: leave one of them out")
        if not query and plan is None:
            raise ParameterError(
                'write the query as the first argument, in quotes: tarn sql "SELECT ... FROM ..."'
            )
        if rule and mode not in (None, "explicit"):
            raise ParameterError(
                "--rule names what explicit mode does: leave --mode out, or say --mode explicit"
            )
        options: dict[str, Any] = {"mode": "explicit" if rule else mode or "strict", "rules": rule}
        options |= {"parallelism": parallelism, "user": user, "budgets": kept}
        places = _places(file, data or ())
        given = _planned(plan) if plan is not None else str(query)
        if not places and file.columns and explain:
            explanation = QuerySession(None, declared.catalog(file.columns), **options).explain(given)
            _write_plan(explanation, write_plan)
            _explained(explanation, as_json)
            return
        with progress_bar() as progress, _connect(places, engine) as backend:
            session = QuerySession(backend, declared.over(backend), progress=progress, **options)
            if explain:
                explanation = session.explain(given)
            else:
                result = session.run(session.read(given) if isinstance(given, str) else given)
                explanation = result.explanation
                if out is not None:
                    write(result.table, out, progress=progress)
        _write_plan(explanation, write_plan)
        if explain:
            _explained(explanation, as_json)
        else:
            _answered(result, out, rows, as_json)


def _planned(path: Path) -> ParsedQuery:
    """A plan from a file; its columns are shown in the order of their names."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: the plan cannot be read") from None
    if text.lstrip()[:1] not in ("<", "{"):
        raise InputError(f"{path}: this is neither XML nor JSON; write SQL as the query")
    found = read_plan(text, Catalog({}))
    found.check()
    return ParsedQuery(found, tuple(sorted(found.columns)))


def _write_plan(explanation: Explanation, path: Path | None) -> None:
    if path is None:
        return
    plan = explanation.rewriting.plan
    formats = {".xml": plan_xml, ".json": plan_json, ".sql": plan_sql}
    if path.suffix not in formats:
        raise ParameterError(f"--write-plan {path}: a plan is written as .xml, .json or .sql")
    if isinstance(plan, PostProcessing) and path.suffix != ".sql":
        raise ParameterError(f"--write-plan {path}: SQL above the protection is written as .sql alone")
    writable(path).write_text(formats[path.suffix](plan) + "\n", encoding="utf-8")


def _persons(said: Sequence[str]) -> dict[str, str]:
    """The column that tells people apart, of each table."""
    found = {}
    for text in said:
        table, column = parse_column(text)
        if column is None:
            raise ParameterError(f"--person {text}: write TABLE=COLUMN")
        found[table] = column
    return found


def _places(file: CatalogFile, data: Sequence[str]) -> str | dict[str, str]:
    """Where the tables are: files by name, or one database."""
    databases = [text for text in data if is_address(text) or text.startswith("spark:")]
    files: dict[str, str] = {}
    for name, source in file.sources.items():
        if source.database is not None:
            if (source.table or "").rpartition(".")[2] != name and source.table != name:
                raise ParameterError(f"[relations.{name}]: call the relation as its table, '{source.table}'")
            databases.append(source.database)
        else:
            files[name] = str(source.path)
    named: set[str] = set()
    for text in data:
        name, path = parse_column(text)
        if text in databases:
            continue
        if path is None:
            raise ParameterError(f"--data {text}: write NAME=FILE, or the address of a database")
        if name in named:
            raise ParameterError(f"--data {text}: '{name}' is named twice: leave one out")
        named.add(name)
        files[name] = path
    if len(set(databases)) > 1 or (databases and files):
        raise ParameterError("a query runs in one engine: give files, or one database, not both")
    return databases[0] if databases else files


def _connect(places: str | dict[str, str], engine: str | None) -> Backend:
    if not places:
        raise ParameterError("say where the tables are: --data NAME=FILE, or --catalog FILE")
    if isinstance(places, str):
        scheme = places.partition(":")[0]
        if engine not in (None, scheme, scheme.partition("+")[0]):
            raise ParameterError(f"--engine {engine} does not read {scheme}: leave it out")
        return connect_backend(places)
    if engine == "postgresql":
        raise ParameterError(
            "--engine postgresql reads no files: give --data postgresql://user@host/database"
        )
    return connect_backend(places, engine=engine)


def _schema(file: CatalogFile, declared: Declarations, data: Sequence[str], engine: str | None) -> Catalog:
    """A catalog for proofs: the columns of the tables count, their rows are not looked at."""
    places = _places(file, data)
    if not places:
        return declared.catalog(file.columns) if file.columns else Catalog({})
    with _connect(places, engine) as backend:
        return declared.catalog({**file.columns, **backend.relations})


def _prove(claim: list[str], catalog: Catalog, as_json: bool) -> None:
    texts = [Path(text).read_text(encoding="utf-8") if _is_file(text) else text for text in claim]
    found = prove_claim(texts, catalog)
    if as_json:
        print_json(found.as_dict())
    else:
        output.print(str(found), highlight=False, markup=False, soft_wrap=True)
    if not _holds(found):
        raise typer.Exit(1)


def _is_file(text: str) -> bool:
    return text.endswith((".json", ".xml", ".sql")) and Path(text).is_file()


def _holds(found: RuleFinding | EquivalenceFinding) -> bool:
    return (
        found.is_confirmed
        if isinstance(found, RuleFinding)
        else found.verdict is not EquivalenceVerdict.DIFFERENT
    )


def _budgets(kept: Budgets | None, user: str | None, grants: Sequence[str], as_json: bool) -> None:
    """Grant budgets, and show all that there are."""
    if kept is None:
        raise ParameterError("--grant: say where budgets are kept: --budgets FILE")
    for text in grants:
        table, epsilon = parse_column(text)
        if epsilon is None or not user:
            raise ParameterError(f"--grant {text}: write --user NAME --grant TABLE=EPSILON")
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


def _explained(explanation: Explanation, as_json: bool) -> None:
    if as_json:
        print_json(explanation.as_dict())
    else:
        output.print(str(explanation), highlight=False, markup=False, soft_wrap=True)


def _answered(result: QueryResult, out: Path | None, shown: int, as_json: bool) -> None:
    if as_json:
        rows = {} if out else {"data": [list(row.values()) for row in result.table.to_pylist()]}
        told = {"advisory": ADVISORY, "output": None if out is None else str(out)}
        print_json({**result.as_dict(), **rows, **told})
        return
    if out is None:
        print_rows(result.table, shown)
    for line in answer_lines(result, shown, out):
        output.print(line, highlight=False, markup=False, soft_wrap=True)
    for warning in result.explanation.warnings:
        errors.print(f"warning: {warning}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    errors.print(ADVISORY, highlight=False, markup=False, soft_wrap=True)


def print_rows(table: pa.Table, shown: int) -> None:
    """Print the first rows of an answer."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for name in table.column_names:
        grid.add_column(name)
    for row in table.slice(0, shown).to_pylist():
        grid.add_row(*("" if cell is None else str(cell) for cell in row.values()))
    output.print(grid, markup=False)
