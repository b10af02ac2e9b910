"""Small mistakes that a program could have: every one is a place in a file and what stands there instead."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}


class Mutant(NamedTuple):
    """A mistake.

    Attributes:
        path: the file, from the root of the tree.
        line: where the mistake begins.
        operator: its kind.
        before: what stands there.
        after: what is to stand there.
        start: the first byte of what is replaced.
        end: the byte after it.
        text: the whole line, which tells the place also after others were added above it.
    """

    path: str
    line: int
    operator: str
    before: str
    after: str
    start: int
    end: int
    text: str

    @property
    def name(self) -> str:
        """What tells it from all others of its file."""
        return f"{self.path}:{self.line} {self.operator}: {self.before} -> {self.after} @{self.start}"

    def apply(self, source: bytes) -> bytes:
        """The file with the mistake."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def rank(self, seed: int) -> str:
        """Its place in a sample: drawn by the seed, and the same whatever other files say."""
        return hashlib.sha256(f"{seed} {self.name}".encode()).hexdigest()


def mutants_of(path: Path, root: Path) -> list[Mutant]:
    """All mistakes that a file could have, each of which can be parsed."""
    source = path.read_bytes()
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found = []
    for node, operator, after in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        end = starts[node.end_lineno - 1] + node.end_col_offset
        before = " ".join(source[start:end].decode().split())
        text = lines[node.lineno - 1].decode().strip()
        name = path.relative_to(root).as_posix()
        found.append(Mutant(name, node.lineno, operator, before, after, start, end, text))
    return found


Place = ast.expr | ast.stmt


def _changes(tree: ast.AST) -> Iterator[tuple[Place, str, str]]:
    """What is replaced, the kind of mistake and the text instead, but for types, assertions and messages."""
    for name, field in ast.iter_fields(tree):
        for node in field if isinstance(field, list) else [field]:
            if not isinstance(node, ast.AST) or name in ("annotation", "returns", "decorator_list"):
                continue
            if isinstance(node, (ast.JoinedStr, ast.Assert)) or _is_only_for_types(node):
                continue
            if isinstance(node, ast.Raise):
                yield node, "delete", "pass"
                continue
            yield from _of_node(node)
            yield from _changes(node)


def _is_only_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _of_node(node: ast.AST) -> Iterator[tuple[Place, str, str]]:
    if isinstance(node, ast.Compare):
        operators: list[ast.cmpop] = [COMPARE[type(node.ops[0])](), *node.ops[1:]]
        yield node, "compare", _text(ast.Compare(node.left, operators, node.comparators))
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, "boolean", _text(ast.BoolOp(other, node.values))
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield node, "off-by-one", str(node.value + 1)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield node, "negate", str(not node.value)
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield node, "arithmetic", _text(ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right))
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield node, "return", "return None"
    elif isinstance(node, ast.AugAssign | ast.Break | ast.Continue) or _is_deed(node):
        assert isinstance(node, ast.stmt)
        yield node, "delete", "pass"
    for test in _conditions(node):
        yield test, "negate", f"(not ({ast.unparse(test)}))"


def _conditions(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return [node.test]
    return node.ifs if isinstance(node, ast.comprehension) else []


def _is_deed(node: ast.AST) -> bool:
    """A call for what it does, or an assignment to a part of something: both may be left out unnoticed."""
    if isinstance(node, ast.Assign):
        return any(isinstance(each, ast.Subscript | ast.Attribute) for each in node.targets)
    return isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"
