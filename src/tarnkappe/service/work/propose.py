"""Propose a whole release of a table that nobody has described, as `tarn look` shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.job import Audience, Job, ReleaseProposal, propose
from tarnkappe.job.unknown_keys import refuse_unknown
from tarnkappe.service.work.documents import RestPropose
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome

LISTS = ("identifiers", "quasi_identifiers", "sensitive", "publish")
STATED = ("for", "k", *LISTS, "hierarchies", "weights", "accept", "uniform")
"""What may be stated about a release, as in Python; what is not stated is found."""


class ProposeJob(JobKind):
    """Propose a release: how the file is read, a role for every column with its reason, and a promise."""

    name = "propose"
    document = RestPropose

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        Job.from_dict({"input": document.get("input", {})})
        said = document.get("proposal", {})
        if not isinstance(said, Mapping):
            raise JobError("service.proposal-must-section", "[proposal] must be a section")
        refuse_unknown(said, STATED, "key of [proposal]")
        if "for" in said:
            Audience.parse(said["for"])
        for name in LISTS:
            if not isinstance(said.get(name, []), list):
                raise JobError(
                    "service.proposal-list-columns", "[proposal]: '{name}' is a list of columns", name=name
                )

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        table = Job.from_dict({"input": document["input"]}).read_input(work.progress)
        said = dict(document.get("proposal", {}))
        audience = said.pop("for", "partner")
        proposal = propose(table, for_=audience, **said, progress=work.progress)
        return JobOutcome(with_document(proposal), str(proposal))


def with_document(proposal: ReleaseProposal) -> dict[str, Any]:
    """A proposal and, as `document`, the job that makes its release; who asks knows the file's name."""
    several = {"several_rows_per_person": True} if proposal.several_rows_per_person else {}
    return {**proposal.to_dict(), "document": {**proposal.to_content(), "input": several}}
