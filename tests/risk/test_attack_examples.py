"""Every attack on the worked examples of the literature names exactly the people that these name."""

from __future__ import annotations

import itertools
import random

import pyarrow as pa
import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.privacy import DistinctDiversity
from tarnkappe.risk import AttackResult, Target
from tarnkappe.risk.attacks import (
    AnatomyMembership,
    AnatomyOrder,
    Background,
    ComplementaryRelease,
    Differencing,
    ExclusionRule,
    Function,
    Homogeneity,
    KnowledgeRules,
    MembershipAttack,
    Minimality,
    PublishedAggregate,
    QuasiIdentifierJoin,
    RegisterLinking,
    RowOrder,
    SensitiveJoin,
    Similarity,
)
from tarnkappe.table import Table
from tests.conftest import FIXTURES
from tests.risk.worked_examples import (
    CONCEPT_COLUMNS,
    CONCEPTS,
    RELEASE_CHECK,
    RELEASE_COLUMNS,
    hierarchy,
    rows,
    table,
)

QUERY_MODEL = FIXTURES / "query-model"
REGISTER = table(CONCEPTS / "register.csv").with_roles(identifiers=["Name"])


def ward(name: str) -> Table:
    return table(CONCEPTS / f"{name}.csv").with_roles(
        quasi_identifiers=CONCEPT_COLUMNS, sensitive=["Krankheit"]
    )


def person(**known: str) -> Table:
    return Table(pa.table({name: [value] for name, value in known.items()})).with_roles(identifiers=["Name"])


def shuffled(release: Table, seed: int) -> Table:
    order = list(range(release.num_rows))
    random.Random(seed).shuffle(order)
    return Table(release.data.take(order), release.roles)


def told(result: AttackResult) -> dict[str, str]:
    return {name: victim.learned for victim in result.examples for name in victim.who}


# --- linking ----------------------------------------------------------------------------------------


def test_the_register_reveals_who_has_diabetes() -> None:
    found = RegisterLinking().run(Target.of(ward("f-h2"), Background(people=REGISTER)), shown=None)
    assert found.victims == 7
    assert told(found)["Traube Kai"] == "which row is theirs, Krankheit Diabetes"


def test_with_the_misprinted_postcode_nobody_is_linked() -> None:
    misprint = person(Name="Traube Kai", Geburtstag="31.12.81", Geschlecht="M", PLZ="76133")
    assert not RegisterLinking().run(Target.of(ward("f-h2"), Background(people=misprint))).succeeds


@pytest.mark.parametrize("name", ["f-h3", "f-h4", "f-h5"])
def test_a_2_anonymous_release_stops_linking(name: str) -> None:
    assert not RegisterLinking().run(Target.of(ward(name), Background(people=REGISTER))).succeeds


def test_as_printed_the_last_table_is_not_anonymous() -> None:
    """Without generalized postcodes Witzig is the only one in 76228; corrected, nobody is alone."""
    found = RegisterLinking().run(Target.of(ward("f-h5-printed"), Background(people=REGISTER)))
    assert told(found) == {"Witzig Peter": "which row is theirs, Krankheit Hodenkrebs"}


# --- homogeneity and background knowledge -----------------------------------------------------------


def test_kaira_and_naomi_share_a_disease() -> None:
    found = Homogeneity("Krankheit").run(Target.of(ward("f-h3"), Background(people=REGISTER)))
    assert told(found) == dict.fromkeys(("Kneighty Kaira", "Krempel Naomi"), "Magersucht")
    assert not Homogeneity("Krankheit").run(Target.of(ward("f-h5"), Background(people=REGISTER))).succeeds


def test_till_eats_cake() -> None:
    """He is no diabetic; in the last table that is not enough, two diseases must be excluded."""
    cake = ExclusionRule("Krankheit", ("Diabetes",), {"Name": "Schwäger Till"})
    found = KnowledgeRules("Krankheit").run(
        Target.of(ward("f-h3"), Background(people=REGISTER, rules=(cake,)))
    )
    assert told(found) == {"Schwäger Till": "Schizophrenie"}
    safe = Background(people=REGISTER, rules=(cake,))
    assert not KnowledgeRules("Krankheit").run(Target.of(ward("f-h5"), safe)).succeeds
    more = ExclusionRule("Krankheit", ("Magersucht",), {"Name": "Schwäger Till"})
    both = Background(people=REGISTER, rules=(cake, more))
    assert told(KnowledgeRules("Krankheit").run(Target.of(ward("f-h5"), both))) == {
        "Schwäger Till": "Schizophrenie"
    }


