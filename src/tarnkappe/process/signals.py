"""Ctrl-C and termination, for a process that is ours from beginning to end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

AGAIN = 0.02
"""Seconds after which an interruption that got lost, or came at a bad moment, comes again."""
UNSAFE = (
    "<frozen importlib._bootstrap>",  # some libraries abort when an exception meets them while imported
    f"{os.sep}llvmlite{os.sep}",  # LLVM would go on without the function that its callback did not load
    str(Path("numba", "core", "serialize.py")),  # compiled functions call it, and an error crashes them
)
"""Parts of file names: where an exception would end in a crash, so that a signal waits until it is over."""


class StoppedError(Exception):
    """The user has stopped a command; the message says what that means."""


def leave_at_once() -> None:
    """While libraries load there is nothing to remove, and an exception in their midst may become another."""
    signal.signal(signal.SIGINT, _leave)
    signal.signal(signal.SIGTERM, _leave)


def take_over() -> None:
    """Handle signals so that what is not finished is removed, and removing it is not interrupted again."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _not_lost


def too_late() -> None:
    """From here on Ctrl-C has no effect: everything is done but saying so."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


_stopping: set[int] = set()
"""The signals that have come; the same one again has no effect while what is not finished is removed."""


def interrupted() -> bool:
    """Whether Ctrl-C has ended what was done: a library may have made another error of it."""
    return signal.SIGINT in _stopping


def _leave(number: int, _frame: object) -> None:
    os.write(sys.stderr.fileno(), b"stopped\n")
    os._exit(128 + number)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _is_unsafe(frame):
        _send_soon(number)
    elif _is_first(signal.SIGINT):
        raise KeyboardInterrupt


def _terminate(number: int, frame: FrameType | None) -> None:
    if _is_unsafe(frame):
        _send_soon(number)
    elif _is_first(signal.SIGTERM):
        sys.exit(128 + signal.SIGTERM)


def _is_unsafe(frame: FrameType | None) -> bool:
    while frame is not None:
        if any(place in frame.f_code.co_filename for place in UNSAFE):
            return True
        frame = frame.f_back
    return False


def _is_first(number: int) -> bool:
    if number in _stopping:
        return False
    _stopping.add(number)
    signal.signal(number, signal.SIG_IGN)  # also when Python, at its end, takes our handlers away
    return True


def _not_lost(found: sys.UnraisableHookArgs) -> None:
    """Stop again if the signal came where Python drops every error: in a callback of a C library, say."""
    if isinstance(found.exc_value, KeyboardInterrupt | SystemExit):
        number = signal.SIGINT if isinstance(found.exc_value, KeyboardInterrupt) else signal.SIGTERM
        signal.signal(number, _interrupt if number == signal.SIGINT else _terminate)
        _stopping.discard(number)
        _send_soon(number)
    else:
        sys.__unraisablehook__(found)


def _send_soon(number: int) -> None:
    again = threading.Timer(AGAIN, _send, [number])
    again.daemon = True
    again.start()


def _send(number: int) -> None:
    if sys.platform == "win32":
        signal.raise_signal(number)
    else:  # to the thread that handles signals, so that it also wakes up
        signal.pthread_kill(threading.main_thread().ident or 0, number)
