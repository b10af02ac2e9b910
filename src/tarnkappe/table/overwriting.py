"""No output takes the place of an input, whichever way either is named, nor of a file that is not ours.

A file that shows that it was written here may be written again; any other only if the user says so. Paths are
compared by what they lead to, not by how they are spelled: through links, `..`, hard links, other mounts and
systems that do not tell capitals. It is asked before anything is read, of all that a run will read and write,
and again when a finished file is about to get its name, of all that was really read.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from tarnkappe.errors import ParameterError, Reason
from tarnkappe.table.ownership import is_own

_Identity = tuple[int, int, int]


PLANS = (".json", ".xml", ".sql")
"""How the name of a plan ends."""


def refuse_overwriting(
    outputs: Mapping[str, str | Path | None],
    inputs: Iterable[str | Path | None],
    manifests: Iterable[Path] = (),
    *,
    only_new: Collection[str] = (),
) -> None:
    """Refuse outputs that would take the place of an input, of each other or of a file that is not ours.

    Nothing is read or written yet.

    Args:
        outputs: where something will be written, each by the flag or setting that says so.
        inputs: the files that will be read; those that are not there yet (the store of a history) count, too.
        manifests: where the manifests of earlier outputs may be, other than beside them.
        only_new: outputs that refuse every file by themselves.

    Raises:
        ParameterError: if two of them are the same file, or one is there and was not written by us.
    """
    places = {said: (Path(path), _place(Path(path))) for said, path in outputs.items() if path is not None}
    read = [_place(Path(path)) for path in inputs if path is not None]
    for said, (path, place) in places.items():
        if any(_same(place, other) for other in read):
            raise ParameterError.because(_refused(path, said))
    pairs = list(places.items())
    for number, (said, (path, place)) in enumerate(pairs):
        for other, (_, elsewhere) in pairs[:number]:
            if _same(place, elsewhere) or str(place).casefold() == str(elsewhere).casefold():
                raise ParameterError(
                    "table.same-name-output-file",
                    "{path}: {other} and {said} have the same name: each output is a file of its own",
                    path=path,
                    other=other,
                    said=said,
                )
    for said, (path, _) in pairs:
        if said not in only_new:
            refuse_foreign(path, said, manifests)


def same_file(one: str | Path, other: str | Path) -> bool:
    """Whether two paths lead to the same file, or would."""
    return _same(_place(Path(one)), _place(Path(other)))


class _Ledger:
    """The files that were read and are nobody's output, and those that may be replaced."""

    def __init__(self, *, replace: bool = False) -> None:
        self.replace = replace
        self.own: set[_Identity] = set()
        self._lock = threading.Lock()
        self._places: set[Path] = set()
        self._identities: set[_Identity] = set()

    def note_read(self, path: Path) -> None:
        identity = _identity(path)
        with self._lock:
            if identity not in _WRITTEN:
                self._places.add(_place(path))
                self._identities |= {identity} if identity else set()

    def has(self, target: Path) -> bool:
        identity = _identity(target)
        with self._lock:
            if identity is None or identity in _WRITTEN:
                return False
            return identity in self._identities or _place(target) in self._places


_WRITTEN: set[_Identity] = set()
_LEDGER: ContextVar[_Ledger] = ContextVar("files read and written", default=_Ledger())  # noqa: B039


@contextmanager
def one_run(inputs: Iterable[str | Path | None] = (), *, replace: bool = False) -> Iterator[None]:
    """What is read from here on counts for this run alone: a later run may write what this one read.

    Args:
        inputs: files that the run reads.
        replace: whether it may replace files that are not ours; so it may if it is part of a run that may.
    """
    token = _LEDGER.set(_Ledger(replace=replace or _LEDGER.get().replace))
    try:
        for path in inputs:
            if path is not None:
                note_read(Path(path))
        yield
    finally:
        _LEDGER.reset(token)


def note_read(path: Path) -> None:
    """Remember that a file is read: nothing that is written in this run may take its place."""
    _LEDGER.get().note_read(path)


def note_written(path: Path) -> None:
    """Remember that a file is our own work: it may be written again."""
    identity = _identity(path)
    if identity is not None:
        _WRITTEN.add(identity)


def refuse_place(target: Path, *, replace: bool = False) -> None:
    """Refuse to give a finished file the name of one that was read, or that is there and is not ours."""
    if _LEDGER.get().has(target):
        raise ParameterError.because(_refused(target, "the output"))
    if not replace:
        refuse_foreign(target, "the output")


def refuse_foreign(path: Path, said: str, manifests: Iterable[Path] = ()) -> None:
    """Refuse the place of a file that does not show that it was written here; what shows it is remembered."""
    ledger, identity = _LEDGER.get(), _identity(path)
    if identity is None or ledger.replace or identity in _WRITTEN or identity in ledger.own:
        return
    if path.is_file() and not is_own(path, manifests):
        raise ParameterError(
            "table.exists-nothing-shows-tarn",
            "{path} exists, and nothing shows that tarn wrote it: choose another name for {said}, or pass "
            "--replace (in Python replace=True)",
            path=path,
            said=said,
        )
    ledger.own.add(identity)


def _refused(path: Path, said: str) -> Reason:
    kind, suffix = "release", path.suffix
    if said == "--write-plan":
        kind, suffix = "plan", suffix if suffix.lower() in PLANS else PLANS[0]
    free = path.with_name(f"{path.name.split('.')[0]}.{kind}{suffix}")
    return Reason(
        "table.read-run-cannot-written",
        "{path} is read by this run and cannot be written: choose another name for {said}, as {free}",
        path=path,
        said=said,
        free=free.name,
    )


def _place(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL byte, a link to itself
        raise ParameterError(
            "table.no-name-file", "{path}: this is no name that a file can have", path=path
        ) from None


def _same(one: Path, other: Path) -> bool:
    if one == other:
        return True
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _identity(path: Path) -> _Identity | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    # The time tells a file from a later one that got the same number.
    return found.st_dev, found.st_ino, found.st_mtime_ns
