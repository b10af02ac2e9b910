"""Somebody who is given the name of a person who has left."""

from __future__ import annotations

from collections.abc import Iterator

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.service.served import Served

OF_FILES = ("", "/profile")
OF_JOBS = ("", "/document", "/result", "/files/release", "/events")


class Reborn(Attacker[Served]):
    name = "reborn name"
    promise = "identity"
    knows = "The name of somebody who has left, which is his now, her ids, and a token that she had."
    sees = "What the service answers to his token, and to hers."
    does = "Lists everything, and asks for all that was hers."

    def attack(self, target: Served) -> Iterator[Victim]:
        for whose in target.tokens:
            with target.client(whose) as client:
                for what in ("/files", "/jobs", "/tokens"):
                    answer = client.get(what)
                    if answer.status_code == 200 and answer.json():
                        yield Victim(whose, f"finds {len(answer.json())} under {what}")
                asked = [f"/files/{target.known['file']}{more}" for more in OF_FILES]
                asked += [f"/jobs/{target.known['job']}{more}" for more in OF_JOBS]
                for path in asked:
                    with client.stream("GET", path) as answer:
                        if answer.status_code == 200:
                            yield Victim(whose, f"is answered by {path}")
