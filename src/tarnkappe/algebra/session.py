"""A session: queries with anonymization operators, read, rewritten, run, verified and handed over.

The way of a query is always the same. It is read by the allow-list of `algebra.sql` (nothing of its text
reaches the engine that has the tables), checked against the catalog, rewritten, run by the engine, and its
answer is held to the promises of the query as it was written, from its values, before anybody sees it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.calibration import calibrated
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.column_kinds import Kinds, column_kinds
from tarnkappe.algebra.counting import CountedFacts
from tarnkappe.algebra.counting_people import carries_people, counted
from tarnkappe.algebra.explanation import Explanation, local_privacy
from tarnkappe.algebra.facts import Declaration, Facts
from tarnkappe.algebra.lowering import Backend
from tarnkappe.algebra.lowering.released import decoded
from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Join,
    Plan,
    PostProcessing,
    Projection,
    Relation,
    Selection,
    ThetaJoin,
)
from tarnkappe.algebra.noisy.spending import spending
from tarnkappe.algebra.optimizer import RewriteMode, Rewriting, rewrite
from tarnkappe.algebra.optimizer.places import replaced
from tarnkappe.algebra.person_paths import HIDDEN
from tarnkappe.algebra.persons import counts_people, needs_of
from tarnkappe.algebra.prerequisites import is_noisy, is_protected, prepare
from tarnkappe.algebra.promises import Promise, promises, strongest
from tarnkappe.algebra.query_result import QueryResult
from tarnkappe.algebra.roles import ColumnTreatment, Warning, threads, warnings
from tarnkappe.algebra.rules import ALL_RULES
from tarnkappe.algebra.sql.post_processing import read_query
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.algebra.statistics import RelationStatistics
from tarnkappe.algebra.verification import degree_of, verify
from tarnkappe.engines.post_processing import check_statement, post_processed
from tarnkappe.errors import ParameterError
from tarnkappe.table.encoding import Progress

if TYPE_CHECKING:
    from tarnkappe.algebra.equivalence import EquivalenceFinding
    from tarnkappe.algebra.lowering.dialects import PrintedStatement
    from tarnkappe.algebra.proof import RuleFinding
    from tarnkappe.privacy.verify import Verification
    from tarnkappe.state.budgets import Budget, Budgets


class QuerySession:
    """Queries over the relations of one backend, under one catalog.

    >>> import pyarrow as pa
    >>> from tarnkappe.algebra.lowering import connect
    >>> from tarnkappe.hierarchy import Hierarchy
    >>> donors = pa.table({"alter": ["31", "34", "52", "57"], "blutgruppe": ["A", "B", "A", "0"]})
    >>> ages = Hierarchy.from_rows([["31", "30-39", "*"], ["34", "30-39", "*"],
    ...                             ["52", "50-59", "*"], ["57", "50-59", "*"]])
    >>> with connect({"spender": donors}) as backend:
    ...     session = QuerySession(backend, Catalog(backend.relations, {"alter": ages}))
    ...     result = session.sql("SELECT alter FROM generalize(spender, k => 2, by => [alter])")
    >>> sorted(result.table.column("alter").to_pylist())
    ['30-39', '30-39', '50-59', '50-59']
    """

    def __init__(
        self,
        backend: Backend | None,
        catalog: Catalog,
        *,
        mode: RewriteMode | str = RewriteMode.STRICT,
        rules: Sequence[str] | None = None,
        parallelism: int = 1,
        user: str | None = None,
        budgets: Budgets | None = None,
        key: bytes | None = None,
        progress: Progress | None = None,
    ) -> None:
        """A session.

        Args:
            backend: where the relations are; without one, queries can be explained but not run.
            catalog: what belongs to columns and relations.
            mode: which rewrites may be made: strict, relaxed or explicit.
            rules: in explicit mode, the rules to use, in order.
            parallelism: how many parts of a plan an engine works on at the same time; with relations in
                several engines, at least as many as these.
            user: whose privacy budget is spent.
            budgets: where budgets are kept; without them noisy aggregates are refused, and noise is not paid.
            key: of the randomness, for tests; otherwise every answer has a fresh one.
            progress: told of long work.
        """
        self.backend, self.catalog = backend, catalog
        self._mode, self._rules = mode, rules
        self._parallelism = max(parallelism, backend.parallelism if backend is not None else 1)
        self._user, self._budgets = user, budgets
        self._key, self._progress = key, progress
        self._statistics: dict[str, RelationStatistics] = {}
        self._counted: dict[Plan, int] = {}
        self._kinds: dict[str, Kinds] = {}

    def read(self, text: str) -> ParsedQuery:
        """A query over the relations of the catalog."""
        probability_of, public = calibrated(self.catalog.noise), self.catalog.public
        query = read_query(text, self.catalog.relations, probability_of=probability_of, unprotected=public)
        if isinstance(query.plan, PostProcessing):
            check_statement(query.plan.statement, frozenset(query.plan.names))
        return query

    def explain(self, query: str | ParsedQuery) -> Explanation:
        """How a query would run, and what there is to say of it; nothing is run but counts."""
        query = self.read(query) if isinstance(query, str) else query
        plan = query.plan
        plan.check()
        rewriting = rewrite(
            plan,
            self._mode,
            self._facts(plan),
            self._known(plan),
            parallelism=self._parallelism,
            rules=self._rules,
        )
        rewriting = self._as_it_may_run(rewriting)
        promised = _promised(rewriting)
        return Explanation(
            rewriting,
            (
                *warnings(plan, self.catalog.roles, self.catalog.persons, promised, self.catalog.public),
                *(
                    Warning("promise-lost", (), f"by the rules that were asked for, {why}")
                    for why in rewriting.lost
                ),
            ),
            promised,
            local_privacy(plan, self.catalog.noise),
            self._costs(rewriting.plan),
            self._relied_on(rewriting),
            counts_people(plan, self.catalog.persons),
        )

    def _as_it_may_run(self, rewriting: Rewriting) -> Rewriting:
        """The rewriting, or as many of its equal steps as leave types alone and everybody with one row."""
        if not rewriting.steps:
            return rewriting
        needs_of(rewriting.original, self.catalog.persons)  # refuses what may not run as it was written
        reason = self._objection(rewriting.original, rewriting.plan)
        if not reason:
            return rewriting
        plan, kept = rewriting.original, 0
        for number, step in enumerate(rewriting.steps, 1):
            if not step.whole.is_equal:
                break
            plan = replaced(plan, step.path, step.after)
            kept = number if not self._objection(rewriting.original, plan) else kept
        return rewriting.shortened(kept, reason)

    def _objection(self, written: Plan, chosen: Plan) -> str:
        """Why a plan may not run in place of the one that was written, although it is equal; or nothing."""
        try:
            needs_of(chosen, self.catalog.persons)
        except ParameterError as error:
            return str(error)
        generalizes = any(isinstance(node, Generalization) and node.k > 1 for node in chosen.walk())
        persons = self.catalog.persons
        if generalizes and counts_people(written, persons) and not counts_people(chosen, persons):
            return "k would be a number of rows, and no longer of people"
        if self.backend is None:
            return ""
        for name in _relations(written) - set(self._kinds):
            self._kinds[name] = self.backend.kinds(name)
        before, after = (column_kinds(plan, self._kinds) for plan in (written, chosen))
        return "the type of a column would be another one" if before is not None and before != after else ""

    def _relied_on(self, rewriting: Rewriting) -> tuple[Declaration, ...]:
        """What is declared and must be true: for the steps of a rewriting, and for rows to be people."""
        declared = self.catalog.facts(self._known(rewriting.original))
        facts = self._counting(declared)
        for step in rewriting.steps:
            ALL_RULES[step.rule].apply(step.before, step.way, facts)
        people = (needs_of(plan, self.catalog.persons) for plan in (rewriting.original, rewriting.plan))
        return tuple(dict.fromkeys([*declared.used, *(each for needs in people for each in needs)]))

    def sql(self, text: str) -> QueryResult:
        """The answer to a query in SQL."""
        return self.run(self.read(text))

    def run(self, query: ParsedQuery) -> QueryResult:
        """The answer to a query, verified.

        Raises:
            NoSolutionError: there are too few rows for what the query asks.
            VerificationError: the answer does not keep a promise; nothing is handed over.
            AccessError: the privacy budget does not suffice.
        """
        backend = self._backend()
        needs_of(query.plan, self.catalog.persons)  # refuses what protects nobody, whatever the data are
        catalog = self.catalog.for_plan(query.plan)
        prepare(query.plan, catalog)
        start = time.perf_counter()
        explanation = self.explain(query)
        planned = time.perf_counter()
        spent = self._pay(explanation.costs)  # before there is an answer, or none
        promised = bool(explanation.costs) or query.promises_epsilon
        chosen, held = explanation.rewriting.plan, _held(explanation)
        parts = [ParsedQuery(chosen, query.columns, query.order)]
        if isinstance(chosen, PostProcessing):
            parts = _inputs(chosen)
        persons = self.catalog.persons
        counting = [
            bool(each) and carries_people(part.plan, persons) for part, each in zip(parts, held, strict=True)
        ]
        models: list[Verification] = []
        found = backend.execute_all(
            [self._counting_people(part, carry) for part, carry in zip(parts, counting, strict=True)],
            catalog,
            key=self._key,
            shuffle=is_protected(explanation.rewriting.original),
            promised=promised,
            relies_on=explanation.relies_on,
            progress=self._progress,
            verified=models,
        )
        ran = time.perf_counter()
        verified = tuple(
            kept
            for table, each, carry in zip(found, held, counting, strict=True)
            for kept in verify(table, each, person=HIDDEN if carry else None)
        )
        # Who is behind the rows is needed until here, and goes no further.
        found = [t.drop_columns(HIDDEN) if carry else t for t, carry in zip(found, counting, strict=True)]
        generalized = _generalized(query.plan)
        if isinstance(chosen, PostProcessing):  # only when everything below it is verified
            inputs = dict(zip(chosen.names, map(decoded, found), strict=True))
            table = post_processed(chosen.statement, inputs, progress=self._progress)
        else:
            (table,) = found
        return QueryResult(
            table,
            explanation,
            verified,
            degree_of(table, generalized, verified) if generalized else None,
            spent,
            {"plan": planned - start, "run": ran - planned, "verify": time.perf_counter() - ran},
            tuple(models),
        )

    def printed(self, query: ParsedQuery, dialect: str) -> list[PrintedStatement]:
        """The statements of a query in the SQL of an engine; nothing is run, and no row is looked at."""
        from tarnkappe.algebra.lowering.dialects import printed  # few queries are printed

        query.plan.check()
        needs_of(query.plan, self.catalog.persons)
        rewriting = rewrite(query.plan, self._mode, self.catalog.facts(), {}, rules=self._rules)
        chosen = ParsedQuery(self._as_it_may_run(rewriting).plan, query.columns, query.order)
        types = {name: self._backend().types(name) for name in self._backend().relations}
        promised = promises(query.plan)
        carry = bool(promised) and carries_people(chosen.plan, self.catalog.persons)
        return printed(self._counting_people(chosen, carry), self.catalog, types, dialect, promised)

    def _counting_people(self, query: ParsedQuery, carry: bool) -> ParsedQuery:
        """A query as it runs: with the people that generalizations count, also in its result if asked for."""
        plan = counted(query.plan, self.catalog.persons, self.catalog.bucket, carry=carry)
        return ParsedQuery(plan, (*query.columns, HIDDEN) if carry else query.columns, query.order)

    def _costs(self, plan: Plan) -> dict[str, Fraction]:
        """What the plan that runs costs each table: noisy aggregates always, noise if budgets are kept."""
        if self._budgets is None and not any(is_noisy(node) for node in plan.walk()):
            return {}
        return spending(plan, self.catalog.for_plan(plan).noise, self.catalog.persons, self.catalog.public)

    def _pay(self, costs: Mapping[str, Fraction]) -> dict[str, Budget]:
        if not costs:
            return {}
        if self._budgets is None or not self._user:
            raise ParameterError(
                "algebra.noisy-aggregate-spends-privacy",
                "a noisy aggregate spends a privacy budget: say who asks, and where budgets are kept",
            )
        return self._budgets.spend_all(self._user, costs)

    def prove(self, *claim: str) -> RuleFinding | EquivalenceFinding:
        """Check a rule by its name, or compare two plans, on all small relations; no data are looked at."""
        from tarnkappe.algebra.proving import prove

        return prove(claim, self.catalog)

    def _backend(self) -> Backend:
        if self.backend is None:
            raise ParameterError(
                "algebra.no-data-run-say",
                "there are no data to run this on: say where the rows of each relation are",
            )
        return self.backend

    def _known(self, plan: Plan) -> dict[str, RelationStatistics]:
        """The statistics of the relations in a plan, of each column that costs depend on, counted once."""
        if self.backend is None:
            return {}
        compared = _compared(plan)
        for name in _relations(plan) & set(self.backend.relations):
            known = self._statistics.get(name)
            columns = compared & set(self.backend.relations[name]) - set(known.columns if known else ())
            if known is None or columns:
                new = self.backend.statistics(name, columns)
                older = known.columns if known else {}
                self._statistics[name] = RelationStatistics(new.rows, {**older, **new.columns})
        return self._statistics

    def _facts(self, plan: Plan) -> Facts:
        """What the rules may rely on; what only partial rules ask for is counted when they may be used."""
        return self._counting(self.catalog.facts(self._known(plan)))

    def _counting(self, declared: Facts) -> Facts:
        if self.backend is None or self._mode == RewriteMode.STRICT:
            return declared
        return CountedFacts(declared, self._count, self._counted)

    def _count(self, plan: Plan) -> int:
        counting = Grouping(plan, (), (Aggregate("count", None, "n"),))
        found = self._backend().execute(ParsedQuery(counting, ("n",)), self.catalog)
        return int(found.column("n")[0].as_py())


def _promised(rewriting: Rewriting) -> tuple[Promise, ...]:
    """What the answer is held to: what either plan promises, unless a rule that was asked for gave it up.

    Of post-processing, what each of its inputs is held to.
    """
    if rewriting.lost:
        return promises(rewriting.plan)
    return strongest([*promises(rewriting.original), *promises(rewriting.plan)])


def _inputs(plan: PostProcessing) -> list[ParsedQuery]:
    """What is computed and verified before the rest runs over it."""
    return [ParsedQuery(each, each.columns) for each in plan.inputs]


def _held(explanation: Explanation) -> list[tuple[Promise, ...]]:
    """What each table that an engine hands over is held to: the answer, or the inputs of post-processing."""
    rewriting = explanation.rewriting
    if not isinstance(rewriting.plan, PostProcessing) or not isinstance(rewriting.original, PostProcessing):
        return [explanation.promises]
    return [
        promises(chosen) if rewriting.lost else strongest([*promises(written), *promises(chosen)])
        for written, chosen in zip(rewriting.original.inputs, rewriting.plan.inputs, strict=True)
    ]


def _relations(plan: Plan) -> set[str]:
    return {node.name for node in plan.walk() if isinstance(node, Relation)}


def _compared(plan: Plan) -> set[str]:
    """The columns whose number of different values says how many rows an operator lets through or groups."""
    found: set[str] = set()
    for node in plan.walk():
        match node:
            case Generalization(_, by) | Grouping(_, by):
                found |= set(by)
            case Selection() | ThetaJoin():
                found |= node.predicate.columns
            case Join():
                found |= node.on
            case Projection(_, onto, True):
                found |= set(onto)
    return found


def _generalized(plan: Plan) -> Collection[str]:
    """The columns of the result in which some values were generalized."""
    if isinstance(plan, PostProcessing):  # whatever it computes, its inputs are verified
        return ()
    return {
        column
        for column, found in threads(plan).items()
        if any(ColumnTreatment.GENERALIZED in thread.treatments for thread in found)
    }
