"""The key ratios: one a part, each with its own yardstick; all on data made by code.

A new one is a function that prepares work and yardstick, and one line in `RATIOS`.
"""

from __future__ import annotations

import atexit
import dataclasses
import secrets
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from functools import cache
from pathlib import Path

import duckdb

import tarnkappe
from tarnkappe.algebra.lowering import connect
from tarnkappe.algebra.noisy.mechanisms import laplace
from tarnkappe.algebra.session import QuerySession
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.federation.ciphers import PrivateKey, Ristretto255
from tarnkappe.gate import CloneMatching, WitnessPool
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.lattice import AutoSearch, Flash, SearchProblem
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, KAnonymity, Model
from tarnkappe.recoding import Mondrian
from tarnkappe.table import Table
from tarnkappe.table.encoding import encode
from tarnkappe.table.examples import shaped
from tarnkappe.table.row_tuples import row_tuples
from tarnkappe_bench.algebra_data import catalog, write_donors
from tarnkappe_bench.algebra_queries import WORKLOADS
from tarnkappe_bench.gate_measure import against_plain_python, measure
from tarnkappe_bench.gate_workloads import SETUPS

Sides = tuple[Callable[[], object], Callable[[], object]]
"""Work, and the yardstick that it is held against."""
SENSITIVE = "occupation"
ROWS = 10_000


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A key ratio: less is better.

    Attributes:
        name: short and unique.
        prepare: makes work and yardstick, whose processor time is compared; or else
        count: a number that is the same in every run.
    """

    name: str
    prepare: Callable[[], Sides] = lambda: (lambda: None, lambda: None)
    count: Callable[[], float] | None = None


@cache
def _adult() -> Table:
    table = shaped("ADULT").table
    names = [name for name in table.column_names if name != SENSITIVE]
    return Table(table.data).with_roles(quasi_identifiers=names, sensitive=[SENSITIVE])


@cache
def _hierarchies() -> dict[str, Hierarchy]:
    return {name: Hierarchy.from_rows(lines) for name, lines in shaped("ADULT").hierarchies.items()}


@cache
def _group_by() -> Callable[[], object]:
    """One GROUP BY over all columns, as text, in DuckDB on one thread."""
    connection = duckdb.connect(config={"threads": 1})
    data = _adult().data
    connection.register("arrow", data)
    columns = ", ".join(f'CAST("{name}" AS VARCHAR) AS "{name}"' for name in data.column_names)
    connection.execute(f"CREATE TABLE data AS SELECT {columns} FROM arrow")
    names = ", ".join(f'"{name}"' for name in data.column_names)
    return lambda: connection.sql(f"SELECT {names}, count(*) FROM data GROUP BY {names}").to_arrow_table()


def _problem(models: list[Model], loss: str = "entropy", limit: float = 0.05) -> SearchProblem:
    table = _adult()
    tuples = row_tuples(table, table.quasi_identifiers, table.sensitive)
    levels = {name: _hierarchies()[name].encode(tuples.columns[name]) for name in tuples.columns}
    return SearchProblem(
        tuples.with_levels(levels).distinct(),
        table.quasi_identifiers,
        tuple(models),
        LOSSES.create(loss, {}),
        limit,
    )


def _encoding() -> Sides:
    return lambda: encode(_adult(), _adult().column_names), _group_by()


def _checking() -> Sides:
    return lambda: tarnkappe.check(_adult()), _group_by()


def _searching() -> Sides:
    problem = _problem([KAnonymity(5)])
    return lambda: AutoSearch().run(problem), _group_by()


def _searching_along_paths() -> Sides:
    problem = _problem([KAnonymity(5)])
    return lambda: Flash().run(problem), _group_by()


def _searching_for_diversity() -> Sides:
    model = MODELS.create("recursive-diversity", {"column": SENSITIVE, "c": 3.0, "l": 4})
    problem = _problem([KAnonymity(5), model], "precision")
    return lambda: AutoSearch().run(problem), _group_by()


def _mondrian() -> Sides:
    problem = _problem([KAnonymity(5)])
    return lambda: Mondrian().recode(problem.tuples, problem), _group_by()


def _anonymizing() -> Sides:
    """The whole way, from the table to the verified release."""
    return (
        lambda: tarnkappe.anonymize(
            _adult(), privacy=[KAnonymity(5)], hierarchies=_hierarchies(), loss="loss", suppression_limit=0.05
        ),
        _group_by(),
    )


@cache
def _donors() -> dict[str, Path]:
    folder = _KEPT.enter_context(tempfile.TemporaryDirectory(prefix="tarnkappe-ratios-"))
    return write_donors(Path(folder), 200_000)


_KEPT = ExitStack()
"""Folders and databases that are in use until the process ends."""
atexit.register(_KEPT.close)


def _query(name: str) -> Callable[[], Sides]:
    """A query as the optimizer runs it, against the plan as written."""

    def prepare() -> Sides:
        workload = next(each for each in WORKLOADS if each.name == name)
        donors = catalog()
        backend = _KEPT.enter_context(connect(_donors()))
        query = QuerySession(backend, donors, mode=workload.mode).read(workload.text)
        rewriting = QuerySession(backend, donors, mode=workload.mode).explain(query).rewriting
        chosen, as_written = (ParsedQuery(p, query.columns) for p in (rewriting.plan, rewriting.original))
        return (
            lambda: backend.execute(chosen, donors, shuffle=False),
            lambda: backend.execute(as_written, donors, shuffle=False),
        )

    return prepare


def _optimizing() -> Sides:
    """Rewriting a query, against running the one that came of it."""
    workload = WORKLOADS[1]
    donors = catalog()
    backend = _KEPT.enter_context(connect(_donors()))
    session = QuerySession(backend, donors, mode=workload.mode)
    query = session.read(workload.text)
    plan = ParsedQuery(session.explain(query).rewriting.plan, query.columns)
    return lambda: session.explain(query), lambda: backend.execute(plan, donors, shuffle=False)


def _power() -> Callable[[], object]:
    """One power modulo a number of 2048 bits, in plain Python."""
    base, exponent, modulus = secrets.randbits(2040), secrets.randbits(2048) | 1, secrets.randbits(2048) | 1
    return lambda: pow(base, exponent, modulus)


def _counters() -> Sides:
    public = PrivateKey.generate(2048).public
    return lambda: public.encrypt([1]), _power()


def _counters_read() -> Sides:
    private = PrivateKey.generate(2048)
    some = private.public.encrypt([3] * 16)
    return lambda: private.decrypt(some), _power()


def _commutative() -> Sides:
    group = Ristretto255()
    key, elements = group.new_key(), group.embed(b"ratio", [bytes([n]) for n in range(32)])
    return lambda: group.apply(key, elements), _power()


def _noise() -> Sides:
    return lambda: laplace([ROWS], 1, Fraction(1)), _power()


def _clone_matching() -> float:
    """Compiled against its plain twin; the least of several, since both take turns query by query."""
    return min(
        float(against_plain_python("4-10000-100", 10, 15)["clone_matching_to_plain_python"]) for _ in range(3)
    )


def _pool_to_least() -> float:
    """Artificial values of the witness pool to those that are proven necessary."""
    found = measure(*SETUPS["3-6"].draw(0), 4, WitnessPool())
    return float(found["added"] / found["least"])


def _clone_to_pool() -> float:
    """Artificial values of clone matching to those of the pool, one more each, since there may be none."""
    pool = measure(*SETUPS["3-6"].draw(0), 4, WitnessPool())["added"]
    return float((measure(*SETUPS["3-6"].draw(0), 4, CloneMatching())["added"] + 1) / (pool + 1))


def _tests_of_auto() -> float:
    """Nodes that are tested, as a share of all."""
    problem = _problem([KAnonymity(5)])
    return AutoSearch().run(problem).checked / problem.num_nodes


def _mondrian_to_best_node() -> float:
    found = [
        tarnkappe.anonymize(
            Table(_adult().data.slice(0, ROWS), _adult().roles),
            privacy=[KAnonymity(5)],
            hierarchies=_hierarchies(),
            loss="loss",
            algorithm=algorithm,
        ).loss
        for algorithm in ("mondrian", "auto")
    ]
    return float(found[0] / found[1])


RATIOS = (
    Ratio("encode", _encoding),
    Ratio("check", _checking),
    Ratio("search", _searching),
    Ratio("search-flash", _searching_along_paths),
    Ratio("search-diversity", _searching_for_diversity),
    Ratio("anonymize", _anonymizing),
    Ratio("mondrian", _mondrian),
    Ratio("query-hidden-columns", _query("generalized columns that nobody sees")),
    Ratio("query-sliced", _query("sliced, some sets hidden")),
    Ratio("rewriting", _optimizing),
    Ratio("noise", _noise),
    Ratio("counters-encrypted", _counters),
    Ratio("counters-decrypted", _counters_read),
    Ratio("commutative-cipher", _commutative),
    Ratio("gate-clone-matching", count=_clone_matching),
    Ratio("gate-pool-to-least", count=_pool_to_least),
    Ratio("gate-clone-to-pool", count=_clone_to_pool),
    Ratio("tests-of-auto", count=_tests_of_auto),
    Ratio("loss-mondrian-to-best-node", count=_mondrian_to_best_node),
)
