"""How a parameter is declared: its type, its bounds, its unit and one sentence about it.

A parameter is an annotated field: `k: Annotated[int, param("rows of every class", ge=1, le=1_000,
start=5)]`. Every number has two bounds, every text and every list a largest length, so that nothing is
computed before it is known to be small enough. Bounds that cost time are small.

Numbers are declared by the types of this file rather than as `float`: a whole number stays a whole number,
so that a sentence shows it as it was written, and neither nan nor infinity lies between two bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

MOST = 10**18
"""Whole numbers beyond it count nothing."""

GREATEST = 1e300
"""Numbers beyond it measure nothing, and some cannot even be written."""

LONGEST_TEXT = 10_000
MANY_ROWS = 1_000_000_000
MOST_NAMES = 10_000
MOST_VALUES = 100_000

NO_NUL = r"^[^\x00]*$"
FRACTION = (
    r"^\s*([0-9]{1,40}/[0-9]{1,40}|([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][-+]?[0-9]{1,3})?)\s*$"
)


def param(
    help: str,
    *,
    unit: str = "",
    start: Any = None,
    kind: str = "",
    what: str = "",
    otherwise: str = "",
    **bounds: Any,
) -> Meta:
    """The declaration of a parameter.

    Args:
        help: what it is, in one sentence without a full stop.
        unit: what a number counts or measures: "rows", "seconds".
        start: what a form starts with, where there is no default or a better beginning.
        kind: what a text means where that is not just a text: `column`, `columns`, `values`, `file`,
            `seconds`, `bytes` or `share`.
        what: what a table is that names a member of a family, such as "privacy model".
        otherwise: the member that a table means which names none.
        bounds: ge, gt, le, lt, min_length, max_length and pattern, where the type is not a union.
    """
    extra = {"unit": unit, "start": start, "kind": kind, "what": what, "otherwise": otherwise}
    return Meta(description=help, extra=extra, **bounds)


Number = Annotated[int, Meta(ge=-MOST, le=MOST)] | Annotated[float, Meta(ge=-GREATEST, le=GREATEST)]
"""Any finite number."""
NotNegative = Annotated[int, Meta(ge=0, le=MOST)] | Annotated[float, Meta(ge=0, le=GREATEST)]
Positive = Annotated[int, Meta(gt=0, le=MOST)] | Annotated[float, Meta(gt=0, le=GREATEST)]
FromOne = Annotated[int, Meta(ge=1, le=MOST)] | Annotated[float, Meta(ge=1, le=GREATEST)]
Share = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
"""A number from 0 to 1."""
Seconds = Annotated[int, Meta(gt=0, le=10**9)] | Annotated[float, Meta(gt=0, le=1e9)]

Whole = Annotated[int, Meta(ge=0, le=MOST)]
Rows = Annotated[int, Meta(ge=1, le=MANY_ROWS)]

Text = Annotated[str, Meta(max_length=LONGEST_TEXT, pattern=NO_NUL)]
"""Any text that is not too long."""
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_TEXT, pattern=NO_NUL)]
"""The name of a column, or any other text that says something."""

TextBesideMany = Annotated[str, Meta(max_length=LONGEST_TEXT)]
"""A text where a list or a table may stand, too. It has no pattern: msgspec 0.22 gives the pattern of a text
that is united with a list or a table back once too often, and the process ends."""

if TYPE_CHECKING:
    Listed = Sequence
else:

    class Listed:
        """Several values: any sequence is taken, and kept as a tuple."""

        def __class_getitem__(cls, item: Any) -> Any:
            return tuple[item, ...]


if TYPE_CHECKING:  # fractions of Python are taken, too, and kept as texts
    ExactShare = float | str | Fraction
    ExactPositiveShare = float | str | Fraction
else:
    ExactShare = (
        Share | Annotated[str, Meta(max_length=100, pattern=FRACTION, extra={"fraction": {"ge": 0, "le": 1}})]
    )
    """A number from 0 to 1 that may be written as a fraction, such as '1/3', which no decimal number is."""
    ExactPositiveShare = (
        Annotated[int, Meta(gt=0, le=1)]
        | Annotated[float, Meta(gt=0, le=1)]
        | Annotated[str, Meta(max_length=100, pattern=FRACTION, extra={"fraction": {"gt": 0, "le": 1}})]
    )
