"""Vouchers: proof that what stands in the store was put there by a registrar.

Registrars and approvers share a key for them, requesters do not. A requester who can also write to the store
could otherwise put the identity that he is curious about behind the pseudonym that he has a reason for, and
the approver would open it for him.
"""

from __future__ import annotations

import hmac
import json

VOUCHER_KEY_BYTES = 32


def vouch_identity(key: bytes, project: str, pseudonym: str, sealed: bytes) -> bytes:
    """That a sealed identity belongs to a pseudonym."""
    return _vouch(key, "identity", project, pseudonym, sealed.hex())


def vouch_merge(key: bytes, project: str, pseudonym: str, into: str) -> bytes:
    """That another pseudonym stands for the person of this one."""
    return _vouch(key, "merge", project, pseudonym, into)


def is_vouched(expected: bytes, found: bytes | None) -> bool:
    """Whether a voucher is the right one."""
    return found is not None and hmac.compare_digest(expected, found)


def _vouch(key: bytes, *claim: str) -> bytes:
    return hmac.digest(key, json.dumps(claim).encode(), "sha256")
