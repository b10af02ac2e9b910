"""Jobs: kept in the store, run one process each, watched, restarted or ended clearly."""

from tarnkappe.service.jobs.jobs import Jobs
from tarnkappe.service.jobs.record import ENDED, JobRecord, JobState

__all__ = ["ENDED", "JobRecord", "JobState", "Jobs"]
