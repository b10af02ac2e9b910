"""Equal rewrites stay equal where people are counted: tried on small worlds with people, NULL and rows of nobody."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace

import pytest

from tarnkappe.algebra.counting_people import counted
from tarnkappe.algebra.distribution import OutcomeDistribution
from tarnkappe.algebra.facts import MeasuredFacts
from tarnkappe.algebra.nodes import Generalization, Plan, Randomization, Relation, SlicingNode
from tarnkappe.algebra.person_paths import PersonPath
from tarnkappe.algebra.persons import Persons, counts_people, needs_of
from tarnkappe.algebra.proof import starts
from tarnkappe.algebra.rules import ALL_RULES, RewriteRule
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.space import small_spaces
from tarnkappe.algebra.world import World
from tarnkappe.errors import NoSolutionError, ParameterError

WORLDS = 60
PEOPLE = ("p", "q", "s", None)
RULES = [
    rule
    for rule in ALL_RULES
    if rule.kind == "eq"
    and any(isinstance(node, Generalization) for plan in rule.examples for node in plan.walk())
    and not any(
        isinstance(node, SlicingNode | Randomization) for plan in rule.examples for node in plan.walk()
    )
]
ALWAYS = {"G4", "G5", "G6", "G8", "G9", "G10", "G11", "G12", "G17"}


def columns_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    return {node.name: node.columns for node in plan.walk() if isinstance(node, Relation)}


def with_people(world: World, columns: dict[str, tuple[str, ...]], chance: random.Random) -> World:
    """The same world, in which every row is somebody's, or nobody's; a column ID names the person itself."""
    relations = {}
    for name, rows in world.relations.items():
        place = columns[name].index("ID") if "ID" in columns.get(name, ()) else None
        relations[name] = tuple(
            (*row, chance.choice(PEOPLE) if place is None else row[place]) for row in rows
        )
    return replace(world, relations=relations)


def results(plan: Plan, persons: Persons, world: World) -> OutcomeDistribution | None:
    try:
        return evaluate(counted(plan, persons, 2), world)
    except NoSolutionError:
        return None


def may_run(written: Plan, chosen: Plan, persons: Persons) -> bool:
    """Whether a session takes the rewritten plan: people are behind its rows, and are counted as before."""
    try:
        needs_of(written, persons)
        needs_of(chosen, persons)
    except ParameterError:
        return False
    generalizes = any(isinstance(node, Generalization) and node.k > 1 for node in chosen.walk())
    return not generalizes or counts_people(chosen, persons)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_an_equal_rewrite_is_equal_where_people_are_counted(rule: RewriteRule) -> None:
    chance, seen = random.Random(rule.name), Counter[str]()
    for way, plan in starts(rule):
        columns = columns_of(plan)
        names = sorted(columns)
        paths = {name: PersonPath("ID" if "ID" in columns[name] else "U") for name in names}
        declared: list[Persons] = [paths, {names[0]: paths[names[0]]}]
        worlds = [world for space in small_spaces(plan, worlds=1_500) for world in space.worlds(plan)]
        chance.shuffle(worlds)
        for world, persons in itertools.product(worlds, declared):
            if seen[way.value] >= WORLDS:
                break
            if not counts_people(plan, persons):
                continue
            try:
                rewrites = rule.apply(plan, way, MeasuredFacts(world))
            except NoSolutionError:
                continue
            for rewrite in rewrites:
                if (
                    rewrite.plan is None
                    or not rewrite.kind.is_equal
                    or not may_run(plan, rewrite.plan, persons)
                ):
                    continue
                inhabited = with_people(world, columns, chance)
                carrying = replace_unused(inhabited, world, persons)
                mine, its = results(plan, persons, carrying), results(rewrite.plan, persons, carrying)
                if mine is None:
                    continue  # it could not run as it was written
                seen[way.value] += 1
                assert its is not None, (way, plan, carrying.relations)
                assert mine.same_as(its), (way, plan, rewrite.plan, carrying.relations)
    if rule.name in ALWAYS:
        assert seen, "it was never tried"


def replace_unused(inhabited: World, plain: World, persons: Persons) -> World:
    """Relations of nobody keep their rows as they are."""
    relations = {
        name: rows if name in persons else plain.relations[name] for name, rows in inhabited.relations.items()
    }
    return replace(inhabited, relations=relations)
