"""The anonymization of ciphertexts: the same search as in one house, over tokens instead of values."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pyarrow as pa

from tarnkappe.errors import NoSolutionError, ProtocolError
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.share import PartyShare, ShareColumn
from tarnkappe.lattice import Node, SearchProblem
from tarnkappe.privacy import needed_distributions, protect
from tarnkappe.table import Column, Levels, Tuples
from tarnkappe.table.encoding import Codes


@dataclasses.dataclass(frozen=True)
class FederatedSolution:
    """The best levels, and what they do to the table."""

    node: Node
    suppressed: int
    loss: float | None


def opaque_column(name: str, part: ShareColumn) -> Column:
    """A column of tokens as the searches take it: its values are mere numbers, its levels are the rules."""
    occurring, codes = part.occurring()
    values = pa.array([f"v{i}" for i in range(len(occurring))], pa.string())
    if part.rules is None:
        return Column(name, codes, values)
    line = np.full(len(part.tokens), -1, np.int64)
    line[part.rules[:, 0]] = np.arange(len(part.rules))
    if len(occurring) and line[occurring].min() < 0:
        raise ProtocolError(
            "federation.value-no-rule-run", "a value of '{name}' has no rule: the run ends", name=name
        )
    lines = part.rules[line[occurring]]
    order = np.lexsort(lines.T)  # values under one label side by side, as in plain: searches are faster
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return Column(name, place[codes], values).with_levels(opaque_levels(lines[order]))


def opaque_levels(lines: Codes) -> Levels:
    """The generalization that rules describe, one line a value; what is no hierarchy is refused."""
    maps, labels, leaves = [], [], []
    for level in range(lines.shape[1]):
        names, first, codes = np.unique(lines[:, level], return_index=True, return_inverse=True)
        codes = np.argsort(np.argsort(first))[codes]  # by the first value of each
        if level == 0:
            names, codes = lines[:, 0], np.arange(len(lines))
        maps.append(codes.astype(np.int32))
        labels.append(tuple(f"{level}:{i}" for i in range(len(names))))
        leaves.append(np.bincount(codes, minlength=len(names)).astype(np.int64))
    for below, above in itertools.pairwise(maps):
        if len({*zip(below.tolist(), above.tolist(), strict=True)}) > len({*below.tolist()}):
            raise ProtocolError(
                "federation.rules-parties-not-make",
                "the rules of the parties do not make a hierarchy: the run ends",
            )
    return Levels(tuple(maps), tuple(labels), tuple(leaves))


def rows_of(share: PartyShare, contract: Contract) -> Tuples:
    """The columns of a table of tokens that decide about its release, row by row."""
    looked_at = [*contract.quasi_identifiers]
    for names in (*needed_distributions(contract.models), *contract.loss.distributions):
        looked_at += names
    columns = {name: opaque_column(name, share.parts[name]) for name in dict.fromkeys(looked_at)}
    everyone = np.ones(share.num_rows, np.int64)
    if share.members is None:
        if contract.member is not None:
            raise ProtocolError(
                "federation.no-party-column-tells",
                "no party has the column '{member}', which tells who is released",
                member=contract.member,
            )
        return Tuples(columns, everyone)
    return Tuples(columns, share.members.astype(np.int64), everyone)


def problem_of(rows: Tuples, contract: Contract) -> SearchProblem:
    """The problem that the rows of a table of tokens pose."""
    return SearchProblem(
        rows.distinct(),
        contract.quasi_identifiers,
        contract.models,
        contract.loss,
        contract.suppression_limit,
        contract.level_limits,
    )


def anonymize(share: PartyShare, contract: Contract) -> tuple[PartyShare, FederatedSolution]:
    """The best release of a table of tokens, without rules and without suppressed rows."""
    rows = rows_of(share, contract)
    solution = contract.search.run(problem_of(rows, contract))
    if solution.best is None:
        raise no_solution(contract)
    best = solution.best
    return release(share, rows, contract, best.node), FederatedSolution(best.node, best.suppressed, best.loss)


def no_solution(contract: Contract) -> NoSolutionError:
    """What is said where no levels keep the promise."""
    return NoSolutionError(
        "federation.no-levels-meet-most-all-rows",
        "no levels meet {str} with at most {suppression_limit:.0%} of all rows suppressed: allow more "
        "suppression, or promise less",
        str=", ".join(map(str, contract.models)),
        suppression_limit=contract.suppression_limit,
    )


def release(share: PartyShare, rows: Tuples, contract: Contract, node: Node) -> PartyShare:
    """The rows of a table of tokens that may be released at a node, generalized, without their rules.

    Args:
        share: the table.
        rows: what `rows_of` makes of it.
        contract: what is promised.
        node: the levels.
    """
    level = dict(zip(contract.quasi_identifiers, node, strict=True))
    classes = rows.classes(contract.quasi_identifiers, node, needed_distributions(contract.models))
    kept = protect(classes, contract.models).kept[classes.ids]
    chosen = np.flatnonzero(kept & (rows.counts > 0))
    released = PartyShare(share.parts, share.num_rows).take(chosen)
    return released.with_parts(lambda name, part: part.at(level.get(name, 0)))
