"""Somebody who lets a program write over the files that it reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.newcomer.program import Program


def same(path: Path) -> Path:
    return path


def dots(path: Path) -> Path:
    return path.parent / ".." / path.parent.name / "." / path.name


def relative(path: Path) -> Path:
    return Path(path.name)


def link(path: Path) -> Path:
    made = path.with_name(f"link{path.suffix}")
    made.unlink(missing_ok=True)
    made.symlink_to(path)
    return made


def hard_link(path: Path) -> Path:
    made = path.with_name(f"hard{path.suffix}")
    made.unlink(missing_ok=True)
    os.link(path, made)
    return made


def linked_folder(path: Path) -> Path:
    made = path.parent / "elsewhere"
    made.unlink(missing_ok=True)
    made.symlink_to(path.parent, target_is_directory=True)
    return made / path.name


TRICKS: tuple[Callable[[Path], Path], ...] = (same, dots, relative, link, hard_link, linked_folder)


class Overwriting(Attacker[Program]):
    name = "overwriting"
    promise = "inputs"
    knows = "Which files a command reads."
    sees = "The folder of the steward."
    does = "Names an input as an output: by its name, by dots, a link, a hard link, a linked folder, in a flag or a job file."

    def __init__(self, number: int = 4) -> None:
        self._number = number

    def attack(self, target: Program) -> Iterator[Victim]:
        people, tree = target.people, target.folder / "sex.csv"
        asked = ("anonymize", "--input", people, "--qi", "sex=sex.csv", "--k", "2")
        attempts = [
            *((asked, "--out", people, trick) for trick in TRICKS),
            *((asked, "--report", file, hard_link) for file in (people, tree)),
            *((("anonymize", target.job), "--out", file, link) for file in (people, tree, target.job)),
            (("check", people, "--qi", "sex"), "--html", people, hard_link),
            (
                ("hierarchy", "build", people, "--column", "sex", "--builder", "root"),
                "--out",
                people,
                linked_folder,
            ),
            (("sql", "SELECT count(*) FROM p", "--data", f"p={people}"), "--out", people, dots),
            (("lattice", target.job), "--out", tree, relative),
            (("compare", target.job), "--report", people, link),
        ]
        step = max(1, len(attempts) // self._number)
        for words, flag, file, trick in attempts[::step]:
            before = file.read_bytes()
            named = trick(file)
            target.run(*words, flag, named)
            if not file.exists() or file.read_bytes() != before:
                yield Victim(
                    file.name, f"was overwritten by {words[0]} {flag} {named.name} ({trick.__name__})"
                )
                file.write_bytes(before)
