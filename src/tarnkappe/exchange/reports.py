"""Reports in words: for the physician who decides, for who asked, and for the patient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tarnkappe.exchange.desk.people import DisclosureRecord

MARKS = {"go on": "·", "change": "~", "refuse": "✗"}


def physician_report(recommendation: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    """Everything that a physician needs to decide: what is asked, what is recommended, and why.

    Args:
        recommendation: a recommendation, as plain data.
        request: the request, as plain data.
    """
    anchor, asked = request["anchor"], ", ".join(each["name"] for each in request["wanted"])
    lines = [
        f"Request {request['id']} of {request['requester']} ({request['institution']})",
        f"asks for: {asked}",
        f"of patients with: {anchor['attribute']} = {' or '.join(anchor['values'])}",
        f"for: {request['purpose']}: {request['question']}",
        "",
        *_reclassified(recommendation),
        f"Recommendation: {recommendation['verdict'].upper()}",
        *_package(recommendation),
        "",
        "How it was found:",
        *(line for step in recommendation["steps"] for line in _step(step)),
    ]
    attributes = recommendation["attributes"]
    if attributes:
        lines += ["", "What is done with each attribute:"]
        lines += [f"  {each['attribute']}: {each['action']}. {each['reason']}" for each in attributes]
    human = [rule for rule in recommendation["rules"] if rule["outcome"] == "needs a human"]
    if human:
        lines += ["", "What only you can judge:"]
        lines += [
            f"  {rule['rule']} {rule['title']} ({rule['paragraph']}): {'; '.join(rule['evidence'])}"
            for rule in human
        ]
    risks = _risks(recommendation)
    return "\n".join([*lines, *risks]) + "\n"


def _reclassified(recommendation: Mapping[str, Any]) -> list[str]:
    changes = [
        f"  {each['attribute']}: {each['now']} instead of {each['was']}"
        + (f", because: {each['reason']}" if each["reason"] else "")
        for each in recommendation.get("reclassified", ())
    ]
    return ["Classes that were changed for this request:", *changes, ""] if changes else []


def _package(recommendation: Mapping[str, Any]) -> list[str]:
    if recommendation["rows"] is None:
        return ["No package may leave."]
    diverse = "" if recommendation["l"] is None else f", {recommendation['l']} sensitive values stay possible"
    return [
        f"The package has {recommendation['rows']:,} of {recommendation['base']:,} records and the columns "
        f"{', '.join(recommendation['columns'])}.",
        f"Everybody in it looks like at least {recommendation['k'] - 1} others{diverse}.",
    ]


def _step(step: Mapping[str, Any]) -> list[str]:
    found = [f"       - {finding['text']}" for finding in step["findings"]]
    return [f"  {MARKS[step['answer']]} {step['step']:<3} {step['question']} {step['reply']}", *found]


def _risks(recommendation: Mapping[str, Any]) -> list[str]:
    found = [
        finding for step in recommendation["steps"] for finding in step["findings"] if finding["risk"] > 0
    ]
    worst = sorted(found, key=lambda finding: -finding["risk"])[:5]
    if not worst:
        return []
    return [
        "",
        "The greatest risks of the data as they are (harm × probability):",
        *(
            f"  {finding['risk']:g} = {finding['extent']:g} × {finding['probability']:g}  {finding['text']}"
            for finding in worst
        ),
    ]


def requester_report(answer: Mapping[str, Any]) -> str:
    """What who asked is told: the verdict and no reason, since reasons tell about patients."""
    if answer["verdict"] == "refused":
        return f"{answer['from']} does not release a package for request {answer['id']}.\n"
    return f"{answer['from']} releases a package for request {answer['id']}.\n"


def patient_report(disclosures: Sequence[DisclosureRecord]) -> str:
    """What a patient is told who asks where his data went."""
    if not disclosures:
        return "No data about you have left this institution through the exchange.\n"
    lines = [
        f"{each.time[:10]}: {each.recipient} received, for {each.purpose}, a package without names in which "
        f"you are one of many, with {', '.join(each.columns)}."
        for each in disclosures
    ]
    return "\n".join(lines) + "\n"
