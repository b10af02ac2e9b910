"""What a search knows of nodes that it tested, and which others must fail with them.

Nothing is kept of other nodes, so the lattice may have any size.

Explained in docs/explanation/monotonicity.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tarnkappe.lattice.checker import NodeCheck
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.search_run import Attempt, LimitReachedError
from tarnkappe.native import compiled

Nodes = npt.NDArray[np.int16]


class Notebook:
    """The tests of an attempt; no node is tested twice.

    Args:
        attempt: whose tests are noted.
        max_tests: after how many tests to end the search.
    """

    def __init__(self, attempt: Attempt, max_tests: int | None = None) -> None:
        self.attempt = attempt
        self.columns = tuple(
            sorted(range(len(attempt.top)), key=attempt.problem.quasi_identifiers.__getitem__)
        )
        """The columns by name: random choices do not depend on the order in which they are given."""
        self.can_exclude = attempt.monotone or bool(attempt.implied)
        """Whether a failing node can show that everything below it fails."""
        self._checks: dict[Node, NodeCheck] = {}
        self._failed: Nodes = np.empty((256, len(attempt.top)), np.int16)
        self._num_failed = 0
        self._max_tests = max_tests

    def check(self, node: Node) -> NodeCheck:
        """Test a node, or say what its test found."""
        known = self._checks.get(node)
        if known is not None:
            return known
        self.attempt.keep_time()
        if self._max_tests is not None and len(self._checks) >= self._max_tests:
            raise LimitReachedError(f"after {self._max_tests:,} tests")
        found = self.attempt.checker.check(node)
        self.attempt.learn(found)
        self._checks[node] = found
        if self.can_exclude and not self._is_good(found) and not self._is_below_failed(node):
            self._note_failure(node)
        return found

    def must_fail(self, node: Node) -> bool:
        """Whether the tests so far show that a node and everything below it cannot satisfy."""
        if not self.can_exclude:
            return False
        known = self._checks.get(node)
        return self._is_below_failed(node) if known is None else not self._is_good(known)

    def excludes(self, node: Node) -> bool:
        """Whether a node and everything below it cannot satisfy; if need be, the node is tested."""
        return self.can_exclude and (self.must_fail(node) or not self._is_good(self.check(node)))

    def was_tested(self, node: Node) -> bool:
        """Whether the answer to a test of this node is at hand."""
        return node in self._checks

    def bound_at(self, node: Node) -> float:
        """What no node from here upward goes below, by the levels alone."""
        problem = self.attempt.problem
        bound = problem.loss.lower_bound_at(problem.tuples, problem.columns, node)
        return -np.inf if bound is None else bound

    def _is_good(self, found: NodeCheck) -> bool:
        return found.evaluation.satisfied if self.attempt.monotone else found.sub_good

    def _is_below_failed(self, node: Node) -> bool:
        return _is_below_one(self._failed, self._num_failed, np.array(node, np.int16))

    def _note_failure(self, node: Node) -> None:
        if self._num_failed == len(self._failed):
            self._failed = np.concatenate([self._failed, np.empty_like(self._failed)])
        self._failed[self._num_failed] = node
        self._num_failed += 1


@compiled
def _is_below_one(nodes: Nodes, number: int, node: npt.NDArray[np.int16]) -> bool:
    # Failed nodes are kept as they are and looked through from the newest, which is most like what is asked
    # now. A row ends at the first column that is higher. Nodes times columns at worst, and no index that
    # grows.
    for row in range(number - 1, -1, -1):  # what was found last is most like what is asked now
        for column in range(len(node)):
            if node[column] > nodes[row, column]:
                break
        else:
            return True
    return False
