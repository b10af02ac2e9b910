"""What is wrong with a value, as a code with arguments; the sentence is made from them.

A program acts on the code, a person reads the sentence. No sentence quotes more than a few characters of
what was given, and of a list or a table it says only that it is one.
"""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from tarnkappe.errors import ParameterError

Path = tuple[str | int, ...]
"""Where a value stands: names of parameters, keys of tables and places in lists (from 0)."""

LONGEST_SHOWN = 60
LONGEST_SENTENCE = 280
"""A sentence with more problems than fit says how many more there are."""

TEMPLATES = {
    "schema.missing": "it is missing",
    "schema.unknown": "there is no such {what}: {hint}",
    "schema.type": "{expected} is needed, not {got}",
    "schema.below": "at least {least} is needed, not {got}",
    "schema.above": "at most {most} is allowed, not {got}",
    "schema.not-above": "a number above {bound} is needed, not {got}",
    "schema.not-below": "a number below {bound} is needed, not {got}",
    "schema.not-finite": "a finite number is needed, not {got}",
    "schema.choice": "one of {known} is needed, not {got}{hint}",
    "schema.too-short": "too few characters: {got}, at least {least} needed",
    "schema.too-long": "too many characters: {got}, at most {most} allowed",
    "schema.too-few": "too few entries: {got}, at least {least} needed",
    "schema.too-many": "too many entries: {got}, at most {most} allowed",
    "schema.pattern": "{expected} is needed, not {got}",
    "schema.too-deep": "it is nested too deeply",
    "schema.invalid": "the value is not valid",
}
"""What each code of the schema layer says; a rule of a member brings its own sentence."""


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong.

    Attributes:
        code: what is wrong, for programs.
        path: where.
        args: what the sentence needs to know: texts and numbers.
        template: the sentence with places for the arguments, if the code is that of a rule.
    """

    code: str
    path: Path = ()
    args: Mapping[str, Any] = {}
    template: str = ""

    @property
    def sentence(self) -> str:
        """What is wrong, without saying where."""
        return (self.template or TEMPLATES[self.code]).format_map(self.args)

    @property
    def text(self) -> str:
        """Where and what is wrong."""
        place = place_of(self.path)
        return f"{place}: {self.sentence}" if place else self.sentence

    def within(self, *outer: str | int) -> Problem:
        """The same problem, seen from further outside."""
        return msgspec.structs.replace(self, path=(*outer, *self.path))


def rule(code: str, template: str, *path: str | int, **args: Any) -> Problem:
    """What a member finds wrong between its parameters, as `Parameters.rules` says it.

    >>> rule("model.given-to-itself", "'{column}' is given to itself", "given", column="age").text
    "given: 'age' is given to itself"
    """
    return Problem(code, path, args, template)


def place_of(path: Path) -> str:
    """A path in words; places in lists are counted from 1.

    >>> place_of(("bounds", "flu", 0))
    'bounds.flu 1'
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f" {part + 1}"
        else:
            text += (
                f"{'.' if text else ''}{part if len(part) <= LONGEST_SHOWN else part[:LONGEST_SHOWN] + '...'}"
            )
    return text


class InvalidError(ParameterError):
    """A value does not fit its schema; `problems` has all that is wrong with it.

    Attributes:
        owner: whose parameters they are, such as "k-anonymity".
        problems: what is wrong.
    """

    def __init__(self, text: str, owner: str = "", problems: Iterable[Problem] = ()) -> None:
        super().__init__(text)
        self.owner = owner
        self.problems = tuple(problems)

    @classmethod
    def of(cls, owner: str, problems: Iterable[Problem]) -> InvalidError:
        """The error that tells of these problems."""
        found = tuple(problems)
        return cls(sentence_of(owner, found), owner, found)


def sentence_of(owner: str, problems: Sequence[Problem]) -> str:
    """All problems in one sentence, as far as they fit."""
    told = ""
    for number, problem in enumerate(problems):
        each = problem.text
        rest = f" (and {len(problems) - number} more)"
        if told and len(owner) + len(told) + len(each) + len(rest) > LONGEST_SENTENCE:
            return f"{owner}: {told}{rest}"
        told += ("; " if told else "") + each[:LONGEST_SENTENCE]
    return f"{owner}: {told}" if owner else told


def near(word: object, known: Iterable[str], most: int = 1) -> list[str]:
    """The known words that somebody may have meant, the likeliest first.

    >>> near("hight", ["height", "width"])
    ['height']
    """
    return difflib.get_close_matches(str(word)[:LONGEST_SHOWN], list(known), n=most)


def hint_of(word: object, known: Collection[str], otherwise: str = "known are") -> str:
    """What to do about a word that nobody knows: take the nearest, or one of all.

    >>> hint_of("hight", ["height"]), hint_of("x", ["height", "width"])
    ("did you mean 'height'?", 'known are height, width')
    """
    close = near(word, known, 3)
    if close:
        return f"did you mean {' or '.join(repr(each) for each in close)}?"
    return f"{otherwise} {listed(known) or 'none'}"


def listed(words: Iterable[object], longest: int = 120) -> str:
    """Words with commas between them, as many as fit."""
    text = ", ".join(map(str, words))
    return text if len(text) <= longest else f"{text[:longest].rpartition(', ')[0]}, ..."


def shown(value: object) -> str:
    """A value as an error may show it: short, and of lists and tables only that they are such.

    >>> shown(None), shown([1, 2]), shown(float("nan"))
    ('None', 'a list', 'nan')
    """
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, str | bytes | numbers.Number | PurePath | None):
        if isinstance(value, str | bytes):
            value = value[: LONGEST_SHOWN + 1]  # the rest is not looked at, however long it is
        try:
            text = repr(value)
        except ValueError:  # a whole number too long to be written
            return "a huge number"
        return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
    return "a list" if isinstance(value, Collection) else f"a {type(value).__name__}"
