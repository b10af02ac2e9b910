"""`tarn` without its start, for tests that run it again and again.

Loading libraries and our own modules takes most of the time of a command on a small table. Here one process
has them loaded and forks for every command: the same program with the same arguments, folder, environment
and streams, in a process of its own that ends with its own exit code. Tests about the start, the signals and
the limits of a process, and what is to run exactly as documented, start the real command.

`TARN` stands in place of the real command. It is a small client, which hands its streams over a socket and
ends as the command does. The first client starts the process that forks; it ends with the tests.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

REAL = Path(sys.executable).with_name("tarn")
FOLDER = "TARN_TESTS_FORKED"
"""Names the folder of the socket, which a run of the tests makes for itself and its workers."""
PRELOADED = (
    "anonymize", "attack", "check", "compare", "exchange", "federate", "hierarchy", "import", "lattice", "look",
    "policy", "pseudonymize", "reidentify", "sql", "start", "utility", "verify",
)  # fmt: skip
LATER = (
    "numpy.ma",
    "pyarrow.acero",
    "tarnkappe.cli.outputs",
    "tarnkappe.native.library",
    "tarnkappe.process.ending",
)
"""What commands load only while they run."""

CLIENT = """\
#!{python} -IS
import array, fcntl, os, signal, socket, sys, time

folder = os.environ.get({folder!r})
if not folder:  # somebody took the environment away
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])


def connected():
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(folder + "/socket")
    except OSError:
        return None
    return line


line = connected()
if line is None:
    with open(folder + "/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        line = connected()
        if line is None:
            words = [{python!r}, "-m", "tests.forked", folder]
            nothing = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
            known = {{**os.environ, "PYTHONPATH": {root!r}}}
            server = os.posix_spawn({python!r}, words, known, file_actions=nothing)
            while line is None and os.waitpid(server, os.WNOHANG) == (0, 0):
                time.sleep(0.02)
                line = connected()
if line is None:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
said = [os.getcwd(), str(len(sys.argv) - 1), *sys.argv[1:], *(k + "=" + v for k, v in os.environ.items())]
text = "\\0".join(said).encode("utf-8", "surrogateescape")
streams = array.array("i", [0, 1, 2])
line.sendmsg([len(text).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
line.sendall(text)
child = int.from_bytes(line.recv(8, socket.MSG_WAITALL), "big")
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: os.kill(child, number))
end = line.recv(8, socket.MSG_WAITALL)
code = int.from_bytes(end, "big", signed=True) if len(end) == 8 else 255
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


class _Tarn(os.PathLike[str]):
    """The client, if a run of the tests has made it; the real command otherwise."""

    def __fspath__(self) -> str:
        folder = os.environ.get(FOLDER)
        return str(Path(folder) / "tarn") if folder else str(REAL)

    __str__ = __fspath__


TARN = _Tarn()


@contextlib.contextmanager
def client() -> Iterator[None]:
    """While the tests run: a folder with the client, which all workers know by their environment."""
    folder = Path(tempfile.mkdtemp(prefix="tarnkappe-forked-"))
    root = str(Path(__file__).resolve().parent.parent)
    text = CLIENT.format(python=sys.executable, folder=FOLDER, real=str(REAL), root=root)
    (folder / "tarn").write_text(text, encoding="utf-8")
    (folder / "tarn").chmod(0o755)
    (folder / "owner").write_text(str(os.getpid()), encoding="utf-8")
    os.environ[FOLDER] = str(folder)
    try:
        yield
    finally:
        del os.environ[FOLDER]
        shutil.rmtree(folder, ignore_errors=True)  # the process that forks sees it and ends


def serve(folder: Path) -> None:
    """Fork for every client, until the folder is gone or whoever made it."""
    from tarnkappe.cli.program import commands
    from tarnkappe.process.libraries import load_libraries

    load_libraries()
    commands(PRELOADED)
    for name in LATER:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # who collects garbage after a fork would copy the memory in which he looks
    owner = int((folder / "owner").read_text(encoding="utf-8"))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who serve a client
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(folder / "waiting"))
        door.listen(64)
        (folder / "waiting").rename(folder / "socket")
        door.settimeout(1)
        while folder.exists() and _lives(owner):
            try:
                line, _ = door.accept()
            except TimeoutError:
                continue
            if os.fork() == 0:
                door.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _serve_client(line)
                return
            line.close()


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _serve_client(line: socket.socket) -> None:
    """Run one command in a further process, tell its end, and end it if the client is gone before."""
    line.settimeout(None)
    head, streams, _, _ = socket.recv_fds(line, 8, 3)
    text = b""
    while len(text) < int.from_bytes(head, "big"):
        text += line.recv(1 << 20)
    child = os.fork()
    if child == 0:
        line.close()
        _run(text.decode("utf-8", "surrogateescape").split("\0"), streams)
        return
    for stream in streams:
        os.close(stream)
    line.sendall(child.to_bytes(8, "big"))
    if sys.platform == "linux":
        ended = os.pidfd_open(child)
        if ended not in select.select([line, ended], [], [])[0]:  # who kills the client means the command
            os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(OSError):
        line.sendall(code.to_bytes(8, "big", signed=True))
    os._exit(0)


def _run(said: list[str], streams: list[int]) -> None:
    """Become the command."""
    folder, words = said[0], said[2 : 2 + int(said[1])]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(each.split("=", 1) for each in said[2 + len(words) :])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = _text(0, "r"), _text(1, "w")
    sys.stderr = _text(2, "w")
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.argv = ["tarn", *words]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    from tarnkappe.cli import main

    main()
    sys.stdout.flush()
    os._exit(0)  # what the server has loaded is not taken apart here: the command did not load it


def _text(stream: int, mode: str) -> io.TextIOWrapper:
    file = open(stream, f"{mode}b", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", line_buffering=stream == 2)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
