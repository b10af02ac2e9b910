"""Example data made by code: a hospital, and tables in the shape of the usual evaluation data sets."""

from tarnkappe.table.examples.evaluation import SHAPE_NAMES
from tarnkappe.table.examples.example import ExampleData
from tarnkappe.table.examples.hospital import hospital, hospital_batches
from tarnkappe.table.examples.shapes import shaped, shaped_batches
from tarnkappe.table.examples.wide import wide

__all__ = ["SHAPE_NAMES", "ExampleData", "hospital", "hospital_batches", "shaped", "shaped_batches", "wide"]
