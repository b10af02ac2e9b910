"""Small random worlds: people with a secret, and what was released of them. The tests know the secret."""

from __future__ import annotations

import dataclasses
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.privacy import DistinctDiversity
from tarnkappe.risk import Target
from tarnkappe.risk.attacks import Background, ExclusionRule, Function, Listing, PublishedAggregate
from tarnkappe.table import SUPPRESSED, Table

KNOWN = ("a", "b")
DOMAIN = ["00", "01", "10", "11"]
DISEASES = ["flu", "cold", "ulcer"]
HIERARCHY = Hierarchy.from_rows([[value, f"{value[0]}*", "*"] for value in DOMAIN])

Person = dict[str, Any]


def cell(value: str, level: int) -> str:
    """A value with as many characters starred as the level says."""
    return (value, f"{value[0]}*", SUPPRESSED)[level]


def covers(released: str, value: str) -> bool:
    return released == SUPPRESSED or all(c in (SUPPRESSED, v) for c, v in zip(released, value, strict=True))


def agree(ours: str, theirs: str) -> bool:
    return SUPPRESSED in (ours, theirs) or all(
        x == y or SUPPRESSED in (x, y) for x, y in zip(ours, theirs, strict=True)
    )


def together(ours: str, theirs: str) -> str:
    """The cell that says what two cells say."""
    if ours == SUPPRESSED or theirs == SUPPRESSED:
        return theirs if ours == SUPPRESSED else ours
    return "".join(y if x == SUPPRESSED else x for x, y in zip(ours, theirs, strict=True))


@dataclasses.dataclass(frozen=True)
class Release:
    """Rows that were released, in their order; `people` tells whose they are (only the tests know)."""

    people: list[int]
    rows: list[Person]

    @property
    def table(self) -> Table:
        data = pa.table({n: pa.array([r[n] for r in self.rows], pa.string()) for n in (*KNOWN, "disease")})
        return Table(data).with_roles(quasi_identifiers=KNOWN, sensitive=["disease"])

    def classes(self) -> dict[tuple[str, ...], list[int]]:
        """The places of the rows of each class."""
        found: dict[tuple[str, ...], list[int]] = {}
        for place, row in enumerate(self.rows):
            found.setdefault(tuple(row[name] for name in KNOWN), []).append(place)
        return found

    def candidates(self, person: Person) -> list[Person]:
        return [row for row in self.rows if all(covers(row[name], person[name]) for name in KNOWN)]


@dataclasses.dataclass(frozen=True)
class World:
    """Everybody, the releases (the newest first), and what the attacker has beside them."""

    everybody: list[Person]
    releases: list[Release]
    known: list[int]
    rules: tuple[ExclusionRule, ...] = ()
    answers: tuple[PublishedAggregate, ...] = ()
    listings: tuple[Listing, ...] = ()
    groups: list[int] = dataclasses.field(default_factory=list)
    second_order: list[int] = dataclasses.field(default_factory=list)
    minimal_for: DistinctDiversity | None = None

    @property
    def people(self) -> list[Person]:
        return [self.everybody[index] for index in self.known]

    @property
    def target(self) -> Target:
        people = pa.table({n: pa.array([p[n] for p in self.people], pa.string()) for n in ("name", *KNOWN)})
        newest = self.releases[0]
        rows, second = newest.table, None
        if self.groups:
            numbered = rows.data.append_column("group", pa.array(self.groups)).drop_columns("disease")
            rows = Table(numbered).with_roles(quasi_identifiers=KNOWN)
            order = self.second_order
            second = Table(
                pa.table(
                    {
                        "group": [self.groups[i] for i in order],
                        "disease": [newest.rows[i]["disease"] for i in order],
                    }
                )
            )
        return Target.of(
            rows,
            Background(
                people=Table(people).with_roles(identifiers=["name"]) if self.known else None,
                earlier={f"release {i}": r.table for i, r in enumerate(self.releases[1:], 1)},
                rules=self.rules,
                answers=self.answers,
                listings=self.listings,
                sensitive_table=second,
                minimal_for=self.minimal_for,
                hierarchies=dict.fromkeys(KNOWN, HIERARCHY) if self.minimal_for else {},
            ),
        )


