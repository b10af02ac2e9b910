"""A table made ready: encoded, with hierarchies, and the problem to be solved.

From here every node of the lattice can be released, the best one or any other that keeps the promises.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ColumnError, HierarchyError, NoSolutionError, Reason
from tarnkappe.hierarchy import Hierarchy, propose
from tarnkappe.job.column_plan import ColumnPlan, weigh
from tarnkappe.job.further_sensitive import FurtherSensitive
from tarnkappe.job.one_row_per_person import refuse_repeated_people
from tarnkappe.job.private_levels import with_private_levels
from tarnkappe.job.release import plain, random_order, release_table
from tarnkappe.job.result import Result
from tarnkappe.job.sampling import draw_sample
from tarnkappe.job.timings import Stopwatch
from tarnkappe.job.verification import verify_release
from tarnkappe.lattice import Node, SearchProblem, Solution
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model, needed_distributions, satisfied
from tarnkappe.recoding import CellTreatment, Pass, Recoded, Recoding, Suppression, describe_passes, recode
from tarnkappe.recoding.written import LEFT_OUT
from tarnkappe.risk import attack_all
from tarnkappe.table import Column, Levels, Role, Table, Tuples
from tarnkappe.table.encoding import Counts, Progress
from tarnkappe.table.row_tuples import row_tuples
from tarnkappe.table.spelling.alike import one_way_each


@dataclasses.dataclass(frozen=True, eq=False)
class Preparation:
    """Everything that a release of any node needs.

    Attributes:
        table: the input.
        population: everybody who could be in it, if given.
        rows: the rows as codes, of the input and then of the population.
        hierarchies: how each column generalizes.
        problem: what is to be solved.
        treatment: what is done to quasi-identifiers beside generalizing them.
        judged: the columns that models look at beside the quasi-identifiers.
        shuffle: whether to release the rows in a random order.
        seed: makes that order reproducible in tests.
        seconds: how long reading and encoding took.
        further: the sensitive columns of which cells are suppressed, if there are any.
        respelled: the sensitive columns in which values were written in several ways, and how many are gone.
    """

    table: Table
    population: Table | None
    rows: Tuples
    hierarchies: Mapping[str, Hierarchy]
    problem: SearchProblem
    treatment: CellTreatment
    judged: tuple[str, ...]
    shuffle: bool
    seed: int | None
    seconds: Mapping[str, float]
    further: FurtherSensitive | None = None
    respelled: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def release(
        self, solution: Solution, watch: Stopwatch | None = None, recoding: Recoding | None = None
    ) -> Result:
        """Apply the best node of a solution, or its passes, to every row, and verify the outcome in SQL."""
        assert solution.best is not None
        nodes = solution.passes or (solution.best.node,)
        watch = watch or Stopwatch(self.seconds)
        names, models = self.table.quasi_identifiers, self.problem.models
        with watch.stage("transform"):
            # Searches work on merged tuples; here the nodes are applied anew to every row.
            recoded = recode(self.rows, names, nodes, models, self.treatment, self.counted)
            if not satisfied(recoded.state, models, self.problem.limit):
                raise NoSolutionError.because(_spoiled(recoded, self.problem))
        passes = self._passes(solution, nodes, recoded)
        return self.hand_over(recoded, solution, watch, passes=passes, recoding=recoding)

    @property
    def counted(self) -> tuple[tuple[str, ...], ...]:
        """The distributions that models, loss and attacks look at."""
        sensitive = ((name,) for name in self.table.sensitive)
        return tuple(dict.fromkeys([*self.problem.distributions, *sensitive]))

    def hand_over(
        self,
        recoded: Recoded,
        solution: Solution,
        watch: Stopwatch,
        *,
        passes: tuple[Pass, ...] = (),
        recoding: Recoding | None = None,
    ) -> Result:
        """The release of recoded rows, verified in SQL."""
        table, names = self.table, self.table.quasi_identifiers
        with watch.stage("transform"):
            chosen = np.flatnonzero(recoded.released[: table.num_rows])
            chosen = chosen[random_order(len(chosen), self.seed)] if self.shuffle else chosen
            release = release_table(table, self._written(recoded, 0, table.num_rows), chosen)
            if self.further is not None:
                release = self.further.suppress(release, self.seed)
            judged = [n for n in self.judged if n not in release.column_names]
            withheld = pa.table({n: plain(table.data.column(n)).take(pa.array(chosen)) for n in judged})
            everyone = None
            if self.population is not None:
                whole = self.population.with_roles(dict.fromkeys(names, Role.QUASI_IDENTIFIER))
                theirs = self._written(recoded, table.num_rows, self.rows.num_tuples)
                everyone = release_table(whole, theirs, np.arange(whole.num_rows))
        result = Result(
            input=table,
            release=release,
            problem=self.problem,
            solution=solution,
            state=recoded.state,
            hierarchies=self.hierarchies,
            population=everyone,
            withheld=withheld,
            seconds=watch.seconds,
            passes=passes,
            recoding=recoding,
            source_rows=chosen,
            pass_of_row=recoded.parts[: table.num_rows][chosen],
            treatment=self.treatment,
            aggregates=recoded.aggregates,
            attacks=tuple(attack_all(recoded.state)),
            further=self.further,
            prepared=self,
        )
        with watch.stage("verify"):
            return verify_release(result, release.data)

    def _written(self, recoded: Recoded, start: int, stop: int) -> dict[str, pa.Array]:
        return {name: written.rows(start, stop) for name, written in recoded.written.items()}

    def _passes(self, solution: Solution, nodes: Sequence[Node], recoded: Recoded) -> tuple[Pass, ...]:
        if len(nodes) > 1:
            return describe_passes(self.problem, self.rows, nodes, recoded.parts)
        assert solution.best is not None
        levels = dict(zip(self.problem.quasi_identifiers, nodes[0], strict=True))
        kept = int(self.rows.counts[recoded.parts != LEFT_OUT].sum())
        return (Pass(levels, kept, recoded.state.num_kept, solution.best.loss),)


def prepare(
    table: Table,
    plans: Mapping[str, ColumnPlan],
    models: Sequence[Model],
    loss: Loss,
    *,
    suppression_limit: float = 0.0,
    suppression: Suppression | str = Suppression.RECORD,
    population: Table | None = None,
    shuffle: bool = True,
    several_rows_per_person: bool = False,
    further: FurtherSensitive | None = None,
    seed: int | None = None,
    counts: Counts | None = None,
    watch: Stopwatch | None = None,
    progress: Progress | None = None,
) -> Preparation:
    """Encode a table and say what is to be solved; whatever does not fit is refused here.

    Where an engine has merged equal rows of the table, `counts` tells how many each stands for.
    """
    watch = watch or Stopwatch()
    if not table.quasi_identifiers:
        raise ColumnError(
            "job.no-column-quasi-identifier",
            "no column is a quasi-identifier: say which columns an attacker may know",
        )
    if not several_rows_per_person:
        refuse_repeated_people(table)
    treatment = _treatment(plans, Suppression.parse(suppression))
    treatment.check(models, has_population=population is not None)
    if further is not None:
        further.check(table, models)
    loss = weigh(loss, plans)
    table, respelled = one_way_each(table, shown_and_counted(table, models))
    if respelled and counts is not None:
        raise ColumnError(
            "job.values-written-several-ways",
            "'{name}' is sensitive and has values that differ in case or blanks alone, which people read as "
            "one: write each in one way where the rows are (upper(trim({name}))), or use engine = 'memory', "
            "which does so",
            name=next(iter(respelled)),
        )
    plans = with_private_levels(
        table, models, plans, loss, suppression_limit, lambda whole: _tuples_of(whole, plans), progress
    )
    table = draw_sample(table, models, plans, suppression_limit, seed)
    with watch.stage("encode"):
        looked_at = [*needed_distributions(models), *loss.distributions]
        needed = dict.fromkeys(table.require(name) for names in looked_at for name in names)
        others = [n for n in dict.fromkeys([*needed, *table.sensitive]) if n not in table.quasi_identifiers]
        rows = row_tuples(
            table,
            table.quasi_identifiers,
            others,
            population=population,
            counts=counts,
            progress=progress,
        )
        hierarchies = _hierarchies(rows, plans, table)
        rows = rows.with_levels({n: _encoded(h, rows.columns[n], plans) for n, h in hierarchies.items()})
        tuples = rows.select(dict.fromkeys([*table.quasi_identifiers, *needed])).distinct()
        limits = _level_limits(plans, tuples)
        problem = SearchProblem(
            tuples, table.quasi_identifiers, tuple(models), loss, suppression_limit, limits
        )
    judged = tuple(needed)
    return Preparation(
        table,
        population,
        rows,
        hierarchies,
        problem,
        treatment,
        judged,
        shuffle,
        seed,
        dict(watch.seconds),
        further,
        respelled,
    )


def _tuples_of(table: Table, plans: Mapping[str, ColumnPlan]) -> Tuples:
    """The distinct tuples of a table, with the levels of its quasi-identifiers."""
    rows = row_tuples(table, table.quasi_identifiers)
    hierarchies = _hierarchies(rows, plans, table)
    rows = rows.with_levels({n: _encoded(h, rows.columns[n], plans) for n, h in hierarchies.items()})
    return rows.distinct()


def shown_and_counted(table: Table, models: Sequence[Model]) -> list[str]:
    """The columns whose released values a promise may count, whatever role they were given."""
    counted = [name for names in needed_distributions(models) for name in names]
    shown = {*table.published} - {*table.quasi_identifiers}
    return [name for name in dict.fromkeys([*table.sensitive, *counted]) if name in shown]


def _treatment(plans: Mapping[str, ColumnPlan], suppression: Suppression) -> CellTreatment:
    for name, plan in plans.items():
        plan.check(name)
    return CellTreatment(
        {name: plan.aggregate for name, plan in plans.items() if plan.aggregate is not None},
        {name: plan.order for name, plan in plans.items() if plan.order is not None},
        frozenset(name for name, plan in plans.items() if plan.suppressed),
        suppression,
    )


def _hierarchies(rows: Tuples, plans: Mapping[str, ColumnPlan], table: Table) -> dict[str, Hierarchy]:
    """The hierarchy of every quasi-identifier (proposed where none is given) and of other columns."""
    found: dict[str, Hierarchy] = {}
    for name, column in rows.columns.items():
        plan = plans.get(name, ColumnPlan())
        hierarchy = plan.hierarchy_for(column)
        if hierarchy is None and name in table.quasi_identifiers:
            hierarchy = propose(column).hierarchy
        if hierarchy is not None:
            found[name] = hierarchy
    return found


def _encoded(hierarchy: Hierarchy, column: Column, plans: Mapping[str, ColumnPlan]) -> Levels:
    """The levels of a column; an error names the file that the hierarchy comes from."""
    try:
        return hierarchy.encode(column)
    except HierarchyError as error:
        plan = plans.get(column.name, ColumnPlan()).hierarchy
        raise (error.within(plan) if isinstance(plan, str) else error) from None


def _level_limits(plans: Mapping[str, ColumnPlan], tuples: Tuples) -> dict[str, tuple[int, int]]:
    limits: dict[str, tuple[int, int]] = {}
    for name, plan in plans.items():
        if plan.has_level_limits:
            levels = tuples.columns[name].levels if name in tuples.columns else None
            limits[name] = plan.level_limits(0 if levels is None else levels.height)
    return limits


def _spoiled(recoded: Recoded, problem: SearchProblem) -> Reason:
    promised = ", ".join(map(str, problem.models))
    return Reason(
        "job.would-written-release-not-meet",
        "as it would be written, the release does not meet {promised} with at most {limit} rows suppressed "
        "({suppressed_rows} would have to be): aggregates tell groups apart that labels would not; "
        "generalize instead, or raise the suppression limit",
        promised=promised,
        limit=problem.limit,
        suppressed_rows=recoded.state.suppressed_rows,
    )
