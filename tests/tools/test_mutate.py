"""The program that makes mistakes, on a package of three functions with their tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools.mutate import KILLED, SAME, SURVIVED, UNDECIDED, covering, score
from tools.mutations import mutants_of

from tools import mutate

PACKAGE = {
    "src/toy/__init__.py": "",
    "src/toy/few/__init__.py": "",
    "src/toy/few/work.py": """
LIMIT = 3


def is_enough(number):
    return number >= LIMIT


def ends(number):
    while number > 0:
        number -= 1
    return number


def unseen(number):
    return number + LIMIT
""",
    "tests/__init__.py": "",
    "tests/few/__init__.py": "",
    "tests/few/test_work.py": """
from toy.few.work import ends, is_enough


def test_more_is_enough():
    assert is_enough(4)
    assert not is_enough(2)


def test_it_ends():
    assert ends(2) == 0


def test_that_fails_always():
    assert is_enough(1)
""",
    "pyproject.toml": "[tool.pytest.ini_options]\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in PACKAGE.items():
        path = tmp_path / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "toy"


def run(root: Path, *more: str) -> dict[str, str]:
    """The outcome of every mistake, by the line and what stands there instead."""
    mutate.main(["src/toy/few", "-n", "100", "--root", str(root), *more])
    results = json.loads((root / ".mutants" / "few.json").read_text())
    return {
        name.rpartition(" @")[0].split(":", 1)[1]: each["outcome"]
        for name, each in results["outcomes"].items()
    }


def test_who_is_noticed_who_survives_and_who_never_ends(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        mutate, "EQUIVALENT", _listed(root, "few/work.py", "number -= 1", "pass", "stands for any")
    )
    expected = {
        "2 off-by-one: 3 -> 4": SURVIVED,  # 4 is enough then, too
        "6 return: return number >= LIMIT -> return None": KILLED,
        "6 compare: number >= LIMIT -> (number > LIMIT)": SURVIVED,  # no test looks at 3
        "10 negate: number > 0 -> (not (number > 0))": KILLED,
        "10 compare: number > 0 -> (number >= 0)": KILLED,
        "10 off-by-one: 0 -> 1": KILLED,
        "11 delete: number -= 1 -> pass": SAME,
        "11 off-by-one: 1 -> 2": SURVIVED,
        "12 return: return number -> return None": KILLED,
        "16 return: return number + LIMIT -> return None": SURVIVED,  # no test reaches it
        "16 arithmetic: number + LIMIT -> (number - LIMIT)": SURVIVED,
    }
    mutate.main(["src/toy/few", "-n", "100", "--root", str(root), "--until", "0"])
    assert "not tried yet" in capsys.readouterr().out
    assert run(root) == expected
    said = capsys.readouterr().out
    assert "5 killed, 5 survived, 0 undecided, 1 equivalent: 50% of 10 decided, 0% undecided" in said

    # Without the list, what never ends is tried: it has its time and no more.
    monkeypatch.setattr(mutate, "EQUIVALENT", _listed(root, "no.py", "x", "y", "none"))
    results = root / ".mutants" / "few.json"
    kept = json.loads(results.read_text())
    kept["outcomes"] = {name: each for name, each in kept["outcomes"].items() if each["outcome"] != SAME}
    results.write_text(json.dumps(kept))
    assert run(root) == expected | {"11 delete: number -= 1 -> pass": UNDECIDED}
    assert "which tests" not in capsys.readouterr().out  # what an earlier run found is not looked for again

    # A test more, and what survived is tried again.
    tests = root / "tests/few/test_work.py"
    tests.write_text(tests.read_text() + "\n\ndef test_three_is_enough():\n    assert is_enough(3)\n")
    after = run(root, "--again")
    assert after["6 compare: number >= LIMIT -> (number > LIMIT)"] == KILLED
    assert after["2 off-by-one: 3 -> 4"] == KILLED
    assert (root / "src/toy/few/work.py").read_text() == PACKAGE["src/toy/few/work.py"]


def _listed(root: Path, file: str, line: str, after: str, reason: str) -> Path:
    path = root.parent / f"{file.replace('/', '-')}.toml"
    path.write_text(f'[[mutant]]\nfile = "{file}"\nline = "{line}"\nafter = "{after}"\nreason = "{reason}"\n')
    return path


def test_only_tests_that_reach_the_line_are_chosen_and_the_fastest_is_first(root: Path) -> None:
    reached = {
        "lines": {"src/toy/few/work.py": {"2": [""], "6": ["slow", "fast", "fails"], "11": ["other"]}},
        "seconds": {"slow": 2.0, "fast": 0.1, "other": 1.0},
    }
    found = {each.line: covering(each, reached) for each in mutants_of(root / "src/toy/few/work.py", root)}
    assert found[6] == ["fast", "slow"]
    assert found[11] == ["other"]
    assert found[2] == ["fast", "other", "slow"]  # it runs at import, so every test of the file may tell
    assert found[16] == []


def test_the_score_is_of_those_that_were_decided() -> None:
    assert score([KILLED] * 9 + [SURVIVED, UNDECIDED, SAME]).endswith("90% of 10 decided, 9% undecided")
    assert score([]).endswith("nothing decided, 0% undecided")
