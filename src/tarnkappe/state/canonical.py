"""One byte string for equal documents: the JSON Canonicalization Scheme (RFC 8785).

Whatever is hashed or signed is written this way. `json.dumps(sort_keys=True)` is not the same: it sorts
keys by code point, RFC 8785 by UTF-16 unit, and the two write numbers differently.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import rfc8785

from tarnkappe.errors import ParameterError


def canonical_json(document: object) -> bytes:
    """The canonical bytes of plain data; what JSON cannot say exactly is refused.

    >>> canonical_json({"b": "ü", "a": (1, None)}).decode()
    '{"a":[1,null],"b":"ü"}'
    """
    try:
        return rfc8785.dumps(_plain(document))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise ParameterError(
            "state.cannot-written-canonical-json",
            "this cannot be written as canonical JSON: {error}",
            error=error,
        ) from None


def canonical_statement(content: Mapping[str, Any]) -> bytes:
    """The canonical bytes of what a statement may say: texts, whole numbers, yes and no, lists and objects.

    Of plain ASCII both orders of keys are the same, and without floats so is all else; the JSON of the
    standard library is compiled and takes a tenth of the time. A log is read often, and entry by entry.

    >>> canonical_statement({"b": "u", "a": (1, None)}).decode()
    '{"a":[1,null],"b":"u"}'
    """
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):  # mappings that are no dictionaries
        return canonical_json(content)
    return text.encode() if text.isascii() else canonical_json(content)


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ParameterError(
                "state.cannot-written-canonical-json-key",
                "this cannot be written as canonical JSON: a key is no text",
            )
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    # A name of an enumeration is its text, and not a type of its own.
    return str(value) if isinstance(value, str) else value
