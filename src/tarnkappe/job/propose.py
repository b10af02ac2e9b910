"""What is proposed for a table: roles by its columns, hierarchies by its values, a promise by who gets it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.hierarchy import Builder, Hierarchy, propose_builder
from tarnkappe.job.one_row_per_person import repeated_people
from tarnkappe.job.proposal import METHOD, Audience, ColumnProposal, ReleaseProposal
from tarnkappe.privacy import DistinctDiversity, KAnonymity, Model, MultiRelationalKAnonymity
from tarnkappe.risk.identifiers import Certainty, ColumnScan, IdentifierKind, propose_roles, view_of
from tarnkappe.schema.arguments import checked_call
from tarnkappe.table import MISSING, SUPPRESSED, Column, Role, Table, encode, read
from tarnkappe.table.encoding import Progress
from tarnkappe.table.kinds import plain_names

ONCE = 0.5
"""With a larger share of values that only one row has, numbers are fingerprints."""
OF_PERSONS = frozenset(
    {
        IdentifierKind.SOCIAL_SECURITY,
        IdentifierKind.MEDICAL_RECORD,
        IdentifierKind.HEALTH_PLAN,
        IdentifierKind.ACCOUNT,
        IdentifierKind.LICENCE,
        IdentifierKind.OTHER,
    }
)
"""Identifiers that stand for a person in every row of hers: numbers and codes, not names or addresses."""
CALLED_BY = OF_PERSONS | {IdentifierKind.NAME, IdentifierKind.EMAIL, IdentifierKind.PHONE}
"""What people are known by, if it is the whole cell."""
IN_TEXTS = ("free-text", "street")
"""Detectors of what tells nobody from others by itself."""
ENOUGH = 2
"""What nobody calls the numbers of people tells people apart if it has so many times k different values."""
NEARLY_FILLED = 0.9
REPEATED = 0.95
"""An identifier with fewer different values for each filled cell stands in several rows of a person."""
MANY_VALUES = 6
"""Columns with so many values can promise three of them in every group."""
FEW_GROUPS = 2
"""A promise is costly if it leaves less than this part (one half) of the groups that k would allow."""
SHARED_BY = 5
"""So many rows a proposed period of dates has on average: the ends of an interval are nobody's own."""
FEW = 2
"""So many values any column can promise."""
STATEMENTS = (
    "for_", "k", "identifiers", "quasi_identifiers", "sensitive", "publish", "hierarchies", "weights",
    "accept", "uniform",
)  # fmt: skip
"""What may be stated: the arguments of `propose`."""


