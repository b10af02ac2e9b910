"""What the safe harbor rule lets stay of postcodes, ages and years of birth."""

from __future__ import annotations

from collections.abc import Mapping

LARGEST_SMALL_AREA = 20_000
OLDEST = 89
SMALL_AREAS = frozenset(
    [
        "036",
        "059",
        "063",
        "102",
        "203",
        "556",
        "692",
        "790",
        "821",
        "823",
        "830",
        "831",
        "878",
        "879",
        "884",
        "890",
        "893",
    ]
)
"""First three digits of ZIP codes whose areas together had 20,000 people or fewer in the census of 2000."""


def safe_postcode(code: str, population: Mapping[str, int] | None = None) -> str:
    """What may stay of a ZIP code: its first three digits if more than 20,000 people live there, else 000.

    Args:
        code: the ZIP code, or its first three digits.
        population: people by the first three digits; if not given, the areas known to be small are used.

    >>> safe_postcode("53715", {"537": 20_001}), safe_postcode("53715", {"537": 20_000})
    ('537', '000')
    """
    area = code[:3]
    if population is None:
        return "000" if area in SMALL_AREAS else area
    return area if population.get(area, 0) > LARGEST_SMALL_AREA else "000"


def safe_age(age: int) -> str:
    """What may stay of an age: all ages over 89 are one group.

    >>> safe_age(89), safe_age(90)
    ('89', '90+')
    """
    return str(age) if age <= OLDEST else f"{OLDEST + 1}+"


def safe_birth_year(year: int, today: int) -> int | None:
    """What may stay of a year of birth: nothing, if it shows an age over 89.

    >>> safe_birth_year(1950, 2025), safe_birth_year(1930, 2025)
    (1950, None)
    """
    return year if today - year <= OLDEST else None
