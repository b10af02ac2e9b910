"""The policy of a gate: what is protected, against whom, and how answers look. It is read from `gate.toml`.

    [table]
    source = "patients.parquet"      # Parquet, CSV, duckdb:///clinic.duckdb or postgresql://...
    name = "patients"                # the name that analysts use; in a database also that of the table
    key = "id"                       # names a person; one row each; never shown
    quasi_identifiers = ["age", "zip", "sex"]

    [sensitive.disease]              # as many sections as there are sensitive columns
    values = ["flu", "asthma"]       # what it may be, publicly; whatever else the table has is (other)

    [protection]
    k = 3

Every other setting has a default. By default neither a refusal, nor the artificial values, nor the size of an
answer tells more than the answer (`surplus` and `partition` say why). A policy may trade this for fewer
artificial values or for more answers, but it must name the leak that it accepts, and is warned about.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from tarnkappe.errors import AccessError, InputError, ParameterError, TarnkappeError
from tarnkappe.schema import near

Kind = TypeVar("Kind")

ON_VIOLATION = ("add", "refuse")
PROMISING = ("witness-pool", "exact")
"""The strategies whose promise a policy can make: they turn an answer down if somebody would keep too few
values, hardly ever otherwise. What others turn down depends on true values, which tells something.
"""
OTHER = "(other)"
"""How everything is shown that a list of values lacks."""
KIND = "_kind"
"""With what the name of a column ends that says what the cells of another one are."""
ORIGINS = ("public", "table")
"""Where a list of values comes from: known without the table, or read from it (`values`)."""
LEAST_HOLDERS = 2
"""A list of values that have one holder each or more names whatever occurs: nobody could have another one."""
DRAWS = ("auto", "even", "independent")
COLLUSION = ("everyone", "groups", "single")
FORMS = ("permuted", "generalized", "anatomy")
LEAKS = {
    "minimal-values": "artificial values are added only where they are needed: whoever knows this can tell "
    "some of them from real ones, and may exclude values that the count of possible values still includes",
    "refusals": "a refusal tells that the true answer would have broken the rule: whoever knows this can "
    "exclude values, down to the true one",
}
"""What a policy may accept by name, and what that means."""


@dataclasses.dataclass(frozen=True)
class Sensitive:
    """A column whose values must not be linked to people.

    Attributes:
        name: the column.
        k: how many possible values everybody keeps.
        values: everything it may be, which the public may know; whatever else the table has, now or later,
            counts, and is shown, as one more value, `(other)`. A gate does not start without it.
        values_from: where the list comes from: "public", or "table" if it was read from the table.
        holders: how many people had each value of a list that was read from the table, at least.
        alike: sets of values that count as one, such as three kinds of the same disease.
        closeness: how far the spread of anybody's possible values may be from that of all, for the audit.
    """

    name: str
    k: int
    values: tuple[str, ...] | None = None
    values_from: str = "public"
    holders: int | None = None
    alike: tuple[frozenset[str], ...] = ()
    closeness: float | None = None


@dataclasses.dataclass(frozen=True)
class Surplus:
    """How many artificial values every answer gets, needed or not, as far as the public may know it.

    Attributes:
        share: at least this many for each person in the answer.
        least: and at least this many in any case; None for k.
        spread: how many more are added at random, on average; never 0, since then the size of an answer that
            needed more would tell so.
        root: no more than so many times the square root of people times labels, whatever the share says: what
            an answer needs rises no faster.
        draw: "even" if all multisets are equally likely, which tells least in small answers; "independent" if
            each value is drawn by itself, which is estimated from best; "auto" for this one where an answer
            has at least twice as many artificial values as labels.
    """

    share: float = 0.25
    least: int | None = None
    spread: float = 1.0
    root: float = 1.0
    draw: str = "auto"


@dataclasses.dataclass(frozen=True)
class GatePolicy:
    """What a gate promises. See the text of this module, and `docs/reference/gate-file.md`."""

    source: str = dataclasses.field(repr=False)  # it may have a password
    table: str
    key: str
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[Sensitive, ...]
    on_violation: str = "add"
    accepted_leaks: frozenset[str] = frozenset()
    collusion: str = "everyone"
    groups: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict, hash=False)
    strategy: str = "witness-pool"
    surplus: Surplus = Surplus()
    form: str = "permuted"
    tell_artificial: bool = False
    min_rows: int = 1
    max_rows: int | None = None
    store: str = dataclasses.field(default="tarnkappe.state", repr=False)
    key_file: str = "tarnkappe.key"
    users: tuple[str, ...] | None = None
    known: str | None = None
    place: str = dataclasses.field(default="gate.toml", compare=False)

    @classmethod
    def load(cls, path: str | Path) -> GatePolicy:
        """Read a policy file; relative paths start at its folder."""
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{path}: the policy cannot be read: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: this is no TOML: {error}") from None
        return cls.from_dict(content, path.parent, name=str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path(), *, name: str = "") -> GatePolicy:
        """A policy from the content of a policy file."""
        from tarnkappe.gate.policy_file import read_policy

        try:
            policy = read_policy(content, folder)
        except TarnkappeError as error:
            raise (type(error)(f"{name}: {error}") if name else error) from None
        return dataclasses.replace(policy, place=name) if name else policy

    def __post_init__(self) -> None:
        _one_of("on_violation", self.on_violation, ON_VIOLATION)
        _one_of("collusion", self.collusion, COLLUSION)
        _one_of("form", self.form, FORMS)
        if self.strategy not in PROMISING:
            raise ParameterError(
                f"strategy = '{self.strategy}' keeps no promise that a policy can make: choose "
                f"{' or '.join(PROMISING)}; others are for comparisons, in Python and in 'tarn bench gate'"
            )
        _one_of("[surplus] draw", self.surplus.draw, DRAWS)
        for leak in self.accepted_leaks:
            _one_of("accept_leak_through", leak, tuple(LEAKS))
        self._check_columns()
        self._check_groups()
        if self.surplus.share < 0 or (self.surplus.least or 0) < 0 or not 0 < self.surplus.spread <= 100:
            raise ParameterError(
                "[surplus]: 'share' and 'least' must not be negative, 'spread' must be above 0, at most 100"
            )
        if not 0 <= self.surplus.root <= 1000:
            raise ParameterError("[surplus]: 'root' must be from 0 to 1000")
        if self.known is not None and not self.answers_everybody:
            raise ParameterError("'known' needs surplus values: on_violation = \"add\", no leak")
        if self.min_rows < 1 or (self.max_rows is not None and self.max_rows < self.min_rows):
            raise ParameterError("'min_rows' must be at least 1, and 'max_rows' not less than it")

    def _check_columns(self) -> None:
        if not self.sensitive:
            raise ParameterError("no column is sensitive: add a section such as [sensitive.disease]")
        names = [self.key, *self.quasi_identifiers, *(column.name for column in self.sensitive)]
        for name in names:
            if names.count(name) > 1:
                raise ParameterError(f"the column '{name}' has two roles: it can be only one thing")
        for column in self.sensitive:
            if column.k < 1:
                raise ParameterError(f"k must be at least 1, not {column.k}")
            if column.values is not None and len(set(column.values)) < max(1, column.k - 1):
                raise ParameterError(
                    f"'{column.name}' has {len(column.values)} values: nobody can keep {column.k} of them"
                )
            self._check_list(column)
            if column.alike and (self.on_violation != "add" or self.open_leaks):
                raise ParameterError(
                    f"'{column.name}': 'alike' needs surplus values: on_violation = \"add\", no leak"
                )
            if column.closeness is not None and not 0 < column.closeness <= 1:
                raise ParameterError("'closeness' must be above 0 and at most 1")

    def _check_list(self, column: Sensitive) -> None:
        section = f"[sensitive.{column.name}]"
        _one_of(f"{section} values_from", column.values_from, ORIGINS)
        if OTHER in (column.values or ()):
            raise ParameterError(
                f"{section} 'values': {OTHER} stands for whatever the list lacks; take it out"
            )
        if column.values_from == "public":
            if column.holders is not None:
                raise ParameterError(f"{section} 'holders' belongs to values_from = \"table\"")
        elif column.values is None or column.holders is None or column.holders < LEAST_HOLDERS:
            raise ParameterError(
                f"{section} values_from = \"table\" needs 'values' and 'holders', at least {LEAST_HOLDERS}: "
                f"'tarn gate values' writes them"
            )

    def require_values(self) -> None:
        """Refuse a policy that does not say which values there are; a gate cannot keep its promise then."""
        for column in self.sensitive:
            if column.values is None:
                raise ParameterError(
                    f"{self.place}: [sensitive.{column.name}] needs 'values': the list is public, and one "
                    "read from the table tells that each value has a holder; run "
                    f"'tarn gate values {self.place}'"
                )

    def _check_groups(self) -> None:
        if (self.collusion == "groups") != bool(self.groups):
            raise ParameterError("'groups' and collusion = \"groups\" belong together: give both or neither")
        members = [user for group in self.groups.values() for user in group]
        for user in members:
            if members.count(user) > 1:
                raise ParameterError(
                    f"the user '{user}' is in two groups: their knowledge would flow together; make them one"
                )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the policy gives up, for the log of every start."""
        given_up = [f"this policy accepts the leak '{leak}': {LEAKS[leak]}" for leak in self.open_leaks]
        if self.known is not None:
            given_up.append(
                "the people of 'known' are not protected: whoever sees the answers may learn their values"
            )
        if self.collusion != "everyone":
            given_up.append(
                f'collusion = "{self.collusion}": users who are not presumed to work together can undo the '
                "protection by comparing their answers"
            )
        return tuple(given_up)

    @property
    def open_leaks(self) -> tuple[str, ...]:
        """The leaks that are open: those that are accepted and that this policy can have."""
        possible = "minimal-values" if self.on_violation == "add" else "refusals"
        return (possible,) if possible in self.accepted_leaks else ()

    @property
    def answers_everybody(self) -> bool:
        """Whether it answers by the rule of `surplus`, which counts with changes, lists and known values; by
        the others, people whose value changed or who are held back for a list are in no answer.
        """
        return self.on_violation == "add" and not self.open_leaks

    @property
    def kinds(self) -> dict[str, str]:
        """The columns that say what a cell of a sensitive column is, and of which each does."""
        if self.form == "anatomy":
            return {}
        named = {f"{column.name}{KIND}": column.name for column in self.sensitive}
        return {name: column for name, column in named.items() if name not in (self.key, *self.columns)}

    def history_of(self, user: str) -> str:
        """Whose answers are presumed to be seen together with those of a user."""
        if self.users is not None and user not in self.users:
            raise AccessError(f"the policy has no user '{user}'")
        if self.collusion == "everyone":
            return "everyone"
        if self.collusion == "single":
            return f"user {user}"
        for group, members in self.groups.items():
            if user in members:
                return f"group {group}"
        raise AccessError(f"the user '{user}' is in no group of the policy")

    def sensitive_column(self, name: str) -> Sensitive | None:
        """A sensitive column by its name; None if it is none."""
        return next((column for column in self.sensitive if column.name == name), None)

    @property
    def columns(self) -> tuple[str, ...]:
        """What may be shown."""
        return (*self.quasi_identifiers, *(column.name for column in self.sensitive))


def _one_of(key: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        meant = near(value, known)
        hint = f"did you mean '{meant[0]}'?" if meant else f"known are {', '.join(known)}"
        raise ParameterError(f"{key} = '{value}' is unknown: {hint}")
