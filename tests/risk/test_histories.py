"""The release history: what several releases leave everybody, from files and from the store."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.risk import Target, check
from tarnkappe.risk.attacks import Background
from tarnkappe.risk.continuation import continues
from tarnkappe.risk.history import ReleaseHistory
from tarnkappe.state import AuditLog, Key, Store
from tarnkappe.state.releases import RELEASES
from tarnkappe.table import SUPPRESSED, Table
from tests.risk import scenarios
from tests.risk.scenarios import KNOWN, World
from tests.risk.worked_examples import CONCEPT_COLUMNS, CONCEPTS, table

KEY = Key(bytes(range(32)))
REGISTER = table(CONCEPTS / "register.csv").with_roles(identifiers=["Name"])


def release(name: str) -> Table:
    return table(CONCEPTS / f"{name}.csv").with_roles(
        quasi_identifiers=CONCEPT_COLUMNS, sensitive=["Krankheit"]
    )


def ward(name: str) -> Target:
    return Target.of(release(name), Background(people=REGISTER))


@pytest.fixture
def history() -> ReleaseHistory:
    return ReleaseHistory(Store.in_memory(), KEY, "ward")


def test_the_second_release_is_refused_after_the_first(history: ReleaseHistory) -> None:
    """SAFE_NEXT of the worked example: five of seven fail, by rows and by values."""
    history.record("first", ward("f-h3"))
    for found in (
        history.check(ward("f-h4"), k=2, diversity=2, shown=None),
        continues(
            Target.of(release("f-h4"), Background(people=REGISTER, earlier={"first": release("f-h3")})),
            diversity=2,
            shown=None,
        ),
    ):
        assert not found.safe
        assert (found.too_few_people, found.too_few_values) == (5, {"Krankheit": 5})
        learned = {victim.who[0]: victim.learned.rpartition(" ")[2] for victim in found.examples}
        assert learned == {
            "Witzig Peter": "Hodenkrebs",
            "Schwäger Till": "Schizophrenie",
            "Traube Kai": "Diabetes",
            "Kneighty Kaira": "Magersucht",
            "Krempel Naomi": "Magersucht",
        }


@pytest.mark.parametrize("name", ["f-h3", "f-h5"])
def test_a_generalization_of_the_first_release_may_follow_it(history: ReleaseHistory, name: str) -> None:
    """k stays 2; with two values for everybody the first release is at fault itself ({t6, t7})."""
    history.record("first", ward("f-h3"))
    assert history.check(ward(name), k=2, diversity=1).safe
    assert not history.check(ward(name), k=3, diversity=1).safe
    refused = history.check(ward(name), k=2, diversity=2)
    assert (refused.too_few_people, refused.too_few_values) == (0, {"Krankheit": 2})


@given(values=st.lists(st.integers(0, 2), min_size=3, max_size=3))
@settings(max_examples=27)
def test_every_generalization_of_the_first_release_may_follow_it(values: list[int]) -> None:
    first = release("f-h3")
    data = {name: first.data.column(name).to_pylist() for name in (*CONCEPT_COLUMNS, "Krankheit")}
    for name, stars in zip(CONCEPT_COLUMNS, values, strict=True):
        data[name] = ["*" if stars == 2 else cell[: len(cell) - stars] + "*" * stars for cell in data[name]]
    wider = Table(pa.table(data)).with_roles(quasi_identifiers=CONCEPT_COLUMNS, sensitive=["Krankheit"])
    found = continues(Target.of(wider, Background(people=REGISTER, earlier={"first": first})))
    assert found.safe


def members(world: World, number: int) -> Target:
    """A release, and exactly the people in it."""
    some = [world.everybody[person] for person in sorted(world.releases[number].people)]
    people = Table(pa.table({name: [p[name] for p in some] for name in ("name", *KNOWN)}))
    known = people.with_roles(identifiers=["name"])
    return Target.of(world.releases[number].table, Background(people=known))


@given(scenarios.sampled(hiding=True, earlier=3), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_the_store_finds_what_a_slow_twin_finds(world: World, k: int, diversity: int) -> None:
    """Everybody is looked for in the releases she is in; whom she shares all her classes with looks alike."""
    history = ReleaseHistory(Store.in_memory(), KEY, "world")
    for number in range(1, len(world.releases)):
        history.record(f"release {number}", members(world, number))
    found = history.check(members(world, 0), k=k, diversity=diversity, shown=None)
    fitting = {}
    for number, released in enumerate(world.releases):
        for person in released.people:
            covering = released.candidates(world.everybody[person])
            fitting[person, number] = frozenset(tuple(row[name] for name in KNOWN) for row in covering)
    few_rows = few_values = 0
    for person in world.releases[0].people:
        places = [n for n in range(len(world.releases)) if (person, n) in fitting]
        alike = sum(
            all(fitting.get((other, n)) == fitting[person, n] for n in places)
            for other in world.releases[0].people
        )
        few_rows += alike < k
        left = [
            Counter(row["disease"] for row in world.releases[n].candidates(world.everybody[person]))
            for n in places
        ]
        shown = [set(some) for some in left if SUPPRESSED not in some]
        few_values += bool(shown) and len(set.intersection(*shown)) < diversity
    assert (found.too_few_people, found.too_few_values) == (few_rows, {"disease": few_values})


@given(scenarios.same_people(earlier=3))
@settings(max_examples=30)
def test_files_and_store_agree_on_the_same_people(world: World) -> None:
    history = ReleaseHistory(Store.in_memory(), KEY, "world")
    for number in range(1, len(world.releases)):
        history.record(f"release {number}", members(world, number))
    stored = history.check(members(world, 0), k=3, diversity=2)
    shown = continues(world.target, k=3, diversity=2)
    assert (stored.too_few_people, stored.too_few_values) == (shown.too_few_people, shown.too_few_values)


def test_nothing_that_is_kept_can_be_read(tmp_path: Path) -> None:
    """An attacker who steals the database finds no value, and cannot try values out without the key."""
    store = Store.open(tmp_path / "history.db")
    ReleaseHistory(store, KEY, "ward").record("first", ward("f-h3"))
    store.close()
    # Times and digests in hexadecimal digits may have the digits of a postcode by chance.
    kept = re.sub(rb"\d{4}-\d\d-\d\dT[\d:.+]+|[0-9a-f]{64}", b"", (tmp_path / "history.db").read_bytes())
    texts = {cell for name in ("f-h3",) for c in release(name).data.columns for cell in c.to_pylist()}
    texts |= {cell for column in REGISTER.data.columns for cell in column.to_pylist()}
    for text in texts:
        if len(text) > 2:
            assert text.encode() not in kept, text
            assert Key(bytes(32)).mark("value of Krankheit", [text]) not in kept
    assert KEY.mark("value of Krankheit", ["Diabetes"]) in kept
    assert KEY.mark("person by Name", ["Traube Kai"]) in kept


def test_every_record_is_logged_and_the_order_of_rows_is_not_kept() -> None:
    store = Store.in_memory()
    history = ReleaseHistory(store, KEY, "ward")
    history.record("first", ward("f-h3"))
    assert [entry.event for entry in AuditLog(store).entries()] == ["release recorded"]
    marks = history.releases()[0].people.to_pylist()
    assert marks == sorted(marks)


def test_people_without_names_are_known_by_their_quasi_identifiers(history: ReleaseHistory) -> None:
    anonymous = REGISTER.with_roles(quasi_identifiers=CONCEPT_COLUMNS)
    target = Target.of(release("f-h3"), Background(people=anonymous))
    history.record("first", target)
    assert sorted(history.releases()[0].about["person"]) == sorted(CONCEPT_COLUMNS)
    found = history.check(Target.of(release("f-h4"), Background(people=anonymous)), diversity=2)
    assert (found.too_few_people, found.too_few_values) == (5, {"Krankheit": 5})
    assert found.examples[0].who == ()


def test_what_is_refused(history: ReleaseHistory, tmp_path: Path) -> None:
    history.record("first", ward("f-h3"))
    with pytest.raises(ParameterError, match="'first' already"):
        history.record("first", ward("f-h3"))
    fewer = Background(people=Table(REGISTER.data.slice(1), REGISTER.roles))
    with pytest.raises(ParameterError, match="exactly the people"):
        history.record("second", Target.of(release("f-h3"), fewer))
    with pytest.raises(ParameterError, match="needs a table of people"):
        history.check(Target.of(release("f-h3")))
    with pytest.raises(ParameterError, match="whole number k"):
        history.check(ward("f-h3"), k=0)
    store = Store.open(tmp_path / "history.db")
    ReleaseHistory(store, KEY, "ward").record("first", ward("f-h3"))
    with pytest.raises(InputError, match="another key"):
        ReleaseHistory(store, Key.new(), "ward").check(ward("f-h4"))
    assert ReleaseHistory(store, Key.new(), "another ward").check(ward("f-h4")).safe
    with store.writing() as connection:
        connection.execute(RELEASES.update().values(people=b"damaged"))
    with pytest.raises(InputError, match="'first' is damaged"):
        ReleaseHistory(store, KEY, "ward").releases()
    store.close()


def large_release(
    rng: np.random.Generator, people: Table, widths: tuple[int, int], rows: np.ndarray
) -> Table:
    age, postcode = (np.asarray(people.data.column(name).to_pylist())[rows] for name in ("age", "zip"))
    disease = np.random.default_rng(7).integers(0, 30, people.num_rows)[rows]
    low = age.astype(int) // widths[0] * widths[0]
    cells = {
        "age": [f"{n}-{n + widths[0] - 1}" for n in low],
        "zip": [text[: 5 - widths[1]] + "*" * widths[1] for text in postcode],
        "disease": disease.astype(str),
    }
    order = rng.permutation(len(rows))
    return Table(pa.table(cells).take(order)).with_roles(
        quasi_identifiers=["age", "zip"], sensitive=["disease"]
    )


def town(number: int) -> tuple[Table, list[tuple[np.ndarray, Table]], Table]:
    """People, 20 releases of most of them (who, and what was released), and a new one of all of them."""
    rng = np.random.default_rng(1)
    people = Table(
        pa.table(
            {
                "id": np.arange(number),
                "age": rng.integers(18, 90, number).astype(str),
                "zip": rng.integers(10_000, 12_000, number).astype(str),
            }
        )
    ).with_roles(identifiers=["id"])
    earlier = []
    for index in range(20):
        rows = np.sort(rng.permutation(number)[: number - 1000 * (index % 2)])
        widths = ((5, 10, 20)[index % 3], (2, 3, 1)[index // 3 % 3])
        earlier.append((rows, large_release(rng, people, widths, rows)))
    return people, earlier, large_release(rng, people, (10, 2), np.arange(number))


# Time is that of the processor, since other programs may be running.


@pytest.mark.slow
def test_50_000_rows_against_20_recorded_releases_take_at_most_10_seconds(tmp_path: Path) -> None:
    people, earlier, newest = town(50_000)
    history = ReleaseHistory(Store.open(tmp_path / "history.db"), KEY, "town")
    for index, (rows, released) in enumerate(earlier):
        some = Table(people.data.take(rows), people.roles)
        history.record(f"release {index}", Target.of(released, Background(people=some)))
    start = time.process_time()
    found = history.check(Target.of(newest, Background(people=people)), k=5, diversity=2)
    seconds = time.process_time() - start
    assert len(found.releases) == 20
    assert not found.safe
    assert seconds <= 10


@pytest.mark.slow
def test_50_000_rows_attacked_with_20_earlier_files_take_at_most_10_seconds() -> None:
    people, earlier, newest = town(50_000)
    files = {f"release {index}": released for index, (_, released) in enumerate(earlier)}
    start = time.process_time()
    report = check(newest, background=Background(people=people, earlier=files))
    seconds = time.process_time() - start
    tried = {result.attack for result in report.attacks}
    assert {
        "complementary-release",
        "sensitive-join",
        "quasi-identifier-join",
        "row-order",
        "temporal",
    } <= tried
    assert seconds <= 10
