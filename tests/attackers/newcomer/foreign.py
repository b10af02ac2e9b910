"""Somebody who lets a program write over files that somebody else has written."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.newcomer.program import Program

MINE = "name,what only this file knows\nann,17\n"
DRESSED = {
    "notes": lambda release: MINE,
    "a release that was corrected by hand": lambda release: release.replace("30", "31", 1) + "corrected\n",
    "a page that speaks of Tarnkappe": lambda release: f"<html><body>Tarnkappe is fine</body></html>{MINE}",
    "JSON that speaks of tarnkappe": lambda release: '{"tarnkappe": "0.1.0", "mine": true}\n',
}
"""Files of the steward, some of which look a little like outputs; the first release is given."""


class Foreign(Attacker[Program]):
    name = "foreign files"
    promise = "foreign"
    knows = "How outputs of Tarnkappe look."
    sees = "The folder of the steward."
    does = "Names her own files as outputs of every command, some of them dressed like outputs, by name, link and hard link, or lets outputs without a name fall on them."

    def attack(self, target: Program) -> Iterator[Victim]:
        people, folder = target.people, target.folder
        asked = ("anonymize", "--input", people, "--qi", "sex", "--k", "2")
        target.run(*asked, "--out", folder / "first.csv")
        release = (folder / "first.csv").read_text() if (folder / "first.csv").exists() else ""
        (folder / "with.toml").write_text(
            target.job.read_text() + '[output]\npath = "of-job.csv"\nreport = "of-job.html"\n'
        )
        attempts = [
            (asked, ("--out", "notes.csv"), "notes.csv", "notes"),
            (asked, ("--out", "first.csv"), "first.csv", "a release that was corrected by hand"),
            (
                asked,
                ("--out", "x.csv", "--report", "page.html"),
                "page.html",
                "a page that speaks of Tarnkappe",
            ),
            (asked, ("--out", "y.csv"), "y.csv.manifest.json", "JSON that speaks of tarnkappe"),
            (asked, (), "people.release.csv", "notes"),
            (asked, (), "people.report.html", "a page that speaks of Tarnkappe"),
            (("anonymize", "with.toml"), (), "of-job.html", "notes"),
            (("check", people, "--qi", "sex"), ("--html", "check.html"), "check.html", "notes"),
            (("hierarchy", "build", people, "--column", "sex"), ("--out", "h.csv"), "h.csv", "notes"),
            (
                ("sql", "SELECT count(*) FROM p", "--data", f"p={people}"),
                ("--out", "answer.csv"),
                "answer.csv",
                "notes",
            ),
            (("lattice", target.job), ("--out", "nodes.csv"), "nodes.csv", "notes"),
            (("compare", target.job), ("--report", "compared.html"), "compared.html", "notes"),
        ]
        for number, (words, flags, name, kind) in enumerate(attempts):
            path, content = folder / name, DRESSED[kind](release)
            path.unlink(missing_ok=True)
            path.write_text(content)
            kept = folder / f"kept-{number}"
            if number % 2:
                os.link(path, kept)
            target.run(*words, *flags)
            if not path.exists() or path.read_text() != content:
                yield Victim(name, f"({kind}) was replaced by {words[0]} {' '.join(flags)}")
            if kept.exists() and kept.read_text() != content:
                yield Victim(kept.name, f"({kind}) was written over through a hard link by {words[0]}")
