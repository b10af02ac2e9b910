"""The attacker sends requests: from foreign pages, without a login, too large, in foreign names."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import httpx
import pytest

from tarnkappe.service.people import LoginSession
from tarnkappe.service.people.login_throttle import FREE_TRIES
from tarnkappe.service.security import API, CSRF_HEADER, PAGES, SESSION_COOKIE, STRICT
from tests.service.conftest import LIMITS, Running

PASSWORD = "correct horse battery"
get, post, request = (partial(call, timeout=60) for call in (httpx.get, httpx.post, httpx.request))
JOB = {"kind": "profile", "document": {"input": {"file": "0" * 32}}}


@pytest.fixture(scope="session")  # as the service: a worker may come back to this file after another one
def people(service: Running) -> None:
    for name, role in (("carl", "steward"), ("root", "admin"), ("victim", "steward")):
        service.house.people.add(name, [role], PASSWORD)


def logged_in(service: Running, name: str) -> LoginSession:
    return service.house.people.use_link(service.house.people.make_link(name))


@pytest.fixture
def browser(service: Running, people: None) -> Iterator[httpx.Client]:
    """The browser of somebody who is logged in."""
    session = logged_in(service, "carl")
    with httpx.Client(base_url=service.url, cookies={SESSION_COOKIE: session.secret}, timeout=60) as client:
        client.headers["X-Test-CSRF"] = session.csrf  # ignored by the service, handy for the tests
        yield client


def csrf(browser: httpx.Client) -> dict[str, str]:
    return {CSRF_HEADER: browser.headers["X-Test-CSRF"]}


# ---------------------------------------------------------------------- without a login


def test_without_a_login_there_is_nothing_but_the_way_in(service: Running) -> None:
    document = get(f"{service.url}{API}/openapi.json").json()
    ways_in = {("/api/v1/health", "get"), ("/api/v1/session", "post")}
    for path, operations in document["paths"].items():
        for method in operations:
            if (path, method) not in ways_in:
                url = service.url + re.sub(r"{\w+}", "0" * 32, path)
                assert request(method, url).status_code == 401, (method, path)


def test_pages_without_a_login_lead_to_the_login(service: Running) -> None:
    answer = get(f"{service.url}/anything")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Fanything")


@pytest.mark.parametrize("secret", ["", "tarn_", "tarn_" + "x" * 43, "tarn_\x00", "Basic abc", "ä"])
def test_made_up_tokens_are_refused(service: Running, secret: str) -> None:
    headers = {b"Authorization": f"Bearer {secret}".encode()}
    with httpx.Client(timeout=60) as client:
        made = client.build_request("GET", f"{service.url}{API}/files")
        made.headers = httpx.Headers([*made.headers.raw, *headers.items()])
        with suppress(httpx.LocalProtocolError):  # some the client itself refuses to send
            assert client.send(made).status_code in (400, 401)


def test_a_made_up_session_is_refused(service: Running) -> None:
    for cookie in ("x", "x" * 5000, '"', "a;b=c"):
        answer = get(f"{service.url}{API}/files", headers={"Cookie": f"{SESSION_COOKIE}={cookie}"})
        assert answer.status_code == 401


# ---------------------------------------------------------------------- requests of other sites (CSRF)


def test_a_foreign_page_changes_nothing_although_the_browser_sends_the_cookie(browser: httpx.Client) -> None:
    for lie in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": f"http://{browser.base_url.host}.evil.example:{browser.base_url.port}"},
    ):
        answer = browser.post(f"{API}/jobs", json=JOB, headers={**csrf(browser), **lie})
        assert answer.status_code == 403, lie


def test_a_session_needs_its_csrf_token_for_every_change(browser: httpx.Client, service: Running) -> None:
    other = logged_in(service, "victim").csrf
    for shown in ({}, {CSRF_HEADER: ""}, {CSRF_HEADER: other}):
        assert browser.post(f"{API}/jobs", json=JOB, headers=shown).status_code == 403
        assert browser.delete(f"{API}/files/{'0' * 32}", headers=shown).status_code == 403
    answer = browser.post(f"{API}/jobs", json=JOB, headers=csrf(browser))
    assert answer.status_code == 404, "with the token the request arrives: there is no such file"


def test_a_foreign_page_logs_nobody_in(service: Running, people: None) -> None:
    """Login CSRF: the victim would work in the attacker's account."""
    body = {"name": "carl", "password": PASSWORD}
    answer = post(f"{service.url}{API}/session", json=body, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_foreign_page_opens_no_web_socket(service: Running, browser: httpx.Client) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    foreign = browser.get("/_nicegui_ws/socket.io/", headers={**upgrade, "Origin": "https://evil.example"})
    assert foreign.status_code in (400, 403)
    nobody = get(f"{service.url}/_nicegui_ws/socket.io/", headers={**upgrade, "Origin": service.url})
    assert nobody.status_code in (303, 400, 403)


def test_a_foreign_name_that_points_here_reaches_nothing(service: Running, browser: httpx.Client) -> None:
    """DNS rebinding: the page of evil.example asks evil.example, which has become 127.0.0.1."""
    for host in ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "ä"):
        answer = browser.get(f"{API}/session", headers={"Host": host.encode("latin-1")})
        assert answer.status_code == 400, host


