"""The types of parameters that a statement over protected answers, or one of the catalog, is given.

Most drivers leave types open and go by what the gate says of them. So they are found out from where a
parameter stands: what it is cast to, what the client declares, what it is compared or computed with.
"""

from __future__ import annotations

from sqlglot import exp

from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.operands import CASTS
from tarnkappe.gate.sql.types import WireType
from tarnkappe.gate.sql.view import TableView, chosen

NAMED = {"oid": types.OID, "name": types.NAME, "char": types.CHAR}
"""Types that PostgreSQL has for its catalog."""
DEEPEST = 20
"""How far names of computed columns are followed."""


def kind_of_cast(target: exp.Expr) -> tuple[WireType | None, bool]:
    """The type that a cast names, and whether it is one of arrays."""
    if isinstance(target, exp.ObjectIdentifier):
        return NAMED.get(str(target.this).lower()), False
    if not isinstance(target, exp.DataType):
        return None, False
    if target.this == exp.DType.ARRAY and len(target.expressions) == 1:
        return kind_of_cast(target.expressions[0])[0], True
    if target.this == exp.DType.USERDEFINED:
        name = target.args.get("kind")
        word = str(name.expression.name if isinstance(name, exp.Dot) else name).strip('"').lower()
        return NAMED.get(word), False
    if target.this == exp.DType.NAME:
        return types.NAME, False
    return CASTS.get(target.this), False


def declared_kind(oid: int) -> tuple[WireType | None, bool]:
    """The type that a client declares by its number, and whether it is one of arrays."""
    if oid in types.BY_ARRAY:
        return types.BY_ARRAY[oid], True
    return (None if oid == types.UNKNOWN.oid else types.BY_OID.get(oid)), False


def kind_at(node: exp.Expr, view: TableView, tree: exp.Expr) -> tuple[WireType, bool]:
    """The type of a parameter by its place in a statement, and whether it is an array."""
    inner, outer = node, node.parent
    while isinstance(outer, exp.Paren):
        inner, outer = outer, outer.parent
    if isinstance(outer, exp.Cast):
        kind, is_array = kind_of_cast(outer.to)
        return kind or types.TEXT, is_array
    if isinstance(outer, exp.Limit | exp.Offset | exp.Fetch):
        return types.BIGINT, False
    if outer is None:
        return types.TEXT, False
    if isinstance(outer, exp.Any) or is_all(outer):
        return _beside(outer, view, tree), True
    return _beside(inner, view, tree), False


def is_all(node: exp.Expr | None) -> bool:
    """Whether this is ALL of an array, as in `word <> ALL ('{a,b}'::text[])`."""
    return isinstance(node, exp.Anonymous) and str(node.this).upper() == "ALL" and len(node.expressions) == 1


def _beside(node: exp.Expr, view: TableView, tree: exp.Expr) -> WireType:
    """The type of whatever a node is compared or computed with."""
    outer = node.parent
    if not isinstance(outer, exp.Binary | exp.Between | exp.In | exp.Coalesce | exp.Nullif):
        return types.TEXT
    for part in outer.iter_expressions():
        if part is not node and not isinstance(part, exp.Parameter):
            kind = _kind_of(part, view, tree, DEEPEST)
            if kind is not None:
                return kind
    return types.NUMERIC if isinstance(outer, exp.Add | exp.Sub | exp.Mul | exp.Div) else types.TEXT


def _kind_of(node: exp.Expr, view: TableView, tree: exp.Expr, deep: int) -> WireType | None:
    """The type of an expression, as far as it can be told by looking at it."""
    if deep == 0:
        return None
    if isinstance(node, exp.Column):
        return _kind_of_column(node, view, tree, deep)
    if isinstance(node, exp.Cast):
        return kind_of_cast(node.to)[0]
    if isinstance(node, exp.Literal):
        return types.TEXT if node.is_string else types.NUMERIC
    if isinstance(node, exp.Count | exp.Length | exp.RowNumber):
        return types.BIGINT
    if isinstance(node, exp.Sum | exp.Avg | exp.Round | exp.Stddev | exp.Variance):
        return types.DOUBLE
    if isinstance(
        node, exp.Paren | exp.Max | exp.Min | exp.Neg | exp.Abs | exp.Window | exp.Lower | exp.Upper
    ):
        return _kind_of(node.this, view, tree, deep - 1)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod):
        kinds = [_kind_of(part, view, tree, deep - 1) for part in (node.this, node.expression)]
        return next((kind for kind in kinds if kind is not None), types.NUMERIC)
    return None


def _kind_of_column(node: exp.Column, view: TableView, tree: exp.Expr, deep: int) -> WireType | None:
    known = (*view.columns, *view.kinds)
    quoted = bool(getattr(node.this, "quoted", False))
    name = chosen(node.name, quoted, (column.name for column in known))
    for column in known:
        if column.name == name:
            return column.shown
    for alias in tree.find_all(exp.Alias):
        if alias.alias.casefold() == node.name.casefold():
            return _kind_of(alias.this, view, tree, deep - 1)
    return None
