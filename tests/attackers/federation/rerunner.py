"""Somebody who proposes a contract again when a site has started anew with other data."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class Finished:
    """Sites that have run a contract.

    Attributes:
        folders: where they keep their releases.
        restart_with_other_data: ends all sites and starts them again.
        propose: proposes the same contract again; nothing is told of how it ends.
    """

    folders: tuple[Path, ...]
    restart_with_other_data: Callable[[], None]
    propose: Callable[[], None]


class Rerunner(Attacker[Finished]):
    name = "rerunner"
    promise = "runs-once"
    knows = "A contract that was run."
    sees = "The files that sites keep."
    does = "Proposes the contract again, at once and after a restart with other data."

    def attack(self, target: Finished) -> Iterator[Victim]:
        before = self.files(target)
        for step in (target.propose, target.restart_with_other_data, target.propose):
            step()
            for path, digest in self.files(target).items():
                if before.get(path, digest) != digest:
                    yield Victim(path.parent.name, f"{path.name} was replaced")

    @staticmethod
    def files(target: Finished) -> dict[Path, str]:
        kept = [
            path
            for folder in target.folders
            for path in folder.glob("*/*")
            if path.parent.name != "contracts"
        ]
        return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in kept if path.is_file()}
