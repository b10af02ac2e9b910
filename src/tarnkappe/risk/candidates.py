"""What remains possible for a person who is in several releases: the intersection of her candidates.

Every release leaves a person some values: those of the classes that she fits. She has a value that all
releases leave her. If only one is left, it is hers, though every release alone may be diverse.

Explained in docs/explanation/attacks.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.risk.pairs import Pairs
from tarnkappe.table.grouping import group_codes

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclasses.dataclass(frozen=True, eq=False)
class ReleaseView:
    """One release as it shows people.

    Attributes:
        group: for each person the group that she is in, -1 if she is not in this release.
        offsets: the values of group g are `values[offsets[g]:offsets[g + 1]]`.
        values: the distinct sensitive values of each group, as codes that all releases share.
        open: groups with suppressed cells, which may stand for any value.
    """

    group: Codes
    offsets: Counts
    values: Codes
    open: Mask

    @property
    def num_groups(self) -> int:
        """How many groups the release has."""
        return len(self.offsets) - 1


def view_of(number: int, fits: Pairs, offsets: Counts, values: Codes, hidden: Mask) -> ReleaseView:
    """The view of a release in which people may fit several classes; who fits several forms a group with
    all who fit the same.

    Args:
        number: how many people there are.
        fits: the people (left) and the classes that each of them fits (right), ordered by people.
        offsets: where the values of each class begin.
        values: the distinct values of each class.
        hidden: the classes with suppressed cells.
    """
    choices = np.bincount(fits.left, minlength=number)
    group = np.full(number, -1, np.int32)
    single = choices[fits.left] == 1
    group[fits.left[single]] = fits.right[single]
    begins = np.cumsum(choices) - choices
    unions: dict[tuple[int, ...], int] = {}
    for person in np.flatnonzero(choices > 1).tolist():
        fitted = tuple(fits.right[begins[person] : begins[person] + choices[person]].tolist())
        group[person] = unions.setdefault(fitted, len(hidden) + len(unions))
    joined = [
        np.unique(np.concatenate([values[offsets[c] : offsets[c + 1]] for c in some])) for some in unions
    ]
    lengths = [*np.diff(offsets), *map(len, joined)]
    return ReleaseView(
        group=group,
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        values=np.concatenate([values, *joined]).astype(np.int32),
        open=np.concatenate([hidden, np.array([hidden[[*some]].any() for some in unions], dtype=bool)]),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Remaining:
    """What several releases leave people together.

    Attributes:
        kind: for each person her kind: people of a kind are in the same groups everywhere.
        groups: for each kind the group in each release.
        sizes: how many people are of each kind.
        offsets: the values left to kind i are `values[offsets[i]:offsets[i + 1]]`.
        values: the values left to each kind.
        limited: kinds that some release limits at all; nothing is known of the others.
    """

    kind: Codes
    groups: Codes
    sizes: Counts
    offsets: Counts
    values: Codes
    limited: Mask

    @property
    def numbers(self) -> Counts:
        """How many values are left to each kind."""
        return np.diff(self.offsets)

    def of(self, kind: int) -> Codes:
        """The values left to a kind."""
        return self.values[self.offsets[kind] : self.offsets[kind + 1]]


def remaining_values(views: Sequence[ReleaseView], weights: Counts | None = None) -> Remaining:
    """Intersect what releases leave people; `weights` tells how many people each entry stands for."""
    grouping = group_codes([view.group + 1 for view in views], [view.num_groups + 1 for view in views])
    groups = np.stack([view.group[grouping.representatives] for view in views], axis=1)
    kinds = grouping.num_groups
    number = 1 + max((int(view.values.max(initial=0)) for view in views), default=0)
    limiting = np.stack(
        [(column >= 0) & ~view.open[column] for view, column in zip(views, groups.T, strict=True)], axis=1
    )
    first = np.where(limiting.any(axis=1), limiting.argmax(axis=1), -1)
    kind_of_entry, value_of_entry = np.zeros(0, np.int64), np.zeros(0, np.int32)
    for place, view in enumerate(views):
        starts = np.flatnonzero(first == place)
        begin, end = view.offsets[groups[starts, place]], view.offsets[groups[starts, place] + 1]
        kind_of_entry = np.concatenate([kind_of_entry, np.repeat(starts, end - begin)])
        value_of_entry = np.concatenate([value_of_entry, view.values[ranges(begin, end)]])
    for place, view in enumerate(views):
        keys = np.repeat(np.arange(view.num_groups), np.diff(view.offsets)) * number + view.values
        asked = groups[kind_of_entry, place].astype(np.int64) * number + value_of_entry
        stays = ~limiting[kind_of_entry, place] | np.isin(asked, keys)
        kind_of_entry, value_of_entry = kind_of_entry[stays], value_of_entry[stays]
    order = np.lexsort((value_of_entry, kind_of_entry))
    people = np.bincount(grouping.ids, weights=weights, minlength=kinds)
    return Remaining(
        kind=grouping.ids,
        groups=groups,
        sizes=people.astype(np.int64),
        offsets=np.concatenate([[0], np.cumsum(np.bincount(kind_of_entry, minlength=kinds))]),
        values=value_of_entry[order],
        limited=first >= 0,
    )


def ranges(begin: Counts, end: Counts) -> Counts:
    """All whole numbers from each begin to below its end, one range after the other.

    >>> ranges(np.array([3, 10]), np.array([5, 11])).tolist()
    [3, 4, 10]
    """
    lengths = end - begin
    before = np.cumsum(lengths) - lengths
    shifted: Counts = np.arange(int(lengths.sum())) + np.repeat(begin - before, lengths)
    return shifted


def look_alikes(remaining: Remaining, most: int) -> Counts:
    """For each kind how many people are with it in all its groups, counted up to `most`.

    Somebody who is in some releases is looked for there only; whoever shares these groups looks the same,
    whether he is in further releases or not.
    """
    groups = remaining.groups
    return _look_alikes(groups, remaining.sizes, *_smallest_groups(groups), most)


def _smallest_groups(groups: Codes) -> tuple[Counts, Counts, Counts]:
    """For each kind the release in which its group has the fewest kinds, and the kinds by group there."""
    chosen = np.full(len(groups), -1, np.int64)
    fewest = np.full(len(groups), np.iinfo(np.int64).max)
    begins, members = [], []
    total = 0
    for place in range(groups.shape[1]):
        column = groups[:, place].astype(np.int64)
        order = np.argsort(column, kind="stable")
        counts = np.bincount(column + 1)
        begin = np.concatenate([[0], np.cumsum(counts)])[:-1]
        begins.append(np.stack([begin[column + 1] + total, counts[column + 1]]))
        members.append(order)
        total += len(order)
        better = (column >= 0) & (counts[column + 1] < fewest)
        fewest[better], chosen[better] = counts[column + 1][better], place
    at = np.stack(begins)[np.maximum(chosen, 0), :, np.arange(len(groups))]
    return np.where(chosen >= 0, at[:, 0], 0), np.where(chosen >= 0, at[:, 1], 0), np.concatenate(members)


@compiled
def _look_alikes(
    groups: Codes, sizes: Counts, begin: Counts, number: Counts, members: Counts, most: int
) -> Counts:
    # Only kinds in the same group of the rarest release are compared (`begin`, `number`), and a kind ends as
    # soon as `most` people look like it: more are never asked for. A group of -1 says that the person is not
    # in a release and agrees with everything; asking it of `other` instead would make look-alikes of people
    # who are not there.
    kinds, releases = groups.shape
    found = np.zeros(kinds, np.int64)
    for kind in range(kinds):
        for entry in range(begin[kind], begin[kind] + number[kind]):
            other = members[entry]
            same = True
            for release in range(releases):
                if groups[kind, release] >= 0 and groups[other, release] != groups[kind, release]:
                    same = False
                    break
            if same:
                found[kind] += sizes[other]
                if found[kind] >= most:
                    break
    return found
