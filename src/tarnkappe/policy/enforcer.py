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
import pyarrow.parquet
from sqlglot import exp

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.declarations import Declarations
from tarnkappe.algebra.lowering import connect
from tarnkappe.algebra.nodes import Generalization, Grouping, Plan, PostProcessing, Projection, Relation
from tarnkappe.algebra.numbers import number_text
from tarnkappe.algebra.persons import payer
from tarnkappe.algebra.plan import listed
from tarnkappe.algebra.session import Session, is_noisy
from tarnkappe.algebra.sql.dialect import parse_query
from tarnkappe.algebra.sql.post_processing import read_enforced
from tarnkappe.algebra.sql.query import Query
from tarnkappe.algebra.sql.reading import choose
from tarnkappe.algebra.verification import smallest_class
from tarnkappe.engines.post_processing import check_statement, post_processed
from tarnkappe.errors import AccessError, ParameterError, QueryError, TarnkappeError, VerificationError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.hierarchy.plan import planned_hierarchy
from tarnkappe.policy.policy_file import AccessPolicy, ProtectedForm, Sight
from tarnkappe.state import Store
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.budgets import BUDGETS_COMPONENT, Budget, Budgets
from tarnkappe.table import Role
from tarnkappe.table.encoding import encode_column

EXTRA = "granted "
"""Before the name of a table: what owners have granted beyond the policy file."""

