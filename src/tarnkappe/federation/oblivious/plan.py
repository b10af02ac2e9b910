"""What all parties of an oblivious run do, step by step; only here is anything opened.

1. Keys are agreed on, and each site says how many rows it has. Where the contract says what tells people
   apart, it is found whether somebody is known to several sites; then the run ends.
2. Nodes are tested. With `reveal = "tests"` each answer is opened and decides which nodes are tested next;
   with `reveal = "result"` all nodes are tested, and no answer is opened.
3. The best node is found in secret, and its number opened.
4. The classes that may be released are opened. That tells nothing that the release does not tell.
5. Each site shares all its rows, those of other classes emptied; they are shuffled in secret and opened.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from tarnkappe.errors import ParameterError, ProtocolError
from tarnkappe.federation.contract import Contract, Reveal
from tarnkappe.federation.engine import no_solution
from tarnkappe.federation.oblivious import gates
from tarnkappe.federation.oblivious.choice import MarginalLabels, Ranking, chosen
from tarnkappe.federation.oblivious.common_labels import Bits, OwnData, RowFormat, counted_columns
from tarnkappe.federation.oblivious.computer import (
    DIGEST,
    DIGEST_WORDS,
    INPUT,
    Computer,
    MessageRound,
    Opening,
    Shared,
    Steps,
    require_same,
)
from tarnkappe.federation.oblivious.criterion import Criterion
from tarnkappe.federation.oblivious.dense import (
    CellGrid,
    kept_cells,
    satisfied_nodes,
)
from tarnkappe.federation.oblivious.insiders import coalitions_of
from tarnkappe.federation.oblivious.persons import PLANES, lanes_for, planes_of, somebody_repeats
from tarnkappe.federation.oblivious.streams import KeyStream, Words
from tarnkappe.federation.printable import printable_name
from tarnkappe.lattice import Node
from tarnkappe.privacy.exact import share_of

MOST_CELLS = 1 << 26
"""So many bits are shared at once by a site. A node that needs more is not tested."""
UNKNOWN = -1


@dataclasses.dataclass(frozen=True, eq=False)
class RunShape:
    """What all parties know of a run: it decides how many bits travel, and when.

    Attributes:
        contract: what all have agreed on.
        rows: how many rows each site has.
    """

    contract: Contract
    rows: Mapping[str, int]

    @cached_property
    def labels(self) -> tuple[tuple[int, ...], ...]:
        """How many labels each quasi-identifier has at each level."""
        return tuple(self.contract.column(name).labels for name in self.contract.quasi_identifiers)

    @cached_property
    def ranking(self) -> Ranking:
        """The public part of the order of nodes."""
        return Ranking(self.contract)

    @cached_property
    def criterion(self) -> Criterion:
        """What a class must have, in numbers."""
        total = sum(self.rows.values())
        return criterion_of(self.contract, total)

    @cached_property
    def marginals(self) -> MarginalLabels:
        """The labels whose counts are shared to compare losses."""
        ranges = self.ranking.problem.level_ranges
        return MarginalLabels.of(self.labels, ranges, self.criterion.rows)

    @cached_property
    def sizes(self) -> dict[Node, int]:
        """How many cells each node has."""
        nodes = self.ranking.nodes
        return dict(zip(nodes, CellGrid.of(nodes, self.labels).sizes, strict=True))

    def cells(self, nodes: Sequence[Node]) -> CellGrid:
        """The cells of some nodes."""
        return CellGrid(tuple(self.sizes[node] for node in nodes))

    def batches(self, nodes: Sequence[Node], criterion: Criterion) -> list[list[Node]]:
        """Nodes in batches of so many cells that they fit into memory."""
        batches: list[list[Node]] = []
        room = 0
        for node in nodes:
            size = gates.words_for(self.sizes[node]) * gates.LANES * criterion.held
            if size > room:
                batches.append([])
                room = MOST_CELLS
            batches[-1].append(node)
            room -= size
        return batches


def criterion_of(contract: Contract, rows: int) -> Criterion:
    """What a class must have under the models of a contract."""
    parts = [part for model in contract.models for part in model.parts]
    sizes = [part.k for part in parts if hasattr(part, "k")]
    diversity = []
    for name in counted_columns(contract):
        least = max(part.l for part in parts if hasattr(part, "l") and part.distributions == ((name,),))
        diversity.append((contract.column(name).labels[0], least))
    limit = share_of(contract.suppression_limit, rows)
    coalitions = coalitions_of(len(contract.parties), contract.insiders)
    return Criterion(max(sizes, default=1), tuple(diversity), limit, rows, coalitions)


def most_cells(contract: Contract) -> tuple[int, int]:
    """The cells of the largest node and of all nodes, counted with all values of models."""
    labels = tuple(contract.column(name).labels for name in contract.quasi_identifiers)
    sizes = CellGrid.of(Ranking(contract).nodes, labels).sizes
    planes = 1 + sum(contract.column(name).labels[0] for name in counted_columns(contract))
    return max(sizes) * planes, sum(sizes) * planes


@dataclasses.dataclass(frozen=True, eq=False)
class FoundRelease:
    """How a run ends: the node, and for sites the rows of the release as bits."""

    node: Node
    rows: Bits | None


class ObliviousRun:
    """A party in a run: a site that computes, one that does not, or a helper that computes without data.

    Args:
        name: its name.
        shape: what all parties know.
        own: its data; None if it has no data.
        computer: its engine; None if it does not compute.
        seeds: where it does not compute, what it expands the shares 0 and 1 of its inputs from.
    """

    def __init__(
        self,
        name: str,
        shape: RunShape,
        own: OwnData | None,
        computer: Computer | None,
        seeds: tuple[KeyStream, KeyStream] | None,
    ) -> None:
        self.name = name
        self.shape = shape
        self.contract = shape.contract
        self._own = own
        self._computer = computer
        self._seeds = seeds
        self._inputs = -1

    # ------------------------------------------------------------------ sharing and opening

    def _share(self, own: Words | None, sizes: Mapping[str, int]) -> Steps[list[Shared]]:
        """Share the own words, and take the shares of all sites where this party computes."""
        if self._computer is not None:
            shares = yield from self._computer.inputs(own, self.name, sizes)
            return list(shares.values())
        assert own is not None
        assert self._seeds is not None
        self._inputs += 1
        first, second = (seed.words(self._inputs, len(own)) for seed in self._seeds)
        rest = own ^ first ^ second
        yield MessageRound([(name, INPUT, rest) for name in self.contract.compute[1:]], [])
        return []

    def _share_planes(self, own: Words | None, planes: int, words: int) -> Steps[list[Shared]]:
        """The same for planes, of which all sites have the same number."""
        flat = None if own is None else own.reshape(-1)
        shares = yield from self._share(flat, dict.fromkeys(self.contract.parties, planes * words))
        return [share.reshape(2, planes, words) for share in shares]

    def _open(
        self, x: Shared | None, why: Opening, receivers: Sequence[str], words: tuple[int, ...]
    ) -> Steps[Words | None]:
        """Open something; who does not compute gets three shares, and a digest of each from another party."""
        if self._computer is not None:
            assert x is not None
            return (yield from self._computer.open(x, why, receivers, self.name))
        size = int(np.prod(words))
        three = self.contract.compute
        expect = [(name, kind, n) for name in three for kind, n in ((why, size), (DIGEST, DIGEST_WORDS))]
        arrived = yield MessageRound([], expect)
        shares, digests = arrived[::2], arrived[1::2]
        for index, share in enumerate(shares):
            require_same(share, digests[index - 1])
        return (shares[0] ^ shares[1] ^ shares[2]).reshape(words)

    # ------------------------------------------------------------------ the run

    def run(self) -> Steps[FoundRelease]:
        """All steps after the keys."""
        if self.contract.person:
            yield from self._refuse_people_of_several_sites()
        if self.contract.reveal is Reveal.TESTS:
            satisfying = yield from self._search()
            if not satisfying:
                raise no_solution(self.contract)
            candidates = self.shape.ranking.contenders(satisfying)
            node = candidates[0]
            if len(candidates) > 1:
                node = yield from self._choose(candidates, None)
        else:
            candidates = self.shape.ranking.nodes
            good = yield from self._test_all(candidates)
            node = yield from self._choose(candidates, good)
        rows = yield from self._release(node)
        return FoundRelease(node, rows)

    def _refuse_people_of_several_sites(self) -> Steps[None]:
        """Rows are counted: one person at three sites would count as three."""
        lanes = lanes_for(tuple(self.shape.rows.values()))
        own = None if self._own is None else planes_of(self._own.tags, lanes)
        shared = yield from self._share_planes(own, PLANES, gates.words_for(lanes))
        repeats: Shared | None = None
        if self._computer is not None:
            found = yield from somebody_repeats(self._computer, shared, lanes)
            repeats = _first_lane(found)[:, None]
        opened = yield from self._open(repeats, Opening.PERSONS, self.contract.everybody, (1, 1))
        assert opened is not None
        if opened.any():
            raise ProtocolError(
                "federation.somebody-at-several-sites",
                "somebody is known to several sites, by {person}, and would count several times: the run "
                "ends. Nobody was told who it is. Without 'person' in the contract rows are counted",
                person=", ".join(map(printable_name, self.contract.person)),
            )

    def _tested(self, nodes: Sequence[Node], criterion: Criterion) -> Steps[Shared | None]:
        """Test a batch of nodes; the answers are one a lane."""
        cells = self.shape.cells(nodes)
        own = None if self._own is None else self._own.rows.planes(nodes, cells, criterion)
        shared = yield from self._share_planes(own, criterion.planes, cells.words)
        if self._computer is None:
            return None
        return (yield from satisfied_nodes(self._computer, shared, cells, criterion))

    def _search(self) -> Steps[list[Node]]:
        """All nodes that satisfy.

        First what generalizing never breaks is tested: every answer then tells about other nodes. Where a
        promise may break (insiders, if rows may be suppressed), the nodes that are left are tested again.
        """
        criterion = self.shape.criterion
        found = yield from self._search_monotone(criterion.monotone)
        if criterion.monotone == criterion:
            return found
        return [node for node, good in (yield from self._answers(found, criterion)).items() if good]

    def _answers(self, nodes: Sequence[Node], criterion: Criterion) -> Steps[dict[Node, bool]]:
        """Test nodes and open the answers."""
        answers: dict[Node, bool] = {}
        for batch in self.shape.batches(nodes, criterion):
            good = yield from self._tested(batch, criterion)
            opened = yield from self._open(
                good, Opening.TESTS, self.contract.everybody, (gates.words_for(len(batch)),)
            )
            assert opened is not None
            answers |= dict(zip(batch, map(bool, gates.unpacked(opened, len(batch))), strict=True))
        return answers

    def _search_monotone(self, criterion: Criterion) -> Steps[list[Node]]:
        """All nodes that satisfy what generalizing never breaks.

        Half of the nodes that are not yet known lie at or below the height that is tested next.
        """
        nodes = self.shape.ranking.nodes
        levels, sizes = np.array(nodes), np.array([self.shape.sizes[node] for node in nodes])
        heights, known = levels.sum(axis=1), np.full(len(nodes), UNKNOWN)
        while (known == UNKNOWN).any():
            open_ones = np.flatnonzero((known == UNKNOWN) & (sizes * self.shape.criterion.held <= MOST_CELLS))
            if not len(open_ones):
                raise ParameterError(
                    "federation.levels-would-tested-make",
                    "levels would have to be tested that make more than {most_cells:,} cells: name a higher"
                    " least_level for the columns with most values",
                    most_cells=MOST_CELLS,
                )
            height = np.sort(heights[open_ones])[(len(open_ones) - 1) // 2]
            chosen_ones = [nodes[place] for place in open_ones[heights[open_ones] == height]]
            for node, answer in (yield from self._answers(chosen_ones, criterion)).items():
                implied = levels >= node if answer else levels <= node
                known[implied.all(axis=1) & (known == UNKNOWN)] = answer
        return [node for node, good in zip(nodes, known.tolist(), strict=True) if good]

    def _test_all(self, nodes: Sequence[Node]) -> Steps[Shared | None]:
        """Test all nodes and open nothing."""
        answers, criterion = [], self.shape.criterion
        for batch in self.shape.batches(nodes, criterion):
            good = yield from self._tested(batch, criterion)
            if good is not None:
                answers.append(gates.unpacked(good, len(batch)))
        return gates.packed(np.concatenate(answers, axis=-1)) if answers else None

    def _choose(self, candidates: Sequence[Node], good: Shared | None) -> Steps[Node]:
        """The best of the candidates; nothing but its number is opened."""
        marginals, everybody = self.shape.marginals, self.contract.everybody
        own = None if self._own is None else marginals.planes(self._own.rows)
        words = gates.words_for(marginals.lanes)
        shared = yield from self._share_planes(own, marginals.bits, words)
        best: Shared | None = None
        if self._computer is not None:
            counts = yield from gates.add_all(self._computer, shared, marginals.rows)
            counts = gates.widened(counts, marginals.bits)
            best = yield from chosen(self._computer, candidates, good, counts, marginals, self.shape.ranking)
        nodes = self.shape.ranking.nodes
        bits = gates.bits_of(len(nodes) - 1)
        if self.contract.reveal is Reveal.RESULT:  # if none satisfies, the number must stay secret
            none = yield from self._open(
                None if best is None else _first_lane(best[:, bits:]), Opening.LEVELS, everybody, (1, 1)
            )
            assert none is not None
            if none.any():
                raise no_solution(self.contract)
        number = yield from self._open(
            None if best is None else _first_lane(best[:, :bits]), Opening.LEVELS, everybody, (bits, 1)
        )
        assert number is not None
        return nodes[sum(int(plane[0]) << bit for bit, plane in enumerate(number))]

    def _release(self, node: Node) -> Steps[Bits | None]:
        """The rows of the release as bits, for the sites."""
        cells, criterion, sites = self.shape.cells([node]), self.shape.criterion, self.contract.parties
        own = None if self._own is None else self._own.rows.planes([node], cells, criterion)
        shared = yield from self._share_planes(own, criterion.planes, cells.words)
        kept: Shared | None = None
        if self._computer is not None:
            kept, _ = yield from kept_cells(self._computer, shared, criterion)
        opened = yield from self._open(kept, Opening.CLASSES, sites, (cells.words,))
        level = dict(zip(self.contract.quasi_identifiers, node, strict=True))
        words = gates.words_for(RowFormat(self.contract, level).bits)
        rows = None
        if self._own is not None and opened is not None:
            classes = gates.unpacked(opened, cells.sizes[0])
            rows = self._own.written(level, classes[self._own.rows.cells(node)] == 1)
        sizes = {site: number * words for site, number in self.shape.rows.items()}
        flat = None if rows is None else gates.packed(rows).reshape(-1)
        shares = yield from self._share(flat, sizes)
        mixed: Shared | None = None
        if self._computer is not None:
            whole = np.concatenate([share.reshape(2, -1, words) for share in shares], axis=1)
            mixed = yield from self._computer.shuffle(whole)
        result = yield from self._open(mixed, Opening.ROWS, sites, (criterion.rows, words))
        return None if result is None else gates.unpacked(result, RowFormat(self.contract, level).bits)


def _first_lane(x: Shared) -> Shared:
    """The first lane of every plane alone: other lanes of its word are nobody's business."""
    return x[..., :1] & np.uint64(1)
