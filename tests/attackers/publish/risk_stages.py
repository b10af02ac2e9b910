"""What is stated of samples, optima, releases with two sensitive columns and tables with names in them."""

from __future__ import annotations

import csv
import json
import random
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

import tarnkappe
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.privacy import population_estimators
from tarnkappe.table import Role, Table
from tests import forked
from tests.attackers.attacker import Stage
from tests.attackers.publish.names_and_codes import Passed
from tests.attackers.publish.other_suppression import ClaimedOptimum
from tests.attackers.publish.running_numbers import Numbered
from tests.attackers.publish.second_column import CheckedRelease
from tests.attackers.publish.unique_people import Estimated

TARN = forked.TARN


def told(*said: Any) -> dict[str, Any]:
    """What the command prints as JSON; it may find fault."""
    done = subprocess.run([TARN, *map(str, said), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def write(path: Path, columns: dict[str, Sequence[Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


# ------------------------------------------------------------------ estimates of unique people

FRACTIONS = (0.3, 0.5)
POPULATIONS = {
    "negative binomial": lambda draw: 1 + draw.negative_binomial(1.2, 0.3, 2000),
    "lognormal": lambda draw: np.ceil(draw.lognormal(0.5, 1.3, 2000)).astype(np.int64),
    "a few among large groups": lambda draw: np.array([1] * 50 + [12] * 1000),
    "uniform": lambda draw: draw.integers(1, 60, 800),
}


def drawn(population: Any, fraction: float, draw: np.random.Generator) -> list[int]:
    people = np.repeat(np.arange(len(population)), population)
    return sorted(draw.choice(people, round(fraction * len(people)), replace=False).tolist())


@contextmanager
def estimates(folder: Path, kind: str) -> Iterator[Estimated]:
    draw = np.random.default_rng(4)
    population = POPULATIONS[kind](draw)
    statements = []
    for fraction in FRACTIONS:
        path = write(
            folder / f"{fraction}.csv", {"group": [f"g{g}" for g in drawn(population, fraction, draw)]}
        )
        found = told(
            "check", path, "--qi", "group", "--measure", "uniqueness", "--sampling-fraction", fraction
        )
        statements.append(found["measures"]["uniqueness"]["estimates"])
    yield Estimated(tuple(statements), (int((population == 1).sum()),) * len(FRACTIONS))


@contextmanager
def any_solution(folder: Path) -> Iterator[Estimated]:
    """Estimates by whatever solves the equations, as if a solution were a fit."""
    del folder
    draw = np.random.default_rng(4)
    population = POPULATIONS["a few among large groups"](draw)
    statements = []
    with mock.patch.multiple(population_estimators, NEAR=np.inf, IMPROBABLE=0.0, FAR_BELOW=np.inf):
        for fraction in (0.15, 0.3, 0.3, 0.3, 0.5):
            sizes = np.array(list(Counter(drawn(population, fraction, draw)).values()))
            found = population_estimators.population_uniques(
                sizes, int(population.sum()), population_estimators.UniquenessEstimator.SNB
            )
            statements.append({"snb": {"uniques": found.uniques, "by": found.estimator}})
    population_estimators._estimate.cache_clear()
    yield Estimated(tuple(statements), (50,) * len(statements))


ESTIMATES = (
    *(
        Stage(kind, lambda folder, kind=kind: estimates(folder, kind), slow=kind in ("lognormal", "uniform"))
        for kind in POPULATIONS
    ),
    Stage("any solution of the equations", any_solution, unprotected=True),
)

# ------------------------------------------------------------------ claimed optima

LABELS = {
    "a": ("a", "a", "*"),
    **{f"b{n}": (f"b{n}", "b", "*") for n in range(19)},
    **{f"{letter}{n}": (f"{letter}{n}", letter, "*") for letter in "de" for n in range(2)},
}
ROWS = ("a", "b0", "b1", *("d0", "d1", "e0", "e1") * 4)


def optimum(promise: tuple[str, Fraction], optimal: str) -> Any:
    """A result of a search; `optimal` is the figure that is taken for the claim."""

    @contextmanager
    def build(folder: Path) -> Iterator[ClaimedOptimum]:
        del folder
        kind, bound = promise
        model = (
            tarnkappe.models.KAnonymity(int(bound))
            if kind == "k"
            else tarnkappe.models.AverageRisk(str(bound))
        )
        result = tarnkappe.anonymize(
            Table(pa.table({"x": ROWS})).with_roles({"x": Role.QUASI_IDENTIFIER}),
            privacy=[model],
            hierarchies={"x": Hierarchy.from_rows(list(LABELS.values()))},
            loss="loss",
            suppression_limit=0.2,
            seed=1,
        )
        found = result.to_dict()
        statement = {"loss": found["loss"], "optimal": found[optimal]}
        yield ClaimedOptimum(ROWS, LABELS, promise, int(0.2 * len(ROWS)), statement)

    return build


AVERAGE, SIZE = ("average", Fraction(1, 5)), ("k", Fraction(3))
OPTIMA = (
    Stage("k-anonymity", optimum(SIZE, "optimal")),
    Stage("average risk", optimum(AVERAGE, "optimal")),
    Stage("best levels taken for an optimum", optimum(AVERAGE, "optimal_levels"), unprotected=True),
)

# ------------------------------------------------------------------ two sensitive columns


def wards(seed: int) -> dict[str, list[str]]:
    draw = random.Random(seed)
    columns: dict[str, list[str]] = {"zip": [], "diagnosis": [], "drug": []}
    for ward in range(6):
        for _ in range(draw.randint(3, 6)):
            columns["zip"].append(f"10{ward}*")
            columns["diagnosis"].append(f"s{draw.randint(1, 4)}")
            columns["drug"].append(f"v{draw.randint(1, 4)}")
    return columns


def checked(columns: dict[str, list[str]], by_itself: bool = False) -> Any:
    """A release that was checked; `by_itself` leaves out what was tried through other columns."""

    @contextmanager
    def build(folder: Path) -> Iterator[CheckedRelease]:
        path = write(folder / "release.csv", columns)
        found = told("check", path, "--qi", "zip", "--sensitive", "diagnosis", "drug")
        attacks = tuple(
            each for each in found["attacks"] if not (by_itself and "through" in each["parameters"])
        )
        yield CheckedRelease(path, ("zip",), ("diagnosis", "drug"), attacks)

    return build


BOTH_DIVERSE = {"zip": ["102*"] * 4, "diagnosis": ["s1", "s1", "s2", "s3"], "drug": ["v1", "v2", "v3", "v3"]}
LATIN = {
    "zip": ["102*"] * 9,
    "diagnosis": [f"s{a}" for a in range(3) for _ in range(3)],
    "drug": [f"v{b}" for _ in range(3) for b in range(3)],
}
SECOND_COLUMN = (
    Stage("diverse in each column", checked(BOTH_DIVERSE)),
    Stage("all pairs of values", checked(LATIN)),
    *(Stage(f"random wards {seed}", checked(wards(seed)), slow=seed > 0) for seed in range(6)),
    Stage("each column tried by itself", checked(BOTH_DIVERSE, by_itself=True), unprotected=True),
)

# ------------------------------------------------------------------ names and codes

GIVEN = [
    "James",
    "Mary",
    "Robert",
    "Linda",
    "Ahmed",
    "Sofia",
    "Olga",
    "Kofi",
    "Yuki",
    "Pedro",
    "Ingrid",
    "Ravi",
    "Aylin",
    "Marek",
    "Chloe",
    "Wei",
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
    "wald",
]


def invented(number: int) -> str:
    own = random.Random(number)
    return "".join(own.choices(SYLLABLES, k=own.randint(2, 3))).title()


def people(rows: int) -> dict[str, list[str]]:
    draw = random.Random(9)
    family = [invented(int(40 * draw.paretovariate(1.1)) % 20_000) for _ in range(rows)]
    given = [draw.choice(GIVEN) for _ in range(rows)]
    letters = "ABCDEFGHJKLMNPQRSTVWXYZ"
    return {
        "nameFirst": given,
        "nameLast": family,
        "v3": [f"{a} {b}" for a, b in zip(given, family, strict=True)],
        "customerID": [
            f"{draw.randrange(1000, 9999)}-{''.join(draw.choices(letters, k=5))}" for _ in range(rows)
        ],
        "USUBJID": [f"01-{700 + draw.randrange(10)}-{draw.randrange(1000, 1200)}" for _ in range(rows)],
    }


def scanned(columns: dict[str, list[str]], sizes: Sequence[int]) -> Any:
    @contextmanager
    def build(folder: Path) -> Iterator[Passed]:
        paths, roles = [], []
        for size in sizes:
            part = {name: cells[:size] for name, cells in columns.items()}
            paths.append(write(folder / f"people-{size}.csv", part))
            found = told("check", paths[-1], "--safe-harbor")["safe_harbor"]["columns"]
            roles.append({name: found[name]["role"] for name in columns})
        register = frozenset(cell for cells in columns.values() for cell in cells)
        yield Passed(tuple(paths), tuple(roles), register)

    return build


NICKNAMES = {"v1": [random.Random(n).choice(SYLLABLES) for n in range(400)]}
SCANNED = (
    Stage("a table in three sizes", scanned(people(9000), (200, 9000))),
    Stage("a table of visits", scanned({k: v * 4 for k, v in people(900).items()}, (900, 3600))),
    Stage("nicknames that are on no list", scanned(NICKNAMES, (400,)), unprotected=True),
)

# ------------------------------------------------------------------ running numbers


def numbered(draw: random.Random, people: int, rows: int, first: int = 1, step: int = 1) -> list[int]:
    """Numbers of a sample, of people who were numbered one after the other, in any order."""
    return draw.sample(range(first, first + step * people, step), rows)


LISTS = {
    "everybody in order": lambda draw: list(range(1, 61)),
    "everybody in any order": lambda draw: numbered(draw, 400, 400),
    "some left out": lambda draw: numbered(draw, 400, 300),
    "every third number": lambda draw: numbered(draw, 300, 300, step=3),
    "one of ten": lambda draw: numbered(draw, 3000, 300),
    "one of fifty": lambda draw: numbered(draw, 45_000, 900),
    "numbers from 871": lambda draw: numbered(draw, 2000, 250, first=871),
}
TOO_FEW = {"one of a hundred": lambda draw: numbered(draw, 5000, 50)}


def lists(chosen: dict[str, Any]) -> Any:
    @contextmanager
    def build(folder: Path) -> Iterator[Numbered]:
        tables, passed, everybody = {}, {}, {}
        for place, (how, make) in enumerate(chosen.items()):
            numbers = make(random.Random(17))
            path = folder / f"{place}.csv"
            tables[how] = write(path, {"x1": numbers, "sex": [draw % 2 for draw in numbers]})
            found = told("check", path, "--safe-harbor")["safe_harbor"]["columns"]
            passed[how] = frozenset(name for name in ("x1",) if found[name]["role"] != "identifier")
            everybody |= {str(number): f"person {number}" for number in numbers}
        yield Numbered(tables, passed, everybody)

    return build


NUMBERED = (
    Stage("numbers of seven kinds", lists(LISTS)),
    Stage("too few for their range", lists(TOO_FEW), unprotected=True),
)
