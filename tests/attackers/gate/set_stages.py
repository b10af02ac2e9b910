"""Gates that answer with sets of labels, drawn once or, without protection, for each answer."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np

from tarnkappe.gate.knowledge import Integers
from tarnkappe.gate.label_sets import LabelSets
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.strategy import counted
from tests.attackers.gate.believer import WeighedGate
from tests.attackers.gate.stages import OTHER, write
from tests.gate.server.gates import running

WEIGHTS = {"A": 0.3, "B": 0.2, "C": 0.2, "D": 0.1, "E": 0.1}
BELIEF = 0.61
"""A is believed with 0.3 / 0.5 if the others of its set are the two least likely ones."""
NUMBERS = itertools.count(10**6)


@contextmanager
def drawn_once(folder: Path) -> Iterator[WeighedGate]:
    """A gate as it is."""
    chance = random.Random(5)
    write(folder, {nr: chance.choice([*WEIGHTS, "another"]) for nr in range(10)})
    content = {
        "table": {
            "source": "patients.csv",
            "name": "patients",
            "key": "id",
            "quasi_identifiers": ["nr"],
            "refresh": 0,
        },
        "sensitive": {"disease": {"values": list(WEIGHTS), "weights": WEIGHTS}},
        "protection": {"k": 3, "strategy": "veil", "belief": BELIEF},
    }
    with running(GatePolicy.from_dict(content, folder), folder) as service:
        rest = 1 - sum(WEIGHTS.values())
        yield WeighedGate(service.url(), range(10), {**WEIGHTS, OTHER: rest}, BELIEF)


def _drawn_anew(sets: LabelSets, members: Integers, truth: Integers) -> Integers:
    sets._draw_up_to(len(truth) - 1, truth)
    values, k = sets.knowledge.values, sets.k
    fresh = [sets.drawn(next(NUMBERS), int(truth[member]), values, k) for member in members]
    return counted(np.concatenate(fresh), values)


@contextmanager
def drawn_for_each_answer(folder: Path) -> Iterator[WeighedGate]:
    """A gate that draws everybody's set anew whenever he is in an answer."""
    with mock.patch.object(LabelSets, "answer", _drawn_anew), drawn_once(folder) as target:
        yield target
