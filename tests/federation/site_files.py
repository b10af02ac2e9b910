"""Sites as people set them up: a folder with certificates, data, hierarchies, configurations and a job."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from tarnkappe.federation.certificates import Authority
from tarnkappe.hierarchy import Hierarchy
from tests.federation.federations import Federation
from tests.forked import REAL, TARN


def free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def lines_of(rule: Hierarchy | Callable[[str], Sequence[str]], values: Sequence[str]) -> list[list[str]]:
    if isinstance(rule, Hierarchy):
        return [[v, *(rule.label(v, level) for level in range(1, rule.height + 1))] for v in values]
    return [[v, *rule(v)] for v in values]


def write_sites(
    folder: Path, federation: Federation, *, patience: float = 60, addresses: dict[str, str] | None = None
) -> dict[str, int]:
    """Write all files; returns the ports of the sites."""
    contract = federation.contract
    authority = Authority(folder)
    ports = dict(zip(contract.everybody, free_ports(len(contract.everybody)), strict=True))
    hosts = addresses or dict.fromkeys(ports, "127.0.0.1")
    kinds: dict[str, str] = {}
    for name, port in ports.items():
        authority.issue(name)
        lines = [
            "[site]",
            f'certificate = "{name}.pem"',
            f'key = "{name}.key"',
            'authority = "authority.pem"',
            f'address = "{hosts[name]}:{port}"',
            f'output = "{name}"',
            'accept = "all"',
            f"patience = {patience}",
            "[policy]",
            "least_k = 2",
            "greatest_suppression = 1.0",
            "accept_decodable_rows = true",
            "accept_weak_ciphers = true",
        ]
        table = federation.tables.get(name)
        if table is not None:
            pa.csv.write_csv(table, folder / f"{name}.csv")
            read_again = pa.csv.read_csv(folder / f"{name}.csv")
            kinds |= {field.name: str(field.type) for field in read_again.schema}
            lines += ["[input]", f'path = "{name}.csv"']
            for column in (c for c in table.column_names if c in federation.rules):
                values = list(dict.fromkeys(str(v) for v in table.column(column).to_pylist()))
                rows = "\n".join(";".join(line) for line in lines_of(federation.rules[column], values))
                (folder / f"{name}-{column}.csv").write_text(rows + "\n", encoding="utf-8")
                lines += [f"[columns.{column}]", f'hierarchy = "{name}-{column}.csv"']
        (folder / f"{name}.toml").write_text("\n".join(lines), encoding="utf-8")
    job = [
        "[federation]",
        f'protocol = "{contract.protocol}"',
        f'distribution = "{contract.distribution}"',
        f"parties = {json.dumps(list(contract.parties))}",
        "counter_bits = 256",
        "weak_ciphers = true",
        f"patience = {patience}",
        *([f'helper = "{contract.helper}"'] if contract.helper else []),
        *(['key = "tid"'] if contract.key else []),
        *([f"regions = {json.dumps(contract.regions)}"] if contract.regions else []),
        "[identity]",
        f'certificate = "{contract.parties[0]}.pem"',
        f'key = "{contract.parties[0]}.key"',
        'authority = "authority.pem"',
        "[addresses]",
        *(f'{name} = "{hosts[name]}:{port}"' for name, port in ports.items()),
        *(line for model in contract.models for line in _model(model)),
        "[search]",
        f'loss = "{contract.loss.name}"',
        f"suppression_limit = {contract.suppression_limit}",
    ]
    for column in contract.columns:
        job += [f"[columns.{column.name}]", f'role = "{column.role}"', f"height = {column.height}"]
        job += [f'kind = "{kinds[column.name]}"']
        job += [f'owner = "{column.owner}"'] if column.owner else []
        job += [f"owners = {json.dumps(column.owners)}"] if column.owners else []
    (folder / "job.toml").write_text("\n".join(job), encoding="utf-8")
    return ports


def _model(model: Any) -> list[str]:
    parameters = [f"{name} = {json.dumps(value)}" for name, value in model.parameters.items()]
    return ["[[privacy]]", f'model = "{model.name}"', *parameters]


def tarn(*words: str, cwd: Path, before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}
    command = [*before, REAL] if before else [TARN]
    return subprocess.run(
        [*command, *words], capture_output=True, text=True, cwd=cwd, env=environment, timeout=240
    )


def serve(
    name: str, folder: Path, started: list[subprocess.Popen[str]], before: Sequence[str] = (), **more: str
) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*before, REAL, "party", "serve", "--config", f"{name}.toml"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | more,
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
