"""Record linkage: the parts against slow twins, the whole against people who do not exist."""

from __future__ import annotations

import csv
import json
import random
import stat
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tarnkappe.errors import InputError, OutputError, ParameterError
from tarnkappe.pseudonym.linkage import Links, evaluate, link, read_decisions, write_review
from tarnkappe.pseudonym.linkage.blocking import BLOCKS, candidates
from tarnkappe.pseudonym.linkage.generated import FIELDS, TwoSources, children_of_one_name, two_sources
from tarnkappe.pseudonym.linkage.names import sound, spelled
from tarnkappe.pseudonym.linkage.records import NAME_LENGTH, records
from tarnkappe.pseudonym.linkage.similarity import (
    CLOSE,
    DIFFERENT,
    EQUAL,
    FAINT,
    MISSING,
    jaro_winkler,
    levels,
    one_slip,
)
from tarnkappe.pseudonym.linkage.weights import chances, estimate


def alike(one: str, other: str) -> float:
    letters = np.array([one, other], dtype=f"U{NAME_LENGTH}")[:, np.newaxis].view(np.uint32)
    return float(jaro_winkler(letters.reshape(2, NAME_LENGTH), np.array([0]), np.array([1]))[0])


def slow_jaro_winkler(one: str, other: str) -> float:
    """As in the textbook."""
    window = max(max(len(one), len(other)) // 2 - 1, 0)
    free = set(range(len(other)))
    matches = []
    for i, letter in enumerate(one):
        near = [j for j in sorted(free) if abs(i - j) <= window and other[j] == letter]
        if near:
            free.remove(near[0])
            matches.append((i, near[0]))
    if not matches:
        return 0.0
    first = [one[i] for i, _ in matches]
    second = [other[j] for j in sorted(j for _, j in matches)]
    displaced = sum(a != b for a, b in zip(first, second, strict=True)) / 2
    m = len(matches)
    jaro = (m / len(one) + m / len(other) + (m - displaced) / m) / 3
    prefix = next((k for k in range(4) if one[k : k + 1] != other[k : k + 1] or not one[k : k + 1]), 4)
    return jaro + 0.1 * prefix * (1 - jaro)


names = st.text("abcde", min_size=1, max_size=12)


@given(names, names)
def test_jaro_winkler_is_that_of_the_twin(one: str, other: str) -> None:
    assert alike(one, other) == pytest.approx(slow_jaro_winkler(one, other))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("martha", "marhta", 0.9611), ("dixon", "dicksonx", 0.8133), ("dwayne", "duane", 0.84), ("a", "b", 0)],
)
def test_jaro_winkler_of_the_literature(one: str, other: str, expected: float) -> None:
    assert alike(one, other) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Müller-Lüdenscheidt", "657 52682"),
        ("Wikipedia", "3412"),
        ("Breschnew", "17863"),
        ("Meier", "67"),
        ("Mayer", "67"),
        ("Schmidt", "862"),
        ("Schmitt", "862"),
        ("Philipp", "351"),
        ("Xaver", "4837"),
        ("Christa", "4782"),
        ("Cäsar", "487"),
        ("Hoxha", "048"),
    ],
)
def test_cologne_phonetics(name: str, code: str) -> None:
    assert sound(name) == code


@pytest.mark.parametrize(
    "spellings",
    [
        ("Müller", "Mueller", "MULLER", "Dr. Müller"),
        ("Groß", "Gross"),
        ("von der Heide", "Heide"),
        ("Şahin", "Sahin"),
        ("Dr.",),
    ],
)
def test_one_name_has_one_spelling(spellings: tuple[str, ...]) -> None:
    assert len({spelled(name) for name in spellings}) == 1
    assert all(spelled(name) for name in spellings)


