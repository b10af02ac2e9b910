"""What a query lets out that its column roles speak against: warnings for the people who answer for it.

Warnings are read from the query as it was written. A rewrite may remove an anonymization whose columns are
not shown in the end; that changes no result, and it must not look as if nobody had anonymized.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.counting_people import repeated, several_rows
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import (
    Anonymization,
    Difference,
    Generalization,
    Grouping,
    Plan,
    PostProcessing,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
    ThetaJoin,
)
from tarnkappe.algebra.persons import Persons
from tarnkappe.algebra.plan import listed
from tarnkappe.algebra.promises import Promise, ended
from tarnkappe.table import Role


class ColumnTreatment(StrEnum):
    """What was done to the values of a column on their way to the result."""

    GENERALIZED = "generalized"
    SLICED = "sliced"
    RANDOMIZED = "randomized"
    NOISY = "noisy"
    """Seen through a noisy aggregate only."""
    AMONG_EQUALS = "among equals"
    """Other columns of the same rows were generalized, so the row hides among k."""


PROTECTS = {
    Role.QUASI_IDENTIFIER: {
        ColumnTreatment.GENERALIZED,
        ColumnTreatment.SLICED,
        ColumnTreatment.RANDOMIZED,
        ColumnTreatment.NOISY,
    },
    Role.SENSITIVE: {
        ColumnTreatment.SLICED,
        ColumnTreatment.RANDOMIZED,
        ColumnTreatment.NOISY,
        ColumnTreatment.AMONG_EQUALS,
    },
}


@dataclass(frozen=True)
class Thread:
    """One way of a column from a base relation to the result."""

    relation: str
    column: str
    treatments: frozenset[ColumnTreatment] = frozenset()

    def treated(self, *treatments: ColumnTreatment) -> Thread:
        """The same way with further treatments."""
        return Thread(self.relation, self.column, self.treatments.union(treatments))


Threads = dict[str, frozenset[Thread]]


@dataclass(frozen=True)
class Warning:
    """One thing that somebody should look at before the result leaves the house."""

    kind: str
    columns: tuple[str, ...]
    message: str

    def as_dict(self) -> dict[str, object]:
        """The warning for machines."""
        return {"kind": self.kind, "columns": list(self.columns), "message": self.message}

    def __str__(self) -> str:
        return self.message


def warnings(
    plan: Plan,
    roles: Mapping[str, Role],
    persons: Persons | None = None,
    promised: Iterable[Promise] = (),
    public: Collection[str] = (),
) -> tuple[Warning, ...]:
    """What the roles of columns, and the operators above a generalization, give reason to warn of.

    `persons` are the columns that tell people apart; `promised` is what the answer is held to; `public` are
    the relations that need no protection.

    >>> spender = Relation("spender", ("name", "plz"))
    >>> for warning in warnings(spender, {"name": Role.IDENTIFIER, "plz": Role.QUASI_IDENTIFIER}):
    ...     print(warning)
    the identifier 'name' of 'spender' is released
    the quasi-identifier 'plz' of 'spender' is released as it is
    """
    shown = plan.inputs if isinstance(plan, PostProcessing) else (plan,)
    found = [warning for each in shown for warning in _released(each, roles, public)]
    found += [*_selected(plan, roles), *_compared(plan), *_exact(plan, roles, public)]
    found += [*_weakened(plan, tuple(promised)), *(_several(plan, persons) if persons else _repeated(plan))]
    return tuple(dict.fromkeys(found))


def threads(plan: Plan) -> Threads:
    """For each column of the result, where its values come from and what was done to them."""
    match plan:
        case Relation(name, columns):
            return {column: frozenset({Thread(name, column)}) for column in columns}
        case Projection(child, onto):
            below = threads(child)
            return {column: below[column] for column in onto}
        case Rename(child, names):
            new = dict(names)
            return {new.get(column, column): found for column, found in threads(child).items()}
        case Grouping(child, by, aggregates):
            below = threads(child)
            shown = {column: below[column] for column in by}
            return shown | {each.name: _aggregated(each, below) for each in aggregates}
        case Difference(left):
            return threads(left)
        case Generalization(child) | ModelGeneralization(child):
            is_bare = isinstance(plan, Generalization) and plan.k == 1
            there = frozenset() if is_bare else plan.attributes & child.schema
            equals = [ColumnTreatment.AMONG_EQUALS] if there else []
            return {
                column: _each(found, *equals, *([ColumnTreatment.GENERALIZED] if column in there else []))
                for column, found in threads(child).items()
            }
        case SlicingNode(child, groups):
            cut = [ColumnTreatment.SLICED] if len([g for g in groups if child.schema & set(g)]) > 1 else []
            return {column: _each(found, *cut) for column, found in threads(child).items()}
        case Randomization(child):
            below = threads(child)
            noised = {column for column, probability in plan.probabilities if probability}
            return {
                column: _each(found, ColumnTreatment.RANDOMIZED) if column in noised else found
                for column, found in below.items()
            }
    merged: Threads = {}
    for child in plan.children:  # a value of a union or a join may have come from either side
        for column, found in threads(child).items():
            merged[column] = merged.get(column, frozenset()) | found
    return merged


def _each(found: Iterable[Thread], *treatments: ColumnTreatment) -> frozenset[Thread]:
    return frozenset(thread.treated(*treatments) for thread in found)


def _aggregated(aggregate: Aggregate, below: Threads) -> frozenset[Thread]:
    if aggregate.column is None or aggregate.function == "count":
        return frozenset()  # a number of rows shows no value
    found = below[aggregate.column]
    return found if aggregate.noise is None else _each(found, ColumnTreatment.NOISY)


def _released(plan: Plan, roles: Mapping[str, Role], public: Collection[str]) -> Iterator[Warning]:
    for column, found in sorted(threads(plan).items()):
        for thread in sorted(found, key=lambda thread: (thread.relation, thread.column)):
            if thread.relation in public:
                continue
            role = roles.get(thread.column)
            named = f"'{thread.column}' of '{thread.relation}' is released"
            shown_as = f" as '{column}'" if column != thread.column else ""
            if role is Role.IDENTIFIER:
                yield Warning("identifier-released", (column,), f"the identifier {named}{shown_as}")
            elif role in PROTECTS and not thread.treatments & PROTECTS[role]:
                where = shown_as or " as it is"
                untouched = {
                    Role.QUASI_IDENTIFIER: f"the quasi-identifier {named}{where}",
                    Role.SENSITIVE: f"the sensitive {named}{where}, in rows that nothing anonymizes",
                }
                yield Warning(f"{role}-untouched", (column,), untouched[role])


def _selected(plan: Plan, roles: Mapping[str, Role]) -> Iterator[Warning]:
    """A condition on an identifier picks out a person, whatever is shown of him."""
    for node in plan.walk():
        if not isinstance(node, Selection | ThetaJoin):
            continue
        below = {column: found for child in node.children for column, found in threads(child).items()}
        read = {thread.column for column in node.predicate.columns for thread in below[column]}
        named = sorted(column for column in read if roles.get(column) is Role.IDENTIFIER)
        if named:
            yield Warning(
                "identifier-selected", tuple(named), f"the query picks out people by {listed(named)}"
            )


def _exact(plan: Plan, roles: Mapping[str, Role], public: Collection[str]) -> Iterator[Warning]:
    """An exact figure of raw rows tells whether somebody is among them."""
    for node in plan.walk():
        if not isinstance(node, Grouping):
            continue
        relations = {each.name: each for each in node.walk() if isinstance(each, Relation)}
        personal = {
            name for name, each in relations.items() if name not in public and each.schema & set(roles)
        }
        exact = [each for each in node.aggregates if each.noise is None]
        operators = Anonymization | ModelGeneralization
        protected = any(isinstance(each, operators) or _noisy(each) for each in node.walk())
        if exact and personal and not protected:
            yield Warning(
                "exact-figures",
                tuple(each.name for each in exact),
                f"figures of {listed(personal)} are exact, and tell whether one person is counted: "
                "noisy_count, noisy_sum and noisy_mean hide that",
            )


def _noisy(node: Plan) -> bool:
    return isinstance(node, Grouping) and any(aggregate.noise for aggregate in node.aggregates)


def _repeated(plan: Plan) -> Iterator[Warning]:
    """Copies of one row are no crowd; where people are declared, the query is refused instead."""
    for generalization, names in repeated(plan):
        yield Warning(
            "rows-repeated",
            generalization.by,
            f"below generalize(k => {generalization.k}) one row of {names} can stand several times, and k "
            "counts each copy: declare `person`, or generalize before rows are multiplied",
        )


def _several(plan: Plan, persons: Persons) -> Iterator[Warning]:
    """Every class has k people; who knows several rows of one person may find the classes that fit her."""
    for generalization in several_rows(plan, persons):
        yield Warning(
            "several-rows",
            generalization.by,
            f"below generalize(k => {generalization.k}) one person may have several rows: every class has "
            f"{generalization.k} people, but who knows several rows of somebody may find the classes that "
            "together fit only her",
        )


def _compared(plan: Plan) -> Iterator[Warning]:
    """A condition above a generalization meets labels, and finds nothing where it names a value."""
    for node in plan.walk():
        if not isinstance(node, Selection):
            continue
        below = threads(node.child)
        read = sorted(
            column
            for column in node.predicate.columns
            if any(ColumnTreatment.GENERALIZED in thread.treatments for thread in below[column])
        )
        if read:
            message = f"the condition on {listed(read)} is asked of generalized labels, not of values"
            yield Warning("labels-compared", tuple(read), f"{message}: put it below generalize")


def _weakened(plan: Plan, promised: tuple[Promise, ...]) -> Iterator[Warning]:
    for generalization, above in ended(plan):
        shown = plan.schema & set(generalization.by)
        if any(shown <= promise.columns and generalization.k <= promise.k for promise in promised):
            continue  # it holds as it runs
        if isinstance(above, Grouping | Projection):
            continue  # computed from rows that are k-anonymous, and telling no more than they do
        what = type(above).__name__.lower()
        yield Warning(
            "promise-ended",
            generalization.by,
            f"the {what} above generalize(k => {generalization.k}) can leave fewer than {generalization.k} "
            f"rows that agree in {listed(generalization.by)}: generalize after it",
        )
