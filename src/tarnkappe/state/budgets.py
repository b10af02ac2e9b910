"""Privacy budgets: how much epsilon each user may spend on each table, and how much is spent.

Noise protects one answer; many answers to the same question average it away. What adds up is the epsilon, so
it is counted. It is spent before the answer leaves, in one transaction with its entry in the audit log:
whoever is killed between the two has paid for an answer that nobody saw, and never the other way round. Two
queries at the same time take turns, so they cannot both spend what is left for one.

Amounts are whole numbers of billionths, rounded against the user, so that no sum of spendings exceeds a grant
by a rounding error.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.component import Component
from tarnkappe.state.store import Store

UNITS = 10**9
MOST = 10**6
"""More epsilon than this promises nothing, and a sum of it might not fit into a column."""

METADATA = sa.MetaData()
BUDGETS_COMPONENT = Component("budgets", METADATA)
BUDGETS = sa.Table(
    "privacy_budgets",
    METADATA,
    sa.Column("user", sa.String, primary_key=True),
    sa.Column("table", sa.String, primary_key=True),
    sa.Column("granted", sa.BigInteger, nullable=False),
    sa.Column("spent", sa.BigInteger, nullable=False),
)


@dataclasses.dataclass(frozen=True)
class Budget:
    """What one user may spend on one table, and has spent."""

    user: str
    table: str
    granted: Fraction
    spent: Fraction

    @property
    def left(self) -> Fraction:
        """What may still be spent; nothing if a grant was lowered below what is spent."""
        return max(self.granted - self.spent, Fraction(0))


class Budgets:
    """The budgets in a store.

    >>> budgets = Budgets(Store.in_memory())
    >>> budgets.grant("ann", "patients", Fraction(1))
    >>> str(budgets.spend("ann", "patients", Fraction("0.75")).left)
    '1/4'
    """

    def __init__(self, store: Store) -> None:
        store.ensure(BUDGETS_COMPONENT)
        self.store = store
        self._log = AuditLog(store)

    def grant(self, user: str, table: str, epsilon: Fraction) -> None:
        """Set how much a user may spend on a table in all; what is spent stays spent."""
        if not 0 <= epsilon <= MOST:
            raise ParameterError(
                "state.budget-epsilon-0",
                "a budget is an epsilon from 0 to {most}, not {epsilon}",
                most=MOST,
                epsilon=epsilon,
            )
        granted = math.floor(epsilon * UNITS)
        with self.store.writing() as connection:
            if self._find(connection, user, table) is None:
                new = sa.insert(BUDGETS).values(user=user, table=table, granted=granted, spent=0)
                connection.execute(new)
            else:
                connection.execute(sa.update(BUDGETS).where(_of(user, table)).values(granted=granted))
            told = {"user": user, "table": table, "epsilon": str(Fraction(granted, UNITS))}
            self._log.append("budget granted", told, connection)

    def spend(self, user: str, table: str, epsilon: Fraction) -> Budget:
        """Spend on one table, or refuse; it is durable when this returns."""
        return self.spend_all(user, {table: epsilon})[table]

    def spend_all(
        self,
        user: str,
        costs: Mapping[str, Fraction],
        entry: tuple[str, Mapping[str, Any]] | None = None,
    ) -> dict[str, Budget]:
        """Spend on several tables at once, on all of them or on none; returns their budgets.

        An `entry`, an event with its details, goes to the log in the same transaction.

        Raises:
            AccessError: a table has no budget, or less is left of it than the query costs.
        """
        for table, epsilon in costs.items():
            if not 0 <= epsilon <= MOST:
                raise ParameterError(
                    "state.epsilon-0-can-spent",
                    "'{table}': an epsilon from 0 to {most} can be spent, not {epsilon}",
                    table=table,
                    most=MOST,
                    epsilon=epsilon,
                )
        with self.store.writing() as connection:
            spent = {
                table: self._spend(connection, user, table, math.ceil(epsilon * UNITS))
                for table, epsilon in sorted(costs.items())
            }
            if entry is not None:
                self._log.append(entry[0], dict(entry[1]), connection)
            return spent

    def _spend(self, connection: sa.Connection, user: str, table: str, cost: int) -> Budget:
        found = self._find(connection, user, table)
        if found is None:
            raise AccessError(
                "state.no-privacy-budget-somebody",
                "'{user}' has no privacy budget for '{table}': somebody who may grant one has to do so first",
                user=user,
                table=table,
            )
        if found.left * UNITS < cost:
            raise AccessError(
                "state.privacy-budget-not-suffice",
                "the privacy budget of '{user}' for '{table}' does not suffice: an epsilon of {left:.9g} is"
                " left, and the query costs {cost:.9g}. Ask for a smaller epsilon, or for a larger budget.",
                user=user,
                table=table,
                left=float(found.left),
                cost=cost / UNITS,
            )
        spent = found.spent * UNITS + cost
        connection.execute(sa.update(BUDGETS).where(_of(user, table)).values(spent=int(spent)))
        told = {"user": user, "table": table, "epsilon": str(Fraction(cost, UNITS))}
        self._log.append("budget spent", told, connection)
        return dataclasses.replace(found, spent=spent / UNITS)

    def of(self, user: str, table: str) -> Budget | None:
        """The budget of a user for a table; None if none was granted."""
        with self.store.reading() as connection:
            return self._find(connection, user, table)

    def all(self) -> list[Budget]:
        """All budgets, by user and table."""
        with self.store.reading() as connection:
            rows = connection.execute(sa.select(BUDGETS).order_by(BUDGETS.c.user, BUDGETS.c.table))
            return [_budget(row) for row in rows]

    def _find(self, connection: sa.Connection, user: str, table: str) -> Budget | None:
        row = connection.execute(sa.select(BUDGETS).where(_of(user, table))).first()
        return None if row is None else _budget(row)


def _of(user: str, table: str) -> sa.ColumnElement[bool]:
    return sa.and_(BUDGETS.c.user == user, BUDGETS.c.table == table)


def _budget(row: sa.Row[Any]) -> Budget:
    granted, spent = (Fraction(row._mapping[name], UNITS) for name in ("granted", "spent"))
    return Budget(row._mapping["user"], row._mapping["table"], granted, spent)
