"""Compilation of the numerical kernels.

All kernels are compiled by Numba on first use, cached on disk and run without the interpreter lock,
so that threads use all cores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(function: Kernel) -> Kernel:
    """Compile a function of arrays and numbers to machine code (cached, without the interpreter lock)."""
    return cast(Kernel, numba.njit(cache=True, nogil=True)(function))
