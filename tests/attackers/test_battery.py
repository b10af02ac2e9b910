"""Every promise has an attacker, every attacker can win, and none wins where the promise is made."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.attackers import PARTS, PROMISES, TRIALS, Promise, Trial
from tests.attackers.attacker import Stage
from tests.attackers.table import PAGE, page
from tests.conftest import ROOT

FOLDER = Path(__file__).parent
MATCHES = [
    pytest.param(
        trial, stage, id=f"{part}-{trial.attacker.name}-{stage.name}", marks=[pytest.mark.slow] * stage.slow
    )
    for part, trial in TRIALS
    for stage in trial.stages
]
every_trial = pytest.mark.parametrize(
    ("part", "trial"), TRIALS, ids=[f"{part}-{trial.attacker.name}" for part, trial in TRIALS]
)


@pytest.mark.parametrize(("trial", "stage"), MATCHES)
def test_an_attacker_wins_only_where_nothing_is_promised(trial: Trial, stage: Stage, tmp_path: Path) -> None:
    with stage.build(tmp_path) as target:
        victims = list(trial.attacker.attack(target))
    if stage.unprotected:
        assert victims, f"{trial.attacker.name} cannot win: his silence elsewhere proves nothing"
    else:
        assert not victims, "\n".join([f"{len(victims)} victims", *map(str, victims[:20])])


@every_trial
def test_an_attacker_says_what_he_knows_sees_and_does(part: str, trial: Trial) -> None:
    attacker = trial.attacker
    for sentence in (attacker.knows, attacker.sees, attacker.does):
        assert sentence.endswith("."), f"{attacker.name}: '{sentence}' is no sentence"
    assert attacker.promise in {promise.key for promise in PROMISES if promise.part == part}


@every_trial
def test_an_attacker_is_tried_with_and_without_protection(part: str, trial: Trial) -> None:
    assert {stage.unprotected for stage in trial.stages} == {True, False}, (
        f"{part}: {trial.attacker.name} needs a stage that protects and one that does not"
    )
    assert any(not stage.unprotected and not stage.slow for stage in trial.stages), (
        f"{part}: {trial.attacker.name} does not attack in `make test`"
    )


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: f"{promise.part}-{promise.key}")
def test_a_promise_has_an_attacker_and_is_said_as_it_is_attacked(promise: Promise) -> None:
    assert any(part == promise.part and trial.attacker.promise == promise.key for part, trial in TRIALS), (
        f"nobody attacks: {promise.sentence}"
    )
    assert promise.said, f"no page says: {promise.sentence}"
    for name in promise.said:
        assert promise.sentence in plain((ROOT / name).read_text(encoding="utf-8")), (
            f"{name} does not say: {promise.sentence}"
        )


def plain(text: str) -> str:
    """A page without line breaks, emphasis, code marks and targets of links."""
    text = re.sub(r"\]\([^)]*\)", "", text).replace("[", "")
    return " ".join(re.sub(r"[*`]|^\s*[-|>]\s|^\s*\d+\.\s", "", text, flags=re.MULTILINE).split())


@every_trial
def test_an_attacker_shares_no_code_with_what_he_attacks(part: str, trial: Trial) -> None:
    seen: set[Path] = set()
    waiting = [ROOT / (type(trial.attacker).__module__.replace(".", "/") + ".py")]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for module in imported(path):
            assert module.split(".")[0] != "tarnkappe", f"{path.relative_to(ROOT)} imports {module}"
            if module.startswith("tests."):
                own = ROOT / (module.replace(".", "/") + ".py")
                assert own.name != "stages.py", f"{path.relative_to(ROOT)} looks behind the stage"
                waiting += [own] if own.is_file() else []


@cache
def imported(path: Path) -> list[str]:
    """The modules that a file imports, anywhere in it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return found


def test_every_folder_of_the_red_team_is_in_the_registry() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/promises.toml")} == set(PARTS)


def test_the_page_of_promises_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs"
