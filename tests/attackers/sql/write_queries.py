"""Somebody who writes every query that he can think of, and many that he cannot, to see a raw value."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator

from tests.attackers.attacker import Attacker, Victim

COLUMNS = {
    "patients": ("pid", "name", "plz", "age", "sex", "diagnosis", "cost", "admitted"),
    "visits": ("pid", "ward"),
    "icd": ("code", "chapter"),
}
OPERATORS = (
    "generalize(patients, k => 2, by => [plz])",
    "generalize(patients, k => 2, by => [plz, age])",
    "generalize((SELECT * FROM patients), k => 3, by => [sex])",
    "generalize(visits, k => 2, by => [ward])",
    "slice((SELECT plz, diagnosis FROM patients), groups => [[plz], [diagnosis]])",
    "slice((SELECT pid, ward FROM visits), groups => [[pid], [ward]])",
)
BY_HAND = (
    "SELECT * FROM patients",
    "SELECT name FROM patients",
    "SELECT p FROM patients p",
    "SELECT COLUMNS('.*') FROM patients",
    "SELECT * EXCLUDE (plz) FROM patients",
    "SELECT upper(name) AS n FROM patients",
    "SELECT max(name) AS n FROM patients",
    "SELECT string_agg(name, ',') AS n FROM patients",
    "SELECT plz FROM patients ORDER BY admitted LIMIT 1",
    "SELECT DISTINCT plz FROM patients WHERE name LIKE 'B%'",
    "SELECT * FROM patients p JOIN visits v ON p.pid = v.pid",
    "SELECT * FROM patients p LEFT JOIN visits v USING (pid)",
    "SELECT * FROM patients, visits",
    "SELECT * FROM patients NATURAL JOIN visits",
    "SELECT * FROM visits",
    "SELECT pid, count(*) AS n FROM visits GROUP BY pid",
    "SELECT (SELECT max(pid) FROM visits) AS m FROM icd",
    "SELECT code FROM icd WHERE EXISTS (SELECT 1 FROM visits WHERE ward = 'A')",
    "SELECT code FROM icd UNION ALL SELECT name FROM patients",
    "SELECT code FROM icd EXCEPT SELECT name FROM patients",
    "WITH p AS (SELECT * FROM patients) SELECT name FROM p",
    "WITH icd AS (SELECT name AS code FROM patients) SELECT code FROM icd",
    "WITH patients AS (SELECT * FROM visits) SELECT * FROM patients",
    "SELECT noisy_count(epsilon => 0.001) AS n, max(pid) AS m FROM visits",
    "SELECT n, m FROM (SELECT noisy_count(epsilon => 0.001) AS n FROM visits) CROSS JOIN (SELECT max(pid) AS m FROM visits)",
    "SELECT name, noisy_count(epsilon => 0.001) AS n FROM patients GROUP BY name",
    "SELECT pid, noisy_count(epsilon => 0.001) AS n FROM visits GROUP BY pid",
    "SELECT noisy_count(epsilon => 0.001) AS n FROM patients UNION ALL SELECT pid FROM patients",
    "WITH v AS (SELECT * FROM visits) SELECT noisy_count(epsilon => 0.001) AS n FROM v UNION ALL SELECT pid FROM v",
    "SELECT * FROM generalize(patients, k => 1, by => [plz])",
    "SELECT * FROM generalize((SELECT pid, name FROM patients), k => 1, by => [name])",
    "SELECT * FROM randomize(patients, probability => {plz: 0})",
    "SELECT * FROM slice((SELECT name, pid FROM patients), groups => [[name, pid]])",
    "SELECT CAST(plz AS INTEGER) AS n FROM patients",
    "SELECT error(plz) AS n FROM patients",
    "SELECT * FROM read_csv('patients.csv')",
    "SELECT * FROM read_text('patients.csv')",
    "SELECT * FROM 'patients.csv'",
    "SELECT * FROM glob('*')",
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM information_schema.columns",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM tarnkappe_t0",
    "SELECT * FROM tarnkappe_v0",
    "SELECT * FROM protected_0",
    'SELECT "\ue000person" FROM patients',
    "SELECT * FROM query('SELECT * FROM patients')",
    "SELECT * FROM query_table('patients')",
    "SELECT * FROM main.patients",
    "SELECT current_setting('temp_directory') AS s FROM icd",
    "SELECT getenv('HOME') AS s FROM icd",
    "SELECT json_serialize_sql('SELECT 1') AS s FROM icd",
    "SELECT * FROM patients FOR UPDATE",
    "SELECT name INTO t FROM patients",
    "SELECT code FROM icd -- ' \n UNION ALL SELECT name FROM patients",
    "SELECT code FROM icd; SELECT name FROM patients",
    "DESCRIBE SELECT * FROM patients",
    "SUMMARIZE patients",
    "COPY patients TO 'x.csv'",
    "ATTACH 'x.db' AS x",
    "PRAGMA show_tables",
    "EXPLAIN ANALYZE SELECT * FROM patients",
    "PIVOT patients ON plz USING max(name)",
    "FROM patients",
    "TABLE patients",
    "SELECT unnest([name]) AS n FROM patients",
    "SELECT list(name) AS n FROM patients",
    "SELECT [x.name for x in [p]] AS n FROM patients p",
    "SELECT p['name'] AS n FROM patients p",
    "SELECT struct_extract(p, 'name') AS n FROM patients p",
    "SELECT to_json(p) AS n FROM patients p",
    "SELECT hash(p) AS n, name FROM patients p",
    "SELECT * FROM patients AT (VERSION => 1)",
    "SELECT * FROM (VALUES (1)) v(x), patients",
    "SELECT * FROM icd, LATERAL (SELECT name FROM patients) l",
    "SELECT code, first_value(code) OVER (ORDER BY (SELECT max(name) FROM patients)) AS f FROM icd",
    "SELECT CASE WHEN (SELECT count(*) FROM visits WHERE ward = 'A') > 3 THEN 1 / 0 ELSE 1 END AS x FROM icd",
)


@dataclasses.dataclass(frozen=True)
class Port:
    """Somewhere to ask: rows or an error come back as text."""

    ask: Callable[[str], str]
    secrets: tuple[str, ...]
    """Values of raw rows that nothing shows which he may see."""
    statements: int = 80
    listed: frozenset[str] = frozenset()
    """Secrets that stand in a list which the policy names: groups of noisy aggregates are all of these, whether
    anybody has them or not."""


class WriteQueries(Attacker[Port]):
    name = "write-queries"
    promise = "policy"
    knows = "The names of all tables and columns, also of those that he may not see."
    sees = "The answers and the errors of what he asks, as one user of a policy."
    does = "Asks all that he can think of and random SQL: joins, subqueries, windows, functions, operators, noise."

    def attack(self, target: Port) -> Iterator[Victim]:
        chance = random.Random(24)
        answered = 0
        for number in range(len(BY_HAND) + target.statements):
            statement = BY_HAND[number] if number < len(BY_HAND) else statement_of(chance)
            told = target.ask(statement)
            answered += not told.startswith("error")
            for secret in target.secrets:
                if secret in told and not (secret in target.listed and "noisy_" in statement):
                    yield Victim(f"whoever has {secret}", f"is shown by: {statement}")
        if answered < target.statements // 20:
            yield Victim("everybody", "was refused nearly everything, so nothing was tried")


# ------------------------------------------------------------------ random statements


def statement_of(chance: random.Random) -> str:
    """A random query; its constants are nobody's values."""
    kind = chance.random()
    if kind < 0.15:
        return f"WITH w AS ({select(chance, 1)}) SELECT * FROM w"
    if kind < 0.3:
        word = chance.choice(("UNION ALL", "UNION", "INTERSECT", "EXCEPT ALL"))
        return f"{select(chance, 1)} {word} {select(chance, 1)}"
    return select(chance, 2)


