"""Prebuilds the kernels when a wheel is built, so that nobody who installs it waits for a compiler.

In a clone `make kernels` does it: an installation for development should not take two minutes longer. Where
that is not possible (Numba is not at hand, the machine is of another kind, the folder cannot be written), the
package is the same without them, and kernels are compiled on first use.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PREBUILT = Path("src", "tarnkappe", "native", "prebuilt")


class PrebuiltKernels(BuildHookInterface[Any]):
    """Runs `python -m tarnkappe.native.build` and puts what it makes into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the kernels before the files of a wheel are collected."""
        root = Path(self.root)
        if version != "editable" and os.environ.get("TARN_NATIVE", "prebuilt") == "prebuilt":
            environment = os.environ | {"PYTHONPATH": str(root / "src")}
            command = [sys.executable, "-m", "tarnkappe.native.build"]
            made = subprocess.run(  # noqa: S603
                command, cwd=root, env=environment, capture_output=True, check=False
            )
            if made.returncode:
                self.app.display_warning("no kernels are prebuilt: they will be compiled on first use")
        there = [path.name for path in (root / PREBUILT).glob("kernels*")]
        if version != "editable" and there:
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
            for name in there:
                build_data["force_include"][str(root / PREBUILT / name)] = f"tarnkappe/native/prebuilt/{name}"
