"""Vaults in files, with people who work by the command line."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import forked
from tests.attackers.pseudonym.vault_insider import WorkingVault

TARN = forked.TARN
PEOPLE = (("Quastenflosser", "Ann", "1980-02-29"), ("Zwiebelschneider", "Bob", "1971-11-30"))
MEMBERS = ("rita", "quinn", "ada")


def tarn(folder: Path, *said: str, check: bool = True) -> int:
    done = subprocess.run([TARN, *said], cwd=folder, check=check, capture_output=True)
    return done.returncode


@contextmanager
def vault(folder: Path, stolen: tuple[str, ...] = ()) -> Iterator[WorkingVault]:
    """A vault that everybody has worked with."""
    lines = ["surname;given;born", *(";".join(person) for person in PEOPLE)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    tarn(folder, "pseudonymize", "--new-key", *(f"{name}.key" for name in MEMBERS))
    fields = ("surname", "given", "born")
    roles = [
        word
        for role, name in zip(("registrar", "requester", "approver"), MEMBERS, strict=True)
        for word in (f"--{role}", f"{name}={name}.key.pub")
    ]
    where = ("--vault", "vault.db", "--project", "asthma")
    tarn(folder, "reidentify", "new-vault", *where, "--field", *fields, *roles)

    def register(check: bool = False) -> int:
        (folder / "out.csv").unlink(missing_ok=True)
        # The same people again: an approver agrees that they are looked up.
        agreed = ("--approved-by", "ada", "--approver-key", "ada.key")
        as_rita = ("--as", "rita", "--key", "rita.key", "--out", "out.csv", *agreed)
        said = ("--column", *fields, "--mode", "vault", *where, *as_rita)
        return tarn(folder, "pseudonymize", "people.csv", *said, check=check)

    def rotate(check: bool = False) -> int:
        keys = ("--requester", "quinn=quinn.key", "--approver", "ada=ada.key")
        return tarn(folder, "reidentify", "rotate", *where, *keys, check=check)

    register(check=True)
    rotate(check=True)
    names = tuple(person[0] for person in PEOPLE)
    keys = {name: folder / f"{name}.key" for name in stolen}
    yield WorkingVault(folder / "vault.db", "asthma", names, keys, register, rotate)


@contextmanager
def vault_nobody_remembers(folder: Path) -> Iterator[WorkingVault]:
    """The members have lost what their keys have seen, and compare no fingerprint."""
    with vault(folder) as target:
        for name in MEMBERS:
            (folder / f"{name}.key.vaults").unlink()
        yield target
