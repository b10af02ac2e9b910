"""The pages that the server writes, asked for as a program asks: no browser, no script, the real service and jobs."""

from __future__ import annotations

import html
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from tarnkappe.errors import Reason
from tarnkappe.service.app import create_app
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.people import Account, ServiceRole
from tarnkappe.service.settings import Limits, ServiceSettings
from tarnkappe.texts import told
from tarnkappe.web import texts
from tarnkappe.web.addresses import ADDRESSES
from tarnkappe.web.navigation import ASSETS
from tarnkappe.web.opening import open_views
from tarnkappe.web.rendering import POLICY
from tests.conftest import ROOT

TEMPLATES = ROOT / "src" / "tarnkappe" / "web" / "templates"
LIMITS = Limits(jobs_at_once=2, job_seconds=3600.0, upload_bytes=50 * 2**20, request_bytes=2**20)
PATIENTS = "name,age,sex,postcode,diagnosis\n" + "".join(
    f"Patient-Nr-{n:04},{20 + n % 50},{'fm'[n % 2]},{53000 + n % 7 * 10},{('flu', 'cold', 'gout')[n % 3]}\n"
    for n in range(200)
)
COLUMNS = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [10, 50]}},
    "sex": {"role": "quasi-identifier"},
    "postcode": {"role": "quasi-identifier"},
    "diagnosis": {"role": "sensitive"},
}
ALIKE = {"model": "k-anonymity", "k": 5}
IMPOSSIBLE = {"model": "k-anonymity", "k": 1000}
DIVERSE = {"model": "distinct-diversity", "column": "diagnosis", "l": 2}


class Somebody:
    """Somebody with a browser that runs no script."""

    def __init__(self, client: httpx.Client, house: ServiceCore, who: Account, language: str = "en") -> None:
        self.client, self.house, self.who = client, house, who
        secret = house.people.use_link(house.people.make_link(who.name)).secret
        self.headers = {"Cookie": f"tarn_session={secret}", "Accept-Language": language}

    def get(self, path: str) -> httpx.Response:
        return self.client.get(path, headers=self.headers, follow_redirects=False)

    def post(self, path: str, **fields: str) -> httpx.Response:
        """Send a form of a page that she has open; it shows the token of her session."""
        proof = re.search(r'name="csrf" value="(\w+)"', self.get("/me").text)
        assert proof is not None
        data = {"csrf": proof.group(1)} | fields
        return self.client.post(path, data=data, headers=self.headers, follow_redirects=False)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> ServiceCore:
    return ServiceCore(ServiceSettings(folder=tmp_path_factory.mktemp("views"), port=0, limits=LIMITS))


@pytest.fixture(scope="module")
def client(house: ServiceCore) -> Iterator[httpx.Client]:
    app = create_app(house, open_views)
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as made:
        yield made
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def ann(client: httpx.Client, house: ServiceCore) -> Somebody:
    return Somebody(client, house, house.people.add("ann", list(ServiceRole)))


def upload(somebody: Somebody, content: str = PATIENTS, name: str = "patients.csv") -> str:
    return somebody.house.files.store([content.encode()], name, somebody.who).id


def released(somebody: Somebody, file: str, *privacy: dict[str, object], wait: bool = True) -> str:
    """The id of a run, when it has ended."""
    document = {
        "input": {"file": file},
        "columns": COLUMNS,
        "privacy": list(privacy),
        "search": {"loss": "entropy", "suppression_limit": 0.05},
    }
    job = somebody.house.jobs.start("anonymize", document, somebody.who)
    return ended(somebody, job.id) if wait else job.id


def ended(somebody: Somebody, job: str) -> str:
    while not somebody.house.jobs.get(job, somebody.who).has_ended:
        time.sleep(0.05)
    return job


def settled(somebody: Somebody, path: str) -> str:
    """A part of a page when it no longer asks to be looked at again."""
    while True:
        said = somebody.get(path).text
        if "data-every" not in said:
            return html.unescape(said)
        time.sleep(0.1)


@pytest.fixture(scope="module")
def file(ann: Somebody) -> str:
    return upload(ann)


@pytest.fixture(scope="module")
def done(ann: Somebody, file: str) -> str:
    return released(ann, file, ALIKE, DIVERSE)


# ------------------------------------------------------------------ templates


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.stem)
def test_a_template_says_nothing_by_itself_and_holds_no_script_and_no_style(path: Path) -> None:
    source = re.sub(r"{#.*?#}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son\w+=|javascript:", source)
    said = re.sub(r"{%.*?%}|{{.*?}}", "", source, flags=re.DOTALL)
    said = html.unescape(re.sub(r"<[^>]*>", " ", said))
    assert re.findall(r"[A-Za-zÄÖÜäöüß]{2,}", said) == []


