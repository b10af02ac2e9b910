"""Commands at a service: files are uploaded, the job runs there, its results come back and nothing stays."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from tarnkappe.cli.console import output, print_json
from tarnkappe.errors import ParameterError, TarnkappeError
from tarnkappe.service.client import ServiceClient
from tarnkappe.table import Table, read, write
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.address import is_address

FOR_PAGES = ("stories", "head", "listed", "explanation", "verdict")
"""What pages of the service show, and commands do not print."""


class Remote:
    """A service that works for one command; as a context it takes its uploads and its job away at the end."""

    def __init__(self, url: str) -> None:
        self._service = ServiceClient(url)
        self._files: dict[Path, str] = {}
        self._job: str | None = None

    def __enter__(self) -> Remote:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._job is not None:
                self._service.remove(self._job)
            for file in self._files.values():
                self._service.remove_file(file)
        except TarnkappeError:
            if error is None:
                raise

    def file(self, path: str | Path) -> dict[str, Any]:
        """A file there, uploaded if it was not yet."""
        if is_address(str(path)):
            raise ParameterError(
                "cli.service-reads-databases-names",
                "a service reads databases by the names in its settings, not by addresses",
            )
        place = Path(path).absolute()
        if place not in self._files:
            self._files[place] = self._service.upload(place)
        return {"file": self._files[place]}

    def source(self, said: Mapping[str, Any], folder: Path = Path()) -> dict[str, Any]:
        """A section that says where rows come from, with an upload in place of its path."""
        content = {key: value for key, value in said.items() if value is not None}
        if is_address(str(content.get("database", ""))):
            raise ParameterError(
                "cli.service-reads-databases-names",
                "a service reads databases by the names in its settings, not by addresses",
            )
        path = content.pop("path", None)
        return content if path is None else {**content, **self.file(folder / path)}

    def columns(self, said: Mapping[str, Any], folder: Path = Path()) -> dict[str, Any]:
        """Sections of columns, with uploads in place of the files of their hierarchies."""
        columns = {}
        for name, plan in said.items():
            content = dict(plan) if isinstance(plan, Mapping) else plan
            if isinstance(content, dict) and isinstance(content.get("hierarchy"), str):
                content["hierarchy"] = self.file(folder / content["hierarchy"])
            columns[name] = content
        return columns

    def job(self, content: Mapping[str, Any], folder: Path = Path()) -> dict[str, Any]:
        """The content of a job file as a document; its output stays here."""
        if "history" in content:
            raise ParameterError(
                "cli.history-kept-machine-job",
                "[history] is kept on the machine of the job: leave it out with --remote",
            )
        document = {key: value for key, value in content.items() if key != "output"}
        for name in ("input", "population"):
            if isinstance(document.get(name), Mapping):
                document[name] = self.source(document[name], folder)
        if isinstance(document.get("columns"), Mapping):
            document["columns"] = self.columns(document["columns"], folder)
        return document

    def run(self, kind: str, document: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Run a job to its end; its result."""
        found = self._service.run(kind, document, progress)
        self._job = found["job"]
        return found

    def take(self, what: str, path: str | Path) -> None:
        """Write something that the job has made, as it is."""
        assert self._job is not None
        self._service.download(self._job, what, path)

    def text(self, what: str) -> str:
        """A text that the job has made."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "text"
            self.take(what, path)
            return path.read_text(encoding="utf-8")

    def table(self, what: str) -> Table:
        """A table that the job has made."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.parquet"
            self.take(what, path)
            return read(path)

    def take_table(self, what: str, path: str | Path, delimiter: str | None = None) -> None:
        """Write a table that the job has made in the format that the path says, as the command would."""
        if Path(path).suffix == ".parquet":
            self.take(what, path)
        else:
            write(self.table(what), path, delimiter=delimiter)


def tell(found: Mapping[str, Any], as_json: bool, **own: Any) -> None:
    """Print a result as the command would print it here; what is said of this machine is added."""
    if as_json:
        print_json({key: v for key, v in {**found["figures"], **own}.items() if key not in FOR_PAGES})
    else:
        output.print(found["text"], highlight=False, markup=False, soft_wrap=True)


def refuse_local(**flags: Any) -> None:
    """Refuse flags that have no meaning at a service."""
    for name, value in flags.items():
        if value:
            raise ParameterError(
                "cli.not-go-remote-leave",
                "--{name} does not go with --remote: leave one of them out",
                name=name.replace("_", "-"),
            )
