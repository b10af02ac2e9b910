"""Made-up blood donors for the measurements of queries: as many as wanted, in Parquet files, from no file."""

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path

import duckdb

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.noise import Dynamic, Static
from tarnkappe.hierarchy import Hierarchy

DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(n) for n in range(366)]
CODES = [f"{18000 + n:05d}" for n in range(400)]
AGES = range(18, 74)
GENOTYPES = {"00": "0.410", "A0": "0.358", "AA": "0.078", "B0": "0.102", "AB": "0.045", "BB": "0.007"}
RHESUS = {"+": "0.85", "-": "0.15"}
SHIFTS = {0: "0.1", 1: "0.25", -1: "0.25", 2: "0.15", -2: "0.15", 3: "0.05", -3: "0.05"}

COLUMNS = {
    "id": "i",
    "plz": "printf('%05d', 18000 + (hash(i, 1) % 400)::INTEGER)",
    "alter": "18 + (hash(i, 2) % 56)::INTEGER",
    "tag": "strftime(DATE '2024-01-01' + (hash(i, 3) % 366)::INTEGER, '%d.%m.')",
    "blutgruppe": "['00', 'A0', 'B0', 'AA', 'AB', 'BB']"
    "[1 + floor(6 * pow((hash(i, 4) % 1000) / 1000.0, 2))::INTEGER]",
    "rh": "CASE WHEN hash(i, 5) % 100 < 85 THEN '+' ELSE '-' END",
    "klinik": "'Klinik ' || (hash(i, 6) % 30)::VARCHAR",
    "puls": "50 + (hash(i, 7) % 60)::INTEGER",
}
LABORATORY = {
    "id": "i",
    "hb": "100 + (hash(i, 8) % 90)::INTEGER",
    "befund": "'B' || (hash(i, 9) % 12)::VARCHAR",
}


def write_donors(folder: Path, rows: int) -> dict[str, Path]:
    """The files by the names of their relations: all donors, their halves, and their laboratory values."""
    half = rows // 2
    parts = {
        "spender": (COLUMNS, 0, rows),
        "haelfte1": (COLUMNS, 0, half),
        "haelfte2": (COLUMNS, half, rows),
        "labor": (LABORATORY, 0, rows),
    }
    with duckdb.connect() as connection:
        for name, (columns, first, last) in parts.items():
            cells = ", ".join(f'{cell} AS "{column}"' for column, cell in columns.items())
            connection.execute(
                f"COPY (SELECT {cells} FROM range({first}, {last}) AS numbers(i)) "
                f"TO '{folder / name}.parquet' (FORMAT parquet, COMPRESSION snappy)"
            )
    return {name: folder / f"{name}.parquet" for name in parts}


def catalog() -> Catalog:
    """What belongs to the columns; the laboratory values are a vertical part of the donors."""
    key = frozenset({"id"})
    days = [f"{day:%d.%m.}" for day in DAYS]
    return Catalog(
        relations={"spender": tuple(COLUMNS), "labor": tuple(LABORATORY)}
        | dict.fromkeys(("haelfte1", "haelfte2"), tuple(COLUMNS)),
        hierarchies={
            "tag": Hierarchy.from_rows(
                [
                    [text, f"{day:%m}", f"Q{(day.month + 2) // 3}", f"S{(day.month + 5) // 6}", "*"]
                    for text, day in zip(days, DAYS, strict=True)
                ]
            ),
            "plz": Hierarchy.from_rows([[code, code[:4] + "*", code[:3] + "**", "*"] for code in CODES]),
            "alter": Hierarchy.from_rows(
                [[str(age), f"{age // 5 * 5}+", f"{age // 20 * 20}++", "*"] for age in AGES]
            ),
            "rh": Hierarchy.from_rows([["+", "±"], ["-", "±"]]),
        },
        noise={
            "blutgruppe": Static({value: Fraction(p) for value, p in GENOTYPES.items()}),
            "rh": Static({value: Fraction(p) for value, p in RHESUS.items()}),
            "alter": Static({age: Fraction(1, len(AGES)) for age in AGES}),
            "tag": Dynamic(
                {
                    day: {days[(n + shift) % len(days)]: Fraction(p) for shift, p in SHIFTS.items()}
                    for n, day in enumerate(days)
                }
            ),
        },
        bucket=10,
        keys={name: [key] for name in ("spender", "labor", "haelfte1", "haelfte2")},
        inclusions=[("spender", "labor", key), ("labor", "spender", key)],
        orders=[(frozenset({"spender", "labor"}), key)],
    )
