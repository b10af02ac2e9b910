"""How long each stage of the work took."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class Stopwatch:
    """How long each stage took, on top of what was measured before."""

    def __init__(self, seconds: Mapping[str, float] | None = None) -> None:
        self.seconds: dict[str, float] = dict(seconds or {})

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage; a stage that runs twice adds up."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