def test_nobody_like_till_was_born_in_the_printed_year() -> None:
    born_83 = person(Name="Schwäger Till", Geburtstag="05.07.83", Geschlecht="M", PLZ="76133")
    cake = ExclusionRule("Krankheit", ("Diabetes",))
    target = Target.of(ward("f-h3"), Background(people=born_83, rules=(cake,)))
    assert target.fit.choices.tolist() == [0]
    assert not KnowledgeRules("Krankheit").run(target).succeeds


def clinic(name: str) -> Table:
    return table(RELEASE_CHECK / f"{name}.csv").with_roles(
        quasi_identifiers=RELEASE_COLUMNS, sensitive=["Diagnose"]
    )


BOB = person(Name="Bob", Alter="31", Nationalitaet="Österreich", PLZ="1030")
UMEKO = person(Name="Umeko", Alter="21", Nationalitaet="Japan", PLZ="1030")


def test_bob_has_cancer_and_is_safe_in_the_diverse_table() -> None:
    """Fixture A1: rows 9 to 12 fit Bob, and all of them say cancer."""
    assert told(Homogeneity("Diagnose").run(Target.of(clinic("f-t3"), Background(people=BOB)))) == {
        "Bob": "Krebs"
    }
    assert not Homogeneity("Diagnose").run(Target.of(clinic("f-t14"), Background(people=BOB))).succeeds


def test_umeko_is_found_out_by_a_rule_about_her_country() -> None:
    """Fixture A2: rows 1 to 4 fit Umeko; who excludes one diagnosis for Japanese is left with the other."""
    rule = ExclusionRule("Diagnose", ("manisch depressiv",), {"Nationalitaet": "Japan"})
    found = KnowledgeRules("Diagnose").run(Target.of(clinic("f-t3"), Background(people=UMEKO, rules=(rule,))))
    assert told(found) == {"Umeko": "tablettenabhängig"}
    other = Background(people=BOB, rules=(rule,))
    assert not KnowledgeRules("Diagnose").run(Target.of(clinic("f-t3"), other)).succeeds


def test_emily_has_no_respiratory_disease() -> None:
    emily = table(QUERY_MODEL / "f2.1.csv").with_roles(identifiers=["name"])
    rule = ExclusionRule("disease", ("Bronchitis", "Flu"), {"name": "Emily"})
    release = table(QUERY_MODEL / "f2.2.csv").with_roles(
        quasi_identifiers=["age", "zip", "sex"], sensitive=["disease"]
    )
    found = KnowledgeRules("disease").run(Target.of(release, Background(people=emily, rules=(rule,))))
    assert told(found) == {"Emily": "Diabetes"}


def test_harry_and_isabel_are_victims_of_homogeneity_in_one_of_two_releases() -> None:
    everybody = table(QUERY_MODEL / "f2.1.csv").with_roles(identifiers=["name"])
    found = {}
    for name in ("f2.2", "f2.3"):
        release = table(QUERY_MODEL / f"{name}.csv").with_roles(
            quasi_identifiers=["age", "zip", "sex"], sensitive=["disease"]
        )
        target = Target.of(release, Background(people=everybody))
        found[name] = told(Homogeneity("disease").run(target))
    assert found == {"f2.2": {"Harry": "Diabetes", "Isabel": "Diabetes"}, "f2.3": {}}


@pytest.mark.parametrize("categories", ["hierarchy-krankheit-a", "hierarchy-krankheit-b"])
def test_karl_cannot_father_children(categories: str) -> None:
    background = Background(people=REGISTER, hierarchies={"Krankheit": hierarchy(categories)})
    found = Similarity("Krankheit").run(Target.of(ward("f-h5"), background))
    assert told(found) == dict.fromkeys(
        ("Meisler Hans", "Witzig Peter", "Feldlager Karl"), "Geschlechtskrankheit"
    )


# --- several releases -------------------------------------------------------------------------------

JOINED = {
    ("17.**.75", "M", "76227"): 2,
    ("31.**.75", "M", "7622*"): 1,
    ("05.07.81", "M", "76133"): 1,
    ("31.**.81", "M", "7613*"): 1,
    ("05.07.83", "W", "76133"): 1,
    ("31.**.83", "W", "7613*"): 1,
}


def cells(result: AttackResult) -> dict[tuple[str, ...], int]:
    return {tuple(victim.labels.values()): victim.size for victim in result.examples}


