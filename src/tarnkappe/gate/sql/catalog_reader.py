"""Queries of the system catalog, rewritten for the made-up catalog that answers them (`server.catalog`).

Whatever such a query says, it sees nothing but this catalog: tables that are not in it do not exist, and of
functions only those that it has and a short list of harmless ones.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import cast

from sqlglot import exp

from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.errors import (
    BAD_VALUE,
    NO_FUNCTION,
    NO_PARAMETER,
    NOT_OFFERED,
    SYNTAX,
    StatementError,
)
from tarnkappe.gate.sql.operands import MOST_PARAMETERS, BindParameters, parameter_number
from tarnkappe.gate.sql.parameter_kinds import NAMED, declared_kind, is_all, kind_of_cast
from tarnkappe.gate.sql.view import TableView

VERSION = "PostgreSQL 16.0 (Tarnkappe gate)"
SCHEMAS = {"": "pg_catalog_", "pg_catalog": "pg_catalog_", "information_schema": "information_schema_"}
"""Where the engine has what clients look for in a schema; the engine's own schemas stay out of sight."""
FUNCTIONS = "function_"
KEYWORDS = "pg_get_keywords"
"""The one function that clients call as a table."""
_CHANGES = (exp.DML, exp.DDL, exp.Into, exp.Lock, exp.Command, exp.Pragma, exp.TableSample, exp.Placeholder)
_HARMLESS = frozenset(
    """And Or Xor Case If Cast Coalesce Nullif Count Max Min Sum ArrayAgg GroupConcat Array Concat ConcatWs
    Lower Upper Length Substring Replace Trim Greatest Least RowNumber Explode Unnest
    ExplodingGenerateSeries GenerateSeries RegexpLike RegexpILike Exists Any
    ArrayToString ArraySize StrPosition Left Right LogicalOr LogicalAnd Abs Mod Round
    ArrayContainsAll ArrayContains ArrayPosition ArrayConcat ArrayAppend ArrayOverlaps RegexpReplace StarMap
    """.split()  # noqa: SIM905 - words are easier to read than a list of them
)
_ENGINE = frozenset(
    """array_to_string array_length string_to_array regexp_replace split_part array_agg string_agg unnest
    generate_series generate_subscripts count max min sum bool_or bool_and coalesce lower upper length concat
    concat_ws replace substr substring trim btrim ltrim rtrim left right position strpos nullif greatest least
    array_position array_append array_cat cardinality row_number regexp_matches getvariable abs mod round
    """.split()  # noqa: SIM905
)
"""Functions of the engine that reach nothing but their arguments."""
_SESSION: dict[type[exp.Expr], exp.Expr] = {
    exp.CurrentUser: exp.func("getvariable", exp.Literal.string("tarn_user")),
    exp.SessionUser: exp.func("getvariable", exp.Literal.string("tarn_user")),
    exp.CurrentSchema: exp.Literal.string("public"),
    exp.CurrentSchemas: exp.array(exp.Literal.string("pg_catalog"), exp.Literal.string("public")),
    exp.CurrentCatalog: exp.func("getvariable", exp.Literal.string("tarn_database")),
    exp.CurrentDatabase: exp.func("getvariable", exp.Literal.string("tarn_database")),
    exp.CurrentVersion: exp.Literal.string(VERSION),
}
_NAMED = {
    "current_user": exp.CurrentUser,
    "user": exp.CurrentUser,
    "session_user": exp.SessionUser,
    "current_role": exp.CurrentUser,
    "current_schema": exp.CurrentSchema,
    "current_schemas": exp.CurrentSchemas,
    "current_catalog": exp.CurrentCatalog,
    "current_database": exp.CurrentDatabase,
    "version": exp.CurrentVersion,
}
_KINDS = {
    "oid": "UINTEGER",
    "text": "VARCHAR",
    "name": "VARCHAR",
    "char": "VARCHAR",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "int2": "SMALLINT",
    "bool": "BOOLEAN",
    "xid": "UINTEGER",
    "regrole": "VARCHAR",
}
_LOOKUPS = {
    "REGCLASS": ("class_oid", "class_name"),
    "REGTYPE": ("to_regtype", "format_kind"),
    "REGNAMESPACE": ("to_regnamespace", "namespace_name"),
    "REGPROC": ("function_oid", "function_name"),
}


