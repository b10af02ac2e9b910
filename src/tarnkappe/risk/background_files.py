"""Files in which a user tells what an attacker knows: rules, answers, and folders of earlier releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, field

from tarnkappe.errors import InputError, TarnkappeError
from tarnkappe.risk.attacks import ExclusionRule, Function, PublishedAggregate
from tarnkappe.risk.attacks import Listing as PublishedListing
from tarnkappe.schema import MOST_NAMES, MOST_VALUES, Name, Number, Parameters, Problem, Text, param, rule
from tarnkappe.schema.documents import parse, refused
from tarnkappe.schema.explain import cell_text
from tarnkappe.schema.written import read_toml
from tarnkappe.table import Table
from tarnkappe.table.files import SUFFIXES, suffix_of

LIST = "list"
KIND = "file of background knowledge"
MOST_ENTRIES = 100_000
BESIDE = (".manifest.json", ".certificate.json")
"""How the names of manifests and certificates end, which lie beside releases."""


Where = Annotated[Mapping[Name, Text], Meta(max_length=MOST_NAMES)]
Listed = Annotated[tuple[Text, ...], Meta(max_length=MOST_VALUES)]


class RuleSection(Parameters, kw_only=True):
    """Values that some people cannot have: `[[rule]]`."""

    column: Annotated[Name, param("the column that the rule is about", kind="column")]
    excludes: Annotated[
        tuple[Text, ...], param("the values that are excluded", kind="values", max_length=MOST_VALUES)
    ]
    where: Annotated[Where, param("values by column of the people that are meant; all if not said")] = field(
        default_factory=dict
    )

    @property
    def exclusion(self) -> ExclusionRule:
        """The rule."""
        return ExclusionRule(self.column, tuple(self.excludes), dict(self.where))


class AnswerSection(Parameters, kw_only=True):
    """An answer that was published: `[[answer]]`."""

    function: Annotated[Literal["count", "sum", "list"], param("what was asked")]
    value: Annotated[Number | None, param("the answer of count or sum")] = None
    values: Annotated[Listed | None, param("the answer of list", kind="values")] = None
    where: Annotated[Where, param("values by column of the people that are meant; all if not said")] = field(
        default_factory=dict
    )
    column: Annotated[Name | None, param("the column that was asked for", kind="column")] = None
    equals: Annotated[Text | Number | bool | None, param("with count: the value that was counted")] = None

    def rules(self) -> Iterator[Problem]:
        """A list has values, the others have one value."""
        if self.function == LIST:
            if (
                self.column is None
                or self.values is None
                or self.value is not None
                or self.equals is not None
            ):
                yield rule("background.list", "a list has a 'column' and its 'values'")
        elif self.value is None or self.values is not None:
            yield rule("background.value", "a {function} has one 'value'", function=self.function)
        else:
            try:
                self.aggregate  # noqa: B018  it is made, or says why not
            except TarnkappeError as error:
                yield refused(error.reason)

    @property
    def aggregate(self) -> PublishedAggregate:
        """The answer of count or sum."""
        equals = None if self.equals is None else str(cell_text(self.equals))
        value = 0 if self.value is None else self.value
        return PublishedAggregate(Function(self.function), value, dict(self.where), self.column, equals)

    @property
    def listing(self) -> PublishedListing:
        """The answer of list."""
        return PublishedListing(self.column or "", tuple(self.values or ()), dict(self.where))


class RulesDocument(Parameters, kw_only=True):
    """A file of rules."""

    rule: Annotated[tuple[RuleSection, ...], param("write every rule as [[rule]]", max_length=MOST_ENTRIES)]


class AnswersDocument(Parameters, kw_only=True):
    """A file of answers."""

    answer: Annotated[
        tuple[AnswerSection, ...], param("write every answer as [[answer]]", max_length=MOST_ENTRIES)
    ]


def read_rules(path: Path) -> tuple[ExclusionRule, ...]:
    """Rules from a TOML file: `[[rule]]` with `column`, `excludes` and, if only some are meant, `where`."""
    return rules_of(read_toml(path, KIND), str(path))


def rules_of(content: Mapping[str, Any], where: str) -> tuple[ExclusionRule, ...]:
    """Rules from the content of such a file; errors say where it comes from."""
    return tuple(each.exclusion for each in parse(RulesDocument, content, name=where).rule)


def read_answers(path: Path) -> tuple[tuple[PublishedAggregate, ...], tuple[PublishedListing, ...]]:
    """Answers from a TOML file: aggregates, and lists of values.

    `[[answer]]` has a `function`, and `where` if it is about some people only. With "count" or "sum" it has a
    `value`, and maybe `column` and `equals`; with "list" a `column` and its `values`.
    """
    return answers_of(read_toml(path, KIND), str(path))


def answers_of(
    content: Mapping[str, Any], where: str
) -> tuple[tuple[PublishedAggregate, ...], tuple[PublishedListing, ...]]:
    """Answers from the content of such a file; errors say where it comes from."""
    said = parse(AnswersDocument, content, name=where).answer
    answers = tuple(each.aggregate for each in said if each.function != LIST)
    return answers, tuple(each.listing for each in said if each.function == LIST)


def read_earlier(
    folder: Path,
    reading: Callable[[Path], Table],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
) -> dict[str, Table]:
    """The releases in a folder, in the order of their names, with the roles of the columns that they have."""
    files = sorted(p for p in folder.iterdir() if _is_table(p))
    if not files:
        raise InputError(
            "risk.no-release-no-file",
            "{folder}: there is no release (no file with {suffixes})",
            folder=folder,
            suffixes=", ".join(SUFFIXES),
        )
    earlier = {}
    for path in files:
        table = reading(path)
        known = [name for name in quasi_identifiers if name in table.column_names]
        if not known:
            raise InputError(
                "risk.earlier-release-none-columns",
                "{path}: the earlier release has none of the columns {quasi_identifiers}",
                path=path,
                quasi_identifiers=", ".join(quasi_identifiers),
            )
        wanted = [name for name in sensitive if name in table.column_names]
        earlier[path.name] = table.with_roles(quasi_identifiers=known, sensitive=wanted)
    return earlier


def _is_table(path: Path) -> bool:
    hidden = path.name.startswith(".") or path.name.endswith(BESIDE)
    return path.is_file() and not hidden and suffix_of(path) in SUFFIXES
