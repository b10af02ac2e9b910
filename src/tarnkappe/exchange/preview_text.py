"""What a physician reads before she signs, in her language; the texts are data (`texts/`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.exchange.desk.preview import ColumnPreview, PackagePreview
from tarnkappe.schema.written import toml_table

LANGUAGES = ("en", "de")
GRAVE, SERIOUS = 1.0, 0.2
"""From which risk on (harm times probability) a finding is grave, or serious."""


@cache
def texts(language: str) -> Mapping[str, str]:
    """The texts of a language, by key."""
    if language not in LANGUAGES:
        raise ParameterError(
            "exchange.texts-not",
            "there are texts in {languages}, not in '{language}'",
            languages=", ".join(LANGUAGES),
            language=language,
        )
    file = resources.files("tarnkappe.exchange").joinpath("texts", f"{language}.toml")
    found: dict[str, str] = toml_table(file.read_text(encoding="utf-8"))
    return found


def preview_text(
    shown: PackagePreview, recommendation: Mapping[str, Any], request: Mapping[str, Any], language: str = "en"
) -> str:
    """What would leave and whom it could expose, in sentences.

    Args:
        shown: what was counted from the bytes.
        recommendation: the recommendation, as plain data.
        request: the request, as plain data.
        language: `en` or `de`.
    """
    t = texts(language)
    titles = {column.name: column.title for column in shown.columns}
    wanted = [titles.get(each["name"], each["name"]) for each in request["wanted"]]
    anchor = request["anchor"]
    asks = t["asks"].format(
        requester=request["requester"],
        institution=request["institution"],
        wanted=_listed(wanted, t["and"]),
        selection=f"{anchor['attribute']} = {_listed(anchor['values'], t['or'])}",
        purpose=t[f"purpose_{request['purpose']}"],
        question=request["question"],
    )
    lines = [asks, t[f"verdict_{recommendation['verdict'].replace(' ', '_')}"]]
    if shown.package is not None:
        lines += _package(shown, recommendation, language)
    by = recommendation.get("check", {}).get("by", "")
    lines += [
        t["changed"].format(
            by=by,
            attribute=titles.get(each["attribute"], each["attribute"]),
            now=t[f"role_{each['now']}"],
            was=t[f"role_{each['was']}"],
            reason=each["reason"],
        )
        for each in recommendation.get("reclassified", ())
    ]
    human = [rule for rule in recommendation["rules"] if rule["outcome"] == "needs a human"]
    if human:
        lines += [t["human"], *(f"  · {rule['title']}: {'; '.join(rule['evidence'])}" for rule in human)]
    lines += [t["steps"], *(line for step in recommendation["steps"] for line in _step(step, t))]
    said = {"number": shown.number, "check": shown.check[:4]}
    if recommendation["verdict"] == "refuse":
        lines.append(t["signs_refusal"].format(**said))
    elif shown.package is not None:  # it is deleted here once it was delivered
        size = _number(shown.bytes, language)
        lines.append(t["signs"].format(**said, package=shown.package[:4], bytes=size))
    return "\n".join(lines) + "\n"


def _package(shown: PackagePreview, recommendation: Mapping[str, Any], language: str) -> list[str]:
    t = texts(language)
    base = _number(recommendation["base"], language)
    lines = [t["records"].format(rows=_number(shown.rows, language), base=base)]
    width = max(len(column.title) for column in shown.columns)
    lines += [f"  {column.title:<{width}}  {_column(column, language)}" for column in shown.columns]
    if shown.sample:
        lines.append(t["sample"].format(number=len(shown.sample)))
        lines += [f"  {line}" for line in _table(shown)]
    lines.append(t["learned"])
    share = _number(round(100 * shown.share, 1), language)
    lines.append(f"  · {t['unknowing'].format(share=share)}")
    lines.append(f"  · {t['knowing'].format(smallest=shown.smallest)}")
    titles = {column.name: column.title for column in shown.columns}
    lines += [
        f"  · {t['worst'].format(count=each.count, size=each.size, column=titles[each.column])}"
        for each in shown.worst
    ]
    if shown.exposed is not None:
        lines.append(f"  · {t['exposed'].format(people=_number(shown.exposed, language))}")
    if shown.packages:
        who = _listed(shown.recipients, t["and"])
        people = _number(shown.people, language)
        lines.append(t["before"].format(packages=shown.packages, people=people, recipients=who))
    else:
        lines.append(t["before_none"])
    return [*lines, t["elsewhere"]]


def _column(column: ColumnPreview, language: str) -> str:
    t = texts(language)
    if column.ends is not None:
        said = t["ranges"].format(number=column.values, first=column.ends[0], last=column.ends[1])
    else:
        some = ", ".join(
            f"{value} {_number(round(100 * share), language)} %" for value, share in column.shares
        )
        more = " …" if column.values > len(column.shares) else ""
        said = (
            t["shares"].format(some=some + more)
            if column.role == "sensitive"
            else t["labels"].format(number=column.values, some=some + more)
        )
    if column.hidden:
        said += "; " + t["hidden"].format(number=_number(column.hidden, language))
    return said


def _table(shown: PackagePreview) -> list[str]:
    names = [column.name for column in shown.columns]
    rows = [
        [column.title for column in shown.columns],
        *([row[name] for name in names] for row in shown.sample),
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(len(names))]
    return ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _step(step: Mapping[str, Any], t: Mapping[str, str]) -> list[str]:
    """A step by its question; what was found, by how grave it is."""
    lines = [f"  · {step['question']} {step['reply']}"]
    for finding in step["findings"]:
        risk = finding["risk"]
        grade = t["grave"] if risk >= GRAVE else t["serious"] if risk >= SERIOUS else t["slight"]
        lines.append(f"      {finding['text']}" + (f" ({grade})" if risk > 0 else ""))
    return lines


def _listed(words: Any, last: str) -> str:
    some = list(map(str, words))
    return some[0] if len(some) == 1 else f"{', '.join(some[:-1])} {last} {some[-1]}" if some else ""


def _number(value: float, language: str) -> str:
    text = f"{value:,}" if isinstance(value, int) else f"{value:,g}"
    return text.translate(str.maketrans(",.", ".,")) if language == "de" else text
