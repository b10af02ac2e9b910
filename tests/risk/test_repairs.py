"""Repairs: each stops its attack, and none is larger than needed, compared with brute force."""

from __future__ import annotations

import dataclasses
import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.risk import ATTACKS, Attack, Target
from tarnkappe.risk.attacks import (
    Background,
    BackgroundKnowledge,
    ComplementaryRelease,
    Homogeneity,
    KnowledgeRules,
    Linking,
    MembershipAttack,
    ProbabilisticInference,
    QuasiIdentifierJoin,
    RegisterLinking,
    RowOrder,
    SensitiveJoin,
    Skewness,
)
from tarnkappe.risk.repairs import REPAIRS, BaseOnEarlier, Generalize, RepairProposal, Suppress, propose
from tarnkappe.risk.repairs.base_on_earlier import common_parts
from tarnkappe.table import Table
from tests.risk import scenarios
from tests.risk.background_twins import fits
from tests.risk.scenarios import DOMAIN, HIERARCHY, KNOWN, World, cell
from tests.risk.test_republication import partitions
from tests.risk.worked_examples import CONCEPT_COLUMNS, CONCEPTS, table

ON_ONE_RELEASE: list[Attack] = [
    Linking(2),
    Linking(3),
    Homogeneity("disease"),
    BackgroundKnowledge("disease", 1),
    ProbabilisticInference("disease", 0.6),
    Skewness("disease", 1.5, 0.5),
    RegisterLinking(2),
    MembershipAttack(),
]


def with_hierarchies(world: World) -> Target:
    target = world.target
    return Target(
        target.state, dataclasses.replace(target.background, hierarchies=dict.fromkeys(KNOWN, HIERARCHY))
    )


def attacked(attack: Attack, target: Target, rows: list[dict[str, str]]) -> int:
    """How many victims an attack has on other rows, those left out that nothing can protect."""
    names = target.background.rows.column_names
    data = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in names})
    release = Table(data, target.background.rows.roles)
    result = attack.run(Target.of(release, dataclasses.replace(target.background, rows=release)))
    return result.victims - result.evidence.get("unavoidable", 0)


def taken_up(text: str, steps: int) -> str:
    level = text.count("*") if text != "*" else 2
    return cell(
        next(v for v in DOMAIN if all(c in ("*", x) for c, x in zip(text, v, strict=False))),
        min(level + steps, 2),
    )


def fewest_steps(attack: Attack, target: Target) -> int | None:
    """By trying everything."""
    rows = target.background.rows.data.to_pylist()
    found = [
        sum(steps)
        for steps in itertools.product(range(3), repeat=len(KNOWN))
        if attacked(
            attack,
            target,
            [{**row, **{n: taken_up(row[n], s) for n, s in zip(KNOWN, steps, strict=True)}} for row in rows],
        )
        <= 0
    ]
    return min(found, default=None)


def fewest_rows(attack: Attack, target: Target) -> int | None:
    """By leaving out every set of classes but all."""
    rows = target.background.rows.data.to_pylist()
    keys = sorted({tuple(row[name] for name in KNOWN) for row in rows})
    best = None
    for number in range(len(keys)):
        for gone in itertools.combinations(keys, number):
            left = [row for row in rows if tuple(row[name] for name in KNOWN) not in gone]
            if attacked(attack, target, left) <= 0:
                best = min(len(rows) - len(left), len(rows) if best is None else best)
    return best


def check_proposals(attack: Attack, target: Target) -> list[RepairProposal]:
    found = propose(attack, target)
    for proposal in found:
        rows = proposal.table.data.to_pylist()
        assert attacked(attack, target, rows) <= 0, proposal.description
        assert proposal.description.endswith(".")
        assert proposal.smallest
        if proposal.repair != "shuffle":
            assert proposal.changed_cells > 0
    assert [p.changed_cells for p in found] == sorted(p.changed_cells for p in found)
    return found


