"""The report says what is true of the table: compared with slow twins, and at its edges."""

from __future__ import annotations

import dataclasses
import json
import time
from collections import Counter
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, HierarchyError, InputError, ParameterError, TarnkappeError
from tarnkappe.hierarchy import Hierarchy, read_hierarchy
from tarnkappe.privacy import (
    MODELS,
    BasicBetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    KAnonymity,
    KullbackLeiblerCloseness,
    OrderedCloseness,
    RecursiveDiversity,
    VariationalCloseness,
)
from tarnkappe.privacy.verify import verify
from tarnkappe.risk import check
from tarnkappe.risk.guarantees import GUARANTEES
from tarnkappe.risk.sizes import class_sizes
from tarnkappe.table import Table
from tests.privacy.test_battery import skewed_examples
from tests.privacy.twins import TWINS
from tests.random_tables import DISEASE_LEVELS, Example, examples, group

MODEL_OF_KEY = {
    "distinct_l": lambda column: DistinctDiversity(column, 1),
    "entropy_l": lambda column: EntropyDiversity(column, 1),
    "t_equal": lambda column: EqualCloseness(column, 1),
    "t_ordered": lambda column: OrderedCloseness(column, 1),
    "t_hierarchical": lambda column: HierarchicalCloseness(column, 1),
    "t_variational": lambda column: VariationalCloseness(column, 1),
    "t_kullback_leibler": lambda column: KullbackLeiblerCloseness(column, 1),
    "delta_disclosure": lambda column: DeltaDisclosure(column, 1),
    "beta": lambda column: BasicBetaLikeness(column, 1),
}
DISEASE_HIERARCHY = Hierarchy.from_rows(
    [[value, *(level[value] for level in DISEASE_LEVELS)] for value in DISEASE_LEVELS[0]]
)
SENSITIVE = ("disease", "treatment")


def as_table(rows: list[dict[str, Any]]) -> Table:
    return Table(pa.Table.from_pylist(rows))


def people(*rows: tuple[Any, ...]) -> Table:
    """A table of quasi-identifier 'age' and sensitive 'illness'."""
    ages, illnesses = zip(*rows, strict=True)
    table = Table(pa.table({"age": ages, "illness": illnesses}))
    return table.with_roles(quasi_identifiers=["age"], sensitive=["illness"])


def test_every_guarantee_has_a_slow_twin() -> None:
    assert {guarantee.key for guarantee in GUARANTEES} == {*MODEL_OF_KEY, "alpha"}


@given(example=examples())
@settings(max_examples=60)
def test_every_measure_is_the_worst_that_the_slow_twin_finds(example: Example) -> None:
    names = example.quasi_identifiers
    report = check(
        as_table(example.rows),
        quasi_identifiers=names,
        sensitive=SENSITIVE,
        hierarchies={"disease": DISEASE_HIERARCHY},
    )
    alone = list(group(example.rows, names).values())
    for column in SENSITIVE:
        others = [other for other in SENSITIVE if other != column]
        divided = list(group(example.rows, (*names, *others)).values())
        found = report.sensitive[column]
        assert_measured_as_by_twins(found.measured, column, alone, example)
        assert_measured_as_by_twins(found.given_others, column, divided, example)
        assert found.values == len({row[column] for row in example.rows})
        for rank, c in found.recursive_c.items():
            model = RecursiveDiversity(column, 1, rank)
            twins = [TWINS[model.name](model, m, example.rows, m, example)[0] for m in alone]
            assert c == pytest.approx(float(max(twins)))
        assert list(found.recursive_c) == list(range(2, int(found.measured["distinct_l"].value) + 1))


def assert_measured_as_by_twins(measured, column: str, classes: list[list[Any]], example: Example) -> None:
    assert ("t_hierarchical" in measured) == (column == "disease")
    for key, found in measured.items():
        values = []
        for members in classes:
            if key == "alpha":
                values.append(Fraction(max(Counter(r[column] for r in members).values()), len(members)))
            else:
                model = MODEL_OF_KEY[key](column)
                values.append(TWINS[model.name](model, members, example.rows, members, example)[0])
        worst = float(min(values) if found.direction.high_is_good else max(values))
        assert found.value == pytest.approx(worst, abs=1e-9), key
        labels = {name: str(label) for name, label in found.worst_class.items()}
        members = next(m for m in classes if all(show(m[0][name]) == labels[name] for name in labels))
        assert float(values[classes.index(members)]) == pytest.approx(worst, abs=1e-9), key


