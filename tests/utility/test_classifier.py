"""What a classifier learns from releases."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.recoding.anatomy import anatomy_tables
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Table
from tarnkappe.table.encoding import encode_column
from tarnkappe.utility import (
    ColumnDomain,
    ReleaseReader,
    anatomy_view,
    classifier_accuracy,
    exact_view,
    written_view,
)

pytest.importorskip("sklearn", reason="scikit-learn is not installed")


def people(seed: int, number: int = 600) -> pa.Table:
    """Those from the coast are sailors, most of the others farmers."""
    random = np.random.default_rng(seed)
    coast = random.random(number) < 0.5
    job = np.where(random.random(number) < 0.9, np.where(coast, "sailor", "farmer"), "smith")
    return pa.table({"coast": coast.astype(int), "age": random.integers(20, 60, number), "job": job})


TRAINED, ASKED = people(1), people(2)
DOMAINS = {
    n: ColumnDomain(encode_column(n, pa.chunked_array([*TRAINED.column(n).chunks, *ASKED.column(n).chunks])))
    for n in TRAINED.column_names
}
ORIGINAL, HELD_OUT = exact_view(DOMAINS, TRAINED), exact_view(DOMAINS, ASKED)


def accuracy(release: ReleaseReader) -> tuple[float, float, float]:
    found = classifier_accuracy(ORIGINAL, release, HELD_OUT, "job", ["coast", "age"])
    assert (found.target, found.rows) == ("job", 600)
    return found.original, found.release, found.most_frequent


def test_an_exact_release_teaches_as_much_as_the_original() -> None:
    original, release, guess = accuracy(written_view(DOMAINS, TRAINED))
    assert original == release > 0.85
    assert guess < 0.5


def test_from_suppressed_cells_nothing_is_learned() -> None:
    blank = TRAINED.set_column(0, "coast", pa.array(["*"] * 600)).set_column(1, "age", pa.array(["*"] * 600))
    original, release, guess = accuracy(written_view(DOMAINS, blank))
    assert original > 0.85
    assert release == guess, "it always says what is most frequent"


def test_anatomy_teaches_what_groups_tell() -> None:
    table = Table(TRAINED).with_roles(quasi_identifiers=["coast", "age"], sensitive=["job"])
    alone = np.arange(600, dtype=np.int32)
    exact = anatomy_view(DOMAINS, *anatomy_tables(table, alone, Chance(1)).values())
    assert accuracy(exact)[1] > 0.85, "groups of one tell everything"
    together = anatomy_view(DOMAINS, *anatomy_tables(table, alone * 0, Chance(1)).values())
    assert accuracy(together)[1] < 0.6, "one group for all tells nothing of anybody"


def test_nothing_to_predict_is_refused() -> None:
    with pytest.raises(ParameterError, match="nothing to predict 'job' from"):
        classifier_accuracy(ORIGINAL, ORIGINAL, HELD_OUT, "job", ["job"])
    same = TRAINED.set_column(2, "job", pa.array(["smith"] * 600))
    with pytest.raises(ParameterError, match="one value only"):
        classifier_accuracy(exact_view(DOMAINS, same), ORIGINAL, HELD_OUT, "job", ["age"])
