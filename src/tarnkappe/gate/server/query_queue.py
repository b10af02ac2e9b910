"""The desk: all questions of all clients, one after another, each decided and recorded before the next."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from tarnkappe.errors import AccessError, Reason
from tarnkappe.gate.noisy_figures import NoisyAggregate, NoisyFigures
from tarnkappe.gate.question import AnswerRows, CountedAnswer, GateQuery, RefusedQuery
from tarnkappe.gate.server.above import computed, computed_fields, protected_rows
from tarnkappe.gate.server.failures import told
from tarnkappe.gate.server.metrics import Metrics
from tarnkappe.gate.server.settings import Settings
from tarnkappe.gate.server.turns import Turns
from tarnkappe.gate.slot import Slot
from tarnkappe.gate.sql.arrange import Row, arranged, noised
from tarnkappe.gate.sql.errors import CANCELED, INTERNAL, NOT_ALLOWED, NOT_OFFERED, StatementError
from tarnkappe.gate.sql.estimated import Estimating, can_be_estimated
from tarnkappe.gate.sql.selection import AllowedQuery, OutputColumn
from tarnkappe.gate.sql.sql_above import SqlAbove
from tarnkappe.gate.sql.types import ResultField

log = logging.getLogger(__name__)
Answer = tuple[list[Row], str]
AT_ONCE = 2
"""So many statements over answers are computed at once."""
NO_QUESTIONS = Reason("gate.may-not-ask-questions", "you may not ask questions here")
NOISY = "The figures have random noise, and each of them costs privacy budget."


class Answering(Protocol):
    """Who decides: the keeper."""

    def answer(self, user: str, question: GateQuery, slot: Slot | None = None) -> AnswerRows | RefusedQuery:
        """The answer to a question, recorded."""

    def figures(
        self, user: str, question: GateQuery, slot: Slot | None = None
    ) -> CountedAnswer | RefusedQuery:
        """The same answer, to be estimated from."""

    def renew(self) -> bool:
        """Look at the table again."""


@dataclasses.dataclass
class _Turn:
    """A question in the queue, and whether it is being decided."""

    user: str
    decide: Callable[[Slot], Any]
    begun: bool = False


class _History:
    """Those whose answers are kept together: they have turns, and one worker."""

    def __init__(self, waiting: int) -> None:
        self.turns = Turns(waiting)
        self.worker = ThreadPoolExecutor(1, "decision")


class QueryQueue:
    """Asks the keeper, one question at a time, and lets its answers go when their time has come.

    Args:
        keeper: decides and records.
        history_of: whose answers are kept together with those of a user.
        settings: how long a slot is, how many statements may wait, and what aggregates are: "view" if they
            are worked out from the answer, "noisy" if they are figures of the table with noise, "estimate" if
            they are estimated from the answer, "refuse" if there are none.
        metrics: counts.
        noisy: figures with noise.
        generalizes: whether answers show wider quasi-identifiers than people have.
    """

    def __init__(
        self,
        keeper: Answering,
        history_of: Callable[[str], str],
        settings: Settings,
        metrics: Metrics,
        noisy: NoisyFigures | None = None,
        *,
        generalizes: bool = False,
    ) -> None:
        self._keeper, self._history_of, self._settings, self._metrics = keeper, history_of, settings, metrics
        self._aggregates = settings.aggregates
        self._noisy, self._generalizes = noisy, generalizes
        self._histories: dict[str, _History] = {}
        self._computing = asyncio.Semaphore(AT_ONCE)
        self._running: set[asyncio.Task[Any]] = set()

    async def ask(
        self, user: str, selection: AllowedQuery, values: Sequence[Any], cancel: asyncio.Event
    ) -> Answer:
        """The rows that answer a query, and what to say beside them."""
        question = selection.question(values)
        if selection.window(values)[1] == 0:  # only the columns are wanted
            return [], ""
        found: Answer = await self._at_its_turn(
            user, self._decision(user, selection, question, values), cancel
        )
        return found

    async def compute(
        self, user: str, above: SqlAbove, values: Sequence[Any], cancel: asyncio.Event
    ) -> tuple[tuple[ResultField, ...], list[Row], int]:
        """What a statement over answers gives: columns, rows, and how many bytes they are.

        The answers leave when their slot ends. What is computed from them tells nothing more, and takes its
        own time.
        """

        def answers(slot: Slot) -> list[tuple[Row, ...]] | RefusedQuery:
            found = []
            for scan in above.scans:
                rows = protected_rows(scan, values, lambda one: self._keeper.answer(user, one, slot))
                if isinstance(rows, RefusedQuery):
                    return rows
                found.append(rows)
            return found

        # what cannot be computed is noticed before anything is asked
        await asyncio.to_thread(computed_fields, above)
        protected = await self._at_its_turn(user, answers, cancel)
        async with self._computing:
            return await asyncio.to_thread(computed, above, protected, values)

    async def _at_its_turn(self, user: str, decide: Callable[[Slot], Any], cancel: asyncio.Event) -> Any:
        """What is decided when it is a user's turn, after its slot; a refusal is an error."""
        turn = _Turn(user, decide)
        running = asyncio.create_task(self._take(turn))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        canceled = asyncio.create_task(cancel.wait())
        both: set[asyncio.Future[Any]] = {running, canceled}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            canceled.cancel()
            if not running.done() and not turn.begun:
                running.cancel()
        if not running.done():
            raise StatementError(
                CANCELED, "gate.canceling-statement-due-user", "canceling statement due to user request"
            )
        outcome = running.result()
        if isinstance(outcome, StatementError):
            raise outcome
        return outcome

    async def _take(self, turn: _Turn) -> Any:
        """Wait for a turn, decide, and wait until the slot ends; only then it is another's turn.

        A turn that has begun comes to its end even if the client does not want the answer any more. So it
        cannot be found out when a decision was made, neither by cancelling it nor by queuing behind it.
        """
        try:
            history = self._of(turn.user)
            await history.turns.take(turn.user)
        except AccessError:
            return StatementError.refusing(NOT_ALLOWED, NO_QUESTIONS)
        except StatementError as error:  # nothing was read yet
            return error
        try:
            turn.begun = True
            slot = Slot(self._settings.deadline)
            outcome = await self._outcome(history, turn, slot)
            leaves = slot.release(time.monotonic())
            await asyncio.sleep(max(0.0, slot.began + leaves - time.monotonic()))
            self._metrics.count("tarn_gate_released_total", after=f"{leaves:g}")
            if leaves > slot.length:
                self._metrics.count("tarn_gate_late_total")
            return outcome
        finally:
            history.turns.give()

    def _of(self, user: str) -> _History:
        name = self._history_of(user)
        if name not in self._histories:
            self._histories[name] = _History(self._settings.waiting)
        return self._histories[name]

    async def _outcome(self, history: _History, turn: _Turn, slot: Slot) -> Any:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(history.worker, turn.decide, slot)
        except AccessError:
            return StatementError.refusing(NOT_ALLOWED, NO_QUESTIONS)
        except (
            StatementError
        ) as error:  # of ours: what it says follows from the statement and from who is there
            return error
        except Exception as error:  # its text may quote data
            log.error("a question failed: %s", told(error))
            return StatementError(
                INTERNAL, "gate.question-cannot-answered-now", "the question cannot be answered now"
            )
        return (
            StatementError.refusing(NOT_ALLOWED, found.reason) if isinstance(found, RefusedQuery) else found
        )

    def _decision(
        self, user: str, selection: AllowedQuery, question: GateQuery, values: Sequence[Any]
    ) -> Callable[[Slot], Answer | RefusedQuery]:
        """What is to be done for a query; whether it may be done at all follows from the query alone."""
        if self._aggregates == "estimate" and can_be_estimated(selection):
            if self._generalizes and any(column.selects for column in selection.grouped):
                raise StatementError(
                    NOT_OFFERED,
                    "gate.groups-generalized-columns-not-estimated",
                    "groups of generalized columns are not estimated",
                )
            estimating = Estimating(selection, question)

            def estimated(slot: Slot) -> Answer | RefusedQuery:
                return estimating.rows(
                    lambda one: self._keeper.answer(user, one, slot),
                    lambda one: self._keeper.figures(user, one, slot),
                    values,
                )

            return estimated
        if not selection.aggregates or self._aggregates in ("view", "estimate"):

            def from_view(slot: Slot) -> Answer | RefusedQuery:
                found = self._keeper.answer(user, question, slot)
                if isinstance(found, RefusedQuery):
                    return found
                return arranged(selection, found.rows, values), found.notice

            return from_view
        noisy = self._noisy
        if noisy is None:
            raise StatementError(
                NOT_OFFERED, "gate.aggregates-not-offered", "aggregates are not offered here"
            )
        figures = {output: _figure(output) for output in selection.outputs if output.function is not None}

        def with_noise(_: Slot) -> Answer | RefusedQuery:
            grouped = [column.name for column in selection.grouped]
            found = noisy.answer(user, question, grouped, list(figures.values()))
            if isinstance(found, RefusedQuery):
                return found
            by_output = {
                group: {output: mine[figure] for output, figure in figures.items()}
                for group, mine in found.items()
            }
            return noised(selection, by_output, values), NOISY

        return with_noise

    async def stop(self) -> None:
        """Give no new turns, and wait until what has begun has left; it is recorded in any case."""
        for history in self._histories.values():
            history.turns.close()
        if self._running:
            await asyncio.wait(self._running)

    async def close(self) -> None:
        """End the workers."""
        await self.stop()
        for history in self._histories.values():
            await asyncio.to_thread(history.worker.shutdown)


def _figure(output: OutputColumn) -> NoisyAggregate:
    if output.function == "count" and output.column is None:
        return NoisyAggregate("count")
    if output.function in ("sum", "avg") and output.column is not None and not output.distinct:
        return NoisyAggregate(output.function, output.column.name)
    raise StatementError(
        NOT_OFFERED,
        "gate.noise-only-count-sum",
        "with noise only count(*), sum and avg are offered, of all and by group, without DISTINCT",
    )
