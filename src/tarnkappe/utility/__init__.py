"""What a release is still good for: answers to queries, and what a classifier learns from it."""

from tarnkappe.utility.classifier import Accuracy, classifier_accuracy
from tarnkappe.utility.domain import ColumnDomain, ReleasedCells
from tarnkappe.utility.query_error import AnsweredWorkload, WorkloadErrors
from tarnkappe.utility.report import UtilityOptions, UtilityReport
from tarnkappe.utility.view import (
    ReleaseReader,
    SlicedView,
    anatomy_view,
    bucketized_view,
    exact_view,
    sliced_view,
    written_view,
)
from tarnkappe.utility.workload import Workload, WorkloadQuery

__all__ = [
    "Accuracy",
    "AnsweredWorkload",
    "ColumnDomain",
    "ReleaseReader",
    "ReleasedCells",
    "SlicedView",
    "UtilityOptions",
    "UtilityReport",
    "Workload",
    "WorkloadErrors",
    "WorkloadQuery",
    "anatomy_view",
    "bucketized_view",
    "classifier_accuracy",
    "exact_view",
    "sliced_view",
    "written_view",
]
