"""S9: a package is verified from its values, by code that had no part in making it.

A `Verified` package is made here and nowhere else, and only if every check holds; no recommendation to
release can be made without one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.exchange.checking.rarity import KnownAttribute
from tarnkappe.exchange.checking.unverified_package import UnverifiedPackage
from tarnkappe.exchange.findings import Finding, count
from tarnkappe.exchange.policy import Thresholds
from tarnkappe.exchange.statistics.profile import as_range, bounds
from tarnkappe.job.release import plain
from tarnkappe.privacy import DistinctDiversity, KAnonymity, Model
from tarnkappe.privacy.verify import Verification
from tarnkappe.privacy.verify import verify as verify_in_sql
from tarnkappe.recoding.labels import LabelReader
from tarnkappe.risk import IdentifierScan, attack, find_identifiers
from tarnkappe.table import MISSING, SUPPRESSED, Role, Table
from tarnkappe.table.encoding import as_text

_SEAL = object()


@dataclasses.dataclass(frozen=True, eq=False)
class Inquiry:
    """Everything that a package is verified against.

    Attributes:
        draft: the package.
        base: the selection that it was made from, with who each row is about.
        known: the quasi-identifiers that are released or were withheld.
        sensitive: the sensitive columns, the most harmful first.
        allowed: the columns that may be in the package.
        identifiers: the columns that name a person by themselves.
        limits: what must be kept.
        least: how many people there must be.
        detail: the least level of each quasi-identifier that the purpose needs.
    """

    draft: UnverifiedPackage
    base: pa.Table
    known: Sequence[KnownAttribute]
    sensitive: Sequence[str]
    allowed: Sequence[str]
    identifiers: Sequence[str]
    limits: Thresholds
    least: int
    detail: Mapping[str, int]

    @property
    def release(self) -> Table:
        """The package."""
        return self.draft.release

    @property
    def models(self) -> list[Model]:
        """What was promised."""
        main = [name for name in self.sensitive[:1] if name in self.release.column_names]
        return [KAnonymity(self.limits.k), *(DistinctDiversity(name, self.limits.l) for name in main)]

    @cached_property
    def scan(self) -> IdentifierScan:
        """Identifiers that are found in the cells of the package, whatever its columns are called."""
        return find_identifiers(self.release)

    @cached_property
    def measured(self) -> list[Verification]:
        """What SQL finds of the promises, in the values of the package."""
        with _engine().cursor() as connection:
            connection.register("release", self.release.data)
            connection.register("input", self.base)
            return verify_in_sql(connection, self.models, self.draft.quasi_identifiers)


@dataclasses.dataclass(frozen=True, eq=False)
class Verified:
    """A package that passed every check.

    Attributes:
        release: its rows.
        k: how many people look alike at least.
        l: how many values of the main sensitive column remain possible at least; None without one.
        safe_harbor: whether none of HIPAA's 18 identifiers was found.
        people: the rows of the selection that are in it, in the order of the package. It stays in the house.
    """

    release: Table
    k: int
    l: int | None  # noqa: E741
    safe_harbor: bool
    people: tuple[int, ...]
    seal: dataclasses.InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("a verified package is made by verification only")


Check = Callable[[Inquiry], str]
"""Says what is wrong; nothing if all is well."""


def verify(
    inquiry: Inquiry, checks: Sequence[Check] | None = None
) -> tuple[Verified | None, tuple[Finding, ...]]:
    """Run all checks; a package that fails one is not verified, whatever the others say."""
    failures = []
    for check in CHECKS if checks is None else (*CHECKS, *checks):
        try:
            wrong = check(inquiry)
        except Exception as error:  # whatever goes wrong here must not let anything out
            wrong = f"it could not be verified ({type(error).__name__})"
        if wrong:
            failures.append(Finding("not verified", f"{check.__name__.replace('_', ' ')}: {wrong}"))
    if failures:
        return None, tuple(failures)
    values = {part.model.name: part.value for part in inquiry.measured}
    diversity = values.get(DistinctDiversity.name)
    return (
        Verified(
            inquiry.release,
            int(values[KAnonymity.name] or 0),
            None if diversity is None else int(diversity),
            inquiry.scan.holds,
            tuple(inquiry.draft.source_rows.tolist()),
            seal=_SEAL,
        ),
        (),
    )


def only_what_was_allowed(inquiry: Inquiry) -> str:
    """No identifier, and nothing that was not asked for, dropped or withheld."""
    names = inquiry.release.column_names
    if left := [name for name in names if name in inquiry.identifiers]:
        return f"it still has {', '.join(left)}"
    foreign = [name for name in names if name not in inquiry.allowed]
    return f"it has {', '.join(foreign)}, which may not leave" if foreign else ""


def no_identifiers_in_cells(inquiry: Inquiry) -> str:
    """No column holds names, addresses or numbers that identify somebody, whatever the catalogue says."""
    found = [
        column.column
        for column in inquiry.scan.columns
        if any(finding.role is Role.IDENTIFIER for finding in column.findings)
    ]
    return f"{', '.join(found)} may hold identifiers" if found else ""


def enough_different_people(inquiry: Inquiry) -> str:
    """Every row is one person's, nobody's is there twice or invented, and there are enough."""
    rows = inquiry.draft.source_rows
    if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < inquiry.base.num_rows:
        return "a row belongs to nobody of the selection"
    if len(rows) != inquiry.release.num_rows or int(np.bincount(rows).max(initial=0)) > 1:
        return "its rows are not one for each person"
    return "" if len(rows) >= inquiry.least else "too few people are left"


def protected_groups(inquiry: Inquiry) -> str:
    """k-anonymity on all quasi-identifiers together and l-diversity, asked in SQL."""
    broken = [str(part.model) for part in inquiry.measured if not part.holds]
    return f"it does not meet {', '.join(broken)}" if broken else ""


def true_cells(inquiry: Inquiry) -> str:
    """Every generalized cell covers the value that it was made from; all others are that value, or '*'."""
    source = pa.array(inquiry.draft.source_rows)
    readers = {each.name: LabelReader(each.column) for each in inquiry.known}
    for name in inquiry.release.column_names:
        pairs = _pairs(inquiry.base.column(name).take(source), inquiry.release.data.column(name))
        if name not in readers:
            if any(written not in (original, SUPPRESSED) for original, written in pairs):
                return f"a cell of '{name}' is not the patient's"
            continue
        labels = next(each.column.labels for each in inquiry.known if each.name == name)
        place = {label: code for code, label in enumerate(labels)}
        for original, written in pairs:
            meaning = readers[name].meaning(written)
            if meaning is None or place[original] not in meaning:
                return f"a cell of '{name}' does not cover the patient's value"
    return ""


def no_rare_value(inquiry: Inquiry) -> str:
    """No value of a quasi-identifier is left that fewer people have than the policy wants."""
    for name in inquiry.draft.quasi_identifiers:
        if min(_counts(inquiry.release.data.column(name)).values()) < inquiry.limits.rare:
            return f"a value of '{name}' is rare"
    return ""


def no_more_detail_than_asked(inquiry: Inquiry) -> str:
    """No column is finer than the purpose needs."""
    for each in inquiry.known:
        least = inquiry.detail.get(each.name, 0)
        if each.name not in inquiry.draft.quasi_identifiers or not least:
            continue
        finer = {label for level in range(least) for label in each.levels.labels[level]}
        finer -= {
            label for level in range(least, each.levels.height + 1) for label in each.levels.labels[level]
        }
        if finer & set(_counts(inquiry.release.data.column(each.name))):
            return f"'{each.name}' is finer than the purpose needs"
    return ""


def no_value_too_likely(inquiry: Inquiry) -> str:
    """No value of a sensitive column has a greater share of a group than the policy allows."""
    known = list(inquiry.draft.quasi_identifiers)
    for name in [name for name in inquiry.sensitive if name in inquiry.release.column_names]:
        columns = {each: inquiry.release.data.column(each) for each in (*known, name)}
        sizes: dict[tuple[str, ...], int] = {}
        found = _grouped(columns)
        for words, number in found:
            sizes[words[:-1]] = sizes.get(words[:-1], 0) + number
        visible = [(words, number) for words, number in found if words[-1] != SUPPRESSED]
        if any(number > inquiry.limits.share * sizes[words[:-1]] + 1e-9 for words, number in visible):
            return f"a value of '{name}' is too likely in a group"
    return ""


def attacks_fail(inquiry: Inquiry) -> str:
    """Nobody's sensitive value is learned by homogeneity, or by excluding one value fewer than l protects."""
    for name in inquiry.sensitive[:1]:
        if name not in inquiry.release.column_names:
            continue
        if not inquiry.draft.quasi_identifiers:
            return "" if len(_counts(inquiry.release.data.column(name))) > 1 else "all values are alike"
        exclusions = max(inquiry.limits.l - 2, 0)
        tried = (
            attack("homogeneity", inquiry.release, shown=0, column=name),
            attack("background-knowledge", inquiry.release, shown=0, column=name, exclusions=exclusions),
        )
        victims = max(found.victims for found in tried)
        if victims:
            return f"'{name}' of {count(victims)} can be learned"
    return ""


