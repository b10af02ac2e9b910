"""The common hierarchies: what all sites must have alike, and what they make of their own rows.

The cells of a test are all combinations of labels of the hierarchies, whether they occur or not. So the
hierarchies must hold the possible values, not those that occur, and every party knows how many there are.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import HierarchyError, ParameterError, ProtocolError
from tarnkappe.federation.contract import Contract, SharedColumn
from tarnkappe.federation.oblivious.dense import LocalRows
from tarnkappe.federation.oblivious.gates import bits_of
from tarnkappe.federation.oblivious.streams import Words
from tarnkappe.federation.party_share import Rule, canonical
from tarnkappe.federation.share import PartyShare, ShareColumn
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.state.canonical import canonical_json
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes

Bits = npt.NDArray[np.uint8]

LENGTH_SIZE = 2


@dataclasses.dataclass(frozen=True)
class CommonLabels:
    """The labels of one column at every level, in an order that all parties have.

    Attributes:
        tokens: for each level its labels, sorted.
        digest: of the whole hierarchy, by which sites see that they have the same.
    """

    tokens: tuple[tuple[bytes, ...], ...]
    digest: str

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> CommonLabels:
        """The labels of a hierarchy."""
        rows = sorted([canonical(cell) for cell in row] for row in hierarchy.rows())
        tokens = tuple(tuple(sorted(set(level))) for level in zip(*rows, strict=True))
        if len(tokens[0]) < len(rows):
            raise HierarchyError(
                "federation.two-values-hierarchy-written", "two values of a hierarchy are written the same"
            )
        document = canonical_json([[cell.hex() for cell in row] for row in rows])
        return cls(tokens, hashlib.sha256(document).hexdigest())

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many labels each level has."""
        return tuple(map(len, self.tokens))

    def codes(self, part: ShareColumn, level: int) -> Codes:
        """The label numbers of the cells of a column at a level."""
        at = part.at(level)
        place = {token: number for number, token in enumerate(self.tokens[level])}
        return np.array([place[token] for token in at.tokens], np.int32)[at.codes]


def counted_columns(contract: Contract) -> tuple[str, ...]:
    """The sensitive columns whose values the models count."""
    parts = [part for model in contract.models for part in model.parts]
    return tuple(dict.fromkeys(names[0] for part in parts for names in part.distributions))


def columns_with_lists(contract: Contract) -> tuple[str, ...]:
    """The columns of which all parties must know all possible values."""
    return (*contract.quasi_identifiers, *counted_columns(contract))


def with_common_labels(contract: Contract, hierarchies: Mapping[str, Hierarchy | Rule]) -> Contract:
    """A contract that names the hierarchies of its columns by their digests and sizes."""
    columns = []
    for column in contract.columns:
        rules = hierarchies.get(column.name)
        if column.name in columns_with_lists(contract):
            labels = CommonLabels.of(_require_list(column, rules))
            column = dataclasses.replace(column, labels=labels.sizes, hierarchy_digest=labels.digest)
        columns.append(column)
    return dataclasses.replace(contract, columns=tuple(columns))


def common_labels(contract: Contract, hierarchies: Mapping[str, Hierarchy | Rule]) -> dict[str, CommonLabels]:
    """The labels of all columns that need them, which must be those of the contract."""
    found = {}
    for name in columns_with_lists(contract):
        column = contract.column(name)
        labels = CommonLabels.of(_require_list(column, hierarchies.get(name)))
        if (labels.sizes, labels.digest) != (column.labels, column.hierarchy_digest):
            raise HierarchyError(
                "federation.hierarchy-site-another-contract",
                "the hierarchy of '{name}' at this site is another one than the contract names: all sites "
                "need the same file",
                name=name,
            )
        found[name] = labels
    return found


def _require_list(column: SharedColumn, rules: Hierarchy | Rule | None) -> Hierarchy:
    if not isinstance(rules, Hierarchy):
        raise HierarchyError(
            "federation.protocol-oblivious-counts-all-possible",
            "the protocol 'oblivious' counts all possible values of '{column}': give it a hierarchy that "
            "lists them",
            column=column.name,
        )
    return rules


