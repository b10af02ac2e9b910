"""How much of a table of ciphertexts is read by who knows how often values occur: a simulated attack.

Equal values have equal ciphertexts in all protocols here, so a ciphertext keeps the frequency of its value,
and two ciphertexts keep how often they stand in one row. Both are matched with a known sample of such a
population (Naveed, Kamara, Wright 2015, doi:10.1145/2810103.2813651, for frequencies alone). It is one
attack and no bound: others may read more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from tarnkappe.federation.contract import Contract
from tarnkappe.federation.dummy_rows import counted, made_up_rows
from tarnkappe.federation.share import PartyShare
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table.encoding import Codes

Floats = npt.NDArray[np.float64]
Mapping = npt.NDArray[np.int64]
"""For each token the value that it is taken for, or -1."""

ROUNDS = 8
MOST_TOKENS = 400
"""Rarer tokens of a column than these are left unread: assignments take time that grows with the third
power."""
MOST_ROWS = 20_000
LEAST_ROWS = 200
"""Of fewer rows a simulation has too few to learn frequencies from; somebody who knows them need not
simulate."""
LEAST_SHARE = 1e-9
SECRET = bytes(32)
"""In a simulation made-up people need names, and nobody to hide them from."""


@dataclasses.dataclass(frozen=True)
class Decoded:
    """What an attack has read.

    Attributes:
        cells: the share of all cells, averaged over the columns.
        rows: the share of rows of which every cell was read.
    """

    cells: float
    rows: float


@dataclasses.dataclass(frozen=True)
class DecodingEstimate:
    """What a simulated attack reads of the rows of one party.

    Attributes:
        low: one half of the rows is known, the other one attacked: other people of the same population.
        high: both are drawn from all rows: somebody who knows the frequencies very well.
        seed: repeats the draws.
        num_rows: how many rows were looked at.
    """

    low: Decoded
    high: Decoded
    seed: int
    num_rows: int

    @property
    def is_reliable(self) -> bool:
        """Whether there are enough rows to say anything by frequencies."""
        return self.num_rows >= LEAST_ROWS


def estimate(share: PartyShare, contract: Contract, party: str, seed: int = 0) -> DecodingEstimate | None:
    """Attack the own rows of a party as the one who gets their ciphertexts could; None if there are none."""
    rng = np.random.default_rng(seed)
    if contract.is_oblivious or share.num_rows < 2 or not share.parts:
        return None
    order = rng.permutation(share.num_rows)[:MOST_ROWS].astype(np.int64)
    half = len(order) // 2
    total = min(MOST_ROWS, len(order) * len(contract.parties))
    draws = [order[rng.integers(0, len(order), total)] for _ in range(2)]
    return DecodingEstimate(
        _attacked(share, order[:half], order[half:], contract, party, rng),
        _attacked(share, draws[0], draws[1], contract, party, rng),
        seed,
        len(order),
    )


def _attacked(
    share: PartyShare,
    victims: Mapping,
    known: Mapping,
    contract: Contract,
    party: str,
    rng: np.random.Generator,
) -> Decoded:
    seen, sample = (_as_sent(share.take(rows), contract, party, rng) for rows in (victims, known))
    hidden, opaque = [], []
    for part in seen.parts.values():
        name = rng.permutation(len(part.tokens))
        hidden.append(name)
        opaque.append(name[part.codes].astype(np.int32))
    sizes = [len(part.tokens) for part in seen.parts.values()]
    read = match(opaque, [part.codes for part in sample.parts.values()], sizes)
    right = [
        mapping[column] == part.codes
        for mapping, column, part in zip(read, opaque, seen.parts.values(), strict=True)
    ]
    return Decoded(float(np.mean([each.mean() for each in right])), float(np.all(right, axis=0).mean()))


def _as_sent(share: PartyShare, contract: Contract, party: str, rng: np.random.Generator) -> PartyShare:
    """The rows that leave a party: with made-up ones among them where the protocol has them."""
    if not contract.protocol.is_masked:
        return share
    made_up = made_up_rows(share, contract, party, SECRET, Chance(int(rng.integers(2**31))))
    return counted(share, made_up, contract, party)[0]


def match(seen: Sequence[Codes], known: Sequence[Codes], sizes: Sequence[int]) -> list[Mapping]:
    """For every column the value that each token is taken for.

    Args:
        seen: for each column the token of every row that was received.
        known: for each column the value of every row that is known.
        sizes: how many tokens, and how many values, each column may have.
    """
    shares = [_shares(column, size) for column, size in zip(seen, sizes, strict=True)]
    expected = [_shares(column, size) for column, size in zip(known, sizes, strict=True)]
    frequent = [_frequent(each) for each in shares]
    values = [_frequent(each) for each in expected]
    maps = []
    for f, g, tokens, those in zip(shares, expected, frequent, values, strict=True):
        logs = (np.log(np.maximum(each, LEAST_SHARE)) for each in (f[tokens], g[those]))
        maps.append(_assigned(np.abs(np.subtract.outer(*logs)), tokens, those, len(f)))
    for _ in range(ROUNDS if len(seen) > 1 else 0):
        before = [mapping.copy() for mapping in maps]
        for c, (tokens, those) in enumerate(zip(frequent, values, strict=True)):
            f, g = shares[c][tokens], expected[c][those]
            cost = 2 * np.abs(np.subtract.outer(np.sqrt(f), np.sqrt(g)))
            for d in (d for d in range(len(seen)) if d != c):
                mapped = maps[d][seen[d]]
                a = _joint(seen[c], np.where(mapped < 0, sizes[d], mapped), sizes[c], sizes[d] + 1)[tokens]
                b = _joint(known[c], known[d].astype(np.int64), sizes[c], sizes[d] + 1)[those]
                common = np.sqrt(a) @ np.sqrt(b).T
                cost += np.sqrt(np.maximum(0.0, np.add.outer(f, g) - 2 * common))
            maps[c] = _assigned(cost, tokens, those, sizes[c])
        if all(np.array_equal(one, other) for one, other in zip(before, maps, strict=True)):
            break
    return maps


def _shares(codes: Codes, size: int) -> Floats:
    counts = np.bincount(codes, minlength=size)
    return counts / max(len(codes), 1)


def _frequent(shares: Floats) -> Mapping:
    """The tokens that occur, the most frequent first."""
    occurring = np.flatnonzero(shares)
    return occurring[np.argsort(-shares[occurring], kind="stable")][:MOST_TOKENS]


def _joint(rows: Codes, columns: Mapping, height: int, width: int) -> Floats:
    counts = np.bincount(rows.astype(np.int64) * width + columns, minlength=height * width)
    return counts.reshape(height, width) / max(len(rows), 1)


def _assigned(cost: Floats, tokens: Mapping, values: Mapping, size: int) -> Mapping:
    mapping = np.full(size, -1, np.int64)
    rows, columns = linear_sum_assignment(cost)
    mapping[tokens[rows]] = values[columns]
    return mapping