def test_every_text_that_a_template_names_is_there() -> None:
    named = {
        key
        for path in TEMPLATES.glob("*.html")
        for key in re.findall(r'\bt\("([\w.-]+)"[,)]', path.read_text(encoding="utf-8"))
    }
    assert len(named) > 100
    assert [key for key in sorted(named) if not texts.has(key)] == []


def test_the_script_of_the_pages_is_our_own_and_small() -> None:
    script = (ASSETS / "fragments.js").read_bytes()
    assert len(script) < 6_000
    assert b"eval" not in script
    assert b"localStorage" not in script


# ------------------------------------------------------------------ who gets in


def test_every_page_allows_no_script_but_our_files(ann: Somebody, file: str, done: str) -> None:
    for each in ADDRESSES:
        if each.is_page:
            answer = ann.get(each.path.format(file=file, job=done))
            assert answer.status_code == 200, each.path
            assert answer.headers["content-security-policy"] == POLICY
            assert answer.headers["cache-control"] == "no-store"
    assert "unsafe" not in POLICY
    assert "script-src 'self';" in POLICY


@pytest.mark.parametrize("role", ServiceRole)
def test_every_address_is_for_who_has_its_right_and_for_nobody_else(
    client: httpx.Client, house: ServiceCore, role: ServiceRole
) -> None:
    somebody = Somebody(client, house, house.people.add(f"only-{role}", [role]))
    for each in ADDRESSES:
        path = re.sub(r"{\w+}", "0" * 32, each.path)
        answer = somebody.get(path) if each.method == "GET" else somebody.post(path, name="")
        may = not each.rights or any(somebody.who.may(right) for right in each.rights)
        assert (answer.status_code == 403) == (not may), (each.method, each.path, answer.status_code)
        if not may:
            assert "Ask whoever manages the people" in answer.text


def test_no_address_answers_a_stranger(client: httpx.Client) -> None:
    for each in ADDRESSES:
        path = re.sub(r"{\w+}", "0" * 32, each.path)
        answer = client.request(each.method, path, follow_redirects=False)
        assert answer.status_code in (303, 401), each.path
        assert each.method == "POST" or answer.headers["location"].startswith("/login")


def test_a_form_without_the_token_of_its_session_changes_nothing(ann: Somebody, done: str) -> None:
    for each in ADDRESSES:
        if each.method == "POST":
            path = each.path.format(file="0" * 32, job=done, name="ann", token="0")
            answer = ann.client.post(
                path, data={"csrf": "wrong"}, headers=ann.headers, follow_redirects=False
            )
            assert answer.status_code == 403, each.path
            assert "another session" in answer.text


def test_what_is_somebody_elses_is_as_if_it_were_not_there(
    client: httpx.Client, house: ServiceCore, file: str, done: str
) -> None:
    other = Somebody(client, house, house.people.add("other", ["steward"]), language="de")
    seen = (f"/runs/{done}", f"/runs/{done}/utility", f"/runs/{done}/alternatives", f"/files/{file}/kept")
    for path in seen:
        answer = other.get(path)
        assert answer.status_code == 404, path
        assert "Es wurde gelöscht oder gehört jemand anderem." in answer.text
    for path in (f"/runs/{done}/take", f"/runs/{done}/again", f"/files/{file}/delete"):
        assert other.post(path, option="0").status_code == 404, path


# ------------------------------------------------------------------ the result


def test_the_verdict_comes_first_and_names_every_sensitive_column(ann: Somebody, done: str) -> None:
    said = html.unescape(ann.get(f"/runs/{done}").text)
    assert "Fit for a partner with an agreement." in said
    assert "diagnosis: protected by: Several secrets stay possible (l = 2)." in said
    assert "For everybody at least 11 rows that look alike are recommended." in said
    assert "Left out: name." in said
    assert said.index("Fit for a partner") < said.index("Take it with you")
    german = Somebody(ann.client, ann.house, ann.who, language="de")
    assert "Geeignet für Partner mit einer Vereinbarung." in german.get(f"/runs/{done}").text


def test_a_sensitive_column_without_a_promise_is_red(ann: Somebody, file: str) -> None:
    run = released(ann, file, ALIKE)
    said = html.unescape(ann.get(f"/runs/{run}").text)
    assert '<div class="verdict bad">' in said
    assert "Not fit: protected by nothing: diagnosis." in said
    told = ann.house.jobs.result(run, ann.who)["figures"]["verdict"]
    assert told["code"] == "unfit.unprotected"
    assert told["text"] == "Not fit: diagnosis is protected by nothing."


