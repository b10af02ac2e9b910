"""Relations in several engines: every part of a plan runs where its rows are, all of them at the same time.

A part is a subplan whose relations are all in one place. What stands above the parts (a union of two
hospitals, a join of two databases) runs in a DuckDB of this process, over their results. So what a plan
anonymizes below a union or join has been anonymized before it leaves its place, and rewriting puts it there
where that is equal.

A generalization of a union cannot be put there: its levels depend on all rows. Its parts tell how often they
have which combination, the levels are chosen for all of them, and each part is lifted to them in its place.
The result is that of one generalization, and no raw row of a part has left its engine.

Every place has a snapshot of its own; they are taken one after the other, before anything runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import pyarrow as pa

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.column_kinds import Kinds
from tarnkappe.algebra.facts import Declaration
from tarnkappe.algebra.lowering.backend import Backend
from tarnkappe.algebra.lowering.declared import require
from tarnkappe.algebra.lowering.generalizing import combinations, common_levels, lifted_to
from tarnkappe.algebra.lowering.keyed import Path, Randomness
from tarnkappe.algebra.lowering.lowering import Lowering
from tarnkappe.algebra.lowering.parts import Cut, Part, cut_into_parts, generalized_columns
from tarnkappe.algebra.lowering.released import in_public_order
from tarnkappe.algebra.lowering.rows import LoweredRows
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.algebra.nodes import (
    Generalization,
    Plan,
    Randomization,
    Relation,
    RowBound,
    SlicingNode,
)
from tarnkappe.algebra.person_paths import HIDDEN
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.algebra.statistics import RelationStatistics
from tarnkappe.algebra.world import World
from tarnkappe.errors import ParameterError
from tarnkappe.table.encoding import Progress

if TYPE_CHECKING:
    from tarnkappe.privacy.verify import Verification

PERSON = "tarnkappe person"
"""What the hidden column of people is called in a table that one place hands to another."""

DRAWING = (SlicingNode, Randomization, RowBound)
"""Operators that need to know which row is which."""


class SeveralBackends(Backend):
    """Relations of several engines. A name that two have is called by its place, too: `north.visits`."""

    name: ClassVar[str] = "several"

    def __init__(self, backends: Mapping[str, Backend]) -> None:
        """The backends by what their places are called."""
        self.source = ", ".join(backend.source for backend in backends.values())
        self.parallelism = len(backends)
        self._backends = tuple(backends.values())
        taken = Counter(name for backend in self._backends for name in backend.relations)
        self._homes: dict[str, tuple[Backend, str]] = {}
        for place, backend in backends.items():
            for own in backend.relations:
                name = own if taken[own] == 1 else f"{place}.{own}"
                if name in self._homes:
                    raise ParameterError(
                        "algebra.two-tables-called",
                        "two tables are called '{name}', and a query could not tell them apart: give one of "
                        "the files another name",
                        name=name,
                    )
                self._homes[name] = backend, own
        self.relations = {name: backend.relations[own] for name, (backend, own) in self._homes.items()}

    @contextmanager
    def site(self, progress: Progress | None = None) -> Iterator[EngineSnapshot]:
        """There is no one snapshot of several engines; each has its own."""
        raise NotImplementedError

    def execute_all(
        self,
        queries: Sequence[ParsedQuery],
        catalog: Catalog,
        *,
        key: bytes | None = None,
        shuffle: bool = True,
        promised: bool = False,
        relies_on: Collection[Declaration] = (),
        progress: Progress | None = None,
        verified: list[Verification] | None = None,
    ) -> list[pa.Table]:
        for query in queries:
            query.plan.check()
        randomness = Randomness(key)
        several = len(queries) > 1
        found = []
        with ExitStack() as stack:
            run = _Run(self, catalog, randomness, promised, stack, progress)
            for declaration in relies_on:
                require(declaration, run.site(self._home_of(declaration)), catalog.persons)
            for number, query in enumerate(queries):
                found.append(run.table(query, (number,) if several else ()))
        if verified is not None:
            verified += run.verified
        orders = [f"order of rows {number}" if several else "order of rows" for number in range(len(queries))]
        return [
            in_public_order(table, query.order, randomness.chance(order) if shuffle else None)
            for table, query, order in zip(found, queries, orders, strict=True)
        ]

    def homes(self, plan: Plan) -> list[Backend]:
        """The engines that have the relations of a plan."""
        names = (node.name for node in plan.walk() if isinstance(node, Relation))
        return list(dict.fromkeys(self.home(name)[0] for name in names))

    def home(self, relation: str) -> tuple[Backend, str]:
        """The engine that has a relation, and what it is called there."""
        self._require(relation)
        return self._homes[relation]

    def _home_of(self, declaration: Declaration) -> Backend:
        home, _ = self.home(declaration.relation)
        if declaration.other and self.home(declaration.other)[0] is not home:
            raise ParameterError(
                "algebra.declared-over-two-places",
                "{declaration}: this cannot be verified, since they are in two databases: leave it out",
                declaration=declaration,
            )
        return home

    def statistics(self, relation: str, columns: Collection[str] | None = None) -> RelationStatistics:
        home, own = self.home(relation)
        return home.statistics(own, columns)

    def kinds(self, relation: str) -> Kinds:
        home, own = self.home(relation)
        return home.kinds(own)

    def types(self, relation: str) -> dict[str, Any]:
        home, own = self.home(relation)
        return home.types(own)

    def close(self) -> None:
        """Let go of all engines."""
        with ExitStack() as stack:
            for backend in self._backends:
                stack.callback(backend.close)


class _Place:
    """A snapshot that knows its relations by the names that they have among those of all places."""

    def __init__(self, site: EngineSnapshot, own: Mapping[str, str], home: Backend) -> None:
        self._site, self._own, self._home = site, own, home

    def relation(self, name: str, *, numbered: bool) -> LoweredRows:
        if name not in self._own:
            raise ParameterError(
                "algebra.person-in-another-place",
                "'{name}' is not in {source}, and people are not looked up in another database",
                name=name,
                source=self._home.source,
            )
        return self._site.relation(self._own[name], numbered=numbered)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._site, name)


class _Run:
    """One run of some queries: a snapshot of each place that has rows of them."""

    def __init__(
        self,
        backend: SeveralBackends,
        catalog: Catalog,
        randomness: Randomness,
        promised: bool,
        stack: ExitStack,
        progress: Progress | None,
    ) -> None:
        self._backend, self._catalog, self._randomness = backend, catalog, randomness
        self._promised, self._stack, self._progress = promised, stack, progress
        self._world = World({}, catalog.hierarchies, catalog.noise, catalog.bucket)
        self._lowerings: dict[Backend, Lowering] = {}
        self._sites: dict[Backend, EngineSnapshot] = {}
        self.verified: list[Verification] = []

    def site(self, home: Backend) -> EngineSnapshot:
        """The snapshot of a place, the same for the whole run."""
        if home not in self._sites:
            own = {
                name: own
                for name in self._backend.relations
                for where, own in [self._backend.home(name)]
                if where is home
            }
            place = _Place(self._stack.enter_context(home.site()), own, home)
            self._sites[home] = cast(EngineSnapshot, place)
            self._lowerings[home] = Lowering(
                self._sites[home], self._catalog, self._randomness, promised=self._promised
            )
        return self._sites[home]

    def table(self, query: ParsedQuery, path: Path) -> pa.Table:
        """The result of a query: of its parts where they are, and of the rest here."""
        cut = cut_into_parts(query.plan, path, self._backend.homes)
        for part in cut.parts.values():
            self.site(part.home)
        self._randomness.secret(path, "")  # the key is made once, before threads ask for it
        ordered = any(isinstance(node, DRAWING) for node in cut.rest.walk())
        self._everywhere(cut.parts.values(), lambda part: self._begin(part, ordered))
        for generalization, parts in cut.lifted:
            self._lift(generalization, parts)
        for lowering in self._lowerings.values():
            self.verified += lowering.verified
            lowering.verified = []
        return self._rest(cut, query, path)

    def _everywhere(self, parts: Collection[Part], work: Callable[[Part], None]) -> None:
        """Work on the parts of all places at the same time; those of one place follow each other."""
        by_home: dict[Backend, list[Part]] = defaultdict(list)
        for part in parts:
            by_home[part.home].append(part)

        def all_of(own: list[Part]) -> None:
            for part in own:
                work(part)

        if len(by_home) == 1:
            all_of(next(iter(by_home.values())))
            return
        with ThreadPoolExecutor(max(len(by_home), 1)) as threads:
            running = [threads.submit(all_of, own) for own in by_home.values()]
            for done, each in enumerate(running):
                if self._progress is not None:
                    self._progress("querying", done, len(running))
                each.result()

    def _begin(self, part: Part, ordered: bool) -> None:
        """Compute a part; one that is lifted later only tells its combinations."""
        lowering, site = self._lowerings[part.home], self._sites[part.home]
        if part.under is None:
            rows = lowering.rows(part.plan, part.path, numbered=ordered)
            if ordered:
                rows = LoweredRows(rows.table.order_by(rows.id), rows.columns, rows.ids)
            part.table = self._fetched(rows.without_ids(), part.plan.columns, site)
            return
        part.rows = lowering.kept(part.plan, part.path)
        part.told = combinations(part.rows, generalized_columns(part.under), site, part.under.person)

    def _lift(self, plan: Generalization, parts: list[Part]) -> None:
        by = generalized_columns(plan)
        told = [part.told for part in parts if part.told is not None]
        levels = common_levels(told, by, plan.k, self._world, plan.person)

        def lift(part: Part) -> None:
            assert part.rows is not None
            assert part.told is not None
            site = self._sites[part.home]
            rows = lifted_to(part.rows, by, part.told, levels, self._world, site)
            part.table = self._fetched(rows, plan.columns, site)

        self._everywhere(parts, lift)

    @staticmethod
    def _fetched(rows: LoweredRows, columns: tuple[str, ...], site: EngineSnapshot) -> pa.Table:
        return site.fetch(rows.onto(columns).table).rename_columns(list(columns))

    def _rest(self, cut: Cut, query: ParsedQuery, path: Path) -> pa.Table:
        from tarnkappe.algebra.lowering.duckdb import DuckDBBackend

        tables = {name: part.table for name, part in cut.parts.items() if part.table is not None}
        if isinstance(cut.rest, Relation):
            return tables[cut.rest.name].select(list(query.columns))
        named = {
            name: table.rename_columns([PERSON if c == HIDDEN else c for c in table.column_names])
            for name, table in tables.items()
        }
        plans = {name: part.plan for name, part in cut.parts.items()}
        with DuckDBBackend.over_files(named) as here, here.site(self._progress) as site:
            lowering = _Remainder(site, self._catalog, self._randomness, plans, promised=self._promised)
            rows = lowering.rows(cut.rest, path, coded=True).onto(query.columns)
            found = site.fetch(rows.table).rename_columns(list(query.columns))
        self.verified += lowering.verified
        return found


class _Remainder(Lowering):
    """What stands above parts; of how many rows one person has, the parts themselves speak."""

    def __init__(
        self,
        site: EngineSnapshot,
        catalog: Catalog,
        randomness: Randomness,
        parts: Mapping[str, Plan],
        *,
        promised: bool,
    ) -> None:
        super().__init__(site, catalog, randomness, promised=promised)
        self._parts = parts

    def _relation(self, name: str, columns: tuple[str, ...], numbered: bool) -> LoweredRows:
        rows = self._site.relation(name, numbered=numbered)
        known = tuple(HIDDEN if column == PERSON else column for column in rows.columns)
        return replace(rows, columns=known).onto(columns)

    def _most_rows(self, child: Plan) -> int:
        return super()._most_rows(self._restored(child))

    def _restored(self, plan: Plan) -> Plan:
        if isinstance(plan, Relation):
            return self._parts[plan.name]
        return plan.with_children(*(self._restored(child) for child in plan.children))
