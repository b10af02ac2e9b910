"""What is kept about an upload, and the proof that it is gone: the folder is searched for cells of it.

Everything that comes from an upload belongs to it and goes with it. After deleting, pieces of the upload that
were held in memory are looked for in every file that is left and belongs to no other upload. What is not
searched: backups, snapshots of disks, freed blocks of flash memory, and what was handed over before.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.service.people import Account

if TYPE_CHECKING:
    from tarnkappe.service.core import ServiceCore

SHOWS = {
    "anonymize": "released",
    "profile": "raw",
    "hierarchy": "raw",
    "sql": "raw",
    "utility": "internal",
    "check": "internal",
    "compare": "internal",
    "lattice": "internal",
    "alternatives": "internal",
    "attack": "internal",
}
"""The most that the result of a kind of job tells of the upload."""
PIECES = 20
LEAST_BYTES = 6
MOST_DRAWN_FROM = 200
READ = 4 * 2**20
TEXTS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson")
CELL = re.compile(rb"[^\x00-\x1f,;|\"\']{%d,64}" % LEAST_BYTES)


@dataclasses.dataclass(frozen=True)
class KeptPart:
    """One thing that is kept about an upload.

    Attributes:
        what: the upload, its draft, or the kind of a job.
        id: by which it is named.
        bytes: how much it takes on the disk.
        created: when it came.
        until: when it is removed if nobody uses it; None if it goes with the upload.
        shows: what it tells of the upload: raw cells, internal figures, what is released, or nothing.
    """

    what: str
    id: str
    bytes: int
    created: float
    until: float | None
    shows: str


@dataclasses.dataclass(frozen=True)
class DeletionSearch:
    """What was found when a folder was searched for pieces of an upload that was deleted.

    Attributes:
        files: how many files were searched.
        pieces: for how many pieces.
        found: in how many files one was found; none, if all is well.
    """

    files: int
    pieces: int
    found: int


def kept_about(house: ServiceCore, file_id: str, who: Account) -> list[KeptPart]:
    """All that is kept about an upload, the upload first."""
    file = house.files.get(file_id, who)
    seconds = house.settings.limits.keep_days * 24 * 3600.0
    parts = [KeptPart("upload", file.id, file.bytes, file.created, file.created + seconds, "raw")]
    draft = house.drafts.load(file_id, who)
    if draft is not None:
        parts.append(KeptPart("draft", file.id, draft.bytes, draft.changed, None, "internal"))
    for job in house.jobs.made_from(file_id, who):
        size = size_of(house.settings.folder / "jobs" / job.id)
        until = None if job.finished is None else job.finished + seconds
        parts.append(KeptPart(job.kind, job.id, size, job.created, until, SHOWS.get(job.kind, "internal")))
    return parts


def size_of(folder: Path) -> int:
    """How much all files of a folder take; one that goes meanwhile takes nothing."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += path.stat().st_size if path.is_file() else 0
    return size


def delete_and_search(
    house: ServiceCore, file_id: str, who: Account, seed: int | None = None
) -> DeletionSearch:
    """Delete an upload with all that was made from it, then look for pieces of it in what is left."""
    pieces = pieces_of(house.files.path(file_id, who), random.Random(seed))  # noqa: S311
    house.remove_file(file_id, who)
    left = [path for path in house.settings.folder.rglob("*") if path.is_file()]
    others = house.files.all_names() | house.jobs.all_names()
    searched = [path for path in left if not _belongs_to(path, house.settings.folder, others)]
    found = sum(contains(path, pieces) for path in searched)
    return DeletionSearch(len(searched), len(pieces), found)


def pieces_of(path: Path, draw: random.Random) -> list[bytes]:
    """Pieces by which an upload would be recognized: cells of a text, runs of bytes of anything else.

    Long cells that the file has once are identifiers more often than not. A word that many cells have, or the
    name of a column, may be in another upload, too, and would prove nothing.
    """
    with path.open("rb") as stream:
        content = stream.read(READ)
    if path.name.endswith(TEXTS):
        rows = content.partition(b"\n")[2] or content
        counted = Counter(cell.strip() for cell in CELL.findall(rows))
        once = [cell for cell, times in counted.items() if times == 1 and len(cell) >= LEAST_BYTES]
        longest = sorted(once, key=lambda cell: (-len(cell), cell))[:MOST_DRAWN_FROM]
        return draw.sample(longest, min(PIECES, len(longest)))
    places = range(max(len(content) - 32, 0))
    return [content[place : place + 32] for place in draw.sample(places, min(PIECES, len(places)))]


def contains(path: Path, pieces: Sequence[bytes]) -> bool:
    """Whether one of the pieces is in a file, also where it lies across two reads."""
    longest = max(map(len, pieces), default=1)
    tail = b""
    with suppress(FileNotFoundError), path.open("rb") as stream:  # one that is gone has none
        while block := stream.read(READ):
            if any(piece in tail + block for piece in pieces):
                return True
            tail = block[-longest:]
    return False


def _belongs_to(path: Path, folder: Path, names: Iterable[str]) -> bool:
    """Whether a file is another upload, or lies in the folder of a job that is kept."""
    parts = path.relative_to(folder).parts
    return len(parts) > 1 and parts[0] in ("files", "jobs") and parts[1] in names
