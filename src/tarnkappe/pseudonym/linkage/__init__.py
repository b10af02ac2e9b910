"""Spelling-tolerant record linkage: the same person in several sources."""

from tarnkappe.pseudonym.linkage.evaluation import LinkageFigures, evaluate
from tarnkappe.pseudonym.linkage.explanation import LinkageExplanation
from tarnkappe.pseudonym.linkage.link import Decisions, Doubt, Links, link
from tarnkappe.pseudonym.linkage.review import check_review, read_decisions, write_review

__all__ = [
    "Decisions",
    "Doubt",
    "LinkageExplanation",
    "LinkageFigures",
    "Links",
    "check_review",
    "evaluate",
    "link",
    "read_decisions",
    "write_review",
]
