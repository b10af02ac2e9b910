"""Hospitals whose packages left: small ones with a history of requests, and larger ones for who splits questions."""

from __future__ import annotations

import csv
import dataclasses
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from unittest.mock import patch

import pyarrow as pa

from tarnkappe.exchange import (
    Anchor,
    AttributeCatalogue,
    DataRequest,
    Institution,
    Network,
    NetworkMember,
    Purpose,
    SitePolicy,
    Surroundings,
    Wanted,
    example,
)
from tarnkappe.exchange.checking import component
from tarnkappe.exchange.desk import RequestWorkflow, earlier
from tarnkappe.exchange.desk.packages import opened
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.exchange.statistics.example import CATALOGUE as LARGE_CATALOGUE
from tarnkappe.exchange.statistics.example import patients as drawn
from tarnkappe.state import Signer, Store
from tests import forked
from tests.attackers.exchange.outsider import House, Left
from tests.attackers.exchange.splitter import Asked, Hospital
from tests.attackers.exchange.stars import HiddenCells
from tests.exchange.test_desk import DUTIES, KEYS, OWN, STAFF, RequestState, decide

DOMAIN = {"diagnosis": ("flu", "gout", "HIV"), "medication": ("X", "Y")}
CATALOGUE = AttributeCatalogue.from_dict(
    {
        "attributes": {
            "id": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [10, 20]}},
            "sex": {"role": "quasi-identifier"},
            "diagnosis": {"role": "sensitive", "selects": True, "damage": 10},
            "medication": {"role": "sensitive", "selects": True},
        }
    }
)
STATED = ("lawfully_collected", "own_competence", "correctable", "operation_covered")


def policy(share: float) -> SitePolicy:
    """Small groups; nobody is left out for being outstanding, so that every reader knows who is in a package."""
    thresholds = {"k": 2, "l": 2, "base": 2, "rare_local": 1, "share": share, "method": "levels"}
    said = {"thresholds": thresholds, "statements": dict.fromkeys(STATED, True), "four_eyes": []}
    return SitePolicy.from_dict(said)


@contextmanager
def histories(folder: Path, number: int = 8) -> Iterator[Sequence[House]]:
    yield [history(folder / str(seed), random.Random(seed)) for seed in range(number)]


@contextmanager
def many_histories(folder: Path) -> Iterator[Sequence[House]]:
    with histories(folder, 150) as made:
        yield made


@contextmanager
def without_what_was_told(folder: Path) -> Iterator[Sequence[House]]:
    """The check compares rows only, as if nobody knew whom a package selects."""
    with (
        patch.object(earlier, "objection_to_told", return_value=""),
        patch.object(component, "most_likely", return_value=0.0),
        histories(folder) as made,
    ):
        yield made


@contextmanager
def without_comparing(folder: Path) -> Iterator[Sequence[House]]:
    """No package is compared with earlier ones, in any way."""
    with patch.object(earlier, "objection", return_value=""), without_what_was_told(folder) as made:
        yield made


def history(folder: Path, draw: random.Random) -> House:
    """Several requests to one hospital while people come, leave and withdraw; everything recommended leaves."""
    folder.mkdir()
    patients = [patient(number, draw) for number in range(7)]
    there = patients[:6]
    members = [NetworkMember(name, frozenset(Purpose), bound_to_secrecy=True) for name in "AC"]
    house = Institution("B", pa.Table.from_pylist(there), "id")
    around = Surroundings(house, CATALOGUE, policy(draw.choice((0.8, 1.0))), Network(members))
    desk = RequestWorkflow(Store.in_memory(), OWN, around, STAFF)
    withdrawn: set[str] = set()
    packages: list[Left] = []
    for number in range(6):
        event = draw.random()
        if event < 0.15:
            there = patients
        elif event < 0.3:
            withdrawn.add(draw.choice(there)["id"])
            for person in withdrawn:
                desk.withdraw_patient(person)
        institution = dataclasses.replace(house, source=pa.Table.from_pylist(there))
        desk.around = dataclasses.replace(desk.around, institution=institution)
        left = asked(desk, request(number, draw), folder / f"{number}.csv")
        if left is not None:
            present = frozenset(str(person["id"]) for person in there) - withdrawn
            packages.append(Left(folder / f"{number}.csv", left.attribute, left.values, present))
    return House(
        {person["id"]: {name: str(person[name]) for name in ("age", "sex")} for person in patients},
        {person["id"]: {name: person[name] for name in DOMAIN} for person in patients},
        DOMAIN,
        packages,
        2,
    )


def patient(number: int, draw: random.Random) -> dict[str, object]:
    return {
        "id": f"P{number}",
        "age": draw.choice((34, 36, 41, 47, 55)),
        "sex": draw.choice("MW"),
        **{name: draw.choice(values) for name, values in DOMAIN.items()},
    }


def request(number: int, draw: random.Random) -> DataRequest:
    attribute = draw.choice(tuple(DOMAIN))
    values = draw.sample(DOMAIN[attribute], draw.choice((1, 1, 2)))
    wanted = draw.sample(("age", "sex", "diagnosis", "medication"), draw.choice((1, 2, 3)))
    return DataRequest(
        id=str(number),
        requester=draw.choice(("Dr. Ask", "Dr. Other")),
        institution=draw.choice("AC"),
        purpose=Purpose.RESEARCH,
        question="Whom does it help?",
        anchor=Anchor(attribute, tuple(values)),
        wanted=tuple(map(Wanted, wanted)),
    )


