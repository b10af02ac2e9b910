"""Other tools: how they are judged, and what happens when one cannot be had."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest
from benchmarks.chapters import peers
from benchmarks.peers import environment
from benchmarks.peers.comparing import FEW, original_rows, peer_of
from benchmarks.peers.environment import PEERS, Peer, PeerError
from benchmarks.peers.judging import ROW, judge, lost_bits, read_release

from tarnkappe.privacy import KAnonymity, RecursiveDiversity

ORIGINAL = pa.table(
    {
        ROW: ["0", "1", "2", "3"],
        "age": ["31", "32", "41", "42"],
        "illness": ["flu", "cold", "flu", "flu"],
    }
)


def released(**ages: str) -> pa.Table:
    rows = {row.removeprefix("r"): age for row, age in ages.items()}
    illness = dict(zip(ORIGINAL[ROW].to_pylist(), ORIGINAL["illness"].to_pylist(), strict=True))
    return pa.table({ROW: list(rows), "age": list(rows.values()), "illness": [illness[row] for row in rows]})


def test_a_release_that_breaks_its_promise_is_judged_wrong() -> None:
    good = released(r2="4*", r0="3*", r3="4*", r1="3*")
    found = judge(good, ["age"], "illness", [KAnonymity(2)])
    assert (found["right"], found["k"], found["classes"], found["rows"]) == (True, 2, 2, 4)
    assert not judge(good, ["age"], "illness", [KAnonymity(3)])["right"]
    assert not judge(good, ["age"], "illness", [KAnonymity(2), RecursiveDiversity("illness", 4, 2)])["right"]


def test_lost_bits_count_rows_that_were_left_out_as_hidden() -> None:
    nothing = released(r0="31", r1="32", r2="41", r3="42")
    assert lost_bits(ORIGINAL, nothing, ["age"]) == 0
    halves = released(r3="4*", r2="4*", r1="3*", r0="3*")
    assert lost_bits(ORIGINAL, halves, ["age"]) == pytest.approx(4), "one bit for each of four"
    without = released(r0="3*", r1="3*")
    assert lost_bits(ORIGINAL, without, ["age"]) == pytest.approx(4)
    everything = released(r0="*", r1="*", r2="*", r3="*")
    assert lost_bits(ORIGINAL, everything, ["age"]) == pytest.approx(8), "two bits for each of four"


def test_cells_of_a_release_are_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("row;age\n0;031\n1;\n", encoding="utf-8")
    assert read_release(tmp_path / "r.csv").to_pydict() == {"row": ["0", "1"], "age": ["031", ""]}


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TARN_PEERS", str(tmp_path))
    return tmp_path


def test_a_tool_that_cannot_be_installed_is_reported_as_such(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "_run", failing("pip says no"))
    with pytest.raises(PeerError, match="pip says no"):
        Peer("anjana").run()
    assert not list(own_folder.rglob("installed")), "it is tried again the next time"
    found = peer_of(environment.ANJANA, original_rows(20), FEW, [KAnonymity(2)], k=2)
    assert found == {"tool": "anjana", "failed": "pip says no"}


def failing(why: str) -> object:
    def run(*_: object) -> str:
        raise PeerError(why)

    return run


def test_a_script_that_breaks_is_told_with_its_last_line(own_folder: Path) -> None:
    with pytest.raises(PeerError, match="it failed: ValueError: no luck"):
        environment._run([sys.executable, "-c", "raise ValueError('no luck')"], 60, "it failed")
    with pytest.raises(PeerError, match="did not end within"):
        environment._run([sys.executable, "-c", "import time; time.sleep(60)"], 0.5, "it failed")
    assert own_folder.is_dir()


def test_every_peer_has_a_script_that_imports_nothing_of_ours() -> None:
    for peer in PEERS:
        script = environment.SCRIPTS / f"run_{peer.name}.py"
        assert "tarnkappe" not in script.read_text(encoding="utf-8")


def test_a_table_without_a_failed_tool_and_one_with_only_failed_ones_can_both_be_told() -> None:
    ours = {
        "tool": "tarnkappe, auto", "limit": 0.0, "seconds": 1.0, "megabytes": 5.0, "k": 5, "classes": 10,
        "rows": 90, "values": [5], "right": True, "lost_bits": 12.0,
    }  # fmt: skip
    failed = {"tool": "anjana", "limit": 0.0, "failed": "anjana cannot be installed: no network"}
    story = peers.k_anonymity.EXPERIMENT.tell({"source": "Adult", "rows": 100, "lines": [ours, failed]})
    assert story.meaning == "No other tool could be installed."
    assert story.differs == ("anjana: anjana cannot be installed: no network.",)
    theirs = ours | {"tool": "anjana 1.0", "seconds": 4.0}
    assert (
        "4×"
        in peers.k_anonymity.EXPERIMENT.tell(
            {"source": "Adult", "rows": 100, "lines": [ours, theirs]}
        ).meaning
    )