def test_levels_of_every_field() -> None:
    left = ("Müller", "Thomas", "1958-03-12", "m", "62104")
    expected = [
        (("Mueller", "Tomas", "1958-12-03", "w", "62140"), (EQUAL, CLOSE, CLOSE, DIFFERENT, CLOSE)),
        (("Müllner", "Xenia", "1958-03-21", "M", "62999"), (CLOSE, DIFFERENT, CLOSE, EQUAL, FAINT)),
        (("Gruber", None, "12.03.1958", None, "05123"), (DIFFERENT, MISSING, EQUAL, MISSING, DIFFERENT)),
        (("Mühlner", "Thoms", "1958-03-30", "f", None), (FAINT, CLOSE, FAINT, DIFFERENT, MISSING)),
        (("Mertens", "Thilo", "1961-07-30", "f", "62105"), (DIFFERENT, FAINT, DIFFERENT, DIFFERENT, CLOSE)),
        (("M", "Th", "unknown", "", "62104"), (FAINT, FAINT, MISSING, MISSING, EQUAL)),
    ]
    for right, wanted in expected:
        right = tuple(value or None for value in right)
        found = levels(records([[left], [right]], FIELDS), np.array([[0, 1]]))
        assert tuple(found[0]) == wanted, right


def test_candidates_are_those_of_the_twin() -> None:
    made = two_sources(150, 3)
    people = records([made.clinic, made.registry], FIELDS)
    texts = {field.kind: field.texts for field in people.fields}

    def part(name: str, number: int) -> str:
        kind, _, which = name.partition(" ")
        if which == "sound":
            return sound(texts[kind][number]) or texts[kind][number]
        if which == "start":
            return texts[kind][number][: 3 if kind == "surname" else 1]
        born = texts["born"][number]
        if name == "year":
            return born[:4]
        return "".join(sorted((born[4:6], born[6:8]))) if name == "month and day" else texts[name][number]

    expected = set()
    for block in BLOCKS:
        keys = [tuple(part(name, number) for name in block) for number in range(len(people.people))]
        expected |= {
            (i, j)
            for j in range(len(keys))
            for i in range(j)
            if keys[i] == keys[j] and all(keys[i]) and not people.sources[i] & people.sources[j]
        }
    assert set(map(tuple, candidates(people).tolist())) == expected


def test_the_estimate_is_a_fixed_point_of_expectation_and_maximization() -> None:
    """One more round, pair by pair in plain Python, changes nothing."""
    made = two_sources(400, 5)
    people = records([made.clinic, made.registry], FIELDS)
    found = levels(people, candidates(people))
    weights = estimate(people, found)
    table = weights.table
    posterior = []
    for row in found.tolist():
        score = sum(table[field][level] for field, level in enumerate(row))
        odds = np.exp(score) * weights.prior / (1 - weights.prior)
        posterior.append(odds / (1 + odds))
    start = {EQUAL: 0.85, CLOSE: 0.1, FAINT: 0.03, DIFFERENT: 0.02}
    for field in range(len(FIELDS)):
        counts = {level: 2 * share for level, share in start.items()}
        for row, chance in zip(found.tolist(), posterior, strict=True):
            if row[field] != MISSING:
                counts[row[field]] += chance
        total = sum(counts.values())
        for level, count in counts.items():
            assert weights.same[field][level] == pytest.approx(count / total, abs=1e-4)
    assert sum(posterior) == pytest.approx(len(made.same), rel=0.05), "it knows how many there are"
    assert chances(np.array([0.0]), 0.5)[0] == 0.5


def figures(made: TwoSources, found: Links) -> tuple[float, float, float]:
    """Precision and recall of what was linked, and recall with what a person is asked."""
    truth = {frozenset((made.clinic[one], made.registry[other])) for one, other in made.same}
    truth = {pair for pair in truth if len(pair) == 2}  # two errors that undo each other are none
    sure = {frozenset(pair) for pair in found.sure}
    doubts = {frozenset(doubt.pair) for doubt in found.doubts}
    right = len(sure & truth)
    return right / len(sure), right / len(truth), len((sure | doubts) & truth) / len(truth)


