"""Job files: everything that one anonymization needs, in TOML.

A job is checked whole before any work: unknown sections and keys, unknown models and losses, columns
without a hierarchy. Paths are relative to the job file.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.job.column_plan import ColumnPlan, Unnamed, read_column, weighted_plans
from tarnkappe.job.default_coding import DEFAULT_LOSS, GLOBAL, UNIFORM_SUPPRESSION
from tarnkappe.job.search_plan import Algorithm, asks_for_one_level, create_algorithm
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model
from tarnkappe.recoding import Suppression
from tarnkappe.recoding.perturbation import PERTURBATIONS, Perturbation
from tarnkappe.schema import (
    MOST_NAMES,
    NO_NUL,
    Name,
    Parameters,
    Problem,
    Text,
    fields_of,
    near,
    param,
    rule,
    shown,
)
from tarnkappe.schema.arguments import checked
from tarnkappe.schema.family import parse
from tarnkappe.table import Role, Table, read
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.address import local_file
from tarnkappe.table.read import READING_KEYS

SECTIONS = ("input", "population", "columns", "perturb", "privacy", "search", "history", "output")
ENTRIES = {"privacy": "privacy model", "perturb": "perturbation"}
"""Sections that may be there several times, and what each is."""
SEARCH_KEYS = (
    "algorithm",
    "loss",
    "suppression_limit",
    "suppression",
    "local_recoding",
    "uniform",
    "weights",
)

Engine = Literal["memory", "duckdb", "postgresql", "spark"]
Query = Annotated[str, Meta(min_length=1, max_length=1_000_000, pattern=NO_NUL)]
Short = Annotated[str, Meta(min_length=1, max_length=100, pattern=NO_NUL)]


class InputSource(Parameters):
    """Where rows come from: a file, or a table or query of a database.

    With an engine other than `memory` the rows stay where they are: the engine counts, releases, verifies.
    """

    path: Annotated[Name | None, param("the file with the rows", kind="file")] = None
    database: Annotated[Name | None, param("the address of a database, instead of a file")] = None
    table: Annotated[Name | None, param("the table of the database")] = None
    query: Annotated[Query | None, param("a query of the database, instead of a table")] = None
    delimiter: Annotated[Short | None, param("what separates cells of a CSV file; found if not said")] = None
    encoding: Annotated[Short | None, param("the encoding of a CSV file; found if not said")] = None
    sheet: Annotated[Name | None, param("the sheet of a workbook; the first if not said")] = None
    engine: Annotated[Engine, param("what counts, releases and verifies the rows")] = "memory"
    memory_limit: Annotated[Short | None, param("how much memory duckdb may take, such as 4GB")] = None
    quote: Annotated[Short | None, param("what stands around cells of a CSV file; found if not said")] = None
    header: Annotated[bool | Short | None, param("whether the first line is names; found if not said")] = None
    decimal: Annotated[Short | None, param("the decimal mark, a point or a comma; found if not said")] = None
    dates: Annotated[Short | None, param("the order of dates, such as dmy; found if not said")] = None
    missing: Annotated[
        Annotated[tuple[Text, ...], Meta(max_length=MOST_NAMES)] | None,
        param("the words for missing values; found if not said"),
    ] = None
    bad_lines: Annotated[Short | None, param("skip leaves out a few lines with too many or few cells")] = None
    types: Annotated[
        Annotated[Mapping[Name, Short], Meta(max_length=MOST_NAMES)] | None,
        param("what columns hold: text, number or date; found if not said"),
    ] = None

    def rules(self) -> Iterator[Problem]:
        """Rows come from one place, and nothing is said that does not go with it."""
        if self.memory_limit is not None and self.engine != "duckdb":
            template = "'memory_limit' is kept by the engine 'duckdb' only: leave it out"
            yield rule("job.memory-limit", template, "memory_limit")
        if (self.path is None) == (self.database is None):
            yield rule("job.source", "say where the rows come from: either 'path' or 'database'")
        if self.database is not None and (self.table is None) == (self.query is None):
            yield rule("job.table", "with 'database', name either a 'table' or a 'query'")

    @property
    def files(self) -> tuple[str, ...]:
        """What the rows come from: a file or an address, and the files that a query may read."""
        quoted = re.findall(r"'([^']+)'", self.query or "")
        return tuple(name for name in (self.path, self.database, *quoted) if name is not None)

    def read(self, progress: Progress | None = None) -> Table:
        """Read the rows."""
        if self.database is not None:
            return read(self.database, table=self.table, query=self.query, progress=progress)
        assert self.path is not None
        return read(self.path, progress=progress, **self.options)

    @property
    def options(self) -> dict[str, Any]:
        """What is stated about how the file is written."""
        given = {name: getattr(self, name) for name in READING_KEYS}
        return {name: value for name, value in given.items() if value is not None}


class Output(Parameters):
    """Where the release goes: to a file, or with the engine `postgresql` to a new table of the same database.

    Rows are shuffled unless told otherwise: their order links releases. A CSV file is written as the input
    is, unless a delimiter is given or it is for Excel. The certificate for everybody lies beside it;
    `certificate` is the one for auditors, which must not be delivered.
    """

    path: Annotated[Name | None, param("the file that gets the release", kind="file")] = None
    table: Annotated[Name | None, param("the new table of the database that gets the release")] = None
    delimiter: Annotated[
        Short | None, param("what separates the cells of a CSV file; as in the input if not said")
    ] = None
    shuffle: Annotated[bool, param("whether the rows get a random order, which links no releases")] = True
    report: Annotated[Name | None, param("the file that gets the report for people", kind="file")] = None
    manifest: Annotated[Name | None, param("the file that gets the record of the run", kind="file")] = None
    certificate: Annotated[Name | None, param("the file that gets the proof for auditors", kind="file")] = (
        None
    )
    excel: Annotated[bool, param("whether a CSV file is written so that Excel opens it")] = False


class Memory(Parameters):
    """Where a job remembers its releases."""

    store: Annotated[Name, param("a file such as ward.db, or the address of a database", kind="file")]
    key: Annotated[Name, param("the file with the key, made if it is not there; keep it apart", kind="file")]
    population: Annotated[Name, param("whose data these are; others are not compared")] = "default"
    name: Annotated[Name | None, param("what the release is called; without it, the time")] = None


@checked
@dataclasses.dataclass(frozen=True)
class Job:
    """One anonymization: what to read, what to promise, what to minimize, where to write."""

    input: InputSource
    columns: Mapping[str, ColumnPlan] = dataclasses.field(hash=False)
    privacy: tuple[Model, ...]
    loss: Loss
    search: Algorithm
    suppression_limit: float = 0.0
    suppression: Suppression = Suppression.RECORD
    local_recoding: bool | float = False
    population: InputSource | None = None
    several_rows_per_person: bool = False
    history: Memory | None = None
    output: Output = dataclasses.field(default_factory=Output)
    unnamed: Unnamed = Unnamed.WITHHOLD
    perturb: tuple[Perturbation, ...] = ()
    file: str | None = None

    @classmethod
    def load(cls, path: str | Path) -> Job:
        """Read a job file."""
        return cls.from_dict(read_job_file(path), Path(path).parent, name=str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path(), *, name: str | None = None) -> Job:
        """A job from the content of a job file; relative paths start at the folder."""
        try:
            return dataclasses.replace(cls._from_dict(content, folder), file=name)
        except TarnkappeError as error:
            raise (type(error)(f"{name}: {error}") if name else error) from None

    @classmethod
    def _from_dict(cls, content: Mapping[str, Any], folder: Path) -> Job:
        refuse_unknown(content, SECTIONS, "section")
        if "input" not in content:
            raise JobError("the section [input] is missing: say what to anonymize")
        columns, unnamed = split_columns(_section(content, "columns"))
        search = dict(_section(content, "search"))
        said = {key: search.pop(key) for key in SEARCH_KEYS if key in search}
        uniform = asks_for_one_level(said)
        reading = dict(_section(content, "input"))
        several_rows = reading.pop("several_rows_per_person", False)
        columns, types = split_types(columns)
        if types:
            reading["types"] = types
        return cls(
            input=_source({"input": reading}, "input", folder),
            population=_source(content, "population", folder) if "population" in content else None,
            columns=weighted_plans(
                {name: column_section(name, plan, folder) for name, plan in columns.items()},
                said.get("weights", {}),
            ),
            unnamed=Unnamed.parse(unnamed),
            privacy=tuple(create_model(entry) for entry in _entries(content, "privacy")),
            loss=create_loss(said.get("loss", DEFAULT_LOSS if uniform else "entropy")),
            search=create_algorithm(said.get("algorithm", GLOBAL), search, beside=SEARCH_KEYS),
            suppression_limit=said.get("suppression_limit", UNIFORM_SUPPRESSION if uniform else 0.0),
            suppression=Suppression.parse(said.get("suppression", Suppression.RECORD)),
            local_recoding=_local_recoding(said.get("local_recoding", False)),
            several_rows_per_person=several_rows,
            history=_memory(content, folder) if "history" in content else None,
            perturb=tuple(parse(PERTURBATIONS, each, "method") for each in _entries(content, "perturb")),
            output=_output(content, folder),
        )

    def read_input(self, progress: Progress | None = None) -> Table:
        """The rows to anonymize, with the roles of their columns."""
        return self.with_roles(self.input.read(progress))

    def with_roles(self, table: Table) -> Table:
        """A table with the roles of this job."""
        return self.unnamed.apply(table.with_roles({n: plan.role for n, plan in self.columns.items()}))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The files that a run reads or keeps: none of them may be an output."""
        named = [self.file, *self.input.files, *(self.population.files if self.population else ())]
        named += [plan.hierarchy for plan in self.columns.values() if isinstance(plan.hierarchy, str)]
        if self.history is not None:
            named += [self.history.store, self.history.key]
        return tuple(path for name in named if name and (path := local_file(name)))

    @property
    def accepted(self) -> dict[str, dict[str, str]]:
        """The columns that are released although detectors take them for identifiers: which, and why."""
        return {name: dict(plan.accept) for name, plan in self.columns.items() if plan.accept}

    @property
    def needs_rows(self) -> bool:
        """Whether it asks for more than one node for all rows."""
        treated = any(plan.aggregate is not None or plan.suppressed for plan in self.columns.values())
        return bool(treated or self.local_recoding or self.suppression is not Suppression.RECORD)

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
        raise JobError(f"write one [[{name}]] section for each {ENTRIES[name]}")
    return entries


