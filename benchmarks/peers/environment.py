"""An environment for each peer, made when it is first asked for, and scripts that run in it.

A script gets one JSON file that says what to do and prints one JSON object. Tables travel as CSV files.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent / "scripts"
INSTALLING, RUNNING = 600, 900
"""After so many seconds an installation or a script is given up."""


class PeerError(Exception):
    """A peer cannot be installed, or does not do what it is asked for; the message says why."""


@dataclasses.dataclass(frozen=True)
class Peer:
    """A tool from the package index.

    Attributes:
        name: its name there; the script is `scripts/run_NAME.py`.
        also: what it needs and does not ask for by itself.
    """

    name: str
    also: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where its environment is; kept between runs."""
        own = os.environ.get("TARN_PEERS")
        cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
        root = Path(own) if own else cache / "tarnkappe" / "peers"
        return root / f"{self.name}-{sys.version_info.major}.{sys.version_info.minor}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def install(self) -> None:
        """Make the environment, unless it was made before."""
        done = self.folder / "installed"
        if done.is_file():
            return
        _run([sys.executable, "-m", "venv", str(self.folder)], INSTALLING, f"no environment for {self.name}")
        install = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*install, self.name, *self.also], INSTALLING, f"{self.name} cannot be installed")
        done.write_text("", encoding="utf-8")

    def run(self, **job: Any) -> dict[str, Any]:
        """Let the peer do something; its seconds and memory are measured by its script."""
        self.install()
        with tempfile.TemporaryDirectory(prefix="tarnkappe-peer-") as folder:
            asked = Path(folder) / "job.json"
            asked.write_text(json.dumps(job, default=str), encoding="utf-8")
            script = SCRIPTS / f"run_{self.name}.py"
            printed = _run(
                [str(self.python), "-W", "ignore", str(script), str(asked)], RUNNING, f"{self.name} failed"
            )
        answer: dict[str, Any] = json.loads(printed.splitlines()[-1])
        return answer


def _run(command: list[str], patience: float, what: str) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=patience, check=False, env=clean
        )
    except subprocess.TimeoutExpired:
        raise PeerError(f"{what}: it did not end within {patience:g} s") from None
    except OSError as error:
        raise PeerError(f"{what}: {error.strerror}") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        raise PeerError(f"{what}: {lines[-1][:200]}")
    return done.stdout


ANJANA, PYCANON = Peer("anjana"), Peer("pycanon")
ANONYPY, PHE = Peer("anonypy", ("pandas",)), Peer("phe")
DIFFPRIVLIB = Peer("diffprivlib", ("scikit-learn<1.6",))  # with a newer one it cannot be imported
PEERS = (ANJANA, PYCANON, ANONYPY, DIFFPRIVLIB, PHE)
