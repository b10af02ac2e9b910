"""Jobs: job files, the pipeline from reading to release, manifest and report."""

from tarnkappe.job.anonymize import anonymize
from tarnkappe.job.job import ColumnPlan, Job, Output, Source, read_job_file
from tarnkappe.job.pipeline import run
from tarnkappe.job.report import write_report
from tarnkappe.job.result import Result

__all__ = [
    "ColumnPlan",
    "Job",
    "Output",
    "Result",
    "Source",
    "anonymize",
    "read_job_file",
    "run",
    "write_report",
]
