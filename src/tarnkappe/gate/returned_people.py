"""Those who were returned: a number for every value that somebody had when he was, and the true values."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence

import numpy as np

from tarnkappe.gate.growing import Growing
from tarnkappe.gate.knowledge import Integers


class ReturnedPeople:
    """Tuples in the order in which they were met. Who has another value than before has another tuple.

    >>> returned = ReturnedPeople()
    >>> returned.enter(["ann", "ben"], [0, 2])
    >>> returned.number["ben"], returned.truth.tolist()
    (1, [0, 2])
    >>> returned.forget(1)
    >>> returned.people, returned.truth.tolist()
    (['ann'], [0])
    """

    def __init__(self) -> None:
        self.people: list[Hashable] = []
        self.number: dict[Hashable, int] = {}
        """The number of the newest tuple of each."""
        self._truth = Growing(np.int32)

    @property
    def truth(self) -> Integers:
        """The true value of every tuple; only the owner may see it."""
        return self._truth.rows

    def enter(self, people: Sequence[Hashable], secrets: Sequence[int]) -> None:
        """Give numbers to tuples that were not met before."""
        self.number.update(zip(people, itertools.count(len(self.people)), strict=False))
        self.people += people
        self._truth.add(np.array(secrets, dtype=np.int32))

    def reorder(self, known: int, order: Integers) -> None:
        """Number those from a number on as the parts of the answer introduce them."""
        self.people[known:] = [self.people[number] for number in order]
        self._truth.rows[known:] = self._truth.rows[order]
        self.number.update((person, known + place) for place, person in enumerate(self.people[known:]))

    def forget(self, known: int) -> None:
        """As if those from a number on had never been met."""
        for person in self.people[known:]:  # of no other number: only who had none got one
            del self.number[person]
        del self.people[known:]
        self._truth.cut(known)
