"""The archive of an ARX project, read as that of a stranger.

Members are looked up by the names that the format has and never unpacked under their own, nothing is unpacked
beyond a limit, and document types of XML are refused.
"""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, Final

from tarnkappe.algebra.xml_elements import Element, parse_xml
from tarnkappe.errors import InputError, LimitError, QueryError

MOST_MEMBERS: Final = 20_000
MOST_SETTINGS: Final = 64 * 2**20
"""Bytes of a member that is read at once: XML, a hierarchy, a configuration."""
MOST_SETTINGS_IN_ALL: Final = 512 * 2**20
MOST_ELEMENTS: Final = 1_000_000
"""Of XML: an empty one is packed into a few bits, and takes hundreds of bytes of memory."""
MOST_DATA: Final = 16 * 2**30
FREELY_UNPACKED: Final = 64 * 2**20
MOST_GROWTH: Final = 200
"""Beyond 64 MiB, data may not be more than this many times larger than they are in the archive."""


DAMAGED: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,  # of bzip2, and of places in the file that are none
    EOFError,
    NotImplementedError,
    RuntimeError,
    UnicodeDecodeError,
    ValueError,
)
"""What the standard library says of an archive that is none, by the kind of packing."""


@contextmanager
def opened_project(path: Path) -> Iterator[ProjectArchive]:
    """A project; every error of what is done with it names the file."""
    try:
        with zipfile.ZipFile(path) as archive:
            if len(archive.infolist()) > MOST_MEMBERS:
                raise LimitError(
                    "job.archive-more-files-no-project",
                    "{path}: an archive of more than {most_members:,} files is no project of ARX",
                    path=path,
                    most_members=MOST_MEMBERS,
                )
            yield ProjectArchive(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError):
        raise _damaged(path) from None
    except (InputError, LimitError, QueryError) as error:
        if str(error).startswith(f"{path}: "):
            raise
        raise (
            InputError.because(error.reason.within(path))
            if isinstance(error, QueryError)
            else error.within(path)
        ) from None
    except FileNotFoundError:
        raise InputError("job.no-file", "{path}: there is no such file", path=path) from None


class ProjectArchive:
    """The members of a project, by the names of the format."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = MOST_SETTINGS_IN_ALL
        self._path = Path(str(archive.filename))
        self._size = self._path.stat().st_size

    def _member(self, name: str) -> zipfile.ZipInfo:
        try:
            return self._archive.getinfo(name)
        except KeyError:
            raise InputError("job.project-no", "the project has no {name}", name=name) from None

    def content(self, name: str) -> bytes:
        """The bytes of a member of settings."""
        member = self._member(name)
        try:
            with self._archive.open(member) as source:
                content = source.read(MOST_SETTINGS + 1)
        except DAMAGED:
            raise _damaged(self._path) from None
        if len(content) > MOST_SETTINGS:
            raise LimitError(
                "job.more-mib-none-arx",
                "{name} has more than {most_settings} MiB, which none of ARX has",
                name=name,
                most_settings=MOST_SETTINGS // 2**20,
            )
        self._left -= len(content)
        if self._left < 0:  # many members may share the same packed bytes
            raise LimitError(
                "job.settings-project-more-mib",
                "the settings of the project have more than {most_settings_in_all} MiB, which none of ARX "
                "has",
                most_settings_in_all=MOST_SETTINGS_IN_ALL // 2**20,
            )
        return content

    def text(self, name: str) -> str:
        """The text of a member."""
        try:
            return self.content(name).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(
                "job.project-not-utf-8", "{name} of the project is not UTF-8 text", name=name
            ) from None

    def xml(self, name: str) -> Element:
        """The root of a member in XML."""
        return parse_xml(self.text(name), MOST_ELEMENTS)

    @contextmanager
    def table(self, name: str) -> Iterator[io.TextIOWrapper]:
        """A member of rows, unpacked as it is read."""
        member = self._member(name)
        packed = min(member.compress_size, self._size)  # a header may claim anything
        try:
            opened = self._archive.open(member)
        except DAMAGED:
            raise _damaged(self._path) from None
        with closing(_Bounded(opened, packed, self._path)) as source:
            yield io.TextIOWrapper(io.BufferedReader(source), encoding="utf-8-sig", newline="")


class _Bounded(io.RawIOBase):
    """A member of an archive, of which no more is unpacked than any table in an archive would give."""

    def __init__(self, source: IO[bytes], packed: int, path: Path) -> None:
        super().__init__()
        self._source = source
        self._path = path
        self._left = min(MOST_DATA, max(FREELY_UNPACKED, MOST_GROWTH * packed))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._source.read(min(len(buffer), 1 << 16))
        except DAMAGED:
            raise _damaged(self._path) from None
        self._left -= len(content)
        if self._left < 0:
            raise LimitError(
                "job.data-project-more-times",
                "the data of the project are more than {most_growth} times larger than in the archive, "
                "which no table is: nothing was imported",
                most_growth=MOST_GROWTH,
            )
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._source.close()
        super().close()


def _damaged(path: Path) -> InputError:
    return InputError(
        "job.no-project-arx-damaged", "{path}: this is no project of ARX, or a damaged one", path=path
    )


def texts_of(element: Element) -> dict[str, str]:
    """The texts of the elements that hold nothing else, by their tags."""
    return {child.tag: child.text.strip() for child in element.children if not child.children}
