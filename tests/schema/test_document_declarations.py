"""Every key of every document is declared completely: bounds, largest lengths, and a sentence for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import inspect

from tarnkappe.cli.schema import DOCUMENTS, document_kind
from tarnkappe.risk.background_files import AnswersDocument, RulesDocument
from tarnkappe.schema import fields_of
from tarnkappe.schema.described import alternatives
from tarnkappe.service.work import KINDS
from tests.schema.test_declarations import ends_the_process, parts

ALL = {
    **{name: document_kind(name) for name in DOCUMENTS},
    "rules": RulesDocument,
    "answers": AnswersDocument,
    **{f"a job: {kind.name}": kind.document for kind in KINDS},
}


def sections(kind: Any, known: set[type]) -> Iterator[type]:
    """A class of documents and all classes in it."""
    if kind in known:
        return
    known.add(kind)
    yield kind
    for field in fields_of(kind):
        for part in parts(field.info):
            if isinstance(part, inspect.StructType):
                yield from sections(part.cls, known)


@pytest.mark.parametrize("name", ALL)
def test_every_key_is_declared_completely(name: str) -> None:
    lacking = []
    for section in sections(ALL[name], set()):
        for field in fields_of(section):
            where = f"{section.__name__}.{field.name}"
            lacking += [f"{where} has no sentence"] * (not field.help)
            lacking += [f"{where} would end the process"] * ends_the_process(field.info)
            lacking += [f"{where}: {each}" for each in parts(field.info) if not bounded(each)]
    assert lacking == []


def bounded(info: inspect.Type) -> bool:
    """Whether a number has two bounds, and a text, a list or a table a largest length."""
    if isinstance(info, inspect.IntType | inspect.FloatType):
        return None not in (info.ge if info.gt is None else info.gt, info.le if info.lt is None else info.lt)
    if isinstance(info, inspect.StrType | inspect.VarTupleType | inspect.DictType):
        return info.max_length is not None
    return True


def test_the_types_of_a_key_are_known() -> None:
    """What may be anything is listed here."""
    free = {
        f"{section.__name__}.{field.name}"
        for kind in ALL.values()
        for section in sections(kind, set())
        for field in fields_of(section)
        if any(isinstance(each, inspect.AnyType) for part in parts(field.info) for each in alternatives(part))
    }
    assert free == {"RestRequestCheck.expert"}
