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
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from tarnkappe.errors import AccessError, ParameterError, Reason
from tarnkappe.gate.belief import full_weights, largest_belief, least_k
from tarnkappe.gate.policy_columns import ON_VIOLATION, OTHER, PROMISING, Sensitive, Surplus, WorldEffort
from tarnkappe.schema import near
from tarnkappe.schema.documents import parse
from tarnkappe.schema.problem import meant_or
from tarnkappe.schema.written import read_toml

Kind = TypeVar("Kind")

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
    surplus: Surplus = dataclasses.field(default_factory=Surplus)
    search: WorldEffort = dataclasses.field(default_factory=WorldEffort)
    form: str = "permuted"
    tell_artificial: bool = False
    min_rows: int = 1
    max_rows: int | None = None
    store: str = dataclasses.field(default="tarnkappe.state", repr=False)
    key_file: str = "tarnkappe.key"
    users: tuple[str, ...] | None = None
    known: str | None = None
    belief: float | None = None
    refresh: float = 60.0
    changed_by: str | None = None
    place: str = dataclasses.field(default="gate.toml", compare=False)

    @classmethod
    def load(cls, path: str | Path) -> GatePolicy:
        """Read a policy file; relative paths start at its folder."""
        return cls.from_dict(read_toml(path, "policy"), Path(path).parent, name=str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path(), *, name: str = "") -> GatePolicy:
        """A policy from the content of a policy file."""
        from tarnkappe.gate.policy_file import GateDocument

        policy = parse(GateDocument, content, folder.absolute(), name=name).policy
        return dataclasses.replace(policy, place=name) if name else policy

    def __post_init__(self) -> None:
        _one_of("on_violation", self.on_violation, ON_VIOLATION)
        _one_of("collusion", self.collusion, COLLUSION)
        _one_of("form", self.form, FORMS)
        if self.strategy not in PROMISING:
            raise ParameterError(
                "gate.strategy-keeps-no-promise",
                "strategy = '{strategy}' keeps no promise that a policy can make: choose {promising}; "
                "others are for comparisons, in Python and in 'tarn bench gate'",
                strategy=self.strategy,
                promising=" or ".join(PROMISING),
            )
        _one_of("[surplus] draw", self.surplus.draw, DRAWS)
        for leak in self.accepted_leaks:
            _one_of("accept_leak_through", leak, tuple(LEAKS))
        self._check_columns()
        self._check_groups()
        if self.surplus.share < 0 or (self.surplus.least or 0) < 0 or not 0 < self.surplus.spread <= 100:
            raise ParameterError(
                "gate.surplus-share-least-must-not-negative",
                "[surplus]: 'share' and 'least' must not be negative, 'spread' must be above 0, at most 100",
            )
        if not 0 <= self.surplus.root <= 1000:
            raise ParameterError("gate.surplus-root-must-0", "[surplus]: 'root' must be from 0 to 1000")
        if self.known is not None and not self.answers_everybody:
            raise ParameterError(
                "gate.known-needs-surplus-values",
                "'known' needs surplus values: on_violation = \"add\", no leak",
            )
        self._check_beliefs()
        if not 0 <= self.refresh <= 86_400:
            raise ParameterError(
                "gate.table-refresh-must-0", "[table] 'refresh' must be from 0 to 86400 seconds"
            )
        if self.min_rows < 1 or (self.max_rows is not None and self.max_rows < self.min_rows):
            raise ParameterError(
                "gate.min-rows-must-least-1", "'min_rows' must be at least 1, and 'max_rows' not less than it"
            )

    def _check_columns(self) -> None:
        if not self.sensitive:
            raise ParameterError(
                "gate.no-column-sensitive-add",
                "no column is sensitive: add a section such as [sensitive.disease]",
            )
        names = [self.key, *self.quasi_identifiers, *(column.name for column in self.sensitive)]
        for name in names:
            if names.count(name) > 1:
                raise ParameterError(
                    "gate.column-two-roles-can-only-thing",
                    "the column '{name}' has two roles: it can be only one thing",
                    name=name,
                )
        for column in self.sensitive:
            if column.k < 1:
                raise ParameterError("gate.k-must-least-1", "k must be at least 1, not {k}", k=column.k)
            if column.values is not None and len(set(column.values)) < max(1, column.k - 1):
                raise ParameterError(
                    "gate.policy-values-nobody-can-keep",
                    "'{column}' has {values} {values:value|values}: nobody can keep {k} of them",
                    column=column.name,
                    values=len(column.values),
                    k=column.k,
                )
            self._check_list(column)
            if column.alike and (self.on_violation != "add" or self.open_leaks):
                raise ParameterError(
                    "gate.alike-needs-surplus-values",
                    "'{column}': 'alike' needs surplus values: on_violation = \"add\", no leak",
                    column=column.name,
                )
            if column.closeness is not None and not 0 < column.closeness <= 1:
                raise ParameterError(
                    "gate.closeness-must-above-0", "'closeness' must be above 0 and at most 1"
                )

    def _check_list(self, column: Sensitive) -> None:
        section = f"[sensitive.{column.name}]"
        _one_of(f"{section} values_from", column.values_from, ORIGINS)
        if OTHER in (column.values or ()):
            raise ParameterError(
                "gate.values-stands-whatever-list",
                "{section} 'values': {other} stands for whatever the list lacks; take it out",
                section=section,
                other=OTHER,
            )
        if column.values_from == "public":
            if column.holders is not None:
                raise ParameterError(
                    "gate.holders-belongs-values-table",
                    "{section} 'holders' belongs to values_from = \"table\"",
                    section=section,
                )
        elif column.values is None or column.holders is None or column.holders < LEAST_HOLDERS:
            raise ParameterError(
                "gate.values-table-needs-values",
                "{section} values_from = \"table\" needs 'values' and 'holders', at least {least_holders}: "
                "'tarn gate values' writes them",
                section=section,
                least_holders=LEAST_HOLDERS,
            )

    def _check_beliefs(self) -> None:
        if self.strategy == "veil":
            if not self.answers_everybody:
                raise ParameterError(
                    "gate.strategy-veil-needs-violation",
                    "strategy = 'veil' needs on_violation = \"add\", and accepts no leak",
                )
            if self.known is not None:
                raise ParameterError(
                    "gate.strategy-veil-holds-whoever",
                    "strategy = 'veil' holds whoever is known: take 'known' out",
                )
            for column in self.sensitive:
                if column.values_from == "table" or column.alike:
                    raise ParameterError(
                        "gate.sensitive-strategy-veil-needs",
                        "[sensitive.{column}] strategy = 'veil' needs a public list without 'alike': one of"
                        " the table links people",
                        column=column.name,
                    )
        elif self.belief is not None:
            raise ParameterError(
                "gate.belief-needs-strategy-veil",
                "'belief' needs strategy = \"veil\": others bound no probability",
            )
        if self.belief is not None and not 0 < self.belief <= 1:
            raise ParameterError("gate.belief-must-above-0", "'belief' must be above 0 and at most 1")
        for column in self.sensitive:
            self._check_belief(column)

    def _check_belief(self, column: Sensitive) -> None:
        section, labels = f"[sensitive.{column.name}]", {*(column.values or ()), OTHER}
        for label in {*column.weights, *column.harmless} - labels if column.values is not None else ():
            raise ParameterError(
                "gate.weights-harmless-listed-values",
                "{section} 'weights' and 'harmless' are of listed values, not '{label}'",
                section=section,
                label=label,
            )
        if any(weight < 0 for weight in column.weights.values()) or sum(column.weights.values()) > 1.000001:
            raise ParameterError(
                "gate.weights-must-not-negative",
                "{section} 'weights' must not be negative, and together at most 1",
                section=section,
            )
        if self.belief is None or column.values is None:
            return
        weights = full_weights(sorted(labels), column.weights)
        label, most = largest_belief(weights, column.k, column.harmless)
        if most > self.belief:
            enough = least_k(weights, self.belief, column.harmless)
            hint = f"k = {enough} would do" if enough else "no k would do"
            raise ParameterError(
                "gate.k-somebody-could-believe",
                "{section} with k = {k} somebody could believe in '{label}' with {most:.3f}, more than "
                "belief = {belief}: {hint}",
                section=section,
                k=column.k,
                label=label,
                most=most,
                belief=self.belief,
                hint=hint,
            )

    def require_values(self) -> None:
        """Refuse a policy that does not say which values there are; a gate cannot keep its promise then."""
        for column in self.sensitive:
            if column.values is None:
                raise ParameterError(
                    "gate.sensitive-needs-values-list",
                    "{place}: [sensitive.{column}] needs 'values': the list is public, and one read from "
                    "the table tells that each value has a holder; run 'tarn gate values {place}'",
                    place=self.place,
                    column=column.name,
                )

    def _check_groups(self) -> None:
        if (self.collusion == "groups") != bool(self.groups):
            raise ParameterError(
                "gate.groups-collusion-groups-belong",
                "'groups' and collusion = \"groups\" belong together: give both or neither",
            )
        members = [user for group in self.groups.values() for user in group]
        for user in members:
            if members.count(user) > 1:
                raise ParameterError(
                    "gate.user-two-groups-knowledge",
                    "the user '{user}' is in two groups: their knowledge would flow together; make them one",
                    user=user,
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
            raise AccessError("gate.policy-no-user", "the policy has no user '{user}'", user=user)
        if self.collusion == "everyone":
            return "everyone"
        if self.collusion == "single":
            return f"user {user}"
        for group, members in self.groups.items():
            if user in members:
                return f"group {group}"
        raise AccessError(
            "gate.user-no-group-policy", "the user '{user}' is in no group of the policy", user=user
        )

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
        hint = meant_or(meant, Reason("schema.known", "known are {known}", known=", ".join(known)))
        raise ParameterError(
            "gate.key-value-hint-unknown",
            "{key} = '{value}' is unknown: {hint}",
            key=key,
            value=value,
            hint=hint,
        )
