"""What processes do that are killed: at the n-th point at which a crash could matter, by SIGKILL.

Points lie before and after every statement that a store runs, before every commit, and before and after
everything that is sent to or received from another institution.
"""

from __future__ import annotations

import os
import signal
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.peer import ExchangeService, Outbox
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.transport import Caller
from tarnkappe.state import Store
from tests.exchange.scenes import request, surroundings
from tests.exchange.test_desk import OWN, STAFF, decide
from tests.exchange.test_peers import NETWORK


def kill_at(point: int, passed_points: Any) -> None:
    """Kill this process at a point, 0 for never; how many it has passed is counted for who started it."""

    def passed(*_: Any, **__: Any) -> None:
        with passed_points.get_lock():
            passed_points.value += 1
            number = passed_points.value
        if number == point:
            os.kill(os.getpid(), signal.SIGKILL)

    for event in ("before_cursor_execute", "after_cursor_execute", "commit"):
        sa.event.listen(sa.Engine, event, passed)
    for name in ("send", "sendall", "read", "recv_into"):
        setattr(ssl.SSLSocket, name, _watched(getattr(ssl.SSLSocket, name), passed))


def _watched(method: Callable[..., Any], passed: Callable[[], None]) -> Callable[..., Any]:
    def watched(*words: Any, **named: Any) -> Any:
        passed()
        result = method(*words, **named)
        passed()
        return result

    return watched


def desk_of(place: Path) -> RequestWorkflow:
    return RequestWorkflow(Store.open(place), OWN, surroundings(network=NETWORK), STAFF)


def outbox_of(place: Path, credentials: Credentials, port: int) -> Outbox:
    caller = Caller(credentials, {"B": ("127.0.0.1", port)}, 10.0)
    really = caller.call
    caller.call = lambda *words, **named: really(*words, **{**named, "pauses": ()})
    return Outbox(Store.open(place), NETWORK, caller)


def decides(point: int, points: Any, place: Path) -> None:
    """The second reviewer agrees."""
    at = desk_of(place)
    kill_at(point, points)
    decide(at, request().digest, "Cleo")


def fetches(point: int, points: Any, place: Path, credentials: Credentials, port: int) -> None:
    """Institution A goes on with everything that is open."""
    own = outbox_of(place, credentials, port)
    kill_at(point, points)
    while own.work():
        pass


def serves(point: int, points: Any, place: Path, credentials: Credentials, port: int, ready: Any) -> None:
    """Institution B answers."""
    at = desk_of(place)
    service = ExchangeService(at, credentials, ("127.0.0.1", port))
    kill_at(point, points)
    ready.set()
    service.serve_forever()
