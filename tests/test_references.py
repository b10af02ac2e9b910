"""The papers behind the members of the families: named by all, found in docs/references.bib, printed."""

from __future__ import annotations

import re
import runpy
from typing import Any

import pytest

from tarnkappe.federation.ciphers import GROUPS
from tarnkappe.lattice import SEARCHES
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.recoding import BUCKETIZATIONS, METHODS
from tarnkappe.recoding.perturbation import PERTURBATIONS
from tarnkappe.risk import ATTACKS, MEASURES
from tests.conftest import ROOT

FAMILIES: tuple[Any, ...] = (
    MODELS,
    LOSSES,
    SEARCHES,
    METHODS,
    BUCKETIZATIONS,
    PERTURBATIONS,
    ATTACKS,
    MEASURES,
    GROUPS,
)
WITHOUT = {
    "value-closeness": "a pair of bounds a value, as users ask for them",
    "static": "numbers of the user",
    "auto": "chooses among the others",
    "best-first": "textbook search",
    "dfs": "textbook search",
    "bfs": "textbook search",
    "exhaustive": "textbook search",
    "stochastic": "textbook search",
    "anatomy-order": "a mistake in writing two tables, not in the method",
    "p-192": "a standard curve, kept to compare figures",
}
BIB = ROOT / "docs" / "references.bib"
PAPERS = runpy.run_path(str(ROOT / "docs" / "reference" / "generate.py"))["references"]()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: next(iter(family)).name)
def test_every_member_names_its_papers_or_why_it_has_none(family: Any) -> None:
    for kind in family:
        assert bool(kind.cites) != (kind.name in WITHOUT), kind.name
        assert set(kind.cites) <= set(PAPERS), kind.name


def test_every_paper_is_cited_and_read() -> None:
    keys = re.findall(r"^@\w+\{(\w+),", BIB.read_text(encoding="utf-8"), re.MULTILINE)
    assert keys == sorted(set(keys))
    assert set(keys) == set(PAPERS), "an entry that the script does not read"
    assert set(keys) == {key for family in FAMILIES for kind in family for key in kind.cites}
    for line in PAPERS.values():
        assert re.search(r"(19|20)\d\d", line), line
        assert "doi" not in line or re.search(r"\[doi:10\.\d{4,5}/\S+\]", line), line


def test_the_reference_prints_them() -> None:
    page = (ROOT / "docs" / "reference" / "models.md").read_text(encoding="utf-8")
    assert "https://doi.org/10.1142/S0218488502001648" in page
