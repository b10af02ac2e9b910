"""Every mistake that is made is one that a program could have, and only one."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest
from tools.mutate import EQUIVALENT, reason_of, sample
from tools.mutations import Mutant, mutants_of

from tests.conftest import ROOT

SOURCE = '''"""A file — of text."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import decimal


def share(part: "list[1]", whole: int = 10) -> float:
    """The share, 1 + 1."""
    assert whole != 7
    if not part and whole < 1:
        raise ValueError(f"nothing of {whole + 1}")
    total = 0
    for each in part:
        if each is None:
            continue
        total += each
    # — 2 + 2
    known = [each for each in part if each]
    known.sort()
    return (total
        / whole)
'''


def mutants(tmp_path: Path, source: str = SOURCE) -> list[Mutant]:
    path = tmp_path / "share.py"
    path.write_text(source, encoding="utf-8")
    return mutants_of(path, tmp_path)


def test_the_mistakes_of_a_file(tmp_path: Path) -> None:
    assert {(each.line, each.operator, each.after) for each in mutants(tmp_path)} == {
        (9, "off-by-one", "11"),
        (12, "negate", "(not (not part and whole < 1))"),
        (12, "boolean", "(not part or whole < 1)"),
        (12, "compare", "(whole <= 1)"),
        (12, "off-by-one", "2"),
        (13, "delete", "pass"),
        (14, "off-by-one", "1"),
        (16, "negate", "(not (each is None))"),
        (16, "compare", "(each is not None)"),
        (17, "delete", "pass"),
        (18, "delete", "pass"),
        (20, "negate", "(not (each))"),
        (21, "delete", "pass"),
        (22, "return", "return None"),
        (22, "arithmetic", "(total * whole)"),
    }


def test_every_mistake_can_be_parsed_and_is_another_program(tmp_path: Path) -> None:
    source = SOURCE.encode()
    whole = ast.dump(ast.parse(source))
    made = [ast.dump(ast.parse(each.apply(source))) for each in mutants(tmp_path)]
    assert whole not in made
    assert len(set(made)) >= len(made) - 1  # to negate `is None` is to compare otherwise


def test_every_mistake_of_the_kernels_of_a_folder_can_be_parsed() -> None:
    for path in sorted((ROOT / "src/tarnkappe/loss").glob("*.py")):
        source = path.read_bytes()
        for mutant in mutants_of(path, ROOT):
            ast.parse(mutant.apply(source))


def test_a_sample_is_the_same_for_a_seed_and_grows_by_more(tmp_path: Path) -> None:
    mutants(tmp_path)
    few, more, other = (sample(tmp_path, tmp_path, number, seed) for number, seed in ((4, 1), (9, 1), (9, 2)))
    assert few == more[:4]
    assert more != other
    assert len({each.name for each in more}) == 9


LISTED = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]


@pytest.mark.parametrize("each", LISTED, ids=lambda each: f"{each['file']} {each['after']}")
def test_what_the_list_of_equivalent_mistakes_names_is_there(each: dict[str, str]) -> None:
    found = mutants_of(ROOT / "src/tarnkappe" / each["file"], ROOT)
    assert any(reason_of(mutant, [each]) for mutant in found)
    assert len(each["reason"].split()) > 4
