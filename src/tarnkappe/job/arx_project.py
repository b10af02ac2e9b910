"""Projects of ARX (.deid) become a job file and the files that it names.

A project is a ZIP archive with XML (roles, types, limits of levels), streams of Java objects (criteria and
quality model), the data and the hierarchies as CSV. It may come from a stranger: `arx_archive.py` limits what
is unpacked, and nothing of a stream is executed. New files get names of ours in a new folder, which appears
whole or not at all.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final

from tarnkappe.algebra.xml_elements import Element
from tarnkappe.errors import (
    HierarchyError,
    InputError,
    JobError,
    OutputError,
    ParameterError,
)
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.arx_archive import ProjectArchive, opened_project, texts_of
from tarnkappe.job.arx_builders import NotCarriedOver, builder_of
from tarnkappe.job.arx_settings import (
    Entry,
    loss_entry,
    needs_population,
    privacy_entries,
    released_rows,
    strptime_format,
)
from tarnkappe.job.arx_words import _keys, _level, _quoted, _safe, _share, _weights
from tarnkappe.job.document import MOST_LEVELS
from tarnkappe.job.job import Job
from tarnkappe.schema.written import toml_table
from tarnkappe.table import SUPPRESSED
from tarnkappe.table.formats.java_stream import (
    JavaObject,
    java_mapping,
    read_java_stream,
)
from tarnkappe.table.staging import hidden_folder

MOST_COLUMNS: Final = 10_000

ROLES: Final = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi-identifier",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}
AGGREGATES: Final = {
    "Arithmetic mean": "mean",
    "Arithmetric mean": "mean",
    "Geometric mean": "geometric-mean",
    "Median": "median",
    "Mode": "mode",
    "Interval": "interval",
    "Set": "set",
}


@dataclasses.dataclass(frozen=True)
class ImportedProject:
    """What became of a project.

    Attributes:
        folder: where the files are.
        job: the job file.
        left_out: what could not be carried over, one sentence each.
    """

    folder: Path
    job: Path
    left_out: tuple[str, ...]


@dataclasses.dataclass
class _ProjectColumn:
    name: str
    role: str
    kind: str = "String"
    form: str | None = None
    hierarchy: str | None = None
    least: int | None = None
    most: int | None = None
    aggregate: str | None = None
    is_target: bool = False


def import_project(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> ImportedProject:
    """Make a job file, its data and its hierarchies of an ARX project, in a new folder.

    Args:
        path: the project (.deid).
        folder: where the files go; it must not be there yet.

    Raises:
        InputError: if the file is no project, or a damaged one.
        LimitError: if it would unpack to more than any project does.
    """
    target = Path(folder).absolute()
    if os.path.lexists(target):
        raise ParameterError(
            "job.already-name-folder", "{folder} is there already: name a folder that is not", folder=folder
        )
    if not target.parent.is_dir():
        raise ParameterError(
            "job.folder-not-exist-create",
            "{folder}: the folder {parent} does not exist: create it first",
            folder=folder,
            parent=target.parent,
        )
    with opened_project(Path(path)) as archive, hidden_folder(target) as hidden:
        made = hidden / "project"
        made.mkdir(mode=0o700)
        left_out = _Import(archive, made).run()
        try:
            made.rename(target)
        except OSError as error:
            raise OutputError(
                "job.cannot-make-folder",
                "cannot make the folder {folder}: {strerror}",
                folder=folder,
                strerror=error.strerror,
            ) from None
    return ImportedProject(target, target / "job.toml", tuple(left_out))


class _Import:
    """One project on its way into a folder."""

    def __init__(self, archive: ProjectArchive, folder: Path) -> None:
        self._archive = archive
        self._folder = folder
        self._left_out: list[str] = []

    def run(self) -> list[str]:
        """Write everything and say what was left out."""
        self._require_version()
        delimiter = self._delimiter()
        columns = self._columns()
        model = self._configuration()
        configuration = model.fields.get("config")
        if not isinstance(configuration, JavaObject):
            raise InputError("job.configuration-cannot-read", "its configuration cannot be read")
        settings = self._archive.xml("input/config.xml")
        subset = released_rows(model.fields.get("researchSubset"))
        with_population = subset is not None and needs_population(configuration)
        self._write_data(columns, delimiter, subset, with_population)
        hierarchies = {column.name: self._write_hierarchy(i, column) for i, column in enumerate(columns)}
        self._say_builders(model)
        job = self._job(columns, hierarchies, delimiter, settings, configuration, with_population)
        (self._folder / "job.toml").write_text(job, encoding="utf-8")
        try:
            Job.from_dict(toml_table(job), self._folder)  # what cannot be understood is no job file
        except JobError as error:
            raise InputError.because(error.reason) from None
        self._left_out.append(
            "what ARX has computed: the solution space, its output, filters and marked results"
        )
        return self._left_out

    # ------------------------------------------------------------------ reading

    def _require_version(self) -> None:
        vocabulary = texts_of(self._archive.xml("metadata.xml")).get("vocabulary", "1.0")
        if vocabulary != "2.0":
            raise InputError(
                "job.project-old-version-arx",
                "this project is of an old version of ARX: save it with ARX 3 first",
            )

    def _delimiter(self) -> str:
        said = {child.tag: child.text for child in self._archive.xml("project.xml").children}
        separator = said.get("separator", ";")
        if len(separator) != 1:  # one may be a tab or a blank
            separator = separator.strip()
        if len(separator) != 1 or separator in '"\r\n':
            raise InputError(
                "job.project-not-say-what-separates", "the project does not say what separates its cells"
            )
        return separator

    def _columns(self) -> list[_ProjectColumn]:
        root = self._archive.xml("input/definition.xml")
        columns = [
            self._column(texts_of(each)) for each in root.children if each.tag in ("assigment", "assignment")
        ]
        if not columns or len(columns) > MOST_COLUMNS or len({c.name for c in columns}) < len(columns):
            raise InputError(
                "job.project-defines-no-columns",
                "the project defines no columns, too many of them, or one twice",
            )
        return columns

    def _column(self, said: Mapping[str, str]) -> _ProjectColumn:
        name, role = said.get("name", ""), ROLES.get(said.get("type", ""))
        if not name or role is None:
            raise InputError(
                "job.project-defines-column-without-name",
                "the project defines a column without a name or a role",
            )
        column = _ProjectColumn(name, role, said.get("datatype", "String"), said.get("format"))
        column.hierarchy = said.get("ref")
        column.is_target = said.get("responseVariable") == "true"
        if role == "quasi-identifier":
            column.least, column.most = _level(said.get("min")), _level(said.get("max"))
            highest = max(column.least or 0, column.most or 0)
            if highest > MOST_LEVELS:
                raise InputError(
                    "job.project-level-too-high",
                    "input/definition.xml: the column '{column}' has the level {highest:,}: at most {most:,} "
                    "is allowed",
                    column=name,
                    highest=highest,
                    most=MOST_LEVELS,
                )
            function = said.get("microaggregationFunction")
            if function is not None and function not in AGGREGATES:
                self._left_out.append(f"the aggregation '{function}' of the column '{name}'")
            column.aggregate = AGGREGATES.get(function or "")
        return column

    def _configuration(self) -> JavaObject:
        found = read_java_stream(self._archive.content("input/config.dat"))
        if len(found) != 1 or not isinstance(found[0], JavaObject):
            raise InputError(
                "job.configuration-project-cannot-read", "the configuration of the project cannot be read"
            )
        return found[0]

    # ------------------------------------------------------------------ writing

    def _write_data(
        self, columns: Sequence[_ProjectColumn], delimiter: str, subset: set[int] | None, whole: bool
    ) -> None:
        with self._archive.table("data/input.csv") as text:
            rows = csv.reader(text, delimiter=delimiter, strict=True)
            with ExitStack() as stack:
                names = ["data.csv", *(["population.csv"] if whole else [])]
                files = [stack.enter_context(self._new_file(name)) for name in names]
                writers = [csv.writer(file, delimiter=delimiter, lineterminator="\n") for file in files]
                try:
                    self._copy(rows, [column.name for column in columns], writers, subset)
                except (csv.Error, UnicodeDecodeError):
                    raise InputError(
                        "job.data-project-cannot-read",
                        "the data of the project cannot be read as CSV in UTF-8",
                    ) from None

    def _new_file(self, name: str) -> IO[str]:
        return (self._folder / name).open("x", encoding="utf-8", newline="")

    def _copy(
        self, rows: Iterator[list[str]], names: list[str], writers: Sequence[Any], subset: set[int] | None
    ) -> None:
        """The rows of the subset into the first table, all of them into the second, if there is one."""
        header = next(rows, [])
        if header != names:
            raise InputError(
                "job.columns-data-not-project",
                "the columns of the data are not those that the project defines",
            )
        for writer in writers:
            writer.writerow(header)
        released, *everybody = writers
        for number, row in enumerate(rows):
            if len(row) != len(header):
                raise InputError(
                    "job.row-data-cells",
                    "row {number} of the data has {row} cells, not {header}",
                    number=number + 1,
                    row=len(row),
                    header=len(header),
                )
            if subset is None or number in subset:
                released.writerow(row)
            for writer in everybody:
                writer.writerow(row)

    def _write_hierarchy(self, place: int, column: _ProjectColumn) -> str | None:
        """The name of the hierarchy file of a column; ARX allows several roots, we do not."""
        if column.hierarchy is None or column.role in ("identifier", "insensitive"):
            return None
        if column.hierarchy != f"hierarchies/{column.name}.csv":
            raise InputError(
                "job.project-names-hierarchy-not-column",
                "the project names a hierarchy that is not that of its column",
            )
        text = self._archive.text(f"input/{column.hierarchy}")
        try:
            rows = [
                row for row in csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter()) if row
            ]
        except csv.Error:
            raise InputError(
                "job.hierarchy-column-cannot-read",
                "the hierarchy of the column '{column}' cannot be read as CSV",
                column=column.name,
            ) from None
        if not rows:
            return None
        height = len(rows[0]) - 1
        if height == 0 or len({row[-1] for row in rows}) > 1:
            rows = [[*row, SUPPRESSED] for row in rows]
            column.most = height if column.most is None else min(column.most, height)
        try:
            Hierarchy.from_rows(rows)
        except HierarchyError as error:
            self._left_out.append(
                f"the hierarchy of '{column.name}' must be mended before the job runs: {error}"
            )
        name = f"hierarchies/{place + 1:02}-{_safe(column.name)}.csv"
        (self._folder / "hierarchies").mkdir(exist_ok=True)
        with (self._folder / name).open("x", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter=";", lineterminator="\n").writerows(rows)
        return name

    def _say_builders(self, model: JavaObject) -> None:
        """The files hold what functional hierarchies made of the data; who has new values needs a builder."""
        for name, given in java_mapping(model.fields.get("hierarchyBuilders")).items():
            if isinstance(given, JavaObject):
                try:
                    made = f"{builder_of(given)} makes it for other values"
                except NotCarriedOver as reason:
                    made = f"its rule is not carried over ({reason})"
                self._left_out.append(f"the functional hierarchy of '{name}' is now a file; {made}")

    def _job(
        self,
        columns: Sequence[_ProjectColumn],
        hierarchies: Mapping[str, str | None],
        delimiter: str,
        settings: Element,
        configuration: JavaObject,
        with_population: bool,
    ) -> str:
        lines = [
            "# Imported from an ARX project.",
            "",
            "[input]",
            'path = "data.csv"',
            *_keys({"delimiter": delimiter}),
        ]
        if with_population:
            lines += ["", "[population]", 'path = "population.csv"', *_keys({"delimiter": delimiter})]
        for column in columns:
            lines += [
                "",
                f"[columns.{_quoted(column.name)}]",
                *_keys(self._plan(column, hierarchies[column.name])),
            ]
        entries, left = privacy_entries(configuration)
        self._left_out += left
        for entry in entries:
            lines += ["", "[[privacy]]", *_keys(entry)]
        known = {column.name for column in columns if column.role == "quasi-identifier"}
        weights = {name: weight for name, weight in _weights(settings).items() if name in known}
        targets = [column.name for column in columns if column.is_target]
        loss, left = loss_entry(configuration, weights, targets)
        self._left_out += left
        limit = texts_of(settings).get("relativeMaxOutliers", "0")
        search: Entry = {"loss": loss} if loss is not None else {}
        lines += ["", "[search]", *_keys({**search, "suppression_limit": _share(limit)})]
        return "\n".join([*lines, "", "[output]", 'path = "release.csv"', 'report = "report.html"', ""])

    def _plan(self, column: _ProjectColumn, hierarchy: str | None) -> Entry:
        plan: Entry = {"role": column.role}
        if column.kind == "String":
            plan["type"] = "text"
        elif column.kind == "Date" or column.kind.startswith("Date"):
            form = strptime_format(column.form or "")
            if form is None:
                self._left_out.append(
                    f"the format of the dates in '{column.name}': it is found out from the data"
                )
            else:
                plan |= {"type": "date", "format": form}
        if hierarchy is not None:
            plan["hierarchy"] = hierarchy
        if column.least:
            plan["min_level"] = column.least
        if column.most is not None:
            plan["max_level"] = column.most
        if column.aggregate is not None:
            plan["aggregate"] = column.aggregate
        return plan


__all__ = ["ImportedProject", "import_project"]
