"""A store of version 0.1.0, which sealed nothing, is taken over once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tarnkappe.errors import VerificationError
from tarnkappe.exchange.desk import RequestState
from tarnkappe.exchange.desk.tables import RELEASES, REQUESTS, WITHDRAWALS
from tarnkappe.state import HeadFile, Seals, Signer, Store, guard
from tests.exchange.test_desk import OWN, desk
from tests.state.old_stores import unpacked


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A request in each state, a withdrawal and a consent."""
    with Store.open(unpacked("exchange", tmp_path / "old")) as opened:
        guard(opened, Seals(OWN), HeadFile(tmp_path / "desk.head", "B", Signer(OWN)))
        yield opened


def test_nothing_of_an_earlier_version_leaves(store: Store) -> None:
    at = desk(store)
    with store.writing() as connection:
        connection.execute(sa.update(REQUESTS).values(state="accepted"))
        digests = list(connection.execute(sa.select(REQUESTS.c.digest)).scalars())
    assert len(digests) == len(RequestState)
    for digest in digests:
        with pytest.raises(VerificationError, match="sent again"):
            at.answer(digest, "A")


def test_it_is_taken_over_once(store: Store) -> None:
    desk(store)
    with store.writing() as connection:
        connection.execute(sa.delete(WITHDRAWALS))
    with pytest.raises(VerificationError, match="withdrawals"):
        desk(store).register.has_withdrawn(["P13"])
    assert len(desk(store).audit()) == 1


def test_the_notes_of_who_got_what_cannot_be_changed_later(store: Store) -> None:
    at = desk(store)
    with store.writing() as connection:
        changed = connection.execute(sa.update(RELEASES).values(recipient="C")).rowcount
    assert len(at.audit()) == changed == 3
    with pytest.raises(VerificationError, match="notes"):
        at.register.disclosures("P01")
