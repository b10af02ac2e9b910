"""The global statistics: how frequent things are in the population, with where each figure comes from.

Only figures about many people are kept. A figure says: of the people with some condition (or of everybody),
this share has these values. Later figures take the place of earlier ones about the same thing; earlier ones
stay, so that it can be told what an old check rested on.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import InputError
from tarnkappe.state import AuditLog, Store
from tarnkappe.state.component import Component

LEAST_POPULATION = 1000
"""A figure about fewer people is not a statistic but a list of patients."""

EVERYBODY = ("", "")
"""The condition that everybody meets."""

METADATA = sa.MetaData()
STATISTICS = Component("statistics", METADATA)
FACTS = sa.Table(
    "statistics_facts",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("condition_type", sa.String, nullable=False),
    sa.Column("condition_value", sa.String, nullable=False),
    sa.Column("attributes", sa.String, nullable=False),
    sa.Column("values", sa.String, nullable=False),
    sa.Column("probability", sa.Float, nullable=False),
    sa.Column("population", sa.BigInteger, nullable=False),
    sa.Column("source", sa.String, nullable=False),
    sa.Column("valid_from", sa.String, nullable=False),
    sa.Column("margin", sa.Float, nullable=False),
    sa.Column("imported", sa.Integer, nullable=False),
    sa.Index("statistics_by_condition", "condition_type", "condition_value", "attributes"),
)
IMPORTS = sa.Table(
    "statistics_imports",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("origin", sa.String, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("time", sa.String, nullable=False),
    sa.Column("facts", sa.Integer, nullable=False),
)


@dataclasses.dataclass(frozen=True)
class PopulationFigure:
    """A figure of the population.

    Attributes:
        condition: the kind and the value of what the people have in common (a medication, a disease, an
            occupation); two empty texts for everybody.
        values: the values of one or several attributes.
        probability: the share of these people who have all these values.
        population: how many such people there are in the reference area.
        source: who published it.
        valid_from: since when it holds.
        margin: by how much the share may be off, where it was counted with noise.
    """

    condition: tuple[str, str]
    values: Mapping[str, str]
    probability: float
    population: int
    source: str
    valid_from: date
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not self.values:
            raise InputError(
                "exchange.figure-about-no-attribute",
                "a figure is about no attribute: name at least one with its value",
            )
        if not 0 <= self.probability <= 1:
            raise InputError(
                "exchange.probability-figure-number-0", "the probability of a figure is a number from 0 to 1"
            )
        if self.population < LEAST_POPULATION:
            raise InputError(
                "exchange.figure-about-people-fewer",
                "a figure is about {population} people: fewer than {least_population} are no population but"
                " patients, whose data do not belong here",
                population=self.population,
                least_population=LEAST_POPULATION,
            )
        if not self.source.strip():
            raise InputError("exchange.figure-no-source-say", "a figure has no source: say who published it")


class Statistics:
    """The statistics in a store.

    >>> everybody = ("", "")
    >>> women = PopulationFigure(everybody, {"sex": "W"}, 0.51, 9_000_000, "census", date(2024, 1, 1))
    >>> statistics = Statistics(Store.in_memory())
    >>> statistics.add([women], "census.csv", "0" * 64)
    1
    >>> statistics.distribution(everybody, ("sex",)).shares
    {('W',): 0.51}
    """

    def __init__(self, store: Store) -> None:
        store.ensure(STATISTICS)
        self.store = store

    def add(self, facts: Iterable[PopulationFigure], origin: str, digest: str) -> int:
        """Keep figures, all or none; the number of the import.

        Args:
            facts: the figures.
            origin: where they come from, such as the name of a file.
            digest: the hash of that file.
        """
        rows = [_row(fact) for fact in facts]
        if not rows:
            raise InputError("exchange.no-figures", "{origin}: there are no figures", origin=origin)
        with self.store.writing() as connection:
            imported = connection.execute(
                sa.insert(IMPORTS)
                .values(origin=origin, digest=digest, time=_now(), facts=len(rows))
                .returning(IMPORTS.c.number)
            ).scalar_one()
            connection.execute(sa.insert(FACTS), [{**row, "imported": imported} for row in rows])
            told = {"origin": origin, "digest": digest, "facts": len(rows)}
            AuditLog(self.store).append("statistics imported", told, connection)
        return int(imported)

    def distribution(
        self, condition: tuple[str, str], attributes: Sequence[str], today: date | None = None
    ) -> PopulationDistribution:
        """The latest figures about some attributes of the people with a condition."""
        found = self._facts(condition[0], attributes, today, FACTS.c.condition_value == condition[1])
        return _distribution(attributes, found)

    def distributions(
        self, condition_type: str, attributes: Sequence[str], today: date | None = None
    ) -> dict[str, PopulationDistribution]:
        """The latest figures about some attributes, by the value of a kind of condition."""
        by_value: dict[str, list[sa.Row[Any]]] = {}
        for row in self._facts(condition_type, attributes, today):
            by_value.setdefault(row.condition_value, []).append(row)
        return {value: _distribution(attributes, rows) for value, rows in by_value.items()}

    def _facts(
        self, kind: str, attributes: Sequence[str], today: date | None, *more: sa.ColumnElement[bool]
    ) -> Sequence[sa.Row[Any]]:
        names = json.dumps(sorted(attributes), ensure_ascii=False)
        until = (today or date.today()).isoformat()
        with self.store.reading() as connection:
            return connection.execute(
                sa.select(FACTS)
                .where(
                    FACTS.c.condition_type == kind,
                    FACTS.c.attributes == names,
                    FACTS.c.valid_from <= until,
                    *more,
                )
                .order_by(FACTS.c.valid_from, FACTS.c.number)
            ).all()

    def joint_attributes(self, condition: tuple[str, str]) -> list[tuple[str, ...]]:
        """The combinations of attributes that there are figures of."""
        with self.store.reading() as connection:
            found = connection.execute(
                sa.select(FACTS.c.attributes)
                .where(FACTS.c.condition_type == condition[0], FACTS.c.condition_value == condition[1])
                .distinct()
                .order_by(FACTS.c.attributes)
            ).scalars()
            return [tuple(json.loads(names)) for names in found]

    def imports(self) -> list[dict[str, Any]]:
        """Every import with its origin, hash, time and number of figures, the oldest first."""
        with self.store.reading() as connection:
            found = connection.execute(sa.select(IMPORTS).order_by(IMPORTS.c.number))
            return [dict(row._mapping) for row in found]


@dataclasses.dataclass(frozen=True)
class PopulationDistribution:
    """How the values of some attributes are distributed among the people with a condition.

    Attributes:
        attributes: the attributes, in alphabetical order.
        shares: the share of each combination of values that is known.
        population: how many such people there are, if that is known.
        sources: who published it and since when it holds.
        margin: by how much each share may be off.
    """

    attributes: tuple[str, ...]
    shares: Mapping[tuple[str, ...], float]
    population: int | None = None
    sources: tuple[str, ...] = ()
    margin: float = 0.0

    @property
    def unknown(self) -> float:
        """The share of the people of whom nothing is known."""
        return max(0.0, 1.0 - sum(self.shares.values()))

    def __bool__(self) -> bool:
        return bool(self.shares)


def _distribution(attributes: Sequence[str], facts: Sequence[sa.Row[Any]]) -> PopulationDistribution:
    """Of figures about the same thing, the last one counts; noisy ones only where nothing was published."""
    exact = [row for row in facts if not row.margin] or facts
    shares = {tuple(json.loads(row.values)): row for row in exact}
    return PopulationDistribution(
        tuple(sorted(attributes)),
        {key: row.probability for key, row in shares.items()},
        max((row.population for row in shares.values()), default=None),
        tuple(sorted({f"{row.source} ({row.valid_from})" for row in shares.values()})),
        max((row.margin for row in shares.values()), default=0.0),
    )


def _row(fact: PopulationFigure) -> dict[str, Any]:
    names = sorted(fact.values)
    return {
        "condition_type": fact.condition[0],
        "condition_value": fact.condition[1],
        "attributes": json.dumps(names, ensure_ascii=False),
        "values": json.dumps([fact.values[name] for name in names], ensure_ascii=False),
        "probability": float(fact.probability),
        "population": int(fact.population),
        "source": fact.source,
        "valid_from": fact.valid_from.isoformat(),
        "margin": float(fact.margin),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
