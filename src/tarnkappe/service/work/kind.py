"""What a kind of job is: what it reads in a document, and what it makes of it in a process of its own."""

from __future__ import annotations

import dataclasses
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console, RenderableType

from tarnkappe.errors import JobError
from tarnkappe.schema import Parameters
from tarnkappe.service.people import Right
from tarnkappe.table import MISSING
from tarnkappe.table.encoding import Progress, as_text

HEAD_ROWS = 20
TEXT_WIDTH = 110


@dataclasses.dataclass(frozen=True)
class JobContext:
    """What a job works with.

    Attributes:
        folder: where it puts its files.
        progress: is told how far it is.
        names: what its owner calls each path.
    """

    folder: Path
    progress: Progress
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def name_of(self, source: Mapping[str, Any]) -> str:
        """What its owner calls a source of rows."""
        return self.names.get(str(source.get("path")), str(source.get("table", "the table")))


@dataclasses.dataclass(frozen=True)
class JobOutcome:
    """What a job ends with.

    Attributes:
        figures: all that there is to say, as the command of the same name prints it with `--json`.
        text: the same in words, as the command prints it.
        exit_code: of the command: 1 if a guarantee that was asked for does not hold.
        files: the files that it made in its folder, by what they are.
    """

    figures: Mapping[str, Any]
    text: str
    exit_code: int = 0
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)


class JobKind(ABC):
    """A kind of job.

    Attributes:
        name: by which documents ask for it.
        right: who may start it.
        document: what a client may ask, in which tables are named.
        restarts: whether it may begin anew if its process was killed: not if it leaves traces beside its
            folder.
        most_seconds: that it may take, if that is less than what the limits allow any job.
    """

    name: ClassVar[str]
    right: ClassVar[Right] = Right.PUBLISH
    document: ClassVar[type[Parameters]]
    restarts: ClassVar[bool] = True
    most_seconds: ClassVar[float | None] = None

    @classmethod
    def sections(cls) -> tuple[str, ...]:
        """The names of what a document may say."""
        return tuple(cls.document.__struct_encode_fields__)

    @classmethod
    @abstractmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        """Refuse, before anything is begun, a document that cannot be understood."""

    @classmethod
    @abstractmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        """Do it. The document has been resolved: what it names are paths and addresses."""


def require_sense(kind: type[JobKind], document: Mapping[str, Any]) -> None:
    """Read a document as its job will; a value of a type that nobody thought of is refused, too."""
    try:
        kind.check(document)
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
        raise JobError(
            "service.value-document-wrong-type",
            "a value in the document has the wrong type ({name})",
            name=type(error).__name__,
        ) from None


def in_words(what: RenderableType) -> str:
    """What the command line would print."""
    page = io.StringIO()
    Console(file=page, width=TEXT_WIDTH, color_system=None).print(what, highlight=False)
    return page.getvalue().rstrip("\n")


def head_of(rows: pa.Table | pq.ParquetFile) -> dict[str, Any]:
    """The first rows of a table as texts, for a page."""
    if isinstance(rows, pq.ParquetFile):
        rows = pa.Table.from_batches([*islice(rows.iter_batches(HEAD_ROWS), 1)], rows.schema_arrow)
    first = rows.slice(0, HEAD_ROWS)
    columns = [as_text(first.column(name).combine_chunks()).fill_null(MISSING) for name in first.column_names]
    return {
        "columns": first.column_names,
        "rows": [list(row) for row in zip(*(column.to_pylist() for column in columns), strict=True)],
    }
