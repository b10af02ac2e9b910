"""How files are read that nobody has described: without an option, with their dates and their numbers.

The files are those of the labelled corpus (`roles.py` says where they lie). Without it, made-up files whose
columns were written in a known spelling stand in.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import tarnkappe
from tarnkappe.errors import TarnkappeError
from tarnkappe.table import Table, read
from tarnkappe.table.spelling import SpellingKind
from tarnkappe_bench.roles import corpus_folder, labelled

DATES = frozenset({"date", "date-of-birth", "time"})
NUMBERS = frozenset({"money", "income", "measurement", "lab", "age", "duration", "year", "body"})
"""What a column of a labelled file is about if its cells are dates, or numbers."""

Cell = Callable[[random.Random], str]
SPELLED: dict[str, tuple[str, Cell]] = {
    "Geburtsdatum": (
        "date-of-birth",
        lambda r: f"{r.randint(1, 28):02}.{r.randint(1, 12):02}.{r.randint(1930, 2005)}",
    ),
    "visit": ("date", lambda r: f"{r.randint(1, 12)}/{r.randint(1, 28)}/{r.randint(10, 24)}"),
    "created": (
        "time",
        lambda r: f"2024-{r.randint(1, 12):02}-{r.randint(1, 28):02}T{r.randint(0, 23):02}:07:00Z",
    ),
    "signed": (
        "date",
        lambda r: f"{r.choice(('Jan', 'May', 'Oct'))} {r.randint(1, 28)}, {r.randint(1990, 2020)}",
    ),
    "amount": ("money", lambda r: f"${r.randint(1, 999)},{r.randint(0, 999):03}"),
    "Betrag": ("money", lambda r: f"{r.randint(1, 99)}.{r.randint(0, 999):03},{r.randint(0, 99):02} €"),
    "age": ("age", lambda r: r.choice((str(r.randint(18, 90)), "NA"))),
    "share": ("measurement", lambda r: f"{r.randint(0, 100)} %"),
}


@dataclasses.dataclass(frozen=True)
class ReadFiles:
    """What was understood.

    Attributes:
        tried, read: files, and those that were read without an option.
        dates, dates_found: columns of dates and times, and those that were read so.
        numbers, numbers_found: columns of numbers, and those that were read so.
        odd: files and columns that were not, by name.
    """

    tried: int = 0
    read: int = 0
    dates: int = 0
    dates_found: int = 0
    numbers: int = 0
    numbers_found: int = 0
    odd: tuple[str, ...] = ()


def measure() -> ReadFiles:
    """All files, each read by itself."""
    tried = plainly = 0
    said = {SpellingKind.DATE: [0, 0], SpellingKind.NUMBER: [0, 0]}
    odd: list[str] = []
    for name, path, kinds in _files():
        tried += 1
        try:
            table = read(str(path))
            plainly += 1
        except TarnkappeError:
            odd.append(name)
            try:
                table = read(str(path), bad_lines="skip")
            except TarnkappeError:
                continue
        for column, kind in kinds.items():
            wanted = SpellingKind.DATE if kind in DATES else SpellingKind.NUMBER
            if kind not in DATES | NUMBERS or column not in table.column_names:
                continue
            said[wanted][0] += 1
            if _kind(table, column) is wanted:
                said[wanted][1] += 1
            else:
                odd.append(f"{name}: {column}")
    (dates, dates_found), (numbers, numbers_found) = said[SpellingKind.DATE], said[SpellingKind.NUMBER]
    return ReadFiles(tried, plainly, dates, dates_found, numbers, numbers_found, tuple(odd))


def _kind(table: Table, column: str) -> SpellingKind | None:
    return None if table.reading is None else table.reading.columns[column].kind


def _files() -> Iterator[tuple[str, Path, dict[str, str]]]:
    folder = corpus_folder()
    if folder is not None:
        by_file: dict[tuple[str, str], dict[str, str]] = {}
        for line in labelled():
            by_file.setdefault((line["repository"], line["path"]), {})[line["column"]] = line["kind"]
        for (repository, path), kinds in by_file.items():
            where = folder / repository.replace("/", "+") / path
            if where.is_file():
                yield path, where, kinds
        return
    with TemporaryDirectory() as made:
        for encoding, delimiter in (("utf-8", ","), ("cp1252", ";"), ("utf-16", "\t")):
            file = Path(made) / f"{encoding}.csv"
            file.write_bytes(_text(delimiter).encode(encoding))
            yield file.name, file, {name: kind for name, (kind, _) in SPELLED.items()}


def _text(delimiter: str) -> str:
    draw = random.Random(4)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow([*SPELLED, "Größe"])
    writer.writerows([*(cell(draw) for _, cell in SPELLED.values()), "groß"] for _ in range(300))
    return out.getvalue()


def seconds_of_a_release(rows: int, columns: int) -> float:
    """Processor time from a CSV file of people who do not exist to a verified release."""
    draw = random.Random(2)
    with TemporaryDirectory() as made:
        path = Path(made) / "people.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(
                ["patient id", "age", "sex", "zip", "diagnosis", *(f"q{n}" for n in range(columns - 5))]
            )
            for row in range(rows):
                answers = [draw.randint(1, 5) for _ in range(columns - 5)]
                known = [draw.randint(18, 90), draw.choice("mf"), draw.randint(10_000, 10_999)]
                writer.writerow(
                    [700_000 + row * 3, *known, draw.choice(("flu", "gout", "acne", "ulcer")), *answers]
                )
        start = time.process_time()
        result = tarnkappe.propose(path).anonymize(seed=1)
        result.write(Path(made) / "release.csv")
        assert all(found.holds for found in result.verified)
        return time.process_time() - start
