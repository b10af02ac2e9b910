"""The five evaluation data sets as shapes: what has to be met exactly, and made-up content.

Rows, column names, distinct values and levels are those of the published evaluation of full-domain
searches. Two things are ours, since the publication lost them: ATUS's labor force status has 7
distinct values, and its sensitive column is the highest level of school completed (this one follows
from the sizes of the lattice, 34,992 and 8,748).

Weights, dependences, names of values and groups are invented.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from tarnkappe.table.examples.domains import masked, named, numbered, numbers
from tarnkappe.table.examples.draw import Weights, zipf
from tarnkappe.table.examples.model import (
    Attribute,
    Link,
    Shape,
    dominated,
    hill,
    near,
    only_in,
    scattered,
    uneven,
)


def shares(*values: float) -> Weights:
    """Weights given one by one."""
    return np.array(values, dtype=np.float64)


@cache
def adult() -> Shape:
    """A census of adults."""
    education = {
        "basic": {
            "primary": ["no school", "grades 1-4", "grades 5-6", "grades 7-8"],
            "lower secondary": ["grade 9", "grade 10"],
        },
        "secondary": {
            "upper secondary": ["grade 11", "grade 12", "high school"],
            "vocational": ["evening school", "technical school"],
        },
        "higher": {
            "undergraduate": ["some college", "bachelor"],
            "graduate": ["master", "state examination", "doctorate"],
        },
    }
    marital_status = {
        "not married": ["never married", "cohabiting"],
        "married": ["married", "registered partners"],
        "formerly married": ["separated", "divorced", "widowed"],
    }
    work_class = {
        "private": ["company", "family business"],
        "self-employed": ["freelance", "owner"],
        "public": ["local office", "state office", "federal office"],
    }
    return Shape(
        "ADULT",
        "a census of adults",
        30_162,
        (
            Attribute("sex", named(["female", "male"]), shares(1, 2)),
            Attribute("age", numbers("age", 17, 72, (5, 10, 20)), hill(72, 0.24, 0.34)),
            Attribute(
                "race",
                named(["race A", "race B", "race C", "race D", "race E"]),
                shares(88, 8, 2.5, 0.9, 0.6),
                (Link("native-country", 1, uneven(3)),),
            ),
            Attribute(
                "marital-status",
                named(marital_status),
                shares(40, 1, 48, 0.2, 2.5, 10, 4),
                (Link("age", 2, near(0.35)), Link("sex", 0, uneven(1.6))),
            ),
            Attribute(
                "education",
                named(education),
                shares(0.1, 0.4, 0.9, 1.7, 1.4, 2.4, 3.2, 1.2, 36, 3.8, 3.2, 23, 17, 4.2, 1.2, 0.9),
                (Link("age", 2, uneven(1.8)),),
            ),
            Attribute("native-country", numbered("country", 41, 6), dominated(41, 0.92, 1.1)),
            Attribute(
                "workclass",
                named(work_class),
                shares(74, 0.1, 8, 3.6, 7, 4.2, 3.1),
                (Link("education", 2, uneven(1.6)),),
            ),
            Attribute(
                "occupation",
                numbered("occupation", 14, 4),
                scattered(zipf(14, 0.8)),
                (Link("education", 1, near(0.4)), Link("sex", 0, uneven(4))),
                sensitive=True,
            ),
            Attribute(
                "salary-class",
                named(["lower", "higher"]),
                shares(62, 38),
                (Link("education", 2, near(0.6)), Link("sex", 0, near(0.9))),
            ),
        ),
    )


@cache
def cup() -> Shape:
    """Donors of a charity."""
    zips = [f"{1000 + index * 98_999 // 13_293:05}" for index in range(13_294)]
    income = {"lower": ["income 1", "income 2"], "middle": ["income 3", "income 4", "income 5"]}
    return Shape(
        "CUP",
        "donors of a charity",
        63_441,
        (
            Attribute("zip", masked(zips), scattered(zipf(13_294, 0.55))),
            Attribute("age", numbers("age", 1, 94, (5, 10, 20)), hill(94, 0.65, 0.3)),
            Attribute(
                "gender",
                named(["female", "male", "joint account", "unknown", "company", "not asked"]),
                shares(54, 41, 2.5, 1.5, 0.7, 0.3),
                (Link("age", 3, uneven(1.5)),),
            ),
            Attribute(
                "income",
                named(income | {"higher": ["income 6", "income 7"]}),
                shares(13, 18, 12, 18, 22, 10, 9),
                (Link("age", 3, uneven(1.6)),),
            ),
            Attribute("state", numbered("state", 53), np.ones(53), (Link("zip", 3, near(0.003)),)),
            Attribute(
                "ramntall",
                numbers("ramntall", 13, 814, (25, 100, 400)),
                zipf(814, 0.9),
                (Link("income", 1, uneven(1.5)),),
                sensitive=True,
            ),
            Attribute(
                "ngiftall",
                numbers("ngiftall", 1, 81, (5, 10, 20)),
                zipf(81, 0.8),
                (Link("ramntall", 2, near(0.25)),),
            ),
            Attribute(
                "minramnt",
                numbers("minramnt", 0, 58, (5, 10, 20)),
                scattered(zipf(58, 1.5)),
                (Link("ngiftall", 3, uneven(4)),),
            ),
        ),
    )


@cache
def fars() -> Shape:
    """People in road accidents."""
    no_date = ["not applicable", "unknown"]
    month = {
        "no date": {"no month": no_date},
        "first half": {"Q1": ["January", "February", "March"], "Q2": ["April", "May", "June"]},
        "second half": {
            "Q3": ["July", "August", "September"],
            "Q4": ["October", "November", "December"],
        },
    }
    day = {
        "no date": {"no day": no_date},
        "first half": {
            "days 1-8": [f"day {number:02}" for number in range(1, 9)],
            "days 9-16": [f"day {number:02}" for number in range(9, 17)],
        },
        "second half": {
            "days 17-24": [f"day {number:02}" for number in range(17, 25)],
            "days 25-31": [f"day {number:02}" for number in range(25, 32)],
        },
    }
    injury = {
        "not known": ["not reported", "unknown"],
        "not fatal": ["none", "possible", "minor", "serious"],
        "fatal": ["fatal", "died before the accident"],
    }
    fatal_only = Link("iinjury", 1, only_in(context=2, otherwise=0))
    return Shape(
        "FARS",
        "people in road accidents",
        100_937,
        (
            Attribute("iage", numbers("iage", 0, 99, (5, 10, 20, 40)), hill(99, 0.22, 0.3)),
            Attribute(
                "irace",
                numbered("race", 20, 5),
                scattered(dominated(20, 0.6, 1.2)),
                (Link("iinjury", 1, uneven(6)),),
            ),
            Attribute("ideathmon", named(month), shares(1, 0.02, *[0.08] * 12), (fatal_only,)),
            Attribute(
                "ideathday",
                named(day),
                shares(1, 0.05, *[0.03] * 31),
                (fatal_only, Link("ideathmon", 1, uneven(1.2))),
            ),
            Attribute(
                "isex",
                named(["female", "male", "unknown"]),
                shares(33, 66, 1),
                (Link("iage", 3, uneven(1.4)),),
            ),
            Attribute(
                "ihispanic",
                numbered("origin", 10, 3),
                dominated(10, 0.55, 1.0),
                (Link("irace", 1, uneven(4)),),
            ),
            Attribute(
                "istatenum",
                numbered("state", 51, 13, 4),
                scattered(zipf(51, 0.8)),
                (Link("irace", 1, uneven(2)),),
                sensitive=True,
            ),
            Attribute(
                "iinjury",
                named(injury),
                shares(1, 1, 26, 10, 16, 15, 31, 0.05),
                (Link("iage", 3, uneven(1.4)),),
            ),
        ),
    )


@cache
def atus() -> Shape:
    """A survey of how people use their time."""
    marital_status = {
        "not married": ["never married", "cohabiting"],
        "married": ["married", "married, apart"],
        "formerly married": ["separated", "divorced", "widowed"],
    }
    citizenship = {
        "citizen by birth": ["born here", "born in a territory", "born abroad"],
        "other": ["naturalized", "not a citizen", "unknown"],
    }
    labor_force = {
        "in work": ["at work", "absent from work"],
        "looking for work": ["laid off", "unemployed"],
        "not in the labor force": ["retired", "disabled", "other"],
    }
    return Shape(
        "ATUS",
        "a survey of how people use their time",
        539_253,
        (
            Attribute(
                "region",
                named({"north": ["northeast", "midwest"], "south": ["west", "south"]}),
                shares(18, 24, 22, 36),
            ),
            Attribute("age", numbers("age", 15, 83, (5, 10, 20, 40)), hill(83, 0.3, 0.45)),
            Attribute("sex", named(["female", "male", "unknown"]), shares(53, 46.9, 0.1)),
            Attribute(
                "race",
                numbered("race", 23, 5),
                dominated(23, 0.82, 1.6),
                (Link("region", 0, uneven(1.6)),),
            ),
            Attribute(
                "marital status",
                named(marital_status),
                shares(35, 3, 48, 1.2, 3, 12, 6),
                (Link("age", 2, near(0.3)), Link("sex", 0, uneven(1.5))),
            ),
            Attribute(
                "citizenship status",
                named(citizenship),
                shares(86, 0.6, 1, 5.5, 6.5, 0.1),
                (Link("birthplace", 1, uneven(3)),),
            ),
            Attribute(
                "birthplace",
                numbered("birthplace", 155, 12),
                dominated(155, 0.86, 1.1),
                (Link("race", 1, uneven(2)),),
            ),
            Attribute(
                "highest level of school completed",
                numbered("school", 18, 6, 3),
                hill(18, 0.6, 0.3),
                (Link("age", 2, uneven(1.8)), Link("race", 1, near(1.0))),
                sensitive=True,
            ),
            Attribute(
                "labor force status",
                named(labor_force),
                shares(58, 3, 0.6, 4, 18, 4, 13),
                (Link("age", 2, near(0.45)), Link("sex", 0, uneven(1.5))),
            ),
        ),
    )


@cache
def ihis() -> Shape:
    """A yearly survey of health."""
    return Shape(
        "IHIS",
        "a yearly survey of health",
        1_193_504,
        (
            Attribute("year", numbers("year", 1997, 13, (2, 4, 8, 16)), hill(13, 0.2, 0.9)),
            Attribute(
                "quarter",
                named({"first half": ["quarter 1", "quarter 2"], "second half": ["quarter 3", "quarter 4"]}),
                shares(24, 25, 26, 25),
            ),
            Attribute(
                "region",
                named({"north": ["northeast", "midwest"], "south": ["west", "south"]}),
                shares(18, 23, 23, 36),
            ),
            Attribute(
                "pernum", numbers("pernum", 1, 25, (5, 10)), zipf(25, 2.8), (Link("age", 2, uneven(2)),)
            ),
            Attribute("age", numbers("age", 0, 86, (5, 10, 20)), hill(86, 0.3, 0.6)),
            Attribute(
                "marstat",
                numbered("status", 10, 3),
                shares(25, 28, 34, 1, 1.5, 3, 6, 4, 0.5, 0.2),
                (Link("age", 2, near(0.4)),),
            ),
            Attribute("sex", named(["female", "male"]), shares(52, 48)),
            Attribute(
                "racea",
                numbered("race", 16),
                dominated(16, 0.76, 1.5),
                (Link("region", 0, uneven(2)),),
            ),
            Attribute(
                "educ",
                numbered("school", 26),
                hill(26, 0.55, 0.35),
                (Link("age", 2, near(0.5)), Link("racea", 0, uneven(1.5))),
                sensitive=True,
            ),
        ),
    )


SHAPES: dict[str, Callable[[], Shape]] = {
    "ADULT": adult,
    "CUP": cup,
    "FARS": fars,
    "ATUS": atus,
    "IHIS": ihis,
}
