"""Processes of jobs: what they see of the service, and that none of them outlives it."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tarnkappe.service.core import ServiceCore
from tarnkappe.service.jobs import JobState
from tarnkappe.service.jobs.process import KEPT, ForkServer, JobProcess
from tarnkappe.service.settings import Limits
from tarnkappe.service.worker import UNPACKING
from tests.conftest import ROOT
from tests.service.test_jobs import ended, process_of, small, stored, until

assert small, "a fixture"


@pytest.fixture
def server(tmp_path: Path) -> ForkServer:
    return ForkServer(tmp_path)


@pytest.fixture
def process(server: ForkServer) -> Iterator[JobProcess]:
    process = JobProcess(server)
    yield process
    process.end(grace=0.0)


def the_server() -> psutil.Process:
    """The fork server of this process."""
    living = [child for child in psutil.Process().children() if not is_gone(child.pid)]
    return next(each for each in living if "multiprocessing.forkserver" in each.cmdline()[-1])


def lose_the_server() -> None:
    lost = the_server()
    lost.kill()
    until(lambda: is_gone(lost.pid))  # who waits for it here takes its end away from multiprocessing


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_job_sees_nine_names_of_the_environment_at_most_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in KEPT:
        monkeypatch.setenv(name, os.environ.get(name, "C.UTF-8" if name.startswith("L") else "1"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("TARN_TOKEN", "hunter2")
    server = ForkServer(tmp_path)
    for _ in range(2):  # the server as it is, and one that replaces it
        lose_the_server()
        process = JobProcess(server)
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        process.end(grace=0.0)
        assert {entry.partition(b"=")[0].decode() for entry in environment.split(b"\0") if entry} == {*KEPT}
        assert f"TMPDIR={tmp_path}".encode() in environment
    assert len(KEPT) == 9
    lose_the_server()  # with what was set here


def open_in(pid: int) -> set[str]:
    """Files, sockets and pipes of a process; what everybody has does not count."""
    found = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile, as the one that lists them
            found.add(str(each.readlink()))
    return {each for each in found if each != os.devnull and not each.startswith("anon_inode")}


def test_a_job_has_nothing_open_but_its_own_line(
    small: Callable[..., ServiceCore], process: JobProcess
) -> None:
    with small():  # a store, and whatever else a service has open
        job = open_in(process.pid)
        kinds = sorted(each.partition(":")[0] for each in job)
        assert kinds == ["pipe", "socket"], "what ends with the service, and the line"
        assert not job & open_in(the_server().pid)
        assert not {each for each in job & open_in(os.getpid()) if each.startswith("socket")}
        for number in (0, 1, 2):
            assert stat.S_ISCHR(Path(f"/proc/{process.pid}/fd/{number}").stat().st_mode)


def test_a_job_is_in_a_session_of_its_own(process: JobProcess) -> None:
    assert os.getsid(process.pid) == os.getpgid(process.pid) == process.pid


def test_a_lost_server_is_replaced_and_its_jobs_go_on(
    small: Callable[..., ServiceCore], patients: bytes
) -> None:
    with small(jobs_at_once=2) as house:
        ann, file_id = stored(house, patients)
        first = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
        pids = [process_of(house, first).pid]
        lost = the_server().pid
        lose_the_server()
        second = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
        pids.append(process_of(house, second).pid)
        assert the_server().pid != lost
        assert {ended(house, job, ann).state for job in (first, second)} == {JobState.DONE}
        until(lambda: all(map(is_gone, pids)))


def test_a_job_whose_server_was_lost_can_still_be_ended(server: ForkServer) -> None:
    process = JobProcess(server)
    lose_the_server()
    assert process.memory() > 0
    process.end()
    until(lambda: is_gone(process.pid))


def test_a_process_that_is_cut_off_in_the_middle_of_a_message_has_ended(process: JobProcess) -> None:
    ours, theirs = multiprocessing.Pipe()
    process._line.close()
    process._line = ours
    os.write(theirs.fileno(), b"\0\0\0\x20" + b'{"stage": "rea')
    theirs.close()
    assert process._next() is None


def test_a_number_that_went_to_somebody_else_is_left_alone(process: JobProcess) -> None:
    """Systems give the number of a process, and of its group, again when the last one in it has ended."""
    os.kill(process.pid, signal.SIGKILL)
    until(lambda: is_gone(process.pid))
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as bystander:
        process.pid = bystander.pid
        process.interrupt()
        process.end()
        process.interrupt()
        assert bystander.poll() is None
        bystander.kill()


def test_nothing_is_signalled_after_the_end(process: JobProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group may be somebody else's whose own leader has ended: there is nothing to tell it by."""
    process.end()
    signalled: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, number: signalled.append(group))
    process.interrupt()
    assert signalled == []