def show(value: Any) -> str:
    return "(missing)" if value is None else str(value)


@given(example=examples())
@settings(max_examples=100)
def test_sizes_and_risks_are_those_of_the_rows(example: Example) -> None:
    report = check(as_table(example.rows), quasi_identifiers=example.quasi_identifiers)
    sizes = [len(members) for members in group(example.rows, example.quasi_identifiers).values()]
    each = [size for size in sizes for _ in range(size)]
    assert (report.rows, report.classes, report.k) == (len(example.rows), len(sizes), min(sizes))
    assert report.sizes.uniques == sum(size == 1 for size in sizes)
    assert report.sizes.average == pytest.approx(len(example.rows) / len(sizes))
    assert report.sizes.prosecutor_max == pytest.approx(max(1 / size for size in each))
    assert report.sizes.prosecutor_mean == pytest.approx(sum(1 / size for size in each) / len(each))
    assert sum(part.classes for part in report.sizes.histogram) == len(sizes)
    assert sum(part.rows for part in report.sizes.histogram) == len(example.rows)
    for part in report.sizes.histogram:
        assert part.classes == sum(part.least <= size <= part.most for size in sizes)
    for share, size in report.sizes.quantiles.items():
        assert sum(other <= size for other in sizes) >= share * len(sizes)
        assert sum(other < size for other in sizes) < share * len(sizes)


@given(example=examples(max_columns=3), data=st.data())
@settings(max_examples=60)
def test_fewer_known_columns_never_make_k_smaller(example: Example, data: st.DataObject) -> None:
    names = example.quasi_identifiers
    subset = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    table = as_table(example.rows)
    assert check(table, quasi_identifiers=subset).k >= check(table, quasi_identifiers=names).k


@given(example=examples(), data=st.data())
@settings(max_examples=50)
def test_the_report_does_not_depend_on_the_order_of_the_rows(example: Example, data: st.DataObject) -> None:
    def report(rows: list[dict[str, Any]]) -> dict[str, Any]:
        found = check(as_table(rows), quasi_identifiers=example.quasi_identifiers, sensitive=SENSITIVE)
        return json.loads(
            json.dumps(found.to_dict(), allow_nan=False), parse_float=lambda x: round(float(x), 9)
        )

    assert report(example.rows) == report(data.draw(st.permutations(example.rows)))


@given(example=examples(with_population=True))
@settings(max_examples=50)
def test_presence_is_the_least_and_the_greatest_share_of_the_population(example: Example) -> None:
    names = example.quasi_identifiers
    assert example.population is not None
    report = check(as_table(example.rows), quasi_identifiers=names, population=as_table(example.population))
    inside, everyone = group(example.rows, names), group(example.population, names)
    shares = [len(inside.get(key, ())) / len(members) for key, members in everyone.items()]
    assert report.presence is not None
    assert report.presence.delta_min == pytest.approx(min(shares))
    assert report.presence.delta_max == pytest.approx(max(shares))
    assert (report.classes, report.k) == (len(inside), min(map(len, inside.values())))


def test_every_verdict_is_confirmed_by_sql() -> None:
    for example in skewed_examples()[:3]:
        names, population = example.quasi_identifiers, as_table(example.population or [])
        connection = duckdb.connect()
        for relation in ("input", "release"):
            connection.register(relation, as_table(example.rows).data)
        connection.register("everyone", population.data)
        for model in (instance for kind in MODELS for instance in kind.examples()):
            try:
                report = check(
                    as_table(example.rows),
                    quasi_identifiers=names,
                    hierarchies={"disease": DISEASE_HIERARCHY},
                    population=population,
                    models=[model],
                )
            except TarnkappeError:  # the table is too small for what the model asks
                continue
            sensitive = dict(example.tuples.columns)
            confirmed = verify(connection, [model], names, population="everyone", sensitive=sensitive)
            assert report.holds == all(found.holds for found in confirmed), model


