"""How the patients of the made-up hospital are drawn."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import cache
from itertools import chain, product

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.table.examples.domains import ExampleDomain, dates, masked, named, numbers
from tarnkappe.table.examples.draw import Choice, Codes, Streams, Uniform, Weights, zipf
from tarnkappe.table.examples.insurance import InsuranceNumbers
from tarnkappe.table.examples.lists import (
    diagnoses,
    diagnosis_profiles,
    names,
    occupations,
    places,
    working,
)

Days = npt.NDArray[np.datetime64]
Flags = npt.NDArray[np.bool_]

FIRST_ADMISSION = datetime.date(2021, 1, 1)
LAST_ADMISSION = datetime.date(2023, 12, 31)  # no leap year among them: see _birth_days
OLDEST = 104
LONGEST_STAY = 180
WEEKEND_FACTOR = 0.55

AGE_PYRAMID = (
    (0, 3.2, 3.4),
    (1, 1.6, 2.0),
    (6, 1.5, 1.7),
    (15, 3.2, 2.5),
    (25, 5.5, 2.8),
    (35, 4.8, 3.4),
    (45, 4.4, 4.8),
    (55, 6.2, 7.4),
    (65, 7.2, 8.2),
    (75, 8.6, 7.8),
    (85, 5.6, 3.4),
    (95, 0.5, 0.15),
)
"""First age of a band and the shares of all patients who are women and men of these ages."""

SEXES = ("female", "male")
NO_POSTCODE, NO_OCCUPATION = 0.01, 0.02
"""The shares of patients of whom these are missing."""


@cache
def domains() -> dict[str, ExampleDomain]:
    """The domains of the columns that have a hierarchy."""
    jobs: dict[str, dict[str, list[str]]] = {working().sector: working().not_working}
    for job in occupations():
        jobs.setdefault(job.sector, {}).setdefault(job.field, []).append(job.name)
    chapters: dict[str, dict[str, list[str]]] = {}
    for each in diagnoses():
        chapters.setdefault(each.chapter, {}).setdefault(each.block, []).append(each.code)
    oldest = FIRST_ADMISSION.replace(year=FIRST_ADMISSION.year - OLDEST - 1)
    return {
        "birth_date": dates(oldest, LAST_ADMISSION, "month", "year", "decade"),
        "age": numbers("age", 0, OLDEST + 1, (5, 10, 20)),
        "sex": named(SEXES),
        "postcode": masked((f"{code:05}" for code, _, _ in _postcodes()), missing=True),
        "occupation": named(jobs, missing=True),
        "admission_date": dates(FIRST_ADMISSION, LAST_ADMISSION, "month", "quarter", "year"),
        "diagnosis": named(chapters),
    }


class PatientGenerator:
    """Patients in the order of their rows, always the same for one seed."""

    def __init__(self, seed: int) -> None:
        self._streams = Streams(seed, "hospital")
        self._insurance = InsuranceNumbers(self._streams)
        self._row = 0

    def batch(self, rows: int) -> pa.RecordBatch:
        """The next patients."""
        draw = self._streams.uniform
        sexes, ages = np.divmod(_ages_of_sexes().draw(draw("age", rows)), np.int32(OLDEST + 1))
        where = _where().draw(draw("postcode", rows))
        bands = _steps(diagnosis_profiles().age_bands)[ages]
        ill = _diagnoses().draw(draw("diagnosis", rows), bands * 2 + sexes)
        days = _admissions().draw(draw("admission", rows), _diagnosis_seasons()[ill])
        admitted = np.datetime64(FIRST_ADMISSION, "D") + days
        born = _birth_days(admitted, ages, draw("birthday", rows), _is_newborn()[ill])
        stages = _steps(tuple(stage.first_age for stage in working().stages))[ages]
        works = _works().draw(draw("occupation", rows), (stages * 2 + sexes) * 2 + _is_rural()[where])
        columns = {
            "name": self._names(sexes, born, rows),
            "insurance_number": self._insurance.numbers(self._row, rows),
            "birth_date": pa.array(born, pa.date32()),
            "age": pa.array(ages.astype(np.int64)),
            "sex": _values("sex", sexes),
            "postcode": _values("postcode", where),
            "occupation": _values("occupation", works),
            "admission_date": pa.array(admitted, pa.date32()),
            "diagnosis": _values("diagnosis", ill),
            "length_of_stay": pa.array(_stays(ill, ages, draw("stay", rows))),
        }
        self._row += rows
        return pa.RecordBatch.from_pydict(columns)

    def _names(self, sexes: Codes, born: Days, rows: int) -> pa.Array:
        years = born.astype("datetime64[Y]").astype(np.int64) + 1970
        cohorts = np.searchsorted(np.array(names().cohorts), years, side="right") - 1
        origins = _origins().draw(self._streams.uniform("origin", rows), cohorts)
        first_names, first_choice = _first_names()
        families, family_choice = _families()
        contexts = (origins * 2 + sexes) * len(names().cohorts) + cohorts
        first = first_choice.draw(self._streams.uniform("first name", rows), contexts)
        family = family_choice.draw(self._streams.uniform("family name", rows), origins)
        return pc.binary_join_element_wise(first_names.take(first), families.take(family), " ")


def _values(column: str, codes: Codes) -> pa.Array:
    return domains()[column].values.take(pa.array(codes))


@cache
def _steps(firsts: tuple[int, ...]) -> Codes:
    """For every age, in which of the bands with these first ages it lies."""
    ages = np.arange(OLDEST + 1)
    return (np.searchsorted(np.array(firsts), ages, side="right") - 1).astype(np.int32)


@cache
def _ages_of_sexes() -> Choice:
    firsts = [first for first, *_ in AGE_PYRAMID]
    widths = np.diff([*firsts, OLDEST + 1])
    bands = _steps(tuple(firsts))
    shares = np.array(
        [[share / width for share in row[1:]] for row, width in zip(AGE_PYRAMID, widths, strict=True)]
    )
    fading = np.where(bands == len(firsts) - 1, 0.6 ** (np.arange(OLDEST + 1) - firsts[-1]), 1.0)
    return Choice((shares[bands] * fading[:, np.newaxis]).T.ravel())


def _postcodes() -> list[tuple[int, float, bool]]:
    """Each postcode with its share of the patients and whether it is rural, in ascending order."""
    listed = []
    for place in places():
        parts = zipf(place.postcodes, 0.3 if place.rural else 0.6)
        for number, part in enumerate(parts / parts.sum()):
            listed.append((place.first + number * place.step, place.share * float(part), place.rural))
    return sorted(listed)


@cache
def _where() -> Choice:
    return Choice(_with_missing([share for _, share, _ in _postcodes()], NO_POSTCODE))


@cache
def _is_rural() -> Codes:
    return np.array([*(rural for _, _, rural in _postcodes()), False], dtype=np.int32)


def _with_missing(weights: Sequence[float], share: float) -> list[float]:
    return [*weights, sum(weights) * share / (1.0 - share)]


@cache
def _diagnoses() -> Choice:
    bands, profiles, _ = diagnosis_profiles()
    matrix = [
        [d.weight * profiles[d.ages][band] * (d.women, 1.0 - d.women)[sex] for d in diagnoses()]
        for band, sex in product(range(len(bands)), range(2))
    ]
    return Choice(matrix)


@cache
def _diagnosis_seasons() -> Codes:
    order = list(diagnosis_profiles().seasons)
    return np.array([order.index(d.season) for d in diagnoses()], dtype=np.int32)


@cache
def _is_newborn() -> Flags:
    return np.array([d.ages == "newborn" for d in diagnoses()])


@cache
def _admissions() -> Choice:
    days: list[datetime.date] = domains()["admission_date"].values.to_pylist()
    return Choice(
        [
            [months[day.month - 1] * (WEEKEND_FACTOR if day.weekday() > 4 else 1.0) for day in days]
            for months in diagnosis_profiles().seasons.values()
        ]
    )


def _birth_days(admitted: Days, ages: Codes, uniform: Uniform, newborn: Flags) -> Days:
    """A birth day on which the patient has the given age at admission; the newborn are born on that day.

    The last such day has the day and month of the admission (never 29 February); the 364 days before
    it are such days, too.
    """
    months = admitted.astype("datetime64[M]")
    last: Days = (months - 12 * ages.astype(np.int64)).astype("datetime64[D]") + (admitted - months)
    return last - np.where(newborn, 0, (uniform * 365).astype(np.int64))


@cache
def _works() -> Choice:
    idle = list(chain.from_iterable(working().not_working.values()))
    jobs = occupations()
    everything = [*idle, *(work.name for work in jobs)]
    rural = [working().rural_factors.get(name, 1.0) for name in everything]
    town = [1.0] * len(everything)
    matrix = []
    for stage, sex, factors in product(working().stages, range(2), (town, rural)):
        idle_shares = (stage.women, stage.men)[sex]
        weights = np.array([work.women if sex == 0 else work.men for work in jobs])
        job_shares = weights / weights.sum() * max(0.0, 1.0 - sum(idle_shares))
        shares = np.concatenate([idle_shares, job_shares]) * np.array(factors)
        matrix.append(_with_missing(list(shares), NO_OCCUPATION))
    return Choice(matrix)


@cache
def _stay_days() -> Weights:
    return np.array([d.stay for d in diagnoses()], dtype=np.float64)


def _stays(diagnoses: Codes, ages: Codes, uniform: Uniform) -> npt.NDArray[np.int64]:
    """Lengths of stay: log-logistic around the usual stay, which grows with age; at least one day."""
    usual = _stay_days()[diagnoses] * (0.65 + ages / 200.0)
    stays = np.floor(usual * np.sqrt(uniform / (1.0 - uniform)) + 0.5)
    return np.clip(stays, 1, LONGEST_STAY).astype(np.int64)


@cache
def _origins() -> Choice:
    return Choice(names().shares)


@cache
def _first_names() -> tuple[pa.Array, Choice]:
    """All first names, and their choice by origin, sex and cohort."""
    known = names()
    lists = [*known.women, *known.men]
    for women, men, _ in known.origins.values():
        lists += [women] * len(known.cohorts) + [men] * len(known.cohorts)
    return _by_rank(lists)


@cache
def _families() -> tuple[pa.Array, Choice]:
    """All family names, and their choice by origin."""
    return _by_rank([names().families, *(families for _, _, families in names().origins.values())])


def _by_rank(texts: list[str]) -> tuple[pa.Array, Choice]:
    """All names of some lists, and a choice among those of one list, the first most often."""
    lists = [text.split() for text in texts]
    everything = list(dict.fromkeys(chain.from_iterable(lists)))
    place = {name: index for index, name in enumerate(everything)}
    matrix = np.zeros((len(lists), len(everything)))
    for weights, listed in zip(matrix, lists, strict=True):
        weights[[place[name] for name in listed]] = zipf(len(listed), 0.7)
    return pa.array(everything, pa.string()), Choice(matrix)
