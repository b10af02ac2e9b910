"""The files of one run: release, report, certificates, manifest. They appear together, or none of them does.

Everything is made in hidden folders first. At the end the report, certificates and manifest that an earlier
run left under these names go, and the new files take their places, the manifest last. So whatever stands
there at any moment belongs together, even if the machine stops in between; a release without its manifest is
not finished.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tarnkappe.job.paths import is_plain_csv, table_paths
from tarnkappe.job.sources import Output
from tarnkappe.table.files import naming_output, take_place, writable
from tarnkappe.table.overwriting import one_run, refuse_overwriting, refuse_place
from tarnkappe.table.ownership import manifest_beside
from tarnkappe.table.staging import claimed_folder
from tarnkappe.table.written_format import written_format

LAST = ("report", "certificate", "full certificate", "manifest")
"""What is about a release, in the order in which it follows the release."""


CERTIFICATE = ".certificate.json"
"""How the names of certificates end, which lie beside releases."""


class Publication:
    """The outputs of a run, each with the hidden place where it is made.

    Attributes:
        release: where to make the release, if there is to be one.
        tables: where to make the tables of a release that has several, by name; the first is the release.
        manifest: where to make its manifest.
        report: where to make the report, if there is to be one.
        certificate: where to make the certificate for everybody.
        full_certificate: where to make the one for the house and its auditors, if there is to be one.
    """

    def __init__(self, places: dict[str, tuple[Path, Path]], tables: tuple[str, ...] = ()) -> None:
        self._places = places
        own = {name: "release" if number == 0 else name for number, name in enumerate(tables)}
        self.tables = {name: places[place][0] for name, place in own.items() if place in places}
        self.release, self.report, self.certificate, self.full_certificate, self.manifest = (
            places[name][0] if name in places else None for name in ("release", *LAST)
        )

    def publish(self) -> None:
        """Give all files their names."""
        with _uninterrupted():
            for _, target in self._places.values():
                refuse_place(target)  # before the first of them goes
            for name in reversed(LAST):
                if name in self._places:
                    made, target = self._places[name]
                    with naming_output(target):
                        target.unlink(missing_ok=True)
            for name in (*(name for name in self._places if name not in LAST), *LAST):
                if name in self._places:
                    made, target = self._places[name]
                    with naming_output(target):
                        take_place(made, target)


@contextmanager
def publication(
    output: Output,
    tables: tuple[str, ...] = (),
    inputs: Sequence[str] = (),
    *,
    replace: bool = False,
    certified: bool = False,
    by_suffix: bool = True,
) -> Iterator[Publication]:
    """Claim the outputs of a run; another run that wants one of them meanwhile is refused.

    Args:
        output: where they go.
        tables: the names of the tables of a release that has several.
        inputs: the files that the run reads: none of them may be an output, now or at the end.
        replace: whether files that are not ours may be replaced.
        certified: whether the run writes certificates, if the release is a file that can have one.
        by_suffix: whether the name of the release tells its format; an engine may have a format of its own.

    Raises:
        OutputError: if another run is writing one of them.
        ParameterError: if one of them cannot be a file, is an input, another output or somebody else's file.
    """
    named = {"release": output.path, "manifest": manifest_path(output), "report": output.report}
    if certified and (beside := certificate_path(output)) is not None:
        named |= {"certificate": beside, "full certificate": output.certificate}
    if tables and output.path:
        named |= {name: str(path) for name, path in table_paths(output.path, tables).items()}
        del named[tables[0]]
    outputs = {f"the {name}": path for name, path in named.items() if path}
    places = {}
    with one_run(inputs, replace=replace), ExitStack() as claimed:
        refuse_overwriting(outputs, inputs, [Path(named["manifest"])] if named["manifest"] else ())
        targets = {name: writable(Path(path)) for name, path in named.items() if path}
        if output.path and by_suffix:
            written_format(Path(output.path))  # before hidden places have it, under names that nobody gave
        for name, target in sorted(targets.items(), key=lambda item: item[1]):
            with naming_output(target):
                folder = claimed.enter_context(claimed_folder(target))
            places[name] = (folder / target.name, target)
        yield Publication(places, tables)


def manifest_path(output: Output) -> str | None:
    """Where the manifest goes: beside a released file, unless the job says otherwise."""
    if output.path is None:
        return output.manifest if output.table is not None else None
    return output.manifest or str(manifest_beside(output.path))


def certificate_path(output: Output) -> str | None:
    """Where the certificate for everybody goes: beside a released CSV file."""
    return f"{output.path}{CERTIFICATE}" if is_plain_csv(output.path) else None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let an interruption from the keyboard come too late; only the main thread ever gets one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
