"""What guards the log in the database."""

from __future__ import annotations

from tarnkappe.errors import VerificationError
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.heads import HeadFile
from tarnkappe.state.merkle import Frontier
from tarnkappe.state.statement import Seals
from tarnkappe.state.store import Store


def guard(store: Store, seals: Seals, heads: HeadFile | None = None, *, accept: bool = False) -> None:
    """Let a log be sealed from now on and its head be kept in a file.

    Args:
        store: whose log it is.
        seals: what entries are sealed with.
        heads: where the head is kept: not in the database, and not where others can write who can write
            there. Without it, seals do not show that the end of the log was cut or an older database put
            back.
        accept: take the log as it is now for the right one, though the head file says otherwise or is gone; a
            person has to decide that.

    Raises:
        VerificationError: if the head file is gone, or the end of the log is not as it was left.
    """
    store.seals, store.heads = seals, None
    log = AuditLog(store)
    if heads is not None and accept:
        log.begin_sealing()
        log.verify()
        heads.write(*log.end, even_back=True)
    elif heads is not None and heads.read() is None:
        if log.is_sealed:
            raise VerificationError(
                "state.head-log-gone-log",
                "{path}: the head of the log is gone, and the log has sealed entries. If you know why, "
                "accept the log as it is",
                path=heads.path,
            )
        heads.write(0, Frontier().root.hex())
    store.heads = heads
    log.begin_sealing()