def select(chance: random.Random, depth: int) -> str:
    source, columns = table(chance, depth)
    if chance.random() < 0.15:
        shown = "*"
    else:
        items = [expression(chance, columns, depth) for _ in range(chance.randint(1, 3))]
        shown = ", ".join(f"{item} AS x{n}" for n, item in enumerate(items))
    text = f"SELECT {'DISTINCT ' if chance.random() < 0.1 else ''}{shown} FROM {source}"
    if chance.random() < 0.4:
        text += f" WHERE {condition(chance, columns, depth)}"
    if chance.random() < 0.2:
        by = chance.choice(columns)
        counted = chance.choice(
            ("count(*)", "noisy_count(epsilon => 0.001)", f"max({chance.choice(columns)})")
        )
        text = f"SELECT {by}, {counted} AS n FROM {source} GROUP BY {by}"
        if chance.random() < 0.3:
            text += f" HAVING {condition(chance, columns, depth)}"
    if chance.random() < 0.2:
        text += f" ORDER BY {chance.choice([*columns, '1'])} LIMIT {chance.randint(1, 3)}"
    return text


def table(chance: random.Random, depth: int) -> tuple[str, list[str]]:
    kind = chance.random()
    if depth and kind < 0.2:
        other, its = table(chance, 0)
        mine, own = table(chance, 0)
        join = chance.choice(("JOIN", "LEFT JOIN", "FULL JOIN", "CROSS JOIN"))
        on = "" if join == "CROSS JOIN" else f" ON a.{chance.choice(own)} = b.{chance.choice(its)}"
        return f"{mine} a {join} {other} b{on}", [*(f"a.{c}" for c in own), *(f"b.{c}" for c in its)]
    if depth and kind < 0.3:
        inner, columns = table(chance, 0)
        return f"(SELECT * FROM {inner}) s", columns
    if kind < 0.5:
        operator = chance.choice(OPERATORS)
        return operator, list(COLUMNS["visits" if "visits" in operator else "patients"])
    name = chance.choices(list(COLUMNS), (6, 2, 2))[0]
    shown = [c for c in COLUMNS[name] if c not in ("pid", "name", "admitted")]
    return name, list(COLUMNS[name]) if chance.random() < 0.3 else shown


