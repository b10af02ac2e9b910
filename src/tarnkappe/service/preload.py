"""Loads what jobs need; the fork server imports it once, so that no job has to.

It is a module of its own since importing it does something: libraries are loaded as a process of ours may.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from multiprocessing import spawn
from typing import Any

from tarnkappe.process.libraries import load_libraries

load_libraries()

from tarnkappe.service import work, worker  # noqa: E402, F401 - after the libraries

_prepare = spawn.prepare


def _prepare_without_main(data: Mapping[str, Any]) -> None:
    """Prepare a process, but without the program that the service was started by.

    No job needs it. Running it again takes longer than many jobs, and never ends if it has no guard.
    """
    _prepare({key: value for key, value in data.items() if not key.startswith("init_main")})


spawn.prepare = _prepare_without_main
gc.freeze()  # a collection in a job would write to every object here, and so copy what all jobs share
