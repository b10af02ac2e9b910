"""Every party asks again, in SQL, whether the release that came keeps what the contract promises, and looks
for its own rows in it. Only then does it keep the release.

Nothing here uses the ciphers or the search. What no party can check alone: whether rows of others are true,
whether somebody has added rows, and whether other levels would have lost less.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.contract import Contract, Partitioning
from tarnkappe.federation.engine import FederatedSolution
from tarnkappe.federation.insiders import worst_case
from tarnkappe.federation.message import OwnRows
from tarnkappe.federation.share import PartyShare
from tarnkappe.privacy import Model
from tarnkappe.privacy.exact import share_of
from tarnkappe.privacy.verify import verify
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import group_codes

WHOLE_TABLE = re.compile(r"\b(totals|input|input_size)\b")
"""What a query asks of the rows before suppression: a release without suppressed rows has them all."""
NOT_RELEASED = re.compile(r"\b(population|levels|leaves)\b")
"""What no release has: people who are not released, and the hierarchies of sensitive values."""


def require_promises(release: pa.Table, contract: Contract, suppressed: int) -> None:
    """Refuse a release that breaks a promise which can be seen in it."""
    asked = verifiable(contract, suppressed)
    with duckdb.connect(config={"temp_directory": ""}) as connection:  # nothing is spilled to disk
        connection.register("release", release)
        connection.register("input", release)
        for found in verify(connection, asked, contract.quasi_identifiers):
            if not found.holds:
                raise ProtocolError(
                    "federation.release-came-not-keep",
                    "the release that came does not keep {model}: it is not kept, and the run ends",
                    model=found.model,
                )


def verifiable(contract: Contract, suppressed: int) -> Sequence[Model]:
    """The promises that can be verified by whoever has the release and nothing else."""
    unknown = [NOT_RELEASED, WHOLE_TABLE] if suppressed else [NOT_RELEASED]
    return [
        part
        for model in contract.models
        for part in model.parts
        if not any(words.search(part.sql(contract.quasi_identifiers)) for words in unknown)
    ]


def require_levels(contract: Contract, finding: FederatedSolution, released: int) -> None:
    """Refuse levels that the contract does not allow, and more suppressed rows than it allows."""
    if len(finding.node) != len(contract.quasi_identifiers):
        raise ProtocolError(
            "federation.release-came-not-say",
            "the release that came does not say its levels: it is not kept, and the run ends",
        )
    for name, level in zip(contract.quasi_identifiers, finding.node, strict=True):
        column = contract.column(name)
        if not column.least_level <= level <= column.height:
            raise ProtocolError(
                "federation.release-came-level-contract",
                "the release that came has a level of '{name}' that the contract does not allow: it is not "
                "kept, and the run ends",
                name=name,
            )
    allowed = share_of(contract.suppression_limit, released + max(finding.suppressed, 0))
    if not 0 <= finding.suppressed <= allowed:
        raise ProtocolError(
            "federation.more-rows-suppressed-contract",
            "more rows were suppressed than the contract allows: the release is not kept, and the run ends",
        )


def require_own_rows(
    release: PartyShare, own: PartyShare, contract: Contract, finding: FederatedSolution
) -> OwnRows:
    """Refuse a release that lacks rows of this party, or has changed them.

    A class is released whole or not at all. So where all columns are known, each own row is in the release
    with all its values if its class is, and otherwise counts among the suppressed ones. Where others have
    the other columns, what is released has own values of own people, and no more of them are missing than
    were suppressed.

    Args:
        release: the release in plain.
        own: the rows that this party has sent, in plain.
        contract: what all have agreed on.
        finding: what was done, as who anonymized has told it.
    """
    if own.members is not None:
        own = own.take(np.flatnonzero(own.members).astype(np.int64))
    if not own.num_rows or not own.parts:
        return OwnRows(own.num_rows, 0, 0, 0)
    level = dict(zip(contract.quasi_identifiers, finding.node, strict=True))
    mine = own.with_parts(lambda name, part: part.at(level.get(name, 0)))
    rows = _Counted.of(release, mine, list(mine.parts))
    missing = np.maximum(rows.own - rows.released, 0)
    if contract.distribution is not Partitioning.HORIZONTAL:
        joined = contract.distribution is Partitioning.VERTICAL and not contract.fill_absent
        if joined and (rows.released > rows.own).any():
            raise _not_mine()
        knows_who = contract.member is None or own.members is not None
        if knows_who and int(missing.sum()) > finding.suppressed:
            raise _not_mine()
        total = release.num_rows + finding.suppressed
        if joined and contract.member is None and own.num_rows != total:
            raise _not_mine()
        return OwnRows(own.num_rows, int(missing.sum()) if knows_who else 0, 0, 0)
    classes = _Counted.of(release, mine, contract.quasi_identifiers)
    absent = classes.released == 0
    if missing[~absent[classes.ids[rows.first]]].any():
        raise _not_mine()
    suppressed = int(classes.own[absent].sum())
    if suppressed > finding.suppressed:
        raise _not_mine()
    left = classes.released - classes.own
    if contract.insiders and ((left > 0) & (left < contract.class_size)).any():
        raise ProtocolError(
            "federation.insiders-find-too-few",
            "without the rows of one party a class of the release is smaller than promised: it is not kept, "
            "and the run ends",
        )
    names = {part.name for model in contract.models for part in model.parts}
    only_sizes = names == {"k-anonymity"} and not contract.insiders
    if only_sizes and (classes.own[absent] >= contract.class_size).any():
        raise ProtocolError(
            "federation.class-missing-release-large",
            "a class is missing in the release that is large enough with the rows of one party alone: it is"
            " not kept, and the run ends",
        )
    below, alone = worst_case(classes.own[~absent], contract.class_size)
    return OwnRows(own.num_rows, suppressed, below, alone)


def _not_mine() -> ProtocolError:
    return ProtocolError(
        "federation.release-came-lacks-rows",
        "the release that came lacks rows of a party or has changed them: it is not kept, and the run ends",
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _Counted:
    """How often combinations of cells occur in the release and in the own rows.

    Attributes:
        ids: for each row of both tables the number of its combination, those of the release first.
        first: a row of each combination.
        released: how many rows of the release have each combination.
        own: how many own rows do.
    """

    ids: Codes
    first: Counts
    released: Counts
    own: Counts

    @classmethod
    def of(cls, release: PartyShare, own: PartyShare, names: Sequence[str]) -> _Counted:
        codes, sizes = [], []
        for name in names:
            place: dict[bytes, int] = {}
            both = []
            for part in (release.parts[name], own.parts[name]):
                moved = np.array([place.setdefault(token, len(place)) for token in part.tokens], np.int32)
                both.append(moved[part.codes] if len(part.codes) else part.codes)
            codes.append(np.concatenate(both))
            sizes.append(len(place))
        groups = group_codes(codes, sizes)
        counts = [
            np.bincount(each, minlength=groups.num_groups)
            for each in (groups.ids[: release.num_rows], groups.ids[release.num_rows :])
        ]
        return cls(groups.ids, groups.representatives, counts[0], counts[1])
