"""Job files: everything that one anonymization needs, in TOML.

A job is checked whole before any work: unknown sections and keys, unknown models and losses, columns
without a hierarchy. Paths are relative to the job file.
"""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.hierarchy import BUILDERS, Hierarchy, read_hierarchy
from tarnkappe.lattice import SEARCHES, Search
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model
from tarnkappe.table import Column, Role, Table, read
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True)
class Source:
    """Where rows come from: a file, or a table or query of a database."""

    path: str | None = None
    database: str | None = None
    table: str | None = None
    query: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if (self.path is None) == (self.database is None):
            raise JobError("say where the rows come from: either 'path' or 'database'")
        if self.database is not None and (self.table is None) == (self.query is None):
            raise JobError("with 'database', name either a 'table' or a 'query'")

    def read(self, progress: Progress | None = None) -> Table:
        """Read the rows."""
        if self.database is not None:
            return read(self.database, table=self.table, query=self.query, progress=progress)
        assert self.path is not None
        options = {"delimiter": self.delimiter, "encoding": self.encoding, "sheet": self.sheet}
        return read(self.path, progress=progress, **options)


@dataclasses.dataclass(frozen=True)
class ColumnPlan:
    """The role of one column and how it generalizes: a hierarchy file, a builder, or a proposal.

    The level of a quasi-identifier may be fixed (`level`) or kept between `min_level` and `max_level`.
    """

    role: Role = Role.INSENSITIVE
    hierarchy: str | Mapping[str, Any] | Hierarchy | None = dataclasses.field(default=None, hash=False)
    level: int | None = None
    min_level: int | None = None
    max_level: int | None = None

    def level_limits(self, height: int) -> tuple[int, int]:
        """The least and the greatest level that may be chosen."""
        if self.level is not None:
            return self.level, self.level
        return self.min_level or 0, height if self.max_level is None else self.max_level

    @property
    def has_level_limits(self) -> bool:
        """Whether not every level may be chosen."""
        return (self.level, self.min_level, self.max_level) != (None, None, None)

    def hierarchy_for(self, column: Column) -> Hierarchy | None:
        """The hierarchy of an encoded column, read or built now."""
        plan = self.hierarchy
        if plan is None or isinstance(plan, Hierarchy):
            return plan
        if isinstance(plan, str):
            return read_hierarchy(plan)
        options = dict(plan)
        return BUILDERS.create(options.pop("builder", "auto"), options).build_column(column)


@dataclasses.dataclass(frozen=True)
class Output:
    """Where the release goes. Rows are shuffled unless told otherwise: their order links releases."""

    path: str | None = None
    delimiter: str = ";"
    shuffle: bool = True
    report: str | None = None
    manifest: str | None = None


