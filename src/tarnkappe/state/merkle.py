"""The Merkle tree of RFC 9162 (Certificate Transparency 2.0), section 2.1.

A tree over the entries of a log has one root, which stands for all of them in their order. The *frontier*,
the roots of the complete subtrees from the left, is all that is needed to go on: adding an entry takes
O(log n) hashes. A *consistency proof* of O(log n) hashes shows that one tree begins with all entries of
another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

EMPTY = hashlib.sha256(b"").digest()
"""The root of a log without entries."""


def leaf_hash(entry: bytes) -> bytes:
    """The hash of an entry; it begins otherwise than that of a pair, so neither can stand for the other."""
    return hashlib.sha256(b"\x00" + entry).digest()


def pair_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """A tree that grows: its size, and the roots of its complete subtrees, the largest first.

    >>> tree = Frontier()
    >>> for number in range(1, 6):
    ...     tree.add(b'{"n":%d}' % number)
    >>> tree.size, tree.root.hex()[:8]
    (5, '308ae0ae')
    """

    def __init__(self, size: int = 0, roots: Sequence[bytes] = ()) -> None:
        if len(roots) != size.bit_count():
            raise ValueError("these are not the subtrees of a tree of this size")
        self.size, self.roots = size, list(roots)

    def add(self, entry: bytes) -> None:
        """Add an entry at the end."""
        self.roots.append(leaf_hash(entry))
        self.size += 1
        # As many subtrees became complete as the new size has zeros at its end.
        for _ in range((self.size & -self.size).bit_length() - 1):
            right = self.roots.pop()
            self.roots[-1] = pair_hash(self.roots[-1], right)

    @property
    def root(self) -> bytes:
        """The root of the whole tree."""
        if not self.roots:
            return EMPTY
        found = self.roots[-1]
        for left in self.roots[-2::-1]:
            found = pair_hash(left, found)
        return found


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root over some hashes of entries."""
    if not leaves:
        return EMPTY
    if len(leaves) == 1:
        return leaves[0]
    half = _half(len(leaves))
    return pair_hash(root_of(leaves[:half]), root_of(leaves[half:]))


def consistency_proof(leaves: Sequence[bytes], size: int) -> list[bytes]:
    """Shows that the tree over these hashes begins with the first `size` of them."""
    if not 0 <= size <= len(leaves):
        raise ValueError("no tree begins with more entries than it has")
    return _subproof(leaves, size, True) if 0 < size < len(leaves) else []


def _subproof(leaves: Sequence[bytes], size: int, known: bool) -> list[bytes]:
    if size == len(leaves):
        return [] if known else [root_of(leaves)]
    half = _half(len(leaves))
    if size <= half:
        return [*_subproof(leaves[:half], size, known), root_of(leaves[half:])]
    return [*_subproof(leaves[half:], size - half, False), root_of(leaves[:half])]


def is_consistent(size: int, root: bytes, later_size: int, later_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that the later tree begins with all entries of the earlier one."""
    if not 0 <= size <= later_size:
        return False
    if size in (0, later_size):
        return not proof and root == (EMPTY if size == 0 else later_root)
    path = list(proof)
    place, last = size - 1, later_size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    if place:
        if not path:
            return False
        earlier = later = path.pop(0)
    else:
        earlier = later = root
    for each in path:
        if last == 0:
            return False
        if place & 1 or place == last:
            earlier, later = pair_hash(each, earlier), pair_hash(each, later)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            later = pair_hash(later, each)
        place, last = place >> 1, last >> 1
    return last == 0 and (earlier, later) == (root, later_root)


def _half(number: int) -> int:
    """The largest power of two below a number."""
    return 1 << (number - 1).bit_length() - 1
