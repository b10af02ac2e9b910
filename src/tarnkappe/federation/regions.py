"""Regions: groups of parties that have different columns of the same people, each group of other people.

They are how data are distributed horizontally and vertically at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tarnkappe.errors import ColumnError, ParameterError

Regions = tuple[tuple[str, ...], ...]


def refuse_bad_regions(regions: Regions, parties: Sequence[str], owners: Mapping[str, Sequence[str]]) -> None:
    """Every party is in one region, and every column has one owner in each."""
    if sorted(party for region in regions for party in region) != sorted(parties):
        raise ParameterError(
            "federation.every-party-data-belongs",
            "every party with data belongs to one region: name each exactly once",
        )
    for column, named in owners.items():
        for region in regions:
            if len(set(named) & set(region)) != 1:
                raise ColumnError(
                    "federation.column-needs-owner-region",
                    "the column '{column}' needs one owner in each region, also in that of {region}",
                    column=column,
                    region=", ".join(region),
                )


def refuse_bad_ring(regions: Regions, parties: Sequence[str], least: int) -> None:
    """A ring hides regions from its master as it hides parties: enough of them, each merged as a whole."""
    master, order = parties[0], ring_order(regions, parties[0])
    if len(regions) < least:
        raise ParameterError(
            "federation.ring-regions-protects-nobody",
            "a ring of {regions} regions protects nobody: '{master}', which anonymizes, would get the rows "
            "of its own region back in full encryption with no rows of others among them, and could read "
            "the values of other regions that equal its own. Choose 'star', 'masked' or 'masked-ring'",
            regions=len(regions),
            master=master,
        )
    if tuple(parties) != order:
        raise ParameterError(
            "federation.ring-parties-region-merged",
            "in a ring the parties of a region are merged one after the other, those of the first party "
            "first: name the parties in the order {order}",
            order=", ".join(order),
        )


def ring_order(regions: Regions, master: str) -> tuple[str, ...]:
    """The parties as a ring can merge them, which goes from the master backwards.

    >>> ring_order((("A", "B"), ("C", "D"), ("E",)), "B")
    ('B', 'C', 'D', 'E', 'A')
    """
    own = next(region for region in regions if master in region)
    others = (party for region in regions if region != own for party in region)
    return (master, *others, *(party for party in own if party != master))
