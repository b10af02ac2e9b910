"""Columns that say yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterable

PAIRS = (("true", "false"), ("yes", "no"), ("ja", "nein"), ("y", "n"), ("t", "f"))
ASKING = re.compile(r"(?i:(?:is|has|was|ist|hat)[\s_.-])|(?:is|has|was|ist|hat)(?=[A-Z])")
"""Names of columns that ask a question, which 1 and 0 answer."""


def truths(texts: Iterable[str], name: str) -> dict[str, bool] | None:
    """What each text says, if all of them are the two words of one pair, in any case; else None.

    >>> truths(["Ja", "NEIN"], "smoker"), truths(["1", "0"], "has_car")
    ({'Ja': True, 'NEIN': False}, {'1': True, '0': False})
    >>> truths(["yes"], "x"), truths(["1", "0"], "x")
    (None, None)
    """
    given = list(texts)
    lower = {text.lower() for text in given}
    for yes, no in (*PAIRS, *((("1", "0"),) if ASKING.match(name) else ())):
        if lower == {yes, no}:
            return {text: text.lower() == yes for text in given}
    return None
