"""Ctrl-C between any two steps of making a file: nothing stays behind but what had its name already."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tarnkappe.errors import OutputError
from tarnkappe.table import staging
from tarnkappe.table.staging import LOCK, claimed_folder, hidden_folder, remove_forgotten

Folder = Callable[[Path], AbstractContextManager[Path]]
FOLDERS = pytest.mark.parametrize("folder_for", [hidden_folder, claimed_folder])


class CtrlC:
    """Raises at the n-th instruction that Python carries out in the module under test."""

    def __init__(self, moment: int) -> None:
        self.left = moment

    def __enter__(self) -> CtrlC:
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != staging.__file__:
            return None
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._step


def make(folder_for: Folder, target: Path) -> None:
    with folder_for(target) as folder:
        (folder / "made").write_text("x")
        (folder / "made").replace(target)


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # whatever is open closes itself
@FOLDERS
def test_ctrl_c_between_any_two_instructions_leaves_no_folder(folder_for: Folder, tmp_path: Path) -> None:
    target = tmp_path / "release.csv"
    for moment in range(1, 10_000):
        with CtrlC(moment) as ctrl_c, suppress(KeyboardInterrupt):
            make(folder_for, target)
        remove_forgotten()
        assert {path.name for path in tmp_path.iterdir()} <= {target.name}, moment
        target.unlink(missing_ok=True)
        if ctrl_c.left > 0:
            break
    assert moment > 200


@FOLDERS
def test_what_is_in_use_is_not_forgotten(folder_for: Folder, tmp_path: Path) -> None:
    with folder_for(tmp_path / "release.csv") as folder:
        remove_forgotten()
        assert (folder / LOCK).exists()
    assert not folder.exists()


def test_a_process_that_ends_removes_what_it_had_only_begun(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tarnkappe.table import staging\n"
        "def interrupted(*_): raise KeyboardInterrupt\n"
        "staging.try_lock = interrupted\n"
        "try:\n"
        "    with staging.claimed_folder(Path(sys.argv[1])): pass\n"
        "except KeyboardInterrupt:\n"
        "    print([path.name for path in Path(sys.argv[1]).parent.iterdir()])\n"
        "import fcntl; staging.try_lock = lambda lock: fcntl.flock(lock, fcntl.LOCK_EX) is None\n"
    )
    target = tmp_path / "release.csv"
    done = subprocess.run(
        [sys.executable, "-c", program, target], capture_output=True, text=True, check=True, timeout=120
    )
    assert staging.PREFIX in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_another_process_stays(tmp_path: Path) -> None:
    target = tmp_path / "release.csv"
    program = (
        "import sys; from pathlib import Path; from tarnkappe.table.staging import claimed_folder\n"
        "with claimed_folder(Path(sys.argv[1])): print('claimed', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, target], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(OutputError, match="another run is writing"), claimed_folder(target):
            pass
        remove_forgotten()
        assert len(list(tmp_path.iterdir())) == 1
        other.communicate()
    assert list(tmp_path.iterdir()) == []