@given(scenarios.registered(), st.sampled_from(ON_ONE_RELEASE))
@settings(max_examples=60)
def test_no_repair_of_one_release_is_larger_than_needed(world: World, attack: Attack) -> None:
    target = with_hierarchies(world)
    found = {proposal.repair: proposal for proposal in check_proposals(attack, target)}
    if not attack.run(target).succeeds:
        assert found == {}
        return
    rows = fewest_rows(attack, target)
    assert (found["suppress"].removed_rows if "suppress" in found else None) == rows
    steps = fewest_steps(attack, target)
    assert ("generalize" in found) == (steps is not None)
    if steps is not None:
        assert steps_of(target, found["generalize"]) == steps


def steps_of(target: Target, proposal: RepairProposal) -> int:
    """The fewest steps that make the proposed cells of the released ones."""
    before, after = (t.data.to_pylist() for t in (target.background.rows, proposal.table))
    total = 0
    for name in KNOWN:
        total += min(
            steps
            for steps in range(3)
            if all(taken_up(x[name], steps) == y[name] for x, y in zip(before, after, strict=True))
        )
    return total


@given(scenarios.ruled())
@settings(max_examples=30)
def test_repairs_against_rules(world: World) -> None:
    target = with_hierarchies(world)
    found = {p.repair: p for p in check_proposals(KnowledgeRules("disease"), target)}
    if "suppress" in found:
        assert found["suppress"].removed_rows == fewest_rows(KnowledgeRules("disease"), target)


@given(
    scenarios.same_people(),
    st.sampled_from(
        [ComplementaryRelease("disease"), QuasiIdentifierJoin(3), SensitiveJoin(3, column="disease")]
    ),
)
@settings(max_examples=40)
def test_no_repair_of_several_releases_is_larger_than_needed(world: World, attack: Attack) -> None:
    target = with_hierarchies(world)
    found = {proposal.repair: proposal for proposal in check_proposals(attack, target)}
    if "suppress" in found:
        assert found["suppress"].removed_rows == fewest_rows(attack, target)
    if "generalize" in found:
        assert steps_of(target, found["generalize"]) == fewest_steps(attack, target)


@given(scenarios.same_people())
@settings(max_examples=60)
def test_classes_are_merged_no_further_than_to_unions_of_all_releases(world: World) -> None:
    """By looking at all ways to divide the people, for the finest that no class of any release cuts."""
    target = with_hierarchies(world)
    people = list(range(len(world.people)))
    blocks = [
        [p for p in people if fits(key, world.people[p])] for r in world.releases for key in r.classes()
    ]
    whole = [
        division
        for division in partitions(people)
        if all(any(set(block) <= set(part) for part in division) for block in blocks)
    ]
    finest = max(whole, key=len)
    part = common_parts(target)
    keys = [tuple(target.classes.labels(i).values()) for i in range(target.classes.num_classes)]
    of_person = {
        p: {int(part[i]) for i, key in enumerate(keys) if fits(key, world.people[p])} for p in people
    }
    assert all(len(numbers) == 1 for numbers in of_person.values())
    for one, other in itertools.combinations(people, 2):
        together = any(one in block and other in block for block in finest)
        assert (of_person[one] == of_person[other]) == together


@given(scenarios.same_people())
@settings(max_examples=40)
def test_a_release_based_on_the_earlier_ones_discloses_nothing_new(world: World) -> None:
    target = with_hierarchies(world)
    for attack in (
        ComplementaryRelease("disease"),
        QuasiIdentifierJoin(2),
        SensitiveJoin(2, column="disease"),
    ):
        if attack.run(target).succeeds:
            proposal = BaseOnEarlier.propose(attack, target)
            if isinstance(attack, ComplementaryRelease):
                assert proposal is not None, "what is left was disclosed before"


