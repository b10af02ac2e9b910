"""A file as Excel writes it in Germany: Windows-1252, semicolons, decimal comma, dotted dates, blanks, free text.

All people are made up.
"""

from __future__ import annotations

import random
from pathlib import Path

NAMES = ("Müller", "Schäfer", "Groß", "Weiß", "Köhler", "Jäger", "Schröder", "Böhm", "Vögel", "Krüger")
GIVEN = ("Jürgen", "Käthe", "Anna", "Björn", "Sören", "Ömer", "Lukas", "Maria", "Heike", "Jörg")
DIAGNOSES = ("Asthma", "Diabetes", "Hypertonie", "Migräne", "Gicht", "Rückenschmerz")
SECRETS = ("Lieblingsonkel", "Segelboot")
"""Words that stand in free text only."""


def clinic_text(rows: int = 400, seed: int = 5) -> str:
    """The file as text, with line ends of Windows."""
    draw = random.Random(seed)
    lines = ["Patientennr;Name;Geburtsdatum;Geschlecht;PLZ;Größe;HbA1c;Diagnose;Bemerkung"]
    for number in range(rows):
        birth = f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.{draw.randint(1931, 2004)}"
        size = f"{draw.randint(150, 199) / 100:.2f}".replace(".", ",")
        sugar = "" if draw.random() < 0.1 else f"{draw.randint(48, 110) / 10:.1f}".replace(".", ",")
        note = (
            f"kommt seit {draw.randint(2, 30)} Jahren mit dem {draw.choice(SECRETS)} Nr {number} gern vorbei"
        )
        lines.append(
            f"P{100000 + 7 * number};{draw.choice(GIVEN)} {draw.choice(NAMES)};{birth};"
            f"{draw.choice(('m', 'w'))};{draw.randint(80, 99)}{draw.randint(0, 999):03d};{size};{sugar};"
            f"{draw.choice(DIAGNOSES)};{note}"
        )
    return "\r\n".join([*lines, ""])


def write_clinic(folder: Path, rows: int = 400) -> Path:
    """The file on the disk."""
    path = folder / "patienten.csv"
    path.write_bytes(clinic_text(rows).encode("cp1252"))
    return path
