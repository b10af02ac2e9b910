"""Ctrl-C and termination, for a process that is ours from beginning to end."""

from __future__ import annotations

import signal
import sys
import threading

AGAIN = 0.02
"""Seconds after which an interruption that got lost comes again."""


class StoppedError(Exception):
    """The user has stopped a command; the message says what that means."""


def take_over() -> None:
    """Handle signals so that what is not finished is removed, and removing it is not interrupted again."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _not_lost


def too_late() -> None:
    """From here on Ctrl-C has no effect: everything is done but saying so."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt(*_: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _terminate(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + signal.SIGTERM)


def _not_lost(found: sys.UnraisableHookArgs) -> None:
    """Stop again if the signal came where Python drops every error: in a callback of a C library, say."""
    match found.exc_value:
        case KeyboardInterrupt():
            number, handler = signal.SIGINT, _interrupt
        case SystemExit():
            number, handler = signal.SIGTERM, _terminate
        case _:
            sys.__unraisablehook__(found)
            return
    signal.signal(number, handler)
    again = threading.Timer(AGAIN, _send, [number])
    again.daemon = True
    again.start()


def _send(number: int) -> None:
    if sys.platform == "win32":
        signal.raise_signal(number)
    else:  # to the thread that handles signals, so that it also wakes up
        signal.pthread_kill(threading.main_thread().ident or 0, number)
