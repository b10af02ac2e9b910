"""Policy files: which tables there are, how each is protected, and who may see what, in TOML.

[tables.patients]
path = "patients.parquet"                    # or database = "postgresql://..."
person = {space = "patient", column = "pid"}
[tables.patients.columns]                    # a column without a role is a quasi-identifier
pid = "identifier"
plz = {role = "quasi-identifier", hierarchy = "plz.csv"}
diagnosis = "sensitive"
[tables.patients.protected]                  # the one release that everybody reads
k = 5
columns = ["plz", "diagnosis"]
accept = ["diagnosis"]                       # sensitive, and shown without a promise about its values
[groups.research]
members = ["ann"]
[[groups.research.may]]
table = "patients"
see = "protected"                            # nothing, aggregates, protected, raw
epsilon = 3.0                                # of noisy aggregates of the raw table, for every member
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Mapping
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

from tarnkappe.algebra.person_paths import PersonPath
from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.hierarchy.plan import HierarchyPlan
from tarnkappe.job.catalog_file import CatalogFile
from tarnkappe.job.document import ColumnSection
from tarnkappe.job.sources import InputSource
from tarnkappe.job.unknown_keys import refuse_unknown
from tarnkappe.schema.documents import parse
from tarnkappe.schema.written import read_toml
from tarnkappe.table import Role

SECTIONS = ("tables", "groups", "spaces", "owners", "values", "state", "server")
TABLE_KEYS = ("path", "database", "table", "person", "rows_per_person", "public", "columns", "protected")
PROTECTED_KEYS = ("k", "columns", "accept")
CLAUSE_KEYS = ("table", "see", "columns", "epsilon")
STATE = "policy-state"


class Sight(IntEnum):
    """How much of a table somebody may see; each includes those before it."""

    NOTHING = 0
    AGGREGATES = 1
    PROTECTED = 2
    RAW = 3


@dataclasses.dataclass(frozen=True)
class ProtectedForm:
    """The one release of a table: k people in every class of the quasi-identifiers that it shows."""

    k: int
    columns: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class PolicyTable:
    """A table of the policy."""

    name: str
    roles: Mapping[str, Role]
    person: PersonPath | None = None
    form: ProtectedForm | None = None

    def role(self, column: str) -> Role:
        """What a column is; one that nobody spoke of may identify people."""
        return self.roles.get(column, Role.QUASI_IDENTIFIER)

    @property
    def is_public(self) -> bool:
        """Whether it needs no protection."""
        return self.person is None


@dataclasses.dataclass(frozen=True)
class AccessClause:
    """What the members of a group may do with a table."""

    group: str
    table: str
    see: Sight
    epsilon: Fraction = Fraction(0)
    columns: tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True)
class AccessPolicy:
    """All that a policy file says.

    Attributes:
        tables: the tables that there are; no other is read.
        sources: where their rows are.
        hierarchies: how columns generalize.
        values: files of all values of columns that queries compute and group by, as a number of visits.
        members: the users of each group.
        clauses: what groups may do.
        spaces: how much epsilon a user may spend on the people of a space, on all tables together.
        owners: who may grant budgets; none of them may ask.
        state: where releases, budgets and the log are kept.
        server: how it is served, as for a gate.
        digest: the SHA-256 of the file, which stands in every entry of the log.
    """

    tables: Mapping[str, PolicyTable]
    sources: Mapping[str, InputSource]
    hierarchies: Mapping[str, HierarchyPlan]
    values: Mapping[str, Path]
    members: Mapping[str, Collection[str]]
    clauses: tuple[AccessClause, ...]
    spaces: Mapping[str, Fraction]
    owners: Collection[str]
    state: Path
    server: Mapping[str, Any]
    digest: str

    @classmethod
    def load(cls, path: str | Path) -> AccessPolicy:
        """Read a policy file; everything in it is checked."""
        try:
            content = read_toml(path, "policy file")
            digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            return cls.from_dict(content, Path(path).parent, digest)
        except TarnkappeError as error:
            raise (error if str(path) in str(error) else error.within(path)) from None

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path, digest: str = "") -> AccessPolicy:
        """The content of a policy file; relative paths start at the folder."""
        refuse_unknown(content, SECTIONS, "section")
        said = {
            name: _section(each, f"[tables.{name}]")
            for name, each in _section(content.get("tables", {}), "[tables]").items()
        }
        if not said:
            raise JobError("policy.no-table-write-tables", "there is no table: write [tables.NAME]")
        for name, each in said.items():
            refuse_unknown(each, TABLE_KEYS, f"key of [tables.{name}]")
        places = ("path", "database", "table", "person", "rows_per_person", "public")
        relations = {name: {key: each[key] for key in places if key in each} for name, each in said.items()}
        catalog = CatalogFile.from_dict({"relations": relations}, folder)
        persons = catalog.declarations.persons
        hierarchies: dict[str, HierarchyPlan] = {}
        tables = {}
        for name, each in said.items():
            public = name in catalog.declarations.public
            if not public and name not in persons:
                raise JobError(
                    "policy.tables-say-rows-person",
                    "[tables.{name}]: say whose rows these are: person = {{space = ..., column = ...}}, or "
                    "public = true",
                    name=name,
                )
            roles = _columns(
                name, _section(each.get("columns", {}), f"[tables.{name}.columns]"), folder, hierarchies
            )
            person = None if public else persons[name]
            assert not isinstance(person, str)
            if person is not None and person.column and roles.get(person.column) is not Role.IDENTIFIER:
                roles = {**roles, person.column: Role.IDENTIFIER}
            tables[name] = PolicyTable(
                name, roles, person, _form(name, each.get("protected"), roles, hierarchies)
            )
        members, clauses = _groups(_section(content.get("groups", {}), "[groups]"), tables)
        owners = _names(content.get("owners", []), "owners")
        asking = sorted(set(owners) & {user for users in members.values() for user in users})
        if asking:
            raise JobError(
                "policy.may-grant-budgets-ask",
                "'{asking}' may grant budgets and ask: give these rights to different people",
                asking=asking[0],
            )
        spaces = {
            name: _epsilon(_section(each, f"[spaces.{name}]").get("epsilon"), f"[spaces.{name}] epsilon")
            for name, each in _section(content.get("spaces", {}), "[spaces]").items()
        }
        return cls(
            tables,
            catalog.sources,
            hierarchies,
            {c: folder / str(f) for c, f in _section(content.get("values", {}), "[values]").items()},
            members,
            clauses,
            spaces,
            owners,
            folder / str(content.get("state", STATE)),
            _section(content.get("server", {}), "[server]"),
            digest,
        )

    @property
    def place(self) -> str | dict[str, str | Path]:
        """Where the tables are, as an engine is told."""
        databases = {source.database for source in self.sources.values() if source.database is not None}
        files = {name: source.path for name, source in self.sources.items() if source.path is not None}
        if len(databases) > 1 or (databases and files):
            raise JobError(
                "policy.tables-policy-files-all-database",
                "the tables of a policy are files, or all in one database",
            )
        return databases.pop() if databases else dict(files)

    @property
    def users(self) -> set[str]:
        """Everybody who may ask."""
        return {user for users in self.members.values() for user in users}

    def groups_of(self, user: str) -> list[str]:
        """The groups of a user."""
        return sorted(group for group, users in self.members.items() if user in users)

    def clauses_of(self, user: str, table: str) -> list[AccessClause]:
        """What a user may do with a table, by all groups."""
        groups = set(self.groups_of(user))
        return [clause for clause in self.clauses if clause.group in groups and clause.table == table]

    def generalized(self, table: str) -> tuple[str, ...]:
        """The columns of the protected form of a table that are shown as labels."""
        shown = self.tables[table]
        columns = shown.form.columns if shown.form is not None else ()
        return tuple(column for column in columns if shown.role(column) is Role.QUASI_IDENTIFIER)

    def sight(self, user: str, table: str) -> Sight:
        """How much of a table a user may see."""
        if user in self.users and self.tables[table].is_public:
            return Sight.RAW
        return max((clause.see for clause in self.clauses_of(user, table)), default=Sight.NOTHING)

    def epsilon(self, user: str, table: str) -> Fraction:
        """How much a user may spend on noisy aggregates of a table in all."""
        allowed = [c.epsilon for c in self.clauses_of(user, table) if c.see >= Sight.AGGREGATES]
        return max(allowed, default=Fraction(0))

    def raw_columns(self, user: str, table: str, columns: Collection[str]) -> tuple[str, ...]:
        """The columns of a table that a user may see as they are: all but identifiers, unless it is said."""
        if self.tables[table].is_public and user in self.users:
            return tuple(columns)
        raw = [clause for clause in self.clauses_of(user, table) if clause.see is Sight.RAW]
        shown = self.tables[table]
        allowed = {
            column
            for clause in raw
            for column in (
                [c for c in columns if shown.role(c) is not Role.IDENTIFIER]
                if clause.columns is None
                else clause.columns
            )
        }
        return tuple(column for column in columns if column in allowed)


def _columns(
    table: str, said: Mapping[str, Any], folder: Path, hierarchies: dict[str, HierarchyPlan]
) -> dict[str, Role]:
    roles = {}
    for column, plan in said.items():
        section = (
            {"role": plan}
            if isinstance(plan, str)
            else dict(_section(plan, f"[tables.{table}.columns.{column}]"))
        )
        read = parse(ColumnSection, section, folder, name=f"[tables.{table}.columns.{column}]")
        roles[column] = read.role
        if read.hierarchy is not None:
            if hierarchies.get(column, read.hierarchy) != read.hierarchy:
                raise JobError(
                    "policy.two-hierarchies-two-tables",
                    "'{column}' has two hierarchies in two tables: call one of the columns otherwise",
                    column=column,
                )
            hierarchies[column] = read.hierarchy
    return roles


def _form(
    table: str, said: Any, roles: Mapping[str, Role], hierarchies: Mapping[str, HierarchyPlan]
) -> ProtectedForm | None:
    if said is None:
        return None
    where = f"[tables.{table}.protected]"
    said = _section(said, where)
    refuse_unknown(said, PROTECTED_KEYS, f"key of {where}")
    k, columns = said.get("k"), _names(said.get("columns"), f"{where} columns")
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise JobError(
            "policy.k-number-people-least-2", "{where}: k is a number of people of at least 2", where=where
        )
    accepted = set(_names(said.get("accept", []), f"{where} accept"))
    for column in columns:
        role = roles.get(column, Role.QUASI_IDENTIFIER)
        if role is Role.IDENTIFIER:
            raise JobError(
                "policy.identifier-never-shown",
                "{where}: '{column}' is an identifier and is never shown",
                where=where,
                column=column,
            )
        if role is Role.QUASI_IDENTIFIER and column not in hierarchies:
            raise JobError(
                "policy.needs-hierarchy-none-proposed",
                "{where}: '{column}' needs a hierarchy; none is proposed from the data under a policy",
                where=where,
                column=column,
            )
        if role is Role.SENSITIVE and column not in accepted:
            raise JobError(
                "policy.sensitive-k-alone-promises",
                "{where}: '{column}' is sensitive, and k alone promises nothing about its values: leave it "
                'out, or accept that: accept = ["{column}"]',
                where=where,
                column=column,
            )
    return ProtectedForm(k, tuple(columns))


def _groups(
    said: Mapping[str, Any], tables: Mapping[str, PolicyTable]
) -> tuple[dict[str, list[str]], tuple[AccessClause, ...]]:
    members: dict[str, list[str]] = {}
    clauses: list[AccessClause] = []
    for group, section in said.items():
        where = f"[groups.{group}]"
        refuse_unknown(_section(section, where), ("members", "may"), f"key of {where}")
        members[group] = _names(section.get("members", []), f"{where} members")
        may = (_section(each, f"[[groups.{group}.may]]") for each in section.get("may", []))
        clauses += [_clause(group, each, tables) for each in may]
    return members, tuple(clauses)


def _clause(group: str, said: Mapping[str, Any], tables: Mapping[str, PolicyTable]) -> AccessClause:
    where = f"[[groups.{group}.may]]"
    refuse_unknown(said, CLAUSE_KEYS, f"key of {where}")
    table, see = str(said.get("table", "")), said.get("see", "nothing")
    if table not in tables:
        raise JobError(
            "policy.no-table",
            "{where}: there is no table '{table}'; there are {tables}",
            where=where,
            table=table,
            tables=", ".join(sorted(tables)),
        )
    known = {sight.name.lower(): sight for sight in Sight}
    if see not in known:
        raise JobError(
            "policy.where-known-see", "{where}: see is one of {known}", where=where, known=", ".join(known)
        )
    if known[see] is Sight.PROTECTED and tables[table].form is None:
        raise JobError(
            "policy.no-protected-form-write",
            "{where}: '{table}' has no protected form: write [tables.{table}.protected]",
            where=where,
            table=table,
        )
    columns = None if "columns" not in said else tuple(_names(said["columns"], f"{where} columns"))
    epsilon = _epsilon(said.get("epsilon", 0), f"{where} epsilon")
    return AccessClause(group, table, known[see], epsilon, columns)


def _epsilon(said: Any, where: str) -> Fraction:
    if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said <= 10**6:
        raise JobError("policy.number-0", "{where} is a number from 0 on", where=where)
    try:
        return Fraction(str(said))
    except ValueError:
        raise JobError("policy.number-0", "{where} is a number from 0 on", where=where) from None


def _names(said: Any, where: str) -> list[str]:
    if not isinstance(said, list) or not all(isinstance(name, str) for name in said):
        raise JobError("policy.list-names-expected", "{where}: a list of names is expected", where=where)
    return said


def _section(said: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise JobError(
            "policy.must-section-table-braces", "{where} must be a section or a table in braces", where=where
        )
    return said
