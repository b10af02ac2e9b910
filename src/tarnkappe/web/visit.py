"""One visit of a page: who looks at it, in which language and colours, and at which house."""

from __future__ import annotations

import dataclasses
import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote

from tarnkappe.service.people import Account, Right
from tarnkappe.service.people.people import csrf_of
from tarnkappe.service.security import SESSION_COOKIE
from tarnkappe.web import texts

if TYPE_CHECKING:
    from starlette.requests import Request

    from tarnkappe.service.core import ServiceCore

LANGUAGE_COOKIE, THEME_COOKIE = "tarnkappe_language", "tarnkappe_theme"
THEMES = ("auto", "light", "dark")
Rights = tuple[Right, ...]


@dataclasses.dataclass(frozen=True)
class Visit:
    """Who looks at a page.

    Attributes:
        house: what the page shows.
        person: who is logged in; None only on the page to log in.
        secret: that of the session.
        language: of all texts.
        theme: light, dark, or as the device wants it.
        path: the page.
        query: what stands behind the question mark of its address.
        page: which of the tabs; two that show the same page differ.
    """

    house: ServiceCore
    person: Account | None
    secret: str
    language: str
    theme: str
    path: str
    query: str = ""
    page: str = dataclasses.field(default_factory=lambda: secrets.token_hex(16), compare=False)

    def t(self, key: str, **values: object) -> str:
        """A text in the language of the visit."""
        return texts.says(self.language, key, **values)

    def n(self, value: float | None, digits: int = 4) -> str:
        """A number as the language writes it."""
        return texts.number(self.language, value, digits)

    def may(self, rights: Rights) -> bool:
        """Whether the visitor has one of the rights; none is needed where none is named."""
        return not rights or any(self.who.may(right) for right in rights)

    @property
    def is_current(self) -> bool:
        """Whether the session still holds, with the same rights."""
        return self.house.people.by_session(self.secret) == self.person

    @property
    def asked(self) -> str:
        """The address of the page, with its query."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def csrf(self) -> str:
        """What our own pages show with every change."""
        return csrf_of(self.secret)

    @property
    def who(self) -> Account:
        """The person, on pages that need one."""
        assert self.person is not None, "the site lets nobody in who has not logged in"
        return self.person


def visit_of(request: Request, house: ServiceCore) -> Visit:
    """Who looks at what."""
    secret = request.cookies.get(SESSION_COOKIE, "")
    return Visit(
        house=house,
        person=house.people.by_session(secret),
        secret=secret,
        language=language_of(request),
        theme=theme_of(request),
        path=request.url.path,
        query=request.url.query,
    )


def language_of(request: Request) -> str:
    """The language somebody has chosen, or else the first of the browser's that we speak."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen in texts.LANGUAGES:
        return chosen
    wanted = request.headers.get("accept-language", "").lower().split(",")
    spoken = (each.strip()[:2] for each in wanted)
    return next((each for each in spoken if each in texts.LANGUAGES), "en")


def theme_of(request: Request) -> str:
    """The colours somebody has chosen."""
    chosen = request.cookies.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else THEMES[0]


def login_address(path: str) -> str:
    """Where to log in, and come back from."""
    return f"/login?next={quote(path, safe='')}"


def local_path(path: str) -> str:
    """A path of this site; anything that leads elsewhere becomes the start page.

    >>> local_path("/files"), local_path("//evil.example"), local_path("https://evil.example")
    ('/files', '/', '/')
    """
    safe = (
        path.startswith("/")
        and not path.startswith(("//", "/\\"))
        and path.isprintable()
        and "\\" not in path
    )
    return path if safe else "/"
