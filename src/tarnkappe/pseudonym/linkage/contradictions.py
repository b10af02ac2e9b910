"""What forbids to take two records for one person without asking anybody, however much else agrees.

Chances are added up from what agrees, so a rare name outweighs anything, also a birth date that is another
one. But parent and child have one name and one address, twins one birthday and one address; no chance tells
them from one person who was misspelled. These rules say which pairs a person has to look at.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tarnkappe.pseudonym.linkage.records import LinkageField, LinkageRecords, Numbers
from tarnkappe.pseudonym.linkage.similarity import CLOSE, DIFFERENT, EQUAL, MISSING, Levels

GENERATION = (12, 60)
"""How many years may lie between the births of parent and child."""

BORN = "another birth date, or none"
SEX = "another sex, and the birth date is not the same"
GIVEN = "another given name"
PARENT = "parent and child?"


def contradictions(people: LinkageRecords, pairs: Numbers, found: Levels) -> npt.NDArray[np.str_]:
    """Of each pair, what forbids to link it without a person; nothing if nothing does.

    Args:
        people: everybody.
        pairs: the two people of each pair, by their numbers.
        found: how far they agree in each field.
    """
    level = {field.kind: found[:, at] for at, field in enumerate(people.fields)}
    nothing = np.full(len(pairs), MISSING, dtype=found.dtype)
    kinds = ("surname", "given", "sex", "postcode")
    surname, given, sex, postcode = (level.get(kind, nothing) for kind in kinds)
    born = level["born"]
    dates = people.field("born")
    assert dates is not None
    apart = np.abs(_years(dates)[pairs[:, 0]] - _years(dates)[pairs[:, 1]]) if len(pairs) else np.empty(0)
    namesakes = sex != DIFFERENT
    for names in (surname, given, postcode):
        namesakes &= np.isin(names, (EQUAL, MISSING))
    rules = (
        (PARENT, namesakes & (apart >= GENERATION[0]) & (apart <= GENERATION[1])),
        (BORN, ~np.isin(born, (EQUAL, CLOSE))),
        (SEX, (sex == DIFFERENT) & (born != EQUAL)),
        (GIVEN, given == DIFFERENT),
    )
    return np.select([holds for _, holds in rules], [why for why, _ in rules], default="")


def _years(dates: LinkageField) -> npt.NDArray[np.float64]:
    return np.array([float(text[:4]) if text else np.nan for text in dates.texts])