def asked(desk: RequestWorkflow, sent: DataRequest, path: Path) -> Anchor | None:
    """Have a request checked and, if that is recommended, let its package leave into a file."""
    desk.receive(sent)
    if desk.check(sent.digest, "Stew").package is None:
        return None
    decide(desk, sent.digest, "Ann")
    package = desk.answer(sent.digest, sent.institution).package
    assert package is not None
    rows = opened(package).to_pylist()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return sent.anchor


TARN = str(forked.TARN)
BY_VALUE = (Asked("diagnosis", "HIV", ("sex",)), Asked("diagnosis", "flu", ("sex",)))
MANY_PARTS = (
    *BY_VALUE,
    Asked("diagnosis", "gout", ("age", "sex")),
    Asked("medication", "X", ("sex", "diagnosis")),
    Asked("medication", "Y", ("age", "sex")),
    Asked("diagnosis", "HIV", ("age",)),
)


def sixty() -> list[dict[str, object]]:
    """All men have one disease, all women another: who is selected by it is known by sex."""
    return [
        {"patient": f"P{n}", "age": 40 + n % 20, "sex": "MW"[n // 30], "diagnosis": ("HIV", "flu")[n // 30]}
        | {"medication": "XY"[n % 2]}
        for n in range(60)
    ]


def ward() -> list[dict[str, object]]:
    """Many people, of whom nearly all men have one disease, and the old ones another."""
    draw, people = random.Random(7), []
    for n in range(240):
        sex, age = draw.choice("MW"), draw.randrange(30, 70)
        ill = (
            "gout"
            if age >= 60
            else "HIV"
            if sex == "M" and draw.random() < 0.95
            else draw.choice(("flu", "HIV"))
        )
        people.append(
            {"patient": f"P{n}", "age": age, "sex": sex, "diagnosis": ill, "medication": draw.choice("XY")}
        )
    return people


@contextmanager
def hospital(
    folder: Path, people: Sequence[dict[str, object]], questions: Sequence[Asked]
) -> Iterator[Hospital]:
    """Two members of a network: one has these patients and serves, the other has the command line."""
    own = folder / "network"
    sites = example.make(own, 50)
    (own / "B-patients.db").unlink()
    example.fill(own / "B-patients.db", pa.Table.from_pylist(list(people)))
    thresholds = {"k": 5, "l": 2, "base": 20, "method": "levels"}
    stated = dict.fromkeys(STATED, True)
    example.write_toml(
        own / "policy.toml", {"rules": ["gdpr"], "thresholds": thresholds, "statements": stated}
    )
    staff = {
        name: {"duties": sorted(map(str, duties)), "public_key": Signer(KEYS[name]).public}
        for name, duties in DUTIES.items()
    }
    example.write_toml(own / "staff.toml", {"people": staff})
    site = ExchangeSite.load(sites[1])
    service = site.service()
    Thread(target=service.serve_forever, daemon=True).start()

    def staff_decides() -> None:
        desk = site.desk()
        for sent, _ in desk.requests():
            leaves = desk.check(sent.digest, "Stew").package is not None
            for name in ("Ann", "Cleo"):
                if decide(desk, sent.digest, name, accepts=leaves) is RequestState.REJECTED:
                    break

    known = {str(p["patient"]): {name: str(p[name]) for name in ("age", "sex")} for p in people}
    try:
        yield Hospital((TARN, "exchange"), sites[0], "B", known, staff_decides, questions)
    finally:
        service.close()


@contextmanager
def split_by_value(folder: Path) -> Iterator[Hospital]:
    with hospital(folder, sixty(), BY_VALUE) as made:
        yield made


@contextmanager
def split_in_many(folder: Path) -> Iterator[Hospital]:
    with hospital(folder, ward(), MANY_PARTS) as made:
        yield made


@contextmanager
def split_where_nobody_looks(folder: Path) -> Iterator[Hospital]:
    """The check compares rows only, as if nobody knew whom a package selects."""
    with (
        patch.object(earlier, "objection_to_told", return_value=""),
        patch.object(component, "most_likely", return_value=0.0),
        hospital(folder, sixty(), BY_VALUE) as made,
    ):
        yield made


@contextmanager
def hidden_cells(folder: Path, cover: float = 0.5) -> Iterator[HiddenCells]:
    """A package about people some of whom have a conspicuous diagnosis."""
    table = drawn(3000, 3)
    rows = table.to_pylist()
    for place, row in enumerate(rows):
        row["medication"] = "ibuprofen" if place % 4 == 0 else row["medication"]
    members = [NetworkMember("A", frozenset(Purpose), bound_to_secrecy=True)]
    said = {"thresholds": {"k": 5, "l": 2, "base": 20, "cover": cover, "method": "levels"}, "four_eyes": []}
    around = Surroundings(
        Institution("B", pa.Table.from_pylist(rows), "patient"),
        AttributeCatalogue.from_dict(LARGE_CATALOGUE),
        SitePolicy.from_dict(said | {"statements": dict.fromkeys(STATED, True)}),
        Network(members),
    )
    desk = RequestWorkflow(Store.in_memory(), OWN, around, STAFF)
    sent = DataRequest(
        "1",
        "Dr. Ask",
        "A",
        Purpose.RESEARCH,
        "Whom does it help?",
        Anchor("medication", ("ibuprofen",)),
        (Wanted("sex"), Wanted("diagnosis")),
    )
    assert asked(desk, sent, folder / "package.csv") is not None
    truth = Counter(
        (row["sex"],) for row in rows if row["medication"] == "ibuprofen" and row["diagnosis"] == "alcoholism"
    )
    yield HiddenCells(folder / "package.csv", "diagnosis", truth, ("sex",))


@contextmanager
def nothing_else_hidden(folder: Path) -> Iterator[HiddenCells]:
    with hidden_cells(folder, cover=1.0) as made:
        yield made
