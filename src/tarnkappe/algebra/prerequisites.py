"""What a query needs of its catalog before it may run: hierarchies, noise, groups that tell nothing."""

from __future__ import annotations

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import Anonymization, Generalization, Grouping, Plan, Randomization
from tarnkappe.algebra.plan import listed
from tarnkappe.algebra.roles import threads
from tarnkappe.errors import HierarchyError, ParameterError


def prepare(plan: Plan, catalog: Catalog) -> None:
    """Refuse before any work what the catalog lacks, and have it read or built what the query needs."""
    for node in plan.walk():
        if (isinstance(node, Generalization) and node.k > 1) or isinstance(node, ModelGeneralization):
            missing = node.attributes - set(catalog.hierarchies)
            if missing:
                raise HierarchyError(
                    "algebra.no-hierarchy-say-how-generalize",
                    "there is no hierarchy for {missing}: say how to generalize it",
                    missing=listed(missing),
                )
            for column in node.by:
                catalog.hierarchies[column]
        if is_noisy(node):
            _require_public_groups(node, catalog)
        if isinstance(node, Randomization):
            noised = {column for column, probability in node.probabilities if probability}
            if noised - set(catalog.noise):
                without = listed(noised - set(catalog.noise))
                raise ParameterError(
                    "algebra.no-noise-say-what-values",
                    "there is no noise for {without}: say what its values are drawn from",
                    without=without,
                )
            for column in noised:
                catalog.noise[column]


def is_noisy(node: Plan) -> bool:
    """Whether a node is a grouping with noisy aggregates."""
    return isinstance(node, Grouping) and any(aggregate.noise for aggregate in node.aggregates)


def is_protected(plan: Plan) -> bool:
    """Whether a query hides something that the stored order of rows could tell; raw rows tell it anyway."""
    operators = Anonymization | ModelGeneralization
    return any(isinstance(node, operators) or is_noisy(node) for node in plan.walk())


def _require_public_groups(node: Plan, catalog: Catalog) -> None:
    """The groups of a noisy aggregate come from hierarchies, and these must not come from the data."""
    assert isinstance(node, Grouping)
    origins = threads(node.child)
    for column in node.by:
        told = {column, *(thread.column for thread in origins[column])} & set(catalog.from_data)
        if column not in catalog.hierarchies or told:
            raise HierarchyError(
                "algebra.groups-noisy-aggregate-must-not-depend-data",
                "the groups of a noisy aggregate must not depend on the data: give '{column}' a hierarchy "
                "file that lists all values that there may be",
                column=column,
            )
        catalog.hierarchies[column]
