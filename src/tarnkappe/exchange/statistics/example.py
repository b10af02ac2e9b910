"""A made-up population: its exact statistics, and patients of an institution drawn from it.

Occupations depend on age and sex, diagnoses on age, sex and occupation, medications on the diagnosis; origin
depends on nothing. All shares are computed from the model, none is counted, so statistics and patients fit
together as well as figures of a whole country and the patients of one hospital can.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.exchange.statistics.store import EVERYBODY, LEAST_POPULATION, PopulationFigure
from tarnkappe.table.examples.draw import Choice, Streams

Joint = npt.NDArray[np.float64]

PEOPLE = 9_000_000
SOURCE = "made-up census"
VALID_FROM = date(2024, 1, 1)
SEXES = ("M", "W")
AGES = tuple(range(0, 100, 10))
AGE_SHARES = (
    (5.0, 5.1, 5.9, 6.7, 6.5, 7.3, 6.1, 4.2, 2.3, 0.3),
    (4.7, 4.8, 5.6, 6.5, 6.5, 7.4, 6.5, 4.9, 3.2, 0.6),
)
"""By sex, the share of everybody in each band of ten years."""
ORIGINS = {"AT": 74.0, "DE": 8.0, "IT": 4.0, "TR": 4.0, "RS": 4.0, "HU": 3.0, "IN": 1.5, "US": 1.0, "JP": 0.5}
OCCUPATIONS = {
    "pupil": (0, 0),
    "office": (14, 22),
    "nurse": (1, 8),
    "teacher": (3, 8),
    "welder": (6, 0.4),
    "miner": (1, 0.05),
    "farmer": (4, 3),
    "driver": (8, 1),
    "cook": (4, 4),
    "engineer": (8, 2),
    "shop assistant": (5, 12),
    "glass blower": (0.05, 0.02),
    "retired": (0, 0),
}
"""The weights among working men and women."""
FIRST_JOB, LAST_JOB = 2, 6
"""The bands of ten years in which people work."""


@dataclasses.dataclass(frozen=True)
class Disease:
    """How frequent a disease is: by band of ten years, among men against women, and in occupations."""

    ages: tuple[float, ...]
    men: float = 1.0
    occupations: tuple[tuple[str, float], ...] = ()
    medications: tuple[tuple[str, float], ...] = ()


OLD = (0.1, 0.1, 0.3, 1, 3, 7, 14, 20, 24, 25)
YOUNG = (2, 8, 7, 5, 4, 3, 2, 2, 2, 2)
EVEN = (5,) * 10
DISEASES = {
    "hypertension": Disease(OLD, 1.2, (), (("ramipril", 6), ("amlodipine", 4))),
    "back pain": Disease(
        EVEN, 1.1, (("welder", 4), ("miner", 6), ("nurse", 3)), (("ibuprofen", 8), ("tilidine", 2))
    ),
    "asthma": Disease(YOUNG, 0.9, (("miner", 3),), (("salbutamol", 9), ("budesonide", 3))),
    "silicosis": Disease(
        (0, 0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.1, 0.1, 0.1),
        1.0,
        (("miner", 400), ("glass blower", 100), ("welder", 20)),
        (("prednisolone", 1),),
    ),
    "depression": Disease(EVEN, 0.6, (("office", 1.5),), (("sertraline", 7), ("lithium", 1))),
    "alcoholism": Disease((0, 0.5, 4, 6, 7, 7, 5, 3, 1, 0.2), 2.5, (("cook", 2),), (("acamprosate", 1),)),
    "diabetes": Disease(OLD, 1.1, (("driver", 2),), (("metformin", 8), ("insulin", 3))),
    "migraine": Disease(YOUNG, 0.4, (("office", 1.3),), (("sumatriptan", 5), ("ibuprofen", 2))),
    "healthy": Disease((400,) * 10, 1.0, (), (("none", 1),)),
}
MEDICATIONS = tuple(dict.fromkeys(name for d in DISEASES.values() for name, _ in d.medications))
WEIGHT_MEAN, WEIGHT_SPREAD = {"M": 83.0, "W": 69.0}, 14.0
ATTRIBUTES = ("age", "sex", "occupation", "diagnosis")


@cache
def joint() -> Joint:
    """The share of everybody by band of age, sex, occupation and diagnosis."""
    people = np.array(AGE_SHARES).T / np.sum(AGE_SHARES)
    return np.asarray(people[:, :, np.newaxis, np.newaxis] * _works()[:, :, :, np.newaxis] * _ill())


def _works() -> Joint:
    """The share of each occupation among people of an age and sex."""
    names = list(OCCUPATIONS)
    shares = np.zeros((len(AGES), len(SEXES), len(names)))
    for band in range(len(AGES)):
        for sex in range(len(SEXES)):
            if FIRST_JOB <= band <= LAST_JOB:
                weights = np.array([OCCUPATIONS[name][sex] for name in names])
                shares[band, sex] = weights / weights.sum()
            else:
                shares[band, sex, names.index("pupil" if band < FIRST_JOB else "retired")] = 1.0
    return shares


def _ill() -> Joint:
    """The share of each diagnosis among people of an age, sex and occupation."""
    weights = np.array([disease.ages for disease in DISEASES.values()], dtype=float).T
    shares = np.broadcast_to(
        weights[:, np.newaxis, np.newaxis, :], (len(AGES), len(SEXES), len(OCCUPATIONS), len(DISEASES))
    ).copy()
    for number, disease in enumerate(DISEASES.values()):
        shares[:, 0, :, number] *= disease.men
        for occupation, factor in disease.occupations:
            shares[:, :, list(OCCUPATIONS).index(occupation), number] *= factor
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def _medicated() -> Joint:
    """The share of each medication among people with a diagnosis."""
    shares = np.zeros((len(DISEASES), len(MEDICATIONS)))
    for row, disease in zip(shares, DISEASES.values(), strict=True):
        for name, weight in disease.medications:
            row[MEDICATIONS.index(name)] = weight
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def facts() -> list[PopulationFigure]:
    """The statistics of the population: of everybody, by medication, by diagnosis and by occupation."""
    everything = joint()[..., np.newaxis] * _medicated()
    conditions: list[tuple[tuple[str, str], Joint]] = [(EVERYBODY, everything.sum(axis=-1))]
    conditions += [(("medication", m), everything[..., i]) for i, m in enumerate(MEDICATIONS)]
    for axis, (kind, values) in enumerate(
        {"occupation": list(OCCUPATIONS), "diagnosis": list(DISEASES)}.items(), 2
    ):
        for place, value in enumerate(values):
            chosen = np.zeros_like(joint())
            index = (slice(None),) * axis + (place,)
            chosen[index] = joint()[index]
            conditions.append(((kind, value), chosen))
    return [fact for condition, shares in conditions for fact in _facts_of(condition, shares)]


def _facts_of(condition: tuple[str, str], shares: Joint) -> Iterator[PopulationFigure]:
    population = int(shares.sum() * PEOPLE)
    if population < LEAST_POPULATION:
        return
    shares = shares / shares.sum()
    words = (
        [f"{age}-{age + 9}" for age in AGES],
        list(SEXES),
        list(OCCUPATIONS),
        list(DISEASES),
    )
    for chosen in ((0,), (1,), (2,), (3,), (0, 1), (0, 1, 2)):
        marginal = shares.sum(axis=tuple(axis for axis in range(4) if axis not in chosen))
        for place in zip(*np.nonzero(marginal), strict=True):
            values = {ATTRIBUTES[axis]: words[axis][at] for axis, at in zip(chosen, place, strict=True)}
            yield PopulationFigure(
                condition, values, min(float(marginal[place]), 1.0), population, SOURCE, VALID_FROM
            )
    total = sum(ORIGINS.values())
    for origin, weight in ORIGINS.items():
        yield PopulationFigure(condition, {"origin": origin}, weight / total, population, SOURCE, VALID_FROM)


def patients(rows: int, seed: int = 0) -> pa.Table:
    """Made-up patients; the same rows and seed give the same table.

    >>> patients(2).column_names
    ['patient', 'age', 'sex', 'weight', 'origin', 'occupation', 'diagnosis', 'medication']
    """
    streams = Streams(seed, "exchange")
    ill = joint().copy()
    ill[..., list(DISEASES).index("healthy")] = 0.0  # who is healthy is nobody's patient
    cells = Choice(ill.ravel()).draw(streams.uniform("cell", rows))
    bands, sexes, works, diagnoses = np.unravel_index(cells, ill.shape)
    medications = Choice(_medicated()).draw(streams.uniform("medication", rows), diagnoses)
    ages = np.array(AGES)[bands] + (streams.uniform("age", rows) * 10).astype(np.int64)
    bell = sum(streams.uniform(f"weight {i}", rows) for i in range(12)) - 6.0
    means = np.array([WEIGHT_MEAN[sex] for sex in SEXES])[sexes]
    grown = np.minimum((ages + 4) / 22, 1.0)
    origins = Choice(list(ORIGINS.values())).draw(streams.uniform("origin", rows))

    def words(names: Iterable[str], codes: npt.NDArray[Any]) -> pa.Array:
        return pa.array(list(names), pa.string()).take(pa.array(codes))

    return pa.table(
        {
            "patient": pa.array([f"P{number:07}" for number in range(rows)]),
            "age": pa.array(ages),
            "sex": words(SEXES, sexes),
            "weight": pa.array(np.rint((means + WEIGHT_SPREAD * bell) * grown).astype(np.int64)),
            "origin": words(ORIGINS, origins),
            "occupation": words(OCCUPATIONS, works),
            "diagnosis": words(DISEASES, diagnoses),
            "medication": words(MEDICATIONS, medications),
        }
    )


CATALOGUE = {
    "attributes": {
        "patient": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [5, 10, 20]}},
        "sex": {"role": "quasi-identifier"},
        "weight": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [10, 20, 40]}},
        "origin": {"role": "quasi-identifier", "special_category": "origin"},
        "occupation": {"role": "quasi-identifier"},
        "diagnosis": {
            "role": "sensitive",
            "selects": True,
            "special_category": "health",
            "conspicuous": ["alcoholism"],
            "damage": 10.0,
        },
        "medication": {"role": "sensitive", "selects": True, "special_category": "health", "damage": 5.0},
    }
}
"""The catalogue of an institution with such patients."""
