"""Settings: language and colours for oneself, tokens for programs, and the people of the service."""

from __future__ import annotations

import datetime

from tarnkappe.service.people import Account, Right, ServiceRole
from tarnkappe.web.aside import aside
from tarnkappe.web.audit import show_log
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.site import page
from tarnkappe.web.texts import LANGUAGES
from tarnkappe.web.visit import THEMES, Visit
from tarnkappe.web.widgets import (
    Live,
    box,
    button,
    card,
    details,
    empty,
    field,
    header_row,
    notice,
    scroll,
    tag,
    tick,
    title,
)


@page("/settings", "settings.title", rights=())
async def settings(visit: Visit, parts: dict[str, str]) -> None:
    """What everybody can set, and below it what only some can."""
    del parts
    title(visit.t("settings.title"), visit.t("settings.lead"))
    with box("columns"):
        with card(visit.t("settings.look")):
            _look(visit)
        with card(visit.t("settings.tokens")):
            TokensCard(visit)
    if visit.who.may(Right.MANAGE):
        with card(visit.t("settings.people"), "spaced"):
            AccountsCard(visit)
    if visit.who.may(Right.READ_LOG):
        with details(visit.t("log.title")):
            log = visit.house.log
            number = await aside(log.verify)
            entries = [{"time": e.time, "event": e.event, "details": dict(e.details)} for e in log.entries()]
            show_log(visit, {"number": number, "head": log.head, "entries": entries})


def _look(visit: Visit) -> None:
    tag("p", visit.t("settings.you_are", name=visit.who.name, roles=_roles(visit, visit.who)))
    tag("h3", visit.t("settings.language"))
    with box("line"):
        for language, name in LANGUAGES.items():
            current = "true" if language == visit.language else "false"
            _prefer("language", language, name, current)
    tag("h3", visit.t("settings.theme"))
    with box("line"):
        for theme in THEMES:
            current = "true" if theme == visit.theme else "false"
            _prefer("theme", theme, visit.t(f"themes.{theme}"), current)


def _prefer(what: str, value: str, text: str, pressed: str) -> None:
    element = tag("button", text, "button small", type="button", aria_pressed=pressed)
    element.on("click", js_handler=f"() => tarnkappe.prefer('{what}', '{value}')")


def _roles(visit: Visit, person: Account) -> str:
    return ", ".join(visit.t(f"roles.{role}") for role in sorted(person.roles))


def _day(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d")


class TokensCard:
    """The tokens of the visitor."""

    def __init__(self, visit: Visit) -> None:
        self.visit, self.t = visit, visit.t
        self.label, self.secret = "", ""
        tag("p", self.t("settings.tokens_help"), "soft")
        field(self.t("settings.token_label"), "", self._call, live=True)
        button(self.t("settings.token_make"), self._make)
        self.part = Live(self._show)

    def _call(self, label: str) -> None:
        self.label = label

    async def _make(self) -> None:
        with shown_errors():
            _, self.secret = await aside(
                self.visit.house.people.tokens.make, self.visit.who, self.label or "–"
            )
            self.part.refresh()

    def _show(self) -> None:
        if self.secret:
            notice("good", self.t("settings.token_made"), self.t("settings.token_once"))
            tag("code", self.secret, "formula")
        mine = self.visit.house.people.tokens.of(self.visit.who)
        if not mine:
            tag("p", self.t("settings.no_tokens"), "soft")
        for token in mine:
            with box("line"):
                tag("span", self.t("settings.token_line", label=token.label, day=_day(token.expires)))
                self._revoke_button(token.id, token.label)

    def _revoke_button(self, token_id: str, label: str) -> None:
        async def revoke() -> None:
            with shown_errors():
                await aside(self.visit.house.people.revoke, self.visit.who, token_id)
                self.secret = ""
                self.part.refresh()

        button(
            self.t("settings.revoke"),
            revoke,
            "small danger",
            label=self.t("settings.revoke_label", label=label),
        )


class AccountsCard:
    """Everybody who may log in."""

    def __init__(self, visit: Visit) -> None:
        self.visit, self.t = visit, visit.t
        self.name, self.password = "", ""
        self.roles: set[str] = {ServiceRole.STEWARD}
        self.part = Live(self._show)
        tag("h3", self.t("settings.add"))
        with box("row"):
            field(self.t("login.name"), "", self._call, live=True, autocomplete="off")
            hint = self.t("settings.password_help")
            field(
                self.t("login.password"), "", self._choose, hint=hint, kind="password", live=True,
                autocomplete="new-password",
            )  # fmt: skip
        with box("line", "fieldset"):
            tag("legend", self.t("settings.roles"), "strong")
            for role in ServiceRole:
                self._role(str(role))
        button(self.t("settings.add_person"), self._add)

    def _call(self, name: str) -> None:
        self.name = name.strip()

    def _choose(self, password: str) -> None:
        self.password = password

    def _role(self, role: str) -> None:
        def change(wanted: bool) -> None:
            (self.roles.add if wanted else self.roles.discard)(role)

        tick(self.t(f"roles.{role}"), role in self.roles, change)

    async def _add(self) -> None:
        with shown_errors():
            people, roles = self.visit.house.people, sorted(self.roles)
            await aside(people.add, self.name, roles, self.password, self.visit.who.name)
            self.part.refresh()

    def _show(self) -> None:
        everybody = self.visit.house.people.all()
        if not everybody:
            empty(self.t("settings.nobody"), self.t("settings.add"))
            return
        with scroll(self.t("settings.people")), box("", "table"):
            header_row([self.t(f"settings.{key}") for key in ("person", "roles", "actions")])
            with box("", "tbody"):
                for person in everybody:
                    with box("", "tr"):
                        tag("th", person.name, scope="row")
                        tag("td", _roles(self.visit, person))
                        with box("", "td"):
                            if person.name != self.visit.who.name:
                                self._remove_button(person.name)

    def _remove_button(self, name: str) -> None:
        async def remove() -> None:
            with shown_errors():
                await aside(self.visit.house.remove_person, name, self.visit.who.name)
                self.part.refresh()

        button(self.t("files.remove"), remove, "small danger", label=self.t("files.remove_label", name=name))
