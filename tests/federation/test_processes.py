"""Sites in processes of their own, started and asked through the command line."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tarnkappe.federation.certificates import Authority, is_signed_by
from tarnkappe.federation.contract import Distribution, Protocol
from tests.federation.federations import EXPECTED, HEIGHTS, KINDS, PURE, RULES, example, multiset

TARN = Path(sys.executable).with_name("tarn")
EVERY_RUN = [(p, d) for p in Protocol for d in PURE]


def free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def write_sites(folder: Path, protocol: Protocol, distribution: Distribution) -> dict[str, int]:
    federation = example(protocol, distribution)
    contract = federation.contract
    authority = Authority(folder)
    ports = dict(zip(contract.everybody, free_ports(len(contract.everybody)), strict=True))
    for name, port in ports.items():
        authority.issue(name)
        lines = [
            "[site]",
            f'certificate = "{name}.pem"',
            f'key = "{name}.key"',
            'authority = "authority.pem"',
            f'address = "127.0.0.1:{port}"',
            f'output = "{name}"',
            'accept = "all"',
        ]
        table = federation.tables.get(name)
        if table is not None:
            pa.csv.write_csv(table, folder / f"{name}.csv")
            lines += ["[input]", f'path = "{name}.csv"']
            for column in (c for c in table.column_names if c in HEIGHTS):
                values = dict.fromkeys(str(v) for v in table.column(column).to_pylist())
                rows = "\n".join(";".join([v, *RULES[column](v)]) for v in values)
                (folder / f"{name}-{column}.csv").write_text(rows + "\n", encoding="utf-8")
                lines += [f"[columns.{column}]", f'hierarchy = "{name}-{column}.csv"']
        (folder / f"{name}.toml").write_text("\n".join(lines), encoding="utf-8")
    kinds = {**KINDS, "zip": "int64"}  # as a CSV file reads it
    job = [
        "[federation]",
        f'protocol = "{protocol}"',
        f'distribution = "{distribution}"',
        f"parties = {json.dumps(list(contract.parties))}",
        "counter_bits = 256",
        "weak_ciphers = true",
        *([f'helper = "{contract.helper}"'] if contract.helper else []),
        *(['key = "tid"'] if contract.key else []),
        "[identity]",
        'certificate = "P1.pem"',
        'key = "P1.key"',
        'authority = "authority.pem"',
        "[addresses]",
        *(f'{name} = "127.0.0.1:{port}"' for name, port in ports.items()),
        "[[privacy]]",
        'model = "k-anonymity"',
        "k = 2",
        "[search]",
        'loss = "height"',
    ]
    for column in contract.columns:
        job += [f"[columns.{column.name}]", 'role = "quasi-identifier"', f"height = {column.height}"]
        job += [f'kind = "{kinds[column.name]}"']
        job += [f'owner = "{column.owner}"'] if column.owner else []
    (folder / "job.toml").write_text("\n".join(job), encoding="utf-8")
    return ports


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def tarn(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}
    return subprocess.run(
        [TARN, *words], capture_output=True, text=True, cwd=cwd, env=environment, timeout=120
    )


def serve(name: str, folder: Path, started: list[subprocess.Popen[str]]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [TARN, "party", "serve", "--config", f"{name}.toml"], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    started.append(process)
    return process


def wait_for(ports: dict[str, int]) -> None:
    deadline = time.monotonic() + 90
    for port in ports.values():
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_sites_in_their_own_processes_publish_one_table(
    tmp_path: Path, started: list[subprocess.Popen[str]], protocol: Protocol, distribution: Distribution
) -> None:
    ports = write_sites(tmp_path, protocol, distribution)
    for name in ports:
        serve(name, tmp_path, started)
    wait_for(ports)
    done = tarn("federate", "job.toml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    digest = json.loads(done.stdout)["digest"]
    for name in ports:
        folder = tmp_path / name / digest[:16]
        lines = (folder / "transcript.jsonl").read_bytes()
        certificate = _der(tmp_path / f"{name}.pem")
        signature = (folder / "transcript.signature").read_bytes()
        assert is_signed_by(certificate, signature, bytes.fromhex(digest) + lines)
        assert json.loads((folder / "leakage.json").read_text(encoding="utf-8"))["learned"]
        if name.startswith("P"):
            assert multiset(pq.read_table(folder / "release.parquet")) == EXPECTED


def _der(path: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(path.read_text())


@pytest.mark.slow
def test_a_killed_site_ends_the_run_with_one_clear_line(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    ports = write_sites(tmp_path, Protocol.STAR, Distribution.HORIZONTAL)
    processes = {name: serve(name, tmp_path, started) for name in ports}
    wait_for(ports)
    processes["P2"].kill()
    processes["P2"].wait()
    done = tarn("federate", "job.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "'P2' cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("P*/*/release.parquet"))


@pytest.mark.slow
def test_the_contract_is_shown_with_what_everybody_would_learn(tmp_path: Path) -> None:
    write_sites(tmp_path, Protocol.MASKED, Distribution.VERTICAL)
    shown = tarn("federate", "job.toml", "--show", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    for words in (
        "helper X",
        "Everybody in the release looks the same as at least 1 other",
        "P1 will learn",
        "digest",
    ):
        assert words in shown.stdout