def both(first: Table, second: Table, **more: Table) -> Target:
    return Target.of(second, Background(earlier={"first": first}, **more))


def test_joined_by_position_five_rows_lose_their_anonymity() -> None:
    """Not only the two that the source names: those two are known completely."""
    found = RowOrder().run(both(ward("f-h3"), ward("f-h4")), shown=None)
    assert cells(found) == {key: size for key, size in JOINED.items() if size == 1}
    assert found.evidence == {"releases_in_step": 1, "k_of_the_join": 1, "rows_known_exactly": 2}
    exact = {v.labels["Geburtstag"] for v in found.examples if v.learned.startswith("every one")}
    assert exact == {"05.07.81", "05.07.83"}
    assert cells(RowOrder(3).run(both(ward("f-h4"), ward("f-h3")), shown=None)) == JOINED


def test_a_random_order_stops_joining_by_position() -> None:
    for seed in range(5):
        assert not RowOrder().run(both(ward("f-h3"), shuffled(ward("f-h4"), seed))).succeeds


def test_after_shuffling_the_join_on_the_disease_gives_the_same() -> None:
    for seed in range(5):
        target = both(shuffled(ward("f-h3"), seed), shuffled(ward("f-h4"), seed + 1))
        found = SensitiveJoin(column="Krankheit").run(target, shown=None)
        assert cells(found) == {key: size for key, size in JOINED.items() if size == 1}
        everybody = SensitiveJoin(8, column="Krankheit").run(target, shown=None)
        assert cells(everybody) == {key: size for key, size in JOINED.items() if size == 1}


def test_joined_on_quasi_identifiers_alone_one_person_is_told_apart() -> None:
    """Only the first classes of both releases agree about 1975, so the third of them is alone elsewhere."""
    found = QuasiIdentifierJoin().run(both(ward("f-h3"), ward("f-h4")), shown=None)
    assert cells(found) == {("31.**.75", "M", "7622*"): 1}


@pytest.mark.parametrize("attack", [RowOrder(), SensitiveJoin(column="Krankheit"), QuasiIdentifierJoin()])
def test_a_generalization_of_the_earlier_release_stops_all_joins(attack) -> None:
    assert not attack.run(both(ward("f-h3"), ward("f-h5"))).succeeds


def test_complementary_releases_leave_five_people_one_value() -> None:
    found = ComplementaryRelease("Krankheit").run(
        both(ward("f-h3"), ward("f-h4"), people=REGISTER), shown=None
    )
    assert told(found) == {
        "Witzig Peter": "Hodenkrebs",
        "Schwäger Till": "Schizophrenie",
        "Traube Kai": "Diabetes",
        "Kneighty Kaira": "Magersucht",
        "Krempel Naomi": "Magersucht",
    }
    assert found.evidence["by_one_release_alone"] == 2


def test_the_candidates_of_everybody_in_both_releases() -> None:
    """For Traube the second release leaves {t2, t5, t7}; the source prints {t5, t7}."""
    expected = {
        "Meisler Hans": (["t1", "t2", "t3"], ["t1", "t3"]),
        "Witzig Peter": (["t1", "t2", "t3"], ["t2", "t5", "t7"]),
        "Feldlager Karl": (["t1", "t2", "t3"], ["t1", "t3"]),
        "Schwäger Till": (["t4", "t5"], ["t4", "t6"]),
        "Traube Kai": (["t4", "t5"], ["t2", "t5", "t7"]),
        "Kneighty Kaira": (["t6", "t7"], ["t4", "t6"]),
        "Krempel Naomi": (["t6", "t7"], ["t2", "t5", "t7"]),
    }
    found: dict[str, list[list[str]]] = {}
    for name in ("f-h3", "f-h4"):
        target = Target.of(ward(name), Background(people=REGISTER))
        classes = target.classes.ids.tolist()
        for kind in range(len(target.people.sizes)):
            (who,) = target.people.names([kind])
            fitting = set(target.fit.classes_for(kind).tolist())
            found.setdefault(who, []).append([f"t{i + 1}" for i, c in enumerate(classes) if c in fitting])
    assert {who: tuple(rows) for who, rows in found.items()} == expected


