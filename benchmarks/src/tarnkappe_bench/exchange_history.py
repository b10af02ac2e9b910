"""What a history of requests leaves of packages: how many leave, and how much of what was wanted is lost.

A made-up hospital is asked forty times, for random selections and columns. Whatever is recommended leaves, so
every package must keep its promises together with all that came before. A selection by a conspicuous value is
refused whoever asks, so it is counted apart.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

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
)
from tarnkappe.exchange.checking import Recommendation
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.decisions import decision_statement
from tarnkappe.exchange.staff import Duty, Staff, StaffMember
from tarnkappe.exchange.statistics.example import CATALOGUE, patients
from tarnkappe.state import Key, Signer, Store
from tarnkappe.table.encoding import Progress

PEOPLE, REQUESTS = 5000, 40
KNOWN = ("age", "sex", "weight", "origin", "occupation")
SELECTING = ("diagnosis", "medication")
CONSPICUOUS = frozenset(AttributeCatalogue.from_dict(CATALOGUE)["diagnosis"].conspicuous)
LEAST = 20
"""So many people must have a value that is asked for."""
UNREADABLE = 0.5
"""What a label loses that no reader understands."""
SIGNING, ANN = Key(bytes(32)), Key(bytes([1]) * 32)
LIMITS: dict[str, Any] = {"k": 5, "l": 2, "base": LEAST}
THRESHOLDS: dict[str, Any] = {**LIMITS, "share": 0.8}
MONTHS, NEWCOMERS = 12, 80
"""A year, and how many people come in each month; one of those who are there withdraws."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """One request and what came of it.

    Attributes:
        request: the request.
        found: what was recommended.
        loss: how much of the wanted known cells is lost, from 0 to 1.
        processor_seconds: what the check took.
        makes_groups: whether its selection was asked for the first time.
    """

    request: DataRequest
    found: Recommendation
    loss: float
    processor_seconds: float
    makes_groups: bool

    @property
    def is_conspicuous(self) -> bool:
        """Whether it selects people by a conspicuous value."""
        return bool(set(self.request.anchor.values) & CONSPICUOUS)

    @property
    def leaves(self) -> bool:
        """Whether a package left."""
        return self.found.package is not None


def run(
    progress: Progress | None = None, *, rows: int = PEOPLE, seeds: Sequence[int] = (1, 2, 3)
) -> dict[str, Any]:
    """Ask hospitals of so many patients, by packages from cohorts; one after the other."""
    figures: dict[str, Any] = {"patients": rows, "requests": REQUESTS, "seeds": list(seeds)}
    hospitals = []
    for number, seed in enumerate(seeds):
        hospitals.append(summary(list(ask_all(rows, seed))))
        if progress:
            progress("hospitals", number + 1, len(seeds))
    figures["hospitals"] = hospitals
    figures["refused_but_conspicuous"] = max(each["eligible"] - each["left"] for each in hospitals)
    figures["loss"] = max(each["loss"] for each in hospitals)
    figures["known_groups_processor_seconds"] = max(
        each["known_groups_processor_seconds"] for each in hospitals
    )
    figures["new_groups_processor_seconds"] = max(each["new_groups_processor_seconds"] for each in hospitals)
    return figures


def summary(asked: Sequence[Asked]) -> dict[str, Any]:
    """How many left, and what was lost, of those that select no conspicuous value."""
    eligible = [each for each in asked if not each.is_conspicuous]
    return {
        "eligible": len(eligible),
        "left": sum(each.leaves for each in eligible),
        "conspicuous_left": sum(each.leaves for each in asked if each.is_conspicuous),
        "loss": sum(each.loss for each in eligible) / max(len(eligible), 1),
        "sensitive_kept": sum(_keeps_sensitive(each) for each in eligible if _wants_sensitive(each)),
        "sensitive_wanted": sum(_wants_sensitive(each) for each in eligible),
        "known_groups_processor_seconds": _median(
            [e.processor_seconds for e in eligible if not e.makes_groups]
        ),
        "new_groups_processor_seconds": max(
            (e.processor_seconds for e in eligible if e.makes_groups), default=0.0
        ),
        "refused": [_why(each) for each in eligible if not each.leaves],
    }


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0


def _why(asked: Asked) -> str:
    anchor, last = asked.request.anchor, asked.found.steps[-1]
    return f"{anchor.attribute} = {', '.join(anchor.values)}: {last.name} {last.reply}"


def _sensitive(asked: Asked) -> list[str]:
    return [n for n in asked.request.names if n in SELECTING and n != asked.request.anchor.attribute]


def _wants_sensitive(asked: Asked) -> bool:
    return bool(_sensitive(asked))


def _keeps_sensitive(asked: Asked) -> bool:
    package = asked.found.package
    return package is not None and set(_sensitive(asked)) <= set(package.release.column_names)


def ask_all(rows: int, seed: int, store: Store | None = None, **thresholds: Any) -> Iterator[Asked]:
    """The requests of one hospital, one after the other; what is recommended leaves."""
    table = patients(rows, seed)
    desk = desk_of(table, store or Store.in_memory(), **thresholds)
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for number, (anchor, names) in enumerate(selections(table, seed)):
        yield ask(desk, table, str(number), anchor, names, new=(anchor.attribute, anchor.values) not in seen)
        seen.add((anchor.attribute, anchor.values))


def selections(table: pa.Table, seed: int) -> Iterator[tuple[Anchor, tuple[str, ...]]]:
    """Whom the requests select, and what they want."""
    draw = random.Random(seed)
    counts = {name: Counter(table.column(name).to_pylist()) for name in SELECTING}
    for _ in range(REQUESTS):
        attribute = draw.choice(SELECTING)
        value = draw.choice(sorted(v for v, number in counts[attribute].items() if number >= LEAST))
        names = draw.sample(KNOWN, draw.choice((2, 3, 4)))
        if draw.random() < 0.7:
            names.append(next(name for name in SELECTING if name != attribute))
        yield Anchor(attribute, (value,)), tuple(names)


def desk_of(table: pa.Table, store: Store, **thresholds: Any) -> RequestWorkflow:
    """The desk of a hospital at which one physician decides; without statistics of the population."""
    limits = {**THRESHOLDS, "method": "cohorts", **thresholds}
    policy = SitePolicy.from_dict(
        {
            "thresholds": limits,
            "statements": dict.fromkeys(
                ("lawfully_collected", "own_competence", "correctable", "operation_covered"), True
            ),
            "four_eyes": [],
            # Cohorts keep the limits of every purpose: the stricter ones of teaching make larger ones.
            "purposes": {"teaching": LIMITS},
        }
    )
    members = Network([NetworkMember("A", frozenset(Purpose), bound_to_secrecy=True)])
    around = Surroundings(
        Institution("B", table, "patient"), AttributeCatalogue.from_dict(CATALOGUE), policy, members
    )
    duties = {"Ann": {Duty.PHYSICIAN}, "Stew": {Duty.STEWARD}}
    keys = {"Ann": ANN, "Stew": Key(bytes([2]) * 32)}
    staff = Staff([StaffMember(n, frozenset(own), Signer(keys[n]).public) for n, own in duties.items()])
    return RequestWorkflow(store, SIGNING, around, staff)


def ask(
    desk: RequestWorkflow,
    table: pa.Table,
    number: str,
    anchor: Anchor,
    names: Sequence[str],
    *,
    new: bool = True,
) -> Asked:
    """Ask one question; its package leaves if that is recommended."""
    request = DataRequest(
        number, "Dr. Ask", "A", Purpose.RESEARCH, "How are they?", anchor, tuple(map(Wanted, names))
    )
    desk.receive(request)
    start = time.process_time()
    found = desk.check(request.digest, "Stew")
    took = time.process_time() - start
    if found.package is not None:
        said = desk.to_decide(request.digest, "Ann", accepts=True, reason="It serves the patients.")
        desk.decide(said, Signer(ANN).sign(decision_statement(said)))
        desk.answer(request.digest, "A")
        desk.confirm(request.digest, "A")
    return Asked(request, found, loss_of(table, request, found), took, new)


def loss_of(table: pa.Table, request: DataRequest, found: Recommendation) -> float:
    """The mean over the wanted known cells of everybody who was selected.

    A cell loses the share of the whole range, or of the values, that its label takes; a column that was
    withheld and a row that is missing lose all.
    """
    wanted = [name for name in request.names if name in KNOWN]
    own = table.column(request.anchor.attribute).to_pylist()
    selected = sum(value in request.anchor.values for value in own)
    if found.package is None or not selected:
        return 1.0
    release = found.package.release.data
    lost = 0.0
    for name in wanted:
        if name not in release.column_names:
            lost += selected
            continue
        values = table.column(name).to_pylist()
        words = Counter(release.column(name).to_pylist())
        lost += sum(width(str(word), values) * number for word, number in words.items())
        lost += selected - release.num_rows
    return lost / (selected * len(wanted))


def width(label: str, values: Sequence[Any]) -> float:
    """How much of a column's values a label leaves open, by reading it as anybody would.

    >>> width("20-29", [0, 50, 90]), width("M", ["M", "W"]), width("{M, W}", ["M", "W"]), width("*", [1, 2])
    (0.1, 0.0, 1.0, 1.0)
    >>> width("[20, 29]", [0, 90]), width("29", [0, 90]), width("a riddle", [0, 90])
    (0.1, 0.0, 0.5)
    """
    if label == "*":
        return 1.0
    if isinstance(values[0], str):
        some = label[1:-1].split(", ") if label.startswith("{") else [label]
        domain = set(values)
        return (len(some) - 1) / max(len(domain) - 1, 1) if set(some) <= domain else UNREADABLE
    ends = label[1:-1].split(", ") if label.startswith("[") else label.split("-")
    try:
        low, high = float(ends[0]), float(ends[-1])
    except ValueError:
        return UNREADABLE
    return (high - low) / ((max(values) - min(values)) or 1)


def year(rows: int = 4000, seed: int = 1, newcomers: int = NEWCOMERS) -> dict[str, Any]:
    """How many of the rows that could be asked for are in packages after a year of coming and going.

    Every value that may be asked for is asked for before the first month and after the last, and one of them
    each month between. Newcomers of a month are one wave.
    """
    everybody = patients(rows + MONTHS * newcomers, seed)
    store, draw = Store.in_memory(), random.Random(seed)
    first = everybody.slice(0, rows)
    values = [
        Anchor(name, (value,))
        for name in SELECTING
        for value, number in sorted(Counter(first.column(name).to_pylist()).items())
        if number >= LEAST and value not in CONSPICUOUS
    ]
    asked, here, gone = _numbered(), first, set[str]()
    for anchor in values:
        ask(desk_of(here, store, wave_days=0), here, next(asked), anchor, ("age", "sex"))
    for month in range(1, MONTHS + 1):
        here = everybody.slice(0, rows + month * newcomers)
        desk = desk_of(here, store, wave_days=0)
        leaving = draw.choice([who for who in here.column("patient").to_pylist() if who not in gone])
        gone.add(leaving)
        desk.withdraw_patient(leaving)
        ask(desk, here, next(asked), draw.choice(values), ("age", "sex"))
    last = [
        ask(desk_of(here, store, wave_days=0), here, next(asked), each, ("age", "sex")) for each in values
    ]
    there = {
        name: Counter(
            value
            for who, value in zip(
                here.column("patient").to_pylist(), here.column(name).to_pylist(), strict=True
            )
            if who not in gone
        )
        for name in SELECTING
    }
    wanted = sum(there[each.attribute][each.values[0]] for each in values)
    found = sum(each.found.package.release.num_rows for each in last if each.found.package is not None)
    return {
        "rows_wanted": wanted,
        "rows_found": found,
        "share": found / wanted,
        "answered": sum(each.leaves for each in last),
        "asked": len(values),
    }


def _numbered() -> Iterator[str]:
    return (f"q{number}" for number in itertools.count())
