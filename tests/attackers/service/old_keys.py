"""Somebody who had a way in, and keeps trying it while and after it is taken away."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.service.served import API, PATIENCE

AT_ONCE = 4
"""Fewer than the wrong tries after which an account waits: the lock must not be what stops him."""
TRIES = 40
COOKIE = "tarn_session"


@dataclasses.dataclass(frozen=True)
class Compromised:
    """An account of which somebody else has everything.

    Attributes:
        url: where the service is.
        name: whose account it is.
        password: the one that she had until now.
        token: one that was made for a program of hers.
        links: paths, each of which is said to let somebody in once.
        change: lets the victim, or who manages the accounts, take the ways in away; says what was done.
    """

    url: str
    name: str
    password: str
    token: str
    links: tuple[str, ...]
    change: Callable[[], object]

    def client(self, headers: Mapping[str, str] | None = None, session: str | None = None) -> httpx.Client:
        cookies = {COOKIE: session} if session else {}
        return httpx.Client(base_url=self.url, headers=headers, cookies=cookies, timeout=PATIENCE)


class OldKeys(Attacker[Compromised]):
    name = "old keys"
    promise = "ways_in"
    knows = "The password that somebody had, a token of hers, and links that were sent to her."
    sees = "What the service answers."
    does = "Uses one link many times at once, logs in again and again, makes tokens, while and after her password is changed."

    def attack(self, target: Compromised) -> Iterator[Victim]:
        used, *unused = target.links
        with ThreadPoolExecutor(8) as threads:
            entered = [
                secret for secret in threads.map(lambda _: self._by_link(target, used), range(8)) if secret
            ]
        if len(entered) > 1:
            yield Victim(target.name, f"one link let {len(entered)} in")
        sessions, tokens = list(entered), [target.token]
        done = threading.Event()
        with ThreadPoolExecutor(AT_ONCE + 1) as threads:
            trying = [threads.submit(self._log_in, target, sessions, done) for _ in range(AT_ONCE)]
            trying.append(threads.submit(self._make_tokens, target, sessions, tokens, done))
            try:
                target.change()
            finally:
                done.set()
            for each in trying:
                each.result()
        for session in dict.fromkeys(sessions):
            with target.client(session=session) as client:
                if client.get(f"{API}/session").status_code == 200:
                    yield Victim(target.name, "a session of before is still hers")
        for token in tokens:
            with target.client({"Authorization": f"Bearer {token}"}) as client:
                if client.get(f"{API}/files").status_code == 200:
                    yield Victim(target.name, "a token of before speaks for her")
        for link in unused:
            if self._by_link(target, link):
                yield Victim(target.name, "a link of before lets somebody in")
        late: list[str] = []
        self._try(target, late)
        if late:
            yield Victim(target.name, "the password of before logs in")

    def _by_link(self, target: Compromised, link: str) -> str | None:
        with target.client() as client:
            return client.get(link).cookies.get(COOKIE)

    def _try(self, target: Compromised, sessions: list[str]) -> str | None:
        """Log in; what a change needs to be shown with the new session."""
        with target.client() as client:
            shown = {"name": target.name, "password": target.password}
            answer = client.post(f"{API}/session", json=shown)
            if answer.status_code != 200:
                return None
            sessions.append(answer.cookies[COOKIE])
            return str(answer.json()["csrf"])

    def _log_in(self, target: Compromised, sessions: list[str], done: threading.Event) -> None:
        for _ in range(TRIES):
            if self._try(target, sessions) is None or done.is_set():
                return

    def _make_tokens(
        self, target: Compromised, sessions: list[str], tokens: list[str], done: threading.Event
    ) -> None:
        mine: list[str] = []
        proof = self._try(target, mine)
        sessions += mine
        if proof is None:
            return
        with target.client({"X-CSRF-Token": proof}, mine[0]) as client:
            for _ in range(TRIES):
                answer = client.post(f"{API}/tokens", json={"label": "mine", "days": 1})
                if answer.status_code != 201 or done.is_set():
                    return
                tokens.append(answer.json()["secret"])
