"""A DuckDB engine in a process of its own, which can take neither more memory nor more time than it is given.

The engine's own limits are no bounds: a list that a function makes is not counted, and an operator that makes
it looks at no interrupt. So the process has a limit of memory that the operating system holds it to, and who
asks kills it when its time is up. Whatever a statement does to it, it does to nobody else: the next statement
gets another process.

This file is also the program of that process. It imports the engine and nothing of Tarnkappe, knows the few
rows that it was given, opens no file and no connection, and ends when whoever started it does.
"""

from __future__ import annotations

import contextlib
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

CONFIGURATION = {
    "memory_limit": "128MB",
    "threads": "1",
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
MEGABYTES = 256
"""All that a process may have, of which the interpreter and the engine take about a hundred."""
MOST_BYTES = 8_000_000
"""The largest answer."""
STARTING_SECONDS = 60.0
_LENGTH = struct.Struct("!Q")

Given = Mapping[str, Any]
Found = tuple[list[tuple[str, str]], list[tuple[Any, ...]]]
"""The names and types of the columns, and the rows."""
Said = tuple[str, bytes]
"""What became of a statement ("ready", "rows", "large", "failed"), and what was found."""


class TooLongError(Exception):
    """The time was up."""


class TooLargeError(Exception):
    """The memory was used up, or the answer is too large."""


class FailedError(Exception):
    """The engine does not take this statement. What it said may quote data, and is not passed on."""


class BoundedEngine:
    """An engine with some tables, in a process that is started when it is needed.

    Args:
        statements: that make the tables.
    """

    def __init__(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        self._statements = list(statements)
        self._process: subprocess.Popen[bytes] | None = None

    def ask(
        self, statement: str, given: Given, variables: Given, rows: int, seconds: float
    ) -> tuple[Found, int]:
        """The columns and the first rows that a statement gives, and how many bytes they are."""
        process = self._running()
        said, data = self._exchange(process, (statement, given, variables, rows, seconds), seconds)
        if said == "rows":
            return pickle.loads(data), len(data)  # noqa: S301 - between this file and itself
        if said == "large":
            self.close()  # a process that was full stays large
            raise TooLargeError
        raise FailedError

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                with contextlib.suppress(OSError):
                    stream.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(  # noqa: S603 - this very file
                [sys.executable, "-I", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            said, _ = self._exchange(self._process, self._statements, STARTING_SECONDS)
            if said != "ready":
                raise FailedError
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], message: Any, seconds: float) -> Said:
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            _send(process.stdin, message)
            said: Said = _receive(process.stdout)
            return said
        except (OSError, EOFError):  # it was killed, by us or because it took too much memory
            self.close()
            raise (TooLongError if late.is_set() else TooLargeError) from None
        finally:
            timer.cancel()


def _send(stream: IO[bytes], message: Any) -> None:
    data = pickle.dumps(message)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (size,) = _LENGTH.unpack(head)
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 - between this file and itself


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """The program of the process: make the tables, then answer one statement after the other."""
    import duckdb

    engine = duckdb.connect(":memory:", config=dict(CONFIGURATION))
    engine.begin()
    for statement, values in _receive(requests):
        engine.execute(statement, list(values))
    engine.commit()
    engine.execute("SET enable_external_access = false")
    engine.execute("SET lock_configuration = true")
    _limit_memory()
    _send(answers, ("ready", b""))
    while True:
        statement, given, variables, rows, seconds = _receive(requests)
        _limit_time(seconds)
        try:
            for name, value in variables.items():
                engine.execute(f"SET VARIABLE {name} = ?", [value])
            found = engine.execute(statement, dict(given))
            fields = [(name, str(kind)) for name, kind, *_ in found.description]
            data = pickle.dumps((fields, found.fetchmany(rows)))
            said: Said = ("rows", data) if len(data) <= MOST_BYTES else ("large", b"")
        except (MemoryError, duckdb.OutOfMemoryException):
            said = ("large", b"")
        except (duckdb.Error, RuntimeError, ValueError):
            said = ("failed", b"")
        _send(answers, said)


def _limit_memory() -> None:
    """Hold this process to its memory; it writes no file and leaves no core."""
    with contextlib.suppress(ImportError):  # an operating system that has no such limits
        import resource

        most = MEGABYTES * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _limit_time(seconds: float) -> None:
    """End this process if it works on after whoever would have killed it is gone."""
    with contextlib.suppress(ImportError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime + seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        _serve(sys.stdin.buffer, sys.stdout.buffer)
