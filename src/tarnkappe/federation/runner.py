"""A run inside one process: messages are handed over in memory, in a random order between pairs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.message import Message, Participant


def run_in_memory(
    participants: Sequence[Participant],
    *,
    seed: int | None = None,
    watch: Callable[[Message], None] | None = None,
) -> Mapping[str, Participant]:
    """Let all participants talk until nobody has anything to say.

    Args:
        participants: everybody in the contract.
        seed: the order in which pairs are served; without it, in the order of sending.
        watch: told about every message.
    """
    named = {participant.name: participant for participant in participants}
    rng = None if seed is None else np.random.default_rng(seed)
    lines: dict[tuple[str, str], deque[Message]] = {}

    def post(messages: Sequence[Message]) -> None:
        for message in messages:
            if watch:
                watch(message)
            lines.setdefault((message.sender, message.receiver), deque()).append(message)

    for participant in participants:
        post(participant.start())
    while waiting := [pair for pair, line in lines.items() if line]:
        pair = waiting[0 if rng is None else int(rng.integers(len(waiting)))]
        message = lines[pair].popleft()
        post(named[message.receiver].receive(message))
    missing = [p.name for p in participants if p.outcome is None and p.name != p.contract.helper]
    if missing:
        raise ProtocolError(
            "federation.run-ended-without-release",
            "the run ended without a release for {missing}",
            missing=", ".join(missing),
        )
    return named
