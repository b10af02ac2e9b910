"""What is known of the data that a rule moves an operator over. What is not known is never guessed.

Rules ask `Facts`. `DeclaredFacts` derives the answers from what is declared of base relations, for plans
that will run on data too large to look at; `MeasuredFacts` looks at the data of one small world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from tarnkappe.algebra.distribution import Distribution, Rows
from tarnkappe.algebra.nodes import (
    Anonymization,
    Generalization,
    Plan,
    Projection,
    Randomization,
    Relation,
    Selection,
    Slicing,
    Union,
)
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.world import World

Columns = Collection[str]


class Facts(ABC):
    """The questions of the rules. A `False` or `None` means: not known."""

    bucket: int | None
    """The least number of rows in a bucket of slicing, if it may be known."""
    stable_buckets: bool
    """Whether two slicings of the same rows cut the same buckets."""

    @abstractmethod
    def is_static(self, column: str) -> bool:
        """Whether the column's noise is the same for all old values."""

    @abstractmethod
    def fewest_rows(self, plan: Plan) -> int:
        """A number of rows that the result is known not to fall below."""

    @abstractmethod
    def row_count(self, plan: Plan) -> int | None:
        """The exact number of rows of the result."""

    @abstractmethod
    def is_unique(self, plan: Plan, columns: Columns) -> bool:
        """Whether no two rows of the result agree on all these columns."""

    @abstractmethod
    def has_partners(self, left: Plan, right: Plan, columns: Columns) -> bool:
        """Whether every row of the left finds a row of the right that agrees on these columns."""

    @abstractmethod
    def same_order(self, left: Plan, right: Plan, columns: Columns) -> bool:
        """Whether both results list the same values of these columns in the same order."""

    def same_keys(self, left: Plan, right: Plan, columns: Columns) -> bool:
        """Whether the columns are a key of both, with the same values: the parts of a vertical cut."""
        return (
            self.is_unique(left, columns)
            and self.is_unique(right, columns)
            and self.has_partners(left, right, columns)
            and self.has_partners(right, left, columns)
        )


@dataclass(frozen=True)
class DeclaredFacts(Facts):
    """Facts that hold on all data for which the declarations are true.

    Attributes:
        rows: the exact number of rows of a base relation.
        least_rows: a number of rows that a base relation does not fall below.
        keys: the keys of a base relation, each a set of columns.
        inclusions: pairs of base relations (left, right) and columns: every combination of values of these
            columns that the left has, the right has too.
        orders: sets of base relations that store the same values of these columns in the same order.
        static_noise: the columns whose noise does not depend on the old value.
        counted: plans whose rows were counted, such as a selection before a generalization is moved onto it.
    """

    rows: Mapping[str, int] = field(default_factory=dict)
    least_rows: Mapping[str, int] = field(default_factory=dict)
    keys: Mapping[str, Collection[frozenset[str]]] = field(default_factory=dict)
    inclusions: Collection[tuple[str, str, frozenset[str]]] = ()
    orders: Collection[tuple[frozenset[str], frozenset[str]]] = ()
    static_noise: Collection[str] = ()
    counted: Mapping[Plan, int] = field(default_factory=dict)
    bucket: int | None = None
    stable_buckets: bool = False

    def is_static(self, column: str) -> bool:
        return column in self.static_noise

    def fewest_rows(self, plan: Plan) -> int:
        if plan in self.counted:
            return self.counted[plan]
        match plan:
            case Relation(name):
                return max(self.rows.get(name, 0), self.least_rows.get(name, 0))
            case Union(left, right):
                return self.fewest_rows(left) + self.fewest_rows(right)
            case Projection(child, _, distinct):
                return min(1, self.fewest_rows(child)) if distinct else self.fewest_rows(child)
            case Anonymization():
                return self.fewest_rows(plan.child)
        return 0

    def row_count(self, plan: Plan) -> int | None:
        if plan in self.counted:
            return self.counted[plan]
        match plan:
            case Relation(name):
                return self.rows.get(name)
            case Union(left, right):
                counts = self.row_count(left), self.row_count(right)
                return None if None in counts else sum(count or 0 for count in counts)
            case Projection(child, _, False):
                return self.row_count(child)
            case Anonymization():
                return self.row_count(plan.child)
        return None

    def is_unique(self, plan: Plan, columns: Columns) -> bool:
        match plan:
            case Relation(name):
                return any(key <= set(columns) for key in self.keys.get(name, ()))
            case Projection(child, onto, distinct):
                kept = set(columns) & set(onto)
                return (distinct and set(onto) <= kept) or self.is_unique(child, kept)
            case Selection(child):
                return self.is_unique(child, columns)
            case Slicing(child, groups):
                return any(self.is_unique(child, set(columns) & set(group)) for group in groups)
            case Generalization() | Randomization():
                return self.is_unique(plan.child, set(columns) - plan.attributes)
        return False

    def has_partners(self, left: Plan, right: Plan, columns: Columns) -> bool:
        lefts = _origin(left, columns, may_lose_rows=True)
        rights = _origin(right, columns, may_lose_rows=False)
        if lefts is None or rights is None:
            return False
        return lefts == rights or any(
            (lefts, rights) == (a, b) and set(columns) <= known for a, b, known in self.inclusions
        )

    def same_order(self, left: Plan, right: Plan, columns: Columns) -> bool:
        lefts = _origin(left, columns, may_lose_rows=False)
        rights = _origin(right, columns, may_lose_rows=False)
        if lefts is None or rights is None:
            return False
        return lefts == rights or any(
            {lefts, rights} <= names and set(columns) <= known for names, known in self.orders
        )


