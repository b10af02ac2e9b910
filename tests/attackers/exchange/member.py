"""A member of the network who sends anything."""

from __future__ import annotations

import copy
import dataclasses
import http.client
import json
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.attackers.attacker import Attacker, Victim

ODD: tuple[Any, ...] = (
    None,
    True,
    7,
    -1,
    1.5,
    2**70,
    "",
    " ",
    "\x00",
    "\u202e",
    "x" * 5000,
    [],
    {},
    [[]],
    {"a": {}},
)
"""What may stand where something else is expected."""
TIMES = (
    "2026-01-01T00:00:00",
    "2020-01-01T00:00:00+00:00",
    "2999-01-01",
    "0001-01-01T00:00:00+23:59",
    "soon",
)
MOST_OPEN = 50


@dataclasses.dataclass(frozen=True)
class Desk:
    """An institution as a member reaches it.

    Attributes:
        address: where it listens.
        certificate, key, authority: the files of his certificate.
        request: a request as he may send it.
        others: the digest of another member's request, which is answered.
        check: lets a steward check another member's request honestly; whether that works.
        hours: how long ago the desk believes that a request came in.
        open_requests: how many of his requests wait at the desk.
    """

    address: tuple[str, int]
    certificate: Path
    key: Path
    authority: Path
    request: dict[str, Any]
    others: str
    check: Callable[[], bool]
    hours: Callable[[str], float]
    open_requests: Callable[[], int]


class Member(Attacker[Desk]):
    name = "malicious member"
    promise = "members"
    knows = "The program, and the digests of others' requests."
    sees = "What the desk answers over the network, to his certificate."
    does = "Sends every message with every part of it missing, of another kind, too long or too many, and any time."

    def attack(self, target: Desk) -> Iterator[Victim]:
        for name, path, body in [*malformed(target.request), *paths(target)]:
            if self.call(target, path, body) is None:
                yield Victim(name, "the desk did not answer")
        yield from self.times(target)
        yield from self.others(target)
        for number in range(2 * MOST_OPEN):
            self.call(target, "/request", json.dumps(target.request | {"id": f"flood {number}"}).encode())
        if (waiting := target.open_requests()) > MOST_OPEN:
            yield Victim("the steward", f"{waiting} requests of one member wait for her")
        if not target.check():
            yield Victim("another member", "his request cannot be checked any more")

    def times(self, target: Desk) -> Iterator[Victim]:
        """Requests that came in at another time than they did."""
        for number, time in enumerate(TIMES):
            sent = target.request | {"id": f"time {number}", "received": time}
            answer = self.call(target, "/request", json.dumps(sent).encode())
            if answer is not None and answer[0] == 200 and abs(target.hours(answer[1]["digest"])) > 1:
                yield Victim("the desk", f"believes that a request came in at another time: {time}")

    def others(self, target: Desk) -> Iterator[Victim]:
        """What another member has asked for."""
        for path in ("state", "answer", "part", "confirm", "withdraw"):
            end = "/0" if path == "part" else ""
            answer = self.call(target, f"/{path}/{target.others}{end}", b"")
            if answer is not None and answer[0] == 200:
                yield Victim("another member", f"his request answers to /{path}")

    def call(self, target: Desk, path: str, body: bytes) -> tuple[int, Any] | None:
        """Status and answer; nothing if the connection breaks."""
        context = ssl.create_default_context(cafile=str(target.authority))
        context.check_hostname = False
        context.load_cert_chain(target.certificate, target.key)
        connection = http.client.HTTPSConnection(*target.address, context=context, timeout=60)
        try:
            connection.request("POST", path, body)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()


def malformed(request: dict[str, Any]) -> Iterator[tuple[str, str, bytes]]:
    """A request with each of its parts missing, of another kind, or one more."""
    for place in places(request):
        spoilt = copy.deepcopy(request)
        *way, last = place
        for odd in ODD:
            inner: Any = spoilt
            for step in way:
                inner = inner[step]
            inner[last] = odd
            yield f"{place} as {str(odd)[:9]!r}", "/request", json.dumps(spoilt).encode()
        if isinstance(last, str):
            del inner[last]
            yield f"{place} missing", "/request", json.dumps(spoilt).encode()
    yield "one part more", "/request", json.dumps(request | {"more": 1}).encode()
    yield (
        "too many values",
        "/request",
        json.dumps(
            request
            | {"anchor": {"attribute": "medication", "values": [f"v{number}" for number in range(9999)]}}
        ).encode(),
    )
    for text in (
        "",
        "{",
        "null",
        "[" * 200_000,
        '{"a":' * 50_000,
        '{"id":1e999}',
        '"\\ud800"',
        "\xff",
        '{"id":NaN}',
    ):
        yield text[:9], "/request", text.encode("latin-1")


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a message."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*way, step)
        yield from places(inner, (*way, step))


def paths(target: Desk) -> Iterator[tuple[str, str, bytes]]:
    """Everything else that can be asked, with what makes no sense."""
    for path in (
        "state",
        "answer",
        "part",
        "confirm",
        "withdraw",
        "reidentify",
        "reidentified",
        "statistics",
        "",
    ):
        for what in (
            "",
            "/",
            "/x",
            f"/{'0' * 64}",
            "/%00",
            f"/{target.others}/-1",
            f"/{target.others}/{'9' * 400}",
        ):
            for body in (b"", b"[]", b'{"request": 7, "pseudonyms": 7, "reason": [], "person": {}}'):
                yield f"/{path}{what[:9]}", f"/{path}{what}", body
