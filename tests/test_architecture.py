"""The architecture: who may import whom, and what no file may do. The page, this order and the disk agree."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "src" / "tarnkappe"
SIZE = ROOT / "tests" / "size.txt"
SLACK = 1_000
"""So many lines may the package be smaller than its limit before the limit must follow."""
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
FOUNDATIONS = ("errors", "texts", "process", "native", "schema", "drawing")
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
    "report",
    "job",
    "exchange",
    "policy",
    "service",
    "web",
    "",  # the package itself, which hands on names of the parts before it
    "cli",
    "__main__",
)
"""Each part imports only from those before it. `gate` stands before `risk`, whose reconstruction attack
decides by the gate's exact test; `report` before `job`, since a job writes its report with its release."""
OTHER_ASSERTIONS = {
    "gate/label_sets.py",  # what this class itself has counted
    "gate/public_pool.py",  # what this class itself has counted
    "web/mounting.py",  # that a module was imported
    "web/opening.py",  # that a module was imported
}
"""Where something else is asserted than a type, and why."""
MODULES = sorted(PACKAGE.rglob("*.py"))
DOTTED = re.compile(rf"tarnkappe\.({'|'.join(filter(None, ORDER))})(\.\w+)*")


def part_of(path: Path) -> str:
    """The folder (or top-level module) that a file belongs to; the package itself is ''."""
    first = path.relative_to(PACKAGE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


@cache
def imports(path: Path) -> list[tuple[str, list[str]]]:
    """The modules of the project that a file loads, anywhere in it, and the names taken from each."""
    return [
        (module, names)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for module, names in _loaded(node)
        if module.split(".")[0] == "tarnkappe"
    ]


def _loaded(node: ast.AST) -> Iterator[tuple[str, list[str]]]:
    if isinstance(node, ast.Import):
        yield from ((alias.name, []) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "a relative import hides what is loaded"
        for alias in node.names:
            is_part = node.module == "tarnkappe" and alias.name in ORDER
            yield f"{node.module}.{alias.name}" if is_part else str(node.module), [alias.name]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and DOTTED.fullmatch(node.value):
        yield node.value, []  # loaded by its name, as by `import_module` or `python -m`


def parts_loaded(path: Path) -> set[str]:
    """The parts of the package that a file loads."""
    return {module.split(".")[1] if "." in module else "" for module, _ in imports(path)}


@pytest.mark.parametrize("part", ORDER, ids=lambda part: part or "package")
def test_a_module_imports_only_from_parts_before_its_own(part: str) -> None:
    before = {*ORDER[: ORDER.index(part) + 1]}
    wrong = {
        str(path.relative_to(PACKAGE)): sorted(parts_loaded(path) - before)
        for path in MODULES
        if part_of(path) == part and parts_loaded(path) - before
    }
    assert wrong == {}


def test_every_part_has_a_place_in_the_order_and_every_place_a_part() -> None:
    assert {part_of(path) for path in MODULES} == {*ORDER}


def test_the_page_lists_the_parts_in_the_order_of_their_imports() -> None:
    listed = re.findall(r"^\| `(\w+)/?` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [part for part in ORDER if part]


def test_the_page_names_only_what_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", text)
    missing = [name for name in named if not any((base / name).exists() for base in (PACKAGE, ROOT))]
    assert named
    assert missing == []


def test_no_module_reaches_into_private_names() -> None:
    for path in MODULES:
        for module, names in imports(path):
            other = module.split(".")[1] if "." in module else ""
            private = [name for name in names if name.startswith("_")]
            assert other == part_of(path) or not private, f"{path.name} takes {private} from {module}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_file_is_one_idea(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 400, f"{path.name} has {lines} lines: it is two ideas"


def test_an_assertion_tells_types_and_checks_no_data() -> None:
    """`python -O` leaves assertions out: what a file, a peer or a database gives is refused by an error."""
    wrong = [
        f"{path.relative_to(PACKAGE)}:{found.lineno}"
        for path in MODULES
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(found, ast.Assert) and not _tells_a_type(found.test)
    ]
    assert {line.split(":")[0] for line in wrong} == OTHER_ASSERTIONS, wrong


def _tells_a_type(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp):
        return _tells_a_type(test.operand)
    if isinstance(test, ast.BoolOp):
        return all(map(_tells_a_type, test.values))
    if isinstance(test, ast.Call):
        return isinstance(test.func, ast.Name) and test.func.id in ("isinstance", "issubclass", "callable")
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot))


KERNELS = [path for path in MODULES if "\n@compiled\n" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_kernel_says_why_it_is_written_as_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert {name: why for name, why in _reasons(text).items() if len(why) < 2} == {}


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_file_of_kernels_names_the_page_that_explains_them(path: Path) -> None:
    pages = re.findall(r"docs/explanation/[\w-]+\.md", ast.get_docstring(_parsed(path)) or "")
    assert pages
    assert [page for page in pages if not (ROOT / page).is_file()] == []


def test_what_a_kernel_does_is_no_reason() -> None:
    text = '@compiled\ndef f(x):\n    """What."""\n    # Because\n    # of "#".\n    return x\n'
    assert _reasons(text) == {"f": ["# Because", '# of "#".']}
    assert _reasons(text.replace("# Because", "").replace('# of "#".', '"#"')) == {"f": []}
    assert _reasons('@compiled\ndef f(x):\n    """What.\n\n    Why.\n    """\n') == {"f": ["Why."]}
    assert _reasons("def f(x):\n    return x\n") == {}


def _reasons(text: str) -> dict[str, list[str]]:
    """What each compiled function of a file says beside the first sentence of its docstring: all its comments."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    comments = [(each.start[0], each.string) for each in tokens if each.type == tokenize.COMMENT]
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and "compiled" in map(ast.unparse, node.decorator_list):
            said = (ast.get_docstring(node) or "").partition("\n\n")[2].splitlines()
            inside = [what for line, what in comments if node.lineno < line <= (node.end_lineno or 0)]
            found[node.name] = [line.strip() for line in said if line.strip()] + inside
    return found


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_the_tests_mirror_the_source() -> None:
    parts = {part_of(path) for path in MODULES} - {*FOUNDATIONS, "", "__main__"}
    assert {part for part in parts if not (ROOT / "tests" / part).is_dir()} == set()


def test_a_public_name_of_a_class_has_one_meaning() -> None:
    """The checker of certificates stands alone: it says model and loss as others do who never saw this package."""
    found = Counter(
        node.name
        for path in MODULES
        if part_of(path) != "verifier"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name: number for name, number in found.items() if number > 1} == {}, "find another name"


def test_the_package_does_not_grow_by_itself() -> None:
    """A refactoring never raises the limits; a feature may, in the same commit and on purpose."""
    limits = {name: int(number) for name, number in map(str.split, _lines(SIZE))}
    size = {
        "files": len(MODULES),
        "lines": sum(path.read_text(encoding="utf-8").count("\n") for path in MODULES),
    }
    assert {name: number for name, number in size.items() if number > limits[name]} == {}, limits
    assert limits["lines"] - size["lines"] <= SLACK, f"lower the limit of {SIZE.name}: {size}"


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#")]
