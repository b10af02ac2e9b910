"""Mutation tests: make a small mistake in the source, and see whether a test notices.

`make mutants FOLDER=privacy N=60` draws mistakes (`mutations.py`) from `src/tarnkappe/privacy`. One run of
its tests with coverage (`reached.py`) tells which tests reach which lines; kernels run as Python, or no line
of them would be seen. Every mistake goes into a copy of the tree, where the tests that reach its line run,
the fastest first. A mistake that no test notices has survived: a property is missing among the tests, or the
mistake changes nothing that could be noticed, which `equivalent.toml` then says with a reason.

Times are of the processor, so that a busy machine decides as an idle one. Results are kept in a file: a run
that was stopped goes on, and a sample can be made in several sittings.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tools.mutations import Mutant, mutants_of

HERE = Path(__file__).resolve().parent
EQUIVALENT = HERE / "equivalent.toml"
PLUGIN = "tools.reached"
TIMES, EXTRA = 3, 10
"""A mutant gets so many times what its tests take without it, and so many seconds more."""
WAITING = 20
"""So many times longer than its processor time may a test wait: the machine is busy, or the test hangs."""
KILLED, SURVIVED, UNDECIDED, SAME = "killed", "survived", "undecided", "equivalent"


class Tree(NamedTuple):
    """A copy of the sources and tests, in which mistakes are made.

    Attributes:
        root: where it is.
        folder: the sources in it that get mistakes, from the root.
        tests: the tests that may notice, as pytest takes them.
    """

    root: Path
    folder: str
    tests: list[str]

    def pytest(self, arguments: list[str], seconds: float | None, environment: dict[str, str]) -> int | None:
        """Run tests; how they ended, or None if they ran out of time."""
        sources = [*(str(self.root / each) for each in ("src", "benchmarks/src", ".")), str(HERE.parent)]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
        given = {"TARN_NATIVE": "python", "PYTHONPATH": os.pathsep.join(sources), **environment}
        running = subprocess.Popen(  # noqa: S603  # pytest, on a copy of what is here
            command,
            cwd=self.root,
            env=os.environ | given,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=None if seconds is None else _limiter(seconds),
        )
        try:
            code = running.wait(None if seconds is None else WAITING * seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end_group(running)
        return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code

    def reached(self) -> dict[str, Any]:
        """Which tests reach which lines, and how long each takes; tests that fail are left out."""
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "reached.json"
            self.pytest(
                [*self.tests, "-m", "not slow", "--maxfail=1000000", "-p", PLUGIN],
                None,
                {"TARN_MUTANTS": str(file), "TARN_MUTANTS_OF": self.folder},
            )
            if not file.exists():
                raise SystemExit("the tests did not run: try pytest " + " ".join(self.tests))
            found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return found

    def outcome(self, mutant: Mutant, tests: list[str], seconds: float) -> str:
        """What becomes of a mistake: killed, survived or undecided."""
        path = self.root / mutant.path
        source, times = path.read_bytes(), path.stat()
        listed = self.root / "mutant-tests.txt"
        listed.write_text("\n".join(tests), encoding="utf-8")
        limit = TIMES * seconds + EXTRA
        try:
            path.write_bytes(mutant.apply(source))
            code = self.pytest([f"@{listed}"], limit, {"PYTHONDONTWRITEBYTECODE": "1"})
        finally:
            path.write_bytes(source)  # with its time, by which Python knows whether what it has compiled fits
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        if code is not None and code > 1 and self.pytest([f"@{listed}"], limit, {}) != 0:
            return UNDECIDED  # pytest could not even begin, and cannot without the mistake
        return UNDECIDED if code is None else SURVIVED if code == 0 else KILLED


def _limiter(seconds: float) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a run of the tests and whatever it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def covering(mutant: Mutant, reached: dict[str, Any]) -> list[str]:
    """The tests that reach its line, the fastest first; of a line that runs at import, those of its file."""
    lines = reached["lines"].get(mutant.path, {})
    found = set(lines.get(str(mutant.line), ()))
    if "" in found:
        found = {test for tests in lines.values() for test in tests} - {""}
    return sorted(found & set(reached["seconds"]), key=lambda test: (reached["seconds"][test], test))


def reason_of(mutant: Mutant, listed: Iterable[dict[str, str]]) -> str | None:
    """Why a mistake changes nothing, if the list says so."""
    for each in listed:
        if mutant.path.endswith(each["file"]) and (mutant.text, mutant.after) == (
            each["line"],
            each["after"],
        ):
            return each["reason"]
    return None


def sample(folder: Path, root: Path, number: int, seed: int) -> list[Mutant]:
    """Some mistakes of the files in a folder, drawn by a seed; more of them keep those of fewer."""
    every = [each for path in sorted(folder.rglob("*.py")) for each in mutants_of(path, root)]
    return sorted(every, key=lambda each: each.rank(seed))[:number]


def digest(paths: Iterable[Path]) -> str:
    """What files hold, as one text."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()


