"""`tarn sql`: queries with anonymization operators: run them, explain them, prove what may be rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa
import typer
from rich.table import Table as Grid

from tarnkappe.algebra.answer_text import SHOWN, answer_lines
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.declarations import Declarations, StatedCatalog
from tarnkappe.algebra.explanation import Explanation
from tarnkappe.algebra.json_document import plan_json
from tarnkappe.algebra.nodes import PostProcessing
from tarnkappe.algebra.query_result import QueryResult
from tarnkappe.algebra.session import QuerySession
from tarnkappe.algebra.sql.printing import plan_sql
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.algebra.xml_document import plan_xml
from tarnkappe.cli.arguments import hierarchy_files
from tarnkappe.cli.console import errors, output, print_json, progress_bar
from tarnkappe.cli.remote_option import RemoteOption
from tarnkappe.cli.sql_places import _budgets, _connect, _is_file, _persons, _places, _schema
from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table import write
from tarnkappe.table.files import format_of, writable

if TYPE_CHECKING:
    from tarnkappe.algebra.equivalence import EquivalenceFinding
    from tarnkappe.algebra.proof import RuleFinding
    from tarnkappe.state.budgets import Budgets

ADVISORY = "advisory: whoever runs this can read the raw tables, and nothing here keeps anybody from them"
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
    print_for: Annotated[
        str | None,
        typer.Option(
            "--print",
            help="Print statements for duckdb, postgres, spark, trino, bigquery or snowflake; run nothing.",
        ),
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
            "print": print_for,
            "policy": policy,
        }
        asked = {"mode": mode, "rules": rule, "explain": explain or None}
        sql_remotely(remote, query, data or (), catalog, hierarchies or (), asked, refuse, out, rows, as_json)
        return
    if policy is not None or judged_as is not None:
        if policy is None or judged_as is None or not query:
            raise ParameterError(
                "cli.verdict-policy-needs-policy",
                "the verdict of a policy needs --policy FILE, --as USER and the query",
            )
        from tarnkappe.cli.policy import judged

        judged(policy, judged_as, query, as_json)
        return
    file = StatedCatalog() if catalog is None else _catalog_file(catalog)
    declared = file.declarations.merged(
        Declarations(
            hierarchies={name: str(path) for name, path in hierarchy_files(hierarchies or ()).items()},
            persons=_persons(person or ()),
        )
    )
    if prove:
        _prove([*([query] if query else []), *prove], _schema(file, declared, data or (), engine), as_json)
        return
    with nullcontext() if budgets is None else _kept_budgets(budgets) as kept:
        if grant or (kept is not None and not query and plan is None):
            _budgets(kept, user, grant or (), as_json)
            return
        if plan is not None and query:
            raise ParameterError(
                "cli.plan-stands-place-query", "--plan stands in place of the query: leave one of them out"
            )
        if not query and plan is None:
            raise ParameterError(
                "cli.write-query-first-argument",
                'write the query as the first argument, in quotes: tarn sql "SELECT ... FROM ..."',
            )
        if rule and mode not in (None, "explicit"):
            raise ParameterError(
                "cli.rule-names-what-explicit",
                "--rule names what explicit mode does: leave --mode out, or say --mode explicit",
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
            if print_for is not None:
                _printed(session, session.read(given) if isinstance(given, str) else given, print_for)
                return
            if explain:
                explanation = session.explain(given)
            else:
                result = session.run(session.read(given) if isinstance(given, str) else given)
                explanation = result.explanation
                if out is not None:
                    write(result.coded, out, progress=progress)
        _write_plan(explanation, write_plan)
        if explain:
            _explained(explanation, as_json)
        else:
            _answered(result, out, rows, as_json)


def _catalog_file(path: Path) -> StatedCatalog:
    from tarnkappe.job.catalog_file import CatalogFile  # loads all that jobs need

    return CatalogFile.load(path)


@contextmanager
def _kept_budgets(place: str) -> Iterator[Budgets]:
    from tarnkappe.state import Store  # loads SQLAlchemy
    from tarnkappe.state.budgets import BUDGETS_COMPONENT, Budgets

    with Store.open(place, BUDGETS_COMPONENT) as store:
        yield Budgets(store)


def _printed(session: QuerySession, query: ParsedQuery, dialect: str) -> None:
    from tarnkappe.algebra.lowering.dialects import RUNS_HERE

    statements = session.printed(query, dialect)
    runs = "printed only: this package does not run that engine" if dialect not in RUNS_HERE else "not run"
    text = "\n\n".join([f"-- {dialect}, {runs}", *map(str, statements)])
    output.print(text, highlight=False, markup=False, soft_wrap=True)


def _planned(path: Path) -> ParsedQuery:
    """A plan from a file; its columns are shown in the order of their names."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError("cli.plan-cannot-read", "{path}: the plan cannot be read", path=path) from None
    if text.lstrip()[:1] not in ("<", "{"):
        raise InputError(
            "cli.neither-xml-nor-json",
            "{path}: this is neither XML nor JSON; write SQL as the query",
            path=path,
        )
    from tarnkappe.algebra.proving import read_plan

    found = read_plan(text, Catalog({}))
    found.check()
    return ParsedQuery(found, tuple(sorted(found.columns)))


def _write_plan(explanation: Explanation, path: Path | None) -> None:
    if path is None:
        return
    plan = explanation.rewriting.plan
    formats = {".xml": plan_xml, ".json": plan_json, ".sql": plan_sql}
    if path.suffix not in formats:
        raise ParameterError(
            "cli.write-plan-written-xml",
            "--write-plan {path}: a plan is written as .xml, .json or .sql",
            path=path,
        )
    if isinstance(plan, PostProcessing) and path.suffix != ".sql":
        raise ParameterError(
            "cli.write-plan-sql-above-protection",
            "--write-plan {path}: SQL above the protection is written as .sql alone",
            path=path,
        )
    writable(path).write_text(formats[path.suffix](plan) + "\n", encoding="utf-8")


def _prove(claim: list[str], catalog: Catalog, as_json: bool) -> None:
    from tarnkappe.algebra.proving import prove as prove_claim

    texts = [Path(text).read_text(encoding="utf-8") if _is_file(text) else text for text in claim]
    found = prove_claim(texts, catalog)
    if as_json:
        print_json(found.as_dict())
    else:
        output.print(str(found), highlight=False, markup=False, soft_wrap=True)
    if not _holds(found):
        raise typer.Exit(1)


def _holds(found: RuleFinding | EquivalenceFinding) -> bool:
    from tarnkappe.algebra.equivalence import EquivalenceFinding, EquivalenceVerdict

    if isinstance(found, EquivalenceFinding):
        return found.verdict is not EquivalenceVerdict.DIFFERENT
    return found.is_confirmed


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
        print_rows(result.coded, shown)
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
