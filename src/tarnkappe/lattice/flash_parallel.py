"""Flash with several threads, each testing a path or visiting a node of its own."""

from __future__ import annotations

import os
import threading
from queue import SimpleQueue
from typing import Annotated

from msgspec import Meta

from tarnkappe.lattice.flash_paths import Job, Paths, _CalledOffError
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.schema import param

PATIENCE = 0.1
"""After how many seconds a thread without work looks whether the search was called off."""


class FlashParallel(Search, kw_only=True):
    """Flash in two phases with several threads: optimal for all models and losses.

    The threads share what is known of the nodes, the queue of failed nodes and the snapshots; no node is in
    two paths at once. Which nodes are tested depends on who comes first, the result does not: what is
    skipped is never better. (This is why it does not offer practical monotonicity, whose result depends on
    the order of the tests.)
    """

    name = "flash-parallel"
    cites = ("kohlmayer2012",)

    threads: Annotated[
        Annotated[int, Meta(ge=1, le=1_024)] | None,
        param("how many threads test nodes; without it, one for each core", unit="threads"),
    ] = None

    def search(self, traversal: Traversal) -> None:
        """Search the whole lattice."""
        _Crew(Paths(traversal), self.threads or os.cpu_count() or 1).work()


class _Crew:
    """Threads that do jobs until nothing is left to do; none of them outlives `work`.

    The thread that waits for them is the one that an interruption from the keyboard hits, at any point. So it
    takes no lock that it might fail to give back and does not join a living thread (which, interrupted, takes
    the thread for dead): it sets a flag and waits for the threads to report their end.
    """

    def __init__(self, paths: Paths, threads: int) -> None:
        self._paths = paths
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        self._working = threads
        self._under_way = 0
        self._ended: SimpleQueue[None] = SimpleQueue()
        self._failure: BaseException | None = None

    def work(self) -> None:
        """Do everything; what goes wrong in a thread, or an interruption, ends the work of all."""
        interruption = None
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:
            self._paths.stop()
            raise
        while self._working:
            try:
                if interruption is not None:
                    self._paths.stop()
                self._ended.get()
            except KeyboardInterrupt as pressed:
                interruption = pressed
        for thread in self._threads:
            thread.join()
        failure = self._failure or interruption
        if failure is not None:
            raise failure

    def _work(self) -> None:
        try:
            self._do_jobs()
        except _CalledOffError:
            pass
        except BaseException as failure:
            with self._paths.changed:
                self._failure = self._failure or failure
                self._paths.stop()
        finally:
            with self._paths.changed:
                self._working -= 1
                self._paths.changed.notify_all()
            self._ended.put(None)

    def _do_jobs(self) -> None:
        while (job := self._next_job()) is not None:
            job()
            with self._paths.changed:
                self._under_way -= 1
                self._paths.changed.notify_all()

    def _next_job(self) -> Job | None:
        with self._paths.changed:
            while not self._paths.is_stopped:
                job = self._paths.next_job()
                if job is not None:
                    self._under_way += 1
                    return job
                if not self._under_way:
                    return None
                self._paths.changed.wait(PATIENCE)
            return None
