"""When answers leave: at the end of a slot, whose length follows from what is public.

How long a decision takes depends on the history and on the draw: an easy answer is quick, one that needs a
search takes longer. So every answer, refusal and failure leaves when its slot ends. The length of a slot
follows from the number of people whom the statement selects, which anybody can count. The search for possible
worlds ends by the clock while there is time left (`surplus` says why it may), and growth, which always comes
to an end, has the rest. A slot that is missed all the same, by a machine that has too much to do, is followed
by a whole further one.
"""

from __future__ import annotations

import dataclasses
import math
import time

SIZE = 10_000
"""So many people fit into the shortest slot; four times as many into one that is twice as long, and so on."""
SEARCHED = 0.6
"""The part of a slot after which the search ends."""


@dataclasses.dataclass
class Slot:
    """The slot of one statement.

    >>> slot = Slot(0.25, began=100.0)
    >>> slot.count(10_000)
    >>> slot.length, slot.search_until, slot.release(100.1), slot.release(100.3)
    (0.25, 100.15, 0.25, 0.5)
    >>> slot.count(1)
    >>> slot.length
    0.5

    Attributes:
        deadline: the length of the shortest slot, in seconds.
        began: when its turn came, by `time.monotonic`.
        people: how many people its questions have selected so far; those of several questions count together.
    """

    deadline: float
    began: float = dataclasses.field(default_factory=time.monotonic)
    people: int = 0

    def count(self, people: int) -> None:
        """A question of the statement selects so many people."""
        self.people += people

    @property
    def length(self) -> float:
        """How long it takes from the turn to the answer, in seconds."""
        length, size = self.deadline, SIZE
        while size < self.people:
            length, size = 2 * length, 4 * size
        return length

    @property
    def search_until(self) -> float:
        """When the search for worlds ends, by `time.monotonic`."""
        return self.began + SEARCHED * self.length

    def release(self, ready: float) -> float:
        """How long after its turn came an answer leaves that is ready at a time: one slot, or whole further
        ones if it is late.
        """
        return self.length * max(1, math.ceil((ready - self.began) / self.length))
