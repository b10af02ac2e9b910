from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines.places import PLACES, Place, place


@pytest.fixture(
    params=[pytest.param(kind, marks=[pytest.mark.slow] * (kind == "spark")) for kind in PLACES],
    scope="module",
)
def anywhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One place after another where rows can be; Spark takes its time, so `everywhere` asks for it by name."""
    with place(request.param, request, tmp_path_factory.mktemp(request.param)) as found:
        yield found
