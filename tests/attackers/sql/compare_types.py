"""Somebody who compares typed answers with his own: decimals, dates, times."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.sql.command import Command

PRICES = ("9.50", "100.00", "2.0", "-20.25", "0.10", "19.99", "20.00", "3.5")
DAYS = tuple(str(date(2024, 1, 30) + timedelta(days=n)) for n in range(8))


@dataclasses.dataclass(frozen=True)
class Shop:
    """A command that reads files, and cells that are written beside the prices."""

    tarn: Command
    folder: Path
    further: tuple[str, ...] = ()


class CompareTypes(Attacker[Shop]):
    name = "compare-types"
    promise = "types"
    knows = "What he has written into the files: prices and days."
    sees = "The answers to conditions on them."
    does = "Asks by order and by equality, with numbers, dates, times and texts, and compares with his own answers."

    def attack(self, target: Shop) -> Iterator[Victim]:
        cells = [*PRICES, *target.further]
        rows = [f"{n},{price},{DAYS[n % len(DAYS)]}" for n, price in enumerate(cells)]
        path = target.folder / "shop.csv"
        path.write_text("n,price,day\n" + "\n".join(rows) + "\n", encoding="utf-8")
        parquet = target.folder / "shop.parquet"
        moments = ", ".join(f"({n}, TIMESTAMP_NS '{day} 12:00:00')" for n, day in enumerate(DAYS))
        with duckdb.connect() as judge:
            judge.execute(f"COPY (SELECT * FROM (VALUES {moments}) v(n, t)) TO '{parquet}' (FORMAT parquet)")
        yield from self._prices(target, path)
        yield from self._days(target, path)
        yield from self._moments(target, parquet)

    def _prices(self, target: Shop, path: Path) -> Iterator[Victim]:
        for symbol, bound in itertools.product(("<", ">="), ("20", "9.5")):
            holds = {"<": Decimal.__lt__, ">=": Decimal.__ge__}[symbol]
            own = {n for n, price in enumerate(PRICES) if holds(Decimal(price), Decimal(bound))}
            for literal in (bound, f"'{bound}'"):
                yield from self._ask(target, path, f"price {symbol} {literal}", own)

    def _days(self, target: Shop, path: Path) -> Iterator[Victim]:
        own = {n for n, day in enumerate(DAYS) if day >= "2024-02-01"}
        for literal in ("'2024-02-01'", "DATE '2024-02-01'", "TIMESTAMP '2024-02-01 00:00:00'"):
            yield from self._ask(target, path, f"day >= {literal} AND n < {len(DAYS)}", own)

    def _moments(self, target: Shop, path: Path) -> Iterator[Victim]:
        own = {n for n, day in enumerate(DAYS) if day > "2024-02-01"}
        for condition in (
            "t > '2024-02-01 12:00:00'",
            "CAST(t AS DATE) > DATE '2024-02-01'",
            "t >= DATE '2024-02-02'",
        ):
            yield from self._ask(target, path, condition, own)

    def _ask(self, target: Shop, path: Path, condition: str, own: set[int]) -> Iterator[Victim]:
        answer = target.tarn("sql", f"SELECT n FROM s WHERE {condition}", "--data", f"s={path}", "--json")
        if answer.code == 0 and {n for (n,) in answer.rows} != own:
            yield Victim("whoever reads the answer", f"'{condition}' was not compared by value")