@dataclasses.dataclass(frozen=True)
class CatalogQuery:
    """A query of the catalog, as its engine reads it, and the parameters (from 1) that are left in it."""

    statement: str
    parameters: BindParameters
    used: frozenset[int] = frozenset()


@cache
def catalog_tables() -> dict[tuple[str, str], dict[str, str]]:
    """All tables of the catalog: schema and name, then the types of the columns."""
    found = {}
    for line in files(__package__).joinpath("catalog_tables.txt").read_text(encoding="ascii").splitlines():
        full, _, columns = line.partition(": ")
        schema, _, name = full.partition(".")
        pairs = (column.split(" ", 1) for column in columns.split(", "))
        found[schema, name] = dict(pairs)
    return found


@cache
def catalog_functions() -> tuple[tuple[str, str, str], ...]:
    """All functions of the catalog: name, arguments, and what they are."""
    text = files(__package__).joinpath("catalog_functions.sql").read_text(encoding="ascii")
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    found = [re.fullmatch(r"(\w+)\((.*?)\) := (.*);", line) for line in lines]
    return tuple((match[1], match[2], match[3]) for match in found if match)


@cache
def _function_names() -> frozenset[str]:
    return frozenset(name for name, _, _ in catalog_functions())


def read_catalog_query(tree: exp.Expr, view: TableView, declared: Sequence[int]) -> CatalogQuery:
    """The query of the catalog that a tree is; the view is what else could be asked."""
    if not isinstance(tree, (exp.Select, exp.SetOperation, exp.Values, exp.Subquery)):
        raise StatementError(NOT_OFFERED, "gate.only-queries-offered", "only queries are offered here")
    if any(isinstance(node, _CHANGES) for node in tree.walk()):
        raise StatementError(NOT_OFFERED, "gate.only-queries-offered", "only queries are offered here")
    parameters = BindParameters(declared)
    own = {name.casefold() for cte in tree.find_all(exp.CTE) if (name := cte.alias)}
    changed: exp.Expr = tree.copy()
    for select in _outermost(changed):
        select.set("expressions", [_named(node) for node in select.expressions])
    for node in list(changed.walk(bfs=False)):
        if isinstance(node, exp.Table):
            _place_table(node, own, view)
    changed = _rebuilt(changed, parameters)
    try:
        used = frozenset(int(node.this.this) for node in changed.find_all(exp.Parameter))
        return CatalogQuery(changed.sql(dialect="duckdb", comments=False), parameters, used)
    except (ValueError, TypeError, AttributeError, KeyError):
        raise StatementError(SYNTAX, "gate.syntax-error", "syntax error") from None


def _outermost(tree: exp.Expr) -> Iterator[exp.Select]:
    """The queries whose columns the client sees; the first of several gives them their names."""
    while isinstance(tree, (exp.SetOperation, exp.Subquery)):
        tree = tree.this
    if isinstance(tree, exp.Select):
        yield tree


def _named(node: exp.Expr) -> exp.Expr:
    """A column of the answer with the name that PostgreSQL gives it, since rewriting would change it."""
    if isinstance(node, (exp.Alias, exp.Star)) or (isinstance(node, exp.Column) and not _is_session(node)):
        return node
    return exp.alias_(node, _name(node), quoted=True)


def _name(node: exp.Expr) -> str:
    while isinstance(node, (exp.Cast, exp.Paren, exp.Collate)):
        node = node.this
    if isinstance(node, exp.Dot):
        node = node.expression
    if isinstance(node, exp.Column):
        return node.name.lower()
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    if (
        isinstance(node, exp.Subquery)
        and isinstance(node.this, exp.Select)
        and len(node.this.expressions) == 1
    ):
        return node.this.expressions[0].alias_or_name or _name(node.this.expressions[0])
    for known, kind in _NAMED.items():
        if type(node) is kind:
            return known
    if isinstance(node, exp.Case):
        return "case"
    if isinstance(node, exp.Exists):
        return "exists"
    if isinstance(node, exp.Func) and not isinstance(node, (exp.Connector, exp.If)):
        return node.sql_name().lower()
    return "?column?"


