"""Every method that writes a release is attacked."""

from __future__ import annotations

from tarnkappe.recoding import METHODS
from tests.attackers.publish import method_stages

TOO_SLOW = {"mingen"}
"""It tries every generalization of a table of some rows; `recoding/test_mingen` looks at all of its cells."""


def test_every_method_has_somebody_who_reads_its_cells() -> None:
    tried = {*method_stages.METHODS, *method_stages.AVERAGE}
    assert {method.name for method in METHODS} - TOO_SLOW <= tried
