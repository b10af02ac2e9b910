"""The one layer that describes what people write: parameters with type, bounds, unit, default and a sentence.

From the declarations follow the checks, the sentences about what is wrong, the reference pages, forms and
JSON Schema.
"""

from tarnkappe.schema.family import Family, parse
from tarnkappe.schema.parameters import ChangingParameters, Field, Parameters, fields_of, replace, values_of
from tarnkappe.schema.problem import InvalidError, Problem, hint_of, listed, near, rule, shown
from tarnkappe.schema.types import (
    MANY_ROWS,
    MOST,
    MOST_NAMES,
    MOST_VALUES,
    NO_NUL,
    ExactPositiveShare,
    ExactShare,
    FromOne,
    Listed,
    Name,
    NotNegative,
    Number,
    Positive,
    Rows,
    Seconds,
    Share,
    Text,
    TextBesideMany,
    Whole,
    param,
)

__all__ = [
    "MANY_ROWS",
    "MOST",
    "MOST_NAMES",
    "MOST_VALUES",
    "NO_NUL",
    "ChangingParameters",
    "ExactPositiveShare",
    "ExactShare",
    "Family",
    "Field",
    "FromOne",
    "InvalidError",
    "Listed",
    "Name",
    "NotNegative",
    "Number",
    "Parameters",
    "Positive",
    "Problem",
    "Rows",
    "Seconds",
    "Share",
    "Text",
    "TextBesideMany",
    "Whole",
    "fields_of",
    "hint_of",
    "listed",
    "near",
    "param",
    "parse",
    "replace",
    "rule",
    "shown",
    "values_of",
]
