"""Twins of the models on sizes: of the whole table, of attacks that pay, and of sampled rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tarnkappe.privacy.population_estimators import population_uniques
from tests.privacy.twins.diversity import exact
from tests.privacy.twins.registry import twin
from tests.random_tables import group


def sizes_of(everyone, example):
    return [len(rows) for rows in group(everyone, example.quasi_identifiers).values()]


@twin("average-risk")
def average_risk(model, members, everyone, population, example):
    risks = [Fraction(1, size) for size in sizes_of(everyone, example) for _ in range(size)]
    value = sum(risks) / len(risks)
    return value, value <= Fraction(str(model.threshold))


@twin("records-at-risk")
def records_at_risk(model, members, everyone, population, example):
    risks = [Fraction(1, size) for size in sizes_of(everyone, example) for _ in range(size)]
    value = Fraction(sum(risk > exact(model.highest_risk) for risk in risks), len(risks))
    return value, value <= exact(model.share)


@twin("sample-uniqueness")
def sample_uniqueness(model, members, everyone, population, example):
    value = Fraction(sum(size == 1 for size in sizes_of(everyone, example)), len(everyone))
    return value, value <= Fraction(str(model.threshold))


@twin("population-uniqueness")
def population_uniqueness(model, members, everyone, population, example):
    """Only the class sizes are counted slowly; the estimators have tests of their own."""
    size = model.population_size or round(len(everyone) / Fraction(str(model.sampling_fraction)))
    value = population_uniques(np.array(sizes_of(everyone, example)), size, model.estimator).share
    return value, value <= float(model.threshold)


def lost_information(members, example):
    """By how much the labels of a class narrow its rows down less than their values did."""
    lost = most = 0.0
    for name, maps in example.maps.items():
        domain = list(maps[0])
        seen = members[0][name]
        alike = [{value for value in domain if labels[value] == seen} for labels in maps] + [{seen}]
        lost += math.log(max(map(len, alike)))
        most += math.log(len(domain))
    return lost / most if most else 0.0


def payout(model, members, people, example):
    benefit = model.publisher_benefit * (1 - lost_information(members, example))
    pays = Fraction(str(model.adversary_gain)) > Fraction(str(model.adversary_cost)) * people
    value = benefit - (model.publisher_loss / people if pays else 0)
    return value, value > 1e-9


def attackers_payout(model, people):
    value = Fraction(str(model.adversary_gain)) / people - Fraction(str(model.adversary_cost))
    return value, value <= 0


@twin("prosecutor-profitability")
def prosecutor_profitability(model, members, everyone, population, example):
    return payout(model, members, len(members), example)


@twin("journalist-profitability")
def journalist_profitability(model, members, everyone, population, example):
    return payout(model, members, len(population), example)


@twin("prosecutor-no-attack")
def prosecutor_no_attack(model, members, everyone, population, example):
    return attackers_payout(model, len(members))


@twin("journalist-no-attack")
def journalist_no_attack(model, members, everyone, population, example):
    return attackers_payout(model, len(population))


@twin("differential-privacy")
def differential_privacy(model, members, everyone, population, example):
    return len(members), len(members) >= model.k