def test_clive_harry_and_isabel_are_found_out_by_the_second_release() -> None:
    """The source names Clive; the groups of Harry and Isabel have only diabetes in common, too."""
    first, second = (
        table(QUERY_MODEL / f"{name}.csv").with_roles(quasi_identifiers=["age", "zip"], sensitive=["disease"])
        for name in ("f2.3", "f2.7")
    )
    known = table(QUERY_MODEL / "f2.1.csv").with_roles(identifiers=["name"])
    there = set(second.data.column("name").to_pylist())
    survivors = Table(known.data.filter([n in there for n in known.data["name"].to_pylist()]), known.roles)
    found = ComplementaryRelease("disease").run(both(first, second, people=survivors), shown=None)
    # Emily and Doris fit overlapping groups of both releases, which leaves them more values.
    assert told(found) == dict.fromkeys(("Clive", "Harry", "Isabel"), "Diabetes")


def test_three_releases_tell_what_no_two_of_them_tell() -> None:
    values = [("a", "b", "c"), ("a", "b", "d"), ("a", "c", "d")]
    releases = [
        Table(pa.table({"age": ["20-29"] * 3, "illness": list(some)})).with_roles(
            quasi_identifiers=["age"], sensitive=["illness"]
        )
        for some in values
    ]
    ann = Table(pa.table({"name": ["Ann"], "age": ["23"]})).with_roles(identifiers=["name"])
    for one, other in itertools.permutations(releases, 2):
        assert not ComplementaryRelease("illness").run(both(one, other, people=ann)).succeeds
    earlier = {"first": releases[0], "second": releases[1]}
    target = Target.of(releases[2], Background(people=ann, earlier=earlier))
    assert told(ComplementaryRelease("illness").run(target)) == {"Ann": "a"}


# --- algorithm, membership, Anatomy, answers --------------------------------------------------------

CODES = ["10104", "10109", "10155", "10156", "10157"]
NAMES = ["Alina", "Bill", "Clive", "Doris", "Emily"]
DIGITS = Hierarchy.from_rows([[c, f"{c[:4]}*", f"{c[:3]}**", f"{c[:2]}***", "*"] for c in CODES])


def minimal(zips: list[str], values: str) -> Target:
    people = Table(pa.table({"name": NAMES, "zip": CODES})).with_roles(identifiers=["name"])
    release = Table(pa.table({"zip": zips, "disease": list(values)}))
    return Target.of(
        release.with_roles(quasi_identifiers=["zip"], sensitive=["disease"]),
        Background(people=people, minimal_for=DistinctDiversity("disease", 2), hierarchies={"zip": DIGITS}),
    )


def test_that_one_digit_less_was_not_enough_discloses_alina_and_bill() -> None:
    assert told(Minimality().run(minimal(["101**"] * 5, "AABCD"))) == {"Alina": "A", "Bill": "A"}


def test_minimality_tells_nothing_where_several_values_could_have_been_it() -> None:
    assert not Minimality().run(minimal(["101**"] * 5, "AABBC")).succeeds


def test_minimality_needs_exactly_the_people_of_the_release() -> None:
    target = minimal(["101**"] * 5, "AABCD")
    fewer = Table(target.background.people.data.slice(1), target.background.people.roles)
    rows_ = target.background.rows
    wrong = Background(people=fewer, minimal_for=DistinctDiversity("disease", 2), hierarchies={"zip": DIGITS})
    with pytest.raises(ParameterError, match="exactly the people"):
        Minimality().run(Target.of(rows_, wrong))


def test_four_people_are_in_the_table_with_three_quarters_each() -> None:
    """delta-presence of the third group for Gill, Harry, Isabel and Jake."""
    known = table(QUERY_MODEL / "f2.1.csv").data.slice(6)
    jake = pa.table({"name": ["Jake"], "age": ["27"], "zip": ["29025"], "sex": ["m"], "disease": ["?"]})
    four = Table(pa.concat_tables([known, jake])).with_roles(identifiers=["name"])
    group = rows(QUERY_MODEL / "f2.3.csv")[6:]
    release = Table(pa.Table.from_pylist(group)).with_roles(
        quasi_identifiers=["age", "zip", "sex"], sensitive=["disease"]
    )
    target = Target.of(release, Background(people=four))
    assert not MembershipAttack().run(target).succeeds
    found = MembershipAttack(0.75).run(target, shown=None)
    assert {victim.who[0]: victim.certainty for victim in found.examples} == dict.fromkeys(
        ("Gill", "Harry", "Isabel", "Jake"), 0.75
    )
    assert (found.certain, found.evidence["delta_max"]) == (False, 0.75)


