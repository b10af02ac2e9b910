"""How well proposed roles fit columns whose roles are known: a labelled corpus, and made-up files.

The corpus names columns of public files (`labels.tsv` in the folder `corpus` of the reference data); the
files themselves lie where `TARN_CORPUS` says, each under `owner+name/path`. Recall of a role counts the
columns that have only this one; a proposal is right if it is among the roles that can be defended.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from tarnkappe.errors import TarnkappeError
from tarnkappe.risk.identifiers import propose_roles
from tarnkappe.table import Role, Table, read
from tarnkappe_bench.adult import reference_folder
from tarnkappe_bench.made_up_files import Columns, MadeUpFile, made_up

ROLES = ("identifier", "quasi-identifier", "sensitive")
ROW_NUMBER = "row number"
"""How the reader calls a first column of running numbers, whatever its name was."""


@dataclasses.dataclass(frozen=True)
class Judged:
    """A column: what it is, and what was proposed."""

    file: str
    column: str
    right: str
    proposed: str

    @property
    def acceptable(self) -> bool:
        """Whether the proposal is among the right roles."""
        return self.proposed in self.right.split("|")


def corpus_folder() -> Path | None:
    """Where the files of the corpus are, if they are here."""
    said = os.environ.get("TARN_CORPUS")
    folder = Path(said) if said else None
    return folder if folder is not None and folder.is_dir() and _labels().is_file() else None


def _labels() -> Path:
    return reference_folder().parent / "corpus" / "labels.tsv"


def labelled() -> list[dict[str, str]]:
    """The labels of the corpus: one line a column."""
    with _labels().open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def corpus() -> Iterator[tuple[str, Table, dict[str, str], bool]]:
    """The files of the corpus: name, table, right roles, and whether it was read without an option."""
    folder = corpus_folder()
    assert folder is not None
    by_file: dict[tuple[str, str], dict[str, str]] = {}
    for line in labelled():
        by_file.setdefault((line["repository"], line["path"]), {})[line["column"]] = line["role"]
    for (repository, path), right in by_file.items():
        where = folder / repository.replace("/", "+") / path
        if where.is_file():
            table, plainly = _read(where)
            yield path, table, right, plainly


def _read(path: Path) -> tuple[Table, bool]:
    """A file; if lines of it are broken, without them."""
    try:
        return read(str(path)), True
    except TarnkappeError:
        records = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8", errors="replace"))))
        whole = [record for record in records if len(record) == len(records[0])]
        return _from_text(_written(whole)), False


def _written(records: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(records)
    return out.getvalue()


def _from_text(text: str) -> Table:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        path.write_text(text, encoding="utf-8")
        return read(str(path))


def judge(name: str, table: Table, right: dict[str, str]) -> list[Judged]:
    """What is proposed for the columns whose role is known."""
    proposed = {column.column: column.role.value for column in propose_roles(table)}
    return [
        Judged(name, column, role, proposed.get(column, proposed.get(ROW_NUMBER, "")))
        for column, role in right.items()
    ]


def judge_made_up(files: Iterable[MadeUpFile]) -> list[Judged]:
    """The same for made-up files, read as files are."""
    return [each for file in files for each in judge(file.name, _from_text(file.text), file.roles)]


def scores(judged: Sequence[Judged]) -> dict[str, Any]:
    """Recall and precision of each role, as numerators and denominators, and how many are acceptable."""
    told: dict[str, Any] = {"columns": len(judged), "acceptable": sum(each.acceptable for each in judged)}
    for role in ROLES:
        alone = [each for each in judged if each.right == role]
        said = [each for each in judged if each.proposed == role]
        told[role] = {
            "found": sum(each.proposed == role for each in alone),
            "of": len(alone),
            "right": sum(each.acceptable for each in said),
            "said": len(said),
        }
    return told


ROWS = 2_000


def changes_with_rows(domains: dict[str, Columns], seed: int = 0) -> tuple[int, int]:
    """Columns that are identifiers with some rows and none with others, and how many columns there are.

    A part of the rows, all of them, and all of them five times over.
    """
    changed = columns = 0
    for name, described in domains.items():
        table = _from_text(made_up(described, name, ROWS, 0.05, ",", seed).text)
        data = table.data
        verdicts = [
            _identifiers(Table(part, {}, table.reading))
            for part in (data.slice(0, 200), data.slice(0, 1000), data, pa.concat_tables([data] * 5))
        ]
        columns += data.num_columns
        changed += len(
            {name for some in verdicts for name in some if not all(name in each for each in verdicts)}
        )
    return changed, columns


def _identifiers(table: Table) -> set[str]:
    return {column.column for column in propose_roles(table) if column.role is Role.IDENTIFIER}
