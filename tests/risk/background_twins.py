"""A slow, obviously correct twin of every attack that needs a background, and whether its claims are true.

A twin gets the attack and the world and returns the groups of victims as (labels, size, learned, who). A
truth gets the world and one group of victims and tells from the secret whether what is claimed is so.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from tarnkappe.risk import VictimClass
from tarnkappe.risk.attacks import Function
from tarnkappe.table import SUPPRESSED
from tests.risk import scenarios
from tests.risk.scenarios import KNOWN, Person, Release, World, agree, cell, covers, together

Victim = tuple[tuple[tuple[str, str], ...], int, str, tuple[str, ...]]
Twin = Callable[[Any, World], list[Victim]]
Truth = Callable[[World, VictimClass], bool]

WORLDS = {
    "register-linking": scenarios.registered(),
    "membership": scenarios.registered(),
    "knowledge-rules": scenarios.ruled(),
    "complementary-release": scenarios.sampled(hiding=True),
    "quasi-identifier-join": scenarios.same_people(),
    "sensitive-join": scenarios.same_people(),
    "row-order": scenarios.same_people(ordered=True),
    "temporal": scenarios.grown(),
    "minimality": scenarios.minimal(),
    "anatomy-membership": scenarios.anatomized(),
    "anatomy-order": scenarios.anatomized(),
    "differencing": scenarios.answered(),
    "reconstruction": scenarios.listed(),
}
"""In which worlds what the attacker assumes is true."""

TWINS: dict[str, Twin] = {}
TRUTHS: dict[str, Truth] = {}


def twin(name: str) -> Callable[[Twin], Twin]:
    return lambda function: TWINS.setdefault(name, function)


def truth(*names: str) -> Callable[[Truth], Truth]:
    def register(function: Truth) -> Truth:
        TRUTHS.update(dict.fromkeys(names, function))
        return function

    return register


def victim(labels: dict[str, str], size: int, learned: str, who: list[str] = []) -> Victim:  # noqa: B006
    return tuple(labels.items()), size, learned, tuple(who)


def labelled(key: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(KNOWN, key, strict=True))


def kinds(people: list[Person]) -> dict[tuple[str, ...], list[Person]]:
    found: dict[tuple[str, ...], list[Person]] = {}
    for person in people:
        found.setdefault(tuple(person[name] for name in KNOWN), []).append(person)
    return found


def names(people: list[Person]) -> list[str]:
    return [person["name"] for person in people]


def fits(key: tuple[str, ...], person: Person) -> bool:
    return all(covers(released, person[name]) for released, name in zip(key, KNOWN, strict=True))


def values(rows: list[Person]) -> Counter[str]:
    return Counter(row["disease"] for row in rows)


def the_person(world: World, name: str) -> Person:
    return next(person for person in world.everybody if person["name"] == name)


@twin("register-linking")
def register_linking(attack, world):
    release, found = world.releases[0], []
    for key, places in release.classes().items():
        people = [person for person in world.people if fits(key, person)]
        if len(places) <= len(people) < attack.k:
            shown = sorted({release.rows[p]["disease"] for p in places} - {SUPPRESSED})
            told = f"which row is theirs, disease {' or '.join(shown) or 'suppressed'}"
            found.append(victim(labelled(key), len(places), told, names(people)))
    return found


@truth("register-linking")
def linked_rows_are_theirs(world, claim):
    release = world.releases[0]
    places = release.classes()[tuple(claim.labels.values())]
    return {world.everybody[release.people[p]]["name"] for p in places} <= set(claim.who)


@twin("membership")
def membership(attack, world):
    classes, found = world.releases[0].classes(), []
    fitting = {key: sum(fits(key, person) for person in world.people) for key in classes}
    for known, people in kinds(world.people).items():
        chance = max(
            (min(Fraction(len(classes[k]), fitting[k]), 1) for k in classes if fits(k, people[0])), default=0
        )
        if chance > 0 and chance >= Fraction(str(attack.confidence)):
            told = "is in the table" + ("" if chance == 1 else f" ({100 * float(chance):.0f} %)")
            found.append(victim(labelled(known), len(people), told, names(people)))
    return found


@truth("membership")
def they_are_there(world, claim):
    present = {world.everybody[index]["name"] for index in world.releases[0].people}
    return claim.certainty < 1 or set(claim.who) <= present


@twin("knowledge-rules")
def knowledge_rules(attack, world):
    found = {}
    for person in world.people:
        excluded = {
            value
            for rule in world.rules
            if all(person[name] == asked for name, asked in rule.where.items())
            for value in rule.excludes
        }
        left = values(world.releases[0].candidates(person))
        if SUPPRESSED in left or not set(left) & excluded or not set(left) - excluded:
            continue
        left = Counter({value: n for value, n in left.items() if value not in excluded})
        value = min(left, key=lambda v: (-left[v], v))
        chance = Fraction(left[value], left.total())
        if chance >= Fraction(str(attack.confidence)):
            known = tuple(person[name] for name in KNOWN)
            applied = tuple(
                all(person[name] == asked for name, asked in rule.where.items()) for rule in world.rules
            )
            found.setdefault((known, applied, value, chance), []).append(person["name"])
    return [
        victim(labelled(k), len(who), v + ("" if c == 1 else f" ({100 * float(c):.0f} %)"), who)
        for (k, _, v, c), who in found.items()
    ]


@twin("complementary-release")
def complementary_release(attack, world):
    found = []
    for known, people in kinds(world.people).items():
        left = [values(release.candidates(people[0])) for release in world.releases]
        shown = [set(some) for some in left if SUPPRESSED not in some]
        if shown and len(set.intersection(*shown)) == 1:
            told = set.intersection(*shown).pop()
            found.append(victim(labelled(known), len(people), told, names(people)))
    return found


@truth("knowledge-rules", "complementary-release", "minimality")
def they_have_the_value(world, claim):
    return claim.certainty < 1 or all(
        the_person(world, name)["disease"] in claim.learned.split(" or ") for name in claim.who
    )


def bijections(ours: Release, theirs: Release, by_value: bool) -> Iterator[tuple[int, ...]]:
    """All ways to say which row of the other release is the same person's."""
    for order in itertools.permutations(range(len(theirs.rows))):
        if all(
            all(agree(row[name], theirs.rows[p][name]) for name in KNOWN)
            and (not by_value or row["disease"] == theirs.rows[p]["disease"])
            for row, p in zip(ours.rows, order, strict=True)
        ):
            yield order


