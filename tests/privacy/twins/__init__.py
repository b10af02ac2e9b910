"""Slow twins of all privacy models, one file per family."""

from tests.privacy.twins import core
from tests.privacy.twins.registry import TWINS

__all__ = ["TWINS", "core"]
