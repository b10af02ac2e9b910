"""The four extension algorithms of `gate.delta_top` in plain Python.

Each takes for every old tuple how many edges wait for each value, which values it keeps, and how many
values it has; and the values of the new tuples. It returns for each new tuple the old one that gets it, or
-1.
"""

from __future__ import annotations

from collections import Counter, deque

Pairs = set[tuple[int, int]]
"""Pairs of an old tuple (by its place in the call) and a value."""


def max_edges(
    pending: list[Counter[int]], kept: list[set[int]], current: list[int], fresh: list[int]
) -> list[int]:
    """The twin of `MaxEdges`, which does not look at what anybody has already."""
    del kept, current
    turns: dict[int, deque[int]] = {}
    for value in set(fresh):
        olds = [i for i in range(len(pending)) if pending[i][value]]
        turns[value] = deque(sorted(olds, key=lambda i: -pending[i][value]))
    chosen = []
    for value in fresh:
        chosen.append(turns[value][0] if turns[value] else -1)
        turns[value].rotate(-1)
    return chosen


def max_anonymity(
    pending: list[Counter[int]], kept: list[set[int]], current: list[int], fresh: list[int]
) -> list[int]:
    """The twin of `MaxAnonymity`."""
    current, chosen = list(current), [-1] * len(fresh)
    extended: Pairs = set()
    order, queue = list(range(len(pending))), list(range(len(fresh)))
    times: Counter[int] = Counter()
    for again in (False, True):
        while True:
            left = Counter(value for x, value in enumerate(fresh) if chosen[x] < 0)
            options = [
                {v for v in mine if left[v] and (again or (i, v) not in extended)}
                for i, mine in enumerate(pending)
            ]
            order.sort(key=lambda i: len(options[i]))
            queue.sort(key=lambda x: -left[fresh[x]])
            open_ = [i for i in order if options[i]]
            if not open_:
                break
            best = min(open_, key=lambda i: times[i] if again else current[i])
            x = next(x for x in queue if chosen[x] < 0 and fresh[x] in options[best])
            chosen[x] = best
            if again:
                times[best] += 1
            else:
                current[best] += fresh[x] not in kept[best]
            extended.add((best, fresh[x]))
    return chosen


class Dealing:
    """What the matching algorithms share: which pairs are extended, and which new tuples are left."""

    def __init__(
        self, pending: list[Counter[int]], kept: list[set[int]], current: list[int], fresh: list[int]
    ) -> None:
        self.pending, self.kept, self.fresh = pending, kept, fresh
        self.current, self.chosen = list(current), [-1] * len(fresh)
        self.extended: Pairs = set()

    @property
    def left(self) -> Counter[int]:
        """How many new tuples of each value are left."""
        return Counter(value for x, value in enumerate(self.fresh) if self.chosen[x] < 0)

    def options(self, again: bool = False, useful: bool = False) -> list[list[int]]:
        """For each old tuple the values that it can still get."""
        left = self.left
        return [
            sorted(
                v
                for v in mine
                if left[v] and (again or (i, v) not in self.extended) and not (useful and v in self.kept[i])
            )
            for i, mine in enumerate(self.pending)
        ]

    def hand_out(self, taken: Pairs) -> None:
        """Turn pairs into new tuples."""
        for i, value in sorted(taken):
            x = next(x for x, v in enumerate(self.fresh) if v == value and self.chosen[x] < 0)
            self.chosen[x] = i
            self.extended.add((i, value))

    def rounds(self, again: bool) -> None:
        """Deal out what is left, to everybody one in each round."""
        while taken := deal([1] * len(self.pending), self.options(again), self.left):
            self.hand_out(taken)

    def raise_degrees(self, taken: Pairs) -> None:
        """Count the values that were just given."""
        for i, value in taken:
            self.current[i] += value not in self.kept[i]


def deal(demand: list[int], allowed: list[list[int]], left: Counter[int]) -> Pairs:
    """As many different values for everybody as demanded, as far as they last."""
    taken: Pairs = set()
    used: Counter[int] = Counter()
    for i, wish in enumerate(demand):
        for _ in range(wish):
            how = {value: (i, -1) for value in allowed[i] if (i, value) not in taken}
            queue = deque(how)
            while queue and used[queue[0]] >= left[queue[0]]:
                value = queue.popleft()
                for other in range(len(demand)):
                    if (other, value) in taken:
                        for instead in allowed[other]:
                            if instead not in how and (other, instead) not in taken:
                                how[instead] = (other, value)
                                queue.append(instead)
            if not queue:
                break
            end = queue[0]
            used[end] += 1
            while end >= 0:
                giver, given = how[end]
                taken.add((giver, end))
                taken.discard((giver, given))
                end = given
    return taken


def simple_matching(
    pending: list[Counter[int]], kept: list[set[int]], current: list[int], fresh: list[int]
) -> list[int]:
    """The twin of `SimpleMatching`."""
    dealing = Dealing(pending, kept, current, fresh)
    while any(options := dealing.options()):
        fewest = min(c for c, mine in zip(dealing.current, options, strict=True) if mine)
        demand = [int(bool(mine) and c == fewest) for c, mine in zip(dealing.current, options, strict=True)]
        taken = deal(demand, options, dealing.left)
        dealing.raise_degrees(taken)
        dealing.hand_out(taken)
    dealing.rounds(again=True)
    return dealing.chosen


def clone_matching(
    pending: list[Counter[int]], kept: list[set[int]], current: list[int], fresh: list[int]
) -> list[int]:
    """The twin of `CloneMatching`."""
    dealing = Dealing(pending, kept, current, fresh)
    while any(options := dealing.options(useful=True)):
        nodes = clones(dealing.current, [len(mine) for mine in options], dealing.left, options)
        open_ = [i for i, mine in enumerate(options) if mine]
        lowest = min(dealing.current[i] for i in open_)
        best: Pairs = set()
        for level in range(lowest + 1, max(nodes[i] + dealing.current[i] for i in open_) + 1):
            demand = [
                max(0, min(n, level - c)) if mine else 0
                for n, c, mine in zip(nodes, dealing.current, options, strict=True)
            ]
            taken = deal(demand, options, dealing.left)
            if level == lowest + 1 or len(taken) == sum(demand):
                best = taken
            if len(taken) < sum(demand):
                break
        dealing.raise_degrees(best)
        dealing.hand_out(best)
    dealing.rounds(again=False)
    dealing.rounds(again=True)
    return dealing.chosen


def clones(current: list[int], degrees: list[int], left: Counter[int], options: list[list[int]]) -> list[int]:
    """How many values each old tuple should get."""
    news = sum(left[value] for value in set().union(*options))
    richest = max(c for c, d in zip(current, degrees, strict=True) if d)
    nodes = [min(richest - c, d) if d else 0 for c, d in zip(current, degrees, strict=True)]
    if not any(nodes):
        nodes = [int(d > 0) for d in degrees]
    while open_ := [i for i, d in enumerate(degrees) if nodes[i] < d]:
        share = (news - sum(nodes)) // len(open_)
        if share < 1:
            break
        for i in open_:
            nodes[i] += min(degrees[i] - nodes[i], share)
    return nodes
