"""Kernels as plain Python, where compiling them would take longer than the few rows do."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tarnkappe.native import CompiledFunction, Kernel, is_ready

LITTLE_WORK = 100_000
"""So many rows times squared dimensions are done with by the interpreter in less time than the kernels of
regions take to be compiled."""


def suited(kernel: Kernel, codes: npt.NDArray[np.int32]) -> Kernel:
    """The kernel, or the same in plain Python if compiling it would take longer than the few rows do.

    Args:
        kernel: what works on the rows, and looks at each pair of their dimensions.
        codes: the rows, a line each.
    """
    rows, dimensions = codes.shape
    return kernel if rows * dimensions**2 > LITTLE_WORK or is_ready(kernel) else interpreted(kernel)


@functools.cache
def interpreted(kernel: Kernel) -> Kernel:
    """A kernel and every kernel that it calls as plain Python: the same steps, nothing to compile."""
    assert isinstance(kernel, CompiledFunction)
    plain = plain_function(kernel)

    @functools.wraps(kernel.function)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):  # words wrap around, as they do in machine code
            return plain(*arguments)

    return cast(Kernel, run)


@functools.cache
def plain_function(kernel: CompiledFunction) -> FunctionType:
    """The function of a kernel, calling the functions of kernels.

    They call each other by the names of their modules, so a copy of the function gets a copy of these
    names in which every kernel is a plain one.
    """
    written = cast(FunctionType, kernel.function)
    names = dict(written.__globals__)
    copy = FunctionType(written.__code__, names, written.__name__, written.__defaults__, written.__closure__)
    for name in written.__code__.co_names:
        called = names.get(name)
        if isinstance(called, CompiledFunction):
            names[name] = copy if called is kernel else plain_function(called)
    return copy
