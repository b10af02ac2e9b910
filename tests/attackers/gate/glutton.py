"""Sends queries that ask for more time or memory than there is, and watches the gate's processes."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests.attackers.attacker import Attacker, Victim

HUNGRY = (
    "SELECT generate_series(1, 10000000) FROM pg_class",
    "SELECT array_agg(a.oid) FROM pg_type a, pg_type b, pg_type c, pg_type d, pg_type e",
    "SELECT count(*) FROM pg_type a, pg_type b, pg_type c, pg_type d, pg_type e, pg_type f, pg_type g",
    "SELECT " + "array[" * 40 + "1" + "]" * 40,
    "SELECT count(*) + 0 FROM patients a, patients b, patients c, patients d, patients e, patients f, patients g",
)
MEGABYTES = 320
SECONDS = 12
"""Of processor time: the limit, the start of a process, and what a busy machine adds."""


@dataclasses.dataclass(frozen=True)
class ServedCatalog:
    """A gate: where it is, and which process it is."""

    url: str
    process: int


class Glutton(Attacker[ServedCatalog]):
    """Asks the catalog for too much."""

    name = "glutton"
    promise = "catalog"
    knows = "The program, and which functions the catalog has."
    sees = "Answers and errors; memory and processor time of the gate, as the operating system tells them."
    does = "Sends statements that make long series, large arrays and products, and deep nesting."

    def attack(self, target: ServedCatalog) -> Iterator[Victim]:
        for statement in HUNGRY:
            memory, seconds = _eaten(target, statement)
            if memory > MEGABYTES or seconds > SECONDS:
                yield Victim("the gate", f"{memory:.0f} MB and {seconds:.1f} s for {statement[:50]}")
                return


def _eaten(target: ServedCatalog, statement: str) -> tuple[float, float]:
    """By how many megabytes the gate grows for a statement at most, and the processor time that it takes."""
    before, spent = _memory(target.process), _seconds(target.process)
    over, most = threading.Event(), [before]

    def watch() -> None:
        while not over.wait(0.05):
            most.append(_memory(target.process))
            if most[-1] - before > 4 * MEGABYTES or _seconds(target.process) - spent > 2 * SECONDS:
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with psycopg.connect(target.url, autocommit=True) as connection:
            connection.execute(statement).fetchone()
    except psycopg.Error:
        pass
    finally:
        over.set()
        watcher.join()
    return max(most) - before, _seconds(target.process) - spent


def _family(process: int) -> list[int]:
    """A process and those that it started, once they run a program of their own.

    Until then a process that was just made has the memory of whoever made it, which would count twice.
    """
    found = [process]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += [
                    child for child in map(int, task.read_text().split()) if _words(child) != _words(parent)
                ]
            except OSError:
                continue
    return found


def _words(process: int) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


def _memory(process: int) -> float:
    total = 0
    for one in _family(process):
        try:
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1])
        except (OSError, IndexError):
            continue
    return total * os.sysconf("SC_PAGE_SIZE") / 2**20


def _seconds(process: int) -> float:
    """Processor time of a process, of those it started, and of those of them that have ended."""
    total = 0
    for one in _family(process):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15] if one == process else fields[11:13]))
    return total / os.sysconf("SC_CLK_TCK")
