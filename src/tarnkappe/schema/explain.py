"""All that is wrong with a value, by walking its type.

msgspec decides whether a value is taken, and says of the first thing that is wrong only a sentence of its
own. Here everything that is wrong is found, with codes. Nothing becomes acceptable by it: where this walk
finds nothing, what msgspec refused stays refused. The one thing that is decided here are the bounds of
fractions written as texts.
"""

from __future__ import annotations

import datetime
import itertools
import math
import numbers
import operator
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from msgspec import inspect

from tarnkappe.errors import Reason
from tarnkappe.schema.described import LISTED, alternatives, described, described_any
from tarnkappe.schema.problem import Path, Problem, hint_of, listed, near, shown
from tarnkappe.schema.types import FRACTION, MOST, NO_NUL

DEEPEST = 20
MOST_PROBLEMS = 20
"""More are not looked for: nobody reads them, and a table may have as many wrong keys as there is memory."""
PARAMETER = Reason("schema.parameter", "parameter")
TAKES = Reason("schema.it-takes", "it takes")
TAKES_NONE = Reason("schema.it-takes-none", "it takes none")
PATTERNS = {
    NO_NUL: Reason("schema.without-zero", "a text without a zero character"),
    FRACTION: Reason("schema.number-or-fraction", "a number, or a fraction such as '1/3',"),
}


def explain(value: object, info: inspect.Type, path: Path = ()) -> Iterator[Problem]:
    """Everything for which a value, a plain one (see `plain`), does not fit a type."""
    if len(path) > DEEPEST:
        yield Problem("schema.too-deep", path[:DEEPEST])
        return
    if isinstance(info, inspect.Metadata):
        yield from explain(value, info.type, path)
        yield from _of_fraction(value, (info.extra or {}).get("fraction"), path)
    elif isinstance(info, inspect.UnionType):
        yield from _of_union(value, info.types, path)
    elif not _is_kind(value, info):
        yield Problem("schema.type", path, {"expected": described(info), "got": shown(value)})
    elif isinstance(info, inspect.IntType | inspect.FloatType):
        yield from _of_number(value, info, path)
    elif isinstance(info, inspect.StrType):
        yield from _of_text(str(value), info, path)
    elif isinstance(info, inspect.LiteralType):
        yield from _of_choice(value, info.values, path)
    elif isinstance(info, inspect.EnumType):
        yield from _of_choice(value, [each.value for each in info.cls], path)
    elif isinstance(info, LISTED):
        entries = list(value)  # type: ignore[call-overload]
        too_long = list(_of_length(len(entries), info, path, "few", "many"))
        yield from too_long
        for number, each in enumerate(entries if not too_long else ()):
            yield from explain(each, info.item_type, (*path, number))
    elif isinstance(info, inspect.TupleType):
        yield from _of_pair(list(value), info, path)  # type: ignore[call-overload]
    elif isinstance(info, inspect.DictType):
        yield from _of_table(value, info, path)  # type: ignore[arg-type]
    elif isinstance(info, inspect.StructType):
        yield from _of_struct(value, info, path)


def _is_kind(value: object, info: inspect.Type) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match info:
        case inspect.NoneType():
            return value is None
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            return is_number and isinstance(value, int)
        case inspect.FloatType():
            return is_number
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.LiteralType() | inspect.EnumType():
            known = info.values if isinstance(info, inspect.LiteralType) else [e.value for e in info.cls]
            return type(value) in {type(each) for each in known}
        case inspect.DictType():
            return isinstance(value, Mapping)
        case inspect.StructType():
            return isinstance(value, Mapping | info.cls)
        case inspect.AnyType() | inspect.RawType():
            return True
        case inspect.CustomType():
            return isinstance(value, info.cls)
    return isinstance(value, list | tuple | set | frozenset)


def _of_number(value: Any, info: inspect.IntType | inspect.FloatType, path: Path) -> Iterator[Problem]:
    if isinstance(value, float) and not math.isfinite(value):
        yield Problem("schema.not-finite", path, {"got": shown(value)})
        return
    bounds = (
        ("below", "least", info.ge, operator.lt),
        ("not-above", "bound", info.gt, operator.le),
        ("above", "most", info.le, operator.gt),
        ("not-below", "bound", info.lt, operator.ge),
    )
    for code, name, bound, breaks in bounds:
        if bound is not None and breaks(value, bound):
            yield Problem(f"schema.{code}", path, {name: _number(bound), "got": shown(value)})


