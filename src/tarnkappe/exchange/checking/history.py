"""Attacks through requests: what the history of requests shows before anything is released.

The attackers: an insider who looks for a small selection with his neighbour in it; one who splits a question
that would be refused into many that are not; several who do that together; one who asks for two selections
that differ by few people. What follows from it for a package is proven by the check of all packages together;
here a physician is told what it looks like, also where everything was refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tarnkappe.exchange.catalogue import AttributeCatalogue
from tarnkappe.exchange.findings import Finding, count
from tarnkappe.exchange.institution import Institution
from tarnkappe.exchange.policy import Thresholds
from tarnkappe.exchange.request import DataRequest
from tarnkappe.risk import attack
from tarnkappe.table import Role, Table

MOST_PROBES = 2
"""So many selections of somebody may have been too small before it looks like a search for one person."""


@dataclasses.dataclass(frozen=True)
class RequestHistory:
    """Earlier requests that have to do with one.

    Attributes:
        same_people: those that select some of the same people, whoever sent them.
        too_small: those of the same requester whose selections were too small.
    """

    same_people: Sequence[DataRequest] = ()
    too_small: Sequence[DataRequest] = ()

    def findings(self, request: DataRequest) -> list[Finding]:
        """What that looks like."""
        found = []
        if len(self.too_small) > MOST_PROBES:
            found.append(
                Finding(
                    "probing",
                    f"{count(len(self.too_small), 'selection', 'selections')} of this requester had too few "
                    "people: it may be a search for somebody known.",
                )
            )
        parts = [
            each
            for each in self.same_people
            if set(each.names) != set(request.names) or each.anchor != request.anchor
        ]
        own = [each for each in parts if _who(each) == _who(request)]
        others = sorted({_who(each) for each in parts} - {_who(request)})
        if own:
            found.append(
                Finding(
                    "split question",
                    f"The same person asked about some of these people {count(len(own), 'time', 'times')} "
                    f"before, for {_asked(own)}: it may be one question in parts.",
                )
            )
        if others:
            found.append(
                Finding(
                    "several requesters",
                    f"{count(len(others), 'other requester', 'other requesters')} asked about some of these "
                    f"people, for {_asked([each for each in parts if _who(each) != _who(request)])}: "
                    "together they may learn more than each alone.",
                )
            )
        differing = [each for each in parts if set(each.anchor.values) != set(request.anchor.values)]
        if differing:
            found.append(
                Finding(
                    "differing selections",
                    f"{count(len(differing), 'earlier selection differs', 'earlier selections differ')} by "
                    "some values: who is in one of them only can be told from the others.",
                )
            )
        return found

    def joined(
        self,
        request: DataRequest,
        institution: Institution,
        catalogue: AttributeCatalogue,
        limits: Thresholds,
        damage: float,
    ) -> list[Finding]:
        """Whom somebody with all these columns would find, were they released as they are."""
        asked = {name for each in (*self.same_people, request) for name in each.names if name in catalogue}
        known = sorted(name for name in asked if catalogue[name].role is Role.QUASI_IDENTIFIER)
        if set(known) <= set(request.names):
            return []
        people = institution.select(request.anchor, known).select(known)
        linked = attack(
            "linking", Table(people, dict.fromkeys(known, Role.QUASI_IDENTIFIER)), shown=0, k=limits.k
        )
        if not linked.victims:
            return []
        return [
            Finding(
                "joined requests",
                f"Who had all that was asked about these people ({', '.join(known)}) would find "
                f"{count(linked.victims)} in groups of fewer than {limits.k}.",
                people=linked.victims,
                extent=damage,
                probability=linked.victims / max(people.num_rows, 1),
            )
        ]


def _who(request: DataRequest) -> tuple[str, str]:
    return request.institution, request.requester


def _asked(requests: Sequence[DataRequest]) -> str:
    return ", ".join(sorted({name for each in requests for name in each.names}))
