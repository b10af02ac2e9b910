"""What a release is still good for: answers to queries, and what a classifier learns from it."""

from tarnkappe.utility.classifier import Accuracy, classifier_accuracy
from tarnkappe.utility.domain import Cells, Domain
from tarnkappe.utility.query_error import AnsweredWorkload, QueryError
from tarnkappe.utility.report import UtilityOptions, UtilityReport
from tarnkappe.utility.view import (
    SlicedView,
    View,
    anatomy_view,
    bucketized_view,
    exact_view,
    sliced_view,
    written_view,
)
from tarnkappe.utility.workload import Query, Workload

__all__ = [
    "Accuracy",
    "AnsweredWorkload",
    "Cells",
    "Domain",
    "Query",
    "QueryError",
    "SlicedView",
    "UtilityOptions",
    "UtilityReport",
    "View",
    "Workload",
    "anatomy_view",
    "bucketized_view",
    "classifier_accuracy",
    "exact_view",
    "sliced_view",
    "written_view",
]
