"""Groups by hand: categories that belong together get one name."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy.builder import Builder, Domain, Labels
from tarnkappe.table import MISSING

Grouping = Mapping[str, Sequence[Any]] | Sequence[Sequence[Any]]
"""One level: members by label, or lists of members whose label is made of their names."""


@dataclasses.dataclass(frozen=True)
class Groups(Builder):
    """Categories are merged as the user says; without a name a group keeps the names of its members.

    Attributes:
        groups: the only level: values by label, or lists of values.
        levels: instead of `groups`, several levels; the members of level 1 are values, those of each
            further level are labels of the level before.
        others: what happens to values and labels that are not listed: "refuse" them, "keep" them under
            their own name, or "merge" them under one label.
        other: the label of merged ones.
        joined_with: what stands between the names of a group without a label.

    >>> import pyarrow as pa
    >>> jobs = pa.array(["Mathematiker", "Statistiker", "Lehrer"])
    >>> recoded = Groups([["Statistiker", "Mathematiker"], ["Lehrer"]], joined_with=" oder ").build(jobs)
    >>> for row in recoded.rows(): print(*row, sep=";")
    Lehrer;Lehrer;*
    Mathematiker;Statistiker oder Mathematiker;*
    Statistiker;Statistiker oder Mathematiker;*
    """

    name = "groups"

    groups: Grouping | None = dataclasses.field(default=None, hash=False)
    levels: Sequence[Grouping] | None = dataclasses.field(default=None, hash=False)
    others: Literal["refuse", "keep", "merge"] = "refuse"
    other: str = "other"
    joined_with: str = " or "

    def __post_init__(self) -> None:
        if (self.groups is None) == (self.levels is None):
            raise ParameterError("groups needs either groups or levels")
        if self.others not in ("refuse", "keep", "merge"):
            raise ParameterError(f"groups needs refuse, keep or merge for others, not {self.others!r}")
        for parameter in ("other", "joined_with"):
            if not isinstance(getattr(self, parameter), str) or not getattr(self, parameter):
                raise ParameterError(f"groups needs a text for {parameter}")
        for level in range(1, self.height):
            self._label_of(level)

    @classmethod
    def examples(cls) -> tuple[Groups, ...]:
        """Instances for the common tests."""
        return (
            cls({"few": ["0", "1", "a"], "some": ["b", "2", MISSING]}, others="merge"),
            cls([["0", "1"], ["a", "b"]], others="keep"),
            cls(levels=({"x": ["a", "b"], "y": ["0"]}, {"z": ["x", "y"]}), others="merge", other="rest"),
        )

    @property
    def height(self) -> int:
        """One level for each grouping, and the root."""
        return len(self._groupings) + 1

    @property
    def listed(self) -> tuple[str, ...]:
        """The members of level 1."""
        return tuple(self._label_of(1))

    def generalize(self, domain: Domain) -> list[Labels]:
        """The group of each value on each level."""
        current = domain.texts
        levels = []
        for level in range(1, self.height):
            label_of = self._label_of(level)
            if level > 1:
                below = {*current, self.missing_labels(domain, level - 1)[-1]}
                _check_members(level, label_of, below)
            current = [self._generalized(text, level, label_of, domain) for text in current]
            levels.append(current)
        return levels

    def missing_labels(self, domain: Domain, below_root: int) -> Labels:
        """The groups that list the missing value; where none does, it stays apart."""
        labels, current = [], MISSING
        for level in range(1, below_root + 1):
            current = self._generalized(current, level, self._label_of(level), domain)
            labels.append(current)
        return labels

    @property
    def _groupings(self) -> Sequence[Grouping]:
        if self.levels is not None:
            return self.levels
        return () if self.groups is None else (self.groups,)

    def _label_of(self, level: int) -> dict[str, str]:
        """The label of each member that a level lists."""
        grouping = self._groupings[level - 1]
        labels: dict[str, str] = {}
        for label, members in self._named(grouping, level):
            for member in members:
                if labels.setdefault(member, label) != label:
                    raise HierarchyError(
                        f"groups lists '{member}' twice on level {level}: under '{labels[member]}' and "
                        f"'{label}'"
                    )
        return labels

    def _named(self, grouping: Grouping, level: int) -> list[tuple[str, list[str]]]:
        if isinstance(grouping, Mapping):
            named = [(label, _members(members, level)) for label, members in grouping.items()]
        else:
            lists = [_members(members, level) for members in grouping]
            named = [(self.joined_with.join(members), members) for members in lists]
        for label, members in named:
            if not label or not members:
                raise ParameterError(f"groups needs a label and members for every group of level {level}")
        return named

    def _generalized(self, text: str, level: int, label_of: Mapping[str, str], domain: Domain) -> str:
        if text in label_of:
            return label_of[text]
        if self.others == "keep" or text == MISSING:
            return text
        if self.others == "merge":
            return self.other
        raise HierarchyError(
            f"groups lacks '{text}' of {domain.owner} on level {level}: add it to a group, or set others to "
            "keep or merge"
        )


def _check_members(level: int, label_of: Mapping[str, str], below: set[str]) -> None:
    for member in label_of:
        if member not in below:
            near = difflib.get_close_matches(member, below, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise HierarchyError(
                f"groups lists '{member}' on level {level}, which is no label of level {level - 1}{hint}"
            )


def member_text(builder: str, member: object) -> str:
    """A member as the text under which a table shows it; job files may list numbers and dates."""
    if isinstance(member, bool):
        return str(member).lower()
    if isinstance(member, float):
        return repr(member).removesuffix(".0")
    if member is None or member == "" or isinstance(member, list | tuple | dict):
        raise ParameterError(f"{builder} needs values as members, not {member!r}")
    return str(member)


def _members(members: object, level: int) -> list[str]:
    if isinstance(members, str) or not isinstance(members, Sequence):
        raise ParameterError(f"groups needs lists of members on level {level}, not {members!r}")
    return [member_text("groups", member) for member in members]