def joined(world: World, k: int, by_value: bool) -> list[Victim]:
    ours, found = world.releases[0], []
    for theirs in world.releases[1:]:
        places = {p: key for key, some in ours.classes().items() for p in some}
        other = {p: key for key, some in theirs.classes().items() for p in some}
        seen: dict[Any, set[int]] = {}
        ways = list(bijections(ours, theirs, by_value))
        cells = {
            (places[i], other[j], ours.rows[i]["disease"] if by_value else "")
            for i in places
            for j in other
            if all(agree(x, y) for x, y in zip(places[i], other[j], strict=True))
            and (not by_value or ours.rows[i]["disease"] == theirs.rows[j]["disease"])
        }
        for way in ways:
            counts = Counter(
                (places[i], other[j], ours.rows[i]["disease"] if by_value else "") for i, j in enumerate(way)
            )
            for key in cells:
                seen.setdefault(key, set()).add(counts[key])
        pairs: dict[Any, dict[str, set[int]]] = {}
        for (a, b, value), numbers in seen.items():
            pairs.setdefault((a, b), {})[value] = numbers
        for (a, b), shares in pairs.items():
            if all(len(numbers) == 1 for numbers in shares.values()):
                size = sum(min(numbers) for numbers in shares.values())
                if 0 < size < k and size < len(ours.classes()[a]):
                    who = "nobody else has" if size == 1 else f"only {size} people have"
                    told = f"these values, which {who}"
                    if by_value:
                        shown = sorted(value for value, numbers in shares.items() if min(numbers))
                        told = f"these values and disease {' or '.join(shown)}"
                    met = tuple(together(x, y) for x, y in zip(a, b, strict=True))
                    found.append(victim(labelled(met), size, told))
    return found


@twin("quasi-identifier-join")
def quasi_identifier_join(attack, world):
    return joined(world, attack.k, by_value=False)


@twin("sensitive-join")
def sensitive_join(attack, world):
    return joined(world, attack.k, by_value=True)


@truth("quasi-identifier-join", "sensitive-join")
def the_joined_cells_are_theirs(world, claim):
    """As many people as claimed are together in two classes that say this, with the claimed values."""
    ours = world.releases[0]
    for theirs in world.releases[1:]:
        rows = dict(zip(theirs.people, theirs.rows, strict=True))
        shared: dict[Any, list[str]] = {}
        for person, row in zip(ours.people, ours.rows, strict=True):
            key = tuple((row[name], rows[person][name]) for name in KNOWN)
            shared.setdefault(key, []).append(world.everybody[person]["disease"])
        for key, diseases in shared.items():
            met = tuple(together(x, y) for x, y in key)
            learned = claim.learned.partition(" and disease ")[2]
            told = not learned or set(learned.split(" or ")) == set(diseases)
            if told and met == tuple(claim.labels.values()) and len(diseases) == claim.size:
                return True
    return False


