"""The clinic of the everyday queries under a policy, as files."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from tests.algebra.everyday import FIXTURE

POLICY = """
owners = ["olga"]

[tables.patients]
path = "patients.csv"
person = {space = "patient", column = "pid"}
[tables.patients.columns]
pid = "identifier"
name = "identifier"
plz = {role = "quasi-identifier", hierarchy = "plz.hierarchy.csv"}
age = {role = "quasi-identifier", hierarchy = "age.hierarchy.csv"}
sex = {role = "quasi-identifier", hierarchy = "sex.hierarchy.csv"}
admitted = "quasi-identifier"
diagnosis = "sensitive"
cost = "insensitive"
[tables.patients.protected]
k = 3
columns = ["plz", "age", "sex", "diagnosis", "cost"]
accept = ["diagnosis"]

[tables.visits]
path = "visits.csv"
person = {space = "patient", column = "pid"}
rows_per_person = 5
[tables.visits.columns]
ward = {role = "insensitive", hierarchy = "ward.hierarchy.csv"}

[tables.icd]
path = "icd.csv"
public = true

[values]
n = "n.hierarchy.csv"

[groups.research]
members = ["ann", "bob"]
[[groups.research.may]]
table = "patients"
see = "protected"
epsilon = 3.0
[[groups.research.may]]
table = "visits"
see = "aggregates"
epsilon = 9.0

[groups.steward]
members = ["stu"]
[[groups.steward.may]]
table = "patients"
see = "raw"
"""


def write(folder: Path, tables: dict[str, dict[str, list[Any]]] | None = None, policy: str = POLICY) -> Path:
    """The files of the clinic, and its policy."""
    read: dict[str, dict[str, list[Any]]] = tables or FIXTURE["tables"]
    for name, columns in read.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    plzs = ("18055", "18057", "18059", "18106", "18107")
    rows: dict[str, list[list[Any]]] = {
        "plz": [[plz, plz[:4] + "*", "*"] for plz in plzs],
        "age": [[n, f"{n // 10 * 10}-{n // 10 * 10 + 9}", f"{n // 20 * 20}-{n // 20 * 20 + 19}", "*"] for n in range(100)],
        "sex": [["f", "*"], ["m", "*"]],
        "ward": [["A", "*"], ["B", "*"]],
        "n": [[n, "*"] for n in range(6)],
    }  # fmt: skip
    for name, lines in rows.items():
        text = "\n".join(";".join(map(str, line)) for line in lines) + "\n"
        (folder / f"{name}.hierarchy.csv").write_text(text, encoding="utf-8")
    path = folder / "policy.toml"
    path.write_text(policy, encoding="utf-8")
    return path
