"""The report of `tarn check` for people: what an attacker can do, then the figures, then who is worst off."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tarnkappe.privacy import Direction
from tarnkappe.privacy.exact import TOLERANCE
from tarnkappe.risk import (
    MEASURES,
    AttackResult,
    IdentifierScan,
    ModelVerdict,
    Report,
    SensitiveColumn,
    SizeBin,
    VictimClass,
    WorstClass,
)
from tarnkappe.risk.continuation import Continuation
from tarnkappe.risk.identifiers import ColumnScan
from tarnkappe.table import Role

DANGER, CAUTION, SAFE = ("✗", "bold red"), ("!", "bold yellow"), ("✓", "bold green")
Light = tuple[str, str]
Row = tuple[str, str, str, str]

SHOWN_NAMES = 5
SHOWN_RANKS = (3, 4, 5, 10, 20, 50, 100)


def render(report: Report, source: str, history: Continuation | None = None) -> RenderableType:
    """The whole report; with whether the table may follow earlier releases, if that was asked."""
    return Group(*_sections(report, source, history))


def _sections(report: Report, source: str, history: Continuation | None) -> Iterator[RenderableType]:
    if report.alarms:
        yield Text("Names people", style="bold")
        yield lights((DANGER, alarm.column, f"{alarm.reason} ({alarm.detector}).") for alarm in report.alarms)
        yield Text()
    yield _headline(report, source)
    yield Text()
    if report.proposed:
        yield Text("Proposed roles (nobody stated them)", style="bold")
        yield _roles(report.proposed)
        yield Text()
    yield lights((attack_light(a), a.title, a.explanation) for a in report.attacks)
    named = [(a.title, victim) for a in report.attacks if a.certain for victim in a.examples if victim.who]
    if named:
        yield Text("\nFound out by name", style="bold")
        yield from (Text(f"{victim_text(victim)} ({title.lower()})") for title, victim in named)
    if report.verdicts:
        yield Text("\nAsked for", style="bold")
        yield lights(map(_verdict, report.verdicts))
    if history:
        yield Text("\nAfter earlier releases", style="bold")
        yield lights([(SAFE if history.safe else DANGER, "All releases together", str(history))])
        yield from (Text(victim_text(victim)) for victim in history.examples)
    if report.safe_harbor:
        yield Text("\nIdentifiers (HIPAA safe harbor)", style="bold")
        yield render_scan(report.safe_harbor)
    yield Text("\nMeasured", style="bold")
    yield _measures(report)
    if report.worst:
        yield Text("\nWorst off", style="bold")
        yield from (_worst(worst) for worst in report.worst)


def _headline(report: Report, source: str) -> RenderableType:
    """The colour of the worst that can happen, and to how many rows."""
    tried = [attack for attack in report.attacks if attack.succeeds]
    certain = [attack for attack in tried if attack.certain]
    worst = max(certain or tried, key=lambda attack: attack.victims, default=None)
    if worst is None:
        light, told = SAFE, "none of the attacks that were tried succeeds."
    else:
        light = DANGER if worst.certain else CAUTION
        sure = "for certain" if worst.certain else "with luck or further knowledge"
        whom = (
            f"the people of at least {min(worst.victims, report.rows):,} of {report.rows:,} rows"
            if worst.share < 1
            else "everybody"
        )
        told = f"an attacker learns something {sure} about {whom}."
    return lights([(light, source, told)])


def lights(lines: Iterable[tuple[Light, str, str]]) -> RenderableType:
    """Lines of a sign, what it is about, and a sentence."""
    table = Table.grid(padding=(0, 1))
    for (sign, style), about, sentence in lines:
        table.add_row(Text(sign, style=style), Text.assemble((about, "bold"), f": {sentence}"))
    return table


def attack_light(attack: AttackResult) -> Light:
    """How bad what an attack achieved is."""
    if not attack.succeeds:
        return SAFE
    return DANGER if attack.certain else CAUTION


def victim_text(victim: VictimClass) -> str:
    """Who falls victim and what is learned, in a line."""
    whom = ", ".join(f"{name} {label}" for name, label in victim.labels.items())
    if victim.who:
        named = ", ".join(victim.who[:SHOWN_NAMES])
        more = len(victim.who) - SHOWN_NAMES
        whom = f"{named} and {more:,} more" if more > 0 else named
    elif victim.size > 1:
        whom = f"{victim.size:,} rows ({whom})"
    sure = "" if victim.certainty == 1 else f" ({100 * victim.certainty:.3g} % sure)"
    return f"{whom}: {victim.learned}{sure}"


def _verdict(verdict: ModelVerdict) -> tuple[Light, str, str]:
    told = f"measured {_bound(verdict.value, verdict.model.direction)}"
    if not verdict.holds:
        told += f"; {verdict.violating_rows:,} rows in {verdict.violating_classes:,} classes violate it"
    return SAFE if verdict.holds else DANGER, str(verdict.model), told


def _measures(report: Report) -> RenderableType:
    others_known = any(column.given_others for column in report.sensitive.values())
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=others_known, header_style="dim")
    table.add_column(no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("others known*" if others_known else "", justify="right", no_wrap=True)
    table.add_column(style="dim")
    columns = (row for column in report.sensitive.values() for row in _column_rows(column))
    for row in [*_table_rows(report), *columns, *_risk_rows(report)]:
        table.add_row(*map(Text, row))
    if others_known:
        table.caption = "* to an attacker who knows the other sensitive columns of a person"
    return table


def _table_rows(report: Report) -> Iterator[Row]:
    sizes = report.sizes
    typical = f"rows in a class on average; median {sizes.quantiles[0.5]:,}, largest {sizes.largest:,}"
    combinations = f"different combinations of {', '.join(report.quasi_identifiers)}"
    yield "rows", f"{report.rows:,}", "", "in the table"
    yield "classes", f"{report.classes:,}", "", combinations
    yield "k", f"{report.k:,}", "", "rows in the smallest class"
    yield "unique rows", f"{sizes.uniques:,}", "", "whose combination no other row has"
    yield "class size", f"{sizes.average:,.1f}", "", typical
    yield "", "", "", f"rows by class size: {' · '.join(_bin(part) for part in sizes.histogram if part.rows)}"
    yield "highest risk", _percent(sizes.prosecutor_max), "", "chance to pick the row of a person, at worst"
    yield "average risk", _percent(sizes.prosecutor_mean), "", "the same chance, on average over all rows"
    if report.presence:
        told = "chance that somebody of the population is in the table"
        yield "delta", f"{report.presence.delta_max:.3g}", "", f"highest {told}"
        yield "", f"{report.presence.delta_min:.3g}", "", f"lowest {told}"


def _bin(part: SizeBin) -> str:
    sizes = f"{part.least:,}" if part.least == part.most else f"{part.least:,}–{part.most:,}"
    return f"{sizes}: {part.rows:,}"


def _column_rows(column: SensitiveColumn) -> Iterator[Row]:
    yield "", "", "", ""
    yield column.column, f"{column.values:,}", "", "different values in the whole table"
    for key, measured in column.measured.items():
        known = column.given_others.get(key)
        others = _bound(known.value, known.direction) if known else ""
        yield f"  {measured.title}", _bound(measured.value, measured.direction), others, measured.meaning
    if column.recursive_c:
        c = {rank: _bound(value, Direction.LESS_THAN) for rank, value in column.recursive_c.items()}
        further = ", ".join(f"{c[rank]} for {rank}" for rank in SHOWN_RANKS if rank in c)
        yield "  recursive c", c[2], "", f"for l = 2{', ' if further else ''}{further}; any greater c holds"


def _risk_rows(report: Report) -> Iterator[Row]:
    for name, found in report.measures.items():
        figures = list(found.figures())
        if figures:
            yield "", "", "", ""
            yield MEASURES[name].title, "", "", ""
            yield from ((f"  {figure.label}", figure.text, "", figure.meaning) for figure in figures)


def render_scan(scan: IdentifierScan) -> RenderableType:
    """What every column holds, and what it should be."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("", "column", "proposed role", "why"):
        table.add_column(title, no_wrap=title != "why")
    for column in scan.columns:
        sign, style = DANGER if column.findings else SAFE
        table.add_row(Text(sign, style=style), Text(column.column), Text(column.role), Text(_why(column)))
    return table


