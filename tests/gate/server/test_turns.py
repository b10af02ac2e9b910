"""Turns of statements: users one after the other, a limit, and an end."""

from __future__ import annotations

import asyncio

import pytest

from tarnkappe.gate.server.turns import Turns
from tarnkappe.gate.sql.errors import SHUTTING_DOWN, TOO_BUSY, StatementError
from tests.conftest import run_async


async def taken(turns: Turns, users: list[str]) -> tuple[list[str], list[asyncio.Task[None]]]:
    """Who had a turn, in the order of turns, and the statements that wait in this order behind a first one."""
    order: list[str] = []

    async def ask(user: str) -> None:
        await turns.take(user)
        order.append(user)

    await turns.take("first")
    waiting = []
    for user in users:
        waiting.append(asyncio.create_task(ask(user)))
        await asyncio.sleep(0)
    return order, waiting


async def given(turns: Turns, times: int) -> None:
    for _ in range(times):
        turns.give()
        await asyncio.sleep(0)
        await asyncio.sleep(0)


def test_one_user_with_fifty_statements_delays_another_by_one_turn() -> None:
    async def play() -> list[str]:
        turns = Turns(100)
        order, _ = await taken(turns, [*["ann"] * 50, "bob", "ann", "bob"])
        await given(turns, 53)
        return order

    order = run_async(play())
    assert order[:4] == ["ann", "bob", "ann", "bob"]
    assert (order.count("ann"), order.count("bob")) == (51, 2)


def test_more_than_may_wait_are_refused_at_once() -> None:
    async def play() -> StatementError:
        turns = Turns(2)
        _, waiting = await taken(turns, ["ann", "bob"])
        with pytest.raises(StatementError) as refused:
            await turns.take("cid")
        turns.close()
        await asyncio.gather(*waiting, return_exceptions=True)
        return refused.value

    assert run_async(play()).sqlstate == TOO_BUSY


def test_who_does_not_want_it_any_more_is_left_out() -> None:
    async def play() -> list[str]:
        turns = Turns(9)
        order, waiting = await taken(turns, ["ann", "bob", "cid"])
        waiting[0].cancel()
        await asyncio.sleep(0)
        await given(turns, 1)
        turns.give()
        waiting[2].cancel()  # the turn has come in the same moment: it goes on
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await turns.take("dan")
        return [*order, "dan"]

    assert run_async(play()) == ["bob", "dan"]


def test_at_the_end_nobody_has_another_turn() -> None:
    async def play() -> None:
        turns = Turns(9)
        order, waiting = await taken(turns, ["ann", "bob"])
        turns.close()
        for one in waiting:
            with pytest.raises(StatementError) as refused:
                await one
            assert refused.value.sqlstate == SHUTTING_DOWN
        with pytest.raises(StatementError):
            await turns.take("cid")
        turns.give()
        assert not order

    run_async(play())