_EXACT = {exp.Avg: "noisy_mean", exp.Sum: "noisy_sum", exp.Median: "noisy_median"}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What the policy says to a query.

    Attributes:
        how: post-processing, noisy, or public.
        told: what an answer is, in a sentence.
        costs: what it takes from the budgets of the user.
    """

    how: str
    told: str
    costs: Mapping[str, Fraction] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class PolicyAnswer:
    """Rows that may leave, and why."""

    table: pa.Table
    verdict: Verdict


@dataclasses.dataclass(frozen=True)
class _Decided:
    query: Query
    verdict: Verdict

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
            self._raw = self._stack.enter_context(connect(_place(policy)))
            absent = sorted(set(policy.tables) - set(self._raw.relations))
            if absent:
                raise ParameterError(f"there is no table '{absent[0]}' where the policy says it is")
            self._catalog = self._with_values(self._declarations().over(self._raw))
            self._check_columns()
            self._seen: dict[str, dict[str, tuple[str, ...]]] = {}
            self._sessions: dict[str, Session] = {}
            self._releases: dict[str, pa.Table] = {}
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

    def judge(self, user: str, text: str) -> Verdict:
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
        entry = {"user": user, "by": by, "policy": self.policy.digest, "query": _without_constants(text)}
        entry["text"] = hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()
        try:
            decided = self._decide(user, text)
        except TarnkappeError as error:
            self._log.append("policy refused", {**entry, "reason": type(error).__name__})
            raise
        verdict = decided.verdict
        if verdict.costs:
            costs = {key: number_text(epsilon) for key, epsilon in verdict.costs.items()}
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
                raise AccessError("the query failed; what it costs is paid") from None
            raise
        self._log.append("policy answered", {**entry, "how": verdict.how, "rows": table.num_rows})
        return PolicyAnswer(table, verdict)

    def _decide(self, user: str, text: str) -> _Decided:
        if user not in self.policy.users:
            raise AccessError(f"'{user}' is in no group of the policy")
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
            reason = self._missing(user, tree, visible)
            raise AccessError(f"refused: {reason}" if reason else f"refused: {error}") from None
        self._refuse_exact(user, tree, query.plan, visible)
        if isinstance(query.plan, PostProcessing):
            check_statement(query.plan.statement, frozenset(query.plan.names))
        return _Decided(query, self._verdict(user, query))

    def _verdict(self, user: str, query: Query) -> Verdict:
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
                    "refused: an exact figure stands beside noisy ones: ask for noisy ones only"
                )
            for key, epsilon in self._charges(user, each, names).items():
                costs[key] = costs.get(key, Fraction(0)) + epsilon
        protected = sorted(name for name in read if not self.policy.tables[name].is_public)
        if costs:
            paid = sum((e for key, e in costs.items() if key.startswith("table ")), Fraction(0))
            return Verdict("noisy", f"answered with noise, for an epsilon of {number_text(paid)}", costs)
        if not protected:
            return Verdict("public", "answered from public tables")
        return Verdict(
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
        session = Session(self._raw, self._catalog, user=user, budgets=cast(Budgets, _Paid()))
        try:
            explanation = session.explain(Query(plan, plan.columns))
        except TarnkappeError as error:
            raise AccessError(f"refused: {error}") from None
        charges: dict[str, Fraction] = {}
        for name in sorted(names - set(self._catalog.public)):
            budget = payer(self._catalog.persons, name)
            charges[f"table {name}"] = explanation.costs[budget]
            charges[f"space {budget}"] = explanation.costs[budget]
        return charges

    # ------------------------------------------------------------------ saying what is missing

    def _missing(self, user: str, tree: exp.Expr, visible: Mapping[str, tuple[str, ...]]) -> str:
        """What keeps somebody from an answer, if it is a right."""
        groups = ", ".join(f"'{group}'" for group in self.policy.groups_of(user))
        named = _named_tables(tree)
        for name in self.policy.tables:
            if choose(name, False, named) is None or name in visible or _only_in_noisy(tree, name):
                continue
            if self.policy.sight(user, name) is Sight.AGGREGATES:
                return (
                    f"'{name}' may only be counted with noise by {groups}: write noisy_count(epsilon => 1), "
                    "noisy_sum or noisy_mean"
                )
            return f"'{name}' may not be read by {groups}"
        for column in tree.find_all(exp.Column):
            for name, table in self.policy.tables.items():
                hidden = set(self._raw.relations[name]) - set(visible.get(name, ()))
                if choose(name, False, named) is None or choose(column.name, False, hidden) is None:
                    continue
                if table.role(column.name) is Role.IDENTIFIER:
                    return (
                        f"'{column.name}' of {name} is an identifier, which {groups} may neither see nor "
                        "compare. Leave it out"
                    )
                shown = listed(visible.get(name, ())) if visible.get(name) else "nothing"
                return f"'{column.name}' of {name} is not shown to {groups}, who see {shown}. Leave it out"
        return ""

    def _refuse_exact(
        self, user: str, tree: exp.Expr, plan: Plan, visible: Mapping[str, tuple[str, ...]]
    ) -> None:
        """Figures of generalized columns, whose values are labels: only noise over raw rows gives them."""
        read = {node.name for node in plan.walk() if isinstance(node, Relation)} & set(visible)
        labels = {column: name for name in read for column in self._labelled(user, name)}
        for call in tree.find_all(*_EXACT):
            column = call.this if isinstance(call.this, exp.Column) else None
            known = choose(column.name, False, labels) if column is not None else None
            if known is None:
                continue
            left = self._left(user, labels[known])
            way = _EXACT[type(call)]
            call_text = f"{way}({known}, epsilon => 0.5, lower => 0, upper => 120)"
            hint = f"Write {call_text}; {number_text(left)} is left to you"
            raise AccessError(
                f"refused: {call.key}({known}) would be exact, and '{known}' is shown as labels. "
                + (hint if left else "Count the labels instead")
            )

    def _labelled(self, user: str, name: str) -> list[str]:
        table = self.policy.tables[name]
        if table.is_public or self.policy.sight(user, name) is Sight.RAW or table.form is None:
            return []
        return _generalized(self.policy, name, table.form)

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
                session = Session(self._raw, self._catalog, user=user, budgets=cast(Budgets, _Paid()))
            else:
                session = self._session(user)
            tables[name] = session.run(Query(each, each.columns)).table
        return post_processed(query.plan.statement, tables)

    def _session(self, user: str) -> Session:
        """A session over copies of exactly the tables that a user may see."""
        if user not in self._sessions:
            backend = self._stack.enter_context(connect(self._tables(user)))
            hierarchies = {
                column: self._catalog.hierarchies[column]
                for column in {*self.policy.hierarchies, *self.policy.values}
            }
            catalog = Catalog(backend.relations, hierarchies, public=frozenset(backend.relations))
            self._sessions[user] = Session(backend, catalog)
        return self._sessions[user]

    def _tables(self, user: str) -> dict[str, pa.Table]:
        found = {}
        for name, columns in self._visible(user).items():
            table = self.policy.tables[name]
            if table.is_public or self.policy.sight(user, name) is Sight.RAW:
                plan = Projection(Relation(name, self._raw.relations[name]), columns)
                found[name] = self._raw.execute(Query(plan, columns), self._catalog)
            else:
                found[name] = self.release(name)
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

    # ------------------------------------------------------------------ the one release of a table

    def release(self, name: str) -> pa.Table:
        """The protected release of a table: made once, kept, and verified whenever it is read."""
        if name not in self._releases:
            form = self.policy.tables[name].form
            assert form is not None
            path = self._folder / f"{name}-{self._form_digest(name, form)}.parquet"
            if not path.exists():
                self._make(name, form, path)
            self._releases[name] = self._verified(name, form, path)
        return self._releases[name]

    def _make(self, name: str, form: ProtectedForm, path: Path) -> None:
        relation = Relation(name, self._raw.relations[name])
        by = tuple(_generalized(self.policy, name, form))
        plan = Projection(Generalization(relation, by, form.k), form.columns)
        result = Session(self._raw, self._catalog).run(Query(plan, form.columns))
        if not result.verified or not all(kept.people for kept in result.verified):
            raise VerificationError(f"the release of '{name}' is not verified to hide people; it is not made")
        new = path.with_suffix(f".{secrets.token_hex(8)}.new")
        pyarrow.parquet.write_table(result.table, new)
        digest = hashlib.sha256(new.read_bytes()).hexdigest()
        self._log.append("policy release", {"table": name, "file": path.name, "sha256": digest, "k": form.k})
        new.replace(path)

    def _verified(self, name: str, form: ProtectedForm, path: Path) -> pa.Table:
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        made = [
            entry.details
            for entry in self._log.entries()
            if entry.event == "policy release" and dict(entry.details).get("file") == path.name
        ]
        if not any(dict(details).get("sha256") == digest for details in made):
            raise VerificationError(f"the stored release of '{name}' is not the one that the log tells of")
        table = pyarrow.parquet.read_table(pa.BufferReader(content))
        smallest = smallest_class(table, _generalized(self.policy, name, form))
        if smallest is not None and smallest < form.k:
            raise VerificationError(f"the stored release of '{name}' does not keep its promise")
        return table

    def _form_digest(self, name: str, form: ProtectedForm) -> str:
        said = repr(
            (name, form, sorted(self.policy.hierarchies), sorted(self.policy.tables[name].roles.items()))
        )
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    # ------------------------------------------------------------------ what is kept

    def _open_state(self) -> None:
        self._folder = self.policy.state
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = self._stack.enter_context(Store.open(str(self._folder / "policy.db"), BUDGETS_COMPONENT))
        self._budgets, self._log = Budgets(store), AuditLog(store)
        self._secret = _kept_secret(self._folder / "text.key")
        self._grant_all()
        for name, table in self.policy.tables.items():
            if table.form is not None:
                self.release(name)  # what cannot be promised is noticed now, and not by who asks

    def _grant_all(self) -> None:
        """What the policy lets everybody spend, and owners have added."""
        budgets = self._kept()
        for user in sorted(self.policy.users):
            totals: dict[str, Fraction] = {}
            for name, table in self.policy.tables.items():
                if table.is_public:
                    continue
                extra = budgets.of(user, EXTRA + name)
                amount = self.policy.epsilon(user, name) + (Fraction(0) if extra is None else extra.granted)
                self._set(user, f"table {name}", amount)
                space = payer(self._catalog.persons, name)
                totals[space] = totals.get(space, Fraction(0)) + amount
            for space, amount in totals.items():
                self._set(user, f"space {space}", min(amount, self.policy.spaces.get(space, amount)))

    def _set(self, user: str, key: str, amount: Fraction) -> None:
        known = self._kept().of(user, key)
        if known is None or known.granted != amount:
            self._kept().grant(user, key, amount)

    def _kept(self) -> Budgets:
        if self._budgets is None:
            raise ParameterError("this only judges queries: nothing is answered here")
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
                    raise ParameterError(f"[tables.{name}] speaks of a column '{column}', which is not there")
            if table.form is not None and not _generalized(self.policy, name, table.form):
                raise ParameterError(
                    f"[tables.{name}.protected] shows no quasi-identifier, so k hides nobody"
                )


def grant(policy: AccessPolicy, owner: str, user: str, table: str, epsilon: Fraction) -> None:
    """Let a user spend more on a table than the policy file says; only owners may, who cannot ask.

    Raises:
        AccessError: the owner is none.
    """
    if owner not in policy.owners:
        raise AccessError(f"'{owner}' is no owner of this policy: owners grant budgets, and owners alone")
    if user not in policy.users:
        raise ParameterError(f"'{user}' is in no group of the policy")
    if table not in policy.tables or policy.tables[table].is_public:
        raise ParameterError(f"there is no table '{table}' that has a budget")
    policy.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with Store.open(str(policy.state / "policy.db"), BUDGETS_COMPONENT) as store:
        Budgets(store).grant(user, EXTRA + table, epsilon)
        told = {
            "owner": owner,
            "user": user,
            "table": table,
            "epsilon": number_text(epsilon),
            "policy": policy.digest,
        }
        AuditLog(store).append("policy granted", told)


def _only_noisy(plan: Plan, public: Any) -> bool:
    """Whether raw rows reach the result through noisy aggregates alone."""
    if isinstance(plan, Relation):
        return plan.name in public
    if is_noisy(plan):
        assert isinstance(plan, Grouping)
        return all(aggregate.noise is not None for aggregate in plan.aggregates)
    return all(_only_noisy(child, public) for child in plan.children)


def _generalized(policy: AccessPolicy, name: str, form: ProtectedForm) -> list[str]:
    table = policy.tables[name]
    return [column for column in form.columns if table.role(column) is Role.QUASI_IDENTIFIER]


def _place(policy: AccessPolicy) -> Any:
    databases = {source.database for source in policy.sources.values() if source.database is not None}
    files = {name: source.path for name, source in policy.sources.items() if source.path is not None}
    if len(databases) > 1 or (databases and files):
        raise ParameterError("the tables of a policy are files, or all in one database")
    return databases.pop() if databases else files


def _named_tables(tree: exp.Expr) -> set[str]:
    named = {table.name for table in tree.find_all(exp.Table)}
    operands = (call.expressions[0] for call in tree.find_all(exp.Anonymous) if call.expressions)
    return named | {operand.name for operand in operands if isinstance(operand, exp.Column)}


def _only_in_noisy(tree: exp.Expr, name: str) -> bool:
    """Whether a table is read by noisy aggregates alone."""
    for table in tree.find_all(exp.Table):
        if table.name.casefold() != name.casefold():
            continue
        around: exp.Expr | None = table.parent
        while around is not None and not any(
            call.name.lower().startswith("noisy_")
            for item in (around.expressions if isinstance(around, exp.Select) else ())
            for call in item.find_all(exp.Anonymous)
        ):
            around = around.parent
        if around is None:
            return False
    return True


def _without_constants(text: str) -> str:
    """A query without its constants, for the log."""
    try:
        tree = parse_query(text)
    except QueryError:
        return ""
    return tree.transform(lambda node: exp.Placeholder() if isinstance(node, exp.Literal) else node).sql()


def _kept_secret(path: Path) -> bytes:
    if not path.exists():
        new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(new, "wb") as file:
            file.write(secrets.token_bytes(32))
    return path.read_bytes()
