"""The regression gate fails when a ratio became worse, and only then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.chapter import Chapter, Experiment, Size, Story
from benchmarks.ratios import RATIOS, Ratio
from benchmarks.regression import Both, compare, patiently, read_ratios, write_ratios
from benchmarks.results import Result, write_result

from benchmarks import regression


class Machine:
    """A clock that stands still but for what work takes, and that is disturbed now and then."""

    def __init__(self) -> None:
        self.now = 0.0
        self.disturbance = iter(())

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds * next(self.disturbance, 1.0)


def test_a_ratio_that_is_a_quarter_worse_is_still_accepted_and_one_beyond_is_not() -> None:
    stored = {"search": 2.0, "check": 1.0}
    assert compare(stored, {"search": 2.5, "check": 1.0}) == []
    (found,) = compare(stored, {"search": 2.52, "check": 1.0})
    assert str(found) == "search: 2.52 instead of 2, worse by 26%"
    assert compare(stored, {"search": 0.1, "check": 0.1}) == [], "better is no reason to fail"


def test_what_is_not_stored_and_what_is_not_measured_is_told() -> None:
    assert [f.name for f in compare({"old": 1.0}, {"new": 1.0})] == ["new", "old"]


def test_a_slower_machine_does_not_change_a_ratio() -> None:
    for slow in (1.0, 7.0):
        machine = Machine()
        both = Both(
            lambda m=machine, s=slow: m.work(0.3 * s), lambda m=machine, s=slow: m.work(0.1 * s), machine
        )
        both.measure(3)
        assert both.ratio == pytest.approx(3.0)


def test_a_disturbance_of_some_rounds_does_not_change_a_ratio() -> None:
    machine = Machine()
    both = Both(lambda: machine.work(0.3), lambda: machine.work(0.1), machine)
    machine.disturbance = iter([4.0, 1.0, 1.0, 9.0, 5.0, 5.0, 1.0, 1.0])
    both.measure(4)
    assert both.ratio == pytest.approx(3.0)


def test_short_work_is_repeated_until_the_clock_can_tell() -> None:
    machine, calls = Machine(), [0]

    def short() -> None:
        calls[0] += 1
        machine.work(0.001)

    both = Both(short, lambda: machine.work(0.1), machine)
    before = calls[0]
    both.measure(1)
    assert calls[0] - before >= regression.SHORT / 0.001
    assert both.ratio == pytest.approx(0.01)


def test_a_ratio_that_looks_worse_gets_more_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    monkeypatch.setattr(
        Both, "measure", lambda self, n: (rounds.append(n), setattr(self, "times", [3.0, 1.0]))[0]
    )
    ratio = Ratio("r", lambda: (lambda: None, lambda: None))
    monkeypatch.setattr(regression, "SHORT", 0.0)
    assert patiently(ratio, 2.9) == 3.0
    assert patiently(ratio, 2.0) == 3.0
    assert rounds == [regression.ROUNDS, regression.ROUNDS, regression.MORE_ROUNDS]


def gate(monkeypatch: pytest.MonkeyPatch, folder: Path, value: float) -> int:
    monkeypatch.setattr(regression, "RATIOS", (Ratio("made-up", count=lambda: value),))
    monkeypatch.setattr(regression, "STORED_RATIOS", folder / "ratios.json")
    monkeypatch.setattr(regression, "exceeded_limits", lambda: ())
    return regression.main()


def test_bench_check_fails_on_a_worsened_figure_and_passes_on_the_stored_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_ratios({"made-up": 2.0}, tmp_path / "ratios.json")
    assert gate(monkeypatch, tmp_path, 2.0) == 0
    assert gate(monkeypatch, tmp_path, 2.6) == 1
    assert "made-up: 2.6 instead of 2, worse by 30%" in capsys.readouterr().err


def test_storing_writes_what_was_measured_and_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(regression, "RATIOS", (Ratio("made-up", count=lambda: 1.23456),))
    monkeypatch.setattr(regression, "STORED_RATIOS", tmp_path / "ratios.json")
    assert regression.main(store=True) == 0
    assert read_ratios(tmp_path / "ratios.json") == {"made-up": 1.235}
    assert json.loads((tmp_path / "ratios.json").read_text())["machine"]["cores"]


def test_a_limit_that_the_stored_book_exceeds_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    experiment = Experiment("e", "E", "S.", "R.", lambda *_: {}, lambda _: Story((), "."), {"seconds": 1.0})
    chapter = Chapter("c", "C", "A.", (experiment,))
    monkeypatch.setattr(regression, "CHAPTERS", (chapter,))
    for size, expected in ((Size.SHORT, []), (Size.FULL, ["c/e"])):
        write_result(chapter, "e", Result.now(size, 1.0, {"seconds": 2.0}), tmp_path)
        assert [f.name for f in regression.exceeded_limits(tmp_path)] == expected


def test_every_ratio_is_stored_and_no_other() -> None:
    names = [ratio.name for ratio in RATIOS]
    assert len(set(names)) == len(names)
    assert set(read_ratios(regression.STORED_RATIOS)) == set(names)


@pytest.mark.slow
def test_every_ratio_can_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression, "SHORT", 0.0)
    for ratio in RATIOS:
        assert patiently(ratio, None) > 0, ratio.name
