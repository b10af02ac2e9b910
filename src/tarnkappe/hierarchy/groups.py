"""Groups by hand: categories that belong together get one name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from tarnkappe.errors import HierarchyError, Reason
from tarnkappe.hierarchy.builder import MOST_LEVELS, MOST_MEMBERS, Builder, Domain, Labels
from tarnkappe.schema import MOST_NAMES, Listed, Name, Problem, near, param, rule
from tarnkappe.table import MISSING

Members = Annotated[Listed[Name], Meta(min_length=1, max_length=MOST_MEMBERS)]
Grouping = (
    Annotated[Mapping[Name, Members], Meta(min_length=1, max_length=MOST_NAMES)]
    | Annotated[Listed[Members], Meta(min_length=1, max_length=MOST_NAMES)]
)
"""One level: members by label, or lists of members whose label is made of their names."""


class GroupsBuilder(Builder):
    """Categories are merged as the user says; without a name a group keeps the names of its members.

    >>> import pyarrow as pa
    >>> jobs = pa.array(["Mathematiker", "Statistiker", "Lehrer"])
    >>> groups = [["Statistiker", "Mathematiker"], ["Lehrer"]]
    >>> recoded = GroupsBuilder(groups, joined_with=" oder ").build(jobs)
    >>> for row in recoded.rows(): print(*row, sep=";")
    Lehrer;Lehrer;*
    Mathematiker;Statistiker oder Mathematiker;*
    Statistiker;Statistiker oder Mathematiker;*
    """

    name = "groups"

    groups: Annotated[
        Grouping | None, param("the only level: values by label, or lists of values", kind="values", start={})
    ] = None
    levels: Annotated[
        Annotated[Listed[Grouping], Meta(min_length=1, max_length=MOST_LEVELS)] | None,
        param(
            "instead of groups, several levels; from the second on, members are labels of the level before",
            kind="values",
        ),
    ] = None
    others: Annotated[
        Literal["refuse", "keep", "merge"],
        param(
            "what happens to values that are not listed: they are refused, keep their names or become one",
            start="keep",
        ),
    ] = "refuse"
    other: Annotated[Name, param("the label of merged values")] = "other"
    joined_with: Annotated[Name, param("what stands between the names of a group without a label")] = " or "

    def rules(self) -> Iterator[Problem]:
        """There are groups, and on every level a value is in one of them only."""
        if (self.groups is None) == (self.levels is None):
            yield rule("groups.one-way", "groups needs either groups or levels")
            return
        for level in range(1, self.height):
            self._label_of(level)

    @classmethod
    def examples(cls) -> tuple[GroupsBuilder, ...]:
        """Instances for the common tests."""
        return (
            cls({"few": ("0", "1", "a"), "some": ("b", "2", MISSING)}, others="merge"),
            cls((("0", "1"), ("a", "b")), others="keep"),
            cls(levels=({"x": ("a", "b"), "y": ("0",)}, {"z": ("x", "y")}), others="merge", other="rest"),
        )

    @property
    def height(self) -> int:
        """One level for each grouping, and the root."""
        return len(self._groupings) + 1

    @property
    def looks_at_data(self) -> bool:
        """All groups are as they are written."""
        return False

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
        for label, members in self._named(grouping):
            for member in members:
                if labels.setdefault(member, label) != label:
                    raise HierarchyError(
                        "hierarchy.groups-lists-twice-level",
                        "groups lists '{member}' twice on level {level}: under '{labels}' and '{label}'",
                        member=member,
                        level=level,
                        labels=labels[member],
                        label=label,
                    )
        return labels

    def _named(self, grouping: Grouping) -> list[tuple[str, Sequence[str]]]:
        if isinstance(grouping, Mapping):
            return list(grouping.items())
        return [(self.joined_with.join(members), members) for members in grouping]

    def _generalized(self, text: str, level: int, label_of: Mapping[str, str], domain: Domain) -> str:
        if text in label_of:
            return label_of[text]
        if self.others == "keep" or text == MISSING:
            return text
        if self.others == "merge":
            return self.other
        raise HierarchyError(
            "hierarchy.groups-lacks-level-add",
            "groups lacks '{text}' of {owner} on level {level}: add it to a group, or set others to keep or"
            " merge",
            text=text,
            owner=domain.owner,
            level=level,
        )


def _check_members(level: int, label_of: Mapping[str, str], below: set[str]) -> None:
    for member in label_of:
        if member not in below:
            meant = near(member, below)
            hint = Reason("hierarchy.meant", "; did you mean '{meant}'?", meant=meant[0]) if meant else ""
            raise HierarchyError(
                "hierarchy.groups-lists-level-no-label",
                "groups lists '{member}' on level {level}, which is no label of level {level_2}{hint}",
                member=member,
                level=level,
                level_2=level - 1,
                hint=hint,
            )