def balanced(inquiry: Inquiry) -> str:
    """No share of a value is further from that in the population than the policy allows, if known.

    Regions write ranges that overlap: how many people are in one of them is then known between two bounds.
    """
    for each in inquiry.known:
        distribution = each.selected or each.everybody
        if each.name not in inquiry.draft.quasi_identifiers or not distribution:
            continue
        found = _counts(inquiry.release.data.column(each.name))
        labels = list(found)
        shares = np.array([found[label] for label in labels]) / inquiry.release.num_rows
        least, most = _bounds_of_overlapping(each, labels, shares)
        known = bounds(distribution, labels, each.hierarchy)
        off = np.maximum(least - known.high, known.low - most).max(initial=0.0)
        if off > inquiry.limits.imbalance:
            return f"the values of '{each.name}' are out of balance"
    return ""


def _bounds_of_overlapping(
    each: KnownAttribute, labels: Sequence[str], shares: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """At least and at most how many are in what each label means: those of labels inside it, or beside it."""
    under: dict[str, list[int]] = {}
    for place, words in enumerate(each.hierarchy.rows()):
        for word in words:
            under.setdefault(MISSING if word is None else word, []).append(place)
    numbers = each.hierarchy.numbers
    means = np.ones((len(labels), len(each.hierarchy.values)), dtype=np.int64)
    for row, label in zip(means, labels, strict=True):
        if label in under:
            row[:] = np.isin(np.arange(len(row)), under[label])
        elif numbers is not None and (found := as_range(label)) is not None:
            row[:] = found.holds(numbers)
    inside, beside = means @ (1 - means).T == 0, means @ means.T > 0
    return shares @ inside, shares @ beside


CHECKS: tuple[Check, ...] = (
    only_what_was_allowed,
    no_identifiers_in_cells,
    enough_different_people,
    protected_groups,
    true_cells,
    no_rare_value,
    no_more_detail_than_asked,
    no_value_too_likely,
    attacks_fail,
    balanced,
)
"""Everything that must hold of a package."""


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    """One engine for all packages, which spills nothing to disk; each has a connection of its own."""
    return duckdb.connect(config={"temp_directory": ""})


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    """How often each value occurs, as text."""
    return {text: number for (text,), number in _grouped({"value": column})}


def _pairs(one: pa.ChunkedArray, other: pa.ChunkedArray) -> list[tuple[str, str]]:
    """The different pairs of values of two columns, as text."""
    return [(left, right) for (left, right), _ in _grouped({"one": one, "other": other})]


def _grouped(columns: Mapping[str, pa.ChunkedArray]) -> list[tuple[tuple[str, ...], int]]:
    table = pa.table({name: plain(column) for name, column in columns.items()})
    found = table.group_by(list(columns)).aggregate([([], "count_all")])
    texts = [as_text(found.column(name).combine_chunks()).fill_null(MISSING).to_pylist() for name in columns]
    return list(zip(zip(*texts, strict=True), found.column("count_all").to_pylist(), strict=True))