def refuse_unknown(content: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    """Refuse a key that is not known, with the nearest that is."""
    for key in content:
        if key not in known:
            meant = near(key, known)
            hint = f"did you mean '{meant[0]}'?" if meant else f"known are {', '.join(known)}"
            raise JobError(f"unknown {what} '{key}': {hint}")


def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields_of(kind) or dataclasses.fields(kind))


def _source(content: Mapping[str, Any], name: str, folder: Path) -> InputSource:
    section = dict(_section(content, name))
    refuse_unknown(section, _fields(InputSource), f"key of [{name}]")
    return InputSource(**_resolved(section, folder, "path"))


def _output(content: Mapping[str, Any], folder: Path) -> Output:
    section = dict(_section(content, "output"))
    refuse_unknown(section, _fields(Output), "key of [output]")
    return Output(**_resolved(section, folder, "path", "report", "manifest", "certificate"))


def _memory(content: Mapping[str, Any], folder: Path) -> Memory:
    section = dict(_section(content, "history"))
    refuse_unknown(section, _fields(Memory), "key of [history]")
    for required in ("store", "key"):
        if not isinstance(section.get(required), str) or not section[required]:
            raise JobError(f"[history] needs '{required}', the path of a file")
    own = ("key",) if "://" in str(section["store"]) else ("store", "key")
    return Memory(**_resolved(section, folder, *own))


