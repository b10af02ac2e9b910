"""Documents of every kind that are right, and ways to make them wrong."""

from __future__ import annotations

import copy
import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tarnkappe.cli.schema import DOCUMENTS, document_kind

ROOT = Path(__file__).parents[2]
KINDS = {name: document_kind(name) for name in DOCUMENTS}

RIGHT: dict[str, dict[str, Any]] = {
    "job": {
        "input": {"path": "a.csv", "delimiter": ";", "several_rows_per_person": True, "missing": ["NA"]},
        "population": {"path": "b.csv"},
        "columns": {
            "unnamed": "publish",
            "age": {
                "role": "quasi-identifier",
                "hierarchy": {"builder": "intervals", "width": [5, 10]},
                "weight": 2,
                "max_level": 3,
            },
            "town": {"role": "quasi-identifier", "hierarchy": "town.csv"},
            "born": {"type": "date", "format": "%d.%m.%Y"},
            "illness": {"role": "sensitive", "accept": {"e-mail": "addresses of shops"}},
        },
        "perturb": [{"method": "noise", "columns": ["income"]}],
        "further_sensitive": {"main": "illness", "columns": ["drug"], "l": 3},
        "privacy": [
            {"model": "k-anonymity", "k": 5},
            {"model": "recursive-diversity", "column": "illness", "c": 3.0, "l": 3, "given": "sex"},
        ],
        "search": {
            "algorithm": "flash",
            "loss": {"name": "precision", "weights": {"age": 2.0}},
            "suppression_limit": 0.1,
            "local_recoding": 0.3,
            "seconds": 60,
            "weights": {"town": 0.5},
        },
        "history": {"store": "w.db", "key": "w.key"},
        "output": {"path": "release.csv", "shuffle": False},
    },
    "catalog": {
        "relations": {
            "visits": {"path": "v.csv", "keys": [["id"]], "person": {"column": "pid"}, "rows_per_person": 3},
            "plans": {"columns": ["plz"], "least_rows": 5, "within": {"visits": ["plz"]}},
        },
        "columns": {"rh": {"noise": {"+": 0.5, "-": "1/2"}, "hierarchy": "rh.csv"}},
        "slicing": {"bucket": 4},
    },
    "gate": {
        "table": {
            "source": "p.parquet",
            "name": "patients",
            "key": "id",
            "quasi_identifiers": ["age", "sex"],
        },
        "sensitive": {"disease": {"values": ["flu", "asthma", 3], "closeness": 0.5}},
        "protection": {"k": 3, "collusion": "groups"},
        "surplus": {"share": 0.5, "least": 2, "draw": "even"},
        "answer": {"min_rows": 2, "max_rows": 50},
        "state": {"store": "s.db", "key": "s.key"},
        "users": {"names": ["ann"], "groups": {"study": ["ann"]}},
        "server": {"listen": "127.0.0.1:5433", "deadline": 1, "epsilon": 0.5, "bounds": {"age": [0, 120]}},
    },
    "service": {
        "service": {"folder": "data", "port": 9000, "hosts": ["a.example"], "session_hours": 8},
        "limits": {"job_seconds": 60, "jobs_at_once": 2},
        "databases": {"clinic": "postgresql://db/clinic"},
        "gates": {"clinic": "gate.toml"},
    },
    "site": {
        "site": {
            "certificate": "a.crt",
            "key": "a.key",
            "authority": "ca.crt",
            "address": "localhost:9000",
            "patience": 5,
        },
        "input": {"path": "a.csv"},
        "columns": {"name": {"role": "identifier"}, "age": {"hierarchy": "age.csv"}},
        "policy": {
            "least_k": 3,
            "protocols": ["ring"],
            "least_levels": {"age": 1},
            "never_together": [["a", "b"]],
        },
    },
    "contract": {
        "federation": {
            "protocol": "star",
            "distribution": "horizontal",
            "parties": ["A", "B"],
            "helper": "T",
        },
        "identity": {"certificate": "a.crt", "key": "a.key", "authority": "ca.crt"},
        "addresses": {"A": "localhost:9001", "B": "localhost:9002", "T": "localhost:9003"},
        "columns": {"age": {"role": "quasi-identifier", "height": 3, "owners": ["A"]}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "search": {"loss": "height", "suppression_limit": 0.1, "lower_bounds": True},
    },
}
"""One of each kind that says a lot."""

WRONG: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 7, 0.5, -0.5, 1.5, 1e18, 1e308, 10**8, 10**19, 10**30, 10**400, "", "x", "k-anonymity",
    "1/3", "1/0", "\0", "x" * 200, "x" * 20_000, [], [None], [1, 2], [2, 1], ["a"], ["a", "a"], [[]], [["a"]], [{}], ["x", 1],
    {}, {"a": None}, {"a": 1}, {"a": "b"}, {"a": ["b"]}, {"a": {}}, {"model": "k-anonymity"}, {"builder": "auto"},
    {"name": "height"},
)  # fmt: skip
"""Values that JSON can write, wrong in most places."""
UNWRITABLE: tuple[Any, ...] = (
    float("nan"), float("inf"), float("-inf"), "x" * 2_000_000, ["a"] * 200_000, dict.fromkeys(map(str, range(150_000)), 1),
)  # fmt: skip


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a document."""
    if path:
        yield path
    entries = document.items() if isinstance(document, dict) else ()
    for key, each in enumerate(document) if isinstance(document, list) else entries:
        yield from places(each, (*path, key))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at a place."""
    made = copy.deepcopy(document)
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return made


def without(document: Any, path: tuple[Any, ...]) -> Any:
    """The document without what stands at a place."""
    made = copy.deepcopy(document)
    at = made
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return made


def drawn(name: str, number: int, values: tuple[Any, ...] = WRONG) -> Iterator[Any]:
    """Documents with one or two things changed, left out or added."""
    chance, right = random.Random(name), RIGHT[name]
    for _ in range(number):
        made = right
        for _ in range(chance.randint(1, 2)):
            known = list(places(made))
            if not known:
                break
            path = chance.choice(known)
            kind = chance.random()
            if kind < 0.15:
                made = without(made, path)
            elif kind < 0.25:
                made = changed(made, (*path[:-1], "unheard") if isinstance(path[-1], str) else path, {})
            else:
                made = changed(made, path, chance.choice(values))
        yield made


def examples() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every file of TOML in the documentation and among the fixtures: where, which kind, what it says."""
    texts = [(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in FIXTURES]
    for page in [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]:
        for number, found in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1):
            texts.append((f"{page.relative_to(ROOT)} {number}", found))
    for where, text in texts:
        content = tomllib.loads(text)
        kind = _kind(content)
        if kind is not None:
            yield where, kind, content


BLOCK = re.compile(r"^```toml[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
FIXTURES = [ROOT / "tests/state/stores/0.1.0/gate/gate.toml", ROOT / "tests/fixtures/sql/everyday.toml"]


def _kind(content: dict[str, Any]) -> str | None:
    """Which kind of file this is; none if it is another one, or a part of one."""
    if "federation" in content and "identity" in content:
        return "contract"
    if isinstance(content.get("site"), dict) and "certificate" in content["site"]:
        return "site"
    if "table" in content and "sensitive" in content:
        return "gate"
    if "service" in content:
        return "service"
    if "input" in content:
        return "job"
    return "catalog" if "relations" in content else None
