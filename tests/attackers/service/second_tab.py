"""Somebody in a hurry: two tabs, double clicks, tries again before the first try was answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.service.served import Served

TIMES = 12


class SecondTab(Attacker[Served]):
    name = "second tab"
    promise = "once"
    knows = "The document of a job."
    sees = "The list of jobs."
    does = "Asks for the same job many times at the same moment, as one who has clicked again."

    def attack(self, target: Served) -> Iterator[Victim]:
        body = {"kind": "profile", "document": {"input": {"file": target.known["file"]}}}
        key = {"Idempotency-Key": target.known["key"]} if "key" in target.known else {}
        answers: list[Any] = []
        with target.client("ann") as client:
            before = {job["id"] for job in client.get("/jobs").json()}
            threads = [
                threading.Thread(
                    target=lambda: answers.append(client.post("/jobs", json=body, headers=key).json())
                )
                for _ in range(TIMES)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            made = {job["id"] for job in client.get("/jobs").json()} - before
        if len(made) > 1:
            yield Victim("ann", f"has {len(made)} jobs for one")
        if len({answer.get("id") for answer in answers}) > 1:
            yield Victim("ann", "was told of several jobs")
