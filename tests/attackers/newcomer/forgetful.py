"""Somebody who gets all that a forgetful steward lets out, and looks for what she never spoke of."""

from __future__ import annotations

import dataclasses
import gzip
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class LetOut:
    """Everything that was written and said, and the values of columns that nobody named."""

    folder: Path
    said: str
    values: dict[str, tuple[str, ...]]


class Forgetful(Attacker[LetOut]):
    name = "forgetful"
    promise = "unnamed"
    knows = "The values of the columns that the steward forgot, of everybody."
    sees = "The release, the report, the manifest, every other file beside them, and what was printed."
    does = "Opens each file in every way that he knows and looks for one of the values."

    def attack(self, target: LetOut) -> Iterator[Victim]:
        places = {"what was printed": target.said}
        for path in sorted(target.folder.rglob("*")):
            if path.is_file():
                places[path.name] = "\n".join(_texts(path))
        for place, text in places.items():
            for column, values in target.values.items():
                found = [value for value in values if value in text]
                if found:
                    yield Victim(f"{len(found)} people", f"have their {column} in {place}")


def _texts(path: Path) -> Iterator[str]:
    content = path.read_bytes()
    yield content.decode("utf-8", "ignore")
    yield content.decode("utf-16-le", "ignore")
    if content[:2] == b"\x1f\x8b":
        yield gzip.decompress(content).decode("utf-8", "ignore")
    if content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield archive.read(name).decode("utf-8", "ignore")
    if content[:4] == b"PAR1":
        table = pq.read_table(path)
        yield str(table.schema.metadata)
        yield str(table.to_pylist())
        yield str(pq.read_metadata(path).to_dict())
