"""The documented first command, in an empty folder, with nothing else said: from a file to its release."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.csv
import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

from tarnkappe.table import examples
from tests.conftest import ROOT
from tests.web.steps import PATIENCE, Service, Walk
from tests.web.test_newcomer import (
    KNOWN,
    bring,
    hold_to_promise,
    look_at_hierarchies,
    promise,
    say_what_columns_are,
    take_release,
)

LINK = re.compile(r"(http://\S+)/login/link\?secret=\S+")


def documented() -> list[str]:
    """The last line of the first example in the how-to: how a service is started."""
    page = (ROOT / "docs" / "how-to" / "service.md").read_text(encoding="utf-8")
    return shlex.split(page.partition("```sh\n")[2].partition("```")[0].strip().splitlines()[-1])


@contextmanager
def plain(folder: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The documented command in a folder, and the line with the link that it prints."""
    beside = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}"}
    program, *said = documented()
    found = shutil.which(program, path=environment["PATH"])
    assert found is not None, f"{program} is not installed"
    with subprocess.Popen(
        [found, *said, *more],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            link = next((line.strip() for line in process.stdout if LINK.match(line)), "")
            yield process, link
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The link of the documented command; where its port is taken, of what its error tells to do."""
    with plain(folder) as (process, link):
        if link:
            yield link
            return
        _, said = process.communicate()
    assert "choose another --port" in said, said
    with plain(folder, "--port", "0") as (_, link):
        assert link
        yield link


def test_plain_tarn_serve_in_an_empty_folder_anonymizes(browser, tmp_path: Path) -> None:
    assert documented() == ["tarn", "serve"]
    ward = tmp_path / "ward.csv"
    table = examples.hospital(rows=600, seed=2).table.data
    pyarrow.csv.write_csv(table.select(["name", "insurance_number", *KNOWN, "diagnosis"]), ward)
    folder = tmp_path / "empty"
    folder.mkdir()
    with served(folder) as link:
        address = LINK.match(link)
        assert address is not None
        context = browser.new_context(accept_downloads=True, locale="en")
        here = Walk(context.new_page(), Service(address[1], link, [], folder / "log"), tmp_path)
        here.page.goto(link, timeout=PATIENCE)
        bring(here, ward, "en")
        say_what_columns_are(here, "en")
        look_at_hierarchies(here, "en")
        promise(here, "en")
        here.press("Start")
        here.page.wait_for_url("**/runs/*")
        hold_to_promise(take_release(here, "en"))
        context.close()
        assert here.troubles == []
    assert [path.name for path in folder.iterdir()] == ["tarnkappe-service"], "everything is in one folder"
