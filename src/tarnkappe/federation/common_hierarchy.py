"""The hierarchy of a column in a site file or a federated job: a file, or a builder over declared values.

A builder looks at the values that it gets. If every site gave it its own, each would build another hierarchy,
and it would tell which values occur. So it is given the values that are declared, the same at all sites.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import pyarrow as pa
from msgspec import Meta

from tarnkappe.hierarchy import BUILDERS, Hierarchy, read_hierarchy
from tarnkappe.hierarchy.builder import Builder
from tarnkappe.schema import Name, Parameters, Problem, Text, param, rule

if TYPE_CHECKING:
    AnyBuilder = Builder
else:
    AnyBuilder = BUILDERS.union

MOST_VALUES = 100_000
GREATEST = 10**15

WholeNumber = Annotated[int, Meta(ge=-GREATEST, le=GREATEST)]


class CommonHierarchy(Parameters, kw_only=True):
    """The hierarchy of a column, which all sites have alike."""

    hierarchy: Annotated[
        Name | AnyBuilder | None,
        param(
            "the hierarchy that all sites have: a file, or a table with a builder and with values or "
            "whole_numbers beside it",
            kind="file",
            what="hierarchy builder",
            otherwise="auto",
        ),
    ] = None
    values: Annotated[
        tuple[Text, ...], param("all possible values, for a builder", max_length=MOST_VALUES)
    ] = ()
    whole_numbers: Annotated[
        tuple[WholeNumber, WholeNumber] | None,
        param("the least and the greatest possible value, for a builder, as [0, 120]"),
    ] = None

    def rules(self) -> Iterator[Problem]:
        """A builder has values to work on, and nothing is said that nobody reads."""
        said = [name for name in ("values", "whole_numbers") if getattr(self, name)]
        if isinstance(self.hierarchy, Builder) and not said and not self.hierarchy.listed:
            yield rule(
                "federation.builder-needs-values",
                "a builder of a federation makes the hierarchy of declared values, which are the same at all "
                "sites: say values = [...] or whole_numbers = [0, 120] beside it, or name a file",
                "hierarchy",
            )
        if said and not isinstance(self.hierarchy, Builder):
            yield rule("federation.values-without-builder", "only a builder takes declared values", said[0])
        if len(said) > 1:
            yield rule("federation.values-said-twice", "say the possible values in one way", said[1])
        if self.whole_numbers is not None and not (
            0 <= self.whole_numbers[1] - self.whole_numbers[0] < MOST_VALUES
        ):
            yield rule(
                "federation.whole-numbers-not-range",
                "the least comes first, and there are at most {most:,} values",
                "whole_numbers",
                most=MOST_VALUES,
            )

    def common(self) -> Hierarchy | None:
        """The hierarchy, read or built now."""
        if self.hierarchy is None or isinstance(self.hierarchy, str):
            return None if self.hierarchy is None else read_hierarchy(self.hierarchy)
        if self.whole_numbers is not None:
            least, greatest = self.whole_numbers
            return self.hierarchy.build(pa.array(range(least, greatest + 1), pa.int64()))
        # An empty text in a list stands for a missing value, as an empty field of a hierarchy file does.
        return self.hierarchy.build(pa.array([value or None for value in self.values], pa.string()))
