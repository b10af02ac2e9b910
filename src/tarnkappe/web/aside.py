"""Work that takes a moment is done beside the event loop, so that other pages do not wait for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import to_thread

P = ParamSpec("P")
T = TypeVar("T")


async def aside(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a function returns that is called in a thread."""
    return await to_thread.run_sync(partial(work, *args, **kwargs))
