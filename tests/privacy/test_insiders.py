"""Insiders: the worked cases of m-privacy, and what cannot be asked of a table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.privacy import MODELS, Model, MPrivacy, MPrivateDiversity, protect
from tarnkappe.table import SUPPRESSED, Tuples
from tarnkappe.table.encoding import encode_column


def table(**columns: list[str]) -> Tuples:
    return Tuples.of_rows([encode_column(name, pa.chunked_array([cells])) for name, cells in columns.items()])


def kept(model: Model, rows: Tuples) -> dict[str, bool]:
    classes = rows.classes(["zip"], distributions=model.distributions)
    found = protect(classes, [model]).kept.tolist()
    return {classes.labels(index)["zip"]: good for index, good in enumerate(found)}


def test_a_class_of_one_site_alone_may_stay_and_one_with_few_of_others_may_not() -> None:
    sites = {"a": ["ulm"] * 5, "b": ["ulm"] * 5 + ["bonn"] * 2, "c": ["ulm"] * 5 + ["bonn"] * 5}
    rows = table(
        zip=[name for name, owners in sites.items() for _ in owners],
        site=[owner for owners in sites.values() for owner in owners],
    )
    assert kept(MPrivacy(5, "site"), rows) == {"a": True, "b": False, "c": True}
    # of two that work together one may stay, so a class that needs both is no better
    assert kept(MPrivacy(5, "site", 2), rows) == {"a": True, "b": False, "c": True}


def test_three_sites_hold_against_one_and_not_against_two() -> None:
    rows = table(zip=["a"] * 9, site=["ulm"] * 3 + ["bonn"] * 3 + ["kiel"] * 3)
    assert [kept(MPrivacy(5, "site", m), rows)["a"] for m in (1, 2)] == [True, False]


def test_a_class_that_is_diverse_only_by_the_rows_of_who_asks_is_not() -> None:
    rows = table(
        zip=["a"] * 4 + ["b"] * 4,
        site=["ulm", "ulm", "bonn", "bonn"] * 2,
        disease=["flu", "gout", "flu", "flu", "flu", "gout", "flu", "gout"],
    )
    assert kept(MPrivateDiversity("disease", 2, "site"), rows) == {"a": False, "b": True}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MPrivacy(2, "site"), "suppressed cells"),
        (MPrivacy(20, "disease"), "larger than the table"),
        (MPrivateDiversity("disease", 2, "site"), "suppressed cells"),
        (MPrivateDiversity("disease", 9, "zip"), "has only 2"),
        (MPrivateDiversity("disease", 2, "number", 3), "coalitions"),
    ],
)
def test_what_cannot_be_promised_of_a_table_is_refused(model: Model, message: str) -> None:
    rows = table(
        zip=["a"] * 19,
        site=["ulm", SUPPRESSED] + ["bonn"] * 17,
        disease=["flu", "gout"] + ["flu"] * 17,
        number=[str(i) for i in range(19)],
    )
    with pytest.raises(ParameterError, match=message):
        model.check(rows, ["zip"])


def test_who_gave_a_row_is_not_what_is_protected() -> None:
    parameters = {"column": "site", "l": 2, "insider": "site"}
    with pytest.raises(ParameterError, match="another column than the sensitive one"):
        MODELS.create("m-private-diversity", parameters)
