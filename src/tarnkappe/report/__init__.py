"""What people read: pages, pictures and sentences that the command line, jobs and the service share."""

from tarnkappe.report.check_page import write_html
from tarnkappe.report.release_page import write_report

__all__ = ["write_html", "write_report"]
