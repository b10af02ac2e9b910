"""What is known of the data that a rule moves an operator over. What is not known is never guessed.

Rules ask `Facts`. `DeclaredFacts` derives the answers from what is declared of base relations, for plans
that will run on data too large to look at; it notes which declarations an answer rests on, so that an engine
can verify them before anything relies on them. `MeasuredFacts` looks at the data of one small world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from tarnkappe.algebra.distribution import OutcomeDistribution, Rows
from tarnkappe.algebra.expressions import (
    ColumnRef,
    ComparisonPredicate,
    IsNull,
    Like,
    Not,
    OneOf,
    Predicate,
    conjuncts,
)
from tarnkappe.algebra.nodes import (
    Anonymization,
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
    Selection,
    SlicingNode,
    ThetaJoin,
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
    def same_hierarchy(self, old: str, new: str) -> bool:
        """Whether a column that is renamed from old to new rises in the same hierarchy as before."""

    @abstractmethod
    def same_noise(self, old: str, new: str) -> bool:
        """Whether a column that is renamed from old to new has the same noise as before."""

    @abstractmethod
    def fewest_rows(self, plan: Plan) -> int:
        """A number of rows that the result is known not to fall below."""

    @abstractmethod
    def row_count(self, plan: Plan) -> int | None:
        """The exact number of rows of the result."""

    @abstractmethod
    def is_unique(self, plan: Plan, columns: Columns) -> bool:
        """Whether no two rows of the result agree on all these columns; missing values agree."""

    @abstractmethod
    def is_not_null(self, plan: Plan, columns: Columns) -> bool:
        """Whether no row of the result lacks a value of one of these columns."""

    @abstractmethod
    def has_partners(self, left: Plan, right: Plan, columns: Columns) -> bool:
        """Whether every row of the left finds a row of the right that a join on these columns pairs it with.

        A row without a value of such a column finds none, not even one that lacks it, too.
        """

    @abstractmethod
    def same_order(self, left: Plan, right: Plan, columns: Columns) -> bool:
        """Whether both results list the same values of these columns in the same order."""

    def same_keys(self, left: Plan, right: Plan, columns: Columns) -> bool:
        """Whether the columns are a key of both, with the same values: the parts of a vertical cut.

        As every row has a partner, no value of the key is missing.
        """
        return (
            self.is_unique(left, columns)
            and self.is_unique(right, columns)
            and self.has_partners(left, right, columns)
            and self.has_partners(right, left, columns)
        )


@dataclass(frozen=True)
class Declaration:
    """One thing that is said of a base relation, as an engine can verify it.

    Attributes:
        what: key, not_null, within, ordered_like, least_rows or person: as a catalog calls it.
        relation: of which it is said.
        columns: about which columns.
        other: the other relation, for `within` and `ordered_like`.
        number: the least number of rows, or the most rows of one person.
    """

    what: str
    relation: str
    columns: frozenset[str] = frozenset()
    other: str = ""
    number: int = 0

    def __str__(self) -> str:
        named = ", ".join(f"'{column}'" for column in sorted(self.columns))
        said = {
            "key": f"{named} is a key of '{self.relation}'",
            "not_null": f"{named} is never missing in '{self.relation}'",
            "within": f"every {named} of '{self.relation}' is in '{self.other}'",
            "ordered_like": f"'{self.relation}' and '{self.other}' store the same {named} in the same order",
            "least_rows": f"'{self.relation}' has at least {self.number} rows",
            "person": f"every row of '{self.relation}' is of another person, by {named}"
            if self.number <= 1
            else f"nobody has more than {self.number} rows of '{self.relation}', by {named}",
        }
        return said[self.what]


@dataclass(frozen=True)
class DeclaredFacts(Facts):
    """Facts that hold on all data for which the declarations are true.

    Attributes:
        rows: the exact number of rows of a base relation.
        least_rows: a number of rows that a base relation does not fall below.
        keys: the keys of a base relation, each a set of columns: none is missing, and no two rows agree.
        not_null: the columns of a base relation that are never missing.
        inclusions: pairs of base relations (left, right) and columns: every row of the left has a value of
            each of these columns, and the right has the same combination.
        orders: sets of base relations that store the same values of these columns in the same order.
        static_noise: the columns whose noise does not depend on the old value.
        hierarchies: the columns that have a hierarchy by their own name; by another one they take it along.
        noise: the same of noise.
        counted: plans whose rows were counted, such as a selection before a generalization is moved onto it.
        used: the declarations that answers so far rest on.
    """

    rows: Mapping[str, int] = field(default_factory=dict)
    least_rows: Mapping[str, int] = field(default_factory=dict)
    keys: Mapping[str, Collection[frozenset[str]]] = field(default_factory=dict)
    not_null: Mapping[str, Collection[str]] = field(default_factory=dict)
    inclusions: Collection[tuple[str, str, frozenset[str]]] = ()
    orders: Collection[tuple[frozenset[str], frozenset[str]]] = ()
    static_noise: Collection[str] = ()
    hierarchies: Collection[str] = ()
    noise: Collection[str] = ()
    counted: Mapping[Plan, int] = field(default_factory=dict)
    bucket: int | None = None
    stable_buckets: bool = False
    used: dict[Declaration, None] = field(default_factory=dict, compare=False, repr=False)

    def is_static(self, column: str) -> bool:
        return column in self.static_noise

    def same_hierarchy(self, old: str, new: str) -> bool:
        return old in self.hierarchies and new not in self.hierarchies

    def same_noise(self, old: str, new: str) -> bool:
        return old in self.noise and new not in self.noise

    def fewest_rows(self, plan: Plan) -> int:
        if plan in self.counted:
            return self.counted[plan]
        match plan:
            case Relation(name):
                counted, declared = self.rows.get(name, 0), self.least_rows.get(name, 0)
                if declared > counted:
                    self._use(Declaration("least_rows", name, number=declared))
                return max(counted, declared)
            case Union(left, right):
                return self.fewest_rows(left) + self.fewest_rows(right)
            case Projection(child, _, distinct):
                return min(1, self.fewest_rows(child)) if distinct else self.fewest_rows(child)
            case Anonymization() | Rename():
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
            case Anonymization() | Rename():
                return self.row_count(plan.child)
        return None

    def is_unique(self, plan: Plan, columns: Columns) -> bool:
        match plan:
            case Relation(name):
                found = next((key for key in self.keys.get(name, ()) if key <= set(columns)), None)
                return found is not None and self._use(Declaration("key", name, found))
            case Projection(child, onto, distinct):
                kept = set(columns) & set(onto)
                return (distinct and set(onto) <= kept) or self.is_unique(child, kept)
            case Selection(child):
                return self.is_unique(child, columns)
            case SlicingNode(child, groups):
                return any(self.is_unique(child, set(columns) & set(group)) for group in groups)
            case Generalization() | Randomization():
                return self.is_unique(plan.child, set(columns) - plan.attributes)
            case Rename(child, names):
                old = {new: before for before, new in names}
                return self.is_unique(child, {old.get(column, column) for column in columns})
            case Grouping(child, by):
                return set(by) <= set(columns)
        return False

    def is_not_null(self, plan: Plan, columns: Columns) -> bool:
        return all(self._always_has(plan, column) for column in columns)

    def _always_has(self, plan: Plan, column: str) -> bool:
        """Whether a column of the result is never missing."""
        match plan:
            case Relation(name):
                return self._is_stored(name, column)
            case Selection(child, predicate):
                return column in _demanded(predicate) or self._always_has(child, column)
            case ThetaJoin(_, _, predicate) if column in _demanded(predicate):
                return True
            case Join() if column in plan.on:
                return True
            case Join(left, right) | ThetaJoin(left, right):
                return self._always_has(left if column in left.schema else right, column)
            case Union(left, right):
                return self._always_has(left, column) and self._always_has(right, column)
            case Intersection(left, right):
                return self._always_has(left, column) or self._always_has(right, column)
            case Difference(left):
                return self._always_has(left, column)
            case Rename(child, names):
                return self._always_has(child, {new: old for old, new in names}.get(column, column))
            case Grouping(child, by):
                return column in by and self._always_has(child, column)
            case Randomization(child) if column in plan.attributes:
                return False  # what is drawn may be the missing value
        return self._always_has(plan.children[0], column)

    def _is_stored(self, name: str, column: str) -> bool:
        if column in self.not_null.get(name, ()):
            return self._use(Declaration("not_null", name, frozenset({column})))
        for key in self.keys.get(name, ()):
            if column in key:
                return self._use(Declaration("key", name, key))
        for left, right, known in self.inclusions:
            if left == name and column in known:
                return self._use(Declaration("within", left, known, right))
        return False

    def has_partners(self, left: Plan, right: Plan, columns: Columns) -> bool:
        lefts = _origin(left, columns, may_lose_rows=True)
        rights = _origin(right, columns, may_lose_rows=False)
        if lefts is None or rights is None or not self._includes(lefts, rights, columns):
            return False
        return self.is_not_null(left, columns)

    def _includes(self, left: str, right: str, columns: Columns) -> bool:
        for a, b, known in self.inclusions:
            if (left, right) == (a, b) and set(columns) <= known:
                return self._use(Declaration("within", a, known, b))
        return left == right

    def same_order(self, left: Plan, right: Plan, columns: Columns) -> bool:
        lefts = _origin(left, columns, may_lose_rows=False)
        rights = _origin(right, columns, may_lose_rows=False)
        if lefts is None or rights is None:
            return False
        for names, known in self.orders:
            if {lefts, rights} == names and set(columns) <= known:
                first, second = sorted(names)
                return self._use(Declaration("ordered_like", first, known, second))
        return lefts == rights

    def _use(self, declaration: Declaration) -> bool:
        self.used[declaration] = None
        return True


def _demanded(predicate: Predicate) -> set[str]:
    """The columns without whose value no row fulfils a predicate."""
    return {column for conjunct in conjuncts(predicate) for column in _needed(conjunct)}


def _needed(predicate: Predicate) -> Iterator[str]:
    match predicate:
        case ComparisonPredicate(_, left, right):
            yield from (side.name for side in (left, right) if isinstance(side, ColumnRef))
        case OneOf(ColumnRef(name)) | Like(ColumnRef(name)) | Not(IsNull(ColumnRef(name))):
            yield name
        case Not(ComparisonPredicate() | OneOf() | Like() as operand):  # of the unknown it is unknown
            yield from _needed(operand)


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
    results: dict[Plan, OutcomeDistribution] = field(default_factory=dict, compare=False, repr=False)

    @property
    def bucket(self) -> int | None:  # type: ignore[override]
        return self.world.bucket

    @property
    def stable_buckets(self) -> bool:  # type: ignore[override]
        return self.world.stable_buckets

    def is_static(self, column: str) -> bool:
        return self.world.noise_of(column).is_static

    def same_hierarchy(self, old: str, new: str) -> bool:
        known = self.world.hierarchies
        return old in known and known[old] == known.get(new)

    def same_noise(self, old: str, new: str) -> bool:
        return self.world.noise_of(old) == self.world.noise_of(new)

    def fewest_rows(self, plan: Plan) -> int:
        return min(self._result(plan).row_counts)

    def row_count(self, plan: Plan) -> int | None:
        counts = self._result(plan).row_counts
        return min(counts) if len(counts) == 1 else None

    def is_unique(self, plan: Plan, columns: Columns) -> bool:
        return all(max(Counter(keys).values(), default=1) == 1 for keys in self._keys(plan, columns))

    def is_not_null(self, plan: Plan, columns: Columns) -> bool:
        return not any(None in row for keys in self._keys(plan, columns) for row in keys)

    def has_partners(self, left: Plan, right: Plan, columns: Columns) -> bool:
        if not self.is_not_null(left, columns):
            return False
        sides = [set(map(frozenset, self._keys(plan, columns))) for plan in (left, right)]
        return all(mine <= its for mine in sides[0] for its in sides[1])

    def same_order(self, left: Plan, right: Plan, columns: Columns) -> bool:
        return len({*self._keys(left, columns), *self._keys(right, columns)}) == 1

    def _keys(self, plan: Plan, columns: Columns) -> Iterator[Rows]:
        positions = [plan.columns.index(column) for column in sorted(columns)]
        for rows, _ in self._result(plan):
            yield tuple(tuple(row[i] for i in positions) for row in rows)

    def _result(self, plan: Plan) -> OutcomeDistribution:
        if plan not in self.results:
            self.results[plan] = evaluate(plan, self.world, ordered=True)
        return self.results[plan]
