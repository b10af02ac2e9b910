"""The statistics that an institution shares with the others, and those that it has from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from tarnkappe.errors import AccessError, InputError
from tarnkappe.exchange.desk.desk import RequestWorkflow
from tarnkappe.exchange.desk.tables import SHARED
from tarnkappe.exchange.statistics import Statistics
from tarnkappe.exchange.statistics.sharing import CountingPlan, Shown, combined, count
from tarnkappe.state import Budgets, Statement, require_signature
from tarnkappe.table.encoding import as_text

READERS = "the network"
"""Who spends the budget: whatever one institution sees, all may see."""


class Figures:
    """What an institution shares of its statistics.

    Args:
        desk: its desk.
        plan: what the institutions have agreed to count.
    """

    def __init__(self, desk: RequestWorkflow, plan: CountingPlan) -> None:
        self._desk, self._store, self.plan = desk, desk.store, plan
        self._budgets = Budgets(desk.store)

    def share(self, epsilon: Fraction, steward: str) -> Shown:
        """Count the patients who have not withdrawn, with noise; everybody may see it from now on.

        Raises:
            AccessError: if the policy's budget does not suffice. Nothing is counted then.
        """
        self._desk.require_steward(steward)
        institution = self._desk.around.institution
        granted = Fraction(str(self._desk.around.policy.statistics_budget))
        known = self._budgets.of(READERS, institution.name)
        if known is None or known.granted != granted:
            self._budgets.grant(READERS, institution.name, granted)
        self._budgets.spend(READERS, institution.name, epsilon)
        people = institution.everybody(self.plan.attributes)
        who = as_text(people.column(institution.patient)).to_pylist()
        gone = pa.array(self._desk.register.has_withdrawn(who), pa.bool_())
        shown = count(people.filter(pc.invert(gone)), self.plan, institution.name, epsilon)
        content = shown.to_dict()
        self._keep(shown, content, self._desk.signer.sign(Statement("statistics", content)), {"by": steward})
        return shown

    def own(self) -> dict[str, Any]:
        """What others may see, signed."""
        found = self._read(self._desk.around.institution.name)
        if found is None:
            raise AccessError(
                "exchange.institution-shared-no-statistics", "this institution has shared no statistics yet"
            )
        return {"content": json.loads(found.content), "signature": found.signature}

    def take(self, institution: str, answer: Mapping[str, Any]) -> bool:
        """Keep what another institution has shown, if it is really its own; whether it is new."""
        member = self._desk.around.network.find(institution)
        if member is None:
            raise AccessError(
                "exchange.not-member-network",
                "'{institution}' is not a member of the network",
                institution=institution,
            )
        try:
            content, signature = dict(answer["content"]), str(answer["signature"])
        except (KeyError, TypeError, ValueError):
            raise InputError(
                "exchange.sent-something-no-statistics",
                "'{institution}' sent something that is no statistics",
                institution=institution,
            ) from None
        require_signature(member.public_key, Statement("statistics", content), signature)
        shown = Shown.from_dict(content, self.plan)
        if shown.institution != institution:
            raise AccessError(
                "exchange.sent-another-institution-statistics",
                "'{institution}' sent another institution's statistics",
                institution=institution,
            )
        known = self._read(institution)
        if known is not None and known.made >= shown.made.isoformat():
            return False
        self._keep(shown, content, signature, {"from": institution})
        return True

    def combine(self, statistics: Statistics) -> int:
        """Add up what all institutions have shown, and let the check use it; how many figures that gives."""
        with self._store.reading() as connection:
            rows = connection.execute(sa.select(SHARED).order_by(SHARED.c.institution)).all()
        rows = [row for row in rows if self._counts(row)]
        shown = [Shown.from_dict(self._signed(row), self.plan) for row in rows]
        facts = combined(shown, self.plan) if shown else []
        if facts:
            signatures = "".join(row.signature for row in rows)
            statistics.add(facts, "the network", hashlib.sha256(signatures.encode()).hexdigest())
        return len(facts)

    def _signed(self, row: sa.Row[Any]) -> dict[str, Any]:
        """What an institution has shown, if it has really signed it."""
        member = self._desk.around.network.find(row.institution)
        own = row.institution == self._desk.around.institution.name
        content: dict[str, Any] = json.loads(row.content)
        public = self._desk.signer.public if own or member is None else member.public_key
        require_signature(public, Statement("statistics", content), row.signature)
        if content.get("institution") != row.institution:
            raise AccessError(
                "exchange.statistics-another-institution-s",
                "the statistics of '{institution}' are another institution's",
                institution=row.institution,
            )
        return content

    def _counts(self, row: sa.Row[Any]) -> bool:
        """Whether somebody's figures are by the plan of today and he is still a member."""
        own = row.institution == self._desk.around.institution.name
        member = self._desk.around.network.find(row.institution)
        return json.loads(row.content)["plan"] == self.plan.digest and (own or member is not None)

    def _read(self, institution: str) -> sa.Row[Any] | None:
        with self._store.reading() as connection:
            return connection.execute(sa.select(SHARED).where(SHARED.c.institution == institution)).first()

    def _keep(
        self, shown: Shown, content: Mapping[str, Any], signature: str, details: Mapping[str, str]
    ) -> None:
        with self._store.writing() as connection:
            connection.execute(sa.delete(SHARED).where(SHARED.c.institution == shown.institution))
            connection.execute(
                sa.insert(SHARED).values(
                    institution=shown.institution,
                    content=json.dumps(content),
                    signature=signature,
                    made=shown.made.isoformat(),
                )
            )
            told = {"epsilon": str(shown.epsilon), "plan": shown.plan, **details}
            event = "statistics shared" if "by" in details else "statistics taken"
            self._desk.log.append(event, told, connection)
