"""Every sentence of the package has a code of its own and a translation with the same places."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest

from tarnkappe.errors import Filling
from tarnkappe.texts.catalogue import PLACES, read_po

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "src" / "tarnkappe" / "texts" / "de.po"


def _tool() -> ModuleType:
    described = importlib.util.spec_from_file_location("texts_tool", ROOT / "tools" / "texts.py")
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    sys.modules["texts_tool"] = module
    described.loader.exec_module(module)
    return module


TOOL = _tool()


@pytest.fixture(scope="module")
def said() -> list[object]:
    return list(TOOL.sayings(TOOL.trees()))


def test_every_error_has_a_code_and_a_literal_sentence(said: list[object]) -> None:
    wrong = [f"{each.path}:{each.line}" for each in said if not each.code or each.template is None]
    assert wrong == []
    assert len(said) > 1_900


def test_a_code_has_one_sentence(said: list[object]) -> None:
    sentences: dict[str, set[str]] = defaultdict(set)
    for each in said:
        sentences[each.code].add(each.template)
    assert {code: texts for code, texts in sentences.items() if len(texts) > 1} == {}


def test_the_catalogue_is_what_was_collected_and_whole(said: list[object]) -> None:
    text = CATALOGUE.read_text(encoding="utf-8")
    found = TOOL.merged(TOOL.collected(said), text)
    assert TOOL.amiss(found) == []
    assert TOOL.written(found) == text


def test_sentences_can_be_filled_in() -> None:
    for each in read_po(CATALOGUE.read_text(encoding="utf-8")):
        for template in (each.english, each.translation):
            names = {place[1:-1].partition("!")[0].partition(":")[0] for place in PLACES.findall(template)}
            assert Filling().vformat(template, (), dict.fromkeys(names, 1)), each.code


def test_a_sentence_about_one_thing_never_says_several() -> None:
    nouns = "rows|lines|people|groups|classes|values|Zeilen|Personen|Gruppen|Klassen|Werte"
    several = re.compile(rf"\b1 (different |verschiedene )?({nouns})\b")
    for each in read_po(CATALOGUE.read_text(encoding="utf-8")):
        for template in (each.english, each.translation):
            places = [place[1:-1] for place in PLACES.findall(template)]
            counted = {place.partition(":")[0] for place in places if "|" in place}
            values = dict.fromkeys((re.split("[:!]", place)[0] for place in places), 5)
            filled = Filling().vformat(template, (), values | dict.fromkeys(counted, 1))
            assert not counted or not several.search(filled), each.code


def _module(text: str) -> dict[str, object]:
    import ast

    base = ast.parse("class TarnkappeError(Exception): ...\nclass ColumnError(TarnkappeError): ...")
    return {"errors.py": base, "it.py": ast.parse(text)}


@pytest.mark.parametrize(
    "text",
    [
        "raise ColumnError('there is no column')",
        "raise ColumnError(f'there is no {column}')",
        "raise ColumnError('a.code', f'there is no {column}')",
        "raise ColumnError('a.code', sentence, column=column)",
    ],
)
def test_other_forms_are_found(text: str) -> None:
    with pytest.raises(SystemExit, match=r"it\.py:1"):
        TOOL.collected(TOOL.sayings(_module(text)))


def test_two_sentences_with_one_code_are_found() -> None:
    text = "raise ColumnError('a.code', 'one')\nraise ColumnError('a.code', 'two')"
    with pytest.raises(SystemExit, match="another sentence"):
        TOOL.collected(TOOL.sayings(_module(text)))


def test_a_changed_sentence_is_fuzzy_and_other_places_are_noticed() -> None:
    entries = TOOL.collected(TOOL.sayings(_module("raise ColumnError('a.code', 'no {x}')")))
    assert TOOL.amiss(entries) == ["a.code: not translated"]
    before = 'msgctxt "a.code"\nmsgid "not {x}"\nmsgstr "nicht {x}"\n'
    assert TOOL.amiss(TOOL.merged(entries, before)) == ["a.code: the English has changed"]
    other = 'msgctxt "a.code"\nmsgid "no {x}"\nmsgstr "kein {y}"\n'
    assert TOOL.amiss(TOOL.merged(entries, other)) == ["a.code: other places than the English has"]
