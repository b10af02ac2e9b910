from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gate.server.gates import Running, people, policy, put, running


@pytest.fixture(scope="module", params=["postgresql", pytest.param("duckdb", marks=pytest.mark.slow)])
def gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A gate in front of a table, which is in one place after another."""
    folder = tmp_path_factory.mktemp(request.param)
    place = request.getfixturevalue("postgres") if request.param == "postgresql" else request.param
    with running(policy(put(people(120), place, folder), folder), folder) as found:
        yield found


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A gate in front of a Parquet file."""
    folder = tmp_path_factory.mktemp("small")
    with running(policy(put(people(60), "parquet", folder), folder), folder) as found:
        yield found


@pytest.fixture(scope="module")
def computing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A gate as it comes: any SELECT runs over its answers, and figures are estimated."""
    folder = tmp_path_factory.mktemp("computing")
    of_file = policy(put(people(60), "parquet", folder), folder)
    with running(of_file, folder, post_processing=True, aggregates="estimate") as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
