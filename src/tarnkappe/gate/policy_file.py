"""What the file of a gate may say: every section and key, declared once, and the policy that follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta, field

from tarnkappe.errors import TarnkappeError
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.policy_columns import Sensitive, Surplus, WorldEffort
from tarnkappe.schema import (
    MANY_ROWS,
    MOST_NAMES,
    MOST_VALUES,
    Name,
    NotNegative,
    Number,
    Parameters,
    Positive,
    Problem,
    Rows,
    Seconds,
    Text,
    Whole,
    param,
    rule,
)
from tarnkappe.schema.documents import refused

Names = Annotated[tuple[Name, ...], Meta(max_length=MOST_NAMES)]
Values = Annotated[tuple[Text | Number, ...], Meta(max_length=MOST_VALUES)]
PositiveShare = Annotated[int, Meta(gt=0, le=1)] | Annotated[float, Meta(gt=0, le=1)]
Spread = Annotated[int, Meta(gt=0, le=100)] | Annotated[float, Meta(gt=0, le=100)]
Root = Annotated[int, Meta(ge=0, le=1000)] | Annotated[float, Meta(ge=0, le=1000)]
Steps = Annotated[int, Meta(ge=0, le=10**9)]
DayLong = Annotated[int, Meta(ge=0, le=86_400)] | Annotated[float, Meta(ge=0, le=86_400)]
Slot = Annotated[int, Meta(gt=0, le=60)] | Annotated[float, Meta(gt=0, le=60)]
NoSeconds = Annotated[int, Meta(ge=0, le=10**9)] | Annotated[float, Meta(ge=0, le=1e9)]


def different(names: Sequence[str], *path: str) -> Iterator[Problem]:
    """What is said of a list that has something twice."""
    if len(set(names)) < len(names):
        yield rule("gate.twice", "the list has something twice", *path)


class GateTable(Parameters, kw_only=True):
    """What is protected: `[table]`."""

    source: Annotated[
        Name, param("a Parquet or CSV file, or the address of a database; it is only ever read", kind="file")
    ]
    name: Annotated[Name, param("what analysts call the table; in a database, the table")]
    key: Annotated[Name, param("the column that names a person, exactly once; never shown", kind="column")]
    quasi_identifiers: Annotated[
        tuple[Name, ...],
        param("the columns by which people are chosen", kind="columns", max_length=MOST_NAMES),
    ]
    refresh: Annotated[
        DayLong, param("between two looks at the table; 0 looks before every question", unit="seconds")
    ] = GatePolicy.refresh
    changed_by: Annotated[
        Name | None, param("in PostgreSQL, a column that grows with every change", kind="column")
    ] = None

    def rules(self) -> Iterator[Problem]:
        """No column twice."""
        yield from different(self.quasi_identifiers, "quasi_identifiers")


class SensitiveSection(Parameters, kw_only=True):
    """One sensitive column: `[sensitive.COLUMN]`."""

    k: Annotated[
        Rows | None, param("possible values that everybody keeps; that of [protection] if not said")
    ] = None
    values: Annotated[
        Values | None, param("everything that the column may have, texts or numbers", kind="values")
    ] = None
    values_from: Annotated[
        Literal["public", "table"],
        param("where the list comes from: known anyway, or read from the table"),
    ] = "public"
    holders: Annotated[
        Whole | None, param("people who had each value of a list of the table, at least", unit="people")
    ] = None
    alike: Annotated[
        Annotated[tuple[Values, ...], Meta(max_length=MOST_VALUES)],
        param("lists of values that count as one"),
    ] = ()
    weights: Annotated[
        Annotated[Mapping[Text, NotNegative], Meta(max_length=MOST_VALUES)],
        param("how likely values are for somebody who never saw the table"),
    ] = field(default_factory=dict)
    harmless: Annotated[
        Annotated[tuple[Text, ...], Meta(max_length=MOST_VALUES)],
        param("values that `belief` leaves out", kind="values"),
    ] = ()
    closeness: Annotated[
        PositiveShare | None,
        param("for the audit: how far anybody's possible values may be from those of all"),
    ] = None

    def rules(self) -> Iterator[Problem]:
        """No value twice."""
        yield from different([str(value) for value in self.values or ()], "values")
        yield from different(self.harmless, "harmless")


class Protection(Parameters, kw_only=True):
    """What is promised: `[protection]`."""

    k: Annotated[Rows | None, param("possible values that everybody keeps", unit="values", start=3)] = None
    on_violation: Annotated[
        Literal["add", "refuse"], param("answer with artificial values, or with true values or none")
    ] = "add"
    accept_leak_through: Annotated[
        tuple[Literal["minimal-values", "refusals"], ...],
        param("the leaks that are accepted, by name", max_length=MOST_NAMES),
    ] = ()
    collusion: Annotated[
        Literal["everyone", "groups", "single"], param("who is presumed to compare answers")
    ] = "everyone"
    known: Annotated[
        Name | None, param("a CSV file with people whose values count as known", kind="file")
    ] = None
    belief: Annotated[
        PositiveShare | None, param("how likely any value of anybody may become, with the strategy veil")
    ] = None
    strategy: Annotated[Text, param("how answers are found: witness-pool, exact or veil")] = "witness-pool"

    def rules(self) -> Iterator[Problem]:
        """No leak twice."""
        yield from different(self.accept_leak_through, "accept_leak_through")


class SurplusSection(Parameters, kw_only=True):
    """How many artificial values every answer has: `[surplus]`."""

    share: Annotated[NotNegative, param("at least so many for each person in the answer")] = Surplus.share
    least: Annotated[Whole | None, param("at least so many in any case; k if not said", unit="values")] = None
    spread: Annotated[Spread, param("how many more at random, on average", unit="values")] = Surplus.spread
    root: Annotated[Root, param("no more than so many times the square root of people times values")] = (
        Surplus.root
    )
    draw: Annotated[Literal["auto", "even", "independent"], param("how artificial values are drawn")] = "auto"


class WorldSearchSection(Parameters, kw_only=True):
    """How hard possible worlds are looked for before an answer grows: `[search]`."""

    steps: Annotated[Steps, param("how long one world is mended", unit="steps")] = WorldEffort.steps
    work: Annotated[Steps, param("how many steps an answer takes, about", unit="steps")] = WorldEffort.work
    largest: Annotated[Steps, param("larger answers grow at once", unit="people")] = WorldEffort.largest


class AnswerForm(Parameters, kw_only=True):
    """What answers look like: `[answer]`."""

    form: Annotated[
        Literal["permuted", "generalized", "anatomy"], param("how values and people are kept apart")
    ] = "permuted"
    tell_artificial: Annotated[
        bool, param("whether clients are told how many values of an answer are artificial")
    ] = False
    min_rows: Annotated[Rows, param("fewer people than this are refused", unit="people")] = 1
    max_rows: Annotated[Rows | None, param("more people than this are refused", unit="people")] = None


class StateSection(Parameters, kw_only=True):
    """Where a gate remembers: `[state]`."""

    store: Annotated[Name, param("a file of SQLite, or the address of a database", kind="file")] = (
        "tarnkappe.state"
    )
    key: Annotated[Name, param("the file with the key that marks people in the store", kind="file")] = (
        "tarnkappe.key"
    )


class UsersSection(Parameters, kw_only=True):
    """Who may ask: `[users]`."""

    names: Annotated[Names | None, param("who may ask; all who can log in if not said")] = None
    groups: Annotated[
        Annotated[Mapping[Name, Names], Meta(max_length=MOST_NAMES)],
        param('with collusion = "groups": who works together; nobody is in two'),
    ] = field(default_factory=dict)

    def rules(self) -> Iterator[Problem]:
        """Nobody twice."""
        yield from different(self.names or (), "names")
        for group, members in self.groups.items():
            yield from different(members, "groups", group)


class ServerSection(Parameters, kw_only=True):
    """How a gate is served: `[server]`. All of it is optional."""

    listen: Annotated[Name, param("host and port; a host that others can reach needs a certificate")] = (
        "127.0.0.1:5433"
    )
    users: Annotated[
        Name, param("the file with names and verifiers, made by `tarn gate user add`", kind="file")
    ] = "users.toml"
    certificate: Annotated[
        Name | None, param("a PEM file; with it nobody is let in without TLS", kind="file")
    ] = None
    private_key: Annotated[Name | None, param("the PEM file with its key", kind="file")] = None
    metrics: Annotated[Name | None, param("host and port of /metrics for Prometheus, on this machine")] = None
    deadline: Annotated[
        Slot, param("an answer leaves so long after its turn came", kind="seconds", unit="seconds")
    ] = 0.25
    waiting: Annotated[
        int, param("statements of one history that may wait for their turn", ge=1, le=1_000_000)
    ] = 100
    aggregates: Annotated[
        Literal["view", "estimate", "noisy", "refuse"], param("where aggregates are worked out from")
    ] = "view"
    post_processing: Annotated[bool, param("whether any SELECT may run over protected answers")] = True
    epsilon: Annotated[Positive, param("of one noisy figure")] = 0.1
    budget: Annotated[Positive, param("of all noisy figures of users who work together")] = 1.0
    bounds: Annotated[
        Annotated[Mapping[Name, tuple[Number, Number]], Meta(max_length=MOST_NAMES)],
        param("between which numbers a column counts in noisy sums and means"),
    ] = field(default_factory=dict)
    connections: Annotated[int, param("the most clients at once", ge=1, le=1_000_000)] = 100
    largest_message: Annotated[
        int, param("the longest message of a client", kind="bytes", unit="bytes", ge=1_024, le=2**31)
    ] = 1_048_576
    login_seconds: Annotated[
        Seconds, param("how long somebody may take to log in", kind="seconds", unit="seconds")
    ] = 15.0
    failure_seconds: Annotated[
        NoSeconds, param("how long a failed login waits for its answer", kind="seconds", unit="seconds")
    ] = 1.0
    idle_seconds: Annotated[
        Seconds, param("how long a client may be silent", kind="seconds", unit="seconds")
    ] = 3_600.0
    send_seconds: Annotated[
        Seconds, param("how long a client may take to accept what it is sent", kind="seconds", unit="seconds")
    ] = 60.0
    grace_seconds: Annotated[
        Seconds, param("how long clients may take when the service stops", kind="seconds", unit="seconds")
    ] = 1.0

    def rules(self) -> Iterator[Problem]:
        """Bounds are in order; the rest is as the settings that follow say."""
        for name, (least, most) in self.bounds.items():
            if least >= most:
                yield rule("gate.bounds", "the first number must be the smaller one", "bounds", name)

    @property
    def exact_bounds(self) -> dict[str, tuple[Fraction, Fraction]]:
        """The bounds as they were written."""
        return {name: (Fraction(str(a)), Fraction(str(b))) for name, (a, b) in self.bounds.items()}


class GateDocument(Parameters, kw_only=True):
    """The file of a gate: what it protects, how, and how it is served."""

    table: Annotated[GateTable, param("what is protected")]
    sensitive: Annotated[
        Annotated[Mapping[Name, SensitiveSection], Meta(max_length=MOST_NAMES)],
        param("one [sensitive.COLUMN] for each sensitive column"),
    ] = field(default_factory=dict)
    protection: Annotated[Protection, param("what is promised")] = Protection()
    surplus: Annotated[SurplusSection, param("how many artificial values answers have")] = SurplusSection()
    search: Annotated[WorldSearchSection, param("how hard possible worlds are looked for")] = (
        WorldSearchSection()
    )
    answer: Annotated[AnswerForm, param("what answers look like")] = AnswerForm()
    state: Annotated[StateSection, param("where the gate remembers")] = StateSection()
    users: Annotated[UsersSection, param("who may ask")] = UsersSection()
    server: Annotated[ServerSection, param("how it is served")] = ServerSection()

    def rules(self) -> Iterator[Problem]:
        """The policy can be made."""
        for name, column in self.sensitive.items():
            if column.k is None and self.protection.k is None:
                yield rule(
                    "gate.k",
                    "how many values does everybody keep? Set k here or in [protection]",
                    "sensitive",
                    name,
                    "k",
                )
                return
        try:
            self.policy  # noqa: B018  it is made, or says why not
        except TarnkappeError as error:
            yield refused(error.reason)

    @property
    def policy(self) -> GatePolicy:
        """The policy that the file says."""
        table, protection, surplus = self.table, self.protection, self.surplus
        return GatePolicy(
            source=table.source,
            table=table.name,
            key=table.key,
            quasi_identifiers=tuple(table.quasi_identifiers),
            sensitive=tuple(_sensitive(n, said, protection.k) for n, said in self.sensitive.items()),
            on_violation=protection.on_violation,
            accepted_leaks=frozenset(protection.accept_leak_through),
            collusion=protection.collusion,
            groups={name: tuple(members) for name, members in self.users.groups.items()},
            strategy=protection.strategy,
            surplus=Surplus(
                share=float(surplus.share),
                least=surplus.least,
                spread=float(surplus.spread),
                root=float(surplus.root),
                draw=surplus.draw,
            ),
            search=WorldEffort(self.search.steps, self.search.work, self.search.largest),
            form=self.answer.form,
            tell_artificial=self.answer.tell_artificial,
            min_rows=self.answer.min_rows,
            max_rows=self.answer.max_rows,
            store=self.state.store,
            key_file=self.state.key,
            users=None if self.users.names is None else tuple(self.users.names),
            known=protection.known,
            belief=protection.belief,
            refresh=float(table.refresh),
            changed_by=table.changed_by,
        )


def _sensitive(name: str, said: SensitiveSection, k: int | None) -> Sensitive:
    return Sensitive(
        name=name,
        k=said.k or k or MANY_ROWS,  # a file without either is refused
        values=None if said.values is None else tuple(map(str, said.values)),
        values_from=said.values_from,
        holders=said.holders,
        alike=tuple(frozenset(map(str, values)) for values in said.alike),
        closeness=None if said.closeness is None else float(said.closeness),
        weights={label: float(weight) for label, weight in said.weights.items()},
        harmless=frozenset(said.harmless),
    )
