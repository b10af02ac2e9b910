"""From a plan to one statement of an engine.

Every operator becomes an expression over those of its children; nothing is computed before the whole plan is
one statement, save what a contract needs to know first: the combinations that a generalization chooses its
levels from, and the number of rows that a slicing cuts its buckets from. Ids are asked for only where an
operator above draws by them, so a plan without such operators is the SQL that one would write by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering.binary import joined, matched, united
from tarnkappe.algebra.lowering.grouping import grouped
from tarnkappe.algebra.lowering.hidden import with_person
from tarnkappe.algebra.lowering.keyed import Path, Randomness
from tarnkappe.algebra.lowering.predicates import lowered
from tarnkappe.algebra.lowering.randomizing import randomized
from tarnkappe.algebra.lowering.rows import LoweredRows, id_as_text, made
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.algebra.lowering.slicing import sliced
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    Plan,
    Projection,
    Randomization,
    Relation,
    Rename,
    RowBound,
    Selection,
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.noisy.stability import reach
from tarnkappe.algebra.person_paths import HIDDEN
from tarnkappe.algebra.world import World
from tarnkappe.errors import ColumnError, ParameterError

if TYPE_CHECKING:
    from tarnkappe.privacy.verify import Verification

_PASSING = (Relation, Selection, Rename, Union, Randomization, Generalization)
"""Operators that hand rows on as they come: to compute their result twice costs little more than once."""


class Lowering:
    """Lowers the operators of one query to one site.

    Args:
        site: where it runs.
        catalog: what belongs to columns.
        randomness: what it draws from.
        promised: whether an epsilon is promised for randomized cells; then those are refused that their
            distribution could not draw, since nothing hides them.
    """

    def __init__(
        self, site: EngineSnapshot, catalog: Catalog, randomness: Randomness, *, promised: bool = False
    ) -> None:
        self._site, self._randomness, self._promised = site, randomness, promised
        self.verified: list[Verification] = []
        self._persons, self._public = catalog.persons, catalog.public
        self._world = World({}, catalog.hierarchies, catalog.noise, catalog.bucket)

    def rows(
        self, plan: Plan, path: Path = (), *, numbered: bool = False, coded: bool = False
    ) -> LoweredRows:
        """The rows of a plan.

        Args:
            plan: what to compute.
            path: where it stands in the whole plan; random operators draw by it.
            numbered: whether the rows have ids.
            coded: whether labels may be codes of the engine; nothing that compares them may stand above.
        """
        rows = self._rows(plan, path, numbered, coded and self._site.has_codes)
        return rows if numbered else rows.without_ids()

    def _rows(self, plan: Plan, path: Path, numbered: bool, coded: bool) -> LoweredRows:
        match plan:
            case Relation(name, columns):
                return self._relation(name, columns, numbered)
            case Projection(child, onto, distinct):
                rows = self._child(child, path, numbered, coded and not distinct).onto(onto)
                return grouped(rows, onto, (), self._site) if distinct else rows
            case Selection(child, predicate):
                rows = self._child(child, path, numbered)
                kept = rows.table.filter(lowered(predicate, rows, self._site.like_escape))
                return LoweredRows(kept, rows.columns, rows.ids)
            case Rename(child):
                rows = self._child(child, path, numbered, coded)
                return LoweredRows(rows.table, plan.columns, rows.ids, rows.is_dense)
            case RowBound():
                return self._bound(plan, path)
            case Grouping(child, by, aggregates):
                return self._grouping(child, by, aggregates, path, numbered)
            case Generalization():
                return self._generalization(plan, path, numbered, coded)
            case ModelGeneralization():
                return self._under_models(plan, path, numbered)
            case SlicingNode():
                return self._slicing(plan, path, numbered)
            case Randomization():
                return self._randomization(plan, path, numbered)
        return self._binary(plan, path, numbered)

    def _child(self, child: Plan, path: Path, numbered: bool, coded: bool = False) -> LoweredRows:
        return self.rows(child, (*path, 0), numbered=numbered, coded=coded)

    def _reusable(self, child: Plan, path: Path, numbered: bool) -> LoweredRows:
        """The rows of a child that more than one statement reads: computed once if that is costly."""
        return self.kept(child, (*path, 0), numbered=numbered)

    def kept(self, child: Plan, path: Path, *, numbered: bool = False) -> LoweredRows:
        """The rows of a plan for more than one statement, with the same draws in all of them."""
        rows = self.rows(child, path, numbered=numbered)
        if all(
            isinstance(node, _PASSING) or (isinstance(node, Projection) and not node.distinct)
            for node in child.walk()
        ):
            return rows
        return LoweredRows(self._site.keep(rows.table), rows.columns, rows.ids, rows.is_dense)

    def _relation(self, name: str, columns: tuple[str, ...], numbered: bool) -> LoweredRows:
        rows = self._site.relation(name, numbered=numbered)
        if HIDDEN in columns:
            rows = with_person(rows, name, self._persons, self._site)
        missing = set(columns) - set(rows.columns)
        if missing:
            raise ColumnError(
                "algebra.relation-no-column",
                "The relation '{name}' has no column {missing}.",
                name=name,
                missing=", ".join(sorted(missing)),
            )
        return rows.onto(columns)

    def _binary(self, plan: Plan, path: Path, numbered: bool) -> LoweredRows:
        is_matching = isinstance(plan, Intersection | Difference)  # of the right, only multiplicities matter
        left, right = (
            self.rows(child, (*path, side), numbered=numbered and not (side and is_matching))
            for side, child in enumerate(plan.children)
        )
        match plan:
            case Union():
                return united(left, right)
            case Intersection() | Difference():
                return matched(left, right, keep_matches=isinstance(plan, Intersection))
            case Join():
                return joined(left, right, plan.on)
            case ThetaJoin():
                pairs = joined(left, right, frozenset())
                kept = pairs.table.filter(lowered(plan.predicate, pairs, self._site.like_escape))
                return LoweredRows(kept, pairs.columns, pairs.ids)
        raise ParameterError(
            "algebra.no-engine-knows-operator",
            "no engine knows the operator {name}",
            name=type(plan).__name__,
        )

    def _grouping(
        self,
        child: Plan,
        by: tuple[str, ...],
        aggregates: tuple[Aggregate, ...],
        path: Path,
        numbered: bool,
    ) -> LoweredRows:
        if not any(aggregate.noise for aggregate in aggregates):
            return grouped(self._child(child, path, numbered), by, aggregates, self._site)
        from tarnkappe.algebra.noisy.grouping import noisy_grouped  # loads OpenDP, which few queries need

        most = self._most_rows(child)
        return noisy_grouped(
            self._reusable(child, path, False), by, aggregates, most, self._world, self._site
        )

    def _most_rows(self, child: Plan) -> int:
        """How many rows of a plan may come or go with one person, or one row where nobody is declared."""
        return max(reach(child, self._persons, self._public).values())

    def _generalization(self, plan: Generalization, path: Path, numbered: bool, coded: bool) -> LoweredRows:
        names = sorted(set(plan.by) & set(plan.child.columns))
        if not names or plan.k == 1:
            return self._child(plan.child, path, numbered)
        from tarnkappe.algebra.lowering.generalizing import generalized  # loads the searches

        rows = self._reusable(plan.child, path, numbered)
        return generalized(rows, names, plan.k, self._world, self._site, plan.person, coded=coded)

    def _under_models(self, plan: ModelGeneralization, path: Path, numbered: bool) -> LoweredRows:
        from tarnkappe.algebra.lowering.modelled import generalized_under_models  # loads every model

        rows = self._reusable(plan.child, path, numbered)
        written, verified = generalized_under_models(rows, plan, self._world, self._site)
        self.verified += verified
        return written

    def _bound(self, plan: RowBound, path: Path) -> LoweredRows:
        if plan.person is None:
            raise ParameterError(
                "algebra.bound-keeps-some-rows",
                "bound keeps some rows of each person, and nobody is declared",
            )
        rows = self._child(plan.child, path, True)
        secret = self._site.secret(self._randomness.secret(path, "bound"))
        order = self._site.hashed(secret + id_as_text(rows.id))
        who = rows.cell(plan.person)
        marked = rows.table.mutate(b=ibis.row_number().over(group_by=who, order_by=order))
        kept = marked.filter((marked["b"] < plan.rows) & marked[who.get_name()].notnull())
        cells = [kept[f"c{n}"] for n in range(len(rows.columns))]
        return made(kept, rows.columns, cells, [kept[f"i{n}"] for n in range(rows.ids)])

    def _slicing(self, plan: SlicingNode, path: Path, numbered: bool) -> LoweredRows:
        plan.check()
        if len(plan.groups) == 1:
            return self._child(plan.child, path, numbered)
        rows = self._reusable(plan.child, path, True).renumbered()
        secrets = [self._randomness.secret(path, repr(group)) for group in plan.groups]
        return sliced(rows, plan.groups, secrets, plan.bucket or self._world.bucket, self._site)

    def _randomization(self, plan: Randomization, path: Path, numbered: bool) -> LoweredRows:
        noised = [
            (column, self._world.noise_of(column), p, self._randomness.secret(path, column))
            for column, p in plan.probabilities
            if p and column in plan.columns
        ]
        if not noised:
            return self._child(plan.child, path, numbered)
        rows = self._child(plan.child, path, True)
        return randomized(rows, noised, self._site, promised=self._promised)
