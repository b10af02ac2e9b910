"""S7 and S8: the package is made k-anonymous with the least loss, then l-diverse.

No row is ever invented, whatever that would save: it would falsify the research that the package is for.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.exchange.checking.rarity import KnownAttribute
from tarnkappe.exchange.checking.unverified_package import (
    UnverifiedPackage,
    class_ids,
    without_constant,
    without_telling_others,
)
from tarnkappe.exchange.policy import Thresholds
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job import Result, anonymize
from tarnkappe.job.release import plain, random_order, release_table
from tarnkappe.job.search_plan import create_algorithm
from tarnkappe.privacy import DistinctDiversity, KAnonymity, Model, XYLinkability
from tarnkappe.recoding.deadline import by_counted_work
from tarnkappe.table import SUPPRESSED, Role, Table
from tarnkappe.table.encoding import Progress, encode_column
from tarnkappe.table.grouping import group_codes

Rows = npt.NDArray[np.int64]
LARGER = (2, 4)
"""How many times larger groups are tried where those of k are not diverse."""


class NotEnoughError(NoSolutionError):
    """The selection is too uniform or too small to be protected."""


class CannotHideError(NotEnoughError):
    """Hiding conspicuous values of the main sensitive column would leave too few others to see."""


def protect(
    table: Table,
    known: Sequence[KnownAttribute],
    levels: Mapping[str, int],
    sensitive: Sequence[str],
    limits: Thresholds,
    *,
    hide: Callable[[UnverifiedPackage], UnverifiedPackage] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> UnverifiedPackage:
    """Make a selection k-anonymous, then l-diverse.

    Args:
        table: the selection; the patient is its identifier, columns that are withheld are not in it.
        known: its quasi-identifiers.
        levels: the level that each of them has at least.
        sensitive: its sensitive columns, the most harmful first.
        limits: what must be kept.
        hide: hides conspicuous values among others, once the groups are known.
        seed: for tests: makes the order of the rows reproducible.
        progress: told about the progress of long work.

    Raises:
        NotEnoughError: if even with all quasi-identifiers withheld too few people or values are left.
        CannotHideError: if they are, but not without the values that have to be hidden.
    """
    k_model = KAnonymity(limits.k)
    diversity = [model for name in sensitive[:1] for model in diversity_of(name, limits)]
    _require_values(table, sensitive[:1], limits)
    if not known:
        return without_telling_others(
            _hidden(_without_known(table, seed), sensitive, limits, hide), sensitive, limits, seed
        )
    maker = _Maker(table, known, levels, limits, seed, progress)
    told: list[str] = []
    drafted = maker.at_once([k_model])
    if drafted is not None:
        told.append(f"Everybody already looks like at least {limits.k - 1} others.")
    elif limits.method == "k-optimize":
        drafted = maker.by_intervals(k_model)
        told.append(f"Intervals were chosen so that everybody looks like at least {limits.k - 1} others.")
    elif limits.method == "mondrian" and (regions := maker.by_regions([k_model, *diversity])) is not None:
        drafted = regions
        told.append(f"Regions were cut so that everybody looks like at least {limits.k - 1} others.")
    else:
        drafted = maker.by_levels([k_model])
        told.append(f"Values were generalized until everybody looks like at least {limits.k - 1} others.")
    if diversity and not keeps_values_open(drafted.release, sensitive[0], limits):
        drafted = maker.diverse([k_model, *diversity], sensitive[0])
        told.append(
            f"A group gave the sensitive value away, so values were generalized until {limits.l} remain "
            f"possible for everybody, none with a share above {limits.share:g}."
        )
    elif diversity:
        told.append(f"At least {limits.l} sensitive values remain possible for everybody.")
    drafted = dataclasses.replace(without_constant(drafted, known), told=tuple(told))
    return without_telling_others(_hidden(drafted, sensitive, limits, hide), sensitive, limits, seed)


def _hidden(
    draft: UnverifiedPackage,
    sensitive: Sequence[str],
    limits: Thresholds,
    hide: Callable[[UnverifiedPackage], UnverifiedPackage] | None,
) -> UnverifiedPackage:
    """The draft with conspicuous values hidden among others."""
    if hide is None:
        return draft
    draft = hide(draft)
    if sensitive and not keeps_values_open(draft.release, sensitive[0], limits):
        raise CannotHideError(
            "exchange.too-few-values-left", "too few values are left beside those that have to be hidden"
        )
    return draft


def diversity_of(column: str, limits: Thresholds) -> list[Model]:
    """What a package must keep of a sensitive column."""
    return [DistinctDiversity(column, limits.l), XYLinkability((column,), limits.share)]


def keeps_values_open(release: Table, column: str, limits: Thresholds) -> bool:
    """Whether every group has enough values of a sensitive column, and none of them too often."""
    if least_diversity(release, column) < limits.l:
        return False
    return greatest_share(release.data.column(column), class_ids(release)) <= limits.share


def greatest_share(column: pa.ChunkedArray, groups: Rows) -> float:
    """The greatest share that one value has of a group; suppressed cells are no values.

    >>> values = pa.chunked_array([["flu", "flu", "HIV", "*", "flu"]])
    >>> greatest_share(values, np.array([0, 0, 0, 0, 1]))
    1.0
    """
    own = encode_column("values", plain(column))
    visible = np.array([label != SUPPRESSED for label in own.labels], dtype=bool)[own.codes]
    counts = np.zeros((int(groups.max(initial=-1)) + 1, own.cardinality), np.int64)
    np.add.at(counts, (groups[visible], own.codes[visible]), 1)
    sizes = np.bincount(groups, minlength=len(counts))
    return float((counts.max(axis=1, initial=0) / np.maximum(sizes, 1)).max(initial=0.0))


def least_diversity(release: Table, column: str) -> int:
    """The least number of values of a sensitive column in any group; suppressed cells are no values."""
    return int(values_by_group(release.data.column(column), class_ids(release)).min(initial=release.num_rows))


def values_by_group(column: pa.ChunkedArray, groups: Rows) -> Rows:
    """How many different values each group has that occurs; suppressed cells are no values."""
    own = encode_column("values", plain(column))
    visible = np.array([label != SUPPRESSED for label in own.labels], dtype=bool)[own.codes]
    ids = groups.astype(np.int32)
    number = int(ids.max(initial=-1)) + 1
    pairs = group_codes([ids[visible], own.codes[visible]], [number, own.cardinality])
    values = np.bincount(ids[visible][pairs.representatives], minlength=number)
    return values[np.bincount(ids, minlength=number) > 0]


def _require_values(table: Table, sensitive: Sequence[str], limits: Thresholds) -> None:
    if table.num_rows < max(limits.k, limits.l):
        raise NotEnoughError(
            "exchange.too-few-people-left", "too few people are left to hide among each other"
        )
    for name in sensitive:
        if not is_diverse(table.data, name, limits):
            raise NotEnoughError(
                "exchange.too-few-different-values",
                "'{name}' has too few different values to hide anybody's",
                name=name,
            )


def is_diverse(data: pa.Table, column: str, limits: Thresholds) -> bool:
    """Whether all people together have enough values, none too often; suppressed cells are no values."""
    everybody = Table(data.select([column]), {column: Role.SENSITIVE})
    return bool(data.num_rows) and keeps_values_open(everybody, column, limits)


def _without_known(table: Table, seed: int | None) -> UnverifiedPackage:
    """All rows are one group: nothing that an attacker may know is in them."""
    rows = random_order(table.num_rows, seed)
    release = release_table(table, {}, rows)
    return UnverifiedPackage(
        release, rows, (), {}, ("Nothing that identifies anybody is left in the package.",)
    )


class _Maker:
    """Makes drafts of one selection."""

    def __init__(
        self,
        table: Table,
        known: Sequence[KnownAttribute],
        levels: Mapping[str, int],
        limits: Thresholds,
        seed: int | None,
        progress: Progress | None,
    ) -> None:
        self._table, self._known, self._levels, self._limits = table, known, levels, limits
        self._seed, self._progress = seed, progress

    def at_once(self, models: Sequence[Model]) -> UnverifiedPackage | None:
        """The selection at the levels that it must have at least, if that is enough."""
        columns = [each.column for each in self._known]
        codes = [each.labels_of_rows(self._levels[each.name]) for each in self._known]
        groups = group_codes(codes, [each.levels.distinct(self._levels[each.name]) for each in self._known])
        if np.bincount(groups.ids, minlength=groups.num_groups).min() < self._limits.k:
            return None
        fixed = {column.name: (self._levels[column.name],) * 2 for column in columns}
        return self._run(models, fixed, "auto", "precision")

    def by_levels(self, models: Sequence[Model]) -> UnverifiedPackage:
        """The levels with the least loss; an attribute at the root is withheld."""
        weights = {each.name: each.price for each in self._known if each.price != math.inf}
        return self._run(models, self._ranges(), "auto", {"name": "precision", "weights": weights})

    def by_intervals(self, model: Model) -> UnverifiedPackage:
        """The intervals with the least discernibility that its share of the time allows."""
        method = create_algorithm("k-optimize", {"seconds": self._limits.seconds / (1 + len(LARGER))})
        return _sharpened(
            self._run([model], self._ranges(), method, "discernibility"), self._known, self._levels
        )

    def diverse(self, models: Sequence[Model], main: str) -> UnverifiedPackage:
        """What keeps models that look at sensitive values, too.

        Intervals are chosen by sizes alone, so they are looked for with larger groups, which are more
        diverse; levels are taken where they lose less.
        """
        if self._limits.method == "mondrian":
            regions = self.by_regions(models)
            if regions is not None:
                return regions
        found = [self.by_levels(models)]
        if self._limits.method == "k-optimize" and self._table.num_rows >= LARGER[0] * self._limits.k:
            for factor in LARGER:
                try:
                    intervals = self.by_intervals(KAnonymity(factor * self._limits.k))
                except NotEnoughError:
                    break
                if keeps_values_open(intervals.release, main, self._limits):
                    found.append(intervals)
                    break
        return min(found, key=_discernibility)

    def by_regions(self, models: Sequence[Model]) -> UnverifiedPackage | None:
        """Regions, as many as the models allow, of values that are generalized as far as they must be.

        None where a column must not be changed, or where a region has a range of its own that is rare.
        """
        if any(each.price == math.inf for each in self._known):
            return None
        data, hierarchies = self._table.data, {}
        for each in self._known:
            level, labels = self._levels[each.name], each.levels.labels
            if level:
                words = pa.array(labels[level], pa.string()).take(pa.array(each.labels_of_rows(level)))
                data = data.set_column(
                    data.column_names.index(each.name), each.name, pa.chunked_array([words])
                )
            rows = {row[level]: row[level:] for row in each.hierarchy.rows()}
            hierarchies[each.name] = Hierarchy.from_rows([list(row) for row in rows.values()])
        method = create_algorithm("mondrian", {"seconds": self._limits.seconds})
        draft = self._run(models, None, method, "discernibility", Table(data, self._table.roles), hierarchies)
        rarest = min(
            pc.min(draft.release.data.column(each.name).value_counts().field("counts")).as_py()
            for each in self._known
        )
        return draft if rarest >= self._limits.rare else None

    def _ranges(self) -> dict[str, tuple[int, int]]:
        return {
            each.name: (
                self._levels[each.name],
                self._levels[each.name] if each.price == math.inf else each.levels.height,
            )
            for each in self._known
        }

    def _run(
        self,
        models: Sequence[Model],
        levels: Mapping[str, tuple[int, int]] | None,
        algorithm: Any,
        loss: Any,
        table: Table | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> UnverifiedPackage:
        try:
            with by_counted_work():  # a busy or new machine decides as any other does
                result: Result = anonymize(
                    table or self._table,
                    privacy=models,
                    hierarchies=hierarchies or {each.name: each.hierarchy for each in self._known},
                    levels=levels,
                    loss=loss,
                    suppression_limit=self._limits.suppression,
                    algorithm=algorithm,
                    seed=self._seed,
                    progress=self._progress,
                )
        except (NoSolutionError, ParameterError):
            raise NotEnoughError(
                "exchange.no-generalization-protects-everybody", "no generalization protects everybody"
            ) from None
        return UnverifiedPackage(result.release, result.source_rows, (), result.levels, ())


def _discernibility(draft: UnverifiedPackage) -> int:
    return int((np.bincount(class_ids(draft.release)) ** 2).sum())


def _sharpened(
    draft: UnverifiedPackage, known: Sequence[KnownAttribute], levels: Mapping[str, int]
) -> UnverifiedPackage:
    """The same groups, each column in its finest words that split none of them.

    A method that minimizes the sizes of groups does not care whether a column is coarser than they need.
    """
    ids, data = class_ids(draft.release), draft.release.data
    for each in known:
        for level in range(levels[each.name], each.levels.height):
            codes = each.labels_of_rows(level)[draft.source_rows]
            pairs = np.unique(np.stack([ids, codes], axis=1), axis=0)
            if len(pairs) == len(np.unique(ids)):
                words = pa.array(each.levels.labels[level], pa.string()).take(pa.array(codes))
                fine = pa.chunked_array([each.column.values.take(pa.array(codes)) if level == 0 else words])
                written = data.column(each.name)
                if len(fine.unique()) >= len(written.unique()):
                    data = data.set_column(data.column_names.index(each.name), each.name, fine)
                break
    return dataclasses.replace(draft, release=Table(data, draft.release.roles))


def selection(base: pa.Table, patient: str, roles: Mapping[str, Role]) -> Table:
    """The rows of a selection with the columns that may be released, and who each row is about."""
    names = [patient, *(name for name in roles if name != patient)]
    return Table(base.select(names), {**roles, patient: Role.IDENTIFIER})
