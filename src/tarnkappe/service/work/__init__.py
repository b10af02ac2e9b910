"""What jobs can do: a file for each kind, `KINDS` lists them all.

A document has the shape of a job file, in which tables and hierarchies are named by what is in the house:
`{"file": ID}`, `{"job": ID}` (its release) or `{"database": NAME, "table": NAME}`, never by a path.
"""

from tarnkappe.schema import Family
from tarnkappe.service.work.alternatives import AlternativesJob
from tarnkappe.service.work.anonymize import Anonymize
from tarnkappe.service.work.attack import AttackRelease
from tarnkappe.service.work.check import CheckJob
from tarnkappe.service.work.compare import Compare
from tarnkappe.service.work.federate import Federate
from tarnkappe.service.work.gate_proof import GateProof
from tarnkappe.service.work.hierarchy import PreviewHierarchy
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome
from tarnkappe.service.work.lattice import LatticeJob
from tarnkappe.service.work.profile import ProfileJob
from tarnkappe.service.work.propose import ProposeJob
from tarnkappe.service.work.request_check import RequestCheck
from tarnkappe.service.work.sql import Sql
from tarnkappe.service.work.utility import UtilityJob

KINDS: Family[JobKind] = Family(
    "kind of job",
    Anonymize,
    CheckJob,
    AttackRelease,
    Compare,
    LatticeJob,
    AlternativesJob,
    UtilityJob,
    Sql,
    ProfileJob,
    ProposeJob,
    PreviewHierarchy,
    GateProof,
    RequestCheck,
    Federate,
)

__all__ = ["KINDS", "JobContext", "JobKind", "JobOutcome"]
