"""The public pool as it is plainest: everything is counted anew for every question, world by world."""

from __future__ import annotations

import numpy as np

from tarnkappe.errors import GuaranteeError
from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.gate.public_pool import PublicPool
from tarnkappe.gate.world_search import FreeCells, counted_rows


class SlowPool(PublicPool):
    """Decides what the public pool decides, in time that grows with the history."""

    def grow(self, counts: Integers) -> Integers:
        candidates, origin = self._base, self._base_origin
        used = counted_rows(candidates[:, self._members], self.knowledge.values)
        grown = counts.copy()
        while True:
            fits = (used <= grown).all(axis=1)
            shown = self._shown(self._found, self._found_origin) | self._shown(candidates[fits], origin[fits])
            lacking = self._protected(shown.sum(axis=1) < self.k)
            if not lacking.any():
                break
            whole = self._whole(candidates, origin)[:, lacking]
            news = ~shown[lacking][np.arange(whole.shape[1])[None, :], self._class[whole]]
            helps = np.where(fits, 0, news.sum(axis=1))
            assert helps.any()
            missing = np.maximum(used - grown, 0).sum(axis=1)
            best = np.argmin(np.where(helps > 0, missing / np.maximum(helps, 1), np.inf))
            grown = np.maximum(grown, used[best])
        self._next = (
            np.vstack([self._found, candidates[fits]]),
            np.concatenate([self._found_origin, origin[fits]]),
        )
        self.knowledge.publish(self._members, grown)
        try:
            self._certify(*self._next)
        finally:
            self.knowledge.retract()
        return grown

    def _shown(self, worlds: Integers, origin: Integers) -> Booleans:
        whole = self._whole(worlds, origin)
        shown = np.zeros((whole.shape[1], int(self._class.max()) + 1), dtype=np.bool_)
        for world in whole:
            shown[np.arange(len(world)), self._class[world]] = True
        return shown

    def _lacks(self, worlds: Integers, origin: Integers) -> bool:
        return bool(self._protected(self._shown(worlds, origin).sum(axis=1) < self.k).any())

    def _certify(self, worlds: Integers, origin: Integers, parents: Integers | None = None) -> None:
        knowledge, floors = self.knowledge, self._floors()
        for world, row in zip(worlds, origin, strict=True):
            for result in range(knowledge.results):
                used = np.bincount(world[knowledge.members(result)], minlength=knowledge.values)
                if (used > knowledge.counts(result)).any():
                    raise GuaranteeError("gate.world-pool-contradicts-answer", "")
            held = np.bincount(world[knowledge.view.founder], minlength=knowledge.values)
            if (held[: floors.shape[1]] < floors[row]).any():
                raise GuaranteeError("gate.world-pool-leaves-too", "")
        if self._lacks(worlds, origin):
            raise GuaranteeError("gate.history-not-leave-possible", "")

    def _take_over(self, worlds: Integers, origin: Integers) -> None:
        for place in self._arrived.values():
            self._waiting[place] = False
        self._arrived = {}
        self._base = worlds
        kept = np.ones(len(worlds), dtype=np.bool_)
        for number in self._chance.permutation(len(worlds)).tolist():
            if np.count_nonzero(kept) <= 3 * self.k:
                break
            kept[number] = False
            kept[number] = self._lacks(worlds[kept], origin[kept])
        self.values, self.origin = worlds[kept], origin[kept]
        if not self._floors().shape[1]:
            self.origin = (np.arange(len(self.values)) % max(1, len(self.reserve))).astype(np.int32)
        self._free = FreeCells.none(len(self.values))
        self._forget()
        self._count_degrees()

    def _count_degrees(self) -> None:
        tuples = self.values.shape[1]
        self._degrees = self._shown(self.values, self.origin)[:tuples].sum(axis=1).astype(np.int32)
        self._degrees[list(self.knowledge.known)] = self.knowledge.values
