"""The verdict on a release: what a privacy officer reads first, the same on a page, in a report and in REST.

It follows from what was verified, and says nothing that no promise stands behind: a sensitive column that no
promise is about is protected by nothing, however large the groups are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

LEAST_ALIKE = {"public": 11, "partner": 5, "internal": 3}
"""How many rows should look alike at least, by who gets a release; the same figures as in a proposal."""
COUNTING = {"k-anonymity", "multi-relational-k-anonymity", "p-sensitive-k-anonymity", "alpha-k-anonymity"}
"""Models whose k is the number of rows or persons that look alike."""
ABOUT_EVERY_COLUMN = {"differential-privacy"}
"""Models that promise something about every column of a person, named or not."""


class VerdictCode(StrEnum):
    """What is said of a release; the first that fits."""

    BROKEN = "unfit.broken"
    """A promise does not hold."""
    UNPROTECTED = "unfit.unprotected"
    """No promise is about a sensitive column."""
    OPEN = "open"
    """All promises hold, and none of them says how many rows look alike."""
    WEAK = "weak"
    """All promises hold, and fewer rows look alike than is recommended for colleagues."""
    FIT = "fit"
    """All promises hold, every sensitive column has one."""


@dataclasses.dataclass(frozen=True)
class ReleaseVerdict:
    """What is to be said of a release.

    Attributes:
        code: what is said.
        protected: for each sensitive column the promises about it, as they were verified; none is none.
        alike: how many rows look alike at least, if a promise says so.
        audience: for whom that is enough; empty if for nobody.
    """

    code: VerdictCode
    protected: Mapping[str, Sequence[Mapping[str, Any]]]
    alike: int | None
    audience: str

    @property
    def unprotected(self) -> list[str]:
        """The sensitive columns that are protected by nothing."""
        return [name for name, promises in self.protected.items() if not promises]

    @property
    def text(self) -> str:
        """The verdict in one sentence."""
        columns = ", ".join(self.unprotected)
        verb = "is" if len(self.unprotected) == 1 else "are"
        return {
            VerdictCode.BROKEN: "Not fit: a promise does not hold.",
            VerdictCode.UNPROTECTED: f"Not fit: {columns} {verb} protected by nothing.",
            VerdictCode.OPEN: "Every promise holds; none says how many rows look alike.",
            VerdictCode.WEAK: (
                f"Every promise holds, but only {self.alike} rows look alike: for colleagues "
                f"{LEAST_ALIKE['internal']} are recommended."
            ),
            VerdictCode.FIT: f"Fit for {_FOR.get(self.audience, '')}.",
        }[self.code]

    def to_dict(self) -> dict[str, Any]:
        """The verdict, for JSON."""
        return {
            "code": str(self.code),
            "text": self.text,
            "protected": {name: [dict(each) for each in said] for name, said in self.protected.items()},
            "alike": self.alike,
            "audience": self.audience,
        }


_FOR = {"public": "everybody", "partner": "a partner with an agreement", "internal": "colleagues"}


def judge(verified: Sequence[Mapping[str, Any]], sensitive: Sequence[str]) -> ReleaseVerdict:
    """The verdict on a release.

    Args:
        verified: each promise with its parameters, its measured value and whether it holds, as the figures of
            a result tell them.
        sensitive: the sensitive columns that are released.

    >>> kept = {"model": "k-anonymity", "k": 5, "value": 6.0, "holds": True}
    >>> judge([kept], ["diagnosis"]).text
    'Not fit: diagnosis is protected by nothing.'
    >>> judge([kept, {"model": "distinct-diversity", "column": "diagnosis", "l": 2, "holds": True}],
    ...       ["diagnosis"]).text
    'Fit for a partner with an agreement.'
    """
    protected = {name: [each for each in verified if _is_about(each, name)] for name in sensitive}
    alike = max((int(each["k"]) for each in verified if each["model"] in COUNTING), default=None)
    audience = next((name for name, least in LEAST_ALIKE.items() if (alike or 0) >= least), "")
    if not all(each["holds"] for each in verified):
        code = VerdictCode.BROKEN
    elif not all(protected.values()):
        code = VerdictCode.UNPROTECTED
    elif alike is None:
        code = VerdictCode.OPEN
    else:
        code = VerdictCode.FIT if audience else VerdictCode.WEAK
    return ReleaseVerdict(code, protected, alike, audience)


def _is_about(promise: Mapping[str, Any], column: str) -> bool:
    if promise["model"] in ABOUT_EVERY_COLUMN:
        return True
    named = [promise.get(key) or () for key in ("column", "y")]
    return any(column == said if isinstance(said, str) else column in said for said in named)
