"""The policy of an institution: thresholds by purpose, rule sets, and what it states about itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError, ParameterError
from tarnkappe.exchange.request import Anchor, Purpose
from tarnkappe.exchange.sections import built, read_toml, refuse_unknown

METHODS = ("cohorts", "levels", "k-optimize", "mondrian")
"""How a package is made k-anonymous: from cohorts of all patients that stay the same for every request, the
best levels for whole columns, the best intervals, or regions that may write equal values differently."""
DIVERSITIES = ("distinct", "entropy", "recursive:C")
INSIDERS = ("selection", "any", "none")
"""Whom packages protect from, of those who know by which value somebody was selected: from who uses the
packages selected by it, from who uses all, or from none of them."""


class Together(StrEnum):
    """Whose packages must keep their promises all together."""

    EVERYBODY = "everybody"
    """Those of all institutions: they may compare them."""
    RECIPIENT = "recipient"
    """Those of each institution: they are trusted not to compare them."""


@dataclasses.dataclass(frozen=True)
class ValueLimits:
    """What the values of one sensitive attribute must keep in every cohort and group.

    Attributes:
        l: how many values there must be.
        share: the most that one value may have.
        diversity: `distinct`, `entropy`, or `recursive:C`.
        closeness: how far the shares may be from everybody's; 0 asks for nothing.
    """

    l: int = 2  # noqa: E741
    share: float = 0.8
    diversity: str = "distinct"
    closeness: float = 0.0

    def __post_init__(self) -> None:
        _require_whole("l", self.l, 2)
        _require_numbers(self, (("share", 0.01, 1), ("closeness", 0, 1)))
        kind, _, factor = str(self.diversity).partition(":")
        if kind not in ("distinct", "entropy", "recursive") or (kind == "recursive") != bool(factor):
            raise ParameterError(
                "exchange.policy-diversity",
                "the policy's diversity is one of {diversities}",
                diversities=", ".join(DIVERSITIES),
            )
        if kind == "recursive":
            try:
                valid = float(factor) > 0
            except ValueError:
                valid = False
            if not valid:
                raise ParameterError(
                    "exchange.recursive-c-needs-number",
                    "recursive:C needs a number above 0, such as recursive:3",
                )

    @property
    def recursive(self) -> float:
        """The C of `recursive:C`."""
        return float(self.diversity.partition(":")[2])


@dataclasses.dataclass(frozen=True)
class Thresholds:
    """What a package must keep.

    Attributes:
        k: how many people must look alike.
        l: how many sensitive values must remain possible for everybody.
        base: how many people a selection must have at least.
        rare_local: a value that fewer people of the selection have is rare; k if not given.
        rare_global: a value with a smaller share of the population is rare.
        peak: how many times more, or less, frequent a value may be here than elsewhere.
        imbalance: how far the share of a value in a package may be from that in the population.
        suppression: the share of records that protecting a package may leave out.
        method: how the package is made k-anonymous; where nobody keeps cohorts, these stand for `mondrian`.
        seconds: how long a method may look for something better.
        share: the most that one sensitive value may have of a group, and one selected value of people who
            look alike; 1 asks for nothing.
        cover: the most that conspicuous cells may be of the hidden ones of a group.
        together: whose packages must keep their promises all together.
        joint_k: how many people must look alike over all these packages; k if not given.
        diversity: how different sensitive values must be: `distinct`, `entropy` or `recursive:C`.
        closeness: how far the shares of values may be from everybody's; 0 asks for nothing.
        presence: the most of a cohort that may be told to have a selected value; `share` if not given.
        insider: who is protected from, of those who know by which value somebody was selected.
        cohort: how many people a cohort has at least; 10, or twice k if that is more, if not given.
        wave_days: after so many days new patients are admitted, even if they are few.
        epoch_days: so many days must lie between two renewals of all cohorts.
        of: for some sensitive attributes, another l, share, diversity or closeness.
    """

    k: int = 5
    l: int = 2  # noqa: E741
    base: int = 20
    rare_local: int | None = None
    rare_global: float = 0.0001
    peak: float = 10.0
    imbalance: float = 0.5
    suppression: float = 0.0
    method: str = "cohorts"
    seconds: float = 3.0
    share: float = 0.8
    cover: float = 0.5
    together: str = Together.EVERYBODY
    joint_k: int | None = None
    diversity: str = "distinct"
    closeness: float = 0.0
    presence: float | None = None
    insider: str = "selection"
    cohort: int | None = None
    wave_days: float = 30.0
    epoch_days: float = 730.0
    of: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name, least in (("k", 2), ("l", 2), ("base", 1)):
            _require_whole(name, getattr(self, name), least)
        for name, least in (("rare_local", 1), ("joint_k", 2), ("cohort", 2)):
            if getattr(self, name) is not None:
                _require_whole(name, getattr(self, name), least)
        if self.base < max(self.k, self.l):
            raise ParameterError(
                "exchange.base-people-can-never",
                "a base of {base} people can never be {k}-anonymous, {l}-diverse: raise base",
                base=self.base,
                k=self.k,
                l=self.l,
            )
        _require_numbers(
            self,
            (
                ("rare_global", 0, 1),
                ("imbalance", 0, 1),
                ("suppression", 0, 1),
                ("peak", 1, 1e9),
                ("seconds", 0, 3600),
                ("share", 0.01, 1),
                ("cover", 0.01, 1),
                ("wave_days", 0, 3650),
                ("epoch_days", 0, 36500),
                *((("presence", 0.01, 1),) if self.presence is not None else ()),
            ),
        )
        if self.cohort is not None and self.cohort < self.k:
            raise ParameterError(
                "exchange.cohort-people-can-never",
                "a cohort of {cohort} people can never be {k}-anonymous",
                cohort=self.cohort,
                k=self.k,
            )
        for name in ("", *self.of):
            self.values_of(name)
        for name, known in (("method", METHODS), ("together", tuple(Together)), ("insider", INSIDERS)):
            if getattr(self, name) not in known:
                raise ParameterError(
                    "exchange.name-known-policy",
                    "the policy's {name} is one of {known}",
                    name=name,
                    known=", ".join(known),
                )

    @property
    def rare(self) -> int:
        """A value that fewer people of the selection have is rare."""
        return self.k if self.rare_local is None else self.rare_local

    @property
    def joint(self) -> int:
        """How many people must look alike over all packages."""
        return self.k if self.joint_k is None else self.joint_k

    @property
    def people_of_a_cohort(self) -> int:
        """How many people a cohort has at least."""
        return max(10, 2 * self.k) if self.cohort is None else self.cohort

    @property
    def most_present(self) -> float:
        """The most of a cohort that may be told to have a selected value."""
        return self.share if self.presence is None else self.presence

    def values_of(self, attribute: str) -> ValueLimits:
        """What the values of a sensitive attribute must keep.

        >>> Thresholds(of={"diagnosis": {"l": 3}}).values_of("diagnosis").l
        3
        """
        fields = [field.name for field in dataclasses.fields(ValueLimits)]
        said = self.of.get(attribute, {})
        refuse_unknown(said, tuple(fields), f"key of [thresholds.of.{attribute}]")
        return ValueLimits(**{name: getattr(self, name) for name in fields} | dict(said))

    def stricter(self) -> dict[str, int]:
        """What holds for teaching if the policy does not say otherwise: many will see such a package."""
        return {"k": 2 * self.k, "l": self.l + 1, "base": 2 * self.base}


@dataclasses.dataclass(frozen=True)
class BaseSet:
    """How many people selections by some values need, because of what these are used for.

    Attributes:
        attribute: the attribute of the selection.
        values: the values, such as all medications of one field of application.
        at_least: how many people there must be.
        field: what these values have in common, for reports.
    """

    attribute: str
    values: tuple[str, ...]
    at_least: int
    field: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(map(str, self.values)))
        _require_whole("at_least", self.at_least, 1)


@dataclasses.dataclass(frozen=True)
class SitePolicy:
    """The policy of an institution.

    Attributes:
        thresholds: what packages must keep, whatever they are for.
        purposes: for some purposes, which thresholds are others; teaching has stricter ones by itself.
        base_sets: selections that need more people.
        rules: the rule sets that every request must pass, by name or as files.
        four_eyes: the purposes for which a second physician must agree.
        strict: whether a request for a primary identifier is refused as a whole.
        reidentification: the purposes for which somebody may have to be identified again.
        statements: what the institution states about itself, by the names of the facts that rules ask for.
        approvals: references of approvals by an authority that were looked up and are valid.
        days: how long a request may wait for a decision.
        statistics_budget: the epsilon that may be spent in all on figures for other institutions.
    """

    thresholds: Thresholds = dataclasses.field(default_factory=Thresholds)
    purposes: Mapping[Purpose, Mapping[str, Any]] = dataclasses.field(default_factory=dict, hash=False)
    base_sets: tuple[BaseSet, ...] = ()
    rules: tuple[str, ...] = ("dsg-2000",)
    four_eyes: frozenset[Purpose] = frozenset(Purpose)
    strict: bool = False
    reidentification: frozenset[Purpose] = frozenset({Purpose.CLINICAL, Purpose.TEACHING})
    statements: Mapping[str, bool] = dataclasses.field(default_factory=dict, hash=False)
    approvals: frozenset[str] = frozenset()
    days: float = 30.0
    statistics_budget: float = 0.0

    def __post_init__(self) -> None:
        for purpose in Purpose:
            self.thresholds_for(purpose)
        for name, most in (("days", 3650), ("statistics_budget", 100)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
                raise ParameterError(
                    "exchange.policy-number-0",
                    "the policy's {name} is a number from 0 to {most}",
                    name=name,
                    most=most,
                )

    @classmethod
    def load(cls, path: str | Path) -> SitePolicy:
        """Read a policy file."""
        return cls.from_dict(read_toml(path, "policy"), Path(path).parent)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path()) -> SitePolicy:
        """A policy from the content of its file; rule files are looked for in the folder."""
        values = dict(content)
        try:
            if "thresholds" in values:
                values["thresholds"] = built(Thresholds, values["thresholds"], "[thresholds]")
            values["purposes"] = {Purpose(name): said for name, said in values.get("purposes", {}).items()}
            for name, said in values["purposes"].items():
                fields = tuple(field.name for field in dataclasses.fields(Thresholds))
                refuse_unknown(said, fields, f"key of [purposes.{name}]")
            values["base_sets"] = tuple(
                built(BaseSet, said, "[[base_sets]]") for said in values.get("base_sets", ())
            )
            for name in ("four_eyes", "reidentification"):
                if name in values:
                    values[name] = frozenset(map(Purpose, values[name]))
        except (ValueError, TypeError, AttributeError) as error:
            raise JobError("exchange.error-policy", "the policy: {error}", error=error) from None
        if "rules" in values:
            values["rules"] = tuple(str(folder / r) if r.endswith(".toml") else r for r in values["rules"])
        if "approvals" in values:
            values["approvals"] = frozenset(values["approvals"])
        return built(cls, values, "the policy")

    def thresholds_for(self, purpose: Purpose) -> Thresholds:
        """What packages for a purpose must keep.

        >>> teaching = SitePolicy(Thresholds(k=5, l=2, base=20)).thresholds_for(Purpose.TEACHING)
        >>> teaching.k, teaching.l, teaching.base
        (10, 3, 40)
        """
        usual = self.thresholds.stricter() if purpose is Purpose.TEACHING else {}
        return dataclasses.replace(self.thresholds, **{**usual, **self.purposes.get(purpose, {})})

    def least_base(self, anchor: Anchor, purpose: Purpose) -> int:
        """How many people a selection must have: as many as the most demanding of its values asks for.

        >>> rare = BaseSet("medication", ("X",), at_least=50, field="psychiatry")
        >>> policy = SitePolicy(base_sets=(rare,))
        >>> policy.least_base(Anchor("medication", ("X", "Y")), Purpose.RESEARCH)
        50
        """
        asked = [
            each.at_least
            for each in self.base_sets
            if each.attribute == anchor.attribute and set(each.values) & set(anchor.values)
        ]
        return max([self.thresholds_for(purpose).base, *asked])

    def every_purpose(self) -> list[Thresholds]:
        """The different thresholds of all purposes, the laxest first."""
        found = [self.thresholds_for(purpose) for purpose in Purpose]
        distinct = [each for place, each in enumerate(found) if each not in found[:place]]
        return sorted(distinct, key=lambda each: (each.k, each.l, -each.share))


def _require_numbers(limits: object, ranges: Sequence[tuple[str, float, float]]) -> None:
    for name, low, high in ranges:
        value = getattr(limits, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ParameterError(
                "exchange.policy-number",
                "the policy's {name} is a number from {low:g} to {high:g}",
                name=name,
                low=low,
                high=high,
            )


def _require_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(
            "exchange.policy-whole-number",
            "the policy's {name} is a whole number of at least {least}, not {value!r}",
            name=name,
            least=least,
            value=value,
        )
