"""What makes the command line start fast. A library must not do it: it would change the process of others.

Numba and pyarrow look for packages that they could work with, and loading those takes as long as all of our
work on a small table. The command line needs none of them for that: kernels do no linear algebra, call
nothing foreign, are not measured line by line and not set up by a file, and no data frame is ever made. All
of them can be imported as always afterwards. Numba itself is loaded only for a kernel that is not prebuilt.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib.abc import MetaPathFinder
from threading import get_ident
from typing import Any

UNNEEDED = ("scipy", "yaml", "coverage", "cffi", "pandas")


_is_ours = False
"""Whether the process is ours, so that what it loads may be decided here."""


def load_libraries() -> None:
    """Load pyarrow while the packages that it would look for are hidden; Numba is loaded so later, too."""
    global _is_ours
    _is_ours = True
    with _hidden():
        import pyarrow as pa

        pa.array([0]).to_numpy()  # looks for pandas, once


@cache
def load_numba() -> Any:
    """Load Numba; in a process of ours without the packages that it would look for."""
    with _hidden() if _is_ours else nullcontext():
        import numba.np.arraymath  # looks for linear algebra and for coverage

        numba.core.registry.cpu_target.typing_context.refresh()  # looks for cffi
    return numba


class _Hider(MetaPathFinder):
    def __init__(self) -> None:
        self._thread = get_ident()  # others may load what they like in the meantime

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        del path, target
        if fullname in UNNEEDED and get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is hidden for a moment", name=fullname)


@contextmanager
def _hidden() -> Iterator[None]:
    hider = _Hider()
    sys.meta_path.insert(0, hider)
    try:
        yield
    finally:
        sys.meta_path.remove(hider)
