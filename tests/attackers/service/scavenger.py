"""Somebody who reads every byte that a service has kept, after an upload was deleted."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.service.served import Served


class Scavenger(Attacker[Served]):
    name = "deleted-upload scavenger"
    promise = "deletion"
    knows = "Cells of the table that somebody uploaded and then deleted."
    sees = "Every file in the folder of the service, pages of its database that are free, and its place for temporary files."
    does = "Searches all of it for the cells, as they are, in other encodings, and inside of packed files."

    def attack(self, target: Served) -> Iterator[Victim]:
        for path in sorted(target.folder.rglob("*")):
            if path.is_file():
                found = contents(path)
                for cell in target.cells:
                    if any(form in found for form in forms(cell)):
                        yield Victim(cell, f"is in {path.relative_to(target.folder)}")


def forms(cell: str) -> list[bytes]:
    """How a cell may be written."""
    return [cell.encode(), cell.encode("utf-16-le"), cell.encode("ascii", "backslashreplace")]


def contents(path: Path) -> bytes:
    """The bytes of a file, and what is in it if it is packed."""
    raw = path.read_bytes()
    if raw[:4] == b"PAR1":
        table: pa.Table = pq.read_table(path)
        return raw + repr(table.to_pylist()).encode()
    if raw[:2] == b"\x1f\x8b":
        return raw + gzip.decompress(raw)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return raw + b"".join(archive.read(name) for name in archive.namelist())
    return raw