@st.composite
def populations(draw: st.DrawFn, most: int = 6) -> list[Person]:
    number = draw(st.integers(2, most))
    values = st.sampled_from(DOMAIN[: draw(st.integers(2, 4))])
    return [
        {
            "name": f"P{index}",
            "a": draw(values),
            "b": draw(st.sampled_from(DOMAIN[: draw(st.integers(1, 4))])),
            "disease": draw(st.sampled_from(DISEASES)),
        }
        for index in range(number)
    ]


@st.composite
def releases(
    draw: st.DrawFn, everybody: list[Person], members: list[int], *, hiding: bool = False, local: bool = True
) -> Release:
    """Some people, generalized as a whole or row by row; some diseases may be suppressed."""
    by_row = local and draw(st.booleans())
    whole = [draw(st.integers(0, 2)) for _ in KNOWN]
    rows = []
    for index in members:
        levels = [draw(st.integers(0, 2)) for _ in KNOWN] if by_row else whole
        row = {name: cell(everybody[index][name], level) for name, level in zip(KNOWN, levels, strict=True)}
        hidden = hiding and draw(st.integers(0, 5)) == 0
        rows.append({**row, "disease": SUPPRESSED if hidden else everybody[index]["disease"]})
    return Release(members, rows)


@st.composite
def same_people(draw: st.DrawFn, *, ordered: bool = False, earlier: int = 2) -> World:
    """Several releases of the same people, in the same or in any order."""
    everybody = draw(populations(5))
    members = list(range(len(everybody)))
    number = 1 + draw(st.integers(1, earlier))
    made = []
    for _ in range(number):
        order = members if ordered else draw(st.permutations(members))
        made.append(draw(releases(everybody, list(order))))
    return World(everybody, made, members)


@st.composite
def sampled(draw: st.DrawFn, *, hiding: bool = False, earlier: int = 2) -> World:
    """Releases of any of the people; the attacker knows of those who are in all of them."""
    everybody = draw(populations())
    index = st.sampled_from(range(len(everybody)))
    number = 1 + draw(st.integers(0, earlier))
    made = [
        draw(releases(everybody, draw(st.lists(index, unique=True, min_size=1)), hiding=hiding))
        for _ in range(number)
    ]
    everywhere = [i for i in range(len(everybody)) if all(i in release.people for release in made)]
    return World(everybody, made, everywhere)


@st.composite
def ruled(draw: st.DrawFn) -> World:
    """One release, and true rules about the people in it."""
    world = draw(sampled(hiding=True, earlier=0))
    rules = []
    for _ in range(draw(st.integers(1, 3))):
        person = draw(st.sampled_from(world.people))
        where = {name: person[name] for name in draw(st.sets(st.sampled_from(["name", *KNOWN])))}
        about = [p for p in world.people if all(p[name] == value for name, value in where.items())]
        had = {p["disease"] for p in about}
        excludes = draw(
            st.sets(st.sampled_from([d for d in DISEASES if d not in had] or ["none"]), min_size=1)
        )
        rules.append(ExclusionRule("disease", tuple(sorted(excludes)), where))
    return dataclasses.replace(world, rules=tuple(rules))


@st.composite
def registered(draw: st.DrawFn) -> World:
    """One release of some of the people; the attacker knows of everybody."""
    everybody = draw(populations())
    members = draw(st.lists(st.sampled_from(range(len(everybody))), unique=True, min_size=1))
    return World(everybody, [draw(releases(everybody, members, hiding=True))], list(range(len(everybody))))


@st.composite
def grown(draw: st.DrawFn) -> World:
    """Two releases between which people only joined, or only left; cells stay as they were."""
    everybody = draw(populations())
    index = st.sampled_from(range(len(everybody)))
    some = draw(st.lists(index, unique=True, min_size=1))
    more = list(dict.fromkeys([*some, *draw(st.lists(index, unique=True))]))
    first, second = (some, more) if draw(st.booleans()) else (more, some)
    made = [draw(releases(everybody, members, hiding=True)) for members in (first, second)]
    return World(everybody, made, [])


