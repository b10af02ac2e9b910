"""Flags that say what an attacker has beside a release: `--against`, `--history`, `--rules`, `--answers`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.privacy import DistinctDiversity, Model
from tarnkappe.risk.attacks import Background, Target
from tarnkappe.risk.background_files import read_answers, read_earlier, read_rules
from tarnkappe.risk.continuation import Continuation, continues, kept_by
from tarnkappe.table import Table

if TYPE_CHECKING:
    from tarnkappe.risk.history import ReleaseHistory

STORES = (".db", ".sqlite", ".sqlite3")


@dataclasses.dataclass(frozen=True)
class BackgroundFlags:
    """The flags about what an attacker has, as they were given."""

    against: str | None = None
    name: Sequence[str] = ()
    history: str | None = None
    key: Path | None = None
    of: str = "default"
    rules: Path | None = None
    answers: Path | None = None
    sensitive_table: str | None = None
    minimal_for: DistinctDiversity | None = None

    @property
    def given(self) -> bool:
        """Whether the flags say anything."""
        return any([self.against, self.history and not self.has_store, self.rules, self.answers])

    @property
    def has_store(self) -> bool:
        """Whether the history is a store and no folder of releases."""
        return self.history is not None and ("://" in self.history or self.history.lower().endswith(STORES))

    def people(self, reading: Callable[[str], Table], release: Sequence[str]) -> Table | None:
        """The people, named by the columns that were given, or by the first that the release lacks."""
        if self.against is None:
            return None
        table = reading(self.against)
        others = [name for name in table.column_names if name not in release]
        chosen = [table.require(name) for name in self.name] if self.name else others[:1]
        return table.with_roles(identifiers=chosen)

    def background(
        self,
        reading: Callable[[str], Table],
        release: Table | None,
        people: Table | None,
        hierarchies: Mapping[str, Hierarchy],
    ) -> Background:
        """All that the flags say, for a release with roles."""
        earlier = {}
        if self.history is not None and not self.has_store and release is not None:
            folder = Path(self.history)
            if not folder.is_dir():
                raise ParameterError(
                    "cli.history-give-folder-earlier",
                    "--history {folder}: give a folder of earlier releases, or a store ({stores})",
                    folder=folder,
                    stores=", ".join(STORES),
                )
            earlier = read_earlier(
                folder, lambda path: reading(str(path)), release.quasi_identifiers, release.sensitive
            )
        answers, listings = ((), ()) if self.answers is None else read_answers(self.answers)
        return Background(
            people=people,
            earlier=earlier,
            rules=() if self.rules is None else read_rules(self.rules),
            answers=answers,
            listings=listings,
            sensitive_table=None if self.sensitive_table is None else reading(self.sensitive_table),
            minimal_for=self.minimal_for,
            hierarchies=hierarchies,
        )

    @contextmanager
    def opened_history(self) -> Iterator[ReleaseHistory]:
        """The store of earlier releases."""
        from tarnkappe.risk.history import (
            ReleaseHistory,
        )  # brings a database library, which most commands do without
        from tarnkappe.state import Key, Store

        assert self.history is not None
        if self.key is None:
            raise ParameterError(
                "cli.history-store-needs-key",
                "--history {history}: the store needs its key: --key FILE",
                history=self.history,
            )
        with Store.open(self.history) as store:
            yield ReleaseHistory(store, Key.load(self.key, create=True), self.of)


def judge_history(
    knowledge: BackgroundFlags,
    release: Table,
    background: Background,
    models: Sequence[Model],
    record: str | None,
) -> Continuation | None:
    """Whether a release keeps what was asked for together with the earlier ones; it is recorded if it does.

    Nothing is judged without people, or if a folder of releases is given and nothing was asked for.
    """
    k, diversity = kept_by(models)
    if record is not None and not knowledge.has_store:
        raise ParameterError(
            "cli.record-needs-store-history",
            "--record needs a store as --history ({stores})",
            stores=", ".join(STORES),
        )
    if knowledge.has_store and background.people is None:
        raise ParameterError(
            "cli.store-compares-people-give",
            "a store compares people: give those in the release with --against FILE",
        )
    if background.people is None or knowledge.history is None:
        return None
    target = Target.of(release, background)
    if not knowledge.has_store:
        # Of a larger population it is not known who is in the releases, so look-alikes are not counted.
        k = k if background.people.num_rows <= target.rows else 1
        return continues(target, k=k, diversity=diversity) if max(k, diversity) > 1 else None
    with knowledge.opened_history() as history:
        found = history.check(target, k=k, diversity=diversity)
        if record is not None and found.safe:
            history.record(record, target)
    return found
