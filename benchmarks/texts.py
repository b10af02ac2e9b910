"""How figures are written."""

from __future__ import annotations

import math
from collections.abc import Iterable


def seconds(value: float | None) -> str:
    """A duration.

    >>> seconds(0.00042), seconds(0.0421), seconds(4.21), seconds(421.0), seconds(None)
    ('0.42 ms', '42 ms', '4.2 s', '7.0 min', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if value < 1:
        return f"{1000 * value:.2g} ms" if value < 0.0995 else f"{1000 * value:.0f} ms"
    if value < 99.5:
        return f"{value:.2g} s" if value >= 10 else f"{value:.1f} s"
    return f"{value / 60:.1f} min"


def number(value: float | None) -> str:
    """A number with at most four digits that say something.

    >>> number(12960), number(407289.539), number(0.2996501), number(None)
    ('12,960', '407,290', '0.2997', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) < 10_000:
        return f"{value:,.4g}"
    places = len(str(int(abs(value)))) - 5
    return f"{round(value, -places):,.0f}"


def share(value: float | None) -> str:
    """A share in percent.

    >>> share(0.5549), share(0.008), share(1.8), share(0.0)
    ('55 %', '0.8 %', '180 %', '0 %')
    """
    if value is None or math.isnan(value):
        return "–"
    return f"{100 * value:.2g} %" if 0 < abs(value) < 0.0995 else f"{100 * value:.0f} %"


def ratio(value: float | None) -> str:
    """How many times one is the other.

    >>> ratio(0.031), ratio(2.5), ratio(133.2)
    ('0.031×', '2.5×', '130×')
    """
    if value is None or math.isnan(value):
        return "–"
    return f"{float(f'{value:.2g}'):g}×"


def megabytes(value: float | None) -> str:
    """An amount of memory or traffic, given in bytes.

    >>> megabytes(1_400_000), megabytes(59e6), megabytes(None)
    ('1.4 MB', '59 MB', '–')
    """
    return "–" if value is None else f"{float(f'{value / 1e6:.2g}'):g} MB"


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end