def test_memory_counts_although_something_that_was_started_ends_meanwhile(
    process: JobProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(["sleep", "60"]) as started:
        brief = psutil.Process(started.pid)
        started.kill()
    monkeypatch.setattr(psutil.Process, "children", lambda *_, **__: [brief])
    assert process.memory() > 0


def test_a_job_that_somebody_else_terminates_has_not_ended_by_itself(
    tmp_path: Path, process: JobProcess, patients: bytes
) -> None:
    """Who ends a service may end all its processes at once, as systemd does: the job then begins anew."""
    (tmp_path / "ward.csv").write_bytes(patients)
    document = {"input": {"path": str(tmp_path / "ward.csv")}}

    def terminate(_: object) -> None:
        os.kill(process.pid, signal.SIGTERM)

    ending = process.run("profile", document, {}, tmp_path, Limits(), threading.Event(), terminate)
    assert ending.how == "killed", ending.error
    assert f"exit code {128 + signal.SIGTERM}" in str(ending.error)


LATE = """
import multiprocessing, os, signal, sys
from pathlib import Path
from tarnkappe.service import worker

def interrupted(value):
    os.kill(os.getpid(), signal.SIGINT)
    return value

worker._plain = interrupted  # the job is done, and nobody knows yet
context = multiprocessing.get_context("fork")
ours, theirs = context.Pipe()
context.Process(target=worker.attend, args=(theirs,)).start()
ours.recv_bytes()
ours.send_bytes(sys.argv[1].encode())
while b'"end"' not in (message := ours.recv_bytes()):
    pass
print(message.decode())
"""


def test_who_asks_too_late_for_an_early_end_gets_the_whole_result(tmp_path: Path, patients: bytes) -> None:
    (tmp_path / "ward.csv").write_bytes(patients)
    document = {"input": {"path": str(tmp_path / "ward.csv")}}
    task = {"kind": "profile", "document": document, "names": {}, "folder": str(tmp_path), "check": False}
    said = subprocess.run(
        [sys.executable, "-c", LATE, json.dumps(task)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert json.loads(said.stdout) == {"end": "done"}, said.stderr


def test_every_job_has_a_process_of_its_own_and_none_stays(
    small: Callable[..., ServiceCore], patients: bytes
) -> None:
    with small(jobs_at_once=3) as house:
        ann, file_id = stored(house, patients)
        jobs, pids = [], set()
        for _ in range(4):  # each is looked at before it can have ended
            jobs.append(house.jobs.start("profile", {"input": {"file": file_id}}, ann))
            pids.add(process_of(house, jobs[-1]).pid)
        assert {ended(house, job, ann).state for job in jobs} == {JobState.DONE}
        assert len(pids) == 4
        until(lambda: not the_server().children())
    assert not multiprocessing.active_children()


SERVICE = """
import json, os, sys, threading
from pathlib import Path
from tarnkappe.service.jobs.process import ForkServer
from tarnkappe.service.jobs.process import JobProcess
from tarnkappe.service.settings import Limits

folder = Path(sys.argv[1])
server = ForkServer(folder)
waiting, working = JobProcess(server), JobProcess(server)
asked = {"path": str(folder / "endless.csv"), "unpacked_bytes": 10**9, "compression": 100}
arguments = ("unpacking", asked, {}, Path(), Limits(), threading.Event(), print)
threading.Thread(target=working.run, args=arguments, daemon=True).start()
print(json.dumps([waiting.pid, working.pid]), flush=True)
sys.stdin.read()
"""
"""Without a guard around what it starts: a job must not run the program of the service again."""


def test_when_the_service_is_killed_no_process_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.csv")  # who reads it waits until somebody writes
    program = tmp_path / "service.py"
    program.write_text(SERVICE, encoding="utf-8")
    command = [sys.executable, str(program), str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        pids = json.loads(service.stdout.readline())
        family = [child.pid for child in psutil.Process(service.pid).children(recursive=True)]
        assert {*pids} < {*family}, "the jobs, and the server that they come from"
        assert not any(map(is_gone, family))
        os.kill(service.pid, signal.SIGKILL)
        until(lambda: all(map(is_gone, family)))


def test_an_endless_read_ends_at_its_limit(tmp_path: Path, server: ForkServer) -> None:
    os.mkfifo(tmp_path / "endless.csv")
    asked = {"path": str(tmp_path / "endless.csv"), "unpacked_bytes": 10**9, "compression": 100}
    process, never = JobProcess(server), threading.Event()
    ending = process.run(UNPACKING, asked, {}, Path(), Limits(job_seconds=0.5), never, print)
    assert ending.how == "failed"
    assert is_gone(process.pid)


def test_a_long_name_of_the_temporary_folder_keeps_no_service_from_starting(tmp_path: Path) -> None:
    """The name of a socket has 107 bytes at most, and multiprocessing makes its own in that folder."""
    long = tmp_path / ("l" * 100)
    long.mkdir()
    program = (
        "import sys, tempfile, pathlib\n"
        "from tarnkappe.service.jobs.process import ForkServer, JobProcess\n"
        "JobProcess(ForkServer(pathlib.Path(sys.argv[1]))).end(grace=0.0)\n"
        "print(tempfile.gettempdir())\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        env={**os.environ, "TMPDIR": str(long)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, said.stdout.strip()) == (0, str(long)), said.stderr
