"""Ctrl-C while a search runs: a wish to see the best so far, heard between two tests."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def heard(wish: Callable[[], None]) -> Iterator[None]:
    """Tell of the first Ctrl-C instead of raising `KeyboardInterrupt`; a second one has its usual effect.

    Raised at any point it would break off work that must not be left half done, and inside a compiled kernel
    it would not even arrive as what it is. Where Ctrl-C is ignored, or where another thread than the main one
    searches, nothing is changed.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return

    def hear(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, usual)
        wish()

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