def expression(chance: random.Random, columns: list[str], depth: int) -> str:
    one, other = chance.choice(columns), chance.choice(columns)
    forms = [
        one,
        one,
        f"upper({one})",
        f"CAST({one} AS VARCHAR)",
        f"concat({one}, '-', {other})",
        f"CASE WHEN {condition(chance, columns, 0)} THEN {one} ELSE {other} END",
        f"coalesce({one}, {other})",
        f"max({one})",
        f"string_agg({one}, '|')",
        f"count(DISTINCT {one})",
        f"first_value({one}) OVER (ORDER BY {other})",
        f"md5({one})",
        f"TRY_CAST({one} AS INTEGER)",
        "count(*)",
        "noisy_count(epsilon => 0.001)",
    ]
    if depth:
        inner, its = table(chance, 0)
        forms.append(f"(SELECT max({chance.choice(its)}) FROM {inner})")
    return chance.choice(forms)


def condition(chance: random.Random, columns: list[str], depth: int) -> str:
    column = chance.choice(columns)
    forms = [
        f"{column} = 'x'",
        f"{column} LIKE '{chance.choice('1BCDEF')}%'",
        f"{column} IS NOT NULL",
        f"{column} > {chance.choice(columns)}",
        "1 = 1",
    ]
    if depth:
        inner, its = table(chance, 0)
        forms.append(f"{column} IN (SELECT {chance.choice(its)} FROM {inner})")
        forms.append(f"EXISTS (SELECT 1 FROM {inner})")
    return chance.choice(forms)
