"""Opens an old store again and again, and is killed at one place after another.

Places are the statements of the database and whatever is done to files beside it: a copy that is begun,
written, renamed. A child does the opening, so that this process, which has no threads, can be asked for
many places at the cost of one start.

    python -m tests.state.killed_upgrade NAME FOLDER EVERY FIRST

prints how many places there are. After each kill the store must be whole: of the old version or of the new.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import sqlalchemy as sa

from tarnkappe.state import AuditLog, Store
from tests.state.old_stores import COMPONENTS, Rows, rows_of, unpacked

FILE_EVENTS = {"open", "os.rename", "os.remove", "os.chmod", "sqlite3.connect", "shutil.rmtree"}
ENDED, KILLED = 0, -signal.SIGKILL


def die_at(place: int, folder: Path) -> None:
    """Let this process be killed when it has come to a place."""
    seen = count(1)

    def step(*_: object) -> None:
        if next(seen) == place:
            os.kill(os.getpid(), signal.SIGKILL)

    def file_step(event: str, details: tuple[object, ...]) -> None:
        if event in FILE_EVENTS and str(folder) in str(details[:1]):
            step()

    sa.event.listen(sa.Engine, "before_cursor_execute", step)
    sa.event.listen(sa.Engine, "commit", step)
    sys.addaudithook(file_step)


def in_child(work: Callable[[], None]) -> int:
    """How a child ended that did some work."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(ENDED if sys.exc_info()[0] is None else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def check_whole(path: Path, name: str, before: Rows) -> None:
    """Every copy is one of the old store, and the store is old or new; the next opening makes it new."""
    component = COMPONENTS[name][1]
    for copy in path.parent.glob("*-backup"):
        assert rows_of(copy) == before, "a copy under its name is whole"
    after = rows_of(path)
    if after != before:
        new = {row[0]: row[1] for row in after["tarnkappe_schema"]}
        assert new == {"audit": 2, component.name: component.version}
    with Store.open(path, component, folder=path.parent) as store:
        assert AuditLog(store).verify() > len(before["audit_log"])
        told = [e.details for e in AuditLog(store).entries() if e.event == "store migrated"]
        assert len({each["component"] for each in told}) == len(told), "every step is taken once"
    assert rows_of(path)["audit_log"] == before["audit_log"]
    assert not list(path.parent.glob("*backup-partial*"))
    assert len(list(path.parent.glob("*-backup"))) == 1


def main(name: str, folder: Path, every: int, first: int) -> int:
    component = COMPONENTS[name][1]
    for place in count(first, every):
        path = unpacked(name, folder / str(place))
        before = rows_of(path)

        def opened(path: Path = path, place: int = place) -> None:
            die_at(place, path.parent)
            Store.open(path, component, folder=path.parent).close()

        ending = in_child(opened)
        assert ending in (ENDED, KILLED), ending
        assert in_child(lambda path=path, before=before: check_whole(path, name, before)) == ENDED, place
        shutil.rmtree(path.parent)
        if ending == ENDED:
            return place
    raise AssertionError("it never ends")


if __name__ == "__main__":
    print(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
