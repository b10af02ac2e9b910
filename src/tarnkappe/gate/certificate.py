"""A check of k-assign anonymity that needs no solver and shares no code with the strategies.

Whoever has the published results and a list of witnesses can convince himself: every witness must be a
distribution, and every tuple must have k values in them, but for those whose value counts as known. That a
value changed, or is known, are results like others (`knowledge`). Tuples that are in exactly the same results
count as one, since exchanging their values in a witness gives another one; not a founder and somebody who is
none, if labels have floors.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from tarnkappe.errors import VerificationError
from tarnkappe.gate.knowledge import Integers, Knowledge


def certify(knowledge: Knowledge, witnesses: Integers, k: int) -> None:
    """Check that witnesses prove k-assign anonymity; raise VerificationError where they do not.

    >>> import numpy as np
    >>> knowledge = Knowledge(values=2)
    >>> _ = knowledge.publish([0, 1], [1, 1])
    >>> certify(knowledge, np.array([[0, 1]], dtype=np.int32), k=2)
    """
    if witnesses.ndim != 2 or witnesses.shape[1] != knowledge.tuples:
        raise VerificationError(
            "gate.witnesses-not-belong-history",
            "the witnesses do not belong to a history of {tuples} tuples",
            tuples=knowledge.tuples,
        )
    results = [
        (knowledge.members(result).tolist(), knowledge.counts(result).tolist())
        for result in range(knowledge.results)
    ]
    founder = knowledge.view.founder.tolist() if knowledge.has_floors else [False] * knowledge.tuples
    floors, unreturned = knowledge.floors.tolist(), knowledge.unreturned
    shown: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
    places: defaultdict[int, list[int]] = defaultdict(list)
    for result, (members, _) in enumerate(results):
        for member in members:
            places[member].append(result)
    for number, witness in enumerate(witnesses.tolist()):
        for result, (members, counts) in enumerate(results):
            for value, used in Counter(witness[member] for member in members).items():
                if not 0 <= value < len(counts) or used > counts[value]:
                    raise VerificationError(
                        "gate.witness-contradicts-result-value",
                        "witness {number} contradicts result {result}: a value is used too often",
                        number=number,
                        result=result,
                    )
        holders = Counter(value for value, founded in zip(witness, founder, strict=True) if founded)
        if sum(max(0, floor - holders[value]) for value, floor in enumerate(floors)) > unreturned:
            raise VerificationError(
                "gate.witness-leaves-too-few",
                "witness {number} leaves too few holders to a value of the list",
                number=number,
            )
        for member, value in enumerate(witness):
            shown[founder[member], *places[member]].add(value)
    for member in range(knowledge.tuples):
        values = len(shown[founder[member], *places[member]])
        if values < k and member not in knowledge.known:
            raise VerificationError(
                "gate.witnesses-show-values-tuple",
                "the witnesses show {values} values for tuple {member}, not {k}",
                values=values,
                member=member,
                k=k,
            )
