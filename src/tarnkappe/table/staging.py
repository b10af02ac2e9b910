"""Hidden folders in which files are made before they get their names.

A process that is killed cannot clean up. So whoever makes a file holds a lock in the hidden folder where he
makes it; the system lets go of the lock when he dies, and the next one who writes beside it removes what he
left behind. Ctrl-C may come between any two steps of Python, also before a folder is in anybody's care; so
a process looks once more at its end, wherever it has written.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tarnkappe.errors import OutputError

PREFIX = ".tarnkappe-"
LOCK = f"{PREFIX}lock"
PAUSES = (0.01, 0.05, 0.1)
"""How long to wait, in seconds, for somebody who only looks whether the owner of a folder has died."""

_places: set[Path] = set()
"""Where this process has written."""


@contextmanager
def hidden_folder(target: Path) -> Iterator[Path]:
    """An empty folder beside a file to be, which nobody else uses; it is gone at the end."""
    _look_after(target.parent)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=target.parent))
        with _held(folder) as is_ours:
            if is_ours:
                yield folder
                return


@contextmanager
def claimed_folder(target: Path) -> Iterator[Path]:
    """The one hidden folder that belongs to a file to be: who has it is the only one to write the file.

    Raises:
        OutputError: if somebody else has it.
    """
    _look_after(target.parent)
    name = hashlib.sha256(target.name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    folder = target.with_name(PREFIX + name)
    for pause in PAUSES:
        folder.mkdir(mode=0o700, exist_ok=True)
        with _held(folder) as is_ours:
            if is_ours:
                yield folder
                return
        time.sleep(pause)
    raise OutputError(
        "table.another-run-writing-file",
        "{target}: another run is writing this file: wait for it, or name another file",
        target=target,
    )


def remove_abandoned(parent: Path) -> None:
    """Remove the hidden folders whose owners have died."""
    with os.scandir(parent) as entries:
        hidden = [entry for entry in entries if entry.name.startswith(PREFIX)]
    for folder in [Path(entry.path) for entry in hidden if entry.is_dir(follow_symlinks=False)]:
        if (folder / LOCK).exists():
            with _held(folder):
                pass  # and if it is ours now, it goes
        else:
            _remove_if_empty(folder)


@atexit.register
def remove_forgotten() -> None:
    """Remove the hidden folders that nobody in this process uses any more, wherever it has written."""
    for place in list(_places):
        with suppress(OSError):
            remove_abandoned(place)


def _look_after(place: Path) -> None:
    remove_abandoned(place)
    _places.add(place.absolute())


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Hold a folder and remove it at the end; False if somebody else holds it or has taken it away."""
    try:
        # A file object closes itself, and so lets go of the lock, even if Ctrl-C comes right here.
        lock = open(folder / LOCK, "ab", opener=_for_the_owner)  # noqa: SIM115
    except FileNotFoundError:
        yield False
        return
    is_ours = False
    try:
        is_ours = try_lock(lock.fileno()) and _has_its_name(lock.fileno(), folder / LOCK)
        yield is_ours
    finally:
        try:
            if is_ours:
                _remove(folder)
        finally:
            lock.close()


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _has_its_name(descriptor: int, path: Path) -> bool:
    """Whether an open file is still there: who held the lock before may have removed it since."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _remove(folder: Path) -> None:
    """Remove a folder, its lock last: whoever dies on the way leaves something to be found."""
    for entry in list(folder.iterdir()):
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != LOCK:
            entry.unlink(missing_ok=True)
    (folder / LOCK).unlink(missing_ok=True)
    _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # somebody has come


if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Lock an open file if nobody else has; the lock lasts until it is closed or its process ends."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock an open file if nobody else has; the lock lasts until it is closed or its process ends."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
