"""The desk: all questions of all clients, one after another, each decided and recorded before the next."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from tarnkappe.errors import AccessError
from tarnkappe.gate.noisy_figures import NoisyAggregate, NoisyFigures
from tarnkappe.gate.question import AnswerRows, CountedAnswer, GateQuery, RefusedQuery
from tarnkappe.gate.server.failures import told
from tarnkappe.gate.server.metrics import Metrics
from tarnkappe.gate.server.response_timing import until_release
from tarnkappe.gate.sql.arrange import Row, arranged, noised
from tarnkappe.gate.sql.errors import CANCELED, INTERNAL, NOT_ALLOWED, NOT_OFFERED, StatementError
from tarnkappe.gate.sql.estimated import Estimating, can_be_estimated
from tarnkappe.gate.sql.selection import AllowedQuery, OutputColumn

log = logging.getLogger(__name__)
Answer = tuple[list[Row], str]
NOISY = "The figures have random noise, and each of them costs privacy budget."


class Answering(Protocol):
    """Who decides: the keeper."""

    def answer(self, user: str, question: GateQuery) -> AnswerRows | RefusedQuery:
        """The answer to a question, recorded."""

    def figures(self, user: str, question: GateQuery) -> CountedAnswer | RefusedQuery:
        """The same answer, to be estimated from."""


@dataclasses.dataclass
class _Turn:
    """A question in the queue, and whether it is being decided."""

    decide: Callable[[], Answer | RefusedQuery]
    begun: bool = False


class QueryQueue:
    """Asks the keeper, one question at a time, and lets its answers go when their time has come.

    Args:
        keeper: decides and records.
        quantum: see `pace`.
        aggregates: "view" if they are worked out from the answer, "noisy" if they are figures of the table
            with noise, "estimate" if they are estimated from the answer, "refuse" if there are none.
        noisy: figures with noise.
        generalizes: whether answers show wider quasi-identifiers than people have.
    """

    def __init__(
        self,
        keeper: Answering,
        quantum: float,
        aggregates: str,
        metrics: Metrics,
        noisy: NoisyFigures | None = None,
        *,
        generalizes: bool = False,
    ) -> None:
        self._keeper, self._quantum, self._aggregates, self._metrics = keeper, quantum, aggregates, metrics
        self._noisy, self._generalizes = noisy, generalizes
        self._worker = ThreadPoolExecutor(1, "decision")
        self._order = asyncio.Lock()
        self._running: set[asyncio.Task[Any]] = set()

    async def ask(
        self, user: str, selection: AllowedQuery, values: Sequence[Any], cancel: asyncio.Event
    ) -> Answer:
        """The rows that answer a query, and what to say beside them."""
        question = selection.question(values)
        if selection.window(values)[1] == 0:  # only the columns are wanted
            return [], ""
        turn = _Turn(self._decision(user, selection, question, values))
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
            raise StatementError(CANCELED, "canceling statement due to user request")
        outcome = running.result()
        if isinstance(outcome, StatementError):
            raise outcome
        return outcome

    async def _take(self, turn: _Turn) -> Answer | StatementError:
        """Wait for a turn, decide, and wait until the answer may leave; only then it is another's turn.

        A turn that has begun comes to its end even if the client does not want the answer any more. So it
        cannot be found out when a decision was made, neither by cancelling it nor by queuing behind it.
        """
        async with self._order:
            turn.begun = True
            began = time.monotonic()
            outcome = await self._outcome(turn)
            leaves = await until_release(began, self._quantum)
            self._metrics.count("tarn_gate_released_total", after=f"{leaves:g}")
            return outcome

    async def _outcome(self, turn: _Turn) -> Answer | StatementError:
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._worker, turn.decide)
        except AccessError:
            return StatementError(NOT_ALLOWED, "you may not ask questions here")
        except (
            StatementError
        ) as error:  # of ours: what it says follows from the statement and from who is there
            return error
        except Exception as error:  # its text may quote data
            log.error("a question failed: %s", told(error))
            return StatementError(INTERNAL, "the question cannot be answered now")
        return StatementError(NOT_ALLOWED, found.reason) if isinstance(found, RefusedQuery) else found

    def _decision(
        self, user: str, selection: AllowedQuery, question: GateQuery, values: Sequence[Any]
    ) -> Callable[[], Answer | RefusedQuery]:
        """What is to be done for a query; whether it may be done at all follows from the query alone."""
        if self._aggregates == "estimate" and can_be_estimated(selection):
            if self._generalizes and any(column.selects for column in selection.grouped):
                raise StatementError(NOT_OFFERED, "groups of generalized columns are not estimated")
            estimating = Estimating(selection, question)

            def estimated() -> Answer | RefusedQuery:
                return estimating.rows(
                    lambda one: self._keeper.answer(user, one),
                    lambda one: self._keeper.figures(user, one),
                    values,
                )

            return estimated
        if not selection.aggregates or self._aggregates in ("view", "estimate"):

            def from_view() -> Answer | RefusedQuery:
                found = self._keeper.answer(user, question)
                if isinstance(found, RefusedQuery):
                    return found
                return arranged(selection, found.rows, values), found.notice

            return from_view
        noisy = self._noisy
        if noisy is None:
            raise StatementError(NOT_OFFERED, "aggregates are not offered here")
        figures = {output: _figure(output) for output in selection.outputs if output.function is not None}

        def with_noise() -> Answer | RefusedQuery:
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

    async def close(self) -> None:
        """End what has begun: what is decided is recorded, whether or not anybody waits for it."""
        await asyncio.to_thread(self._worker.shutdown, cancel_futures=True)
        for turn in self._running:
            turn.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


def _figure(output: OutputColumn) -> NoisyAggregate:
    if output.function == "count" and output.column is None:
        return NoisyAggregate("count")
    if output.function in ("sum", "avg") and output.column is not None and not output.distinct:
        return NoisyAggregate(output.function, output.column.name)
    raise StatementError(
        NOT_OFFERED,
        "with noise only count(*), sum and avg are offered, of all and by group, without DISTINCT",
    )
