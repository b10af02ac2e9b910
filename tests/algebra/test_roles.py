"""Role warnings: what is let out, read from the query as it was written, whatever the rewriter removes."""

from __future__ import annotations

import pytest

from tarnkappe.algebra.roles import warnings
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.table import Role

ROLES = {
    "name": Role.IDENTIFIER,
    "plz": Role.QUASI_IDENTIFIER,
    "alter": Role.QUASI_IDENTIFIER,
    "krankheit": Role.SENSITIVE,
    "notiz": Role.INSENSITIVE,
}
TABLES = {"patient": tuple(ROLES), "archiv": tuple(ROLES), "ort": ("plz", "stadt")}
ANONYMOUS = "generalize((SELECT plz, alter, krankheit FROM patient), k => 3, by => [plz, alter])"


def kinds(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(found.kind, found.columns) for found in warnings(read_sql(text, TABLES).plan, ROLES)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"SELECT * FROM {ANONYMOUS}", []),
        ("SELECT notiz FROM patient", []),
        ("SELECT count(*) AS n FROM patient", [("exact-figures", ("n",))]),
        ("SELECT count(name) AS n FROM patient", [("exact-figures", ("n",))]),
        ("SELECT name FROM patient", [("identifier-released", ("name",))]),
        ("SELECT name AS n FROM patient", [("identifier-released", ("n",))]),
        (
            "SELECT * FROM randomize((SELECT name FROM patient), probability => {name: 1})",
            [("identifier-released", ("name",))],
        ),
        ("SELECT plz FROM patient", [("quasi-identifier-untouched", ("plz",))]),
        (
            "SELECT min(alter) AS jung FROM patient",
            [("quasi-identifier-untouched", ("jung",)), ("exact-figures", ("jung",))],
        ),
        ("SELECT noisy_mean(alter, epsilon => 1, lower => 0, upper => 99) AS a FROM patient", []),
        ("SELECT krankheit FROM patient", [("sensitive-untouched", ("krankheit",))]),
        (
            "SELECT krankheit, count(*) AS n FROM patient GROUP BY krankheit",
            [("sensitive-untouched", ("krankheit",)), ("exact-figures", ("n",))],
        ),
        ("SELECT * FROM slice((SELECT plz, krankheit FROM patient), groups => [[plz], [krankheit]])", []),
        (
            "SELECT * FROM slice((SELECT plz, krankheit FROM patient), groups => [[plz, krankheit]])",
            [("sensitive-untouched", ("krankheit",)), ("quasi-identifier-untouched", ("plz",))],
        ),
        (
            "SELECT * FROM randomize((SELECT plz, krankheit FROM patient), probability => {krankheit: 0.5, plz: 0})",
            [("quasi-identifier-untouched", ("plz",))],
        ),
        (
            "SELECT plz, alter FROM generalize(patient, k => 1, by => [plz, alter])",
            [("quasi-identifier-untouched", ("alter",)), ("quasi-identifier-untouched", ("plz",))],
        ),
    ],
)
def test_what_is_let_out_is_said(text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert kinds(text) == expected


def test_one_raw_side_of_a_union_is_enough_to_warn() -> None:
    """Who unites an anonymized relation with a raw one releases the raw one."""
    text = f"SELECT plz FROM {ANONYMOUS} UNION ALL SELECT plz FROM archiv"
    assert ("quasi-identifier-untouched", ("plz",)) in kinds(text)


def test_a_join_brings_columns_that_nobody_touched() -> None:
    text = f"SELECT krankheit, stadt, plz FROM {ANONYMOUS} NATURAL JOIN ort"
    found = kinds(text)
    assert ("quasi-identifier-untouched", ("plz",)) in found
    assert any(kind == "promise-ended" for kind, _ in found)


def test_picking_out_a_person_is_said_even_if_his_name_is_not_shown() -> None:
    text = "SELECT plz FROM generalize((SELECT plz, name FROM patient), k => 2, by => [plz]) WHERE name = 'x'"
    assert ("identifier-selected", ("name",)) in kinds(text)


def test_selecting_after_generalizing_ends_the_promise() -> None:
    """The correction of G14: late selection tears classes."""
    late = f"SELECT * FROM {ANONYMOUS} WHERE krankheit <> 'Krebs'"
    assert kinds(late) == [("promise-ended", ("alter", "plz"))]
    (warning,) = warnings(read_sql(late, TABLES).plan, ROLES)
    assert "can leave fewer than 3 rows" in str(warning)
    early = (
        "SELECT * FROM generalize((SELECT plz, alter, krankheit FROM patient WHERE krankheit <> 'Krebs'), "
        "k => 3, by => [plz, alter])"
    )
    assert kinds(early) == []


def test_a_removed_operator_is_not_missed() -> None:
    """G11 removes a generalization whose columns are hidden; the warning looks at what the user wrote."""
    assert kinds("SELECT krankheit FROM generalize(patient, k => 3, by => [plz, alter])") == []


def test_a_warning_is_data() -> None:
    (warning,) = warnings(read_sql("SELECT name FROM patient", TABLES).plan, ROLES)
    assert warning.as_dict() == {
        "kind": "identifier-released",
        "columns": ["name"],
        "message": "the identifier 'name' of 'patient' is released",
    }