def test_verdicts_say_whether_and_for_whom_a_model_fails() -> None:
    table = people(
        (30, "flu"), (30, "cold"), (30, "flu"), (40, "flu"), (40, "flu"), (50, "cold"), (50, "flu")
    )
    models = [KAnonymity(2), KAnonymity(3), DistinctDiversity("illness", 2), EntropyDiversity("illness", 2)]
    report = check(table, models=models)
    found = [(v.value, v.holds, v.violating_classes, v.violating_rows) for v in report.verdicts]
    assert found == [
        (2.0, True, 0, 0),
        (2.0, False, 2, 4),
        (1.0, False, 1, 2),
        (pytest.approx(1.0), False, 2, 5),
    ]
    assert not report.holds
    assert check(table, models=models[:1]).holds
    assert check(table).holds
    absent = check(
        table, population=people(*[(30, "")] * 3, *[(40, "")] * 4, *[(50, "")] * 2, (60, "")),
        models=[DeltaPresence(0.4, 1.0)],
    )  # fmt: skip
    assert not absent.holds
    assert absent.verdicts[0].violating_rows == 0


def test_a_column_of_a_model_is_sensitive_even_if_nobody_said_so() -> None:
    table = people((30, "flu"), (30, "cold")).with_roles(quasi_identifiers=["age"])
    report = check(table, models=[DistinctDiversity("illness", 2)])
    assert report.holds
    assert list(report.sensitive) == ["illness"]


def test_the_worst_classes_are_those_an_attacker_is_most_often_right_about() -> None:
    table = people(
        (1, "flu"), (1, "cold"),
        (2, "flu"), (2, "flu"), (2, "flu"),
        (3, None),
        (4, "flu"), (4, "flu"), (4, "cold"), (4, None),
    )  # fmt: skip
    worst = check(table, worst=3).worst
    assert [(w.labels["age"], w.size, w.risk) for w in worst] == [("3", 1, 1.0), ("2", 3, 1.0), ("1", 2, 0.5)]
    assert [w.values["illness"] for w in worst] == [{"(missing)": 1}, {"flu": 3}, {"cold": 1, "flu": 1}]
    assert check(table, worst=0).worst == ()
    assert len(check(table, worst=99).worst) == 4


def test_only_the_most_frequent_values_of_a_worst_class_are_shown() -> None:
    table = people(*[(1, f"illness {n}") for n in range(9)], (1, "illness 8"))
    (worst,) = check(table).worst
    assert list(worst.values["illness"].items())[:2] == [("illness 8", 2), ("illness 0", 1)]
    assert (len(worst.values["illness"]), worst.others["illness"]) == (5, 4)


def test_missing_values_are_values_and_suppressed_cells_are_none() -> None:
    missing = check(people((30, "flu"), (30, None))).sensitive["illness"]
    assert (missing.values, missing.measured["distinct_l"].value) == (2, 2)
    report = check(people((30, "flu"), (30, "*"), (40, "flu"), (40, "cold")))
    starred = report.sensitive["illness"]
    assert (starred.values, starred.measured["distinct_l"].value) == (2, 1)
    assert starred.measured["alpha"].value == 1
    assert next(a for a in report.attacks if a.attack == "homogeneity").victims == 2


def test_suppressed_cells_need_no_line_in_a_hierarchy() -> None:
    hierarchies = {"illness": DISEASE_HIERARCHY}
    rows = [(30, "flu"), (30, "cold"), (30, "ulcer"), (40, "flu"), (40, "cold")]
    plain = check(people(*rows), hierarchies=hierarchies)
    starred = check(people(*rows, (30, "*"), (40, "*")), hierarchies=hierarchies)
    for report in (plain, starred):
        assert report.sensitive["illness"].measured["t_hierarchical"].value == pytest.approx(0.2)
        similarity = next(a for a in report.attacks if a.attack == "similarity")
        assert [example.learned for example in similarity.examples] == ["lung"]


def test_a_wholly_suppressed_column_gives_nothing_away() -> None:
    report = check(people((30, "*"), (30, "*")), hierarchies={"illness": DISEASE_HIERARCHY})
    assert (report.sensitive["illness"].values, report.sensitive["illness"].measured) == (0, {})
    assert not any(attack.succeeds for attack in report.attacks)


@pytest.mark.parametrize("numbers", [(1, 1, 1), (7, 7, 7, 7, 7), (1, 1, 1, 1, 1, 1)])
def test_an_entropy_that_is_just_reached_is_a_whole_number(numbers: tuple[int, ...]) -> None:
    rows = [(30, f"illness {index}") for index, number in enumerate(numbers) for _ in range(number)]
    measured = check(people(*rows)).sensitive["illness"].measured["entropy_l"].value
    assert measured == len(numbers)


