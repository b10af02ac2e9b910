"""The report of `tarn check` for people: what an attacker can do, then the figures, then who is worst off."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tarnkappe.privacy import Direction
from tarnkappe.privacy.exact import TOLERANCE
from tarnkappe.risk import AttackResult, Report, SensitiveColumn, SizeBin, Verdict, WorstClass

DANGER, CAUTION, SAFE = ("✗", "bold red"), ("!", "bold yellow"), ("✓", "bold green")
Light = tuple[str, str]
Row = tuple[str, str, str, str]

SHOWN_RANKS = (3, 4, 5, 10, 20, 50, 100)


def render(report: Report, source: str) -> RenderableType:
    """The whole report."""
    return Group(*_sections(report, source))


def _sections(report: Report, source: str) -> Iterator[RenderableType]:
    yield _headline(report, source)
    yield Text()
    yield _lights((_attack_light(a), a.title, a.explanation) for a in report.attacks)
    if report.verdicts:
        yield Text("\nAsked for", style="bold")
        yield _lights(map(_verdict, report.verdicts))
    yield Text("\nMeasured", style="bold")
    yield _measures(report)
    if report.worst:
        yield Text("\nWorst off", style="bold")
        yield from (_worst(worst) for worst in report.worst)


def _headline(report: Report, source: str) -> RenderableType:
    """The colour of the worst that can happen, and to how many people."""
    tried = [attack for attack in report.attacks if attack.succeeds]
    certain = [attack for attack in tried if attack.certain]
    worst = max(certain or tried, key=lambda attack: attack.victims, default=None)
    if worst is None:
        light, told = SAFE, "none of the attacks that were tried succeeds."
    else:
        light = DANGER if worst.certain else CAUTION
        sure = "for certain" if worst.certain else "with luck or further knowledge"
        whom = f"at least {worst.victims:,} of {report.rows:,} people" if worst.share < 1 else "everybody"
        told = f"an attacker learns something {sure} about {whom}."
    return _lights([(light, source, told)])


def _lights(lines: Iterable[tuple[Light, str, str]]) -> RenderableType:
    """Lines of a sign, what it is about, and a sentence."""
    table = Table.grid(padding=(0, 1))
    for (sign, style), about, sentence in lines:
        table.add_row(Text(sign, style=style), Text.assemble((about, "bold"), f": {sentence}"))
    return table


def _attack_light(attack: AttackResult) -> Light:
    if not attack.succeeds:
        return SAFE
    return DANGER if attack.certain else CAUTION


def _verdict(verdict: Verdict) -> tuple[Light, str, str]:
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
    for row in [*_table_rows(report), *(r for c in report.sensitive.values() for r in _column_rows(c))]:
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
    yield "unique rows", f"{sizes.uniques:,}", "", "people whose combination nobody else has"
    yield "class size", f"{sizes.average:,.1f}", "", typical
    yield "", "", "", f"rows by class size: {' · '.join(_bin(part) for part in sizes.histogram if part.rows)}"
    yield "highest risk", _percent(sizes.prosecutor_max), "", "chance to pick the row of a person, at worst"
    yield "average risk", _percent(sizes.prosecutor_mean), "", "the same chance, on average over all people"
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
    who = "1 person" if worst.size == 1 else f"{worst.size:,} people"
    labels = ", ".join(f"{name} {label}" for name, label in worst.labels.items())
    told = "; ".join(f"{name}: {_values(worst, name)}" for name in worst.values)
    return Text(f"{who}: {labels}" + (f" → {told}" if told else ""))


def _values(worst: WorstClass, name: str) -> str:
    shown = ", ".join(f"{value} ({count:,})" for value, count in worst.values[name].items())
    more = f" and {worst.others[name]:,} more" if worst.others[name] else ""
    return (shown or "no value shown") + more
