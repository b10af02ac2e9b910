"""What goes wrong on a page is said on the page: what, and what to do; nothing of the data, no traceback."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from nicegui import Client, ui

from tarnkappe.errors import LoginError, TarnkappeError
from tarnkappe.texts import told
from tarnkappe.web.visit import Rights, Visit, login_address
from tarnkappe.web.widgets import box, notice, tag

log = logging.getLogger(__name__)

_PLACES: WeakKeyDictionary[Client, tuple[Visit, ui.element]] = WeakKeyDictionary()
"""Where each open page says what went wrong."""


SECONDS = 5.0
"""Between two looks whether the visitor is still logged in."""


def place_for_troubles(visit: Visit) -> None:
    """Keep a place for what may go wrong while somebody works with the page.

    A page stays open when its session ends (logged out elsewhere, removed, expired); so it is looked at again
    and again, and before every change.
    """
    _PLACES[ui.context.client] = (visit, box("troubles"))
    ui.timer(SECONDS, lambda: _leave_if_ended(visit), immediate=False)


def _leave_if_ended(visit: Visit) -> bool:
    if visit.is_current:
        return False
    ui.navigate.to(login_address(visit.path))
    return True


@contextmanager
def shown_errors() -> Iterator[None]:
    """Say on the page what goes wrong within; a page is never left half done without a word.

    Raises:
        LoginError: if the session has ended; the page is left then.
    """
    visit, place = _PLACES[ui.context.client]
    if _leave_if_ended(visit):
        raise LoginError("web.session-ended-log-again", "the session has ended: log in again")
    place.clear()
    try:
        yield
    except TarnkappeError as error:
        with place:
            show_error(visit, error)
        _look_at(place)
    except Exception as error:
        with place:
            say_unexpected(visit, error)
        _look_at(place)


def show_error(visit: Visit, error: TarnkappeError) -> None:
    """An error that was foreseen: it says itself what to do."""
    notice("bad", visit.t("errors.refused"), told(visit.language, error))


def say_unexpected(visit: Visit, error: Exception) -> None:
    """An error that nobody foresaw: the log has its kind under a number, not its message, which may quote."""
    number = secrets.token_hex(4)
    log.error("page %s failed, number %s: %s", visit.path, number, type(error).__name__)
    notice("bad", visit.t("errors.unexpected"), visit.t("errors.unexpected_help", number=number))


def not_allowed(visit: Visit, rights: Rights) -> None:
    """A page for which somebody has no right."""
    tag("h1", visit.t("errors.not_allowed"))
    wanted = ", ".join(visit.t(f"rights.{right}") for right in rights)
    notice("warn", visit.t("errors.not_allowed_text", rights=wanted), visit.t("errors.not_allowed_help"))


def _look_at(place: ui.element) -> None:
    ui.run_javascript(f"document.getElementById('c{place.id}')?.scrollIntoView({{block: 'center'}})")
