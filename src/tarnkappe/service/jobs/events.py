"""What happens to jobs, for those who watch: progress and states, numbered.

Numbers are milliseconds since the job was asked for, so they go on growing over a restart of the service,
which forgets progress but no state.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

from tarnkappe.service.jobs.record import JobRecord

Event = dict[str, Any]
MOST_EVENTS = 2000
MOST_JOBS = 1000


class Events:
    """The events of the jobs that something happened to lately."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._of: OrderedDict[str, deque[Event]] = OrderedDict()

    def add(self, job: JobRecord, **event: Any) -> None:
        """Something happened."""
        now = self._clock()
        with self._lock:
            events = self._of.setdefault(job.id, deque(maxlen=MOST_EVENTS))
            self._of.move_to_end(job.id)
            last = events[-1]["n"] if events else 0
            number = max(last + 1, int((now - job.created) * 1000))
            events.append({"n": number, "time": round(now, 3), **event})
            while len(self._of) > MOST_JOBS:
                self._of.popitem(last=False)

    def forget(self, job_id: str) -> None:
        """A job is gone, and so is what happened to it."""
        with self._lock:
            self._of.pop(job_id, None)

    def since(self, job_id: str, number: int) -> list[Event]:
        """What happened after an event."""
        with self._lock:
            return [event for event in self._of.get(job_id, ()) if event["n"] > number]


def state_event(job: JobRecord) -> Event:
    """The state of a job as an event."""
    when = job.finished or job.started or job.created
    event = {"n": int((when - job.created) * 1000), "time": round(when, 3), "state": str(job.state)}
    return event | ({"error": str(job.error)} if job.error else {})
