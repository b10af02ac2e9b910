"""What all readers of SQL share: positions, and the refusal of everything that is not allowed by name."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from tarnkappe.algebra.sql.dialect import error_at, position_of
from tarnkappe.errors import QueryError, Reason

_CLAUSES = {
    "connect": "CONNECT BY",
    "from_": "FROM",
    "group": "GROUP BY",
    "laterals": "LATERAL",
    "locks": "FOR UPDATE",
    "order": "ORDER BY",
    "pivots": "PIVOT",
    "query": "a subquery",
    "sample": "TABLESAMPLE",
    "side": "OUTER JOIN",
    "with_": "WITH",
    "windows": "WINDOW",
}


class SqlReader:
    """Reads pieces of one query."""

    def __init__(self, text: str) -> None:
        self.text = text

    def refuse(self, node: exp.Expr, code: str, template: str, /, **values: object) -> QueryError:
        """The error that a node is not wanted, with its position."""
        return self.refuse_because(node, Reason(code, template, **values))

    def refuse_because(self, node: exp.Expr, reason: Reason) -> QueryError:
        """The same for a reason that is known already."""
        return error_at(self.text, position_of(node), reason)

    def name(self, node: exp.Expr | str, within: exp.Expr | None = None) -> exp.Identifier:
        """The node, if it is a plain name; nothing between two dots is none, and its place that around it."""
        if isinstance(node, exp.Identifier):
            return node
        place = node if isinstance(node, exp.Expr) else within
        raise (
            self.refuse(place, "algebra.expected-name", "expected a name")
            if place
            else QueryError("algebra.expected-name", "expected a name")
        )

    def only(self, node: exp.Expr, *allowed: str, what: str) -> None:
        """Refuse a node that says more than is allowed: what we do not know, we do not pass over."""
        for name, value in node.args.items():
            if name not in allowed and value not in (None, False, [], ""):
                clause = _CLAUSES.get(name, name.strip("_").replace("_", " ").upper())
                where = value if isinstance(value, exp.Expr) else node
                raise self.refuse(
                    where,
                    "algebra.reading-not-supported",
                    "{clause} is not supported in {what}",
                    clause=clause,
                    what=what,
                )


def choose(name: str, quoted: bool, known: Iterable[str]) -> str | None:
    """The known name that is meant: this one, or (unquoted) the only one that differs in case alone."""
    known = list(known)
    if name in known:
        return name
    alike = [] if quoted else [other for other in known if other.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None