@twin("row-order")
def row_order(attack, world):
    ours = world.releases[0]
    cells = [tuple(row[name] for name in KNOWN) for row in ours.rows]
    for theirs in world.releases[1:]:
        cells = [
            tuple(together(x, row[name]) for x, name in zip(c, KNOWN, strict=True))
            for c, row in zip(cells, theirs.rows, strict=True)
        ]
    before = Counter(tuple(row[name] for name in KNOWN) for row in ours.rows)
    found = []
    for key, size in Counter(cells).items():
        was = before[tuple(ours.rows[cells.index(key)][name] for name in KNOWN)]
        if size < attack.k and size < was:
            exact = not any(SUPPRESSED in c for c in key)
            who = "nobody else has" if size == 1 else f"only {size} people have"
            told = "every one of these values exactly" if exact else "these values"
            found.append(victim(labelled(key), size, f"{told}, which {who}"))
    return found


@truth("row-order")
def somebody_has_these_values(world, claim):
    people = [p for p in world.everybody if fits(tuple(claim.labels.values()), p)]
    return len(people) >= claim.size


@twin("temporal")
def temporal(attack, world):
    ours, theirs = world.releases
    parts: list[tuple[set[Any], set[Any]]] = [({key}, set()) for key in ours.classes()]
    parts += [(set(), {key}) for key in theirs.classes()]

    def touch(one, other):
        pairs = [*itertools.product(one[0], other[1]), *itertools.product(other[0], one[1])]
        return any(all(agree(x, y) for x, y in zip(a, b, strict=True)) for a, b in pairs)

    while merge := next(((p, q) for p, q in itertools.combinations(parts, 2) if touch(p, q)), None):
        parts = [p for p in parts if p not in merge] + [
            (merge[0][0] | merge[1][0], merge[0][1] | merge[1][1])
        ]
    found = []
    for left, right in parts:
        new = values([ours.rows[p] for key in left for p in ours.classes()[key]])
        old = values([theirs.rows[p] for key in right for p in theirs.classes()[key]])
        change = new - old or old - new
        if SUPPRESSED in new | old or not (new <= old or old <= new) or len(change) != 1:
            continue
        ((value, number),) = change.items()
        how = "joined" if old <= new else "left"
        classes = len(left) + len(right)
        found.append((classes if classes > 2 else 1, number, f"{value} (of those who {how})"))
    return found


@truth("temporal")
def who_joined_or_left_has_it(world, claim):
    ours, theirs = (set(release.people) for release in world.releases)
    changed = (ours - theirs) | (theirs - ours)
    value, _, _ = claim.learned.partition(" (")
    region = [
        release.rows[place]
        for release in world.releases
        for place in release.classes().get(tuple(claim.labels[n] for n in KNOWN), [])
    ]
    assert region, "the labels are those of a class"
    return sum(world.everybody[p]["disease"] == value for p in changed) >= claim.size


@twin("minimality")
def minimality(attack, world):
    """All worlds with the released classes in which one step less breaks the model."""
    model, release = world.minimal_for, world.releases[0]
    levels = [
        min(
            at
            for at in range(3)
            if all(r[n] in {cell(v, at) for v in scenarios.DOMAIN} for r in release.rows)
        )
        for n in KNOWN
    ]
    classes = list(release.classes().values())
    found = {}
    for lowered in (i for i, level in enumerate(levels) if level):
        below = tuple(level - (i == lowered) for i, level in enumerate(levels))
        options = [
            set(itertools.permutations([release.rows[p]["disease"] for p in places])) for places in classes
        ]
        possible: list[set[str]] = [set() for _ in release.rows]
        broken_by: set[frozenset[int]] = set()
        for chosen in itertools.product(*options):
            disease = {
                p: d
                for places, some in zip(classes, chosen, strict=True)
                for p, d in zip(places, some, strict=True)
            }
            groups: dict[Any, list[int]] = {}
            for p, person in enumerate(world.everybody):
                groups.setdefault(
                    tuple(cell(person[n], at) for n, at in zip(KNOWN, below, strict=True)), []
                ).append(p)
            broken = [g for g in groups.values() if len({disease[p] for p in g}) < model.l]
            broken_by.update(map(frozenset, broken))
            for group in broken:
                for p in group:
                    possible[p].add(disease[p])
        if len(broken_by) == 1:
            (group,) = broken_by
            left = set().union(*(possible[p] for p in group))
            if len(left) < model.l:
                found[tuple(sorted(group))] = " or ".join(sorted(left))
    return [
        victim(
            {n: " or ".join(dict.fromkeys(world.everybody[p][n] for p in group)) for n in KNOWN},
            len(group),
            told,
            [world.everybody[p]["name"] for p in group],
        )
        for group, told in found.items()
    ]


