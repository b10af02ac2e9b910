"""What is wrong with a value, as a code with arguments; the sentence is made from them.

A program acts on the code, a person reads the sentence. No sentence quotes more than a few characters of
what was given, and of a list or a table it says only that it is one.
"""

from __future__ import annotations

import difflib
import functools
import numbers
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from tarnkappe.errors import ParameterError, Reason

Path = tuple[str | int, ...]
"""Where a value stands: names of parameters, keys of tables and places in lists (from 0)."""

LONGEST_SHOWN = 60
LONGEST_SENTENCE = 280
"""A sentence with more problems than fit says how many more there are."""

TEMPLATES = {
    "schema.missing": "it is missing",
    "schema.missing-key": "it is missing: {hint}",
    "schema.member": "unknown {what} {got}: {hint}",
    "schema.unknown": "there is no such {what}: {hint}",
    "schema.type": "{expected} is needed, not {got}",
    "schema.section": "{expected} is needed, not {got}: {hint}",
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
    "schema.problems": "{problems}",
    "schema.problems-and-more": "{problems} (and {rest} more)",
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
    def sentence(self) -> Reason:
        """What is wrong, without saying where."""
        return Reason(self.code, self.template or TEMPLATES[self.code], **self.args)

    @property
    def text(self) -> Reason:
        """Where and what is wrong."""
        place = place_of(self.path)
        return self.sentence.within(place) if place else self.sentence

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

    owner: str = ""
    problems: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, owner: str, problems: Iterable[Problem]) -> InvalidError:
        """The error that tells of these problems."""
        found = tuple(problems)
        error = cls.because(sentence_of(owner, found))
        error.owner, error.problems = owner, found
        return error


def sentence_of(owner: str, problems: Sequence[Problem]) -> Reason:
    """All problems in one sentence, as far as they fit; a single one keeps its code."""
    told, rest, length = list[Reason](), 0, len(owner)
    for number, problem in enumerate(problems):
        each = problem.text
        if len(each) > LONGEST_SENTENCE:
            each = Reason.said("", {}, each[:LONGEST_SENTENCE])
        more = f" (and {len(problems) - number} more)"
        if told and length + len(each) + len(more) > LONGEST_SENTENCE:
            rest = len(problems) - number
            break
        length += len(each) + (2 if told else 0)
        told.append(each)
    together = "; ".join(told)
    if rest:
        said = Reason.said("schema.problems-and-more", {"problems": told, "rest": rest}, together + more)
    else:
        said = told[0] if len(told) == 1 else Reason.said("schema.problems", {"problems": told}, together)
    return said.within(owner) if owner else said


def near(word: object, known: Iterable[str], most: int = 1) -> list[str]:
    """The known words that somebody may have meant, the likeliest first.

    >>> near("hight", ["height", "width"])
    ['height']
    """
    return difflib.get_close_matches(str(word)[:LONGEST_SHOWN], list(known), n=most)


KNOWN = Reason("schema.known-are", "known are")


def hint_of(word: object, known: Collection[str], otherwise: Reason = KNOWN) -> Reason:
    """What to do about a word that nobody knows: take the nearest, or one of all.

    >>> hint_of("hight", ["height"]), hint_of("x", ["height", "width"])
    ("did you mean 'height'?", 'known are height, width')
    """
    close = near(word, known, 3)
    if close:
        meant = either([repr(each) for each in close])
        return Reason("schema.did-you-mean", "did you mean {meant}?", meant=meant)
    there = listed(known) or Reason("schema.none", "none")
    return Reason("schema.otherwise", "{otherwise} {there}", otherwise=otherwise, there=there)


def meant_or(meant: Sequence[str], otherwise: Reason) -> Reason:
    """A question for the likeliest of the words that may be meant; without any, something else.

    >>> meant_or(["age"], KNOWN), meant_or([], KNOWN)
    ("did you mean 'age'?", 'known are')
    """
    if not meant:
        return otherwise
    return Reason("schema.did-you-mean", "did you mean {meant}?", meant=f"'{meant[0]}'")


def either(words: Sequence[str]) -> str:
    """Words of which one is meant.

    >>> either(["a text", "a number"])
    'a text or a number'
    """
    return functools.reduce(
        lambda one, other: Reason("schema.or", "{one} or {other}", one=one, other=other), words
    )


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
        return Reason("schema.a-table", "a table")
    if isinstance(value, str | bytes | numbers.Number | PurePath | None):
        if isinstance(value, str | bytes):
            value = value[: LONGEST_SHOWN + 1]  # the rest is not looked at, however long it is
        try:
            text = repr(value)
        except ValueError:  # a whole number too long to be written
            return Reason("schema.a-huge-number", "a huge number")
        return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
    if isinstance(value, Collection):
        return Reason("schema.a-list", "a list")
    return Reason("schema.a-kind", "a {kind}", kind=type(value).__name__)
