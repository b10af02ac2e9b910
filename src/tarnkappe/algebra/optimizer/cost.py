"""What a plan costs, estimated from statistics: an order among equal plans, no prediction of seconds.

The unit is the work on one cell. What is not known of the data is assumed here, and only here: a wrong
assumption makes a plan slower, never wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tarnkappe.algebra.expressions import (
    And,
    ComparisonPredicate,
    Expression,
    IsNull,
    Like,
    Literal,
    Not,
    OneOf,
    Or,
)
from tarnkappe.algebra.nodes import (
    Anonymization,
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.plan import Binary, Plan
from tarnkappe.algebra.statistics import RelationStatistics, Statistics
from tarnkappe.errors import ParameterError

ASSUMED_ROWS = 1_000_000
ASSUMED_SHARE = 0.1
"""Of rows that LIKE, IS NULL or a comparison of columns keeps."""
ASSUMED_RANGE = 1 / 3
PASS = 0.01
"""To hand a cell on in a pipeline."""
MATERIALIZE = 0.2
"""To keep a cell until all rows are seen, as generalization, slicing and joins must."""
COUNT, LIFT, DRAW, COMPARE, SORT = 2.0, 1.0, 2.0, 0.2, 0.3
LEVELS = 4
"""Assumed levels of a hierarchy: the search tries their combinations on the distinct tuples."""
MOST_NODES = 256


@dataclass(frozen=True, order=True)
class PlanCost:
    """How good a plan is; smaller is better, the first difference decides.

    Attributes:
        time: the work on the longest way, with the parts of unions and joins side by side.
        exposure: how often raw rows reach a union or join before any anonymization.
        operators: how many operators the plan has.
    """

    time: float
    exposure: int
    operators: int


@dataclass
class CardinalityEstimator:
    """Estimates for plans over base relations with some statistics.

    Attributes:
        statistics: what is known of base relations.
        parallelism: how many parts of a union or join can be worked on at the same time.
    """

    statistics: Statistics
    parallelism: int = 1
    _rows: dict[int, tuple[float, Plan]] = field(default_factory=dict, repr=False)
    _times: dict[int, tuple[float, Plan]] = field(default_factory=dict, repr=False)
    """By identity, since rewriting shares the parts that it does not change, and hashing trees is slow; the
    plan stands beside its number, so that its identity is not given to another one."""

    def __post_init__(self) -> None:
        if self.parallelism < 1:
            raise ParameterError(
                "algebra.parallelism-must-least-1",
                "the parallelism must be at least 1, not {parallelism}",
                parallelism=self.parallelism,
            )

    def cost(self, plan: Plan) -> PlanCost:
        """The cost of a plan. Times are rounded, so that the same work in another order is no difference."""
        time = float(f"{self.time(plan):.9g}")
        return PlanCost(time, _exposure(plan, 0), sum(1 for _ in plan.walk()))

    def rows(self, plan: Plan) -> float:
        """About how many rows the result has."""
        if id(plan) not in self._rows:
            self._rows[id(plan)] = self._estimated_rows(plan), plan
        return self._rows[id(plan)][0]

    def distinct(self, plan: Plan, column: str) -> float:
        """About how many different values a column of the result has."""
        match plan:
            case Relation(name):
                known = self.statistics.get(name, RelationStatistics()).distinct(column)
                found = math.sqrt(self.rows(plan)) if known is None else float(known)
            case Rename(child, names):
                old = {new: before for before, new in names}
                found = self.distinct(child, old.get(column, column))
            case Grouping(child, by) if column not in by:
                found = self.rows(plan)
            case Union(left, right):
                found = self.distinct(left, column) + self.distinct(right, column)
            case _:
                owners = [child for child in plan.children if column in child.schema]
                found = min((self.distinct(child, column) for child in owners), default=1.0)
        return max(1.0, min(found, self.rows(plan)))

    def time(self, plan: Plan) -> float:
        """The work on the longest way to the result."""
        if id(plan) not in self._times:
            parts = _parts(plan) if isinstance(plan, Union) else list(plan.children)
            own = sum(map(self._own_work, _unions(plan) if isinstance(plan, Union) else [plan]))
            self._times[id(plan)] = own + self._side_by_side([self.time(part) for part in parts]), plan
        return self._times[id(plan)][0]

    def _side_by_side(self, times: list[float]) -> float:
        return max(max(times, default=0.0), sum(times) / self.parallelism)

    def _estimated_rows(self, plan: Plan) -> float:
        match plan:
            case Relation(name):
                known = self.statistics.get(name, RelationStatistics()).rows
                return float(ASSUMED_ROWS if known is None else known)
            case Selection(child, predicate):
                return self.rows(child) * self._share(predicate, child)
            case Projection(child, onto, True):
                return min(self.rows(child), self._combinations(child, onto))
            case Grouping(child, by):
                return min(self.rows(child), self._combinations(child, by))
            case Union(left, right):
                return self.rows(left) + self.rows(right)
            case Intersection(left, right):
                return min(self.rows(left), self.rows(right))
            case Difference(left):
                return self.rows(left)
            case Join(left, right):
                pairs = self.rows(left) * self.rows(right)
                for column in plan.on:
                    pairs /= max(self.distinct(left, column), self.distinct(right, column))
                return pairs
            case ThetaJoin(left, right):
                return self.rows(left) * self.rows(right) * ASSUMED_SHARE
        return self.rows(plan.children[0])

    def _combinations(self, plan: Plan, columns: tuple[str, ...]) -> float:
        return math.prod((self.distinct(plan, column) for column in columns), start=1.0)

    def _share(self, predicate: Expression, below: Plan) -> float:
        """About which share of rows a predicate keeps."""
        match predicate:
            case ComparisonPredicate("=", left, right):
                return self._equal_share(left, right, below)
            case ComparisonPredicate("<>", left, right):
                return 1 - self._equal_share(left, right, below)
            case ComparisonPredicate():
                return ASSUMED_RANGE
            case OneOf(expression, constants):
                return min(1.0, len(constants) * self._value_share(expression, below))
            case Not(operand):
                return 1 - self._share(operand, below)
            case And(operands):
                return math.prod(self._share(operand, below) for operand in operands)
            case Or(operands):
                return 1 - math.prod(1 - self._share(operand, below) for operand in operands)
            case Like() | IsNull():
                return ASSUMED_SHARE
        return ASSUMED_SHARE

    def _equal_share(self, left: Expression, right: Expression, below: Plan) -> float:
        if isinstance(right, Literal) or isinstance(left, Literal):
            return self._value_share(left if isinstance(right, Literal) else right, below)
        return ASSUMED_SHARE

    def _value_share(self, expression: Expression, below: Plan) -> float:
        return 1 / self._combinations(below, tuple(expression.columns))

    def _own_work(self, plan: Plan) -> float:
        if isinstance(plan, Relation):
            return 0.0
        cells = [self.rows(child) * len(child.columns) for child in plan.children]
        match plan:
            case Projection(child, onto, distinct):
                return self.rows(child) * len(onto) * (COUNT if distinct else PASS)
            case Selection(child, predicate):
                return self.rows(child) * len(predicate.columns) * COMPARE + PASS * cells[0]
            case Generalization(child, by):
                there = tuple(column for column in by if column in child.schema)
                tuples = min(self.rows(child), self._combinations(child, there))
                search = tuples * len(there) * min(float(LEVELS) ** len(there), MOST_NODES)
                return self.rows(child) * len(there) * (COUNT + LIFT) + search + MATERIALIZE * cells[0]
            case SlicingNode(child, groups):
                order = math.log2(self.rows(child) + 2)
                return self.rows(child) * order * len(groups) * SORT + MATERIALIZE * cells[0]
            case Randomization(child, probabilities):
                return self.rows(child) * len(probabilities) * DRAW + PASS * cells[0]
            case Grouping(child, by, aggregates):
                return self.rows(child) * (len(by) + len(aggregates)) * COUNT
            case Join() | ThetaJoin():
                return MATERIALIZE * sum(cells) + PASS * self.rows(plan) * len(plan.columns)
            case Intersection() | Difference():
                return COUNT * sum(cells)
        return PASS * sum(cells)


def _parts(plan: Plan) -> list[Plan]:
    """What a tree of unions unites."""
    return [part for child in plan.children for part in _parts(child)] if isinstance(plan, Union) else [plan]


def _unions(plan: Plan) -> list[Plan]:
    if not isinstance(plan, Union):
        return []
    return [plan, *_unions(plan.left), *_unions(plan.right)]


def _exposure(plan: Plan, meetings: int) -> int:
    """For all leaves together: the unions and joins that its rows reach before an anonymization."""
    if isinstance(plan, Anonymization):
        meetings = 0
    elif isinstance(plan, Binary):
        meetings += 1
    if not plan.children:
        return meetings
    return sum(_exposure(child, meetings) for child in plan.children)
