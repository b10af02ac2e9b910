"""What stands inside operators of a query, and what above them."""

from __future__ import annotations

from sqlglot import exp

from tarnkappe.algebra.sql.operators import OPERATORS
from tarnkappe.algebra.sql.reading import SqlReader


def _is_operator(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.Table)
        and isinstance(node.this, exp.Anonymous)
        and node.this.name.lower() in OPERATORS
    )


def _is_noisy(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower().startswith("noisy_")


def _inside_operator(node: exp.Expr) -> bool:
    around = node.parent
    while around is not None:
        if isinstance(around, exp.Anonymous) and around.name.lower() in OPERATORS:
            return True
        around = around.parent
    return False


def _inside(node: exp.Expr, other: exp.Expr) -> bool:
    around: exp.Expr | None = node
    while around is not None:
        if around is other:
            return True
        around = around.parent
    return False


def _put_in_operators(tree: exp.Expr, reader: SqlReader) -> None:
    """Put subqueries of WITH in where operators name them, and leave out those that nothing names any more.

    A part that draws at random and is named twice would be drawn twice, which tells more than one draw.
    """
    clause = tree.args.get("with_")
    if clause is None:
        return
    parts = {part.alias: part for part in clause.expressions}
    times = dict.fromkeys(parts, 0)
    for name in reversed(list(parts)):  # later ones may name earlier ones
        for node in list(tree.find_all(exp.Table, exp.Column)):
            if not _inside_operator(node) or not _names(node, name):
                continue
            if isinstance(node, exp.Column) and not _is_operand(node):
                continue
            times[name] += 1
            inner = exp.Subquery(this=parts[name].this.copy())
            if isinstance(node, exp.Table):
                alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name, quoted=True))
                inner.set("alias", alias.copy())
            node.replace(inner)
    for name, part in list(parts.items())[::-1]:
        outside = sum(
            1 for node in tree.find_all(exp.Table) if _names(node, name) and not _inside(node, part)
        )
        draws = any(_draws(node) for node in part.find_all(exp.Anonymous))
        if draws and times[name] and times[name] + outside > 1:
            raise reader.refuse(
                part,
                "algebra.draws-random-may-used-only-once",
                "'{name}' draws at random and may be used only once inside operators",
                name=name,
            )
        if not outside:
            part.pop()
    if not clause.expressions:
        tree.set("with_", None)


def _drop_unused(tree: exp.Expr) -> None:
    """Leave out subqueries of WITH that nothing names, now that noisy parts are cut out."""
    clause = tree.args.get("with_")
    for part in [] if clause is None else clause.expressions[::-1]:
        if not any(_names(node, part.alias) and not _inside(node, part) for node in tree.find_all(exp.Table)):
            part.pop()
    if clause is not None and not clause.expressions:
        tree.set("with_", None)


def _names(node: exp.Expr, name: str) -> bool:
    return (
        isinstance(node.this, exp.Identifier)
        and node.this.name.casefold() == name.casefold()
        and not any(node.args.get(key) for key in ("db", "catalog", "table"))
    )


def _is_operand(node: exp.Expr) -> bool:
    call = node.parent
    return isinstance(call, exp.Anonymous) and bool(call.expressions) and call.expressions[0] is node


def _draws(call: exp.Anonymous) -> bool:
    return call.name.lower() in ("slice", "randomize") or _is_noisy(call)
