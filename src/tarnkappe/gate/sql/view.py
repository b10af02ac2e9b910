"""What clients may know of the protected table: its name, its columns, and what each is good for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from sqlglot import exp

from tarnkappe.gate.forms import types_shown
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.sql.errors import NO_COLUMN, NO_TABLE, StatementError
from tarnkappe.gate.sql.types import BY_NAME, TEXT, WireType
from tarnkappe.schema import near

SCHEMA = "public"
LONGEST_NAME = 63
"""The characters of a name that are told again, as in PostgreSQL."""


@dataclasses.dataclass(frozen=True)
class ViewColumn:
    """A column that clients may see.

    Attributes:
        name: as in the table.
        asked: its type in the table, as which conditions compare it.
        shown: its type in answers: generalized values are texts.
        selects: whether a condition may name it. No sensitive column does: who asks for the people with a
            value would know it of everybody who is returned.
        kind_of: the column whose cells it tells the kinds of.
    """

    name: str
    asked: WireType
    shown: WireType
    selects: bool = True
    kind_of: str | None = None


@dataclasses.dataclass(frozen=True)
class TableView:
    """The protected table as clients see it; everything else does not exist for them.

    Attributes:
        table: its name.
        columns: what `*` stands for.
        estimates: whether aggregates of sensitive columns are estimated.
        kinds: columns that are there for who names them.
        post_processing: whether any SELECT may run over its answers.
    """

    table: str
    columns: tuple[ViewColumn, ...]
    estimates: bool = False
    kinds: tuple[ViewColumn, ...] = ()
    post_processing: bool = False

    @classmethod
    def of(
        cls,
        policy: GatePolicy,
        kinds: Mapping[str, str],
        *,
        estimates: bool = False,
        post_processing: bool = False,
    ) -> TableView:
        """What a policy shows of a table whose columns have these types; whether aggregates of sensitive
        columns are estimated, and whether any SELECT may run over its answers.
        """
        shown = types_shown(policy, kinds)
        columns = (
            ViewColumn(
                name,
                BY_NAME.get(kinds[name], TEXT),
                BY_NAME.get(shown[name], TEXT),
                selects=name in policy.quasi_identifiers,
            )
            for name in policy.columns
        )
        marks = tuple(ViewColumn(name, TEXT, TEXT, False, own) for name, own in policy.kinds.items())
        return cls(policy.table.rpartition(".")[2], tuple(columns), estimates, marks, post_processing)

    def column(self, name: str, quoted: bool) -> ViewColumn:
        """The column that a statement means."""
        known = (*self.columns, *self.kinds)
        found = chosen(name, quoted, (column.name for column in known))
        for column in known:
            if column.name == found:
                return column
        meant = near(name, [column.name for column in known])
        hint = f'Did you mean "{meant[0]}"?' if meant else ""
        if quoted:  # what was written does not come back: quoted by mistake, it may be somebody's value
            raise StatementError(NO_COLUMN, "gate.column-not-exist", "column does not exist", hint=hint)
        raise StatementError(
            NO_COLUMN,
            "gate.column-named-not-exist",
            'column "{name}" does not exist',
            hint=hint,
            name=name[:LONGEST_NAME],
        )

    def no_table(self, table: exp.Table, known: Iterable[str] = ()) -> StatementError:
        """Why a name in FROM is refused; known are tables that may be meant beside the protected one."""
        parts = [table.args.get(part) for part in ("catalog", "db", "this")]
        written = [part for part in parts if part]
        meant = near(table.name, [self.table, *known])
        hint = f'Did you mean "{meant[0]}"?' if meant else f'The table here is "{self.table}".'
        if not all(isinstance(part, exp.Identifier) and not part.quoted for part in written):
            return StatementError(NO_TABLE, "gate.relation-not-exist", "relation does not exist", hint=hint)
        return StatementError(
            NO_TABLE,
            "gate.relation-named-not-exist",
            'relation "{name}" does not exist',
            hint=hint,
            name=".".join(part.name for part in written)[:LONGEST_NAME],
        )


def chosen(name: str, quoted: bool, known: Iterable[str]) -> str | None:
    """The known name that is meant: this one, or (unquoted) the only one that differs in case alone."""
    names = list(known)
    if name in names:
        return name
    alike = [] if quoted else [other for other in names if other.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None