def test_an_entropy_that_is_just_missed_is_never_rounded_up() -> None:
    counts = np.array([500_001, 500_000, 499_999])
    table = Table(
        pa.table({"age": np.zeros(counts.sum(), np.int8), "illness": np.repeat(["a", "b", "c"], counts)})
    )
    report = check(table, quasi_identifiers=["age"], sensitive=["illness"])
    assert 2.999999 < report.sensitive["illness"].measured["entropy_l"].value < 3


def test_histogram_bins_are_few_and_cover_every_size() -> None:
    sizes = class_sizes(np.array([1, 2, 3, 4, 5, 9, 10, 19, 20, 1_000_000]))
    assert [(part.least, part.most) for part in sizes.histogram][:6] == [
        (1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49),
    ]  # fmt: skip
    assert sizes.histogram[-1].least == 1_000_000
    assert len(sizes.histogram) < 25


def test_one_row_is_a_table() -> None:
    report = check(people((30, "flu")))
    assert (report.k, report.sizes.uniques) == (1, 1)
    assert report.sensitive["illness"].measured["t_equal"].value == 0
    json.dumps(report.to_dict(), allow_nan=False)
    assert "k = 1" in str(report)


def test_bad_questions_are_refused() -> None:
    table = people((30, "flu"), (40, "cold"))
    with pytest.raises(InputError, match="no rows"):
        check(Table(table.data.slice(0, 0), table.roles))
    with pytest.raises(ColumnError, match="no quasi-identifier"):
        check(table, quasi_identifiers=[])
    with pytest.raises(ColumnError, match="both a quasi-identifier and sensitive"):
        check(table, quasi_identifiers=["age", "illness"])
    with pytest.raises(ColumnError, match="no column 'ilness': did you mean 'illness'"):
        check(table, sensitive=["ilness"])
    with pytest.raises(ColumnError, match="no column 'sex'"):
        check(table, models=[DistinctDiversity("sex", 2)])
    with pytest.raises(ParameterError, match="k = 3 is larger than the table"):
        check(table, models=[KAnonymity(3)])
    with pytest.raises(HierarchyError, match="'illness'"):
        check(table, hierarchies={"illness": Hierarchy.from_rows([["flu", "*"]])})
    with pytest.raises(ParameterError, match="population"):
        check(table, models=[DeltaPresence(0, 0.5)])


def test_adult_is_reported_right_and_fast(adult) -> None:
    options = pyarrow.csv.ParseOptions(delimiter=";")
    table = Table(pyarrow.csv.read_csv(adult / "adult.csv", parse_options=options))
    known = [name for name in table.column_names if name != "occupation"]
    hierarchies = {"occupation": read_hierarchy(adult / "adult_hierarchy_occupation.csv")}
    check(table, quasi_identifiers=known, sensitive=["occupation"], hierarchies=hierarchies)
    start = time.process_time()
    report = check(table, quasi_identifiers=known, sensitive=["occupation"], hierarchies=hierarchies)
    assert time.process_time() - start < 1
    rows = table.data.to_pylist()
    classes = Counter(tuple(row[name] for name in known) for row in rows)
    assert (report.rows, report.classes) == (30162, len(classes))
    assert report.sizes.uniques == sum(size == 1 for size in classes.values())

    coarse = check(table, quasi_identifiers=["sex", "race"], sensitive=["occupation", "salary-class"])
    for column, found in coarse.sensitive.items():
        values: dict[tuple[str, str], Counter[str]] = {}
        for row in rows:
            values.setdefault((row["sex"], row["race"]), Counter())[row[column]] += 1
        least = min(len(counter) for counter in values.values())
        for rank in range(2, least + 1):
            ordered = [sorted(counter.values(), reverse=True) for counter in values.values()]
            c = max(Fraction(counts[0], sum(counts[rank - 1 :])) for counts in ordered)
            assert found.recursive_c[rank] == pytest.approx(float(c))
        assert max(found.recursive_c) == least == found.measured["distinct_l"].value


def test_a_report_is_plain_frozen_data() -> None:
    report = check(people((30, "flu"), (30, "cold")))
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.rows = 1