@pytest.mark.parametrize(
    ("size", "seed", "errors"),
    [
        (2500, 1, (1, 2)),
        pytest.param(4000, 2, (1, 1), marks=pytest.mark.slow),
        pytest.param(20_000, 4, (1, 2), marks=pytest.mark.slow),
    ],
)
def test_95_percent_of_misspelled_people_are_found_at_a_precision_of_99(
    size: int, seed: int, errors: tuple[int, int]
) -> None:
    made = two_sources(size, seed, errors=errors)
    found = link([made.clinic, made.registry], FIELDS)
    precision, recall, asked = figures(made, found)
    assert precision >= 0.99
    assert recall >= 0.95
    assert asked >= 0.99, "and nearly all others are shown to a person"
    assert len(found.doubts) <= 0.05 * size, "who is not asked about everybody"


@pytest.mark.slow
def test_of_people_with_two_errors_each_94_percent_are_found_and_the_others_shown() -> None:
    made = two_sources(4000, 3, errors=(2, 2))
    precision, recall, asked = figures(made, link([made.clinic, made.registry], FIELDS))
    assert (precision >= 0.99, recall >= 0.94, asked >= 0.99) == (True, True, True)


def test_the_generator_makes_what_it_promises() -> None:
    made = two_sources(3000, 1)
    assert len(made.clinic) == len(made.registry) == 3000
    assert len(made.same) == 1500
    surnames = [person[0] for person in made.clinic]
    assert 0.02 < surnames.count("Müller") / 3000 < 0.1
    assert len(set(surnames)) > 700
    families = {}
    for person in made.clinic:
        families.setdefault((person[0], person[2], person[4]), []).append(person[1])
    assert sum(len(twins) == 2 for twins in families.values()) >= 10, "twins"
    moved = [1 for one, other in made.same if made.clinic[one][4][:2] != made.registry[other][4][:2]]
    assert len(moved) > 30
    days = [person[2] for person in made.clinic]
    assert len(set(days)) < 2900, "some have the same birthday"


def test_twins_are_kept_apart() -> None:
    made = two_sources(800, 9)
    twin = ("Unverwechselbar", "Zita", "2001-01-02", "f", "62104")
    other = ("Unverwechselbar", "Olga", "2001-01-02", "f", "62104")
    misspelled = ("Unverwechselbr", "Zita", "2001-01-02", "f", "62104")
    found = link([[*made.clinic, twin, other], [*made.registry, misspelled]], FIELDS)
    assert (twin, misspelled) in found.sure
    assert not [pair for pair in found.sure if other in pair]
    alone = link([[*made.clinic, other], [*made.registry, misspelled]], FIELDS)
    assert not [pair for pair in alone.sure if other in pair], "however much else agrees"


def with_children(size: int, seed: int, *, same_day: bool) -> tuple[TwoSources, list[tuple]]:
    """Two sources, and 4 % of parents of the clinic whose child of one name is in the registry."""
    made = two_sources(size, seed)
    families = children_of_one_name(made, seed)
    if same_day:  # the child was born on a birthday of the parent, a multiple of ten years later
        draw = random.Random(seed)
        born = [f"{int(parent[2][:4]) + draw.choice((20, 30, 40))}{parent[2][4:]}" for parent, _ in families]
        families = [(p, (*p[:2], day, *p[3:])) for (p, _), day in zip(families, born, strict=True)]
    return made, families


@pytest.mark.parametrize(("seed", "same_day"), [(1, False), (2, False), (1, True)])
def test_parent_and_child_of_one_name_are_never_one_person_without_a_person_who_says_so(
    seed: int, same_day: bool
) -> None:
    made, families = with_children(1000, seed, same_day=same_day)
    found = link([made.clinic, [*made.registry, *(child for _, child in families)]], FIELDS)
    precision, recall, asked = figures(made, found)
    pairs = {frozenset(pair) for pair in families}
    assert len(pairs) == 40
    assert not pairs & {frozenset(pair) for pair in found.sure}
    doubts = {frozenset(doubt.pair): doubt.why for doubt in found.doubts}
    assert pairs <= set(doubts), "they are shown to a person"
    assert {doubts[pair] for pair in pairs} == {"parent and child?"}
    assert (precision >= 0.997, recall >= 0.95, asked >= 0.99) == (True, True, True)