@dataclasses.dataclass(frozen=True, eq=False)
class RowFormat:
    """How a row of the release is written in bits: whether it is there, then every column.

    A column with a common list is the number of its label. Any other one is its text, padded to the width
    that the contract names. All rows have the same length.

    Attributes:
        contract: what all have agreed on.
        level: the levels of the release.
    """

    contract: Contract
    level: Mapping[str, int]

    @cached_property
    def _sizes(self) -> list[tuple[SharedColumn, int]]:
        sizes = []
        for column in self.contract.columns:
            if column.labels:
                bits = bits_of(column.labels[self.level.get(column.name, 0)] - 1)
            else:
                bits = 8 * (LENGTH_SIZE + column.width)
            sizes.append((column, bits))
        return sizes

    @property
    def bits(self) -> int:
        """How many bits a row has."""
        return 1 + sum(bits for _, bits in self._sizes)

    def write(self, own: PartyShare, labels: Mapping[str, CommonLabels], kept: Mask) -> Bits:
        """Own rows as bits; those that are not kept are all zeros."""
        rows = np.zeros((own.num_rows, self.bits), np.uint8)
        rows[:, 0] = 1
        begin = 1
        for column, bits in self._sizes:
            part = own.parts[column.name]
            target = rows[:, begin : begin + bits]
            if column.labels:
                codes = labels[column.name].codes(part, self.level.get(column.name, 0))
                target[:] = codes[:, None] >> np.arange(bits) & 1
            else:
                plain = part.without_rules()
                lines = [_padded(token, column) for token in plain.tokens]
                raw = np.frombuffer(b"".join(lines), np.uint8).reshape(len(lines), bits // 8)
                target[:] = np.unpackbits(raw, axis=1)[plain.codes]
            begin += bits
        rows[~kept] = 0
        return rows

    def read(self, rows: Bits, labels: Mapping[str, CommonLabels]) -> PartyShare:
        """The release from its bits; empty rows fall out."""
        rows = rows[rows[:, 0] == 1]
        parts = {}
        begin = 1
        for column, bits in self._sizes:
            source = rows[:, begin : begin + bits]
            if column.labels:
                tokens = list(labels[column.name].tokens[self.level.get(column.name, 0)])
                codes = source.astype(np.int64) @ (1 << np.arange(bits, dtype=np.int64))
                if len(codes) and codes.max() >= len(tokens):
                    raise ProtocolError(
                        "federation.release-came-labels-stand",
                        "the release that came has labels that stand for nothing: the run ends",
                    )
                parts[column.name] = ShareColumn(tokens, codes.astype(np.int32)).without_rules()
            else:
                raw = np.packbits(source, axis=1)
                place: dict[bytes, int] = {}
                codes = np.array([place.setdefault(_unpadded(line.tobytes()), len(place)) for line in raw])
                parts[column.name] = ShareColumn(list(place), codes.astype(np.int32))
            begin += bits
        return PartyShare(parts, len(rows))


def _padded(token: bytes, column: SharedColumn) -> bytes:
    if len(token) > column.width:
        raise ParameterError(
            "federation.column-value-bytes-contract-allows",
            "the column '{column}' has a value of {token} bytes, and the contract allows {width}: agree on "
            "a greater width",
            column=column.name,
            token=len(token),
            width=column.width,
        )
    return len(token).to_bytes(LENGTH_SIZE) + token.ljust(column.width, b"\0")


def _unpadded(line: bytes) -> bytes:
    return line[LENGTH_SIZE : LENGTH_SIZE + int.from_bytes(line[:LENGTH_SIZE])]


@dataclasses.dataclass(frozen=True, eq=False)
class OwnData:
    """The data of a site: its rows in plain, and as numbers of common labels.

    Attributes:
        contract: what all have agreed on.
        share: the rows in plain.
        labels: the common labels of columns.
        tags: the tags of its people, where the contract says what tells people apart.
    """

    contract: Contract
    share: PartyShare
    labels: Mapping[str, CommonLabels]
    tags: Words

    @cached_property
    def rows(self) -> LocalRows:
        """The rows at all levels that may be chosen."""
        by_level = []
        for name in self.contract.quasi_identifiers:
            column, part = self.contract.column(name), self.share.parts[name]
            none = np.empty(0, np.int32)
            by_level.append(
                tuple(
                    self.labels[name].codes(part, level) if level >= column.least_level else none
                    for level in range(column.height + 1)
                )
            )
        counted = counted_columns(self.contract)
        values = tuple(self.labels[name].codes(self.share.parts[name], 0) for name in counted)
        sizes = tuple(self.contract.column(name).labels for name in self.contract.quasi_identifiers)
        return LocalRows(tuple(by_level), values, sizes)

    def written(self, level: Mapping[str, int], kept: Mask) -> Bits:
        """The rows as bits; those that are not kept are all zeros."""
        return RowFormat(self.contract, level).write(self.share, self.labels, kept)