@checked_call
def propose(
    data: Any,
    *,
    for_: str = "partner",
    k: int | None = None,
    identifiers: Sequence[str] = (),
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    publish: Sequence[str] = (),
    hierarchies: Mapping[str, Hierarchy | str | Mapping[str, Any]] | None = None,
    weights: Mapping[str, float] | None = None,
    accept: Mapping[str, str | Sequence[str]] | None = None,
    uniform: bool = False,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> ReleaseProposal:
    """A whole job for a table: what each column is, what is promised, and how the rows are written.

    Args:
        data: a path or database address, a table of pandas, polars or Arrow, or a `Table`. The roles that a
            `Table` has are taken as stated, and its other columns are not released.
        for_: who gets the release: internal (colleagues, k = 3), partner (with an agreement, k = 5) or public
            (everybody, k = 11).
        k: how many rows share what others may know at least, if it is to be another number.
        identifiers: columns that name a person; they are left out.
        quasi_identifiers: columns that others may know; they are generalized.
        sensitive: columns that an attacker wants to learn; every group shows several of their values.
        publish: columns that are released as they are.
        hierarchies: how some columns generalize, if not as proposed.
        weights: how much the loss of some columns counts; others count 1.
        accept: for some columns, the detectors of identifiers that are wrong about them.
        uniform: whether a column has one level in all rows; 5 % of the rows may then be left out.
        reading: how a file is written, if it was read wrongly: arguments of `read`.
        progress: told about the progress of long work.

    >>> import tarnkappe
    >>> patients = tarnkappe.examples.hospital(rows=200, seed=7).table.data
    >>> proposal = propose(patients, sensitive=["length_of_stay"])
    >>> {column.name: str(column.role) for column in proposal.columns}["diagnosis"]
    'sensitive'
    >>> tarnkappe.check(proposal.anonymize().release).k >= 5
    True
    """
    source = str(data) if isinstance(data, str | Path) else None
    _promised(for_, k)  # what cannot be promised is refused before a long file is read
    table = data if isinstance(data, Table) else read(data, **(reading or {}), progress=progress)
    said = {
        "for_": for_, "k": k, "identifiers": identifiers, "quasi_identifiers": quasi_identifiers,
        "sensitive": sensitive, "publish": publish, "hierarchies": hierarchies, "weights": weights,
        "accept": accept, "uniform": uniform, "reading": dict(reading or {}),
        "roles": _stated(table),
    }  # fmt: skip
    return _decide(table, source, said, progress)


def _promised(for_: str, k: int | None) -> tuple[Audience, int]:
    audience = Audience.parse(for_)
    return audience, audience.k if k is None else KAnonymity(k).k


def _stated(table: Table) -> dict[str, Role]:
    return {name: role for name, role in table.roles.items() if role is not Role.UNSTATED}


def _decide(
    table: Table, source: str | None, said: Mapping[str, Any], progress: Progress | None = None
) -> ReleaseProposal:
    """What follows from a table and what was stated about it."""
    audience, k = _promised(said["for_"], said["k"])
    stated = _stated_roles(table, said)
    found = {
        each.column: each
        for each in propose_roles(Table(table.data, reading=table.reading), progress=progress)
    }
    encoded = encode(table, plain_names(table.data.schema))
    notes: list[str] = []
    if said["roles"]:  # what a table says is not guessed again
        stated = {**dict.fromkeys(table.column_names, Role.UNSTATED), **stated}
    columns = [
        _column(encoded[name], found[name], stated.get(name))
        if name in encoded
        else _never_released(table, found[name], stated.get(name))
        for name in table.column_names
    ]
    if not any(column.role is Role.QUASI_IDENTIFIER for column in columns):
        columns = _known_to_others(columns, encoded)
        notes.append(
            "nothing was found that others may know, so the columns that would be kept are treated as such; "
            "--publish and --sensitive say otherwise"
        )
    roles = {column.name: column.role for column in columns}
    described = Table(table.data, roles, table.reading, table.frame)
    for name in said["hierarchies"] or {}:
        if roles[table.require(name)] is not Role.QUASI_IDENTIFIER:
            raise ColumnError(
                "job.no-quasi-identifier-hierarchy",
                "'{name}' is no quasi-identifier: a hierarchy has no meaning for it",
                name=name,
            )
    person, rows_counted = _person(described, encoded, found, k)
    if rows_counted:
        notes.append(
            "no column tells persons apart, so the promise counts rows: if a person has several rows, fewer "
            "persons than rows look alike"
        )
    if person is not None:
        notes.append(
            f"'{person}' is the same in several rows: the promise counts its different values, not rows"
        )
        if any(_blanks(encoded[person])):
            notes.append(f"cells of '{person}' are blank: nobody is counted for them, whoever they may be of")
    privacy = _promise(described, encoded, k, audience, person)
    _require_enough(described, encoded, k, person)
    notes += [
        f"'{column.name}' is released as it is, and more than half of its values occur once: who knows such "
        "a value knows the row; round it, or make it a quasi-identifier"
        for column in columns
        if column.role is Role.SENSITIVE and _once(encoded[column.name]) > ONCE
    ]
    notes += _costly(privacy, encoded, k)
    return ReleaseProposal(
        described,
        tuple(columns),
        audience,
        privacy,
        "auto" if said["uniform"] else METHOD,
        person is not None or bool(repeated_people(described)[0].size),
        tuple(notes),
        said,
        source,
    )


def _stated_roles(table: Table, said: Mapping[str, Any]) -> dict[str, Role]:
    """The roles that were stated for columns; the later word wins over what the table has."""
    named = {
        Role.IDENTIFIER: said["identifiers"],
        Role.QUASI_IDENTIFIER: said["quasi_identifiers"],
        Role.SENSITIVE: said["sensitive"],
        Role.INSENSITIVE: said["publish"],
    }
    chosen: dict[str, Role] = {}
    for role, names in named.items():
        if isinstance(names, str):
            raise ParameterError(
                "job.columns-given-list-write", "columns are given as a list: write [{names!r}]", names=names
            )
        for name in names:
            if chosen.setdefault(table.require(name), role) is not role:
                raise ColumnError(
                    "job.propose-column-given-two-roles",
                    "the column '{name}' is given two roles: {chosen} and {role}",
                    name=name,
                    chosen=chosen[name],
                    role=role,
                )
    return {**said["roles"], **chosen}


def _column(column: Column, found: ColumnScan, stated: Role | None) -> ColumnProposal:
    role, reason = found.role, found.reason
    certainty: Certainty | None = found.certainty
    if stated is not None:
        role, reason, certainty = stated, "as stated", None
        if stated is Role.UNSTATED:
            reason = "nobody has said what it is"
    elif role is Role.SENSITIVE and certainty is Certainty.GUESS and _once(column) > ONCE:
        role = Role.QUASI_IDENTIFIER
        reason += "; more than half of its values occur once, so they are generalized"
    if role is not Role.QUASI_IDENTIFIER:
        return ColumnProposal(column.name, role, reason, certainty)
    return ColumnProposal(column.name, role, reason, certainty, _builder(column))


def _never_released(table: Table, found: ColumnScan, stated: Role | None) -> ColumnProposal:
    """A column of raw bytes or nested values, which is left out whatever it is said to be."""
    if stated in (None, Role.IDENTIFIER):
        return ColumnProposal(
            found.column, Role.IDENTIFIER, found.reason, found.certainty if stated is None else None
        )
    if stated is not Role.UNSTATED:
        encode(table, [found.column])  # refuses it, and says what to do
    return ColumnProposal(found.column, Role.UNSTATED, "nobody has said what it is")


def _builder(column: Column) -> Builder:
    return propose_builder(column, shared_by=SHARED_BY)


def _known_to_others(
    columns: Sequence[ColumnProposal], encoded: Mapping[str, Column]
) -> list[ColumnProposal]:
    """The proposals with what nobody stated as quasi-identifiers, where there are none: that is safe."""
    kept = [column for column in columns if not column.is_left_out and column.certainty is not None]
    if not kept:
        raise ColumnError(
            "job.no-column-quasi-identifier-every-names",
            "no column is a quasi-identifier: every column names people, or was stated; say which columns "
            "others may know (--qi)",
        )
    return [
        dataclasses.replace(column, role=Role.QUASI_IDENTIFIER, builder=_builder(encoded[column.name]))
        if column in kept
        else column
        for column in columns
    ]


def _once(column: Column) -> float:
    """The share of the different values that only one row has."""
    counts = column.counts()
    return float(np.count_nonzero(counts == 1)) / max(len(counts), 1)


def _person(
    table: Table, encoded: Mapping[str, Column], found: Mapping[str, ColumnScan], k: int
) -> tuple[str | None, bool]:
    """The identifier that stands for a person in each of her rows, where persons have several.

    A number or code that repeats is one; what its header calls the number of those whom rows are about is
    it before any other. Where rows agree in all identifiers, the finest of them is: as many persons as it
    has different values there are at least. Where every row has a number of its own for the person whom it is
    about, rows are counted. What is found inside some cells only, says the same of everybody, or is mostly
    blank tells nobody apart: such a column is left out, and rows are counted. The second answer is whether it
    should be told that they are.
    """
    identifiers = [name for name in table.identifiers if name in encoded]  # nested cells number nobody
    repeated = [name for name in identifiers if _repeats(encoded[name])]
    single = [
        name
        for name in identifiers
        if name not in repeated and _filled(encoded[name]) >= NEARLY_FILLED * table.num_rows
    ]
    subjects = [name for name in repeated if view_of(table, name).numbers_subjects]
    numbered = [name for name in subjects if 2 * _filled(encoded[name]) >= table.num_rows]
    codes = [name for name in repeated if _is_known_by(found[name], OF_PERSONS)]
    if any(view_of(table, name).numbers_subjects for name in single):
        codes = []  # every row is of a person of its own, and has the number of a manager or a doctor, too
    again = bool(repeated_people(table)[0].size)
    named = [name for name in identifiers if _is_known_by(found[name], CALLED_BY)] if again else []
    person: str | None = None
    for some in (numbered, *(_able(names, table, encoded, k) for names in (codes, named))):
        person = person or max(some, key=lambda name: _different(encoded[name]), default=None)
    alone = not subjects and any(_is_known_by(found[name], CALLED_BY) for name in single)
    return person, person is None and bool(repeated) and not alone


def _able(names: Sequence[str], table: Table, encoded: Mapping[str, Column], k: int) -> list[str]:
    """Which columns can tell persons apart: they have enough different values, and few blanks."""
    return [
        name
        for name in names
        if _different(encoded[name]) >= ENOUGH * k
        and _filled(encoded[name]) >= NEARLY_FILLED * table.num_rows
    ]


def _is_known_by(found: ColumnScan, kinds: frozenset[IdentifierKind]) -> bool:
    """Whether whole cells are what a person is known by; a column that was only stated may be anything."""
    whole = [each for each in found.findings if each.whole and each.detector not in IN_TEXTS]
    return any(kinds & {*each.kinds} for each in whole) or (not found.findings and kinds == CALLED_BY)


def _blanks(column: Column) -> list[bool]:
    """Which values are blanks, however they are written: a blank is nobody's number."""
    return [label == MISSING or not label.strip() for label in column.labels]


def _different(column: Column) -> int:
    """How many different values there are, blanks aside."""
    return column.cardinality - sum(_blanks(column))


def _filled(column: Column) -> int:
    """How many cells are not blank."""
    return int(column.counts()[~np.array(_blanks(column), dtype=bool)].sum())


def _repeats(column: Column) -> bool:
    """Whether filled cells have markedly fewer different values than there are of them."""
    return 0 < _different(column) < REPEATED * _filled(column)


def _promise(
    table: Table, encoded: Mapping[str, Column], k: int, audience: Audience, person: str | None
) -> tuple[Model, ...]:
    # k persons have k rows, so k-anonymity adds nothing to them; but it tells methods the least class.
    counting: list[Model] = [KAnonymity(k)]
    if person is not None:
        # A row with a blank may be of a person who is counted already; the model counts a blank as one more.
        counting.append(MultiRelationalKAnonymity(person, k + sum(_blanks(encoded[person]))))
    diverse = []
    for name in table.sensitive:
        values = encoded[name].cardinality - (SUPPRESSED in encoded[name].labels)  # what is hidden shows none
        least = audience.values if values >= MANY_VALUES else FEW
        if values >= least:
            diverse.append(DistinctDiversity(name, least))
    return (*counting, *diverse)


def _costly(privacy: Sequence[Model], encoded: Mapping[str, Column], k: int) -> list[str]:
    """Promises that leave few groups: each group needs a row that has not the most frequent value."""
    told = []
    for model in privacy:
        if isinstance(model, DistinctDiversity):
            counts = encoded[model.column].counts()
            rows, most = int(counts.sum()), int(counts.max())
            if FEW_GROUPS * k * (rows - most) < rows:
                told.append(
                    f"'{model.column}' is the same in {most:,} of {rows:,} rows: since every group shows "
                    f"{model.l} of its values, there are at most {rows - most:,} groups, and other columns "
                    "lose much; --publish, --qi or --identifier says otherwise"
                )
    return told


def _require_enough(table: Table, encoded: Mapping[str, Column], k: int, person: str | None) -> None:
    rows = table.num_rows if person is None else _different(encoded[person])
    if rows < k and person is None:
        raise NoSolutionError(
            "job.no-group-can-largest",
            "there {rows:is|are} {rows} {rows:row|rows}: no group can have {k} (the largest possible k is "
            "{rows})",
            rows=rows,
            k=k,
        )
    if rows < k:
        raise NoSolutionError(
            "job.no-group-people-largest",
            "there {rows:is|are} {rows} different {rows:value|values} of '{person}': no group can have {k} "
            "(the largest possible k is {rows})",
            rows=rows,
            person=person,
            k=k,
        )
