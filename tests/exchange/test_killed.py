"""Must show: kill -9 at any point loses no request and no decision, and no package is sent twice."""

from __future__ import annotations

import itertools
import multiprocessing
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tarnkappe.errors import AccessError, TarnkappeError
from tarnkappe.exchange.desk import RequestState, RequestWorkflow
from tarnkappe.exchange.desk.packages import digest_of
from tarnkappe.exchange.peer import ExchangeService, Outbox
from tarnkappe.federation.certificates import Authority, Credentials
from tarnkappe.state import AuditLog
from tests.conftest import ROOT
from tests.exchange import killed
from tests.exchange.scenes import free_port, request
from tests.exchange.test_desk import decide

DIGEST = request().digest
pytestmark = pytest.mark.slow

MOST = 24
"""How many points are tried in each test; there are some hundred."""
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.exchange.killed"])


@pytest.fixture(scope="module", autouse=True)
def _server() -> None:
    """Start the server that all processes are forked from, with everything loaded that they need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        process = PROCESSES.Process(target=print)
        process.start()
        process.join(120)


def spread(number: int) -> list[int]:
    """Points to be killed at: all, or as many as there is time for, from the first to the last."""
    return sorted({round(1 + at * (number - 1) / (MOST - 1)) for at in range(MOST)})


def kills(act: Callable[..., None], prepare: Callable[[], tuple]) -> Iterator[tuple]:
    """Let a process act to its end, and then again and again, killed at one point after the other."""
    todo = [0]
    for number in itertools.count():
        if number == len(todo):
            return
        words, points = prepare(), PROCESSES.Value("i", 0)
        process = PROCESSES.Process(target=act, args=(todo[number], points, *words))
        process.start()
        process.join(300)
        if number == 0:
            todo += spread(points.value)
        assert process.exitcode in (0, -signal.SIGKILL)
        yield words


@pytest.fixture(scope="module")
def credentials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Credentials]:
    authority = Authority(tmp_path_factory.mktemp("authority"))
    return {name: authority.issue(name) for name in "AB"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, credentials: dict[str, Credentials]) -> Path:
    """A request is made (a.db), it is half agreed (half.db), and accepted while A waits (b.db, sent.db)."""
    folder = tmp_path_factory.mktemp("prepared")
    own = killed.outbox_of(folder / "a.db", credentials["A"], 1)
    own.add(request(), "B")
    own.store.close()
    killed.desk_of(folder / "empty.db").store.close()
    at = killed.desk_of(folder / "half.db")
    at.receive(request())
    at.check(DIGEST, "Stew")
    decide(at, DIGEST, "Ann")
    at.store.close()
    shutil.copy(folder / "half.db", folder / "b.db")
    at = killed.desk_of(folder / "b.db")
    decide(at, DIGEST, "Cleo")
    at.store.close()
    shutil.copy(folder / "a.db", folder / "sent.db")
    own = killed.outbox_of(folder / "sent.db", credentials["A"], 1)
    own._note(DIGEST, "sent")
    own.store.close()
    return folder


def events(log: AuditLog) -> Counter[str]:
    log.verify()
    return Counter(entry.event for entry in log.entries())


def test_a_killed_decision_is_there_whole_or_not_at_all(prepared: Path, tmp_path: Path) -> None:
    place, number = tmp_path / "b.db", 0

    def prepare() -> tuple[Path]:
        shutil.copy(prepared / "half.db", place)
        return (place,)

    for _ in kills(killed.decides, prepare):
        number += 1
        at = killed.desk_of(place)
        before = at.state(DIGEST)
        assert before in (RequestState.HALF_AGREED, RequestState.ACCEPTED)
        assert (events(at.log)["decided"], len(at.register.disclosures("P01"))) == (
            (1, 0) if before is RequestState.HALF_AGREED else (2, 1)
        )
        with suppress(AccessError):
            decide(at, DIGEST, "Cleo")
        assert at.state(DIGEST) is RequestState.ACCEPTED
        assert events(at.log)["decided"] == 2
        assert len(at.register.disclosures("P01")) == 1
        at.store.close()
    assert number == MOST + 1


def finish(own: Outbox, at: RequestWorkflow) -> None:
    """Everything goes on after the restart; A has one package, B has sent one, and both know it."""
    while own.work():
        pass
    [sent] = own.all()
    assert sent.state == "closed"
    assert digest_of(sent.package) == sent.answer["package"]
    assert at.state(DIGEST) is RequestState.DELIVERED
    with pytest.raises(AccessError, match="not sent again"):
        at.answer(DIGEST, "A")
    ours, theirs = events(AuditLog(own.store)), events(at.log)
    assert (ours["answer received"], ours["package received"], ours["request closed"]) == (1, 1, 1)
    assert theirs["answer delivered"] == 1
    assert len(at.register.disclosures("P01")) == 1


def test_an_institution_that_is_killed_while_it_fetches_has_its_package_once(
    prepared: Path, tmp_path: Path, credentials: dict[str, Credentials], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tarnkappe.exchange.desk.delivery.PART", 1500)  # several parts
    mine, theirs, number = tmp_path / "a.db", tmp_path / "b.db", 0
    services: list[ExchangeService] = []

    def prepare() -> tuple[Path, Credentials, int]:
        while services:
            services.pop().close()
        shutil.copy(prepared / "sent.db", mine)
        shutil.copy(prepared / "b.db", theirs)
        services.append(ExchangeService(killed.desk_of(theirs), credentials["B"], ("127.0.0.1", 0)))
        services[0].start()
        return mine, credentials["A"], services[0].address[1]

    for _, _, port in kills(killed.fetches, prepare):
        number += 1
        own, at = killed.outbox_of(mine, credentials["A"], port), killed.desk_of(theirs)
        finish(own, at)
        own.store.close()
        at.store.close()
    services.pop().close()
    assert number == MOST + 1


@pytest.mark.parametrize(("theirs", "mine"), [("empty", "a"), ("b", "sent")])
def test_an_institution_that_is_killed_while_it_answers_loses_no_request_and_sends_one_package(
    theirs: str, mine: str, prepared: Path, tmp_path: Path, credentials: dict[str, Credentials]
) -> None:
    todo = [0]
    while todo:
        point, points = todo.pop(), PROCESSES.Value("i", 0)
        shutil.copy(prepared / f"{mine}.db", tmp_path / "a.db")
        shutil.copy(prepared / f"{theirs}.db", tmp_path / "b.db")
        port, ready = free_port(), PROCESSES.Event()
        words = (point, points, tmp_path / "b.db", credentials["B"], port, ready)
        process = PROCESSES.Process(target=killed.serves, args=words)
        process.start()
        assert ready.wait(120)
        own = killed.outbox_of(tmp_path / "a.db", credentials["A"], port)
        with suppress(TarnkappeError):
            while own.work():
                pass
        if point == 0:
            todo = spread(points.value)
        process.kill()  # where it has not come to its point
        process.join(120)
        at = killed.desk_of(tmp_path / "b.db")
        if own.all()[0].state != "queued":
            assert at.request(DIGEST).wanted == request().wanted  # what A knows to have arrived has arrived
        service = ExchangeService(at, credentials["B"], ("127.0.0.1", port))
        service.start()
        if theirs == "b":
            finish(own, at)
        else:
            own.work()
            assert [each.state for each in own.all()] == ["sent"]
            assert at.state(DIGEST) is RequestState.RECEIVED
            assert events(at.log) == {"request received": 1}
        service.close()
        own.store.close()
        at.store.close()
