"""How good a linkage is, by pairs of which a person knows whether they are one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from tarnkappe.errors import ParameterError
from tarnkappe.pseudonym.identity import Identity
from tarnkappe.pseudonym.linkage.link import DOUBTFUL, Decisions, Links, weigh

CHANCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclasses.dataclass(frozen=True)
class LinkageFigures:
    """What linking from a chance on would give.

    Attributes:
        chance: from which on pairs are linked.
        linked: how many of the known pairs were linked.
        precision: of these, the share that is one person; None if none was linked.
        recall: of the pairs that are one person, the share that was linked.
        shown: of the pairs that are one person, the share that was linked or is left to a person.
        doubts: how many pairs in all are left to a person.
    """

    chance: float
    linked: int
    precision: float | None
    recall: float
    shown: float
    doubts: int


def evaluate(
    sources: Sequence[Iterable[Identity]],
    fields: Sequence[str],
    labels: Decisions,
    chances: Sequence[float] = CHANCES,
) -> list[LinkageFigures]:
    """Compare what would be linked with what people know; what they know decides nothing here.

    Args:
        sources: the identities of each source.
        fields: what an identity consists of.
        labels: pairs, and whether they are one person.
        chances: from which on pairs would be linked.
    """
    people = [list(source) for source in sources]
    there = {person for source in people for person in source}
    known = {pair: same for pair, same in labels.items() if len(pair) == 2 and pair <= there}
    if not any(known.values()):
        raise ParameterError(
            "pseudonym.labels-name-no-pair", "the labels name no pair of these tables that is one person"
        )
    weighed = weigh(people, fields)
    return [
        figures(weighed.judged(sure=chance, doubtful=min(chance, DOUBTFUL)), known, chance)
        for chance in chances
    ]


def figures(links: Links, known: Decisions, chance: float) -> LinkageFigures:
    """The figures of one linkage."""
    group = {person: number for number, some in enumerate(links.groups) for person in some}
    linked = {pair for pair in known if len({group[person] for person in pair}) == 1}
    doubts = {frozenset(doubt.pair) for doubt in links.doubts}
    same = {pair for pair, is_same in known.items() if is_same}
    return LinkageFigures(
        chance=chance,
        linked=len(linked),
        precision=len(linked & same) / len(linked) if linked else None,
        recall=len(linked & same) / len(same),
        shown=len((linked | doubts) & same) / len(same),
        doubts=len(links.doubts),
    )