def release(name: str) -> Table:
    return table(CONCEPTS / f"{name}.csv").with_roles(
        quasi_identifiers=CONCEPT_COLUMNS, sensitive=["Krankheit"]
    )


def test_repairs_of_the_worked_example() -> None:
    """The second release after the first: shuffling helps against the order only."""
    register = table(CONCEPTS / "register.csv").with_roles(identifiers=["Name"])
    target = Target.of(release("f-h4"), Background(people=register, earlier={"first": release("f-h3")}))
    (shuffled,) = propose(RowOrder(), target)
    assert (shuffled.repair, shuffled.changed_cells) == ("shuffle", 0)
    again = Target.of(shuffled.table, dataclasses.replace(target.background, rows=shuffled.table))
    assert SensitiveJoin(column="Krankheit").run(again).victims == 5
    found = propose(ComplementaryRelease("Krankheit"), target)
    assert {p.repair for p in found} >= {"generalize", "base-on-earlier"}
    for proposal in found:
        assert proposal.after.victims == proposal.after.evidence["unavoidable"]
    homogeneous = Target.of(release("f-h3"))
    suppress = Suppress.propose(Homogeneity("Krankheit"), homogeneous)
    assert suppress is not None
    assert (suppress.removed_rows, suppress.description) == (2, "Suppress 1 class (2 rows).")
    generalize = Generalize.propose(Homogeneity("Krankheit"), homogeneous)
    assert generalize is not None
    assert generalize.description == "Suppress the column 'Geburtstag' and suppress the column 'Geschlecht'."


def test_a_column_goes_up_one_level_if_that_is_enough() -> None:
    towns = Hierarchy.from_rows([["Ulm", "south", "*"], ["Aalen", "south", "*"], ["Kiel", "north", "*"]])
    data = {"town": ["Ulm", "Aalen", "Kiel", "Kiel"], "sex": ["f", "f", "m", "m"], "illness": list("abcd")}
    people = Table(pa.table(data)).with_roles(quasi_identifiers=["town", "sex"], sensitive=["illness"])
    first, second = propose(Linking(), Target.of(people, Background(hierarchies={"town": towns})))
    assert (first.repair, first.description) == ("generalize", "Generalize 'town' by 1 level.")
    assert first.table.data.column("town").to_pylist() == ["south", "south", "north", "north"]
    assert (second.repair, second.removed_rows) == ("suppress", 2)
    assert (first.changed_cells, second.changed_cells) == (4, 6)


def test_nothing_is_proposed_where_no_change_of_the_release_helps() -> None:
    same = Table(pa.table({"age": ["1", "2"], "illness": ["flu", "flu"]}))
    target = Target.of(same.with_roles(quasi_identifiers=["age"], sensitive=["illness"]))
    assert propose(Homogeneity("illness"), target) == []


def test_every_repair_that_an_attack_names_exists() -> None:
    named = {name for kind in ATTACKS for name in kind.repaired_by}
    assert named == set(REPAIRS.names)


def test_a_large_release_is_repaired_without_trying_everything() -> None:
    """Skewness judges classes by the whole: victims are suppressed, and what need not be is put back."""
    rows = [
        {"block": str(i), "state": "ill" if i < 30 or j == 0 else "well"}
        for i in range(300)
        for j in range(6)
    ]
    release = Table(pa.Table.from_pylist(rows)).with_roles(quasi_identifiers=["block"], sensitive=["state"])
    target = Target.of(release)
    attack = Skewness("state", 3.0, 0.5)
    assert attack.run(target).victims == 180
    proposal = Suppress.propose(attack, target)
    assert proposal is not None
    assert not proposal.smallest
    assert proposal.removed_rows <= 180


@pytest.mark.parametrize("name", REPAIRS.names)
def test_a_proposal_can_be_read_by_machines(name: str) -> None:
    assert REPAIRS[name].name == name
    assert (REPAIRS[name].__doc__ or "").strip()
