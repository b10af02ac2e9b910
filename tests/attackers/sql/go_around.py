"""Somebody who is refused a noisy count and takes the raw rows instead."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class Shell:
    """A terminal in which queries are asked; what is printed comes back, notes included."""

    ask: Callable[[str], str]
    secret: str
    """A value that stands in one raw row."""


class GoAround(Attacker[Shell]):
    name = "go-around"
    promise = "advisory"
    knows = "The names of tables and columns."
    sees = "All that is printed in his terminal."
    does = "Asks for raw rows after his budget was refused; he wins if nobody is told that they were free to take."

    def attack(self, target: Shell) -> Iterator[Victim]:
        for query in (
            "SELECT noisy_count(epsilon => 100) AS n FROM patients",
            "SELECT * FROM patients",
            "SELECT name FROM patients WHERE plz = '18055'",
            "SELECT plz, count(*) AS n FROM patients GROUP BY plz",
        ):
            printed = target.ask(query)
            said = "whoever runs this can read the raw tables" in printed
            if target.secret in printed and not said:
                yield Victim(
                    target.secret, f"was shown by '{query}', and nothing says that this is no protection"
                )