@pytest.mark.slow
@pytest.mark.parametrize("size", [4000, 10_000])
def test_the_same_holds_among_more_people(size: int) -> None:
    made, families = with_children(size, 1, same_day=False)
    found = link([made.clinic, [*made.registry, *(child for _, child in families)]], FIELDS)
    precision, recall, asked = figures(made, found)
    pairs = {frozenset(pair) for pair in families}
    assert not pairs & {frozenset(pair) for pair in found.sure}
    assert pairs <= {frozenset(doubt.pair) for doubt in found.doubts}
    assert (precision >= 0.997, recall >= 0.95, asked >= 0.99) == (True, True, True)


@pytest.mark.slow
def test_100_000_by_100_000_take_at_most_20_seconds_of_processor_time() -> None:
    small = two_sources(200, 1)
    link([small.clinic, small.registry], FIELDS)  # compiles
    made, families = with_children(100_000, 1, same_day=False)
    registry = [*made.registry, *(child for _, child in families)]
    start = time.process_time()
    found = link([made.clinic, registry], FIELDS)
    assert time.process_time() - start <= 20
    assert not {frozenset(pair) for pair in families} & {frozenset(pair) for pair in found.sure}


@given(st.text("abcdäö", min_size=1, max_size=6), st.text("abcdäö", min_size=1, max_size=6))
@example("jan", "jna")
@example("uwe", "we")
@example("lea", "lia")
@example("anna", "ana")
def test_one_slip_is_that_of_the_twin(one: str, other: str) -> None:
    def slips(name: str) -> set[str]:
        left_out = {name[:place] + name[place + 1 :] for place in range(len(name))}
        swaps = {name[:p] + name[p + 1] + name[p] + name[p + 2 :] for p in range(len(name) - 1)}
        return left_out | swaps

    expected = one != other and min(len(one), len(other)) >= 2
    expected = expected and (other in slips(one) or one in slips(other))
    letters = np.array([one, other], dtype="U24")[:, np.newaxis].view(np.uint32).reshape(2, 24)
    assert one_slip(letters, np.array([0]), np.array([1])).tolist() == [expected]


