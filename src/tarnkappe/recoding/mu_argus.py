"""mu-ARGUS by itself: global recoding while much is unsafe, then local suppression of single cells.

The steps are those of a `ArgusSession`, taken without a data holder: first every column is recoded until each
of its values occurs often enough; then, while more than a given share of the rows have unsafe
combinations, the column that is in most of them; then cells are suppressed. What is still unsafe as a
whole row, where the published program does not look, loses further cells, and if that does not help the
row is left out. If too many rows would be, one more column is recoded and suppression starts again.

Which cells to suppress at best is a set-cover problem; here it is decided greedily, so the result is a
heuristic.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Self

import numpy as np

from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError, Reason
from tarnkappe.lattice import SearchProblem
from tarnkappe.recoding.argus import IDENTIFYING, MORE, MOST, ArgusSession, published_combinations
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.recode import Recoded, recoded
from tarnkappe.schema import MOST_NAMES, Name, Share, param
from tarnkappe.table import Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Progress


class Tested(StrEnum):
    """Which combinations of columns are tested."""

    ALL = "all"
    PUBLISHED = "published"


class MuArgus(Method, kw_only=True):
    """Global recoding and local suppression (Hundepool and Willenborg 1996)."""

    name = "mu-argus"
    cites = ("hundepool1996",)
    summary = (
        "Recodes columns while much is unsafe, then suppresses single cells. Right for small tables in which "
        "a few rows stand out by one value and whole columns should stay readable."
    )
    keeps_level_limits = True

    combinations: Annotated[
        Tested, param("all, or those of the published program, which do not make a table k-anonymous")
    ] = Tested.ALL
    most: Annotated[
        tuple[Name, ...],
        param(
            "the most identifying columns, for the published combinations only",
            kind="columns",
            max_length=MOST_NAMES,
        ),
    ] = ()
    more: Annotated[
        tuple[Name, ...],
        param("more identifying columns than the others", kind="columns", max_length=MOST_NAMES),
    ] = ()
    unsafe_share: Annotated[
        Share,
        param("the share of rows with unsafe combinations above which a column is recoded", kind="share"),
    ] = 0.1

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Also without recoding, and as published."""
        return (cls(), cls(unsafe_share=1.0), cls(combinations=Tested.PUBLISHED))

    def check(self, problem: SearchProblem) -> None:
        """Refuse also unknown columns and a population."""
        super().check(problem)
        for name in (*self.most, *self.more):
            if name not in problem.quasi_identifiers:
                raise ColumnError(
                    "recoding.mu-argus-no-quasi", "mu-argus: '{name}' is no quasi-identifier", name=name
                )
        for name, (_, greatest) in problem.level_limits.items():
            if greatest < problem.lattice.heights[problem.quasi_identifiers.index(name)]:
                raise ParameterError(
                    "recoding.mu-argus-suppresses-cells",
                    "mu-argus suppresses cells, which is the highest level of all: '{name}' cannot be kept "
                    "at level {greatest}: leave the limit out, or use a search",
                    name=name,
                    greatest=greatest,
                )
        if problem.tuples.population is not None:
            raise ParameterError(
                "recoding.mu-argus-suppresses-cells-single",
                "mu-argus suppresses cells of single rows, so nobody can tell how a member of the "
                "population would be written: leave the population out, or use a search",
            )

    def session(self, rows: Tuples, problem: SearchProblem) -> ArgusSession:
        """A session for the data holder, with what this method would begin with."""
        kinds = dict.fromkeys(problem.quasi_identifiers, IDENTIFYING)
        kinds |= dict.fromkeys(self.more, MORE) | dict.fromkeys(self.most, MOST)
        lowest = {n: r[0] for n, r in zip(problem.quasi_identifiers, problem.level_ranges, strict=True)}
        return ArgusSession(
            rows,
            problem.quasi_identifiers,
            k=max(1, *(model.least_size(problem.tuples) for model in problem.models)),
            combinations=None if self.combinations == Tested.ALL else published_combinations(kinds),
            levels=lowest,
        )

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Recode and suppress."""
        self.check(problem)
        session = self.session(rows, problem)
        names, ranges = problem.quasi_identifiers, problem.level_ranges
        highest = {name: levels[-1] for name, levels in zip(names, ranges, strict=True)}
        steps = _recode_rare_values(session, highest)
        while rows.counts[session.unsafe_rows()].sum() > self.unsafe_share * rows.num_rows:
            if not _recode_next(session, highest, steps):
                break
            if progress:
                progress("recoding", sum(session.levels.values()), sum(highest.values()))
        while True:
            cells = session.suppress()
            done = [*steps, f"{cells:,} cells suppressed for unsafe combinations"]
            found = _judge(rows, problem, session)
            if self.combinations == Tested.ALL:
                done += _suppress_whole_rows(rows, problem, session)
                found = _judge(rows, problem, session)
            if found.state.suppressed_rows <= problem.limit or self.combinations == Tested.PUBLISHED:
                return Recoding(session.written(), found.released, steps=tuple(done))
            session.undo()
            if not _recode_next(session, highest, steps) and not _recode_any(session, highest, steps):
                raise NoSolutionError.because(_stuck(problem, found))


def _recode_rare_values(session: ArgusSession, highest: dict[str, int]) -> list[str]:
    steps: list[str] = []
    for name in sorted(highest):
        while session.levels[name] < highest[name] and session.is_unsafe((name,)):
            session.recode(name)
        if session.levels[name]:
            steps.append(f"{name} recoded to level {session.levels[name]}: its values were too rare")
    return steps


def _recode_next(session: ArgusSession, highest: dict[str, int], steps: list[str]) -> bool:
    name = session.proposal(highest)
    if name is None:
        return False
    session.recode(name)
    steps.append(f"{name} recoded to level {session.levels[name]}: it was in most unsafe combinations")
    return True


def _recode_any(session: ArgusSession, highest: dict[str, int], steps: list[str]) -> bool:
    """Recode the column that is furthest from its highest level, though no tested combination is unsafe."""
    left = {name: top - session.levels[name] for name, top in sorted(highest.items())}
    name = max(left, key=left.__getitem__)
    if not left[name]:
        return False
    session.recode(name)
    steps.append(f"{name} recoded to level {session.levels[name]}: whole rows were unsafe")
    return True


def _judge(rows: Tuples, problem: SearchProblem, session: ArgusSession) -> Recoded:
    everything = Recoding(session.written(), np.ones(rows.num_tuples, dtype=bool))
    return recoded(rows, everything, problem.models, problem.distributions)


def _suppress_whole_rows(rows: Tuples, problem: SearchProblem, session: ArgusSession) -> list[str]:
    """Suppress further cells in rows whose classes do not meet the models.

    Each time one column goes, in those of the rows that meet the models then: the column that helps most of
    them. Where none helps, the column that most of them still have goes in all of them.
    """
    names, cells = sorted(problem.quasi_identifiers), 0
    while True:
        found = _judge(rows, problem, session)
        bad = ~found.released & (rows.counts > 0)
        open_cells = {name: bad & ~session.suppressed(name) for name in names}
        open_cells = {name: cell for name, cell in open_cells.items() if cell.any()}
        if not open_cells:
            return [f"{cells:,} more cells suppressed for whole rows"] if cells else []
        helped = {name: _helped(rows, problem, session, name, cell) for name, cell in open_cells.items()}
        best = max(helped, key=lambda name: int(np.count_nonzero(helped[name])))
        chosen = helped[best]
        if not chosen.any():
            best = max(open_cells, key=lambda name: int(np.count_nonzero(open_cells[name])))
            chosen = open_cells[best]
        session.suppress_cells(best, chosen)
        cells += int(np.count_nonzero(chosen))


def _helped(rows: Tuples, problem: SearchProblem, session: ArgusSession, name: str, cells: Mask) -> Mask:
    """Which of some rows would be released if a column were suppressed in all of them."""
    trial = session.copy()
    trial.suppress_cells(name, cells)
    return np.asarray(cells & _judge(rows, problem, trial).released)


def _stuck(problem: SearchProblem, found: Recoded) -> Reason:
    promised: Sequence[str] = [str(model) for model in problem.models]
    return Reason(
        "recoding.mu-argus-recoded-every-column",
        "mu-argus has recoded every column as far as it may, and {suppressed_rows:,} {suppressed_rows:row "
        "does|rows do} not meet "
        "{promised}, where {limit:,} may be suppressed: raise that limit",
        suppressed_rows=found.state.suppressed_rows,
        promised=", ".join(promised),
        limit=problem.limit,
    )
