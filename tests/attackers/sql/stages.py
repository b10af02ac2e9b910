"""Tables of a made-up clinic, and the command over them, in this process: starting it anew would take longer."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from tarnkappe.cli.program import run
from tests.attackers.sql.command import Answer
from tests.attackers.sql.compare_types import Shop
from tests.attackers.sql.count_persons import Clinic
from tests.attackers.sql.go_around import Shell
from tests.attackers.sql.null_everywhere import Prover
from tests.attackers.sql.recompute import Database
from tests.attackers.sql.recount_models import Ward

PATIENTS = [(n, name, plz) for n, (name, plz) in enumerate(
    [("Adler", "18055"), ("Berg", "18055"), ("Claus", "18057"), ("Dorn", "18059"), ("Ernst", "18057")], start=1
)]  # fmt: skip
VISITS = [(1, "18055", ward) for ward in "abcab"] + [
    (2, "18057", "a"),
    (3, "18057", "b"),
    (4, "18057", "a"),
    (5, "18059", "a"),
]
HIERARCHY = "18055;1805*;*\n18057;1805*;*\n18059;1805*;*\n"


def tarn(*words: str) -> Answer:
    """The command with its words."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            run(list(words))
        except SystemExit as ended:
            return Answer(int(ended.code or 0), output.getvalue(), errors.getvalue())
    raise AssertionError("a command ends with an exit code")


def clinic(folder: Path) -> tuple[str, ...]:
    """The files of the clinic, and the words that name them."""
    (folder / "patients.csv").write_text(
        "pid,name,plz\n" + "".join(f"{pid},{name},{plz}\n" for pid, name, plz in PATIENTS), encoding="utf-8"
    )
    (folder / "visits.csv").write_text(
        "pid,plz,ward\n" + "".join(f"{pid},{plz},{ward}\n" for pid, plz, ward in VISITS), encoding="utf-8"
    )
    (folder / "shifts.csv").write_text("shift\nday\nnight\n", encoding="utf-8")
    (folder / "plz.csv").write_text(HIERARCHY, encoding="utf-8")
    tables = [
        word
        for name in ("patients", "visits", "shifts")
        for word in ("--data", f"{name}={folder / name}.csv")
    ]
    return (*tables, "--hierarchies", f"plz={folder / 'plz.csv'}")


@contextmanager
def declared_people(folder: Path) -> Iterator[Clinic]:
    yield Clinic(tarn, (*clinic(folder), "--person", "patients=pid", "--person", "visits=pid"))


@contextmanager
def undeclared_people(folder: Path) -> Iterator[Clinic]:
    yield Clinic(tarn, clinic(folder))


def table(folder: Path, *declared: str) -> tuple[str, ...]:
    """A catalog of one table without rows."""
    path = folder / "catalog.toml"
    path.write_text("\n".join(["[relations.t]", 'columns = ["x", "y"]', *declared]) + "\n", encoding="utf-8")
    return ("--catalog", str(path))


@contextmanager
def proofs(folder: Path) -> Iterator[Prover]:
    yield Prover(tarn, table(folder))


@contextmanager
def more_proofs(folder: Path) -> Iterator[Prover]:
    yield Prover(tarn, table(folder), pairs=150)


@contextmanager
def proofs_without_null(folder: Path) -> Iterator[Prover]:
    """It was declared, wrongly, that nothing is ever missing."""
    yield Prover(tarn, table(folder, 'not_null = ["x", "y"]'))


@contextmanager
def strict(folder: Path) -> Iterator[Database]:
    yield Database(tarn, folder)


@contextmanager
def strict_for_long(folder: Path) -> Iterator[Database]:
    yield Database(tarn, folder, rounds=25)


@contextmanager
def named_rule(folder: Path) -> Iterator[Database]:
    """The rules that rest on keys, asked for by name."""
    yield Database(tarn, folder, ("--rule", "G17", "--rule", "G16"))


@contextmanager
def by_hand(folder: Path) -> Iterator[Database]:
    """Somebody has moved the generalization below the join himself."""
    yield Database(tarn, folder, by_hand=True)


MODELS = ", l => {diagnosis: {entropy: 1.5}}, t => {diagnosis: 0.35}, suppress => 0.1"


@contextmanager
def models(folder: Path) -> Iterator[Ward]:
    yield Ward(tarn, folder, MODELS)


@contextmanager
def models_in_passes(folder: Path) -> Iterator[Ward]:
    yield Ward(tarn, folder, f"{MODELS}, loss => 'loss', method => 'local'")


@contextmanager
def k_alone(folder: Path) -> Iterator[Ward]:
    yield Ward(tarn, folder, "")


@contextmanager
def terminal(folder: Path) -> Iterator[Shell]:
    said = clinic(folder)
    budget = ("--budgets", str(folder / "budgets.db"), "--user", "ann")
    tarn("sql", *budget, "--grant", "patients=1")

    def ask(query: str) -> str:
        answer = tarn("sql", query, *said, *budget)
        return answer.output + answer.errors

    yield Shell(ask, "Adler")


@contextmanager
def raw_terminal(folder: Path) -> Iterator[Shell]:
    """The files, read by DuckDB: what everybody can do who can run the command."""
    clinic(folder)
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE VIEW patients AS FROM read_csv('{folder / 'patients.csv'}', all_varchar = true)"
        )

        def ask(query: str) -> str:
            with contextlib.suppress(duckdb.Error):
                return str(connection.execute(query).fetchall())
            return ""

        yield Shell(ask, "Adler")


@contextmanager
def shop(folder: Path) -> Iterator[Shop]:
    yield Shop(tarn, folder)


@contextmanager
def untidy_shop(folder: Path) -> Iterator[Shop]:
    """One cell is no number, so the column is text and is compared as such."""
    yield Shop(tarn, folder, ("on request",))
