"""Occupations of the hospital's patients: who does what at which age. All shares are made up."""

from __future__ import annotations

from typing import NamedTuple


class Work(NamedTuple):
    """An occupation in a field: how frequent it is among working women and men."""

    name: str
    women: float
    men: float


W = Work

SECTORS: dict[str, dict[str, list[Work]]] = {
    "production": {
        "agriculture": [W("farmer", 1.0, 2.0), W("gardener", 0.8, 1.2), W("forester", 0.1, 0.4)],
        "construction": [
            W("bricklayer", 0.1, 2.0),
            W("carpenter", 0.1, 1.5),
            W("painter", 0.4, 1.5),
            W("roofer", 0.02, 0.8),
        ],
        "metal and machines": [
            W("mechanic", 0.3, 4.0),
            W("welder", 0.05, 1.5),
            W("toolmaker", 0.1, 1.5),
            W("machine operator", 1.5, 3.5),
        ],
        "electricity": [W("electrician", 0.2, 3.5), W("electronics technician", 0.2, 1.8)],
        "food": [W("baker", 0.5, 0.9), W("butcher", 0.2, 0.7), W("cook", 1.5, 1.8)],
    },
    "trade and transport": {
        "sales": [W("shop assistant", 7.0, 2.0), W("sales representative", 1.5, 2.5), W("cashier", 2.5, 0.4)],
        "transport": [W("lorry driver", 0.2, 4.0), W("bus driver", 0.3, 1.0), W("postal carrier", 0.9, 1.0)],
        "storage": [W("warehouse worker", 1.5, 4.0), W("forklift driver", 0.1, 1.3)],
        "hospitality": [W("waiter", 2.0, 1.0), W("hotel clerk", 0.9, 0.4)],
    },
    "offices": {
        "administration": [
            W("office clerk", 9.0, 3.0),
            W("secretary", 4.0, 0.2),
            W("civil servant", 3.0, 2.8),
        ],
        "finance and law": [W("bank clerk", 1.8, 1.5), W("accountant", 2.2, 1.0), W("lawyer", 0.4, 0.6)],
        "management": [W("manager", 1.5, 3.5), W("consultant", 0.8, 1.4)],
        "computing": [W("programmer", 0.8, 3.5), W("system administrator", 0.3, 1.8)],
        "engineering": [W("engineer", 1.0, 4.0), W("architect", 0.4, 0.5), W("chemist", 0.3, 0.5)],
    },
    "care and teaching": {
        "health": [
            W("nurse", 6.0, 1.2),
            W("physician", 1.2, 1.3),
            W("medical assistant", 4.0, 0.1),
            W("care assistant", 4.0, 1.0),
            W("pharmacist", 0.4, 0.1),
        ],
        "education": [W("teacher", 3.2, 1.4), W("nursery teacher", 3.6, 0.3), W("lecturer", 0.5, 0.7)],
        "social work": [W("social worker", 2.2, 0.7)],
        "cleaning and beauty": [W("cleaner", 4.5, 0.9), W("hairdresser", 1.6, 0.2)],
        "safety": [W("police officer", 0.5, 1.3), W("security guard", 0.3, 1.2), W("soldier", 0.1, 0.8)],
        "arts and media": [W("musician", 0.3, 0.5), W("journalist", 0.4, 0.4), W("designer", 0.7, 0.6)],
    },
}

NOT_WORKING: dict[str, list[str]] = {
    "in education": ["child", "pupil", "apprentice", "student"],
    "out of work": ["homemaker", "unemployed"],
    "pensioner": ["retired"],
}
"""What people are who have no occupation, in the order of the shares in `STAGES`."""

NOT_WORKING_SECTOR = "not in work"


class Stage(NamedTuple):
    """A stage of life: its first age and the shares of those who do not work, for women and men."""

    first_age: int
    women: tuple[float, ...]
    men: tuple[float, ...]


STAGES = (
    Stage(0, (1, 0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0, 0)),
    Stage(6, (0, 1, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0, 0)),
    Stage(16, (0, 0.7, 0.2, 0.02, 0.01, 0.02, 0), (0, 0.6, 0.28, 0.01, 0, 0.03, 0)),
    Stage(19, (0, 0.05, 0.15, 0.4, 0.03, 0.04, 0), (0, 0.05, 0.2, 0.33, 0, 0.05, 0)),
    Stage(25, (0, 0, 0.01, 0.12, 0.12, 0.05, 0), (0, 0, 0.02, 0.12, 0.01, 0.06, 0)),
    Stage(35, (0, 0, 0, 0.01, 0.13, 0.05, 0.01), (0, 0, 0, 0.01, 0.01, 0.06, 0.01)),
    Stage(55, (0, 0, 0, 0, 0.14, 0.06, 0.08), (0, 0, 0, 0, 0.01, 0.07, 0.08)),
    Stage(63, (0, 0, 0, 0, 0.12, 0.02, 0.5), (0, 0, 0, 0, 0.01, 0.03, 0.5)),
    Stage(67, (0, 0, 0, 0, 0.05, 0, 0.9), (0, 0, 0, 0, 0, 0, 0.9)),
    Stage(75, (0, 0, 0, 0, 0.03, 0, 0.97), (0, 0, 0, 0, 0, 0, 1)),
)

RURAL_FACTORS = {
    "farmer": 8.0,
    "forester": 6.0,
    "gardener": 2.0,
    "lawyer": 0.4,
    "lecturer": 0.2,
    "student": 0.4,
}
"""How much more frequent an occupation is in the country than in a town."""

MISSING_SHARE = 0.02
