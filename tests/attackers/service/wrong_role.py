"""Somebody with a token that was not meant for data, who tries every operation that there is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import httpx

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.service.served import API, Served

METHODS = ("get", "post", "put", "patch", "delete")
LAST = ("delete", "post", "put", "patch")
"""What changes something comes after everything was read."""


class WrongRole(Attacker[Served]):
    name = "wrong role"
    promise = "rights"
    knows = "The ids of the victim's file and of her jobs, and tokens: the victim's own for other work, and a stranger's."
    sees = "The list of all operations, and every answer."
    does = "Sends each of them, with every id that he knows and every token, and looks for cells and for what is gone."

    def attack(self, target: Served) -> Iterator[Victim]:
        operations = [
            (method, path.removeprefix(API), said)
            for path, methods in target.openapi()["paths"].items()
            for method, said in methods.items()
            if method in METHODS
        ]
        operations.sort(key=lambda each: (LAST.index(each[0]) if each[0] in LAST else -1, each[1]))
        for whose in target.tokens:
            with target.client(whose) as client:
                for method, path, said in operations:
                    for asked in filled(path, target):
                        yield from self._try(client, whose, method, asked, said, target)

    def _try(
        self, client: httpx.Client, whose: str, method: str, path: str, said: dict[str, Any], target: Served
    ) -> Iterator[Victim]:
        query = {"name": "x.csv"} if path == "/files" else {}
        body = None if "requestBody" not in said else {}
        with client.stream(method.upper(), path, params=query, json=body) as answer:
            text = answer.read()
        about = any(known in path for known in target.known.values())
        who = f"{whose}'s token"
        if any(cell.encode() in text for cell in target.cells):
            yield Victim(who, f"reads cells by {method.upper()} {path}")
        elif about and answer.status_code < 300:
            yield Victim(who, f"is answered {answer.status_code} by {method.upper()} {path}")


def filled(path: str, target: Served) -> list[str]:
    """A path with every id in place of its parameters."""
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    wanted = [
        [*target.known.values()] if name.endswith("_id") else ["release", "report", "manifest", "hierarchy"]
        if name == "what" else ["victim"]
        for name in names
    ]  # fmt: skip
    made = []
    for values in itertools.product(*wanted):
        one = path
        for name, value in zip(names, values, strict=True):
            one = one.replace("{" + name + "}", value)
        made.append(one)
    return made
