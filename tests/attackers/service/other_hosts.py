"""Somebody who keeps another host and waits for a browser to come by because of a page of the service."""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import httpx

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.service.served import PATIENCE

MOST = 400
"""How many addresses he reads; a page has some dozens."""

_HOST = r"""(?:(?:https?|wss?):)?//(?P<host>[a-z0-9][a-z0-9.-]*\.[a-z]{2,}|\d+\.\d+\.\d+\.\d+)"""
_LOADS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Elements that load by themselves; an anchor is followed only by who clicks on it.
        rf"""<(?:script|img|iframe|source|video|audio|embed|track|input|frame)\b[^>]*?\bsrc\s*=\s*["']?\s*{_HOST}""",
        rf"""<(?:link|base|use|image)\b[^>]*?\bhref\s*=\s*["']?\s*{_HOST}""",
        rf"""<(?:img|source)\b[^>]*?\bsrcset\s*=\s*["'][^"']*?{_HOST}""",
        rf"""<(?:object|form|video)\b[^>]*?\b(?:data|action|poster)\s*=\s*["']?\s*{_HOST}""",
        rf"""["'](?:src|srcset|poster)["']\s*:\s*["']{_HOST}""",
        rf"""@import\s+(?:url\()?\s*["']?{_HOST}""",
        rf"""\burl\(\s*["']?{_HOST}""",
        rf"""\bfrom\s*["']{_HOST}""",
        rf"""\bimport\s*\(?\s*["'`]{_HOST}""",
        rf"""\b(?:fetch|importScripts|WebSocket|EventSource|Worker|sendBeacon)\s*\(\s*["'`]{_HOST}""",
        rf"""\.open\(\s*["'][A-Z]+["']\s*,\s*["'`]{_HOST}""",
        rf"""\.(?:src|srcset)\s*=\s*["'`]{_HOST}""",
        rf"""["'][^"']+["']\s*:\s*["']{_HOST}[^"']*\.m?js["']""",  # a map of imports
    )
)
_LOCAL = re.compile(r"""["'(=]\s*((?:/|\./|\.\./)[\w@%.~/-]+(?:\?[\w=&.%-]*)?)""")
_TEXT = ("text/", "javascript", "json", "svg")


@dataclasses.dataclass(frozen=True)
class Entered:
    """A web application, and a link by which he has come in.

    Attributes:
        link: where he enters.
        pages: addresses of pages that no other page leads to without a click.
    """

    link: str
    pages: tuple[str, ...] = ()


class OtherHosts(Attacker[Entered]):
    name = "other hosts"
    promise = "no_other_host"
    knows = "How pages, styles and scripts load something."
    sees = "Every page of somebody who is logged in, and every style and script that it leads to, and their policies."
    does = "Lists the hosts that a page sends a browser to, and those that a style or script names where the policy of a page lets them."

    def attack(self, target: Entered) -> Iterator[Victim]:
        behind: list[Victim] = []
        open_pages = False
        with httpx.Client(follow_redirects=True, timeout=PATIENCE) as client:
            first = client.get(target.link)
            own = urlsplit(str(first.url)).hostname or ""
            waiting = [str(first.url), *(urljoin(str(first.url), page) for page in target.pages)]
            seen: set[str] = set()
            while waiting and len(seen) < MOST:
                address = waiting.pop(0)
                if address in seen or "logout" in address:
                    continue
                seen.add(address)
                answer = client.get(address)
                kind = answer.headers.get("content-type", "")
                if answer.status_code != 200 or not any(text in kind for text in _TEXT):
                    continue
                text = html.unescape(answer.text)
                if "html" in kind:
                    too_open = list(_policy(answer, own))
                    open_pages |= bool(too_open)
                    yield from too_open
                    yield from _loads(text, address, own)
                else:
                    behind += _loads(text, address, own)
                waiting += [
                    urljoin(address, path)
                    for path in dict.fromkeys(_LOCAL.findall(text))
                    if urlsplit(urljoin(address, path)).hostname == own
                ]
        if open_pages:  # a closed policy stops what a script tries, before anything is sent
            yield from behind


def _loads(text: str, address: str, own: str) -> Iterator[Victim]:
    for pattern in _LOADS:
        for found in pattern.finditer(text):
            if found["host"].lower() != own:
                yield Victim(found["host"], f"would be asked by {urlsplit(address).path}")


def _policy(answer: httpx.Response, own: str) -> Iterator[Victim]:
    """A page may load only from where it comes from, whatever gets into it later."""
    policy = answer.headers.get("content-security-policy", "")
    page = urlsplit(str(answer.url)).path
    if "default-src" not in policy:
        yield Victim(page, "may load from anywhere: it has no policy")
    for word in policy.replace(";", " ").split():
        hosted = re.fullmatch(
            r"(?:[a-z]+:(?://)?)?(\*|[a-z0-9*.-]*\.[a-z]{2,})(?::\d+)?|(https?|wss?):", word
        )
        if hosted and (hosted[1] or hosted[2]) != own:
            yield Victim(page, f"may load from {word}")