def _number(bound: float) -> str:
    return f"{bound:,}" if isinstance(bound, int) else f"{bound:g}"


def _of_text(value: str, info: inspect.StrType, path: Path) -> Iterator[Problem]:
    too_much = list(_of_length(len(value), info, path, "short", "long"))
    yield from too_much
    if info.pattern is not None and not too_much and not re.search(info.pattern, value):
        expected = PATTERNS.get(info.pattern) or Reason(
            "schema.of-the-form", "a text of the form {form}", form=info.pattern
        )
        yield Problem("schema.pattern", path, {"expected": expected, "got": shown(value)})


def _of_length(length: int, info: Any, path: Path, few: str, many: str) -> Iterator[Problem]:
    if info.min_length is not None and length < info.min_length:
        yield Problem(f"schema.too-{few}", path, {"least": info.min_length, "got": length})
    if info.max_length is not None and length > info.max_length:
        args = {"most": f"{info.max_length:,}", "got": f"{length:,}"}
        yield Problem(f"schema.too-{many}", path, args)


def _of_choice(value: object, known: Iterable[object], path: Path) -> Iterator[Problem]:
    choices = list(known)
    if value in choices:
        return
    close = near(value, map(str, choices)) if isinstance(value, str) else []
    hint = Reason("schema.choice-meant", ": did you mean {meant!r}?", meant=close[0]) if close else ""
    yield Problem("schema.choice", path, {"known": listed(choices), "got": shown(value), "hint": hint})


def _of_pair(entries: list[Any], info: inspect.TupleType, path: Path) -> Iterator[Problem]:
    wanted = len(info.item_types)
    if len(entries) != wanted:
        code, name = ("few", "least") if len(entries) < wanted else ("many", "most")
        yield Problem(f"schema.too-{code}", path, {name: wanted, "got": len(entries)})
    for number, (each, kind) in enumerate(zip(entries, info.item_types, strict=False)):
        yield from explain(each, kind, (*path, number))


def _of_table(value: Mapping[Any, Any], info: inspect.DictType, path: Path) -> Iterator[Problem]:
    too_long = list(_of_length(len(value), info, path, "few", "many"))
    yield from too_long
    for key, each in value.items() if not too_long else ():
        where = (*path, key if isinstance(key, str) else shown(key))
        yield from explain(key, info.key_type, where)
        yield from explain(each, info.value_type, where)


def _of_struct(value: Any, info: inspect.StructType, path: Path) -> Iterator[Problem]:
    if isinstance(value, info.cls):
        return
    yield from of_fields(value, {f.encode_name: (f.type, f.required) for f in info.fields}, path)


def of_fields(
    value: Mapping[Any, Any],
    fields: Mapping[str, tuple[inspect.Type, bool]],
    path: Path,
    what: str = PARAMETER,
) -> Iterator[Problem]:
    """What is wrong with named values: those that nobody knows, those that miss, and each by itself."""
    for key in value:
        if key not in fields:
            hint = hint_of(key, fields, TAKES) if fields else TAKES_NONE
            where = key if isinstance(key, str) else shown(key)
            yield Problem("schema.unknown", (*path, where), {"what": what, "hint": hint})
    for name, (info, required) in fields.items():
        if name in value:
            yield from explain(value[name], info, (*path, name))
        elif required:
            yield Problem("schema.missing", (*path, name))


def _of_union(value: object, kinds: tuple[inspect.Type, ...], path: Path) -> Iterator[Problem]:
    """Of the alternatives that a value comes near to, what is wrong with the one that it fits deepest."""
    best: list[Problem] = []
    if type(value) is int and any(isinstance(each, inspect.IntType) for each in kinds):
        kinds = tuple(each for each in kinds if not isinstance(each, inspect.FloatType))
    for kind in kinds:
        found = list(itertools.islice(explain(value, kind, path), MOST_PROBLEMS))
        if not found:
            return
        if any(each.code == "schema.type" and each.path == path for each in found):
            continue
        depth = max(len(each.path) for each in found)
        if not best or depth > max(len(each.path) for each in best):
            best = found
    yield from best or [Problem("schema.type", path, {"expected": described_any(kinds), "got": shown(value)})]


