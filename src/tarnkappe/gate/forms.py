"""How an answer looks. Whatever the form, it tells who is in it and which values they share, and no link.

- `permuted`: everybody's exact quasi-identifiers; the sensitive values are dealt out at random. Values that
  belong to nobody are in rows that borrow the quasi-identifiers of somebody, since a gap would mark them.
- `generalized`: every row has the same quasi-identifiers, wide enough for everybody in the answer.
- `anatomy`: everybody's exact quasi-identifiers, and in place of a value the list of all values of the group.

Each sensitive column is dealt out by itself. So an answer with two of them does not link them either: what
anybody can conclude from one is independent of the other.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from random import Random
from typing import Any

from tarnkappe.gate.answer import Block
from tarnkappe.gate.labels import NUMBERS, shown_as_numbers
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.policy_columns import OTHER
from tarnkappe.gate.question import AnswerRows
from tarnkappe.gate.source import SelectedPeople
from tarnkappe.table.table import MISSING

NOTICE = "The answer may contain artificial values."
VALUE, NO_VALUE, OTHER_VALUE, PADDING = "value", "missing", "other", "padding"
"""What a cell of a sensitive column is: a value; missing, as the list calls it; one that the list lacks, in a
column of numbers; or nothing, since the row is only there because another column has more values. Whether a
value is artificial is never said.
"""


def types_shown(policy: GatePolicy, types: Mapping[str, str]) -> dict[str, str]:
    """The type of every column in answers; `types` are those of the source."""
    shown = dict.fromkeys(policy.kinds, "text")
    for name in policy.quasi_identifiers:
        shown[name] = "text" if policy.form == "generalized" else types[name]
    for column in policy.sensitive:
        kind = types[column.name]
        shown[column.name] = kind if shown_as_numbers(policy, column, kind) else "text"
    return shown


def rows_shown(
    policy: GatePolicy,
    types: Mapping[str, str],
    columns: Sequence[str],
    people: SelectedPeople,
    named: Sequence[str],
    blocks: Mapping[str, Sequence[Block]],
    order: bytes,
) -> AnswerRows:
    """The rows of an answer.

    Args:
        policy: says the form.
        types: of the columns in the source.
        columns: what was asked for.
        people: who is in the answer.
        named: what the blocks call them.
        blocks: the answer of the gate for each sensitive column.
        order: secret bytes from which the order of rows and values follows, the same for the same answer.
    """
    random = Random(order)  # noqa: S311 - what it arranges says nothing about who has what
    shown = types_shown(policy, types)
    if policy.form == "anatomy":
        cells = {name: _lists(parts, named) for name, parts in blocks.items()}
        size = len(named)
    else:
        dealt = {name: _dealt(parts, named, random) for name, parts in blocks.items()}
        size = max([len(named), *map(len, dealt.values())])
        kinds = {name: NUMBERS.get(shown[name], str) for name in dealt}
        cells = {name: [_read(kinds[name], label) for label in labels] for name, labels in dealt.items()}
        for name, column in policy.kinds.items():
            if column in dealt:
                marks = [_kind(kinds[column], label) for label in dealt[column]]
                cells[name] = [*marks, *[PADDING] * (size - len(marks))]
    borrowed = [*range(len(named)), *random.choices(range(len(named)), k=size - len(named))]
    for name in policy.quasi_identifiers:
        own = people.cells[name]
        wide = [_covering(own)] * len(own) if policy.form == "generalized" else own
        cells[name] = [wide[place] for place in borrowed]
    # A column with fewer values than another ends in gaps, which tell no more than their numbers do.
    full = [[*cells.get(name, ()), *[None] * (size - len(cells.get(name, ())))] for name in columns]
    rows = list(zip(*full, strict=True))
    random.shuffle(rows)
    return AnswerRows(tuple(columns), tuple(shown[name] for name in columns), tuple(rows))


def _dealt(blocks: Sequence[Block], named: Sequence[str], random: Random) -> list[str]:
    """A value for everybody, from those of his block at random; then the values that are left."""
    own: dict[Any, str] = {}
    left: list[str] = []
    for block in blocks:
        values = list(block.values)
        random.shuffle(values)
        own.update(zip(block.people, values, strict=False))
        left += values[len(block.people) :]
    random.shuffle(left)
    return [*(own[person] for person in named), *left]


def _lists(blocks: Sequence[Block], named: Sequence[str]) -> list[Any]:
    own = {}
    for block in blocks:
        text = json.dumps(dict(sorted(Counter(block.values).items())), ensure_ascii=False)
        own.update(dict.fromkeys(block.people, text))
    return [own[person] for person in named]


def _kind(kind: Any, label: str) -> str:
    if label == MISSING:
        return NO_VALUE
    return OTHER_VALUE if _read(kind, label) is None else VALUE


def _read(kind: Any, label: str) -> Any:
    no_number = kind is not str and label == OTHER
    return None if label == MISSING or no_number else kind(label)


def _covering(cells: Sequence[Any]) -> str:
    """What all cells have in common: a value, an interval, a beginning, or nothing.

    >>> _covering([20, 22, 21]), _covering(["10140", "12555"]), _covering(["f", "m"]), _covering(["f", "f"])
    ('20–22', '1****', '*', 'f')
    """
    if not cells or any(cell is None for cell in cells):
        return "*"
    low, high = min(cells), max(cells)
    if low == high:
        return str(low)
    if isinstance(low, bool):
        return "*"
    if not isinstance(low, str):
        return f"{low}–{high}"
    start = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=False)))
    if not start or len({len(cell) for cell in cells}) > 1:
        return "*"
    return start + "*" * (len(low) - len(start))
