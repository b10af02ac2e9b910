from __future__ import annotations

import pytest

from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.view import TableView, ViewColumn


@pytest.fixture(scope="session")
def view() -> TableView:
    return TableView(
        "patients",
        (
            ViewColumn("age", types.INTEGER, types.INTEGER),
            ViewColumn("zip", types.TEXT, types.TEXT),
            ViewColumn("Alter", types.BIGINT, types.BIGINT),
            ViewColumn("weight", types.DOUBLE, types.DOUBLE),
            ViewColumn("born", types.DATE, types.DATE),
            ViewColumn("insured", types.BOOLEAN, types.BOOLEAN),
            ViewColumn("disease", types.TEXT, types.TEXT, selects=False),
        ),
    )
