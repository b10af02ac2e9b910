"""Every word of the pages is data: both languages say everything, and no page says anything by itself."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

import tarnkappe
from tarnkappe.errors import TarnkappeError
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.job.sections import create_model
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, KAnonymity
from tarnkappe.recoding import METHODS
from tarnkappe.risk import ATTACKS
from tarnkappe.risk.identifiers import find_identifiers, propose_roles
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.people import Right, ServiceRole
from tarnkappe.service.settings import ServiceSettings
from tarnkappe.table import STATED, examples, read
from tarnkappe.texts import told
from tarnkappe.web import texts
from tarnkappe.web.builder_forms import FORMS, number
from tarnkappe.web.draft import Draft
from tarnkappe.web.guarantees import parameters_of
from tarnkappe.web.reasons import in_words
from tarnkappe_bench.made_up_files import DEVELOPMENT, HELD_OUT, LATER_SEEN, made_up
from tests.conftest import ROOT

WEB = ROOT / "src" / "tarnkappe" / "web"
SPEAKING = [
    *sorted((WEB / "pages").glob("*.py")),
    *sorted((WEB / "views").glob("*.py")),
    *(WEB / f"{name}.py" for name in ("layout", "path", "work", "audit", "errors", "login", "addresses")),
]
PROSE = re.compile(r"[A-Za-zÄÖÜäöüß]{2,} [A-Za-zÄÖÜäöüß]{2,}|^[A-ZÄÖÜ][a-zäöüß]+")
NO_PROSE = re.compile(
    r"^(card|button|links|model|login|badge|figures|line|soft|small|Cache-Control|Referrer-Policy|X-)|[<({=]|^/|—"
)
"""Classes of the style sheet, headers, markup, scripts and addresses."""


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_have_every_key() -> None:
    assert set(texts.words("en")) == set(texts.words("de"))


def test_a_text_has_the_same_places_in_both_languages() -> None:
    for key, english in texts.words("en").items():
        german = texts.words("de")[key]
        assert english.strip(), key
        assert german.strip(), key
        if not key.endswith("_form"):  # they are shown as they are
            assert places(english) == places(german), key


def test_german_is_no_copy_of_english() -> None:
    same = [
        key for key, text in texts.words("en").items()
        if texts.words("de")[key] == text and " " in text and not key.endswith((".formula", "_example", ".bytes"))
    ]  # fmt: skip
    assert same == []


def docstrings(tree: ast.Module) -> set[int]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or hasattr(
            node, "body"
        ):
            for each in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
                if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                    found.add(id(each.value))
    return found


@pytest.mark.parametrize("path", SPEAKING, ids=lambda path: path.stem)
def test_no_page_says_anything_by_itself(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    not_said = docstrings(tree) | {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise | ast.Assert)
        or (isinstance(node, ast.Call) and "log" in ast.unparse(node.func).split("."))
        for part in ast.walk(node)
    }
    said = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in not_said
    ]
    assert [text for text in said if PROSE.search(text) and not NO_PROSE.search(text)] == []


def test_the_check_for_raw_texts_would_find_one() -> None:
    for said in ("Choose a file", "Hello", "Datei wählen"):
        assert PROSE.search(said), said
        assert not NO_PROSE.search(said)


@pytest.mark.parametrize("path", sorted(WEB.rglob("*.py")), ids=lambda path: str(path.relative_to(WEB)))
def test_every_key_that_a_page_asks_for_is_there(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).split(".")[-1] in ("t", "says")
            and node.args
        ):
            key = next((arg for arg in node.args if isinstance(arg, ast.Constant | ast.JoinedStr)), None)
            if isinstance(key, ast.Constant) and "." in str(key.value):
                assert texts.has(key.value), f"{path.name} asks for {key.value}"
            elif isinstance(key, ast.JoinedStr) and isinstance(key.values[0], ast.Constant):
                begin = str(key.values[0].value)
                assert any(known.startswith(begin) for known in texts.words("en")), (
                    f"{path.name} asks for {begin}…"
                )


def test_every_member_of_a_family_has_its_words() -> None:
    wanted = [f"models.{name}.{key}" for name in MODELS.names for key in ("title", "says", "formula")]
    wanted += [f"parameters.{each.name}" for name in MODELS.names for each in parameters_of(name)]
    wanted += [f"losses.{name}" for name in LOSSES.names]
    wanted += [f"attacks.{name}.{key}" for name in ATTACKS.names for key in ("title", "says")]
    wanted += [f"methods.{name}" for name in ("auto", *METHODS.names)]
    wanted += [f"builders.{name}.{key}" for name in BUILDERS.names for key in ("title", "says")]
    for name, form in FORMS.items():
        wanted += [f"builders.{name}.{each.parameter}{end}" for each in form for end in ("", "_hint")]
        wanted += [f"builders.{name}.{each.parameter}_{option}" for each in form for option in each.options]
    wanted += [f"{section}.{role}" for section in ("role", "role_means", "role_does") for role in STATED]
    wanted += [f"roles.{role}" for role in ServiceRole] + [f"rights.{right}" for right in Right]
    assert [key for key in wanted if not texts.has(key)] == []


def test_numbers_are_written_as_the_language_does() -> None:
    assert texts.number("en", 1234567) == "1,234,567"
    assert texts.number("de", 1234567) == "1.234.567"
    assert texts.number("de", 0.5) == "0,5"
    assert texts.number("de", 123456789.0, 3) == "123.456.789"


@pytest.mark.parametrize("seed", [1, 2])
def test_the_reasons_for_roles_are_told_in_german(seed: int) -> None:
    for column in find_identifiers(examples.hospital(rows=500, seed=seed).table).columns:
        assert in_words("de", column.reason) != column.reason, column.reason
        assert in_words("en", column.reason) == column.reason


def test_every_reason_for_a_role_is_told_in_german(tmp_path: Path) -> None:
    given = set()
    for name, columns in (DEVELOPMENT | LATER_SEEN | HELD_OUT).items():
        path = tmp_path / "people.csv"
        path.write_text(made_up(columns, name, 40, 0.05, ";", 3).text, encoding="utf-8")
        given |= {column.reason for column in propose_roles(read(str(path)))}
    assert len(given) > 30
    assert [reason for reason in given if in_words("de", reason) == reason] == []


def refusals(folder: Path) -> Iterator[Callable[[], object]]:
    """What people run into on the pages, by the real code that refuses it."""
    house = ServiceCore(ServiceSettings(folder=folder / "house"))
    ann = house.people.add("ann", list(ServiceRole))
    for name, content in {
        "a.pdf": b"x",
        "a.csv": b"",
        "b.csv": b"PK\x03\x04",
        "a.xlsx": b"x",
        "a.csv.gz": b"x",
    }.items():
        yield lambda name=name, content=content: house.files.store([content], name, ann)
    yield lambda: house.files.get("0", ann)
    yield lambda: house.jobs.get("0", ann)
    yield lambda: house.gates.status("nowhere", ann)
    yield lambda: house.name_table("nowhere", "t", ann)
    yield lambda: Draft("f").document()
    yield lambda: Draft("f", roles={"age": "quasi-identifier"}).document()
    yield lambda: create_model({"model": "k-anonymity", "k": 0})
    yield lambda: create_model({"model": "equal-closeness", "column": "a", "t": 2.0})
    yield lambda: number("ten")
    patients = examples.hospital(rows=20, seed=1).table
    yield lambda: tarnkappe.anonymize(patients, privacy=[KAnonymity(1000)])
    exact = dict.fromkeys(patients.quasi_identifiers, 0)
    yield lambda: tarnkappe.anonymize(patients, privacy=[KAnonymity(5)], levels=exact)
    house.close()


def test_what_pages_refuse_is_refused_in_german(tmp_path: Path) -> None:
    for refuse in refusals(tmp_path):
        with pytest.raises(TarnkappeError) as refused:
            refuse()
        english = str(refused.value)
        assert told("de", refused.value) != english, english
        assert told("en", refused.value) == english