def _resolved(section: dict[str, Any], folder: Path, *keys: str) -> dict[str, Any]:
    for key in keys:
        if key in section and not isinstance(section[key], str):
            raise JobError(f"'{key}' is the path of a file, a text, not {shown(section[key])}")
    return {key: str(folder / value) if key in keys else value for key, value in section.items()}


def split_columns(section: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """The columns of a section [columns], and what it says about those that it does not name."""
    columns = dict(section)
    said = columns.get("unnamed")
    if said is None or isinstance(said, Mapping):
        return columns, Unnamed.WITHHOLD
    return columns, columns.pop("unnamed")


def split_types(columns: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The columns without what they say of their type, and this: `type` and, for dates, `format`."""
    rest: dict[str, Any] = {}
    types: dict[str, str] = {}
    for name, plan in columns.items():
        if not isinstance(plan, Mapping) or not {"type", "format"} & set(plan):
            rest[name] = plan
            continue
        kind, form = plan.get("type", "date"), plan.get("format")
        if not isinstance(kind, str) or not isinstance(form, str | None):
            raise JobError(f'[columns.{name}]: type and format are texts, as in type = "date"')
        if form is not None and kind != "date":
            raise JobError(f"[columns.{name}]: only dates have a format, not {shown(kind)}")
        types[name] = kind if form is None else f"{kind}:{form}"
        rest[name] = {key: value for key, value in plan.items() if key not in ("type", "format")}
    return rest, types


def column_section(name: str, plan: Any, folder: Path) -> ColumnPlan:
    """What a section [columns.NAME] says; a hierarchy file is looked for in the folder."""
    if not isinstance(plan, Mapping):
        raise JobError(f"[columns.{name}] must be a section with a role")
    refuse_unknown(plan, _fields(ColumnPlan), f"key of [columns.{name}]")
    hierarchy = plan.get("hierarchy")
    if isinstance(hierarchy, str):
        hierarchy = str(folder / hierarchy)
    elif isinstance(hierarchy, Mapping):
        BUILDERS.create(
            hierarchy.get("builder", "auto"), {k: v for k, v in hierarchy.items() if k != "builder"}
        )
    elif hierarchy is not None:
        raise JobError(f"[columns.{name}]: a hierarchy is a file name or a table with a builder")
    read_plan = read_column(name, plan, hierarchy)
    read_plan.check(name)
    return read_plan


def _local_recoding(value: Any) -> bool | float:
    if not isinstance(value, bool | int | float):
        raise JobError(
            "local_recoding is true, false, or the share of its rows that a pass may leave to the next one, "
            f"not {value!r}"
        )
    return value


def create_model(entry: Mapping[str, Any]) -> Model:
    """A privacy model as a job file describes it."""
    if "model" not in entry:
        raise JobError(f"a privacy section names no model: known are {', '.join(MODELS.names)}")
    return MODELS.create(entry["model"], {k: v for k, v in entry.items() if k != "model"})


def create_models(privacy: Model | Mapping[str, Any] | Sequence[Model | Mapping[str, Any]]) -> list[Model]:
    """Privacy models, as objects or as a job file describes them; a single one need not be in a list."""
    given = [privacy] if isinstance(privacy, Model | Mapping) else list(privacy)
    return [model if isinstance(model, Model) else create_model(model) for model in given]


def create_loss(entry: str | Mapping[str, Any]) -> Loss:
    """A loss as a job file describes it: its name, or a table with its name and parameters."""
    if isinstance(entry, str):
        return LOSSES.create(entry, {})
    if not isinstance(entry, Mapping):
        raise JobError(f"a loss is a name, or a table with a name and parameters, not {shown(entry)}")
    return LOSSES.create(entry.get("name", "entropy"), {k: v for k, v in entry.items() if k != "name"})
