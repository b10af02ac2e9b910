"""`prove`: rules by name, plans in every notation; equal, partially equal or a counterexample."""

from __future__ import annotations

import pytest

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.equivalence import EquivalenceFinding, EquivalenceVerdict
from tarnkappe.algebra.json_document import plan_json
from tarnkappe.algebra.noise import Dynamic
from tarnkappe.algebra.proof import RuleFinding
from tarnkappe.algebra.proving import prove, read_plan
from tarnkappe.algebra.xml_document import plan_xml
from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError, QueryError

CATALOG = Catalog({"spende": ("A", "B"), "archiv": ("A", "B")})
NOISY = "SELECT * FROM randomize({}, probability => {{A: 0.25}})"


def finding(*claim: str, catalog: Catalog = CATALOG) -> EquivalenceFinding:
    found = prove(claim, catalog)
    assert isinstance(found, EquivalenceFinding)
    return found


@pytest.mark.parametrize(
    ("name", "rule"), [("G11", "G11"), ("DP04", "D9"), ("S7", "S7"), ("ProjUnion", "ProjUnion")]
)
def test_a_rule_is_proved_by_its_name(name: str, rule: str) -> None:
    found = prove([name], CATALOG)
    assert isinstance(found, RuleFinding)
    assert found.rule.name == rule
    assert found.is_confirmed


def test_a_refuted_exchange_shows_its_counterexample() -> None:
    assert "no exchange holds in general" in str(prove(["G19"], CATALOG))


def test_equal_plans() -> None:
    late = NOISY.format("(SELECT * FROM spende UNION ALL SELECT * FROM archiv)")
    early = f"{NOISY.format('spende')} UNION ALL {NOISY.format('archiv')}"
    assert finding(late, early).verdict is EquivalenceVerdict.EQUAL


def test_partially_equal_plans() -> None:
    late = "SELECT * FROM generalize(spende, k => 2, by => [A]) WHERE B <> 'x'"
    early = "SELECT * FROM generalize((SELECT * FROM spende WHERE B <> 'x'), k => 2, by => [A])"
    found = finding(late, early)
    assert found.verdict is EquivalenceVerdict.PARTIALLY_EQUAL
    assert found.degrees == (1, 2), "the late selection tears classes, and the finding says so"


@pytest.mark.parametrize("condition", ["A <> ''", "A LIKE '%'", "A LIKE '%' OR A IS NULL"])
def test_a_text_without_a_line_in_its_hierarchy_stops_no_comparison(condition: str) -> None:
    """The empty text, which a hierarchy takes for the missing value: a plan that generalizes it has no result."""
    late = "SELECT A FROM generalize(spende, k => 2, by => [A])"
    early = f"SELECT A FROM generalize((SELECT * FROM spende WHERE {condition}), k => 2, by => [A])"
    found = finding(late, early)
    assert found.undefined + found.one_sided > 0
    assert "left out because a plan has no result there" in str(found)
    assert (found.verdict is EquivalenceVerdict.EQUAL) == ("IS NULL" in condition)


def test_different_plans_have_a_counterexample() -> None:
    found = finding(NOISY.format("spende"), "SELECT * FROM spende")
    assert found.verdict is EquivalenceVerdict.DIFFERENT
    assert found.difference is not None


def test_noise_that_depends_on_the_old_value_is_known_from_the_catalog() -> None:
    """D6 as first published: true for static noise, false for dynamic."""
    twice, once = (
        NOISY.format(f"({NOISY.format('spende')})"),
        NOISY.format("spende").replace("0.25", "0.4375"),
    )
    assert finding(twice, once).verdict is EquivalenceVerdict.EQUAL
    dynamic = Catalog(CATALOG.relations, noise={"A": Dynamic({})})
    assert finding(twice, once, catalog=dynamic).verdict is EquivalenceVerdict.DIFFERENT


def test_plans_may_be_documents() -> None:
    plan = read_plan("SELECT A FROM spende WHERE B = 'x'", CATALOG)
    nothing = Catalog({})
    assert finding(plan_xml(plan), plan_json(plan), catalog=nothing).verdict is EquivalenceVerdict.EQUAL


@pytest.mark.parametrize(
    ("claim", "error", "message"),
    [
        (["G99"], ParameterError, "unknown rule 'G99'"),
        ([], ParameterError, "two plans"),
        (["SELECT A FROM spende", "SELECT B FROM spende"], ColumnError, "different columns"),
        (["SELECT A FROM spende", "SELECT A FROM nirgends"], QueryError, "no table 'nirgends'"),
    ],
)
def test_what_cannot_be_proved(claim: list[str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        prove(claim, CATALOG)


WIDE = Catalog({"spende": tuple("ABCDEFGH"), "archiv": tuple("ABCDEFGH")}, bucket=10)


def test_wide_tables_and_large_degrees_are_tried_on_small_relations() -> None:
    """Eight columns and k = 50 would leave no relation to try: what nobody tells apart is one column."""
    late = "SELECT * FROM generalize(spende, k => 50, by => [A]) WHERE B = 'x'"
    early = "SELECT * FROM generalize((SELECT * FROM spende WHERE B = 'x'), k => 50, by => [A])"
    found = finding(late, early, catalog=WIDE)
    assert found.verdict is EquivalenceVerdict.PARTIALLY_EQUAL
    assert found.rows >= 3
    assert found.notes == ("k = 50 is tried as 2", "C stands for D, E, F, G, H as well")
    assert "k = 50 is tried as 2" in str(found)
    assert found.as_dict()["notes"] == list(found.notes)


def test_the_order_of_degrees_is_kept() -> None:
    twice = "SELECT A FROM generalize(generalize(spende, k => {}, by => [A]), k => {}, by => [A])"
    once = "SELECT A FROM generalize(spende, k => {}, by => [A])"
    assert finding(twice.format(50, 20), once.format(50), catalog=WIDE).verdict is EquivalenceVerdict.EQUAL
    assert (
        finding(twice.format(20, 50), once.format(20), catalog=WIDE).verdict is not EquivalenceVerdict.EQUAL
    )


def test_columns_in_different_sets_of_a_slicing_are_told_apart() -> None:
    one = "SELECT * FROM slice(spende, groups => [[A, B, C, D], [E, F, G, H]])"
    other = "SELECT * FROM slice(spende, groups => [[A, B, C, E], [D, F, G, H]])"
    assert finding(one, one, catalog=WIDE).verdict is EquivalenceVerdict.EQUAL
    assert finding(one, other, catalog=WIDE).verdict is not EquivalenceVerdict.EQUAL


def test_nothing_tried_is_nothing_proved() -> None:
    plan = "SELECT * FROM generalize((SELECT * FROM spende WHERE A = 'x' AND A = 'y'), k => 2, by => [A])"
    with pytest.raises(NoSolutionError, match="nothing can be said"):
        finding(plan, plan)
