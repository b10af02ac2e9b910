"""Documents: the files that people write, and what they send to a service.

A document is a class of parameters whose fields are keys and sections. `parse` looks at all of it: unknown
keys, missing ones, wrong values, members of families by their names, and what classes say between their
parameters; all that is wrong is told at once, each with its place. Files that a document names start at the
folder that is given; `load` makes them absolute, so that it does not matter where a process works.

Files are read by `written.py`.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, TypeVar

from tarnkappe.errors import JobError, Reason, TarnkappeError
from tarnkappe.schema.parameters import Parameters, fields_of
from tarnkappe.schema.problem import (
    LONGEST_SENTENCE,
    InvalidError,
    Path,
    Problem,
    hint_of,
    listed,
    place_of,
    rule,
    shown,
)
from tarnkappe.schema.written import read_toml

if TYPE_CHECKING:
    from msgspec import inspect

Made = TypeVar("Made", bound=Parameters)

SHOWN_PROBLEMS = 10
"""A sentence has so many problems at most; the error has all of them."""
MOST_PROBLEMS = 100
FILE_ADDRESS = re.compile(r"((?:sqlite|duckdb)[+\w]*):///(?!/|:memory:)(.+)", re.DOTALL)
"""The address of a database that is a file, named relatively."""


class DocumentError(JobError, InvalidError):
    """A document does not fit what it should say; `problems` has all that is wrong with it."""


def load(kind: type[Made], path: str | FilePath, what: str) -> Made:
    """A document from a file; what it names relatively lies beside it, and is absolute from then on."""
    return parse(kind, read_toml(path, what), FilePath(path).absolute().parent, name=str(path))


def parse(kind: type[Made], content: object, folder: FilePath = FilePath(), *, name: str = "") -> Made:
    """A document from plain data.

    Args:
        kind: its class.
        content: tables, lists, texts and numbers.
        folder: where the files are that it names relatively.
        name: what a sentence begins with: the file it comes from.
    """
    reader = _Reader(folder)
    made = reader.value(content, _info(kind), ())
    if reader.problems or not isinstance(made, kind):
        raise document_error(reader.problems, content, name)
    return made


def document_error(problems: Iterable[Problem], content: object, name: str = "") -> DocumentError:
    """The error that tells of these problems, by their places in a document."""
    order = {key: place for place, key in enumerate(content)} if isinstance(content, Mapping) else {}
    found = tuple(sorted(problems, key=lambda each: order.get(each.path[0], -1) if each.path else -1))
    lines = [_line(each, content) for each in found[:SHOWN_PROBLEMS]]
    if len(found) > SHOWN_PROBLEMS:
        rest = len(found) - SHOWN_PROBLEMS
        lines.append(Reason("schema.and-more", "and {rest} more", rest=rest))
    reason = lines[0]
    if len(found) > 1:
        told = functools.reduce(
            lambda above, line: Reason("schema.lines", "{above}\n  {line}", above=above, line=line), lines, ""
        )
        reason = Reason("schema.things-wrong", "{found} things are wrong:{told}", found=len(found), told=told)
    error = DocumentError.because(reason.within(name) if name else reason)
    error.owner, error.problems = name, found
    return error


def _line(problem: Problem, content: object) -> Reason:
    place, sentence = section_place(problem.path, content), problem.sentence
    if len(sentence) > LONGEST_SENTENCE:
        sentence = Reason.said("", {}, sentence[:LONGEST_SENTENCE])
    if problem.args.get("section"):
        place = f"[{'.'.join(map(str, problem.path))}]"
    return sentence.within(place) if place else sentence


def section_place(path: Path, content: object) -> str:
    """Where something stands in a document, as its author wrote it.

    >>> section_place(("privacy", 1, "l"), {"privacy": [{}, {"l": 1}]})
    '[[privacy]] 2, l'
    >>> section_place(("columns", "age", "role"), {"columns": {"age": {}}})
    '[columns.age], role'
    """
    section: list[str] = []
    rest, at = list(path), content
    while rest and isinstance(at, Mapping):
        at = at.get(rest[0])
        if isinstance(at, Mapping):
            section.append(place_of((rest.pop(0),)))
            continue
        entry = rest[1] if len(rest) > 1 else None
        if isinstance(at, list) and isinstance(entry, int) and isinstance(at[entry], Mapping):
            head = f"[[{'.'.join([*section, str(rest[0])])}]] {entry + 1}"
            return ", ".join(filter(None, [head, place_of(tuple(rest[2:]))]))
    head = f"[{'.'.join(section)}]" if section else ""
    return ", ".join(filter(None, [head, place_of(tuple(rest))]))


@functools.cache
def _info(kind: type) -> inspect.Type:
    from msgspec import inspect

    return inspect.type_info(kind)


class _Reader:
    """One pass over a document, which notes all that is wrong and makes what is right."""

    def __init__(self, folder: FilePath) -> None:
        self._folder = folder
        self.problems: list[Problem] = []

    def value(
        self, value: object, info: inspect.Type, path: Path, said: Mapping[str, Any] | None = None
    ) -> Any:
        """What a value becomes; anything if there are problems."""
        from msgspec import inspect

        from tarnkappe.schema.described import LISTED, alternatives
        from tarnkappe.schema.explain import DEEPEST, explain

        if len(path) > DEEPEST:
            return self._note(Problem("schema.too-deep", path[:DEEPEST]))
        extra = extra_of(info) or said or {}
        value = self._located(value, info)
        kinds = list(alternatives(info))
        if not holds_structs(info):
            return self._leaf(value, info, path)
        if isinstance(value, Mapping):
            structs = [each for each in kinds if isinstance(each, inspect.StructType)]
            if structs:
                return self._chosen(value, structs, path, extra)
            for each in kinds:
                if isinstance(each, inspect.DictType) and _fits(len(value), each):
                    return self._table(value, each, path)
        if isinstance(value, list | tuple):
            for each in kinds:
                if isinstance(each, LISTED) and _fits(len(value), each):
                    return tuple(
                        self.value(one, each.item_type, (*path, place), extra)
                        for place, one in enumerate(value)
                    )
        found = list(itertools.islice(explain(value, info, path), MOST_PROBLEMS))
        for problem in found:
            if problem.code == "schema.type" and problem.path == path and (hint := _help(info)):
                self._note(Problem("schema.section", path, {**problem.args, "hint": hint}))
            else:
                self._note(problem)
        return value

    def _located(self, value: object, info: inspect.Type) -> object:
        """A value in which files are absolute, also by name in a table."""
        from msgspec import inspect

        from tarnkappe.schema.described import alternatives

        if isinstance(value, str):
            return located(value, self._folder) if value and extra_of(info).get("kind") == "file" else value
        if not isinstance(value, Mapping):
            return value
        for each in alternatives(info):
            if isinstance(each, inspect.DictType) and extra_of(each.value_type).get("kind") == "file":
                return {key: self._located(one, each.value_type) for key, one in value.items()}
        return value

    def _leaf(self, value: object, info: inspect.Type, path: Path) -> object:
        from tarnkappe.schema.explain import explain, plain

        given = plain(value, info)
        for problem in itertools.islice(explain(given, info, path), MOST_PROBLEMS):
            self._note(problem)
        return given

    def _table(self, value: Mapping[Any, Any], info: inspect.DictType, path: Path) -> dict[Any, Any]:
        made = {}
        for key, each in value.items():
            where = (*path, key if isinstance(key, str) else shown(key))
            made[self._leaf(key, info.key_type, where)] = self.value(each, info.value_type, where)
        return made

    def _chosen(
        self,
        value: Mapping[Any, Any],
        structs: Sequence[inspect.StructType],
        path: Path,
        extra: Mapping[str, Any],
    ) -> Any:
        """The member that a table names by its key, or the one that it can only be."""
        key = structs[0].tag_field
        if key is None:
            return self._struct(value, structs[0], path)
        for each in structs:
            if key not in value and any(name in value for name in getattr(each.cls, "told_by", ())):
                return self._struct(value, each, path)
        known = {str(each.tag): each for each in structs if not hasattr(each.cls, "told_by")}
        name = value.get(key, extra.get("otherwise") or None)
        what = extra.get("what") or "member"
        if name is None:
            args = {"hint": f"which {what} is it? Known are {listed(known)}"}
            return self._note(Problem("schema.missing-key", (*path, key), args))
        if not isinstance(name, str):
            args = {"expected": f"the name of a {what}, a text,", "got": shown(name)}
            return self._note(Problem("schema.type", (*path, key), args))
        if name not in known:
            args = {"what": what, "got": shown(name), "hint": hint_of(name, known)}
            return self._note(Problem("schema.member", (*path, key), args))
        return self._struct(value, known[name], path)

    def _struct(self, value: Mapping[Any, Any], info: inspect.StructType, path: Path) -> Any:
        before = len(self.problems)
        fields = {field.encode_name: field for field in info.fields}
        what = Reason("schema.key", "key") if path else Reason("schema.part", "section")
        unknown = (key for key in value if key not in fields and key != info.tag_field)
        for key in itertools.islice(unknown, MOST_PROBLEMS - before):
            hint = hint_of(key, fields) if fields else Reason("schema.there-are-none", "there are none")
            where = key if isinstance(key, str) else shown(key)
            self._note(Problem("schema.unknown", (*path, where), {"what": what, "hint": hint}))
        given = {}
        for name, field in fields.items():
            if name in value:
                given[field.name] = self.value(value[name], field.type, (*path, name))
            elif isinstance(field.default, Parameters):  # a section with files that are relative, too
                given[field.name] = self.value({}, field.type, (*path, name))
            elif isinstance(field.default, str) and extra_of(field.type).get("kind") == "file":
                given[field.name] = located(field.default, self._folder)
            elif field.required:
                args = {"hint": _help(field.type) or "it must be there", "section": holds_structs(field.type)}
                self._note(Problem("schema.missing-key", (*path, name), args))
        if len(self.problems) > before:
            return None
        try:
            return info.cls(**given)
        except InvalidError as error:
            found = error.problems or (refused(error.reason),)
        except TarnkappeError as error:
            found = (refused(error.reason),)
        for problem in found:
            self._note(problem.within(*path))
        return None

    def _note(self, problem: Problem) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)


def holds_structs(info: inspect.Type) -> bool:
    """Whether a type has classes of parameters somewhere, so that documents are read section by section."""
    from msgspec import inspect

    from tarnkappe.schema.described import LISTED, alternatives

    for each in alternatives(info):
        if isinstance(each, inspect.StructType):
            return True
        if isinstance(each, LISTED) and holds_structs(each.item_type):
            return True
        if isinstance(each, inspect.DictType) and holds_structs(each.value_type):
            return True
    return False


def _fits(length: int, info: Any) -> bool:
    """Whether there are not too many entries to be looked at one by one."""
    return info.max_length is None or length <= info.max_length


def sections_in(kind: type[Parameters]) -> Iterator[tuple[str, type[Parameters]]]:
    """The sections of a kind of document that always have the same keys, each with how it is written."""
    from msgspec import inspect

    from tarnkappe.schema.described import alternatives

    for field in fields_of(kind):
        for each in alternatives(field.info):
            inner = each.value_type if isinstance(each, inspect.DictType) else each
            place = f"[{field.name}.NAME]" if inner is not each else f"[{field.name}]"
            for one in alternatives(inner):
                found: Any = one.cls if isinstance(one, inspect.StructType) else None
                if found is not None and one.tag_field is None:  # type: ignore[attr-defined]
                    yield place, found
                elif found is not None and found is type(field.default):
                    yield place, found.__bases__[0]


def refused(reason: Reason, *path: str | int) -> Problem:
    """What somebody else has said is wrong."""
    return rule("document.refused", "{reason}", *path, reason=reason)


def extra_of(info: inspect.Type) -> Mapping[str, Any]:
    """What a declaration says beside the type: kind, unit, what a member is."""
    from msgspec import inspect

    found: dict[str, Any] = {}
    while isinstance(info, inspect.Metadata):
        found = {**(info.extra or {}), **{key: each for key, each in found.items() if each}}
        info = info.type
    return found


def _help(info: inspect.Type) -> str:
    from msgspec import inspect

    said = info.extra_json_schema or {} if isinstance(info, inspect.Metadata) else {}
    return str(said.get("description", ""))


def located(value: str, folder: FilePath) -> str:
    """Where a file is that a document names, which starts at the folder of the document.

    >>> located("sqlite:///clinic.db", FilePath("/srv")), located("postgresql://host/db", FilePath("/srv"))
    ('sqlite:////srv/clinic.db', 'postgresql://host/db')
    """
    if "://" not in value:
        return str(folder / value)
    file = FILE_ADDRESS.fullmatch(value)
    return f"{file[1]}:///{folder / file[2]}" if file else value
