"""Turns: one statement at a time, and users one after the other, however many statements each of them has."""

from __future__ import annotations

import asyncio
from collections import deque

from tarnkappe.gate.sql.errors import SHUTTING_DOWN, TOO_BUSY, StatementError


class Turns:
    """The turns of those whose answers are kept together.

    A user whose statement had its turn goes to the end of the row, behind everybody else who waits. So a user
    with many statements keeps another one waiting for one turn.

    Args:
        most: how many statements may wait.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._is_taken = self._is_closed = False

    async def take(self, user: str) -> None:
        """Wait for a turn; whoever has it must `give` it on."""
        if self._is_closed:
            raise StatementError(SHUTTING_DOWN, "gate.gate-closing", "the gate is closing")
        if not self._is_taken:
            self._is_taken = True
            return
        if sum(map(len, self._waiting.values())) >= self._most:
            raise StatementError(
                TOO_BUSY, "gate.too-many-statements-wait", "too many statements wait already: try again later"
            )
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():  # the turn came in the same moment
                self.give()
            raise

    def give(self) -> None:
        """The turn is over: it is that of the next user who waits."""
        while self._waiting:
            user = next(iter(self._waiting))
            own = self._waiting.pop(user)
            first = own.popleft()
            if own:
                self._waiting[user] = own
            if not first.done():
                first.set_result(None)
                return
        self._is_taken = False

    def close(self) -> None:
        """No new turns: who waits is told so."""
        self._is_closed = True
        for own in self._waiting.values():
            for one in own:
                if not one.done():
                    one.set_exception(
                        StatementError(SHUTTING_DOWN, "gate.gate-closing", "the gate is closing")
                    )
        self._waiting.clear()