# ---------------------------------------------------------------------- sessions and guessing


def test_the_cookie_is_for_this_site_and_for_no_script(service: Running, people: None) -> None:
    answer = post(f"{service.url}{API}/session", json={"name": "carl", "password": PASSWORD})
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    secret = cookie.split("=", 1)[1].split(";")[0]
    assert secret not in answer.text
    with httpx.Client(base_url=service.url, cookies={SESSION_COOKIE: secret}, timeout=60) as client:
        told = client.get(f"{API}/session").json()
        assert told["name"] == "carl"
        left = client.delete(f"{API}/session", headers={CSRF_HEADER: told["csrf"]})
        assert left.status_code == 204
        assert client.get(f"{API}/session").status_code == 401


def test_guessing_over_http_is_locked_out(service: Running, people: None) -> None:
    url = f"{service.url}{API}/session"
    for _ in range(FREE_TRIES):
        assert post(url, json={"name": "victim", "password": "guess"}).status_code == 401
    answer = post(url, json={"name": "victim", "password": PASSWORD})
    assert answer.status_code == 401
    assert "wait" in answer.json()["error"]


def test_a_stolen_token_makes_no_tokens_and_no_people(service: Running) -> None:
    root = service.somebody("root2", "admin")
    with service.client(root) as thief:
        assert thief.post("/tokens", json={"label": "more"}).status_code == 403
        assert thief.get("/people").status_code == 403
        assert thief.post("/people", json={"name": "x", "roles": ["admin"]}).status_code == 403


def test_who_manages_people_does_it_in_a_session(service: Running, people: None) -> None:
    session = logged_in(service, "root")
    headers = {CSRF_HEADER: session.csrf}
    with httpx.Client(
        base_url=f"{service.url}{API}", cookies={SESSION_COOKIE: session.secret}, timeout=60
    ) as root:
        made = root.post("/people", json={"name": "new", "roles": ["auditor"]}, headers=headers)
        assert (made.status_code, made.json()) == (201, {"name": "new", "roles": ["auditor"]})
        link = root.post("/people/new/link", headers=headers).json()["path"]
        assert service.house.people.use_link(link.partition("secret=")[2]).person.name == "new"
        changed = root.patch("/people/new", json={"roles": ["owner"]}, headers=headers)
        assert changed.json()["roles"] == ["owner"]
        assert root.delete("/people/new", headers=headers).status_code == 204
        assert root.delete("/people/root", headers=headers).status_code == 403
        assert root.patch("/people/root", json={"roles": []}, headers=headers).status_code == 403
        assert root.get("/files").status_code == 403, "who manages people does not see data"


def test_tokens_over_http(service: Running, browser: httpx.Client) -> None:
    made = browser.post(f"{API}/tokens", json={"label": "nightly", "days": 1}, headers=csrf(browser)).json()
    shown = {"Authorization": f"Bearer {made['secret']}"}
    assert get(f"{service.url}{API}/session", headers=shown).json()["csrf"] is None
    listed = browser.get(f"{API}/tokens").json()
    assert made["id"] in [token["id"] for token in listed]
    assert made["secret"] not in str(listed)
    assert browser.delete(f"{API}/tokens/{made['id']}", headers=csrf(browser)).status_code == 204
    assert get(f"{service.url}{API}/session", headers=shown).status_code == 401


