"""The container of the service: its steps, run outside of a container, give a service that answers."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tarnkappe.service.settings import ServiceSettings
from tests.announced import announced
from tests.conftest import ROOT

FOLDER = ROOT / "container"


def steps() -> list[tuple[str, str]]:
    """The instructions of the file with what follows each."""
    text = re.sub(r"^#.*\n", "", (FOLDER / "Containerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in lines if line]


def copied() -> list[tuple[list[str], str]]:
    """What is copied where."""
    return [(words[:-1], words[-1]) for name, said in steps() if name == "COPY" for words in [said.split()]]


def test_all_that_is_copied_is_there_and_all_that_is_built_from_is_copied() -> None:
    sources = [source for named, _ in copied() for source in named]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    for needed in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src"):
        assert needed in sources


def test_the_service_does_not_run_as_root_and_keeps_its_data_in_the_volume() -> None:
    names = dict(steps())
    assert names["USER"] not in ("root", "0")
    settings = ServiceSettings.load(FOLDER / "service.toml")
    assert str(settings.folder) == names["VOLUME"] == names["WORKDIR"]
    assert str(settings.port) == names["EXPOSE"]
    assert settings.secure


def test_the_last_user_is_said_before_the_command() -> None:
    order = [name for name, _ in steps()]
    assert order.index("USER") < order.index("CMD")
    assert order.count("USER") == order.count("CMD") == 1


@pytest.mark.slow
def test_the_steps_give_a_service_that_answers(tmp_path: Path) -> None:
    """Folders of the image are folders below this one; the port is a free one."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])

    def here(text: str) -> str:
        text = re.sub(r"(?<![\w/.])/(?=(opt|source|etc|data)\b)", f"{tmp_path}/", text)
        return text.replace("8080", port).replace("0.0.0.0", "127.0.0.1")

    for sources, target in copied():
        for source in sources:
            _copy(ROOT / source, Path(here(target)), whole=len(sources) == 1 and not target.endswith("/"))
    settings = tmp_path / "etc" / "tarnkappe" / "service.toml"
    settings.write_text(here(settings.read_text(encoding="utf-8")), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    for name, said in steps():
        if name == "RUN" and not said.startswith("useradd"):
            command = here(said).replace("python3 ", f"{sys.executable} ", 1)
            subprocess.run(shlex.split(command), env=environment, check=True)
    commands = dict(steps())
    start = [here(word) for word in json.loads(commands["CMD"])]
    check = [here(word) for word in json.loads(commands["HEALTHCHECK"].removeprefix("CMD "))]
    service = subprocess.Popen(
        [*start, "--json"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        announced(service)
        deadline = time.monotonic() + 60
        while subprocess.run(check, env=environment, capture_output=True).returncode:
            assert time.monotonic() < deadline, "it does not answer"
        assert (tmp_path / "data").is_dir()
    finally:
        service.terminate()
        service.communicate(timeout=60)


def _copy(source: Path, target: Path, *, whole: bool) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "prebuilt", "*.nbi", "*.nbc")
    if source.is_dir():
        shutil.copytree(source, target, ignore=ignored)
    else:
        (target.parent if whole else target).mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
