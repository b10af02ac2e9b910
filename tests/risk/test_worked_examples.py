"""The check and the attacks on the worked examples of the literature."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.privacy import EqualCloseness, HierarchicalCloseness, RecursiveDiversity
from tarnkappe.privacy.entropy_diversity import effective_values
from tarnkappe.risk import Target, check
from tarnkappe.risk.attacks import BackgroundKnowledge, Homogeneity, Similarity, Skewness
from tarnkappe.risk.attacks.background_knowledge import exclusions_needed, posterior
from tarnkappe.table import Classes, Table
from tarnkappe.table.classes import release_everything
from tarnkappe.table.row_tuples import row_tuples
from tests.risk.worked_examples import (
    CONCEPT_COLUMNS,
    CONCEPTS,
    RELEASE_CHECK,
    RELEASE_COLUMNS,
    expected,
    hierarchy,
    rows,
    table,
)

EXPECTED = expected(CONCEPTS)
BLOCKS = [(name, block) for name, found in EXPECTED.items() for block in found.get("blocks", ())]
HIERARCHIES = ("hierarchy-krankheit-a", "hierarchy-krankheit-b")
every_block = pytest.mark.parametrize(
    ("name", "block"), BLOCKS, ids=[f"{name}-{block['rows'][0]}" for name, block in BLOCKS]
)


def concept_classes(name: str, categories: str = HIERARCHIES[0]) -> tuple[Classes, dict[str, int]]:
    """The classes of a table, and the class of each row by its name."""
    tuples = row_tuples(table(CONCEPTS / f"{name}.csv"), [*CONCEPT_COLUMNS], ["row", "Krankheit"])
    tuples = tuples.with_levels({"Krankheit": hierarchy(categories).encode(tuples.columns["Krankheit"])})
    classes = tuples.classes(CONCEPT_COLUMNS, None, [("Krankheit",)])
    names = [tuples.columns["row"].labels[code] for code in tuples.columns["row"].codes]
    return classes, dict(zip(names, classes.ids.tolist(), strict=True))


@pytest.mark.parametrize("name", EXPECTED)
def test_k_of_every_table(name: str) -> None:
    report = check(table(CONCEPTS / f"{name}.csv"), quasi_identifiers=CONCEPT_COLUMNS)
    assert report.k == EXPECTED[name]["k"]
    if "blocks" in EXPECTED[name]:
        assert report.classes == len(EXPECTED[name]["blocks"])


def test_k_of_every_combination_of_columns_of_the_original() -> None:
    original = table(CONCEPTS / "f-h2.csv")
    k = {
        columns: check(original, quasi_identifiers=columns).k
        for number in (1, 2, 3)
        for columns in itertools.combinations(CONCEPT_COLUMNS, number)
    }
    assert all(k[columns] == 1 for columns in k if "Geburtstag" in columns)
    assert (k["Geschlecht",], k["PLZ",]) == (2, 1)


@every_block
def test_every_block_has_the_rows_and_the_diversity_of_the_source(name: str, block: dict) -> None:
    classes, class_of = concept_classes(name)
    distribution = classes.distributions["Krankheit",]
    assert [row for row in class_of if class_of[row] == class_of[block["rows"][0]]] == block["rows"]
    index = class_of[block["rows"][0]]
    assert effective_values(distribution)[index] == pytest.approx(block["effective_l"])
    assert exclusions_needed(distribution)[index] == block["exclusions_needed"]
    for rank, c in block.get("c", {}).items():
        model = RecursiveDiversity("Krankheit", 1, int(rank))
        assert model.measure(classes)[index] == pytest.approx(float(Fraction(c)))


@every_block
@pytest.mark.parametrize("categories", HIERARCHIES)
def test_every_block_is_as_far_from_the_table_as_the_source_says(
    name: str, block: dict, categories: str
) -> None:
    classes, class_of = concept_classes(name, categories)
    index = class_of[block["rows"][0]]
    equal = EqualCloseness("Krankheit", 1).measure(classes)[index]
    assert equal == pytest.approx(float(Fraction(block["variational"])))
    hierarchical = HierarchicalCloseness("Krankheit", 1).measure(classes)[index]
    assert hierarchical == pytest.approx(float(Fraction(block[categories])))


@pytest.mark.parametrize("name", ["f-h3", "f-h4", "f-h5"])
@pytest.mark.parametrize("categories", HIERARCHIES)
def test_the_report_shows_the_worst_block(name: str, categories: str) -> None:
    report = check(
        table(CONCEPTS / f"{name}.csv"),
        quasi_identifiers=CONCEPT_COLUMNS,
        sensitive=["Krankheit"],
        hierarchies={"Krankheit": hierarchy(categories)},
    )
    found, blocks = report.sensitive["Krankheit"], EXPECTED[name]["blocks"]
    measured = {key: m.value for key, m in found.measured.items()}
    assert measured["distinct_l"] == min(block["exclusions_needed"] for block in blocks) + 1
    assert measured["entropy_l"] == pytest.approx(EXPECTED[name]["entropy_l"], abs=1e-12)
    distance = max(float(Fraction(block["variational"])) for block in blocks)
    assert measured["t_equal"] == pytest.approx(distance)
    assert measured["t_variational"] == pytest.approx(distance)
    distance = max(float(Fraction(block[categories])) for block in blocks)
    assert measured["t_hierarchical"] == pytest.approx(distance)
    thresholds = [block["c"] for block in blocks if "c" in block]
    if thresholds:
        assert found.recursive_c == {rank: max(Fraction(c[str(rank)]) for c in thresholds) for rank in (2, 3)}


def test_homogeneity_and_background_knowledge() -> None:
    """Kaira is found out at once; for Till one disease has to be ruled out; in the last table nobody is."""
    classes, class_of = concept_classes("f-h3")
    target = Target(release_everything(classes))
    found = Homogeneity("Krankheit").run(target)
    assert (found.victims, found.examples[0].learned) == (2, "Magersucht")
    assert found.examples[0].labels == classes.labels(class_of["t6"])
    background = BackgroundKnowledge("Krankheit", 1).run(target)
    assert background.victims == 4
    assert background.evidence == {"rows_by_exclusions_needed": {0: 2, 1: 2, 2: 3}}
    left = posterior(classes.distributions["Krankheit",], class_of["t4"], ["Diabetes"])
    assert left == {"Schizophrenie": 1}

    target = Target(release_everything(concept_classes("f-h5")[0]))
    assert not Homogeneity("Krankheit").run(target).succeeds
    background = BackgroundKnowledge("Krankheit", 1).run(target)
    assert background.evidence == {"rows_by_exclusions_needed": {2: 7}}


@pytest.mark.parametrize("categories", HIERARCHIES)
def test_similarity_discloses_the_category_of_the_first_block_only(categories: str) -> None:
    classes, _ = concept_classes("f-h5", categories)
    found = Similarity("Krankheit").run(Target(release_everything(classes)))
    assert (found.victims, found.classes) == (3, 1)
    assert found.examples[0].learned == "Geschlechtskrankheit"


def test_skewness_of_a_block_that_is_as_diverse_as_can_be() -> None:
    people = [
        (row["block"], row["state"])
        for row in rows(CONCEPTS / "skewness.csv")
        for _ in range(int(row["rows"]))
    ]
    blocks, states = zip(*people, strict=True)
    skewed = Table(pa.table({"block": blocks, "state": states}))
    report = check(skewed, quasi_identifiers=["block"], sensitive=["state"])
    tuples = row_tuples(skewed, ["block"], ["state"])
    classes = tuples.classes(["block"], None, [("state",)])
    alice = int(np.flatnonzero(classes.sizes == 2)[0])
    assert effective_values(classes.distributions["state",])[alice] == pytest.approx(2)
    assert RecursiveDiversity("state", 1, 2).measure(classes)[alice] == 1
    assert report.sensitive["state"].measured["t_equal"].value == pytest.approx(0.49)
    assert report.sensitive["state"].measured["t_equal"].worst_class == {"block": "Alice"}
    skewness = next(attack for attack in report.attacks if attack.attack == "skewness")
    assert (skewness.victims, skewness.evidence) == (2, {"highest_ratio": 50.0})
    assert skewness.examples[0].learned == "ill (50 %, 50 times as often as overall)"
    assert not Skewness("state", 51).run(Target(release_everything(classes))).succeeds


RELEASES = expected(RELEASE_CHECK)


@pytest.mark.parametrize("name", RELEASES)
def test_releases_have_the_guarantees_of_the_source(name: str) -> None:
    found = RELEASES[name]
    sensitive = ["Diagnose"] if "distinct_l" in found else []
    report = check(
        table(RELEASE_CHECK / f"{name}.csv"), quasi_identifiers=RELEASE_COLUMNS, sensitive=sensitive
    )
    assert (report.k, report.classes) == (found["k"], found["classes"])
    if sensitive:
        measured = report.sensitive["Diagnose"].measured
        assert measured["distinct_l"].value == found["distinct_l"]
        assert measured["entropy_l"].value == pytest.approx(min(found["effective_l"].values()))


@pytest.mark.parametrize(
    ("name", "attack"),
    [(name, attack) for name, found in RELEASES.items() for attack in found.get("attacks", ())],
)
def test_what_an_attacker_learns_about_one_person(name: str, attack: str) -> None:
    person = RELEASES[name]["attacks"][attack]
    tuples = row_tuples(table(RELEASE_CHECK / f"{name}.csv"), RELEASE_COLUMNS, ["Diagnose"])
    classes = tuples.classes(RELEASE_COLUMNS, None, [("Diagnose",)])
    labels = [", ".join(classes.labels(index).values()) for index in range(classes.num_classes)]
    left = posterior(classes.distributions["Diagnose",], labels.index(person["class"]), person["excluded"])
    assert left == {value: Fraction(share) for value, share in person["posterior"].items()}


@pytest.mark.parametrize("name", ["f-t15", "f-t15b"])
def test_several_sensitive_columns_protect_each_other_less(name: str) -> None:
    """Each column alone is diverse; whoever knows the medication of the first person knows the diagnosis."""
    report = check(
        table(RELEASE_CHECK / f"{name}.csv"),
        quasi_identifiers=RELEASE_COLUMNS,
        sensitive=["Diagnose", "Medikation"],
    )
    alone = {column: found.measured["distinct_l"].value for column, found in report.sensitive.items()}
    assert alone == {"Diagnose": 4 if name == "f-t15" else 3, "Medikation": 3}
    assert report.sensitive["Diagnose"].given_others["distinct_l"].value == 1
    assert report.sensitive["Diagnose"].given_others["distinct_l"].worst_class["Medikation"] == "Medikament A"
