"""Somebody who knows everybody but one, whose row was not released, and asks the certificate about that one."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class Worlds:
    """A certificate that was published, and the inputs that it may have been made from."""

    certificate: Path
    candidates: Mapping[str, Path]
    """An input for each thing that the victim's row may say."""
    publish: Callable[[Path], Path]
    """Runs the same job on another input; returns the certificate of the same kind."""


class Subtractor(Attacker[Worlds]):
    """Runs the job on every input that may be the true one, and compares what is written about it."""

    name = "subtractor"
    promise = "tells_nothing"
    knows = "All rows but one, what that one may be, and the job."
    sees = "The certificate."
    does = "Runs the program on every input that is possible, and compares certificates and digests."

    def attack(self, target: Worlds) -> Iterator[Victim]:
        seen = target.certificate.read_text(encoding="utf-8")
        fitting = [
            name
            for name, path in target.candidates.items()
            if hashlib.sha256(path.read_bytes()).hexdigest() in seen
            or told(target.publish(path).read_text(encoding="utf-8")) == told(seen)
        ]
        if len(fitting) < len(target.candidates):
            yield Victim("the one who was left out", f"is {' or '.join(fitting)}, and nothing else")


def told(text: str) -> list[Any]:
    """What a certificate says, apart from what is drawn at random in every run."""
    lines = [json.loads(line) for line in text.splitlines()]
    for document in lines:
        document.pop("private", None)
        document.pop("salt", None)
        document.get("release", {}).pop("sha256", None)  # the order of rows is random
    return lines
