"""Where the hospital's patients live: made-up towns and villages around a made-up hospital.

The postcodes begin with 00, 05, 43 and 62, which are not in use in Germany, so none is a real place's.
"""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A town with several postcodes, or a stretch of country with one for each village.

    Attributes:
        name: a made-up name, for readers of this file.
        first: the first postcode.
        step: the distance between its postcodes.
        postcodes: how many postcodes it has.
        share: the share of the patients who live there.
        rural: whether it is country.
    """

    name: str
    first: int
    step: int
    postcodes: int
    share: float
    rural: bool = False


PLACES = (
    Place("Hohenbrunnen", 62_104, 2, 22, 0.34),
    Place("Lindwerth", 62_301, 2, 10, 0.13),
    Place("Karlsmünde", 43_210, 2, 8, 0.10),
    Place("Sankt Alban am See", 62_511, 4, 5, 0.06),
    Place("Erlenfurt", 43_611, 4, 4, 0.05),
    Place("Weidenrode", 5_120, 3, 4, 0.04),
    Place("Land um Hohenbrunnen", 62_160, 12, 60, 0.14, rural=True),
    Place("Land um Karlsmünde", 43_300, 14, 45, 0.08, rural=True),
    Place("Waldland", 203, 19, 40, 0.06, rural=True),
)

MISSING_SHARE = 0.01