@dataclasses.dataclass(frozen=True)
class Job:
    """One anonymization: what to read, what to promise, what to minimize, where to write."""

    input: Source
    columns: Mapping[str, ColumnPlan] = dataclasses.field(hash=False)
    privacy: tuple[Model, ...]
    loss: Loss
    search: Search
    suppression_limit: float = 0.0
    population: Source | None = None
    several_rows_per_person: bool = False
    output: Output = dataclasses.field(default_factory=Output)

    @classmethod
    def load(cls, path: str | Path) -> Job:
        """Read a job file."""
        return cls.from_dict(read_job_file(path), Path(path).parent, name=str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path(), *, name: str | None = None) -> Job:
        """A job from the content of a job file; relative paths start at the folder."""
        try:
            return cls._from_dict(content, folder)
        except TarnkappeError as error:
            raise (type(error)(f"{name}: {error}") if name else error) from None

    @classmethod
    def _from_dict(cls, content: Mapping[str, Any], folder: Path) -> Job:
        _refuse_unknown(content, ("input", "population", "columns", "privacy", "search", "output"), "section")
        if "input" not in content:
            raise JobError("the section [input] is missing: say what to anonymize")
        search = dict(_section(content, "search"))
        _refuse_unknown(search, ("algorithm", "loss", "suppression_limit"), "key of [search]")
        reading = dict(_section(content, "input"))
        several_rows = reading.pop("several_rows_per_person", False)
        return cls(
            input=_source({"input": reading}, "input", folder),
            population=_source(content, "population", folder) if "population" in content else None,
            columns={
                name: _column(name, plan, folder) for name, plan in _section(content, "columns").items()
            },
            privacy=tuple(create_model(entry) for entry in _entries(content, "privacy")),
            loss=create_loss(search.get("loss", "entropy")),
            search=create_search(search.get("algorithm", "auto")),
            suppression_limit=search.get("suppression_limit", 0.0),
            several_rows_per_person=several_rows,
            output=_output(content, folder),
        )

    def read_input(self, progress: Progress | None = None) -> Table:
        """The rows to anonymize, with the roles of their columns."""
        return self.input.read(progress).with_roles({n: plan.role for n, plan in self.columns.items()})

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns to generalize."""
        return tuple(n for n, plan in self.columns.items() if plan.role is Role.QUASI_IDENTIFIER)


def read_job_file(path: str | Path) -> dict[str, Any]:
    """The content of a job file, not yet understood."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise JobError(f"cannot read the job file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise JobError(f"the job file {path} is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise JobError(f"the job file {path} is not valid TOML: {error}") from None


def _section(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = content.get(name, {})
    if not isinstance(section, Mapping):
        raise JobError(f"[{name}] must be a section")
    return section


def _entries(content: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    entries = content.get(name, [])
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise JobError(f"write one [[{name}]] section for each privacy model")
    return entries


def _refuse_unknown(content: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for key in content:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known)}"
            raise JobError(f"unknown {what} '{key}': {hint}")


def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _source(content: Mapping[str, Any], name: str, folder: Path) -> Source:
    section = dict(_section(content, name))
    _refuse_unknown(section, _fields(Source), f"key of [{name}]")
    return Source(**_resolved(section, folder, "path"))


def _output(content: Mapping[str, Any], folder: Path) -> Output:
    section = dict(_section(content, "output"))
    _refuse_unknown(section, _fields(Output), "key of [output]")
    return Output(**_resolved(section, folder, "path", "report", "manifest"))


def _resolved(section: dict[str, Any], folder: Path, *keys: str) -> dict[str, Any]:
    return {key: str(folder / value) if key in keys else value for key, value in section.items()}


def _column(name: str, plan: Any, folder: Path) -> ColumnPlan:
    if not isinstance(plan, Mapping):
        raise JobError(f"[columns.{name}] must be a section with a role")
    _refuse_unknown(plan, _fields(ColumnPlan), f"key of [columns.{name}]")
    hierarchy = plan.get("hierarchy")
    if isinstance(hierarchy, str):
        hierarchy = str(folder / hierarchy)
    elif isinstance(hierarchy, Mapping):
        BUILDERS.create(
            hierarchy.get("builder", "auto"), {k: v for k, v in hierarchy.items() if k != "builder"}
        )
    elif hierarchy is not None:
        raise JobError(f"[columns.{name}]: a hierarchy is a file name or a table with a builder")
    limits = {key: _level(name, key, plan[key]) for key in ("level", "min_level", "max_level") if key in plan}
    return ColumnPlan(Role.parse(plan.get("role", "insensitive")), hierarchy, **limits)


def _level(column: str, key: str, level: Any) -> int:
    if not isinstance(level, int) or isinstance(level, bool) or level < 0:
        raise JobError(f"[columns.{column}]: {key} is a whole number of at least 0, not {level!r}")
    return level


def create_model(entry: Mapping[str, Any]) -> Model:
    """A privacy model as a job file describes it."""
    if "model" not in entry:
        raise JobError(f"a privacy section names no model: known are {', '.join(MODELS.names)}")
    return MODELS.create(entry["model"], {k: v for k, v in entry.items() if k != "model"})


def create_loss(entry: str | Mapping[str, Any]) -> Loss:
    """A loss as a job file describes it: its name, or a table with its name and parameters."""
    if isinstance(entry, str):
        return LOSSES.create(entry, {})
    return LOSSES.create(entry.get("name", "entropy"), {k: v for k, v in entry.items() if k != "name"})


def create_search(name: str) -> Search:
    """A search by name."""
    return SEARCHES.create(name, {})