def _is_session(node: exp.Column) -> bool:
    return not node.table and node.name.casefold() in _NAMED and not getattr(node.this, "quoted", True)


def _unqualified() -> list[str]:
    """The tables of the catalog that need no schema before them."""
    return [name for schema, name in catalog_tables() if schema == "pg_catalog"]


def _place_table(table: exp.Table, own: set[str], view: TableView) -> None:
    if isinstance(table.this, exp.Anonymous) and str(table.this.this).lower() == KEYWORDS:
        table.set("this", exp.to_identifier(KEYWORDS))  # the catalog has it as a table
    if isinstance(table.this, exp.Func):
        table.set("db", None)
        return
    if not isinstance(table.this, exp.Identifier) or table.catalog:
        raise view.no_table(table, _unqualified())
    schema, name = table.db.casefold(), table.name.casefold()
    if not schema and name in own:
        return
    if (schema or "pg_catalog", name) not in catalog_tables() or schema not in SCHEMAS:
        raise view.no_table(table, _unqualified())
    if table.args.get("alias") is None:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(name)))
    table.set("this", exp.to_identifier(name))
    table.set("db", exp.to_identifier(SCHEMAS[schema]))
    table.set("only", None)


def _rebuilt(node: exp.Expr, parameters: BindParameters) -> exp.Expr:
    """The tree with everything rewritten, the inner parts first."""
    for name, value in list(node.args.items()):
        if isinstance(value, exp.Expr):
            node.set(name, _rebuilt(value, parameters))
        elif isinstance(value, list):
            node.set(name, [_rebuilt(v, parameters) if isinstance(v, exp.Expr) else v for v in value])
    return _rewritten(node, parameters)


def _rewritten(node: exp.Expr, parameters: BindParameters) -> exp.Expr:
    if isinstance(node, exp.Dot) and isinstance(node.this, exp.Identifier):
        if node.this.this.casefold() in ("pg_catalog", "information_schema"):
            return cast(exp.Expr, node.expression)
        raise StatementError(NO_FUNCTION, "gate.function-not-exist", "function does not exist")
    if isinstance(node, exp.Collate):
        return cast(exp.Expr, node.this)
    if isinstance(node, exp.Operator):
        return _operator(node)
    if isinstance(node, exp.NEQ) and is_all(node.expression):
        arrays = node.expression.expressions
        return exp.Not(this=exp.EQ(this=node.this, expression=exp.Any(this=exp.paren(arrays[0]))))
    if isinstance(node, exp.ByteString):
        return exp.Literal.string(node.this)
    if isinstance(node, exp.Column) and node.db:
        return exp.Column(this=node.this, table=node.args["table"])  # tables are called by their names alone
    if isinstance(node, exp.Column) and _is_session(node):
        return _SESSION[_NAMED[node.name.casefold()]].copy()
    if type(node) in _SESSION:
        return _SESSION[type(node)].copy()
    if isinstance(node, exp.Parameter):
        return _parameter(node, parameters)
    if type(node) is exp.Cast:
        return _cast(node)
    if isinstance(node, (exp.JSONObject, exp.JSONArrayAgg)):
        return exp.cast(exp.Null(), "varchar")
    if is_all(node) and isinstance(node.parent, exp.NEQ):
        return node  # its parent is rewritten next
    if isinstance(node, exp.Anonymous):
        return _function(node)
    if isinstance(node, exp.Func) and type(node).__name__ not in _HARMLESS:
        return _function(exp.Anonymous(this=node.sql_name().lower(), expressions=list(node.args.values())))
    return node


