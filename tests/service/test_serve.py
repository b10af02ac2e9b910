"""`tarn serve` through the real executable."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
import uvicorn

from tarnkappe.cli.serve import _bound
from tarnkappe.service.client import ServiceClient
from tests.announced import announced
from tests.cli.test_contract import TARN, refused, tarn


def start(folder: Path) -> tuple[subprocess.Popen[str], dict[str, str]]:
    process = subprocess.Popen(
        [TARN, "serve", "--no-web", "--port", "0", "--folder", folder / "house", "--json", "--as", "ann"]
        + ([] if (folder / "token").exists() else ["--token-file", folder / "token"]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    told = announced(process)
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            httpx.get(f"{told['url']}/api/v1/health", timeout=60)
            break
        except httpx.TransportError:
            time.sleep(0.1)
    return process, told


@pytest.mark.slow
def test_a_job_outlives_the_service_that_was_killed(tmp_path: Path) -> None:
    """kill -9 in the middle of a job: the process of the job goes too, and the next service runs the job."""
    process, told = start(tmp_path)
    token = (tmp_path / "token").read_text().strip()
    assert (tmp_path / "token").stat().st_mode & 0o077 == 0
    assert "secret=" in told["link"]
    (tmp_path / "t.csv").write_text("age\n" + "34\n" * 1000)
    service = ServiceClient(told["url"], token)
    job = service.start("profile", {"input": {"file": service.upload(tmp_path / "t.csv")}})
    while service.job(job)["state"] == "waiting":
        time.sleep(0.05)
    refused(
        tarn("serve", "--port", "0", "--folder", tmp_path / "house"), "another service works in this folder"
    )
    process.kill()
    _, log = process.communicate()
    assert token not in log
    assert "secret" not in log
    process, told = start(tmp_path)
    service = ServiceClient(told["url"], token)
    for _ in service.events(job):
        pass
    found = service.job(job)
    assert found["state"] == "done"
    assert service.result(job)["figures"]["rows"] == 1000
    process.send_signal(signal.SIGINT)
    assert process.wait(60) in (0, 130, -signal.SIGINT)
    process.communicate()


def test_the_link_works_as_soon_as_it_is_printed() -> None:
    """Who opens it before the service is up waits; he is not turned away."""
    listening = _bound(uvicorn.Config(app="", host="127.0.0.1", port=0))
    with listening, socket.create_connection(listening.getsockname(), timeout=10):
        pass


@pytest.mark.slow
def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    refused(tarn("serve", "--host", "0.0.0.0", "--folder", tmp_path), "behind_https")
    refused(tarn("serve", "--settings", tmp_path / "none.toml"), "none.toml")


def test_the_command_line_does_not_load_the_service() -> None:
    """`tarn anonymize` starts as fast as without a service."""
    code = (
        "import sys, tarnkappe.cli.program as p; p.commands(['anonymize', 'check', 'lattice']); "
        "print([m for m in ('fastapi', 'nicegui', 'uvicorn', 'pydantic', 'argon2', 'psutil', 'urllib.request', "
        "'tarnkappe.service') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.stdout.strip() == "[]", run.stdout + run.stderr
