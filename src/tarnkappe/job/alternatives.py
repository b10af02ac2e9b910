"""Choosing by meaning: releases that are nearly as good as the best, in words, each ready to be released.

These are other nodes of the lattice (`lattice/alternatives.py`), with one level in a column. A method that
writes each class in its own words has no nodes: there the weights of the columns decide what is kept.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from tarnkappe.drawing import html_table
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.column_plan import plan_columns, published_too
from tarnkappe.job.default_coding import DEFAULT_LOSS, GLOBAL, UNIFORM_SUPPRESSION
from tarnkappe.job.identifier_guard import refuse_identifiers, untouched
from tarnkappe.job.job import Job
from tarnkappe.job.preparation import Preparation, prepare
from tarnkappe.job.result import Result
from tarnkappe.job.search_plan import create_search
from tarnkappe.job.sections import create_loss, create_models
from tarnkappe.lattice import Search, SearchProblem, Solution, choose
from tarnkappe.lattice.alternatives import (
    MOST,
    WORSE,
    ColumnState,
    NodeAlternative,
    column_states,
    kept_of_columns,
    node_alternatives,
)
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model, protect
from tarnkappe.schema.arguments import checked_call
from tarnkappe.table import Column, Table
from tarnkappe.table.encoding import Progress

RARE = 10
"""Labels that fewer rows have are not shown."""
SAMPLES = 3
"""So many released rows are shown of each alternative."""
NUMBERS = re.compile(r"(-?\d+)-(-?\d+)")
MASKED = re.compile(r"([^*]+)(\*+)")
DATES = {
    "day": re.compile(r"\d{4}-\d\d-\d\d"),
    "month": re.compile(r"\d{4}-\d\d"),
    "quarter": re.compile(r"\d{4}-?Q\d|Q\d \d{4}"),
    "year": re.compile(r"\d{4}"),
    "decade": re.compile(r"\d{4}s|\d{3}0-\d{3}9"),
}


@dataclasses.dataclass(frozen=True)
class Alternative:
    """A release that could be chosen.

    Attributes:
        levels: the level of each quasi-identifier.
        words: what each column would be, in words.
        keeps: the columns that it keeps better than the best, and how.
        loses: the columns that it keeps worse, and how.
        loss: what it loses.
        difference: how much more that is than the least loss, as a share.
        suppressed: how many rows would be left out.
        proven: whether nothing that grants its wish loses less, proven.
        sample: cells of three released rows of classes of middle size.
    """

    levels: Mapping[str, int]
    words: Mapping[str, str]
    keeps: Mapping[str, str]
    loses: Mapping[str, str]
    loss: float
    difference: float
    suppressed: int
    proven: bool
    sample: tuple[Mapping[str, str], ...]

    def line(self, best: Alternative) -> str:
        """What it keeps better and worse, the rows left out, and the difference of loss."""
        if self is best:
            what = "the least loss: " + ", ".join(f"{name} {how}" for name, how in self.words.items())
        else:
            kept = [f"keeps {_named(self.keeps)}"] if self.keeps else []
            lost = [f"{name}: {how} instead of {best.words[name]}" for name, how in self.loses.items()]
            what = "; ".join([*kept, *lost]) or "fewer rows left out"
        rows = f"{self.suppressed:,} rows left out"
        rows += "" if self is best else f" ({best.suppressed:,})"
        return f"{what}   {rows}   +{self.difference:.1%}{'' if self.proven else '   not proven'}"

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, eq=False)
class Alternatives(Sequence[Alternative]):
    """What could be released, the best first; `apply` releases one."""

    options: tuple[Alternative, ...]
    prepared: Preparation
    bound: float | None

    def __len__(self) -> int:
        return len(self.options)

    @overload
    def __getitem__(self, index: int) -> Alternative: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Alternative]: ...

    def __getitem__(self, index: int | slice) -> Alternative | Sequence[Alternative]:
        return self.options[index]

    def __iter__(self) -> Iterator[Alternative]:
        return iter(self.options)

    def solution(self, index: int) -> Solution:
        """One of them as a solution that can be released."""
        if not 0 <= index < len(self.options):
            raise ParameterError(
                "job.alternatives-0",
                "there are the alternatives 0 to {options}, not {index}",
                options=len(self.options) - 1,
                index=index,
            )
        return choose(self.prepared.problem, self.options[index].levels, self.bound)

    def apply(self, index: int) -> Result:
        """A verified release of one of them."""
        return self.prepared.release(self.solution(index))

    def to_dict(self) -> dict[str, Any]:
        """The list, for JSON."""
        return {"alternatives": [each.to_dict() for each in self.options]}

    def __str__(self) -> str:
        return "\n".join(f"{n}  {each.line(self.options[0])}" for n, each in enumerate(self.options, 1))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        names = list(self.prepared.problem.quasi_identifiers)
        rows = [
            (*(each.words[name] for name in names), f"{each.suppressed:,}", f"+{each.difference:.1%}")
            for each in self.options
        ]
        return html_table((*names, "rows left out", "loss"), rows)


@checked_call
def alternatives(
    table: Table,
    *,
    privacy: Model | Mapping[str, Any] | Sequence[Model | Mapping[str, Any]],
    hierarchies: Mapping[str, Hierarchy | str | Mapping[str, Any]] | None = None,
    levels: Mapping[str, int | tuple[int, int]] | None = None,
    weights: Mapping[str, float] | None = None,
    publish: Sequence[str] = (),
    accept: Mapping[str, str | Sequence[str]] | None = None,
    loss: Loss | str | Mapping[str, Any] = DEFAULT_LOSS,
    suppression_limit: float = UNIFORM_SUPPRESSION,
    algorithm: Search | str = GLOBAL,
    most: int = MOST,
    worse: float = WORSE,
    shuffle: bool = True,
    several_rows_per_person: bool = False,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Alternatives:
    """Releases with one level in a column that are nearly as good as the best, in words.

    The arguments are those of `anonymize`, and:

    Args:
        table: the input, with roles.
        privacy: what every release must promise.
        hierarchies: how columns generalize.
        levels: limits of levels.
        weights: how much the loss of some columns counts.
        publish: columns without a role that are released as they are.
        accept: for some columns, the detectors of identifiers that are wrong about them.
        loss: what is minimized.
        suppression_limit: the share of rows that may be left out.
        algorithm: the search.
        most: how many there are at most, with the best.
        worse: how much more one may lose, as a share of the least loss.
        shuffle: whether a release has its rows in a random order.
        several_rows_per_person: whether rows with the same identifiers are allowed.
        seed: for tests: makes the order reproducible.
        progress: told about the progress of the searches.

    >>> from tarnkappe.table.examples import hospital
    >>> patients = hospital(rows=300, seed=1).table.with_roles(
    ...     quasi_identifiers=["age", "sex"], sensitive=["diagnosis"])
    >>> found = alternatives(patients, privacy={"model": "k-anonymity", "k": 5})
    >>> found[0].words["sex"], found[0].proven
    ('exact', True)
    """
    table = published_too(table, publish)
    plans = plan_columns(table, hierarchies or {}, levels or {}, weights=weights, accept=accept)
    accepted = {name: plan.accept for name, plan in plans.items() if plan.accept}
    refuse_identifiers(table, untouched(table, plans), accepted, progress)
    prepared = prepare(
        table,
        plans,
        create_models(privacy),
        loss if isinstance(loss, Loss) else create_loss(loss),
        suppression_limit=suppression_limit,
        shuffle=shuffle,
        several_rows_per_person=several_rows_per_person,
        seed=seed,
        progress=progress,
    )
    search = create_search(algorithm) if isinstance(algorithm, str) else algorithm
    return find_alternatives(prepared, search, most=most, worse=worse, progress=progress)


def alternatives_job(
    job: Job, *, most: int = MOST, worse: float = WORSE, progress: Progress | None = None
) -> Alternatives:
    """The alternatives of a job; nothing of its output is written."""
    if not isinstance(job.search, Search) or job.needs_rows or job.input.engine != "memory":
        raise ParameterError(
            "job.alternatives-other-levels-columns",
            "alternatives are other levels of the columns, found in memory: take a search and one level in "
            "a column (--uniform), without aggregates, suppressed columns or local recoding",
        )
    table = job.read_input(progress)
    refuse_identifiers(table, untouched(table, job.columns), job.accepted, progress)
    prepared = prepare(
        table,
        job.columns,
        job.privacy,
        job.loss,
        suppression_limit=job.suppression_limit,
        population=job.population.read(progress) if job.population else None,
        shuffle=job.output.shuffle,
        several_rows_per_person=job.several_rows_per_person,
        progress=progress,
    )
    return find_alternatives(prepared, job.search, most=most, worse=worse, progress=progress)


def chosen_job(job: Job, options: Alternatives, index: int) -> Job:
    """The job with the levels of one of its alternatives, to be run as any other."""
    if not 0 <= index < len(options):
        raise ParameterError(
            "job.alternatives-1-choose",
            "there are the alternatives 1 to {options}: choose one of them",
            options=len(options),
        )
    chosen = options[index]
    columns = {
        name: dataclasses.replace(plan, level=chosen.levels[name], min_level=None, max_level=None)
        if name in chosen.levels
        else plan
        for name, plan in job.columns.items()
    }
    return dataclasses.replace(job, columns=columns)


def find_alternatives(
    prepared: Preparation,
    search: Search,
    *,
    most: int = MOST,
    worse: float = WORSE,
    progress: Progress | None = None,
) -> Alternatives:
    """What could be released of a prepared table with one level in a column."""
    found = node_alternatives(prepared.problem, search, most=most, worse=worse, progress=progress)
    return described(prepared, found)


def described(prepared: Preparation, found: Sequence[NodeAlternative]) -> Alternatives:
    """Nodes in words, for the command line, notebooks and pages."""
    problem = prepared.problem
    best = found[0] if found else None
    options = tuple(_described(problem, each, best) for each in found if best is not None)
    bound = found[0].evaluation.loss if found and found[0].proven else None
    return Alternatives(options, prepared, bound)


def _described(problem: SearchProblem, own: NodeAlternative, best: NodeAlternative) -> Alternative:
    names = problem.quasi_identifiers
    words = level_words(problem, own.node)
    ours, theirs = kept_of_columns(problem, own.node), kept_of_columns(problem, best.node)
    pairs = list(zip(names, ours, theirs, strict=True))
    return Alternative(
        dict(zip(names, own.node, strict=True)),
        words,
        {name: words[name] for name, mine, best_s in pairs if mine > best_s},
        {name: words[name] for name, mine, best_s in pairs if mine < best_s},
        own.evaluation.loss,
        own.difference,
        own.evaluation.suppressed,
        own.proven,
        _sample(problem, own),
    )


def level_words(problem: SearchProblem, node: Sequence[int]) -> dict[str, str]:
    """What the level of each column says, in words and with a label that at least `RARE` rows have."""
    states = column_states(problem, tuple(node))
    return {
        column.name: str(state) if state is not ColumnState.COARSE else _level_word(problem, column, level)
        for column, level, state in zip(problem.columns, node, states, strict=True)
    }


def _level_word(problem: SearchProblem, column: Column, level: int) -> str:
    assert column.levels is not None, "a quasi-identifier has a hierarchy"
    counts = problem.tuples.label_counts(column.name, level)
    place = int(np.argmax(counts))
    if counts[place] < RARE:
        return f"level {level} of {column.levels.height}"
    label = column.levels.labels[level][place]
    dates = column.numbers is None or not _is_number(column.labels[0])
    for unit, form in DATES.items() if dates else ():
        if form.fullmatch(label):
            return f"{unit} ({label})"
    if ends := NUMBERS.fullmatch(label):
        return f"{int(ends[2]) - int(ends[1]) + 1} wide ({label})"
    if masked := MASKED.fullmatch(label):
        return f"{len(masked[1])} characters ({label})"
    return f"level {level} of {column.levels.height} ({label})"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _sample(problem: SearchProblem, own: NodeAlternative) -> tuple[dict[str, str], ...]:
    """The cells of classes of middle size, as they would be released; never a row of the input."""
    state = protect(problem.classes(own.node), problem.models)
    kept = np.flatnonzero(state.kept)
    if not len(kept):
        return ()
    classes = state.classes
    middle = kept[np.argsort(classes.sizes[kept], kind="stable")]
    start = max((len(middle) - SAMPLES) // 2, 0)
    rows: list[dict[str, str]] = []
    for place in middle[start : start + SAMPLES].tolist():
        cells = {}
        for index, (column, level) in enumerate(zip(problem.columns, own.node, strict=True)):
            assert column.levels is not None, "a quasi-identifier has a hierarchy"
            cells[column.name] = column.levels.labels[level][int(classes.label_codes(index)[place])]
        rows.append(cells)
    return tuple(rows)


def _named(kept: Mapping[str, str]) -> str:
    words = [name if how == "exact" else f"{name} ({how})" for name, how in kept.items()]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