def _origin(plan: Plan, columns: Columns, *, may_lose_rows: bool) -> str | None:
    """The base relation whose rows, in their order, give the result its values of these columns."""
    match plan:
        case Relation(name):
            return name
        case Projection(child, onto, False) if set(columns) <= set(onto):
            return _origin(child, columns, may_lose_rows=may_lose_rows)
        case Generalization() | Randomization() if not plan.attributes & set(columns):
            return _origin(plan.child, columns, may_lose_rows=may_lose_rows)
        case Selection(child) if may_lose_rows:
            return _origin(child, columns, may_lose_rows=True)
    return None


@dataclass(frozen=True)
class MeasuredFacts(Facts):
    """Facts that hold in one small world, found by evaluating plans in it; true whatever chance brings."""

    world: World
    results: dict[Plan, Distribution] = field(default_factory=dict, compare=False, repr=False)

    @property
    def bucket(self) -> int | None:  # type: ignore[override]
        return self.world.bucket

    @property
    def stable_buckets(self) -> bool:  # type: ignore[override]
        return self.world.stable_buckets

    def is_static(self, column: str) -> bool:
        return self.world.noise_of(column).is_static

    def fewest_rows(self, plan: Plan) -> int:
        return min(self._result(plan).row_counts)

    def row_count(self, plan: Plan) -> int | None:
        counts = self._result(plan).row_counts
        return min(counts) if len(counts) == 1 else None

    def is_unique(self, plan: Plan, columns: Columns) -> bool:
        return all(max(Counter(keys).values(), default=1) == 1 for keys in self._keys(plan, columns))

    def has_partners(self, left: Plan, right: Plan, columns: Columns) -> bool:
        sides = [set(map(frozenset, self._keys(plan, columns))) for plan in (left, right)]
        return all(mine <= its for mine in sides[0] for its in sides[1])

    def same_order(self, left: Plan, right: Plan, columns: Columns) -> bool:
        return len({*self._keys(left, columns), *self._keys(right, columns)}) == 1

    def _keys(self, plan: Plan, columns: Columns) -> Iterator[Rows]:
        positions = [plan.columns.index(column) for column in sorted(columns)]
        for rows, _ in self._result(plan):
            yield tuple(tuple(row[i] for i in positions) for row in rows)

    def _result(self, plan: Plan) -> Distribution:
        if plan not in self.results:
            self.results[plan] = evaluate(plan, self.world, ordered=True)
        return self.results[plan]
