"""`python -O` leaves assertions out: what checks data is none, so the same wrong data are refused."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.conftest import ROOT

CHECKS = (
    "tests/table/test_csv_records.py",
    "tests/state/test_statement.py",
    "tests/federation/test_ciphers.py::test_a_damaged_contribution_is_refused",
    "tests/exchange/test_databases.py::test_a_line_that_is_no_figure_is_named_and_nothing_is_imported",
    "tests/exchange/test_databases.py::test_a_json_file_of_statistics_is_a_list_of_objects_and_of_nothing_else",
)
"""Files, peers and databases that say something wrong. Pytest makes its own statements of a test's assertions,
which stay."""


def test_wrong_data_are_refused_where_assertions_are_left_out() -> None:
    program = "import sys, pytest; assert False, 'they are not left out'; sys.exit(pytest.main(sys.argv[1:]))"
    command = [sys.executable, "-O", "-c", program, "-q", "-p", "no:cacheprovider", "-W", "ignore", *CHECKS]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    found = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert found.returncode == 0, found.stdout[-2000:]
    passed = re.search(r"(\d+) passed", found.stdout)
    assert passed is not None
    assert int(passed[1]) > 40