def unfit(report: Report, k: int) -> list[str]:
    """Why a table with proposed roles may not be published as it is; nothing if it may."""
    named = {each.column for each in report.proposed if each.role is Role.IDENTIFIER}
    named |= {alarm.column for alarm in report.alarms}
    reasons = [f"{len(named)} column{'s name' if len(named) > 1 else ' names'} people"] if named else []
    if report.sizes.uniques:
        reasons.append(
            f"{report.sizes.uniques:,} of {report.rows:,} rows are alone with what others may know"
        )
    elif report.k < k:
        reasons.append(
            f"some rows share what others may know with {report.k - 1} other rows only, not {k - 1}"
        )
    reasons += [
        f"who knows somebody learns {attack.parameters['column']} for certain in "
        f"{attack.victims:,} of {report.rows:,} rows"
        for attack in report.attacks
        if attack.certain and attack.succeeds and "column" in attack.parameters
    ]
    return reasons


def verdict_text(reasons: list[str], source: str) -> str:
    """The verdict in a line, and what to do."""
    if not reasons:
        return "fit to be published, as far as the proposed roles are right"
    return f"not fit to be published: {'; '.join(reasons)}. What to do: tarn anonymize {source}"


def _roles(columns: Iterable[ColumnScan]) -> RenderableType:
    """The proposed roles, with how certain each is and why."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("column", "role", "certainty", "why"):
        table.add_column(title, no_wrap=title != "why")
    for each in columns:
        table.add_row(*map(Text, (each.column, each.role, each.certainty, each.reason)))
    return table


def _why(column: ColumnScan) -> str:
    kinds = dict.fromkeys(kind.title for found in column.findings for kind in found.kinds)
    return f"{column.reason} ({', '.join(kinds)})" if kinds else column.reason


def _bound(value: float, direction: Direction) -> str:
    """A measured value, rounded so that it never promises more than is kept.

    >>> _bound(2.9999, Direction.AT_LEAST), _bound(0.12345, Direction.AT_MOST)
    ('2.999', '0.124')
    """
    if not math.isfinite(value):
        return "∞"
    toward_worse = math.floor if direction.high_is_good else math.ceil
    noise = TOLERANCE if direction.high_is_good else -TOLERANCE
    return f"{toward_worse(1000 * (value + noise)) / 1000:,.10g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _worst(worst: WorstClass) -> RenderableType:
    who = "1 row" if worst.size == 1 else f"{worst.size:,} rows"
    labels = ", ".join(f"{name} {label}" for name, label in worst.labels.items())
    told = "; ".join(f"{name}: {_values(worst, name)}" for name in worst.values)
    return Text(f"{who}: {labels}" + (f" → {told}" if told else ""))


def _values(worst: WorstClass, name: str) -> str:
    shown = ", ".join(f"{value} ({count:,})" for value, count in worst.values[name].items())
    more = f" and {worst.others[name]:,} more" if worst.others[name] else ""
    return (shown or "no value shown") + more
