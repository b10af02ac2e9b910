"""A party that reads all errors, states and logs of a run that has failed elsewhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class Failures:
    """What others have got of runs that a cell of one site has ended.

    Attributes:
        received: by kind of failure, all texts and bytes that reached others.
        cells: the cells that are nobody else's business.
    """

    received: Mapping[str, list[bytes]]
    cells: tuple[str, ...]


class ErrorReader(Attacker[Failures]):
    name = "error-reader"
    promise = "errors-without-cells"
    knows = "What the cells of the site look like."
    sees = "Errors, states, logs, transcripts and messages of all other parties."
    does = "Looks for cells, in plain and as hexadecimal digits, of every failure that a cell can cause."

    def attack(self, target: Failures) -> Iterator[Victim]:
        for failure, texts in target.received.items():
            for cell in target.cells:
                plain = cell.encode()
                if any(form in text for text in texts for form in (plain, plain.hex().encode())):
                    yield Victim(cell, f"stands in what others got when a run failed ({failure})")
