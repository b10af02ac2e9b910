"""The contract of the red team: who tries to break which promise, with what knowledge, and on which stage.

An attacker shares no code with what he attacks: his file imports nothing of `tarnkappe`, and he reaches his
target as somebody outside does, through a command, a socket, a file or a database. What sets the target up is a
*stage*; stages may use everything. Every attacker has a stage on which he wins (the promise is not made
there, or its protection is taken away), so that his silence elsewhere means something.
"""

from __future__ import annotations

import dataclasses
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

Target = TypeVar("Target")


@dataclasses.dataclass(frozen=True)
class Victim:
    """Whom or what an attacker got, and how he knows: printed when he wins."""

    who: str
    what: str

    def __str__(self) -> str:
        return f"{self.who}: {self.what}"


class Attacker(ABC, Generic[Target]):
    """Somebody who tries to break one promise."""

    name: ClassVar[str]
    promise: ClassVar[str]
    """The key of the promise in the `promises.toml` of his part."""
    knows: ClassVar[str]
    """What he knows beforehand."""
    sees: ClassVar[str]
    """What the target shows him."""
    does: ClassVar[str]
    """What he may do."""

    @abstractmethod
    def attack(self, target: Target) -> Iterable[Victim]:
        """Try it; whoever is named here is a victim."""


@dataclasses.dataclass(frozen=True)
class Stage:
    """Something real to attack."""

    name: str
    build: Callable[[Path], AbstractContextManager[Any]]
    """Set the target up in an empty folder; what it yields is what the attacker gets."""
    unprotected: bool = False
    """On this stage the promise is not made, or its protection was taken away: the attacker must win."""
    slow: bool = False
    """Only in `make test-all`."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """An attacker and the stages he is let loose on."""

    attacker: Attacker[Any]
    stages: tuple[Stage, ...]


@dataclasses.dataclass(frozen=True)
class Promise:
    """A sentence that users rely on, and the pages that say it, word for word."""

    part: str
    key: str
    sentence: str
    said: tuple[str, ...]


def promises_of(part: str) -> list[Promise]:
    """The promises of a part, from its `promises.toml`."""
    path = Path(__file__).parent / part / "promises.toml"
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        Promise(part, key, " ".join(entry["sentence"].split()), tuple(entry["said"]))
        for key, entry in document.items()
    ]