def _operator(node: exp.Operator) -> exp.Expr:
    sign = str(node.args["operator"]).rpartition(".")[2]
    if sign in ("~", "!~", "~*", "!~*"):
        options = [exp.Literal.string("i")] if sign.endswith("*") else []
        match = exp.Anonymous(this="regexp_matches", expressions=[node.this, node.expression, *options])
        return exp.Not(this=match) if sign.startswith("!") else match
    if sign == "=":
        return exp.EQ(this=node.this, expression=node.expression)
    raise StatementError(
        NOT_OFFERED, "gate.operators-kind-not-offered", "operators of this kind are not offered here"
    )


def _parameter(node: exp.Parameter, parameters: BindParameters) -> exp.Expr:
    number = parameter_number(node)
    if number is None or not 0 <= number < MOST_PARAMETERS:
        raise StatementError(NO_PARAMETER, "gate.catalog-reader-no-parameter", "there is no such parameter")
    if number not in parameters.found:
        kind, is_array = declared_kind(
            parameters.declared[number] if number < len(parameters.declared) else 0
        )
        if kind is None and isinstance(node.parent, exp.Cast):
            kind, is_array = kind_of_cast(node.parent.to)
        parameters.settle(number, kind or types.TEXT, is_array)
    return node


def _cast(node: exp.Cast) -> exp.Expr:
    target = node.to
    if isinstance(target, exp.ObjectIdentifier):
        return _lookup(node, str(target.this).upper())
    if isinstance(target, exp.DataType) and target.this == exp.DType.USERDEFINED:
        name = target.args.get("kind")
        word = str(name.expression.name if isinstance(name, exp.Dot) else name).strip('"').lower()
        if word.upper() in _LOOKUPS:
            return _lookup(node, word.upper())
        if word not in _KINDS:
            raise StatementError("42704", "gate.type-not-exist", "type does not exist")
        return exp.cast(node.this, _KINDS[word], dialect="duckdb")
    if isinstance(target, exp.DataType) and target.this == exp.DType.ARRAY:
        return _array_cast(node, target)
    if isinstance(target, exp.DataType) and target.this == exp.DType.NAME:
        return exp.cast(node.this, "VARCHAR", dialect="duckdb")
    return node


def _array_cast(node: exp.Cast, target: exp.DataType) -> exp.Expr:
    """A cast to an array, whose elements may have a type of the catalog."""
    element = kind_of_cast(target)[0]
    if element is not None and element.short in _KINDS and element in NAMED.values():
        target = exp.DataType.build(f"{_KINDS[element.short]}[]", dialect="duckdb")
    return exp.Cast(this=_array(node.this.this) if node.this.is_string else node.this, to=target)


def _array(text: str) -> exp.Expr:
    """An array that is written as a text: `{a,b}`."""
    try:
        found = types.read_array(types.TEXT, text.encode(), types.TEXT_FORMAT)
    except types.ValueOutOfTypeError:
        raise StatementError(BAD_VALUE, "gate.malformed-array-literal", "malformed array literal") from None
    return exp.array(*(exp.Null() if value is None else exp.Literal.string(value) for value in found))


def _lookup(node: exp.Cast, kind: str) -> exp.Expr:
    """A name looked up, where a text is cast; the name of a number else."""
    if kind not in _LOOKUPS:
        return exp.cast(node.this, "VARCHAR", dialect="duckdb")
    inner = node.this
    while isinstance(inner, (exp.Paren, exp.Cast)):
        inner = inner.this
    by_name = isinstance(inner, (exp.Literal, exp.Parameter)) and not (
        isinstance(inner, exp.Literal) and not inner.is_string
    )
    return _own(_LOOKUPS[kind][0 if by_name else 1], [node.this])


def _function(node: exp.Anonymous) -> exp.Expr:
    name = str(node.this).lower()
    if name in _NAMED:
        return _SESSION[_NAMED[name]].copy()
    if name == "json_build_object":  # of sequences, which there are none of
        return exp.cast(exp.Null(), "varchar")
    if name in _ENGINE:
        return node
    if name not in _function_names():
        raise StatementError(NO_FUNCTION, "gate.function-not-exist", "function does not exist")
    return _own(name, [part for part in node.expressions if isinstance(part, exp.Expr)])


def _own(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this=f"{FUNCTIONS}.{name}", expressions=arguments)
