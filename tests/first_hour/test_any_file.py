"""Files that nobody prepared: whatever they hold, one command gives a release that keeps its promise."""

from __future__ import annotations

import itertools
from pathlib import Path

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import InputError, ParameterError
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.hierarchy import propose as propose_hierarchy
from tarnkappe.table import Role, Table, encode, read
from tarnkappe_bench.first_hour_release import release, sources
from tarnkappe_bench.made_up_files import DEVELOPMENT, HELD_OUT, LATER_SEEN, MadeUpFile, files
from tarnkappe_bench.roles import corpus_folder
from tests.cli.test_contract import tarn

MADE_UP = [*files(DEVELOPMENT | LATER_SEEN | HELD_OUT, seed=9, every=9)]


def written(file: MadeUpFile, folder: Path) -> Path:
    path = folder / "people.csv"
    path.write_text(file.text, encoding="utf-8")
    return path


def assert_no_equal_levels(table: Table) -> None:
    for column in encode(table, table.column_names).values():
        hierarchy = propose_hierarchy(column).hierarchy
        labels = [
            len({hierarchy.label(value, level) for value in hierarchy.values})
            for level in range(hierarchy.height + 1)
        ]
        for below, above in itertools.pairwise(labels[:-1]):
            assert above < below, column.name


@pytest.mark.parametrize("file", MADE_UP, ids=lambda file: file.name)
def test_no_proposed_level_equals_the_one_below(file: MadeUpFile, tmp_path: Path) -> None:
    assert_no_equal_levels(read(str(written(file, tmp_path))))


@pytest.mark.parametrize("file", MADE_UP[::2], ids=lambda file: file.name)
def test_one_call_releases_what_a_check_with_the_same_roles_finds_safe(
    file: MadeUpFile, tmp_path: Path
) -> None:
    proposal = tarnkappe.propose(written(file, tmp_path))
    result = proposal.anonymize(seed=1)
    assert all(found.holds for found in result.verified)
    assert tarnkappe.check(result.release).k >= 5
    named = {column for column, role in file.roles.items() if role == "identifier"}
    assert not named & {*result.release.column_names}


@pytest.mark.slow
def test_nearly_every_file_of_the_corpus_is_released_by_one_call() -> None:
    if corpus_folder() is None:
        pytest.skip("the files of the corpus are not here (TARN_CORPUS)")
    found = [release(name, source, 1_000, diverse=True) for name, source in sources()]
    assert sum(not each.failed for each in found) >= 0.95 * len(found)


@pytest.mark.slow
def test_no_proposed_level_of_the_corpus_equals_the_one_below() -> None:
    if corpus_folder() is None:
        pytest.skip("the files of the corpus are not here (TARN_CORPUS)")
    tables = 0
    for _, source in sources():
        try:
            table = read(str(source), bad_lines="skip")
        except InputError:  # most of its lines are broken: no table
            continue
        assert_no_equal_levels(table)
        tables += 1
    assert tables >= 48


def test_so_many_levels_are_refused_before_any_is_built() -> None:
    with pytest.raises(ParameterError, match="at most 64"):
        BUILDERS.create("intervals", {"width": 5, "levels": 100_000_000})


def test_a_rare_mark_that_costs_most_groups_is_told() -> None:
    table = pa.table(
        {
            "age": [20 + n % 50 for n in range(300)],
            "sex": ["mf"[n % 2] for n in range(300)],
            "DTHFL": ["Y" if n % 100 == 0 else None for n in range(300)],
        }
    )
    proposal = tarnkappe.propose(table)
    assert any("there are at most 3 groups" in note for note in proposal.notes)
    assert not tarnkappe.propose(table, quasi_identifiers=["DTHFL"]).notes


def test_a_workbook_with_a_title_and_merged_names_is_released_by_one_command(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["Patients of May"], ["person", None, None, "finding"], ["name", "age", "sex", "illness"]):
        sheet.append(row)
    for n in range(60):
        sheet.append([f"Anna{n} Meyer", 20 + n % 40, "mf"[n % 2], ["flu", "cold", "gout"][n % 3]])
    book.save(tmp_path / "people.xlsx")
    made = tarn("anonymize", tmp_path / "people.xlsx")
    assert made.returncode == 0, made.stderr
    again = read(str(tmp_path / "people.release.xlsx"))
    assert again.column_names == ("person: age", "person: sex", "finding: illness")
    assert tarnkappe.check(again.with_roles(quasi_identifiers=again.column_names[:2])).k >= 5


def test_times_of_day_are_told_by_hours_and_parts_of_the_day() -> None:
    times = [f"{n % 24:02d}:{n * 7 % 60:02d}" for n in range(400)]
    result = tarnkappe.propose(pa.table({"arrived": times}), quasi_identifiers=["arrived"]).anonymize(seed=1)
    assert len(set(result.release.data.column("arrived").to_pylist())) >= 24
    assert result.input.roles["arrived"] is Role.QUASI_IDENTIFIER
