"""Slow and obviously correct versions of what the check computes, in plain Python and exact fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

from tarnkappe.exchange.findings import Flag

Row = dict[str, str]
LOCAL = {Flag.UNIQUE, Flag.RARE_LOCAL}


class Twin:
    """A selection: rows, for each attribute its hierarchy (value -> labels by level), weights and limits."""

    def __init__(
        self, rows, labels, useful, prices, rare, shares=None, rare_global=0, peak=10**9, detail=None
    ):
        self.rows, self.labels, self.useful, self.prices, self.rare = rows, labels, useful, prices, rare
        self.shares, self.rare_global, self.peak = shares or {}, rare_global, peak
        self.detail = detail or {}
        self.heights = {name: len(next(iter(own.values()))) - 1 for name, own in labels.items()}

    def label(self, row, name, level):
        return self.labels[name][row[name]][level]

    def flags(self, name, level, live):
        """Flags of every label; the statistics know the labels of one level exactly (shares)."""
        found = {}
        column = [self.label(self.rows[i], name, level) for i in live]
        for label in set(column):
            n, here = column.count(label), Fraction(column.count(label), len(column))
            own = set()
            if n == 1:
                own.add(Flag.UNIQUE)
            if n < self.rare:
                own.add(Flag.RARE_LOCAL)
            share = self.share(name, level, label)
            if share is not None:
                if share < self.rare_global:
                    own.add(Flag.RARE_GLOBAL)
                if here > self.peak * share or here * self.peak < share:
                    own.add(Flag.PEAK)
            found[label] = own
        return found

    def share(self, name, level, label):
        """Known for values, so for a label the sum over all values under it."""
        if name not in self.shares:
            return None
        return sum(p for value, p in self.shares[name].items() if self.labels[name][value][level] == label)

    def clear(self, name, level, live):
        return not any(self.flags(name, level, live).values())

    def locally_rare(self, name, live):
        flags = self.flags(name, self.useful[name], live)
        return {i for i in live if flags[self.label(self.rows[i], name, self.useful[name])] & LOCAL}

    def delete(self, kept):
        """The records that must go, or None if one of them is outstanding in one attribute only."""
        live, outstanding = set(range(len(self.rows))), set()
        while True:
            rare = {name: self.locally_rare(name, live) for name in self.labels}
            outstanding |= {i for i in live if sum(i in own for own in rare.values()) >= 2}
            way = set().union(*(rare[name] for name in kept)) if kept else set()
            if not way:
                return set(range(len(self.rows))) - live
            if not way <= outstanding:
                return None
            live -= way

    def loss(self, levels, deleted):
        number = len(self.rows)
        total = sum(
            Fraction(price)
            * (
                deleted
                + (number - deleted)
                * (Fraction(levels[name], self.heights[name]) if name in levels else Fraction(1))
            )
            for name, price in self.prices.items()
        )
        return total / (number * sum(map(Fraction, self.prices.values())))

    def best_loss(self, least_rows, allowed=lambda levels, live: True):
        """The least loss of all sets of actions that clear all flags, by trying every one."""
        best = None
        names = list(self.labels)
        options = [[*range(self.detail.get(n, 0), self.useful[n] + 1), None] for n in names]
        for chosen in itertools.product(*options):
            levels = {n: level for n, level in zip(names, chosen, strict=True) if level is not None}
            deleted = self.delete(list(levels))
            if deleted is None or len(self.rows) - len(deleted) < least_rows:
                continue
            live = set(range(len(self.rows))) - deleted
            if all(self.clear(n, level, live) for n, level in levels.items()) and allowed(levels, live):
                loss = self.loss(levels, len(deleted))
                best = loss if best is None else min(best, loss)
        return best
