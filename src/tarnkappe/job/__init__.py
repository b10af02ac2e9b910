"""Jobs: job files, the pipeline from reading to release, manifest and report."""

from tarnkappe.job.alternatives import Alternatives, alternatives, alternatives_job
from tarnkappe.job.anonymize import anonymize
from tarnkappe.job.column_plan import ColumnPlan
from tarnkappe.job.comparison import compare, compare_job
from tarnkappe.job.exploration import Exploration, explore, explore_job
from tarnkappe.job.job import Job, read_job_file
from tarnkappe.job.pipeline import run
from tarnkappe.job.proposal import Audience, ReleaseProposal
from tarnkappe.job.propose import propose
from tarnkappe.job.result import Result
from tarnkappe.job.sources import InputSource, Output
from tarnkappe.job.utility import measure_utility
from tarnkappe.report.comparison import Comparison

__all__ = [
    "Alternatives",
    "Audience",
    "ColumnPlan",
    "Comparison",
    "Exploration",
    "InputSource",
    "Job",
    "Output",
    "ReleaseProposal",
    "Result",
    "alternatives",
    "alternatives_job",
    "anonymize",
    "compare",
    "compare_job",
    "explore",
    "explore_job",
    "measure_utility",
    "propose",
    "read_job_file",
    "run",
]
