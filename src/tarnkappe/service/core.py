"""The house: people, files, jobs and the other parts, one object that routes and pages call."""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from tarnkappe.errors import NotFoundError, ParameterError, TarnkappeError
from tarnkappe.service.drafts import Drafts
from tarnkappe.service.exchange import ExchangeSites
from tarnkappe.service.federations import Federations
from tarnkappe.service.files import LONGEST_NAME, Files, StoredFile
from tarnkappe.service.folder_lock import claimed
from tarnkappe.service.gates import Gates
from tarnkappe.service.jobs import Jobs, JobState
from tarnkappe.service.people import Account, Accounts, ServiceRole
from tarnkappe.service.settings import ServiceSettings
from tarnkappe.service.steps import DRAFT_FOLDER
from tarnkappe.service.tables import SERVICE
from tarnkappe.state import AuditLog, Store
from tarnkappe.state.canonical import canonical_json

CLEAN_EVERY = 3600.0

log = logging.getLogger("tarnkappe.service")


class ServiceCore:
    """Everything that a service has; as a context it runs jobs, and ends their processes at the end.

    Attributes:
        settings: where it is and what it allows.
        people: who may log in.
        files: what people have uploaded.
        drafts: what they have decided about uploads so far.
        jobs: what they have asked for.
        gates: what the gates in the settings have answered.
        exchange: the requests at the sites in the settings.
        federations: the federated jobs in the settings.
        log: the audit log of the service itself.
    """

    def __init__(self, settings: ServiceSettings, clock: Callable[[], float] = time.time) -> None:
        self.settings, self._clock = settings, clock
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._claim = claimed(settings.folder)
        self.store = Store.open(settings.store, SERVICE, folder=settings.folder)
        shutil.rmtree(settings.folder / DRAFT_FOLDER, ignore_errors=True)  # they are in the store
        self.people = Accounts(self.store, session_hours=settings.session_hours)
        self.files = Files(self.store, settings.folder / "files", settings.limits)
        self.drafts = Drafts(self.store)
        self.jobs = Jobs(self.store, settings.folder / "jobs", self.files, settings)
        self.files.look_into = self.jobs.require_unpackable
        self.gates = Gates(settings.gates)
        self.exchange = ExchangeSites(settings.sites)
        self.federations = Federations(settings.federations)
        self.log = AuditLog(self.store)
        self._closing = threading.Event()
        self._profiles: dict[str, dict[str, str]] = {}

    def __enter__(self) -> ServiceCore:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        """Begin to run jobs, and to remove what is too old, or what a removal that broke off has left."""
        self.files.sweep(untouched_for=0.0)  # nobody is sending anything yet
        self._clean_now()
        self.jobs.open()
        threading.Thread(target=self._clean, daemon=True).start()

    def close(self) -> None:
        """End all processes of jobs; the jobs begin anew with the next service."""
        self._closing.set()
        self.jobs.close()
        self.store.close()
        self._claim.close()

    def first_person(self, name: str) -> Account:
        """Who starts the service on his own machine: he has all roles, and is made if nobody is there."""
        known = {person.name: person for person in self.people.all()}
        return known.get(name) or self.people.add(name, list(ServiceRole), by="the command line")

    def remove_file(self, file_id: str, who: Account) -> None:
        """Delete an upload with all that was made from it: its draft, its profile, every job and release.

        When this returns, nothing of its rows is in the folder of the service.
        """
        self.files.get(file_id, who)
        self._remove_file(file_id, who.name)
        self.store.scrub()
        self.store.remove_backups()

    def remove_person(self, name: str, by: str) -> None:
        """Take somebody out; her uploads and jobs go, since nobody could ever see them again."""
        person = self.people.remove(name, by)
        for file_id in self.files.ids_of(person.id):
            self._remove_file(file_id, by)
        self.jobs.remove_all_of(person.id, by)
        self.store.scrub()
        self.store.remove_backups()

    def _remove_file(self, file_id: str, by: str) -> None:
        # First the row: from then on no job can be asked for that would read the file. What a crash leaves
        # after that is found by `clean`, since it comes from an upload that is not there.
        self.files.remove(file_id, by)
        self._profiles.pop(file_id, None)
        self.jobs.remove_made_from(file_id, by)

    def name_table(self, database: str, table: str, who: Account) -> StoredFile:
        """Take a table of a database that the settings name, in place of an upload; it stays where it is.

        Raises:
            NotFoundError: the settings name no such database.
        """
        if database not in self.settings.databases:
            raise NotFoundError(
                "service.no-database-name-settings",
                "there is no database of this name: the settings of the service list them",
            )
        if not 0 < len(table.strip()) <= LONGEST_NAME:
            raise ParameterError(
                "service.write-name-table-most-letters",
                "write the name of a table, of at most {longest_name} letters",
                longest_name=LONGEST_NAME,
            )
        return self.files.name_table(database, table.strip(), who)

    async def profile(
        self, file_id: str, who: Account, reading: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The columns of a file with proposed roles and why; the first time, a job looks at it.

        Args:
            file_id: the file.
            who: asks.
            reading: how the file is written, if it was read wrongly.

        Raises:
            TarnkappeError: the file cannot be read; the error says why.
        """
        source = {**(reading or {}), "file": file_id}
        found = await self._figures("profile", {"input": source}, who, file_id)
        proposal = found.get("proposal")
        return found if proposal is None else {**found, "proposal": _with_source(proposal, source)}

    async def propose(
        self,
        file_id: str,
        stated: Mapping[str, Any],
        who: Account,
        reading: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """A whole release of a file, with the reasons, and as `document` the job that makes it.

        Args:
            file_id: the file.
            stated: what is known better than it is found, as a document of the kind `propose` says it.
            who: asks.
            reading: how the file is written, if it was read wrongly.
        """
        source = {**(reading or {}), "file": file_id}
        document = {"input": source, **({"proposal": dict(stated)} if stated else {})}
        found = await self._figures("propose", document, who, file_id)
        return _with_source(found, source)

    async def preview(
        self, file_id: str, column: str, hierarchy: Mapping[str, Any], who: Account
    ) -> dict[str, Any]:
        """The hierarchy that a builder, or a file, gives a column; without a builder, a proposal."""
        document = {"input": {"file": file_id}, "column": column, "hierarchy": dict(hierarchy)}
        return await self._figures("hierarchy", document, who)

    async def _figures(
        self, kind: str, document: Mapping[str, Any], who: Account, keep: str | None = None
    ) -> dict[str, Any]:
        """What a job finds; with `keep`, a file, what was found about it before is not looked for again."""
        from anyio import to_thread

        asked = canonical_json([kind, document]).decode()
        job_id = None if keep is None else self._profiles.get(keep, {}).get(asked)
        job = None
        if job_id is not None:
            with contextlib.suppress(NotFoundError):  # somebody has tidied up since
                job = await self.jobs.wait(job_id, who)
        if job_id is None or job is None:
            job_id = (await to_thread.run_sync(self.jobs.start, kind, document, who)).id
            job = await self.jobs.wait(job_id, who)
        if job.state is not JobState.DONE:
            if job.error:
                raise TarnkappeError.because(job.error)
            raise TarnkappeError("service.job-is", "the job is {state}", state=job.state)
        if keep is not None:
            self._profiles.setdefault(keep, {})[asked] = job_id
        found: dict[str, Any] = (await to_thread.run_sync(self.jobs.result, job_id, who))["figures"]
        return found

    def clean(self) -> None:
        """Remove what is older than the limits say, and what belongs to nobody any more."""
        oldest = self._clock() - self.settings.limits.keep_days * 24 * 3600
        self.jobs.clean()
        used = self.jobs.uploads_in_use()
        old = [file_id for file_id in self.files.older_than(oldest) if file_id not in used]
        for file_id in {*old, *self.files.without_owner()}:
            self._remove_file(file_id, "the service")
        self.files.sweep()
        self.store.scrub()
        self.store.remove_backups(oldest)

    def _clean_now(self) -> None:
        try:
            self.clean()
        except Exception as error:  # the next time may be better, and there must be one
            log.error("cleaning up failed (%s): it is tried again", type(error).__name__)

    def _clean(self) -> None:
        while not self._closing.wait(CLEAN_EVERY):
            self._clean_now()


def _with_source(proposal: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    """A proposal whose job names the file, and how it is read."""
    job = proposal["document"]
    return {**proposal, "document": {**job, "input": {**job["input"], **source}}}
