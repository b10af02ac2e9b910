"""Kernels as plain Python do the same as compiled ones: a table of few rows need not wait for a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import TarnkappeError
from tarnkappe.native import CompiledFunction, interpreted
from tarnkappe.privacy import MODELS
from tarnkappe.recoding import Regions
from tarnkappe.recoding.best_cuts import propose
from tarnkappe.recoding.method import Recoding
from tarnkappe.recoding.refine import refine
from tests.recoding.method_tables import Case, cases, k_anonymity

MODELS_ASKED = (
    [k_anonymity(2)],
    [k_anonymity(3), MODELS.create("distinct-diversity", {"column": "disease", "l": 2})],
    [MODELS.create("equal-closeness", {"column": "disease", "t": 0.4})],
)


def recoded(case: Case, models: list[Any], limit: float, *, ready: bool) -> Recoding | str:
    """What regions make of a table, by kernels that are compiled or by the same in plain Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreted, "is_ready", lambda _: ready)
        try:
            prepared = case.prepared(models, limit=limit)
            return Regions(block=8).recode(prepared.rows, prepared.problem)
        except TarnkappeError as error:
            return str(error)


@settings(max_examples=max(settings.default.max_examples // 6, 10))  # plain Python takes its time
@given(cases(min_rows=3), st.sampled_from(MODELS_ASKED), st.sampled_from([0.0, 0.3]))
def test_plain_python_and_compiled_kernels_write_the_same(
    case: Case, models: list[Any], limit: float
) -> None:
    plain, fast = (recoded(case, models, limit, ready=ready) for ready in (False, True))
    if isinstance(plain, str) or isinstance(fast, str):
        assert plain == fast
        return
    assert plain.steps == fast.steps
    assert plain.bound == fast.bound
    assert np.array_equal(plain.kept, fast.kept)
    for name, written in plain.written.items():
        assert written.rows(0, len(case.rows)).equals(fast.written[name].rows(0, len(case.rows)))


def test_a_plain_kernel_calls_plain_kernels_only() -> None:
    seen: set[Any] = set()

    def look(kernel: Any) -> None:
        if kernel in seen:
            return
        seen.add(kernel)
        assert not isinstance(kernel, CompiledFunction), kernel
        for name in kernel.__code__.co_names:
            called = kernel.__globals__.get(name)
            assert not isinstance(called, CompiledFunction), (kernel, name)
            if hasattr(called, "__code__") and called.__module__.startswith("tarnkappe.recoding"):
                look(called)

    for kernel in (propose, refine):
        look(interpreted.plain_function(kernel))
    assert len(seen) > 10


def test_many_rows_are_compiled_for_and_few_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = np.zeros((100, 4), np.int32), np.zeros((100_000, 4), np.int32)
    monkeypatch.setattr(interpreted, "is_ready", lambda _: False)
    assert interpreted.suited(refine, many) is refine
    assert interpreted.suited(refine, few) is interpreted.interpreted(refine)
    monkeypatch.setattr(interpreted, "is_ready", lambda _: True)
    assert interpreted.suited(refine, few) is refine
