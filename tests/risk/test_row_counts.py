"""What a column is does not depend on how many rows there are, nor on how often they repeat."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tarnkappe.cli import main
from tarnkappe.risk import IdentifierKind, find_identifiers
from tarnkappe.risk.identifiers.unique_codes import _never_repeat
from tarnkappe.risk.identifiers.view import ColumnView, rarefied_share
from tarnkappe.table import Role, Table

ROWS = 12_000
GIVEN = [
    "James",
    "Mary",
    "Robert",
    "Linda",
    "Ahmed",
    "Sofia",
    "Wei",
    "Olga",
    "Kofi",
    "Yuki",
    "Pedro",
    "Ingrid",
    "Ravi",
    "Aylin",
    "Marek",
    "Chloe",
]
SYLLABLES = [
    "ka",
    "ro",
    "mi",
    "len",
    "dor",
    "vas",
    "tor",
    "ben",
    "hal",
    "sen",
    "berg",
    "mann",
    "ova",
    "ez",
    "ini",
    "ström",
    "qui",
    "tsu",
    "wald",
]


def family(r: random.Random) -> str:
    """A made-up family name: few are on any list, some are frequent, as with real ones."""
    number = int(40 * r.paretovariate(1.1)) % 30_000
    own = random.Random(number)
    return "".join(own.choices(SYLLABLES, k=own.randint(2, 3))).title()


def phone_customer(r: random.Random) -> str:
    return f"{r.randrange(1000, 9999)}-{''.join(r.choices('ABCDEFGHJKLMNPQRSTVWXYZ', k=5))}"


COLUMNS: dict[str, tuple[str, Callable[[random.Random], Any], bool]] = {
    "given names": ("nameFirst", lambda r: r.choice(GIVEN) + r.choice(["", "", "a", "o"]), True),
    "family names": ("nameLast", family, True),
    "family names in full": ("last name", family, True),
    "full names": ("v1", lambda r: f"{r.choice(GIVEN)} {family(r)}", True),
    "names and unknown": ("Name", lambda r: "unknown" if r.random() < 0.5 else family(r), True),
    "customer codes": ("customerID", phone_customer, True),
    "customer codes under another header": ("colour", phone_customer, True),
    "numbers of subjects": (
        "USUBJID",
        lambda r: f"01-{700 + r.randrange(10)}-{r.randrange(1000, 1300)}",
        True,
    ),
    "few subjects": ("SUBJID", lambda r: r.randrange(1001, 1021), True),
    "long numbers": ("v2", lambda r: r.randrange(10**8, 10**9), True),
    "account numbers": ("account", lambda r: f"A{r.randrange(10**7)}", True),
    "doses": ("dose", lambda r: f"{r.randrange(5, 995)} mg", False),
    "decimals": ("lvrat", lambda r: f"0.{r.randrange(10**15, 10**16)}", False),
    "money": ("salary", lambda r: r.randrange(800, 140_000), False),
    "grades": ("grade", lambda r: r.choice(["A1", "A2", "B1", "B2"]), False),
    "diagnoses": ("icd", lambda r: f"{r.choice('ABCDEF')}{r.randrange(10, 99)}.{r.randrange(10)}", False),
    "jobs": ("occupation", lambda r: r.choice(["Baker", "Cook", "Carpenter", "Mason", "Nurse"]), False),
    "countries": ("country", lambda r: r.choice(["Jordan", "Chad", "Germany", "Georgia", "Israel"]), False),
}


def made(rows: int, seed: int = 0) -> pa.Table:
    r = random.Random(seed)
    return pa.table({header: [draw(r) for _ in range(rows)] for header, draw, _ in COLUMNS.values()})


@pytest.fixture(scope="module")
def large() -> pa.Table:
    return made(ROWS)


def identifiers(table: pa.Table) -> set[str]:
    return {
        column.column for column in find_identifiers(Table(table)).columns if column.role is Role.IDENTIFIER
    }


EXPECTED = {header for header, _, is_identifier in COLUMNS.values() if is_identifier}


def test_names_and_codes_are_found_in_a_large_table(large: pa.Table) -> None:
    assert identifiers(large) == EXPECTED


@pytest.mark.parametrize("rows", [200, 2000, 8000])
def test_a_part_of_the_rows_gives_the_same_verdicts(large: pa.Table, rows: int) -> None:
    assert identifiers(large.slice(0, rows)) == EXPECTED


@example(seed=0, rows=600, times=3)
@example(seed=0, rows=600, times=6)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(200, 3000), times=st.integers(1, 6))
@settings(max_examples=15, deadline=None)
def test_random_samples_and_repetitions_give_the_same_verdicts(
    large: pa.Table, seed: int, rows: int, times: int
) -> None:
    """Rows that repeat are visits of the same people; from some hundred people on nothing changes."""
    chosen = np.random.default_rng(seed).choice(ROWS, rows, replace=False)
    sample = large.take(np.sort(chosen))
    repeated = pa.concat_tables([sample] * times) if rows >= 600 else sample
    assert identifiers(repeated) == EXPECTED


@pytest.mark.parametrize(
    ("counts", "share"),
    [
        ([1] * 50, 1.0),
        ([10] * 365, 0.886263),
        ([100] * 12, 0.119987),
        ([500, 500], 0.02),
        ([2] * 1000, 0.975238),
        ([20] * 1000, 0.954327),
    ],
)
def test_the_rarefied_share_has_its_known_values(counts: list[int], share: float) -> None:
    assert rarefied_share(np.array(counts)) == pytest.approx(share, abs=5e-7)


@given(values=st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_the_rarefied_share_of_all_cells_is_the_share_of_different_ones(values: list[int]) -> None:
    _, counts = np.unique(values, return_counts=True)
    assert rarefied_share(counts) == pytest.approx(len(counts) / len(values))


def test_the_rarefied_share_of_samples_is_that_of_the_table_on_average() -> None:
    generator = np.random.default_rng(1)
    cells = np.repeat(np.arange(900), generator.integers(1, 9, 900))
    _, counts = np.unique(cells, return_counts=True)
    shares = []
    for _ in range(200):
        _, some = np.unique(generator.choice(cells, 300, replace=False), return_counts=True)
        shares.append(rarefied_share(some))
    assert np.mean(shares) == pytest.approx(rarefied_share(counts), abs=0.004)


def test_a_mark_that_some_rows_have_is_not_the_same_of_everybody() -> None:
    (column,) = find_identifiers(Table(pa.table({"DTHFL": ["Y"] * 60 + [""] * 6255}))).columns
    assert column.role is Role.SENSITIVE
    assert column.reason == "a mark that 60 of 6,315 rows have: it tells them from the others"


@pytest.mark.parametrize("text", ["0.4539148803436467", "12.4539148803436467", "ratio of 0.4539148803436467"])
def test_digits_of_a_decimal_number_are_no_card_number(text: str) -> None:
    cells = ["stable"] * 30 + [text] * 5
    assert not find_identifiers(Table(pa.table({"value": cells}))).kinds
    card = text.replace("12.", "").replace("0.", "")
    assert (
        IdentifierKind.ACCOUNT in find_identifiers(Table(pa.table({"value": [*cells, f"card {card}"]}))).kinds
    )


def test_one_unit_makes_measurements_and_many_make_codes() -> None:
    def role(cells: list[str]) -> Role:
        (column,) = find_identifiers(Table(pa.table({"v": cells}))).columns
        return column.role

    generator = random.Random(3)
    numbers = generator.sample(range(1000, 9999), 500)
    assert role([f"{n} kg" for n in numbers]) is not Role.IDENTIFIER
    assert role([f"{n}-{''.join(generator.choices('ABCDEFGH', k=5))}" for n in numbers]) is Role.IDENTIFIER


def test_headers_are_found_at_the_ends_of_longer_words() -> None:
    def speaks(name: str, word: str) -> bool:
        return ColumnView(name, pa.chunked_array([[1]])).speaks_of((word,))

    assert speaks("Geburtsdatum", "datum")
    assert speaks("streetaddress", "street")
    assert not speaks("validate", "id")


def test_safe_harbor_on_the_command_line_finds_names_in_a_large_file(
    tmp_path: Path, large: pa.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "people.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["nameFirst", "nameLast", "customerID", "salary"])
        writer.writerows(
            zip(
                *(large.column(n).to_pylist() for n in ("nameFirst", "nameLast", "customerID", "salary")),
                strict=True,
            )
        )
    with pytest.raises(SystemExit) as end:
        main(["check", str(file), "--qi", "salary", "--safe-harbor", "--json"])
    found = json.loads(capsys.readouterr().out)["safe_harbor"]["columns"]
    assert {name for name, column in found.items() if column["role"] == "identifier"} == {
        "nameFirst",
        "nameLast",
        "customerID",
    }
    assert end.value.code == 1


@given(st.sets(st.integers(-500, 3000), min_size=10, max_size=120), st.booleans())
def test_numbers_that_never_repeat_are_found_where_chance_would_repeat_some(
    numbers: set[int], twice: bool
) -> None:
    """The twin draws by chance: the exact probability that none of as many draws from the range repeats."""
    cells = [*numbers, *([min(numbers)] if twice else [])]
    view = ColumnView("x1", pa.chunked_array([pa.array(cells)]))
    span = max(numbers) - min(numbers) + 1
    chance = math.prod(Fraction(span - drawn, span) for drawn in range(len(numbers)))
    found = _never_repeat(view)
    assert not (found and twice)
    if found:
        assert chance < Fraction(1, 1000)  # never said where it may well be chance
    elif not twice:
        assert chance > Fraction(1, 10**9)  # hardly ever missed where it cannot be


def test_the_order_of_numbers_does_not_matter() -> None:
    numbers = random.Random(3).sample(range(1, 3001), 300)
    for cells in (numbers, sorted(numbers), sorted(numbers, reverse=True)):
        assert _never_repeat(ColumnView("x1", pa.chunked_array([pa.array(cells)])))
