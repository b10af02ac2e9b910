"""Sites in processes of their own, started and asked through the command line."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tarnkappe.federation.certificates import is_signed_by
from tarnkappe.federation.contract import CIPHERED, Partitioning, Protocol
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import KAnonymity
from tests.federation.federations import EXPECTED, PURE, example, federate, multiset, random_whole
from tests.federation.site_files import serve, tarn, wait_for, write_sites

EVERY_RUN = [(p, d) for p in CIPHERED for d in PURE]


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_sites_in_their_own_processes_publish_one_table(
    tmp_path: Path, started: list[subprocess.Popen[str]], protocol: Protocol, distribution: Partitioning
) -> None:
    ports = write_sites(tmp_path, example(protocol, distribution))
    for name in ports:
        serve(name, tmp_path, started)
    wait_for(ports)
    done = tarn("federate", "job.toml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    digest = json.loads(done.stdout)["digest"]
    proof = json.loads((tmp_path / json.loads(done.stdout)["transcript"]).read_text(encoding="utf-8"))
    assert set(proof["signed"]) == set(ports)
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
    ports = write_sites(tmp_path, example(Protocol.STAR, Partitioning.HORIZONTAL))
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
    write_sites(tmp_path, example(Protocol.MASKED, Partitioning.VERTICAL))
    shown = tarn("federate", "job.toml", "--show", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    for words in (
        "helper X",
        "Every row of the release shares what others may know with at least 1 other row",
        "classes of at least 2 rows",
        "Made-up rows do not change that.",
        "P1 will learn",
        "digest",
    ):
        assert words in shown.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "distribution", "parties"),
    [
        (Protocol.STAR, Partitioning.HORIZONTAL, 2),
        (Protocol.MASKED, Partitioning.VERTICAL, 2),
        (Protocol.MASKED_RING, Partitioning.HORIZONTAL, 4),
        (Protocol.RING, Partitioning.VERTICAL, 5),
        (Protocol.STAR, Partitioning.VERTICAL, 6),
        (Protocol.RING, Partitioning.HORIZONTAL, 6),
    ],
)
def test_two_to_six_sites_in_their_own_processes_equal_the_central_search(
    tmp_path: Path,
    started: list[subprocess.Popen[str]],
    protocol: Protocol,
    distribution: Partitioning,
    parties: int,
) -> None:
    whole, loss = random_whole(13, least_rows=30), LOSSES.create("entropy", {})
    federation = federate(whole, protocol, distribution, (KAnonymity(3),), loss, 0.1, parties=parties, seed=2)
    expected = whole.central((KAnonymity(3),), loss, 0.1)
    assert expected is not None
    ports = write_sites(tmp_path, federation)
    for name in ports:
        serve(name, tmp_path, started)
    wait_for(ports)
    done = tarn("federate", "job.toml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    for name in federation.contract.parties:
        release = pq.read_table(tmp_path / name / told["digest"][:16] / "release.parquet")
        assert multiset(release) == expected[1]
    assert len(json.loads((tmp_path / told["transcript"]).read_text())["signed"]) == len(ports)


def in_network(name: str) -> list[str]:
    return ["ip", "netns", "exec", name]


@pytest.fixture
def networks() -> Iterator[dict[str, str]]:
    """A network namespace for each party of the worked example, joined by a bridge."""
    parties, made = ("P1", "P2", "P3", "X"), []
    tag = f"tk{os.getpid() % 10000}"

    def do(*words: str) -> None:
        subprocess.run(words, check=True, capture_output=True)

    try:
        do("ip", "netns", "add", f"{tag}b")
        made.append(f"{tag}b")
        do(*in_network(f"{tag}b"), "ip", "link", "add", "bridge", "type", "bridge")
        do(*in_network(f"{tag}b"), "ip", "link", "set", "bridge", "up")
        for index, party in enumerate(parties):
            space, wire = f"{tag}{party}", f"{tag}{index}"
            do("ip", "netns", "add", space)
            made.append(space)
            do("ip", "link", "add", wire, "netns", f"{tag}b", "type", "veth", "peer", "eth0", "netns", space)
            do(*in_network(f"{tag}b"), "ip", "link", "set", wire, "master", "bridge", "up")
            do(*in_network(space), "ip", "address", "add", f"10.77.0.{index + 1}/24", "dev", "eth0")
            do(*in_network(space), "ip", "link", "set", "eth0", "up")
            do(*in_network(space), "ip", "link", "set", "lo", "up")
    except (OSError, subprocess.CalledProcessError):
        _remove(made)
        pytest.skip("this machine does not allow network namespaces")
    yield {party: f"{tag}{party}" for party in parties}
    _remove(made)


def _remove(namespaces: list[str]) -> None:
    for each in namespaces:
        subprocess.run(["ip", "netns", "delete", each], check=False, capture_output=True)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [Protocol.STAR, Protocol.RING])
def test_sites_in_networks_of_their_own(
    tmp_path: Path, started: list[subprocess.Popen[str]], networks: dict[str, str], protocol: Protocol
) -> None:
    hosts = {party: f"10.77.0.{index + 1}" for index, party in enumerate(networks)}
    ports = write_sites(tmp_path, example(protocol, Partitioning.HORIZONTAL), addresses=hosts)
    for name in ports:
        serve(name, tmp_path, started, before=in_network(networks[name]))
    for process in started:
        assert process.stderr is not None
        assert "listens" in process.stderr.readline()
    done = tarn("federate", "job.toml", "--json", cwd=tmp_path, before=in_network(networks["P1"]))
    assert done.returncode == 0, done.stderr
    digest = json.loads(done.stdout)["digest"]
    for name in ("P1", "P2", "P3"):
        assert multiset(pq.read_table(tmp_path / name / digest[:16] / "release.parquet")) == EXPECTED
