"""Jobs: job files, the pipeline from reading to release, manifest and report."""

from tarnkappe.job.anonymize import anonymize
from tarnkappe.job.column_plan import ColumnPlan
from tarnkappe.job.comparison import Comparison, compare, compare_job
from tarnkappe.job.exploration import Exploration, explore, explore_job
from tarnkappe.job.job import Job, Output, Source, read_job_file
from tarnkappe.job.pipeline import run
from tarnkappe.job.report import write_report
from tarnkappe.job.result import Result

__all__ = [
    "ColumnPlan",
    "Comparison",
    "Exploration",
    "Job",
    "Output",
    "Result",
    "Source",
    "anonymize",
    "compare",
    "compare_job",
    "explore",
    "explore_job",
    "read_job_file",
    "run",
    "write_report",
]