def test_a_run_without_a_release_says_what_to_change(ann: Somebody, file: str) -> None:
    run = released(ann, file, IMPOSSIBLE)
    said = html.unescape(ann.get(f"/runs/{run}").text)
    assert "This run ended without a result." in said
    assert f'href="/files/{file}/privacy"' in said
    first = ann.post(f"/runs/{run}/again", key="one click").headers["location"]
    second = ann.post(f"/runs/{run}/again", key="one click").headers["location"]
    assert first == second != f"/runs/{run}", "two clicks make one run"
    ended(ann, first.removeprefix("/runs/"))


def test_why_a_run_failed_is_said_in_the_language_of_the_page_from_one_record(
    ann: Somebody, house: ServiceCore, file: str
) -> None:
    german = Somebody(ann.client, ann.house, ann.who, language="de")
    run = released(ann, file, IMPOSSIBLE)
    reason = house.jobs.get(run, ann.who).error
    assert isinstance(reason, Reason)
    assert str(reason) in html.unescape(ann.get(f"/runs/{run}").text)
    said = html.unescape(german.get(f"/runs/{run}").text)
    assert told("de", reason) in said
    assert told("de", reason) != str(reason)
    assert str(reason) not in said


def test_a_run_is_watched_without_a_socket_and_stopped(ann: Somebody, file: str) -> None:
    run = released(ann, file, {"model": "k-anonymity", "k": 4}, wait=False)
    part = ann.get(f"/runs/{run}/progress").text
    assert "data-every" in part or "data-reload" in part
    assert ann.post(f"/runs/{run}/cancel").headers["location"] == f"/runs/{run}"
    ended(ann, run)
    assert "data-reload" in ann.get(f"/runs/{run}/progress").text


def test_an_alternative_is_taken_with_its_levels_and_marked(ann: Somebody, done: str) -> None:
    document = ann.house.jobs.get(done, ann.who).document
    hidden = {**document, "columns": {**COLUMNS, "sex": {"role": "quasi-identifier", "level": 1}}}
    other = ended(ann, ann.house.jobs.start("anonymize", hidden, ann.who).id)
    said = settled(ann, f"/runs/{other}/alternatives")
    assert "The least loss" in said
    assert said.count("This is the release above.") == 0, "the release hides the sex, the best does not"
    job = ann.house.jobs.list(ann.who, kinds=["alternatives"])[0]
    found = ann.house.jobs.result(job.id, ann.who)["figures"]["alternatives"]
    assert re.findall(r'name="option" value="(\d+)"', said) == [str(n) for n in range(len(found))]
    taken = ann.post(f"/runs/{other}/take", option="0", key="a click").headers["location"]
    assert ann.post(f"/runs/{other}/take", option="0", key="a click").headers["location"] == taken
    run = ended(ann, taken.removeprefix("/runs/"))
    assert ann.house.jobs.result(run, ann.who)["figures"]["levels"] == found[0]["levels"]
    assert settled(ann, f"/runs/{run}/alternatives").count("This is the release above.") == 1
    assert ann.post(f"/runs/{other}/take", option="99").status_code == 422


def test_utility_is_told_in_two_parts_and_the_public_one_knows_no_original(ann: Somebody, done: str) -> None:
    public = settled(ann, f"/runs/{done}/utility/public")
    internal = settled(ann, f"/runs/{done}/utility/internal")
    for text in ("Do not send it along", "Figures before and after"):
        assert text in internal
        assert text not in public
    for name in ("age", "sex", "postcode"):
        assert f"Distribution of {name} before and after" in internal
        assert f'<th scope="row">{name}</th>' in public


# ------------------------------------------------------------------ lists


def test_runs_are_listed_with_table_promise_and_state(ann: Somebody, done: str) -> None:
    assert done
    said = html.unescape(ann.get("/runs").text)
    for text in ("patients.csv", "k 5 · l 2 diagnosis", "done"):
        assert text in said
    assert ">Utility<" not in said
    assert ">Utility<" in ann.get("/runs?kinds=all").text


def test_a_list_has_every_job_once_whatever_comes_in_between(
    client: httpx.Client, house: ServiceCore
) -> None:
    who = Somebody(client, house, house.people.add("many", ["steward"]))
    file = upload(who, "a,b\n1,2\n")
    made = [house.jobs.start("profile", {"input": {"file": file}}, who.who) for _ in range(5)]
    headers = {"Authorization": f"Bearer {house.people.tokens.make(who.who, 'list')[1]}"}
    seen: list[str] = []
    address = "/api/v1/jobs?limit=2"
    while address:
        answer = client.get(address, headers=headers)
        seen += [job["id"] for job in answer.json()]
        following = re.search(r"<(.*?)>", answer.headers.get("link", ""))
        address = following.group(1) if following else ""
        house.jobs.cancel(house.jobs.start("profile", {"input": {"file": file}}, who.who).id, who.who)
    assert seen == [job.id for job in reversed(made)]
    assert client.get("/api/v1/jobs?after=nonsense!", headers=headers).status_code == 422


