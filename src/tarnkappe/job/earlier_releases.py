"""A job that remembers: its release must keep the promises together with all earlier ones of the same people.

What is remembered are marks under a key (`tarnkappe.risk.history`), so nothing that was released can be read
from the store.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.job.bucketized import Bucketized
from tarnkappe.job.result import Result
from tarnkappe.job.sources import Memory
from tarnkappe.risk.attacks import Background, Target
from tarnkappe.risk.continuation import Continuation, kept_by
from tarnkappe.table import Table


class Remembering:
    """A release beside those that are remembered: it is judged first, and remembered when all is done."""

    def __init__(self, memory: Memory, result: Result) -> None:
        from tarnkappe.risk.history import (
            ReleaseHistory,  # brings a database library, which most jobs do without
        )
        from tarnkappe.state import Key, Store

        if isinstance(result, Bucketized):
            raise ParameterError(
                "job.history-cannot-judge-release",
                "[history] cannot judge a release of {algorithm} beside others: leave the section out, or "
                "publish one table",
                algorithm=result.solution.algorithm,
            )
        self._name = memory.name or datetime.now(UTC).isoformat(timespec="microseconds")
        self.store = Store.open(memory.store)
        self._history = ReleaseHistory(self.store, Key.load(memory.key, create=True), memory.population)
        background = Background(people=_people(result), hierarchies=result.hierarchies)
        self._target = Target.of(result.release, background)
        self._models = result.problem.models

    def judge(self) -> Continuation:
        """What all releases together leave everybody.

        Raises:
            NoSolutionError: if somebody keeps too few look-alikes or values.
        """
        k, diversity = kept_by(self._models)
        found = self._history.check(self._target, k=k, diversity=diversity, shown=0)
        if not found.safe:
            raise NoSolutionError(
                "job.release-not-handed-over",
                "{found} The release was not handed over: choose the levels of an earlier release or higher"
                " ones, or suppress more",
                found=found,
            )
        return found

    def remember(self, judged: Continuation) -> None:
        """Keep marks of the release, unless one that was remembered meanwhile forbids it."""
        if tuple(record.name for record in self._history.releases()) != judged.releases:
            self.judge()
        self._history.record(self._name, self._target)


def _people(result: Result) -> Table:
    """Those whose rows are in the release, as an attacker may know them, and who they are."""
    names = [*result.input.identifiers, *result.problem.quasi_identifiers]
    rows = result.input.data.select(names).take(pa.array(result.source_rows))
    return Table(rows).with_roles(identifiers=result.input.identifiers)