@st.composite
def minimal(draw: st.DrawFn) -> World:
    """A release with the fewest generalization steps that make it distinct l-diverse, if there is one."""
    everybody = draw(populations())
    number = draw(st.integers(2, 3))
    nodes = sorted(((i, j) for i in range(3) for j in range(3)), key=sum)
    good = [node for node in nodes if is_diverse(everybody, node, number)]
    chosen = [node for node in good if sum(node) == sum(good[0])] if good else [(2, 2)]
    levels = draw(st.sampled_from(chosen))
    rows = [
        {**{n: cell(p[n], level) for n, level in zip(KNOWN, levels, strict=True)}, "disease": p["disease"]}
        for p in everybody
    ]
    members = list(range(len(everybody)))
    model = DistinctDiversity("disease", number) if good else DistinctDiversity("disease", 1)
    return World(everybody, [Release(members, rows)], members, minimal_for=model)


def is_diverse(everybody: list[Person], levels: tuple[int, ...], number: int) -> bool:
    values: dict[tuple[str, ...], set[str]] = {}
    for person in everybody:
        key = tuple(cell(person[n], level) for n, level in zip(KNOWN, levels, strict=True))
        values.setdefault(key, set()).add(person["disease"])
    return all(len(some) >= number for some in values.values())


@st.composite
def anatomized(draw: st.DrawFn) -> World:
    """An Anatomy release: exact values with groups, and values with groups, in the same order or not."""
    everybody = draw(populations())
    members = list(range(len(everybody)))
    rows = [{**{name: person[name] for name in KNOWN}, "disease": person["disease"]} for person in everybody]
    groups = [draw(st.integers(1, 2)) for _ in members]
    order = members if draw(st.booleans()) else list(draw(st.permutations(members)))
    known = draw(st.lists(st.sampled_from(members), unique=True))
    return World(
        everybody, [Release(members, rows)], members if known else [], groups=groups, second_order=order
    )


@st.composite
def answered(draw: st.DrawFn) -> World:
    """True answers about some people: how many they are, how many are ill with something, sums."""
    everybody = draw(populations())
    answers = []
    for _ in range(draw(st.integers(2, 6))):
        person = draw(st.sampled_from(everybody))
        where = {name: person[name] for name in draw(st.sets(st.sampled_from(KNOWN)))}
        about = [p for p in everybody if all(p[name] == value for name, value in where.items())]
        match draw(st.integers(0, 2)):
            case 0:
                answers.append(PublishedAggregate(Function.COUNT, len(about), where))
            case 1:
                disease = draw(st.sampled_from(DISEASES))
                ill = sum(p["disease"] == disease for p in about)
                answers.append(PublishedAggregate(Function.COUNT, ill, where, "disease", disease))
            case _:
                salary = sum(10 ** int(p["name"][1:]) for p in about)
                answers.append(PublishedAggregate(Function.SUM, salary, where, "salary"))
    members = list(range(len(everybody)))
    release = draw(releases(everybody, members))
    return World(everybody, [release], members if draw(st.booleans()) else [], answers=tuple(answers))


@st.composite
def listed(draw: st.DrawFn) -> World:
    """The diseases of some people, without saying whose they are; some answers have artificial values."""
    everybody = draw(populations())
    listings = []
    for _ in range(draw(st.integers(1, 4))):
        person = draw(st.sampled_from(everybody))
        where = {name: person[name] for name in draw(st.sets(st.sampled_from(KNOWN)))}
        about = [p["disease"] for p in everybody if all(p[name] == value for name, value in where.items())]
        added = draw(st.lists(st.sampled_from(DISEASES), max_size=1))
        listings.append(Listing("disease", tuple(draw(st.permutations(about + added))), where))
    members = list(range(len(everybody)))
    return World(everybody, [draw(releases(everybody, members))], members, listings=tuple(listings))
