"""Made-up cells of each of the 18 identifiers, and clean tables that have none of them.

All numbers are made by the rules of their kind (check digits included); none is known to be anybody's.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from tarnkappe_bench.made_up_files import base64, day, digits, iban, with_luhn

Draw = Callable[[random.Random], Any]

GIVEN = [
    "Anna",
    "Ben",
    "Clara",
    "David",
    "Emma",
    "Felix",
    "Greta",
    "Hannah",
    "Ivan",
    "Julia",
    "Karl",
    "Laura",
    "Marco",
    "Nadine",
    "Oscar",
    "Paula",
    "Rita",
    "Sven",
]
FAMILY = [
    "Garcia",
    "Schmidt",
    "Kowalski",
    "Nguyen",
    "Rossi",
    "Johnson",
    "Petrov",
    "Yamamoto",
    "Svensson",
    "Moreau",
    "Patel",
    "Novak",
]
STREETS = ("Maple Street", "Oak Avenue", "Harbor Road", "Church Lane", "Sunset Blvd", "River Drive")
TOWNS = ("Karlsruhe", "Graz", "Boston", "Denver", "Lyon", "Leipzig", "Seattle", "Basel", "Kassel", "Tucson")


def medicare(r: random.Random) -> str:
    letter = lambda: r.choice("ACDEFGHJKMNPQRTUVWXY")  # noqa: E731
    return f"{r.randint(1, 9)}{letter()}{letter()}{r.randint(0, 9)}-{letter()}{letter()}{r.randint(0, 9)}-{letter()}{letter()}{digits(r, 2)}"


def prescriber(r: random.Random) -> str:
    body = digits(r, 6)
    odd, even = sum(map(int, body[0::2])), sum(map(int, body[1::2]))
    return f"{r.choice('ABFM')}{r.choice('ABCDEFGHKLMNPRST')}{body}{(odd + 2 * even) % 10}"


def social_security(r: random.Random) -> str:
    return f"{r.randint(100, 665)}-{r.randint(10, 99)}-{r.randint(1000, 9999)}"


CELLS: dict[int, list[Draw]] = {
    1: [
        lambda r: f"{r.choice(GIVEN)} {r.choice(FAMILY)}",
        lambda r: f"{r.choice(FAMILY)}, {r.choice(GIVEN)}",
        lambda r: r.choice(GIVEN),
    ],
    2: [
        lambda r: f"{r.randint(1, 999)} {r.choice(STREETS)}",
        lambda r: r.choice(TOWNS),
        lambda r: f"{r.choice('01234')}{digits(r, 4)}",
        lambda r: f"{r.randint(40, 60)}.{digits(r, 5)}, {r.randint(5, 20)}.{digits(r, 5)}",
    ],
    3: [
        lambda r: str(day(r)),
        lambda r: day(r).strftime("%d.%m.%y"),
        lambda r: day(r).strftime("%m/%d/%Y"),
        lambda r: day(r).strftime("%B %d, %Y"),
        lambda r: int(day(r).strftime("%Y%m%d")),
        lambda r: r.choice([*range(18, 90)] * 3 + [*range(90, 101)]),
        day,
    ],
    4: [
        lambda r: f"({digits(r, 3)}) {r.randint(200, 999)}-{digits(r, 4)}",
        lambda r: f"+49 721 {r.randint(100000, 999999)}",
    ],
    5: [lambda r: f"Fax {r.randint(201, 989)}-{r.randint(200, 999)}-{digits(r, 4)}"],
    6: [lambda r: f"{r.choice(GIVEN).lower()}{digits(r, 3)}@example.org"],
    7: [social_security],
    8: [lambda r: f"MRN{digits(r, 7)}", lambda r: f"Pat-Nr. {digits(r, 6)}"],
    9: [medicare, lambda r: f"Member ID {digits(r, 9)}"],
    10: [iban, lambda r: with_luhn("4" + digits(r, 14))],
    11: [prescriber, lambda r: f"LIC-{digits(r, 7)}", lambda r: with_luhn("808401" + digits(r, 8))[5:]],
    12: [
        lambda r: "WVWZZZ1J" + r.choice("HJKX") + "W" + digits(r, 7),
        lambda r: f"KA-{r.choice('ABCDE')}{r.choice('FGH')} {r.randint(10, 9999)}",
    ],
    13: [
        lambda r: ":".join(f"{r.randint(0, 255):02x}" for _ in range(6)),
        lambda r: with_luhn("35" + digits(r, 12)),
        lambda r: f"SN{digits(r, 9)}",
    ],
    14: [lambda r: f"https://people.example.org/{digits(r, 6)}"],
    15: [
        lambda r: ".".join(str(r.randint(1, 254)) for _ in range(4)),
        lambda r: ":".join(f"{r.randint(1, 65535):x}" for _ in range(8)),
    ],
    16: [lambda r: base64(r, "Rk1SACAyMA"), lambda r: f"rec{digits(r, 5)}.wsq"],
    17: [lambda r: base64(r, "/9j/4AAQSkZJRg"), lambda r: f"IMG_{digits(r, 4)}.JPG"],
    18: [
        lambda r: f"{digits(r, 8)}-{digits(r, 4)}-4{digits(r, 3)}-8{digits(r, 3)}-{digits(r, 12)}",
        lambda r: r.randint(10**8, 10**9 - 1),
        lambda r: f"X{digits(r, 3)}Q{digits(r, 4)}",
    ],
}
"""For each kind, ways to write a cell of it."""

MISLEADING = (
    "favourite_colour", "diagnosis", "shoe_size", "Wetter", "mood", "phone", "email", "zip", "salary", "v17", "Name",
    "age_group", "url", "result",
)  # fmt: skip
"""Headers that say nothing, or something else."""


def columns_of(kind: int, way: int, rows: int, seed: int) -> list[Any]:
    generator = random.Random(f"{kind}/{way}/{seed}")
    return [CELLS[kind][way](generator) for _ in range(rows)]


def clean_tables(rows: int = 400, seed: int = 0) -> dict[str, pa.Table]:
    """Tables of several kinds without any of the 18 identifiers."""
    r = random.Random(seed)
    draw = lambda make: [make() for _ in range(rows)]  # noqa: E731
    return {
        "survey": pa.table(
            {
                "age": draw(lambda: r.randint(18, 89)),
                "sex": draw(lambda: r.choice(["male", "female"])),
                "region": draw(lambda: r.choice(["north", "south", "east", "west"])),
                "q1": draw(lambda: r.randint(1, 5)),
                "q2": draw(lambda: r.choice(["agree", "disagree", "no opinion"])),
                "income": draw(lambda: r.randrange(8_000, 140_000, 50)),
                "colour": draw(lambda: r.choice(["white", "black", "brown", "green", "gray"])),
                "birth_year": draw(lambda: r.randint(1950, 2004)),
            }
        ),
        "laboratory": pa.table(
            {
                "hemoglobin": draw(lambda: round(r.gauss(14, 1.5), 1)),
                "glucose": draw(lambda: round(r.gauss(95, 20), 2)),
                "heart_rate": draw(lambda: r.randint(48, 125)),
                "diastolic": draw(lambda: r.randint(50, 119)),
                "weight": draw(lambda: round(r.gauss(75, 14), 1)),
                "saturation": draw(lambda: r.randint(88, 100)),
                "icd": draw(lambda: r.choice(["I10.0", "E11.9", "J45.0", "M54.5", "F32.1"])),
                "dose": draw(lambda: f"{r.choice([5, 10, 20, 50])} mg"),
                "version": draw(lambda: r.choice(["1.2", "1.3", "2.0"])),
            }
        ),
        "release": pa.table(
            {
                "age": draw(lambda: r.choice(["[20, 30[", "[30, 40[", "[40, 50[", "90+"])),
                "postcode": draw(lambda: r.choice(["537**", "606**", "76***", "1****", "*"])),
                "occupation": draw(
                    lambda: r.choice(["Craft", "Sales", "Baker", "Carpenter", "Cook", "Nurse"])
                ),
                "year": draw(lambda: r.randint(2010, 2023)),
                "country": draw(
                    lambda: r.choice(["Jordan", "Chad", "Germany", "Georgia", "Israel", "Austria"])
                ),
                "state": draw(lambda: r.choice(["Virginia", "Texas", "Ohio", "Washington", "California"])),
                "diagnosis": draw(lambda: r.choice(["flu", "cold", "ulcer", "diabetes", "(missing)"])),
                "empty": pa.nulls(rows),
            }
        ),
        "work": pa.table(
            {
                "hours_per_week": draw(lambda: r.choice([20, 38, 40, 40, 40, 45, 60, 99])),
                "workclass": draw(lambda: r.choice(["Private", "State-gov", "Self-emp", "Local-gov"])),
                "education": draw(
                    lambda: r.choice(["Bachelors", "11th", "HS-grad", "Masters", "Prof-school"])
                ),
                "share": draw(lambda: r.random()),
                "score": draw(lambda: r.randint(0, 100)),
                "amount": draw(lambda: round(r.lognormvariate(6, 1), 2)),
                "note": draw(lambda: r.choice(["no comment", "seen twice", "needs review next year", ""])),
                "flag": draw(lambda: r.random() < 0.3),
            }
        ),
    }
