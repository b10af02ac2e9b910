"""Slow twins of all privacy models, one file per family."""

from tests.privacy.twins import closeness, core, diversity, groups, likeness, numbers, population, tables
from tests.privacy.twins.registry import TWINS

__all__ = ["TWINS", "closeness", "core", "diversity", "groups", "likeness", "numbers", "population", "tables"]