def _of_fraction(value: object, bounds: Mapping[str, Any] | None, path: Path) -> Iterator[Problem]:
    """The bounds of a number that is written as a text; of a text that is no number the pattern tells."""
    if bounds is None or not isinstance(value, str):
        return
    try:
        number = Fraction(value)
    except ZeroDivisionError:
        args = {
            "expected": Reason("schema.fraction-of-something", "a fraction of something other than 0"),
            "got": shown(value),
        }
        yield Problem("schema.pattern", path, args)
        return
    except ValueError:
        return
    if number < bounds.get("ge", number):
        yield Problem("schema.below", path, {"least": bounds["ge"], "got": shown(value)})
    if "gt" in bounds and number <= bounds["gt"]:
        yield Problem("schema.not-above", path, {"bound": bounds["gt"], "got": shown(value)})
    if number > bounds.get("le", number):
        yield Problem("schema.above", path, {"most": bounds["le"], "got": shown(value)})


def plain(value: object, info: inspect.Type, depth: int = 0) -> object:
    """A value as a document would give it, where Python has more ways to write it.

    One name stands for a list of names, numbers of NumPy are numbers, any collection is a list, any mapping a
    table, and where texts are listed numbers may be, too.
    """
    kinds = list(alternatives(info))
    if depth > DEEPEST:
        return value
    if isinstance(value, Mapping):
        table = next((kind for kind in kinds if isinstance(kind, inspect.DictType)), None)
        if table is None or len(value) > (table.max_length or 0):
            return value
        return {_plain_key(k): plain(v, table.value_type, depth + 1) for k, v in value.items()}
    if isinstance(value, str):
        text = str.__str__(value)
        named = next((kind for kind in kinds if isinstance(kind, LISTED)), None)
        alone = named is None or any(map(takes_text, kinds)) or not takes_text(named.item_type)
        return text if alone else (text,)
    if isinstance(value, numbers.Number | datetime.date):
        wants = {type(kind) for kind in kinds}
        if depth and inspect.StrType in wants and not wants & {inspect.IntType, inspect.FloatType}:
            return cell_text(value)
        return _plain_number(value, wants)
    if isinstance(value, Collection) and not isinstance(value, bytes):
        return _plain_list(value, kinds, depth)
    return value


def cell_text(value: object) -> object:
    """What is listed among texts, as the text under which a table shows it: numbers and dates may be.

    >>> cell_text(1.0), cell_text(True), cell_text(datetime.date(2020, 2, 1))
    ('1', 'true', '2020-02-01')
    """
    if isinstance(value, bool):
        return str(value).lower()
    try:
        text = repr(float(value)) if isinstance(value, float) else str(value)
    except ValueError:  # a number too long to be written
        return value
    return text.removesuffix(".0") if isinstance(value, float) else text


def _plain_key(key: object) -> object:
    return str.__str__(key) if isinstance(key, str) else key


def _plain_number(value: Any, wants: set[type[inspect.Type]]) -> object:
    try:
        if isinstance(value, bool):
            return value
        if isinstance(value, numbers.Integral):
            whole = int(value)
            return float(whole) if abs(whole) > MOST and inspect.FloatType in wants else whole
        if isinstance(value, Fraction) and inspect.StrType in wants:
            return str(value)
        return float(value) if isinstance(value, numbers.Real) else value
    except (OverflowError, ValueError):  # too large to be written, or to be a number of the machine
        return value


def _plain_list(value: Collection[Any], kinds: Collection[inspect.Type], depth: int) -> object:
    for kind in kinds:
        if isinstance(kind, LISTED):
            most = kind.max_length or 0
            if len(value) <= most:
                return tuple(plain(each, kind.item_type, depth + 1) for each in value)
            if not isinstance(
                value, list | tuple | set | frozenset
            ):  # it may have no end, as a range has not
                return tuple(itertools.islice(value, most + 1))
        if isinstance(kind, inspect.TupleType) and len(value) == len(kind.item_types):
            return tuple(plain(e, k, depth + 1) for e, k in zip(value, kind.item_types, strict=True))
    return value


def takes_text(info: inspect.Type) -> bool:
    """Whether a text may stand there."""
    kinds = inspect.StrType | inspect.EnumType | inspect.LiteralType
    return any(isinstance(each, kinds) for each in alternatives(info))


def holds_fractions(info: inspect.Type) -> bool:
    """Whether texts are fractions with bounds somewhere in a type."""
    if isinstance(info, inspect.Metadata):
        return "fraction" in (info.extra or {}) or holds_fractions(info.type)
    if isinstance(info, inspect.UnionType):
        return any(map(holds_fractions, info.types))
    if isinstance(info, inspect.TupleType):
        return any(map(holds_fractions, info.item_types))
    if isinstance(info, inspect.DictType):
        return holds_fractions(info.value_type)
    return isinstance(info, LISTED) and holds_fractions(info.item_type)
