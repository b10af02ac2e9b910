from __future__ import annotations

import threading

import numpy as np
import pytest

from tarnkappe.native import compiled, is_interruption


def test_a_kernel_without_a_place_for_its_cache_is_compiled_all_the_same() -> None:
    made: dict[str, object] = {}
    exec("def total(values):\n    return values.sum()", made)  # a function from no file has no cache
    assert compiled(made["total"])(np.arange(4)) == 6  # type: ignore[type-var,operator]


def test_ctrl_c_is_recognized_behind_the_error_that_a_kernel_makes_of_it() -> None:
    assert is_interruption(KeyboardInterrupt())
    assert not is_interruption(SystemError("something else"))
    with pytest.raises(SystemError) as caught:
        raise SystemError("a kernel returned a result with an exception set") from KeyboardInterrupt()
    assert is_interruption(caught.value)


def test_an_error_that_ctrl_c_causes_in_a_lock_is_an_interruption() -> None:
    def interrupted() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            threading.Lock().release()

    with pytest.raises(RuntimeError) as caught:
        interrupted()
    assert is_interruption(caught.value)
    assert not is_interruption(RuntimeError("something else"))
