"""Who may spend how much: what the policy file says, and what owners add. Asking and granting are apart."""

from __future__ import annotations

from fractions import Fraction

from tarnkappe.algebra.numbers import number_text
from tarnkappe.algebra.person_paths import payer
from tarnkappe.algebra.persons import Persons
from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.policy.policy_file import AccessPolicy
from tarnkappe.state import Store
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.budgets import BUDGETS_COMPONENT, Budgets

EXTRA = "granted "
"""Before the name of a table: what owners have granted beyond the policy file."""


def settle(policy: AccessPolicy, budgets: Budgets, persons: Persons) -> None:
    """Set the budget of everybody for every table, and for the people behind all tables of a space."""
    for user in sorted(policy.users):
        totals: dict[str, Fraction] = {}
        for name, table in policy.tables.items():
            if table.is_public:
                continue
            extra = budgets.of(user, EXTRA + name)
            amount = policy.epsilon(user, name) + (Fraction(0) if extra is None else extra.granted)
            _set(budgets, user, f"table {name}", amount)
            space = payer(persons, name)
            totals[space] = totals.get(space, Fraction(0)) + amount
        for space, amount in totals.items():
            _set(budgets, user, f"space {space}", min(amount, policy.spaces.get(space, amount)))


def _set(budgets: Budgets, user: str, key: str, amount: Fraction) -> None:
    known = budgets.of(user, key)
    if known is None or known.granted != amount:
        budgets.grant(user, key, amount)


def grant(policy: AccessPolicy, owner: str, user: str, table: str, epsilon: Fraction) -> None:
    """Let a user spend so much more on a table than the policy file says; only owners may, who cannot ask.

    It counts from the next query on, also at a running server, and takes the place of an earlier grant.

    Raises:
        AccessError: the owner is none.
    """
    if owner not in policy.owners:
        raise AccessError(
            "policy.no-owner-policy-owners",
            "'{owner}' is no owner of this policy: owners grant budgets, and owners alone",
            owner=owner,
        )
    if user not in policy.users:
        raise ParameterError("policy.no-group-policy", "'{user}' is in no group of the policy", user=user)
    if table not in policy.tables or policy.tables[table].is_public:
        raise ParameterError(
            "policy.no-table-budget", "there is no table '{table}' that has a budget", table=table
        )
    policy.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with Store.open(str(policy.state / "policy.db"), BUDGETS_COMPONENT) as store:
        Budgets(store).grant(user, EXTRA + table, epsilon)
        told = {
            "owner": owner,
            "user": user,
            "table": table,
            "epsilon": number_text(epsilon),
            "policy": policy.digest,
        }
        AuditLog(store).append("policy granted", told)
