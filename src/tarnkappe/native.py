"""Compilation of the numerical kernels.

All kernels are compiled by Numba on first use, cached on disk and run without the interpreter lock,
so that threads use all cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.core import event

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(function: Kernel) -> Kernel:
    """Compile a function of arrays and numbers to machine code (cached, without the interpreter lock)."""
    try:
        return cast(Kernel, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # there is no folder that a cache could be written to
        return cast(Kernel, numba.njit(nogil=True)(function))


def is_ready(kernel: Callable[..., object]) -> bool:
    """Whether a kernel runs at once: it was compiled here, or an earlier run left it in the cache."""
    if getattr(kernel, "signatures", None):
        return True
    try:  # Numba says nothing of its cache in public; whatever it is like, asking does no harm
        return bool(kernel._cache._cache_file._load_index())  # type: ignore[attr-defined]
    except Exception:
        return False


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


@cache
def interpreted(kernel: Kernel) -> Kernel:
    """A kernel and every kernel that it calls as plain Python: the same steps, nothing to compile.

    Kernels call each other by the names of their modules, so a copy of the function gets a copy of these
    names in which every kernel is a plain one.
    """
    plain: Any = getattr(kernel, "py_func", None)
    if plain is None:  # Numba is told not to compile anything
        return kernel
    names = dict(plain.__globals__)
    copy = FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__, plain.__closure__)
    for name in plain.__code__.co_names:
        called = names.get(name)
        if hasattr(called, "py_func"):
            names[name] = copy if called is kernel else interpreted(called)
    return cast(Kernel, copy)


class _FirstCompilation(event.Listener):
    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, _: Any) -> None:
        tell, self._tell = self._tell, None
        if tell is not None:
            tell()

    def on_end(self, _: Any) -> None:
        pass


@contextmanager
def on_first_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call a function once, when a kernel has to be compiled because no earlier run left it in the cache."""
    with event.install_listener("numba:compile", _FirstCompilation(tell)):
        yield


def is_interruption(error: BaseException) -> bool:
    """Whether an error is Ctrl-C; pressed while a kernel is called, it is the cause of another error."""
    return isinstance(error, KeyboardInterrupt) or (
        isinstance(error, SystemError)
        and (
            isinstance(error.__cause__, KeyboardInterrupt) or isinstance(error.__context__, KeyboardInterrupt)
        )
    )
