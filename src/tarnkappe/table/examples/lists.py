"""What the patients of the made-up hospital are drawn from: names, diagnoses, occupations, places.

The lists are files in `data`, which anybody can read and extend. The postcodes begin with 00, 05, 43 and 62,
which are not in use in Germany, so none is a real place's.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from tarnkappe.schema.written import toml_table


class NameLists(NamedTuple):
    """First and family names, each a text of words, the most frequent first.

    Attributes:
        cohorts: the first birth year of each cohort.
        women: first names of women of the region itself, by cohort.
        men: first names of men of the region itself, by cohort.
        families: family names of the region itself.
        origins: women's, men's and family names by origin.
        shares: by cohort, the share of the region itself and of each origin in their order.
    """

    cohorts: tuple[int, ...]
    women: tuple[str, ...]
    men: tuple[str, ...]
    families: str
    origins: dict[str, tuple[str, str, str]]
    shares: tuple[tuple[float, ...], ...]


class Diagnosis(NamedTuple):
    """An ICD-10 code and who has it.

    Attributes:
        chapter: the chapter of the code.
        block: the block of the code.
        code: the three-character code.
        weight: how frequent it is among those of the ages that it is typical for.
        ages: the name of its age profile.
        season: the name of its season.
        stay: the usual length of stay in days.
        women: the share of women among those who have it, as many women and men given.
    """

    chapter: str
    block: str
    code: str
    weight: float
    ages: str
    season: str
    stay: float
    women: float


class DiagnosisProfiles(NamedTuple):
    """Weights of diagnoses by age and month.

    Attributes:
        age_bands: the first age of each band of the age profiles.
        age_profiles: the weight of each band.
        seasons: the weight of each month of the year.
    """

    age_bands: tuple[int, ...]
    age_profiles: dict[str, list[float]]
    seasons: dict[str, list[float]]


class Occupation(NamedTuple):
    """An occupation in a field of a sector: how frequent it is among working women and men."""

    sector: str
    field: str
    name: str
    women: float
    men: float


class LifeStage(NamedTuple):
    """A stage of life: its first age and the shares of those who do not work, for women and men."""

    first_age: int
    women: list[float]
    men: list[float]


class Working(NamedTuple):
    """Who works, and where.

    Attributes:
        sector: what all are called who do not work.
        not_working: what they are, in groups, in the order of the shares of a stage.
        rural_factors: how much more frequent an occupation is in the country than in a town.
        stages: the stages of life.
    """

    sector: str
    not_working: dict[str, list[str]]
    rural_factors: dict[str, float]
    stages: tuple[LifeStage, ...]


class Place(NamedTuple):
    """A town with several postcodes, or a stretch of country with one for each village.

    Attributes:
        name: a made-up name, for readers of the file.
        first: the first postcode.
        step: the distance between its postcodes.
        postcodes: how many postcodes it has.
        share: the share of the patients who live there.
        rural: whether it is country.
    """

    name: str
    first: int
    step: int
    postcodes: int
    share: float
    rural: bool


def read_toml(name: str) -> dict[str, Any]:
    """A file of this folder's data."""
    return toml_table(_text(f"{name}.toml"))


def _text(file: str) -> str:
    return files("tarnkappe.table.examples").joinpath("data", file).read_text(encoding="utf-8")


def _rows(name: str) -> list[list[str]]:
    return list(csv.reader(_text(f"{name}.csv").splitlines()))[1:]


@cache
def names() -> NameLists:
    """First and family names by sex, birth cohort and origin of the family."""
    data = read_toml("names")
    cohorts = data["cohorts"]
    return NameLists(
        tuple(each["first_year"] for each in cohorts),
        tuple(each["women"] for each in cohorts),
        tuple(each["men"] for each in cohorts),
        data["families"],
        {each["name"]: (each["women"], each["men"], each["families"]) for each in data["origins"]},
        tuple(tuple(each["shares"]) for each in cohorts),
    )


@cache
def diagnoses() -> tuple[Diagnosis, ...]:
    """A choice of ICD-10 codes in the order of their blocks and chapters."""
    return tuple(
        Diagnosis(chapter, block, code, float(weight), ages, season, float(stay), float(women))
        for chapter, block, code, weight, ages, season, stay, women in _rows("diagnoses")
    )


@cache
def diagnosis_profiles() -> DiagnosisProfiles:
    """At what age and in which season people have the diagnoses."""
    data = read_toml("diagnoses")
    return DiagnosisProfiles(tuple(data["age_bands"]), data["age_profiles"], data["seasons"])


@cache
def occupations() -> tuple[Occupation, ...]:
    """What people do, in the order of fields and sectors."""
    return tuple(
        Occupation(sector, field, name, float(women), float(men))
        for sector, field, name, women, men in _rows("occupations")
    )


@cache
def working() -> Working:
    """Who works at which age, and what the others are."""
    data = read_toml("occupations")
    stages = tuple(LifeStage(each["first_age"], each["women"], each["men"]) for each in data["stages"])
    return Working(data["sector"], data["not_working"], data["rural_factors"], stages)


@cache
def places() -> tuple[Place, ...]:
    """Made-up towns and villages around the hospital."""
    return tuple(
        Place(name, int(first), int(step), int(postcodes), float(share), rural == "yes")
        for name, first, step, postcodes, share, rural in _rows("postcodes")
    )