def score(outcomes: Iterable[str]) -> str:
    """The share of mistakes that tests noticed, and that of those without a decision."""
    number = Counter(outcomes)
    decided = number[KILLED] + number[SURVIVED]
    every = decided + number[UNDECIDED]
    share = f"{number[KILLED] / decided:.0%} of {decided} decided" if decided else "nothing decided"
    listed = ", ".join(f"{number[each]} {each}" for each in (KILLED, SURVIVED, UNDECIDED, SAME))
    return f"{listed}: {share}, {number[UNDECIDED] / max(every, 1):.0%} undecided"


def main(arguments: list[str] | None = None) -> None:
    """Try a sample of mistakes and say which survived."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutate", description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of sources, such as src/tarnkappe/privacy")
    parser.add_argument("-n", type=int, default=60, help="how many mistakes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", nargs="*", help="who may notice (default: tests/FOLDER)")
    parser.add_argument("--root", type=Path, default=HERE.parent)
    parser.add_argument("--results", type=Path, help="default: .mutants/FOLDER.json")
    parser.add_argument("--seconds", type=float, default=60, help="processor time of the tests of a mistake")
    parser.add_argument("--until", type=float, default=1e9, help="start no more after so many seconds")
    parser.add_argument("--again", action="store_true", help="try again what survived or was undecided")
    said = parser.parse_args(arguments)
    root: Path = said.root.resolve()
    folder = (root / said.folder).resolve()
    tests: list[str] = said.tests or [f"tests/{folder.name}"]
    kept: Path = said.results or root / ".mutants" / f"{folder.name}.json"
    results: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    equivalent = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    began = time.monotonic()

    def keep() -> None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(results, indent=1), encoding="utf-8")

    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        tree = Tree(Path(name).resolve() / "tree", folder.relative_to(root).as_posix(), tests)
        shutil.copytree(root, tree.root, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        read = [tree.root / each for each in (tree.folder, *tests)]  # the copy: others may write meanwhile
        state = digest(file for each in read for file in ([each] if each.is_file() else each.rglob("*.py")))
        if results.get("state") != state:
            print(f"which tests of {' '.join(tests)} reach which lines ...", flush=True)
            results |= {"state": state, "reached": tree.reached()}
            keep()
        drawn, outcomes = sample(tree.root / tree.folder, tree.root, said.n, said.seed), {}
        known = results.setdefault("outcomes", {})
        for mutant in drawn:
            source = digest([tree.root / mutant.path])
            earlier = known.get(mutant.name, {})
            is_new = earlier.get("source") != source or (said.again and earlier["outcome"] != KILLED)
            if reason_of(mutant, equivalent) is not None:
                known[mutant.name] = {"source": source, "outcome": SAME}
            elif is_new:
                if time.monotonic() - began > said.until:
                    break
                known[mutant.name] = {"source": source, "outcome": _try(tree, mutant, results, said.seconds)}
                keep()
            outcomes[mutant] = known[mutant.name]["outcome"]
            print(f"{outcomes[mutant]:10} {mutant.name.rpartition(' @')[0]}", flush=True)
    left = len(drawn) - len(outcomes)
    print(f"{folder.name}: {score(outcomes.values())}" + (f"; {left} not tried yet" if left else ""))


def _try(tree: Tree, mutant: Mutant, results: dict[str, Any], most: float) -> str:
    """What becomes of a mistake; survived also where no test reaches it."""
    seconds: dict[str, float] = results["reached"]["seconds"]
    chosen: list[str] = []
    total = 0.0
    tests = covering(mutant, results["reached"])
    for test in tests:
        total += seconds[test]
        if chosen and total > most:
            break
        chosen.append(test)
    if not tests:
        return SURVIVED
    outcome = tree.outcome(mutant, chosen, sum(seconds[test] for test in chosen))
    return UNDECIDED if outcome == SURVIVED and len(chosen) < len(tests) else outcome


if __name__ == "__main__":
    main()
