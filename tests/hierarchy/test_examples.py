"""The examples in the docstrings and in the how-to run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import tarnkappe.hierarchy
from tarnkappe.hierarchy import BUILDERS
from tests.conftest import ROOT

MODULES = [module.name for module in pkgutil.iter_modules(tarnkappe.hierarchy.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name) -> None:
    assert doctest.testmod(importlib.import_module(f"tarnkappe.hierarchy.{name}")).failed == 0


@pytest.mark.parametrize("builder", list(BUILDERS), ids=lambda builder: builder.name)
def test_every_builder_shows_an_example(builder) -> None:
    assert ">>> " in (builder.__doc__ or "")


def test_the_examples_of_the_how_to_run() -> None:
    page = ROOT / "docs" / "how-to" / "hierarchies.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0