@twin("anatomy-membership")
def anatomy_membership(attack, world):
    found = []
    for known, people in kinds(world.everybody).items():
        if len(people) == 1:
            place = world.everybody.index(people[0])
            group = [
                p["disease"]
                for p, g in zip(world.everybody, world.groups, strict=True)
                if g == world.groups[place]
            ]
            told = f"is in the table, with disease {' or '.join(sorted(set(group)))}"
            found.append(victim(labelled(known), 1, told, names(people) if world.known else []))
    return found


@twin("anatomy-order")
def anatomy_order(attack, world):
    ours = world.groups
    theirs = [world.groups[i] for i in world.second_order]
    sorted_by_group = len(list(itertools.groupby(ours))) == len(set(ours))
    if ours != theirs or sorted_by_group:
        return []
    values_there = [world.everybody[i]["disease"] for i in world.second_order]
    return [
        victim({name: person[name] for name in KNOWN}, 1, value)
        for person, value in zip(world.everybody, values_there, strict=True)
    ]


@truth("anatomy-membership")
def they_are_in_it_with_such_a_value(world, claim):
    people = kinds(world.everybody)[tuple(claim.labels.values())]
    return people[0]["disease"] in claim.learned.partition("disease ")[2].split(" or ")


@truth("anatomy-order")
def true_if_the_order_is_kept(world, claim):
    """Equal sequences of groups are strong evidence of the same order, not proof: only that is claimed."""
    same_order = world.second_order == sorted(world.second_order)
    people = kinds(world.everybody)[tuple(claim.labels.values())]
    return not same_order or claim.learned in {person["disease"] for person in people}


@twin("differencing")
def differencing(attack, world):
    found = {}
    for wide, narrow in itertools.permutations(world.answers, 2):
        same = (wide.function, wide.column, wide.equals) == (narrow.function, narrow.column, narrow.equals)
        if not same or not set(wide.where.items()) < set(narrow.where.items()):
            continue
        here = [p for p in world.everybody if all(p[n] == v for n, v in wide.where.items())]
        rest = [p for p in here if not all(p[n] == v for n, v in narrow.where.items())]
        counted = [
            [
                a
                for a in world.answers
                if a.function is Function.COUNT and a.column is None and a.where == asked
            ]
            for asked in (wide.where, narrow.where)
        ]
        if not world.known and not all(counted):
            continue
        more = {n: v for n, v in narrow.where.items() if n not in wide.where}
        labels = {**wide.where, "not": " and ".join(f"{n} {v}" for n, v in more.items())}
        gap, who = wide.value - narrow.value, names(rest) if world.known else []
        if wide.function is Function.SUM and len(rest) == 1:
            found[tuple(labels.items()), f"salary {gap:g}"] = victim(labels, 1, f"salary {gap:g}", who)
        if wide.equals and rest and gap == len(rest):
            told = f"disease {wide.equals}"
            found[tuple(labels.items()), told] = victim(labels, len(rest), told, who)
    return list(found.values())


@truth("differencing")
def the_difference_is_theirs(world, claim):
    known = {n: v for n, v in claim.labels.items() if n != "not"}
    without = dict(part.split(" ") for part in claim.labels["not"].split(" and "))
    people = [p for p in world.everybody if all(p[n] == v for n, v in known.items())]
    people = [p for p in people if not all(p[n] == v for n, v in without.items())]
    column, value = claim.learned.split(" ")
    secret = {p["disease"] if column == "disease" else f"{10 ** int(p['name'][1:]):g}" for p in people}
    return len(people) == claim.size and secret == {value}


@twin("reconstruction")
def reconstruction(attack, world):
    """Every table that could have given all answers, one after the other."""
    asked = [i for i, p in enumerate(world.everybody) if any(_is_about(li, p) for li in world.listings)]
    values = sorted({value for listing in world.listings for value in listing.values})
    possible = {i: set() for i in asked}
    for table in itertools.product(values, repeat=len(asked)):
        has = dict(zip(asked, table, strict=True))
        if all(
            Counter(has[i] for i in asked if _is_about(li, world.everybody[i])) <= Counter(li.values)
            for li in world.listings
        ):
            for i in asked:
                possible[i].add(has[i])
    return [
        victim(
            {n: world.everybody[i][n] for n in scenarios.KNOWN},
            1,
            f"disease {' or '.join(sorted(possible[i]))}",
            [world.everybody[i]["name"]],
        )
        for i in asked
        if len(possible[i]) < attack.k
    ]


def _is_about(listing, person):
    return all(person[name] == value for name, value in listing.where.items())


@truth("reconstruction")
def one_of_these_values_is_theirs(world, claim):
    (person,) = [p for p in world.everybody if p["name"] == claim.who[0]]
    return person["disease"] in claim.learned.removeprefix("disease ").split(" or ")
