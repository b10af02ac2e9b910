"""How the columns of a file are spelled: numbers, dates, answers, missing values.

`columns.py` finds it out; what it found is a `Spelling`.
"""

from tarnkappe.table.spelling.moments import DateOrder, DatePrecision, Moment
from tarnkappe.table.spelling.spelling import Spelling, SpellingKind

__all__ = ["DateOrder", "DatePrecision", "Moment", "Spelling", "SpellingKind"]
