"""Kernels for the tests of prebuilding: everything that a kernel may take, do and return."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tarnkappe.native import compiled

FACTOR = 3
"""Read by a kernel: another value makes its machine code outdated."""


class Pair(NamedTuple):
    words: Any
    limit: int


@compiled
def helper(value):
    return value * FACTOR


@compiled
def scaled(values):
    made = np.empty(len(values), np.int64)
    for place in range(len(values)):
        made[place] = helper(values[place])
    return made


@compiled
def several(values, weight, is_sorted):
    copy = values.copy()
    if is_sorted:
        copy.sort()
        copy[:2] = values[:2]
    return copy, np.log(weight + len(values)), is_sorted, len(values), np.uint64(2**63 + 1)


@compiled
def write(target, values):
    for row in range(target.shape[0]):
        for column in range(target.shape[1]):
            target[row, column] += values[column]


@compiled
def of_pair(pair, small):
    total = np.uint64(0)
    for word in pair.words:
        if word < np.uint64(pair.limit):
            total += word
    return Pair(pair.words[::2].copy(), np.int64(total)), np.float32(small)


@compiled
def divide(number, other):
    return number // other


@compiled
def strided(values):
    total = 0.0
    for value in values:
        total += value
    return total


@compiled
def part_of(values):
    return values[1:]


@compiled
def many(rounds):
    total = 0
    for each in range(rounds):
        made = np.ones(1000, np.int64)
        total += made[each % 1000]
    return total


@compiled
def greatest(values):
    return values.max()


@compiled
def sums(values):
    return np.cumsum(values)


@compiled
def reshaped(values):
    return values.reshape((2, 3)).copy()


@compiled
def dot(one, other):
    return np.dot(one, other)