# ------------------------------------------------------------------ what is kept


def test_what_is_kept_is_listed_and_nothing_is_left_after_deleting(ann: Somebody) -> None:
    file = upload(ann, PATIENTS.replace("Patient-Nr", "Secret-Person"), "gone.csv")
    run = released(ann, file, ALIKE)
    said = html.unescape(ann.get(f"/files/{file}/kept").text)
    for text in ("gone.csv", "The upload", "Release", "rows as they are", "what is released"):
        assert text in said
    answer = ann.post(f"/files/{file}/delete")
    assert "pieces of the upload, and nothing was found." in answer.text
    assert ann.get(f"/runs/{run}").status_code == 404
    assert ann.get(f"/files/{file}/kept").status_code == 404
    left = [path for path in ann.house.settings.folder.rglob("*") if path.is_file()]
    assert left
    assert not any(b"Secret-Person" in path.read_bytes() for path in left)


def test_what_was_not_deleted_would_be_found(ann: Somebody) -> None:
    content = PATIENTS.replace("Patient-Nr", "Left-Behind")
    file = upload(ann, content, "left.csv")
    stray = ann.house.settings.folder / "stray.bin"
    stray.write_bytes(b"x" * 4_194_300 + content.encode())  # a piece may lie across two reads
    try:
        assert "pieces of it were found in 1 files" in ann.post(f"/files/{file}/delete").text
    finally:
        stray.unlink()


# ------------------------------------------------------------------ people and the way in


def test_who_is_invited_chooses_a_password_which_ends_everything_else(
    client: httpx.Client, house: ServiceCore, ann: Somebody
) -> None:
    said = ann.post("/people/invite", name="Olga", roles="auditor").text
    link = re.search(r"/login/link\?secret=[\w-]+", said)
    assert link is not None
    came = client.get(link.group(), follow_redirects=False)
    assert came.headers["location"] == "/"
    assert "failed=link" in client.get(link.group(), follow_redirects=False).headers["location"], "once"
    olga = Somebody(client, house, house.people.get("Olga"))
    client.cookies.clear()
    assert "You have no password yet." in olga.get("/me").text
    assert olga.post("/me/password", new="one two three", again="another").status_code == 422
    assert olga.post("/me/password", new="aaaaaaaaaaaa", again="aaaaaaaaaaaa").status_code == 422
    other = Somebody(client, house, olga.who)
    answer = olga.post("/me/password", new="one two three", again="one two three")
    assert answer.headers["location"] == "/me?done=password"
    assert olga.get("/me").status_code == 200
    assert other.get("/me").headers["location"].startswith("/login"), "other sessions end"
    wrong = olga.post("/me/password", old="wrong", new="four five six", again="four five six")
    assert "your password was not changed" in wrong.text
    made = olga.post("/me/tokens", label="nightly", roles="auditor", days="7").text
    secret = re.search(r"tarn_[\w-]+", made)
    assert secret is not None
    headers = {"Authorization": f"Bearer {secret.group()}"}
    assert client.get("/api/v1/log", headers=headers).status_code == 200
    assert client.post("/api/v1/files", headers=headers, content=b"a\n1\n").status_code == 403
    assert olga.post("/me/tokens", label="none", days="7").status_code == 422
    ann.post("/people/Olga/reset")
    assert client.get("/api/v1/log", headers=headers).status_code == 401, "tokens end, too"
    assert olga.get("/me").headers["location"].startswith("/login")


def test_nobody_takes_the_last_key_from_herself(ann: Somebody) -> None:
    assert ann.post("/people/ann/end").status_code == 403
    assert ann.post("/people/ann/reset").status_code == 403
    assert ann.post("/people/ann/roles", roles="steward").status_code == 422
    assert ann.get("/people").status_code == 200


def test_the_log_is_told_in_pieces_and_verified_on_request(ann: Somebody) -> None:
    said = html.unescape(ann.get("/audit").text)
    assert "person added" in said
    older = re.search(r"/audit\?before=(\d+)", said)
    assert older is not None, "there are more than 50 entries by now"
    assert ann.get(older.group()).status_code == 200
    assert "The log is whole" in ann.post("/audit/verify").text


def test_language_and_colours_are_chosen_without_a_script(client: httpx.Client) -> None:
    answer = client.post(
        "/prefer", data={"language": "de", "theme": "dark", "next": "//evil.example"}, follow_redirects=False
    )
    assert answer.headers["location"] == "/"
    client.cookies.clear()
    shown = client.get("/login", headers={"Cookie": "tarnkappe_language=de; tarnkappe_theme=dark"}).text
    assert '<html lang="de" data-theme="dark">' in shown
    assert "Anmelden" in shown
