"""Run a query with anonymization operators; of its text only what was understood reaches an engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tarnkappe.errors import ParameterError
from tarnkappe.job.unknown_keys import refuse_unknown
from tarnkappe.service.work.documents import RestSql
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome, head_of
from tarnkappe.table import write

if TYPE_CHECKING:
    from tarnkappe.job.catalog_file import CatalogFile

ANSWER = "answer.parquet"
ASKED = ("mode", "rules", "explain")
LONGEST = 100_000


class Sql(JobKind):
    """Read, rewrite, run and verify a query over tables of the house."""

    name = "sql"
    document = RestSql

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        _read(document)

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        from tarnkappe.algebra.answer_text import SHOWN, answer_lines
        from tarnkappe.algebra.lowering import connect  # loads Ibis, which no other kind of job needs
        from tarnkappe.algebra.session import QuerySession

        query, catalog, asked = _read(document)
        databases = {source.database for source in catalog.sources.values() if source.database is not None}
        files = {name: source.path for name, source in catalog.sources.items() if source.path is not None}
        if len(databases) > 1 or (databases and files):
            raise ParameterError(
                "service.query-runs-engine-name",
                "a query runs in one engine: name files, or tables of one database, not both",
            )
        rules = asked.get("rules")
        options: dict[str, Any] = {
            "mode": "explicit" if rules else asked.get("mode", "strict"),
            "rules": rules,
        }
        with connect(databases.pop() if databases else files) as backend:
            session = QuerySession(
                backend, catalog.declarations.over(backend), progress=work.progress, **options
            )
            if asked.get("explain"):
                explanation = session.explain(query)
                return JobOutcome(explanation.as_dict(), str(explanation))
            result = session.sql(query)
            write(result.table, work.folder / ANSWER, progress=work.progress)
        told = {**result.as_dict(), "head": head_of(result.table), "explanation": str(result.explanation)}
        return JobOutcome(told, "\n".join(answer_lines(result, SHOWN, None)), files={"release": ANSWER})


def _read(document: Mapping[str, Any]) -> tuple[str, CatalogFile, Mapping[str, Any]]:
    from tarnkappe.job.catalog_file import CatalogFile

    query, asked = document.get("query"), document.get("sql", {})
    if not isinstance(query, str) or not query.strip():
        raise ParameterError(
            "service.query-missing-write-sql", "'query' is missing: write SQL over the relations"
        )
    if len(query) > LONGEST:
        raise ParameterError(
            "service.query-more-characters", "the query has more than {longest:,} characters", longest=LONGEST
        )
    refuse_unknown(asked, ASKED, "key of [sql]")
    catalog = CatalogFile.from_dict({key: v for key, v in document.items() if key not in ("query", "sql")})
    if not catalog.sources:
        raise ParameterError(
            "service.say-tables-relations-patients",
            'say which tables there are: "relations": {{"patients": {{"file": ID}}}}',
        )
    return query, catalog, asked