# ---------------------------------------------------------------------- what browsers may do, and sizes


def test_every_answer_has_the_headers(service: Running, steward: httpx.Client) -> None:
    answers = [
        steward.get("/files"),
        steward.get("/nothing"),
        steward.post("/jobs", content=b"{"),
        get(f"{service.url}{API}/files"),
        get(f"{service.url}/anything"),
    ]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers
        under_api = answer.url.path.startswith(API)
        assert answer.headers["content-security-policy"] == (STRICT if under_api else PAGES)


def test_no_policy_lets_anything_come_from_other_hosts() -> None:
    assert STRICT.startswith("default-src 'none'")
    for policy in (STRICT, PAGES):
        for rule in policy.split("; "):
            words = rule.split(" ")[1:]
            assert all(word.startswith("'") or word in ("data:", "blob:") for word in words), rule
        assert "frame-ancestors 'none'" in policy


def test_a_request_that_is_too_large_is_cut_off(service: Running, steward: httpx.Client) -> None:
    large = b'{"kind": "' + b"x" * LIMITS.request_bytes + b'"}'
    assert steward.post("/jobs", content=large).status_code == 413

    def pieces() -> Iterator[bytes]:  # without a length, as an attacker would send it
        for _ in range(LIMITS.request_bytes // 1000 + 10):
            yield b"x" * 1000

    assert steward.post("/jobs", content=pieces()).status_code == 413


def test_a_document_that_is_nested_without_end_is_refused(steward: httpx.Client) -> None:
    for text in (
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"kind": "check", "document": ' + '{"a":' * 900 + "1" + "}" * 901,
    ):
        answer = steward.post("/jobs", content=text.encode(), headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422), text[:10]


def test_half_characters_are_refused_not_choked_on(service: Running, steward: httpx.Client) -> None:
    """JSON can hold surrogates, which no database and no answer can."""
    headers = {"Content-Type": "application/json"}
    bodies = {
        "/session": rb'{"name": "\ud800", "password": "\ud800"}',
        "/jobs": rb'{"kind": "\ud800", "document": {"\ud800": 1}}',
        "/people": rb'{"\ud800": 1}',
    }
    for path, body in bodies.items():
        answer = steward.post(path, content=body, headers=headers)
        assert answer.status_code in (401, 403, 422), path
        assert {"error", "kind"} <= set(answer.json())


def test_an_error_does_not_repeat_what_was_sent(service: Running) -> None:
    """People type passwords into the wrong field."""
    answer = post(f"{service.url}{API}/session", json={"name": "carl", "password": ["hunter2hunter2"]})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text


def test_secrets_are_not_in_the_log(service: Running, people: None, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("tarnkappe").propagate = True
    caplog.set_level(logging.DEBUG)
    _, token = service.house.people.tokens.make(service.house.people.get("carl"), "test")
    link = service.house.people.make_link("carl")
    session = logged_in(service, "carl")
    get(f"{service.url}/login/link", params={"secret": link})
    get(f"{service.url}{API}/files", headers={"Authorization": f"Bearer {token}"})
    get(f"{service.url}{API}/files", cookies={SESSION_COOKIE: session.secret})
    post(f"{service.url}{API}/session", json={"name": "hunter2hunter2", "password": PASSWORD})
    lines = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore")))
    assert "GET /api/v1/files 200" in lines
    for secret in (token, link, session.secret, session.csrf, PASSWORD, "hunter2"):
        assert secret not in lines
    logged = repr(list(service.house.log.entries()))
    for secret in (token, link, session.secret, session.csrf, PASSWORD, "hunter2"):
        assert secret not in logged


def test_an_unexpected_error_tells_its_kind_and_nothing_else(
    service: Running, steward: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("Ann Miller, 1970-01-01, diabetes")

    monkeypatch.setattr(service.house.files, "list", broken)
    logging.getLogger("tarnkappe").propagate = True
    answer = steward.get("/files")
    assert answer.status_code == 500
    assert "ZeroDivisionError" in answer.json()["error"]
    assert "Miller" not in answer.text + caplog.text