def anatomy(*, printed: bool = False, order: int | None = None) -> Target:
    groups = [row["group"] for row in rows(CONCEPTS / "f-h6.csv")]
    exact = rows(CONCEPTS / ("f-h5-printed.csv" if printed else "f-h2.csv"))
    if printed:  # only the first row of the printed table is exact
        exact[0] = rows(CONCEPTS / "f-h2.csv")[0]
    first = pa.table({n: [row[n] for row in exact] for n in CONCEPT_COLUMNS} | {"GruppenID": groups})
    diseases = [row["Krankheit"] for row in rows(CONCEPTS / "f-h6.csv")]
    second = Table(pa.table({"GruppenID": groups, "Krankheit": diseases}))
    quasi_identifiers = Table(first).with_roles(quasi_identifiers=CONCEPT_COLUMNS)
    if order is not None:
        quasi_identifiers, second = shuffled(quasi_identifiers, order), shuffled(second, order + 1)
    return Target.of(quasi_identifiers, Background(people=REGISTER, sensitive_table=second))


def test_anatomy_shows_that_everybody_is_there() -> None:
    found = AnatomyMembership().run(anatomy(), shown=None)
    assert (found.victims, found.certain, found.evidence) == (7, True, {"share_of_unique_rows": 1.0})
    assert told(found)["Traube Kai"] == (
        "is in the table, with Krankheit Diabetes or Hodenkrebs or Magersucht"
    )


def test_anatomy_as_printed_hides_four_people() -> None:
    """The printed table has generalized cells, which Anatomy never makes: a copying error."""
    found = AnatomyMembership().run(anatomy(printed=True), shown=None)
    assert set(told(found)) <= {"Meisler Hans", "Witzig Peter", "Feldlager Karl"}
    assert found.evidence["share_of_unique_rows"] == pytest.approx(3 / 7)


def test_the_two_tables_of_anatomy_are_printed_in_the_same_order() -> None:
    found = AnatomyOrder().run(anatomy(), shown=None)
    assert [victim.learned for victim in found.examples] == [
        row["Krankheit"] for row in rows(CONCEPTS / "f-h2.csv")
    ]
    assert not AnatomyOrder().run(anatomy(order=1)).succeeds


def test_counts_in_the_sensitive_table_are_understood() -> None:
    rows_ = rows(QUERY_MODEL / "f2.1.csv")
    groups = ["1"] * 3 + ["2"] * 4 + ["3"] * 2
    first = Table(pa.table({n: [r[n] for r in rows_] for n in ("age", "zip", "sex")} | {"group": groups}))
    second = pa.table(
        {
            "group": list("1112223"),
            "disease": ["Asthma", "Bronchitis", "Diabetes", "Flu", "Diabetes", "Bronchitis", "Diabetes"],
            "count": [1, 1, 1, 2, 1, 1, 2],
        }
    )
    target = Target.of(
        first.with_roles(quasi_identifiers=["age", "zip", "sex"]), Background(sensitive_table=Table(second))
    )
    found = AnatomyMembership().run(target, shown=None)
    assert (found.victims, found.certain) == (9, False)
    assert found.examples[0].learned == "is in the table, with disease Asthma or Bronchitis or Diabetes"
    assert not AnatomyOrder().run(target).succeeds  # sorted by group says nothing


FOUR_ANSWERS = (
    PublishedAggregate(Function.COUNT, 3, {"age": "24"}),
    PublishedAggregate(Function.COUNT, 2, {"age": "24", "sex": "f"}),
    PublishedAggregate(Function.SUM, 13200, {"age": "24"}, "salary"),
    PublishedAggregate(Function.SUM, 4200, {"age": "24", "sex": "f"}, "salary"),
)


def test_the_difference_of_two_sums_is_the_salary_of_frank() -> None:
    known = table(QUERY_MODEL / "f2.1.csv").with_roles(identifiers=["name"])
    found = Differencing().run(Target(None, Background(people=known, answers=FOUR_ANSWERS)))
    assert told(found) == {"Frank": "salary 9000"}
    unknown = Differencing().run(Target(None, Background(answers=FOUR_ANSWERS)))
    assert [(v.labels, v.learned) for v in unknown.examples] == [
        ({"age": "24", "not": "sex f"}, "salary 9000")
    ]


@pytest.mark.parametrize("left_out", range(4))
def test_without_one_of_the_answers_nothing_is_learned(left_out: int) -> None:
    some = tuple(answer for place, answer in enumerate(FOUR_ANSWERS) if place != left_out)
    assert not Differencing().run(Target(None, Background(answers=some))).succeeds
