"""Ctrl-C and termination, for a process that is ours from beginning to end."""

from __future__ import annotations

import signal
import sys


class StoppedError(Exception):
    """The user has stopped a command; the message says what that means."""


def take_over() -> None:
    """Handle signals so that what is not finished is removed, and removing it is not interrupted again."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _terminate)


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
