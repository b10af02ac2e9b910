"""Any SQL over rows that may leave already: by DuckDB, in a database that holds these rows and nothing else.

The statement is a function of the rows that it is given. It runs in an empty database without files, settings
or extensions, so what was not given cannot be read, whatever the statement says. It is looked at beforehand
as DuckDB itself has parsed it: one query, the given tables, and functions of a list that compute from their
arguments alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from tarnkappe.engines.polling import Answer, wait_for
from tarnkappe.errors import InputError, QueryError, Reason
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.address import quoted

FUNCTIONS = frozenset(
    """
    != % & && * ** + - / // < << <= <> = > >= >> ^ | || ~ ~~ ~~* !~~ !~~* ~~~ @ and or not abs acos add
    any_value approx_count_distinct approx_quantile arg_max arg_min argmax argmin array_agg ascii asin
    atan atan2 avg bit_and bit_or bit_xor bool_and bool_or cbrt ceil ceiling century char_length
    character_length chr coalesce concat concat_ws contains corr cos cot count count_if count_star
    countif covar_pop covar_samp cume_dist current_date current_timestamp damerau_levenshtein date_add
    date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
    dayofweek dayofyear decade degrees dense_rank divide ends_with entropy epoch epoch_ms era even exp
    favg fdiv first first_value floor fmod fsum gcd get_current_timestamp greatest group_concat grouping
    hamming hash hour if ifnull ilike_escape instr isfinite isinf isnan isodow isoyear jaccard
    jaro_similarity jaro_winkler_similarity julian kurtosis lag last last_day last_value lcase lcm lead
    least left len length levenshtein like_escape list list_contains list_distinct list_sort list_value
    listagg ln log log10 log2 lower ltrim mad make_date make_timestamp max max_by md5 mean median
    microsecond min min_by minute mod mode month monthname multiply nfc_normalize not_ilike_escape
    not_like_escape now nth_value ntile nullif percent_rank pi position pow power prefix product
    quantile quantile_cont quantile_disc quarter radians rank regexp_extract regexp_full_match
    regexp_matches regexp_replace regexp_split_to_array regr_avgx regr_avgy regr_count regr_intercept
    regr_r2 regr_slope regr_sxx regr_sxy regr_syy replace reverse right round row row_number rtrim
    second sem sha256 sign sin skewness split_part sqrt starts_with stddev stddev_pop stddev_samp
    strftime string_agg string_split strip_accents strlen strpos strptime struct_extract struct_pack
    substr substring subtract suffix sum tan time_bucket to_days to_hours to_minutes to_months
    to_seconds to_weeks to_years today translate trim trunc try_strptime typeof ucase unicode upper
    var_pop var_samp variance week weekday weekofyear xor year yearweek
    """.split()  # noqa: SIM905 - words are easier to read than a list of them
)
"""What a statement may call. All of them compute from their arguments alone, or tell the time; what repeats
or builds lists of any length is left out."""

_TABLES = frozenset({"BASE_TABLE", "JOIN", "SUBQUERY", "EMPTY", "EXPRESSION_LIST", "CTE_REF"})
_QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE"})
_OWN = {
    "BOOLEAN",
    "DATE",
    "FLOAT",
    "DOUBLE",
    "VARCHAR",
    "TIMESTAMP",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
}
_OWN |= {"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_WIDE = {"HUGEINT", "UHUGEINT"}
_LOCKED = {
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


def check_statement(statement: str, tables: Mapping[str, object] | frozenset[str]) -> None:
    """Refuse what is not one query over these tables by known functions.

    Raises:
        QueryError: it says what is not allowed; no value of the query is quoted.
    """
    with _parser().cursor() as parser:
        ((text,),) = parser.execute("SELECT json_serialize_sql(?::VARCHAR)", [statement]).fetchall()
    document = json.loads(text)
    if document.get("error"):
        raise QueryError(
            "engines.query-not-understood-duckdb",
            "The query is not understood by DuckDB, which runs what stands above the protection.",
        )
    if len(document["statements"]) != 1:
        raise QueryError("engines.query-run-time", "One query is run at a time.")
    given = {name.casefold() for name in tables}
    named = {key.casefold() for key in _with_names(document)}
    if named & _own_views():  # outside of its WITH, the name would mean the view of the engine
        raise QueryError("engines.query-names-table", "The query names a table that is not there.")
    named |= given
    for node in _objects(document):
        _check_table(node, named)
        _check_call(node)


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """An empty database that only parses; to open one takes longer than to parse."""
    return duckdb.connect(config={**_LOCKED})


@cache
def _own_views() -> frozenset[str]:
    """The views that every database of DuckDB has and that need no name of a schema before theirs."""
    with _parser().cursor() as parser:
        found = parser.execute(
            "SELECT view_name FROM duckdb_views() WHERE internal AND schema_name <> 'information_schema'"
        ).fetchall()
    return frozenset(str(name).casefold() for (name,) in found)


def _check_table(node: Mapping[str, Any], named: set[str]) -> None:
    kind = node.get("type")
    if "cte_map" in node and kind not in _QUERIES:
        raise QueryError(
            "engines.recursive-statements-other-queries",
            "WITH RECURSIVE and statements other than queries are not run.",
        )
    is_table = "sample" in node and "alias" in node and "class" not in node
    if is_table and kind not in _TABLES:
        raise QueryError(
            "engines.table-function-pivot-unnest",
            "A table function, PIVOT, UNNEST or the like stands where a table is expected: only tables, "
            "operators and subqueries are read.",
        )
    if kind == "BASE_TABLE":
        table = str(node.get("table_name", ""))
        if node.get("schema_name") or node.get("catalog_name") or table.casefold() not in named:
            raise QueryError("engines.query-names-table", "The query names a table that is not there.")


def _check_call(node: Mapping[str, Any]) -> None:
    if "function_name" not in node or node.get("class") not in ("FUNCTION", "WINDOW"):
        return
    name = str(node["function_name"]).casefold()
    if node.get("schema") or node.get("catalog") or name not in FUNCTIONS:
        raise QueryError(
            "engines.function-not-among-may-used",
            "The function {name} is not among those that may be used above a protection.",
            name=name,
        )


def _with_names(document: Any) -> Iterator[str]:
    for node in _objects(document):
        if isinstance(node.get("map"), list):
            yield from (
                str(entry["key"]) for entry in node["map"] if isinstance(entry, dict) and "key" in entry
            )
        if node.get("type") in ("CTE_NODE", "RECURSIVE_CTE_NODE"):
            yield str(node.get("cte_name", node.get("ctename", "")))


def _objects(document: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def post_processed(
    statement: str,
    tables: Mapping[str, pa.Table],
    *,
    memory_limit: str | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """The answer of a statement over tables, by their names.

    Raises:
        QueryError: the statement is refused, or does not fit the columns.
        InputError: it failed on the rows.
    """
    check_statement(statement, frozenset(tables))
    limits = {"memory_limit": memory_limit} if memory_limit else {}
    with duckdb.connect(config={**_LOCKED, **limits}) as connection:
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")
        for name, rows in tables.items():
            _refuse_alike(rows.column_names)
            connection.register("given", rows)
            connection.execute(f"CREATE TEMP TABLE {quoted(name)} AS FROM given")
            connection.unregister("given")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        described = _bound(connection, statement)
        table = _run(connection, lambda: connection.sql(statement).to_arrow_table(), progress)
        table = table.rename_columns([f"c{n}" for n in range(len(described))])
        cells = [_cell(f"c{n}", kind) for n, (_, kind) in enumerate(described)]
        if cells != table.column_names:  # afterwards, since a subquery would lose the order of its rows
            connection.register("found", table)
            whole = f"SELECT {', '.join(cells)} FROM found"
            table = _run(connection, lambda: connection.sql(whole).to_arrow_table(), progress)
        return table.rename_columns([name for name, _ in described])


def _bound(connection: duckdb.DuckDBPyConnection, statement: str) -> list[tuple[str, str]]:
    """The names and types of the result, before any row is looked at."""
    try:
        described = connection.execute(f"DESCRIBE {statement}").fetchall()
    except duckdb.Error as error:
        raise QueryError.because(_not_bound(error)) from None
    names = [str(name) for name, *_ in described]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise QueryError(
            "engines.two-result-columns-called",
            "Two result columns are called '{twice}'; rename one by AS.",
            twice=twice[0],
        )
    return [(str(name), str(kind)) for name, kind, *_ in described]


def _not_bound(error: duckdb.Error) -> Reason:
    """What DuckDB has against a statement, without its words, which may quote values of the query."""
    text = str(error)
    if "not found" in text and "column" in text.casefold():
        return Reason(
            "engines.query-names-column-tables", "The query names a column that its tables do not have."
        )
    if "mbiguous" in text:
        return Reason(
            "engines.query-names-column-two",
            "The query names a column that two of its tables have: write the table before it.",
        )
    if "GROUP BY" in text:
        return Reason(
            "engines.column-result-neither-aggregated",
            "A column of the result is neither aggregated nor in GROUP BY.",
        )
    return Reason(
        "engines.types-not-go-together",
        "Types do not go together, or a function is called with other arguments than it takes: generalized "
        "columns are text; compare them with texts, or CAST them.",
    )


def _run(
    connection: duckdb.DuckDBPyConnection, work: Callable[[], Answer], progress: Progress | None
) -> Answer:
    try:
        return wait_for(work, connection.interrupt, connection.query_progress, progress, "post-processing")
    except duckdb.OutOfMemoryException:
        raise InputError(
            "engines.what-stands-above-protection",
            "what stands above the protection needs more memory than there is",
        ) from None
    except duckdb.ConversionException:
        raise InputError(
            "engines.cast-above-protection-meets",
            "a CAST above the protection meets a value that is none of its type: write TRY_CAST, which "
            "gives NULL there",
        ) from None
    except duckdb.Error as error:
        raise InputError(
            "engines.what-stands-above-protection-failed",
            "what stands above the protection failed ({name})",
            name=type(error).__name__,
        ) from None


def _cell(column: str, kind: str) -> str:
    """A result in a type that files and engines share."""
    if kind in _WIDE:
        return f"CAST({column} AS BIGINT)"
    return column if kind in _OWN or kind.startswith("DECIMAL(") else f"CAST({column} AS VARCHAR)"


def _refuse_alike(names: list[str]) -> None:
    lower = [name.lower() for name in names]
    alike = sorted(name for name in names if lower.count(name.lower()) > 1)
    if alike:
        raise QueryError(
            "engines.another-column-differ-case",
            "'{alike}' and another column differ in the case of letters alone, which DuckDB does not tell "
            "apart: rename one in a subquery below.",
            alike=alike[0],
        )
