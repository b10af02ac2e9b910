"""Who uses the service: people with roles, their passwords, sessions and tokens."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tarnkappe.service.people.roles import Account, Right, ServiceRole

if TYPE_CHECKING:
    from tarnkappe.service.people.people import Accounts, LoginSession
    from tarnkappe.service.people.tokens import ApiTokens, Token

__all__ = ["Account", "Accounts", "ApiTokens", "LoginSession", "Right", "ServiceRole", "Token"]

_HOMES = {"Accounts": "people", "LoginSession": "people", "Token": "tokens", "ApiTokens": "tokens"}


def __getattr__(name: str) -> Any:
    """Load what needs a database when it is asked for: the processes of jobs know rights and nothing else."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tarnkappe.service.people' has no attribute '{name}'")
    return getattr(import_module(f"tarnkappe.service.people.{_HOMES[name]}"), name)
