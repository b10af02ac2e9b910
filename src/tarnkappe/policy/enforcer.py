"""Enforcement: every query is decided by the policy, paid, logged, and only then answered.

What somebody may see without paying is a set of tables: public ones, the protected release of each table, raw
columns that were granted. Queries run over copies of exactly these tables, in a database that holds nothing
else, so that two data sets that agree in them give the same answers and the same errors. Noisy aggregates
alone reach raw rows; they run apart, are differentially private for every person, and are paid before.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import os
import secrets
from collections import ChainMap
from collections.abc import Mapping
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import pyarrow as pa

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.declarations import Declarations
from tarnkappe.algebra.lowering import connect
from tarnkappe.algebra.nodes import Grouping, Plan, PostProcessing, Projection, Relation
from tarnkappe.algebra.numbers import number_text
from tarnkappe.algebra.person_paths import payer
from tarnkappe.algebra.persons import behind
from tarnkappe.algebra.prerequisites import is_noisy
from tarnkappe.algebra.session import QuerySession
from tarnkappe.algebra.sql.dialect import parse_query
from tarnkappe.algebra.sql.post_processing import read_enforced
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.engines.post_processing import check_statement, post_processed
from tarnkappe.errors import AccessError, ParameterError, QueryError, TarnkappeError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.hierarchy.plan import planned_hierarchy
from tarnkappe.policy.grants import settle
from tarnkappe.policy.policy_file import AccessPolicy, Sight
from tarnkappe.policy.reasons import exact_figure, missing_right, without_constants
from tarnkappe.policy.stored_releases import StoredReleases
from tarnkappe.policy.verdict import PolicyAnswer, PolicyVerdict
from tarnkappe.state import Store
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.budgets import BUDGETS_COMPONENT, Budget, Budgets
from tarnkappe.table.encoding import encode_column


@dataclasses.dataclass(frozen=True)
class _Decided:
    query: ParsedQuery
    verdict: PolicyVerdict

    @property
    def inputs(self) -> list[Plan]:
        plan = self.query.plan
        return list(plan.inputs) if isinstance(plan, PostProcessing) else [plan]


class _Paid:
    """Stands for budgets where everything is paid already."""

    def spend_all(self, _user: str, _costs: Mapping[str, Fraction]) -> dict[str, Budget]:
        """Nothing is left to pay."""
        return {}


class Enforcer:
    """A policy over its tables. It holds the data, so nobody who asks needs access to them.

    Args:
        policy: what is allowed.
        judges_only: without releases and budgets: queries are judged, and nothing is answered.
    """

    def __init__(self, policy: AccessPolicy, *, judges_only: bool = False) -> None:
        self.policy = policy
        self._stack = ExitStack()
        try:
            self._raw = self._stack.enter_context(connect(policy.place))
            absent = sorted(set(policy.tables) - set(self._raw.relations))
            if absent:
                raise ParameterError(
                    "policy.no-table-where-policy",
                    "there is no table '{absent}' where the policy says it is",
                    absent=absent[0],
                )
            self._catalog = self._with_values(self._declarations().over(self._raw))
            self._check_columns()
            self._seen: dict[str, dict[str, tuple[str, ...]]] = {}
            self._sessions: dict[str, QuerySession] = {}
            self._budgets: Budgets | None = None
            if not judges_only:
                self._open_state()
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the data."""
        self._stack.close()

    # ------------------------------------------------------------------ deciding

    def judge(self, user: str, text: str) -> PolicyVerdict:
        """The verdict on a query; nothing is run, paid or logged.

        Raises:
            AccessError: it is refused; the message says what is missing.
        """
        return self._decide(user, text).verdict

    def ask(self, user: str, text: str, *, by: str) -> PolicyAnswer:
        """The answer to a query of somebody whose identity was established `by` a way of authentication.

        Raises:
            AccessError: it is refused, or could not be answered; it is logged in any case.
        """
        budgets = self._kept()
        entry = {"user": user, "by": by, "policy": self.policy.digest, "query": without_constants(text)}
        entry["text"] = hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()
        try:
            decided = self._decide(user, text)
        except TarnkappeError as error:
            self._log.append("policy refused", {**entry, "reason": type(error).__name__})
            raise
        verdict = decided.verdict
        if verdict.costs:
            costs = {key: number_text(epsilon) for key, epsilon in verdict.costs.items()}
            settle(self.policy, budgets, self._catalog.persons)  # an owner may have granted more meanwhile
            try:
                budgets.spend_all(user, verdict.costs, ("policy paid", {**entry, "epsilon": costs}))
            except AccessError:
                self._log.append("policy refused", {**entry, "reason": "budget"})
                raise
        try:
            table = self._run(user, decided)
        except TarnkappeError as error:
            self._log.append("policy failed", {**entry, "reason": type(error).__name__})
            if any(is_noisy(node) for node in decided.query.plan.walk()):
                raise AccessError(
                    "policy.query-failed-what-costs", "the query failed; what it costs is paid"
                ) from None
            raise
        self._log.append("policy answered", {**entry, "how": verdict.how, "rows": table.num_rows})
        return PolicyAnswer(table, verdict)

    def _decide(self, user: str, text: str) -> _Decided:
        if user not in self.policy.users:
            raise AccessError("policy.no-group-policy", "'{user}' is in no group of the policy", user=user)
        tree = parse_query(text)
        visible = self._visible(user)
        counted = {
            name: columns
            for name, columns in self._raw.relations.items()
            if name in self.policy.tables
            and (self.policy.tables[name].is_public or self.policy.epsilon(user, name) > 0)
        }
        try:
            query = read_enforced(text, visible, counted)
        except QueryError as error:
            reason = missing_right(self.policy, self._raw.relations, visible, user, tree)
            raise AccessError("policy.reason-refused", "refused: {reason}", reason=reason or error) from None
        read = {node.name for node in query.plan.walk() if isinstance(node, Relation)} & set(visible)
        labels = {column: self._left(user, name) for name in read for column in self._labelled(user, name)}
        reason = exact_figure(tree, labels)
        if reason:
            raise AccessError("policy.reason-refused", "refused: {reason}", reason=reason)
        if isinstance(query.plan, PostProcessing):
            check_statement(query.plan.statement, frozenset(query.plan.names))
        return _Decided(query, self._verdict(user, query))

    def _verdict(self, user: str, query: ParsedQuery) -> PolicyVerdict:
        plan = query.plan
        inputs = plan.inputs if isinstance(plan, PostProcessing) else (plan,)
        costs: dict[str, Fraction] = {}
        read: set[str] = set()
        for each in inputs:
            names = {node.name for node in each.walk() if isinstance(node, Relation)}
            if not any(is_noisy(node) for node in each.walk()):
                read |= names
                continue
            if not _only_noisy(each, self._catalog.public):
                raise AccessError(
                    "policy.refused-exact-figure-stands",
                    "refused: an exact figure stands beside noisy ones: ask for noisy ones only",
                )
            for key, epsilon in self._charges(user, each, names).items():
                costs[key] = costs.get(key, Fraction(0)) + epsilon
        protected = sorted(name for name in read if not self.policy.tables[name].is_public)
        if costs:
            paid = sum((e for key, e in costs.items() if key.startswith("table ")), Fraction(0))
            return PolicyVerdict(
                "noisy", f"answered with noise, for an epsilon of {number_text(paid)}", costs
            )
        if not protected:
            return PolicyVerdict("public", "answered from public tables")
        return PolicyVerdict(
            "post-processing", "answered as post-processing of " + self._described(user, protected)
        )

    def _described(self, user: str, names: list[str]) -> str:
        parts = []
        for name in names:
            form = self.policy.tables[name].form
            raw = self.policy.sight(user, name) is Sight.RAW
            told = "raw columns that were granted" if raw or form is None else f"k = {form.k} people"
            parts.append(f"{'raw' if raw else 'protected'} table {name} ({told})")
        return "the " + " and the ".join(parts)

    def _charges(self, user: str, plan: Plan, names: set[str]) -> dict[str, Fraction]:
        session = QuerySession(self._raw, self._catalog, user=user, budgets=cast(Budgets, _Paid()))
        try:
            explanation = session.explain(ParsedQuery(plan, plan.columns))
        except TarnkappeError as error:
            raise AccessError("policy.error-refused", "refused: {error}", error=error) from None
        charges: dict[str, Fraction] = {}
        for name in sorted(names - set(self._catalog.public)):
            budget = payer(self._catalog.persons, name)
            charges[f"table {name}"] = explanation.costs[budget]
            charges[f"space {budget}"] = explanation.costs[budget]
        return charges

    def _labelled(self, user: str, name: str) -> tuple[str, ...]:
        """The columns of a table that a user sees as labels."""
        raw = self.policy.tables[name].is_public or self.policy.sight(user, name) is Sight.RAW
        return () if raw else self.policy.generalized(name)

    def _left(self, user: str, name: str) -> Fraction:
        if self._budgets is None:
            return self.policy.epsilon(user, name)
        found = self._budgets.of(user, f"table {name}")
        return Fraction(0) if found is None else found.left

    # ------------------------------------------------------------------ answering

    def _run(self, user: str, decided: _Decided) -> pa.Table:
        query = decided.query
        if not isinstance(query.plan, PostProcessing):
            return self._session(user).run(query).table
        tables = {}
        for name, each in zip(query.plan.names, query.plan.inputs, strict=True):
            if any(is_noisy(node) for node in each.walk()):
                session = QuerySession(self._raw, self._catalog, user=user, budgets=cast(Budgets, _Paid()))
            else:
                session = self._session(user)
            tables[name] = session.run(ParsedQuery(each, each.columns)).table
        return post_processed(query.plan.statement, tables)

    def _session(self, user: str) -> QuerySession:
        """A session over copies of exactly the tables that a user may see."""
        if user not in self._sessions:
            backend = self._stack.enter_context(connect(self._tables(user)))
            hierarchies = {
                column: self._catalog.hierarchies[column]
                for column in {*self.policy.hierarchies, *self.policy.values}
            }
            catalog = Catalog(backend.relations, hierarchies, public=frozenset(backend.relations))
            self._sessions[user] = QuerySession(backend, catalog)
        return self._sessions[user]

    def _tables(self, user: str) -> dict[str, pa.Table]:
        found = {}
        for name, columns in self._visible(user).items():
            table = self.policy.tables[name]
            if table.is_public or self.policy.sight(user, name) is Sight.RAW:
                plan = Projection(Relation(name, self._raw.relations[name]), columns)
                found[name] = self._raw.execute(ParsedQuery(plan, columns), self._catalog)
            else:
                found[name] = self.releases[name]
        return found

    def _visible(self, user: str) -> dict[str, tuple[str, ...]]:
        """The tables that a user may see, each with the columns."""
        if user not in self._seen:
            found = {}
            for name, table in self.policy.tables.items():
                sight = self.policy.sight(user, name)
                if sight is Sight.RAW:
                    found[name] = self.policy.raw_columns(user, name, self._raw.relations[name])
                elif sight is Sight.PROTECTED and table.form is not None:
                    found[name] = table.form.columns
            self._seen[user] = {name: columns for name, columns in found.items() if columns}
        return self._seen[user]

    # ------------------------------------------------------------------ what is kept

    def _open_state(self) -> None:
        self._folder = self.policy.state
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = self._stack.enter_context(Store.open(str(self._folder / "policy.db"), BUDGETS_COMPONENT))
        self._budgets, self._log = Budgets(store), AuditLog(store)
        self._secret = _kept_secret(self._folder / "text.key")
        raw = QuerySession(self._raw, self._catalog)
        self.releases = StoredReleases(self.policy, raw, self._folder, self._log)
        self._verify_facts()
        settle(self.policy, self._budgets, self._catalog.persons)
        for name, table in self.policy.tables.items():
            if table.form is not None:
                self.releases[name]  # what cannot be promised is noticed now, and not by who asks

    def _verify_facts(self) -> None:
        """What noise relies on is verified now: an error at a query would tell something of the data."""
        for name in sorted(self._catalog.persons):
            relation = Relation(name, self._raw.relations[name])
            people = behind(relation, self._catalog.persons)
            assert people is not None
            counted = any(clause.epsilon > 0 for clause in self.policy.clauses if clause.table == name)
            needs = people.paths | (people.needs if counted else frozenset())
            if needs:
                rows = Grouping(relation, (), (Aggregate("count", None, "n"),))
                self._raw.execute(ParsedQuery(rows, ("n",)), self._catalog, relies_on=sorted(needs, key=str))

    def _kept(self) -> Budgets:
        if self._budgets is None:
            raise ParameterError(
                "policy.only-judges-queries-nothing", "this only judges queries: nothing is answered here"
            )
        return self._budgets

    def _declarations(self) -> Declarations:
        tables = self.policy.tables
        return Declarations(
            hierarchies=self.policy.hierarchies,
            persons={name: table.person for name, table in tables.items() if table.person is not None},
            public=frozenset(name for name, table in tables.items() if table.is_public),
        )

    def _with_values(self, catalog: Catalog) -> Catalog:
        """With the values of columns that queries compute and group by."""
        if not self.policy.values:
            return catalog
        read: dict[str, Hierarchy] = {
            column: planned_hierarchy(
                str(path), encode_column(column, pa.chunked_array([pa.array([], pa.string())]))
            )
            for column, path in self.policy.values.items()
        }
        return dataclasses.replace(
            catalog, hierarchies=ChainMap(read, cast(dict[str, Hierarchy], catalog.hierarchies))
        )

    def _check_columns(self) -> None:
        for name, table in self.policy.tables.items():
            known = set(self._raw.relations[name])
            shown = table.form.columns if table.form is not None else ()
            for column in (*table.roles, *shown):
                if column not in known:
                    raise ParameterError(
                        "policy.tables-speaks-column",
                        "[tables.{name}] speaks of a column '{column}', which is not there",
                        name=name,
                        column=column,
                    )
            if table.form is not None and not self.policy.generalized(name):
                raise ParameterError(
                    "policy.tables-protected-shows-no-quasi",
                    "[tables.{name}.protected] shows no quasi-identifier, so k hides nobody",
                    name=name,
                )


def _only_noisy(plan: Plan, public: Any) -> bool:
    """Whether raw rows reach the result through noisy aggregates alone."""
    if isinstance(plan, Relation):
        return plan.name in public
    if is_noisy(plan):
        assert isinstance(plan, Grouping)
        return all(aggregate.noise is not None for aggregate in plan.aggregates)
    return all(_only_noisy(child, public) for child in plan.children)


def _kept_secret(path: Path) -> bytes:
    if not path.exists():
        new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(new, "wb") as file:
            file.write(secrets.token_bytes(32))
    return path.read_bytes()