def test_the_reasons_of_a_doubt_add_up_and_say_in_words_what_they_are(tmp_path: Path) -> None:
    made, families = with_children(600, 3, same_day=False)
    doubts = link([made.clinic, [*made.registry, *(child for _, child in families)]], FIELDS).doubts
    write_review(tmp_path / "review.csv", doubts, FIELDS)
    rows = list(csv.DictReader((tmp_path / "review.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == len(doubts) > 20
    for row, doubt in zip(rows, doubts, strict=True):
        parts = [float(row[f"weight_{name}"]) for name in FIELDS]
        total = float(row["total"])
        assert sum(parts) + float(row["prior"]) == pytest.approx(total, abs=5e-4)
        assert 1 / (1 + 2**-total) == pytest.approx(doubt.chance, abs=1e-3), "the chance is that of the total"
        for name, words in zip(FIELDS, row["why"].split("; "), strict=True):
            said = {"given": "given name", "born": "birth date"}.get(name, name)
            assert said in words
            if "missing" not in words:
                assert float(words.split()[-1].replace("−", "-")) == pytest.approx(
                    float(row[f"weight_{name}"]), abs=0.051
                )


def test_known_pairs_tell_how_good_a_linkage_is() -> None:
    made, families = with_children(500, 4, same_day=False)
    sources = [made.clinic, [*made.registry, *(child for _, child in families)]]
    labels = {frozenset((made.clinic[one], made.registry[other])): True for one, other in made.same[:120]}
    labels = {pair: same for pair, same in labels.items() if len(pair) == 2}
    labels |= {frozenset(pair): False for pair in families}
    labels |= {
        frozenset((("Nobody", "N.", "1900-01-01", "f", "1"), made.clinic[0])): True
    }  # not in the tables
    measured = evaluate(sources, FIELDS, labels)
    assert [each.chance for each in measured] == [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
    for each in measured:
        found = link(sources, FIELDS, sure=each.chance)
        sure, doubts = {frozenset(pair) for pair in found.sure}, {frozenset(d.pair) for d in found.doubts}
        same = {pair for pair, one in labels.items() if one and all(p[0] != "Nobody" for p in pair)}
        right, wrong = len(sure & same), len(sure & {frozenset(pair) for pair in families})
        assert each.linked == right + wrong
        assert each.precision == pytest.approx(right / (right + wrong))
        assert (each.recall, each.shown) == pytest.approx(
            (right / len(same), len((sure | doubts) & same) / len(same))
        )
        assert each.doubts == len(found.doubts)
    with pytest.raises(ParameterError, match="no pair"):
        evaluate(sources, FIELDS, {})


KNOWN = ("Unverwechselbar", "Zita", "1971-01-12", "f", "62104")
CONTRADICTORY = {
    "another birth date": ("Unverwechselbar", "Zita", "1973-05-30", "f", "62104"),
    "no birth date": ("Unverwechselbar", "Zita", None, "f", "62104"),
    "an unreadable birth date": ("Unverwechselbar", "Zita", "in spring", "f", "62104"),
    "the birth date of the mother": ("Unverwechselbar", "Zita", "1941-01-12", "f", "62104"),
    "another birth date and a new name": ("Gruber", "Zita", "1973-05-30", "f", "62104"),
    "a twin": ("Unverwechselbar", "Olga", "1971-01-12", "f", "62104"),
    "a brother of another age": ("Unverwechselbar", "Zita", "1971-01-21", "m", "62104"),
}


@pytest.mark.parametrize("other", CONTRADICTORY.values(), ids=CONTRADICTORY)
def test_what_contradicts_a_link_is_never_sure_however_much_else_agrees(other: tuple) -> None:
    made = two_sources(800, 9)
    found = link([[*made.clinic, KNOWN], [*made.registry, other]], FIELDS)
    assert not [pair for pair in found.sure if KNOWN in pair]


@pytest.mark.parametrize("born", ["1971-12-01", "1971-01-13", "1971-10-12"])
def test_a_slip_of_the_pen_in_a_birth_date_is_still_one_person(born: str) -> None:
    made = two_sources(800, 9)
    misspelled = ("Unverwechselbar", "Zita", born, "f", "62104")
    found = link([[*made.clinic, KNOWN], [*made.registry, misspelled]], FIELDS)
    assert (KNOWN, misspelled) in found.sure


def test_two_equally_good_partners_are_left_to_a_person() -> None:
    made = two_sources(500, 11)
    one = ("Doppelgänger", "Theo", "1970-01-02", "m", "62104")
    near = [
        ("Doppelgänger", "Theo", "1970-01-03", "m", "62104"),
        ("Doppelgänger", "Theo", "1970-01-04", "m", "62104"),
    ]
    found = link([[*made.clinic, one], [*made.registry, *near]], FIELDS)
    assert not [pair for pair in found.sure if one in pair]
    assert {doubt.pair[1] for doubt in found.doubts if one in doubt.pair} == set(near)


def test_people_decide_and_are_heard() -> None:
    made = two_sources(600, 12)
    sources = [made.clinic, made.registry]
    first = link(sources, FIELDS)
    decisions = {frozenset(doubt.pair): index % 2 == 0 for index, doubt in enumerate(first.doubts)}
    wrong = first.sure[0]
    decisions[frozenset(wrong)] = False
    again = link(sources, FIELDS, decisions=decisions)
    linked = [set(group) for group in again.groups if len(group) > 1]
    for pair, same in decisions.items():
        assert any(pair <= group for group in linked) == same
    assert not [doubt for doubt in again.doubts if frozenset(doubt.pair) in decisions]
    assert sorted(person for group in again.groups for person in group) == sorted(
        {*made.clinic, *made.registry}
    )


def test_who_was_decided_to_be_two_people_is_not_made_one_by_a_third() -> None:
    made = two_sources(500, 14)
    one, two, three = (
        ("Dreifaltig", "Theo", "1970-01-02", "m", code) for code in ("62104", "62106", "62108")
    )
    sources = [[*made.clinic, one], [*made.registry, two], [three]]
    assert [len(group) for group in link(sources, FIELDS).groups if three in group] == [3]
    apart = link(sources, FIELDS, decisions={frozenset((one, two)): False})
    assert not [group for group in apart.groups if one in group and two in group]


def test_three_sources_are_linked_and_no_source_is_linked_with_itself() -> None:
    made = two_sources(600, 13)
    third = two_sources(600, 13, errors=(1, 1)).registry
    found = link([made.clinic, made.registry, third], FIELDS)
    sources = [set(made.clinic), set(made.registry), set(third)]
    assert any(len(group) == 3 for group in found.groups)
    for group in found.groups:
        for source in sources:
            assert len(source & set(group)) <= 1


@settings(max_examples=30)
@given(
    st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(["a", "b", None, "ä ö", "李"]), st.sampled_from(["1990-01-01", "x", None])
            )
        ),
        min_size=1,
        max_size=3,
    )
)
def test_any_people_can_be_linked(sources) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        people = [[person for person in source if any(person)] for source in sources]
        if any(people):
            found = link(people, ["surname", "born"])
            assert sorted(map(str, {p for source in people for p in source})) == sorted(
                str(person) for group in found.groups for person in group
            )


def test_what_cannot_be_linked_is_refused() -> None:
    with pytest.raises(ParameterError, match="'born'"):
        link([[("a",)]], ["surname"])
    with pytest.raises(ParameterError, match="doubtful <= sure"):
        link([[("a", "b")]], ["surname", "born"], sure=0.1, doubtful=0.5)


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_the_review_list_is_for_one_pair_of_eyes_and_comes_back_with_decisions(
    tmp_path: Path, suffix: str
) -> None:
    made = two_sources(600, 12)
    doubts = link([made.clinic, made.registry], FIELDS).doubts
    assert len(doubts) >= 3
    path = tmp_path / f"review{suffix}"
    write_review(path, doubts, FIELDS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name], "nothing beside it, ever"
    assert read_decisions(path, FIELDS) == {}
    decide(path, ["same", " Different", ""])
    assert read_decisions(path, FIELDS) == {frozenset(doubts[0].pair): True, frozenset(doubts[1].pair): False}
    with pytest.raises(OutputError, match="maybe with decisions"):
        write_review(path, doubts, FIELDS)
    decide(path, ["perhaps"])
    with pytest.raises(InputError, match="pair 1 is neither") as refused:
        read_decisions(path, FIELDS)
    assert not [value for value in doubts[0].pair[0][:3] if value in str(refused.value)]
    with pytest.raises(ParameterError, match=r"\.csv or \.json"):
        write_review(tmp_path / "review.txt", doubts, FIELDS)
    with pytest.raises(InputError, match="cannot be read"):
        read_decisions(tmp_path / f"none{suffix}", FIELDS)


def decide(path: Path, words: list[str]) -> None:
    if path.suffix == ".json":
        rows = json.loads(path.read_text(encoding="utf-8"))
        for row, word in zip(rows, words, strict=False):
            row["decision"] = word
        path.write_text(json.dumps(rows), encoding="utf-8")
        return
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    for place, word in enumerate(words):
        lines[place] = word + lines[place][lines[place].index(",") :]
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
