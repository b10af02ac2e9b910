"""The rules of the house: who may import whom, and what no file may do."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "src" / "tarnkappe"
FOUNDATIONS = ("errors", "native", "parameters", "registry", "drawing")
ORDER = (
    "verifier",
    *FOUNDATIONS,
    "table",
    "engines",
    "state",
    "hierarchy",
    "privacy",
    "loss",
    "lattice",
    "recoding",
    "utility",
    "pseudonym",
    "algebra",
    "gate",
    "risk",
    "federation",
    "job",
    "exchange",
)
LAST = ("bench", "service", "web", "cli", "")
MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The folder (or top-level module) of the house that a file belongs to; the package itself is ''."""
    first = path.relative_to(PACKAGE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def imports(path: Path) -> list[tuple[str, list[str]]]:
    """The modules of the project that a file imports, and the names taken from each."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tarnkappe"):
            found.append((node.module, [alias.name for alias in node.names]))
        elif isinstance(node, ast.Import):
            found.extend((alias.name, []) for alias in node.names if alias.name.startswith("tarnkappe"))
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_from_modules_above_it(path: Path) -> None:
    own = part_of(path)
    assert own in (*ORDER, *LAST), f"'{own}' has no place in the house"
    if own in LAST:
        return
    for module, _ in imports(path):
        other = module.split(".")[1] if "." in module else ""
        assert other in ORDER, f"{path.name} imports {module}"
        assert ORDER.index(other) <= ORDER.index(own), f"{path.name} imports {module}, which stands below it"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_module_reaches_into_private_names(path: Path) -> None:
    for module, names in imports(path):
        other = module.split(".")[1] if "." in module else ""
        private = [name for name in names if name.startswith("_")]
        assert other == part_of(path) or not private, f"{path.name} takes {private} from {module}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_file_is_one_idea(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 400, f"{path.name} has {lines} lines: it is two ideas"


def test_the_tests_mirror_the_source() -> None:
    parts = {part_of(path) for path in MODULES} - {*FOUNDATIONS, ""}
    assert {part for part in parts if not (ROOT / "tests" / part).is_dir()} == set()
