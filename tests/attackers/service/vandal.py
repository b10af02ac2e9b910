"""Somebody who sends huge numbers and files that become huge, so that nobody else is served."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.service.served import Served

HUGE = 10**9
ROWS = 4_000_000
GROUPS = 20
MAY_RUN = ("a deep query",)
"""What is only looked at by its job, which has limits: it need not be refused, but answered."""


class Vandal(Attacker[Served]):
    name = "vandal"
    promise = "served"
    knows = "The operations, their parameters, and the formats of tables."
    sees = "Whether he is answered, and whether somebody else is."
    does = "Sends huge numbers, long lists, deep queries and a small file that becomes huge, and watches another's requests."

    def attack(self, target: Served) -> Iterator[Victim]:
        with target.client("vandal") as vandal, target.client("ann") as ann:
            for what, send in self._attempts(vandal, target.known["file"]):
                answers: list[httpx.Response | Exception] = []
                thread = threading.Thread(target=lambda send=send, to=answers: to.append(attempt(send)))
                thread.start()
                served = attempt(lambda: ann.get("/files"))
                if isinstance(served, Exception) or served.status_code != 200:
                    yield Victim("ann", f"is not served while somebody sends {what}")
                thread.join()
                if isinstance(answers[0], Exception):
                    yield Victim("the service", f"does not answer {what}")
                elif not (200 if what in MAY_RUN else 400) <= answers[0].status_code < 500:
                    yield Victim("the service", f"answers {answers[0].status_code} to {what}")

    def _attempts(
        self, client: httpx.Client, file_id: str
    ) -> Iterator[tuple[str, Callable[[], httpx.Response]]]:
        plans: dict[str, dict[str, Any]] = {
            "many levels": {"builder": "intervals", "width": 1, "levels": HUGE},
            "levels without end": {"builder": "intervals", "width": 1, "levels": 10**30},
            "many widths": {"builder": "intervals", "width": [2**level for level in range(2000)]},
            "a huge factor": {"builder": "intervals", "width": 1, "levels": 65, "factor": HUGE},
        }
        for what, plan in plans.items():
            body = {"column": "age", "hierarchy": plan}
            yield what, lambda body=body: client.post(f"/files/{file_id}/hierarchy", json=body)
        columns = {"age": {"role": "quasi-identifier", "hierarchy": plans["many levels"]}}
        job = {"input": {"file": file_id}, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
        yield (
            "a job with many levels",
            lambda: client.post("/jobs", json={"kind": "anonymize", "document": job}),
        )
        query = {"query": "SELECT " + "(" * 40_000 + "1", "relations": {"p": {"file": file_id}}}
        yield "a deep query", lambda: client.post("/jobs", json={"kind": "sql", "document": query})
        bomb = parquet_bomb()
        yield "a bomb", lambda: client.post("/files", params={"name": "bomb.parquet"}, content=bomb)


def attempt(send: Callable[[], httpx.Response]) -> httpx.Response | Exception:
    """What comes back, or why nothing does."""
    try:
        return send()
    except httpx.HTTPError as error:
        return error


def parquet_bomb() -> bytes:
    """Some kilobytes that become more than a gigabyte."""
    page = io.BytesIO()
    group = pa.table(
        {"age": pa.array(np.zeros(ROWS, dtype=np.int64)), "sex": pa.array(np.zeros(ROWS, dtype=np.int64))}
    )
    with pq.ParquetWriter(page, group.schema) as writer:
        for _ in range(GROUPS):
            writer.write_table(group, row_group_size=ROWS)
    return page.getvalue()
