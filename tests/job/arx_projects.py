"""Projects as ARX writes them, from the description of its format: XML, Java streams and CSV in a ZIP."""

from __future__ import annotations

import dataclasses
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from tests.java_streams import (
    Array,
    Char,
    Constant,
    Obj,
    array_list,
    boxed,
    boxed_long,
    hash_map,
    hash_set,
    java_stream,
)

ARX = "org.deidentifier.arx"
QUASI = "QUASI_IDENTIFYING_ATTRIBUTE"

AGES = [(str(age), f"[{age // 10 * 10}, {age // 10 * 10 + 10}[", "*") for age in range(20, 60)]
TOWNS = [("Ulm", "South", "*"), ("Bonn", "South", "*"), ("Kiel", "North", "*")]
ROWS = [
    (f"P{i}", str(20 + i * 7 % 40), ("Ulm", "Bonn", "Kiel")[i * 5 % 3], ("flu", "cold", "gout")[i * i % 3])
    for i in range(60)
]


def criterion(name: str, **fields: Any) -> Obj:
    return Obj(
        f"{ARX}.criteria.{name}", fields, parent=(f"{ARX}.criteria.PrivacyCriterion", {"monotonic": True})
    )


def costs() -> Obj:
    stated = {
        "publisherBenefit": 1200.0,
        "publisherLoss": 300.0,
        "adversaryGain": 300.0,
        "adversaryCost": 4.0,
    }
    return Obj(f"{ARX}.ARXCostBenefitConfiguration", stated)


def metric(name: str, factor: float = 0.5, function: str = "ARITHMETIC_MEAN", **fields: Any) -> Obj:
    aggregate = Constant(f"{ARX}.metric.Metric$AggregateFunction", function)
    return Obj(f"{ARX}.metric.v2.{name}", {"gsFactor": boxed(factor), "function": aggregate, **fields})


def row_set(rows: list[int], length: int) -> Obj:
    words = [0] * (-(-length // 64))
    for row in rows:
        words[row // 64] |= 1 << (row % 64)
    signed = [word - 2**64 if word >= 2**63 else word for word in words]
    return Obj(f"{ARX}.RowSet", {"length": length, "size": len(rows), "array": Array("J", signed)})


def interval_builder(
    edges: list[int], groups: list[list[int]], bottom: int | None = None, top: int | None = None
) -> Obj:
    base = f"{ARX}.aggregates.HierarchyBuilder"
    intervals = [
        Obj(f"{base}IntervalBased$Interval", {"min": boxed_long(low), "max": boxed_long(high)})
        for low, high in pairwise(edges)
    ]
    return Obj(
        f"{base}IntervalBased",
        {
            "intervals": array_list(*intervals),
            "groups": levels(groups),
            "lowerRange": bound(bottom),
            "upperRange": bound(top),
        },
    )


def bound(value: int | None) -> Obj:
    stated = None if value is None else boxed_long(value)
    names = ("snapBound", "labelBound", "repeatBound")
    return Obj(f"{ARX}.aggregates.HierarchyBuilderIntervalBased$Range", dict.fromkeys(names, stated))


def levels(groups: list[list[int]]) -> Obj:
    base = f"{ARX}.aggregates.HierarchyBuilderGroupingBased"
    made = {}
    for number, sizes in enumerate(groups):
        listed = array_list(*(Obj(f"{base}$Group", {"size": size}) for size in sizes))
        made[boxed(number)] = Obj(f"{base}$Level", {"level": number, "list": listed})
    return hash_map(made)


def order_builder(groups: list[list[int]], order: list[str] | None = None) -> Obj:
    base = f"{ARX}.aggregates.HierarchyBuilderOrderBased"
    places = {} if order is None else {"val$map": hash_map({v: boxed(i) for i, v in enumerate(order)})}
    return Obj(base, {"comparator": Obj(f"{base}$2", places), "groups": levels(groups)})


def redaction_builder(*, from_right: bool = True, aligned_left: bool = True) -> Obj:
    kind = f"{ARX}.aggregates.HierarchyBuilderRedactionBased"
    order = {
        True: Constant(f"{kind}$Order", "RIGHT_TO_LEFT"),
        False: Constant(f"{kind}$Order", "LEFT_TO_RIGHT"),
    }
    fields = {
        "redactionOrder": order[from_right],
        "aligmentOrder": order[not aligned_left],
        "redactionCharacter": Char("#"),
        "paddingCharacter": Char(" "),
    }
    return Obj(kind, fields)


def date_builder(*granularities: str) -> Obj:
    kind = f"{ARX}.aggregates.HierarchyBuilderDate"
    constants = [Constant(f"{kind}$Granularity", name) for name in granularities]
    array = Array(f"{kind}$Granularity", list(constants))
    return Obj(kind, {"granularities": array, "topCoding": None, "bottomCoding": None})


@dataclasses.dataclass
class Project:
    """The parts of a project; each test changes what it is about."""

    roles: dict[str, str] = dataclasses.field(
        default_factory=lambda: {
            "id": "IDENTIFYING_ATTRIBUTE",
            "age": QUASI,
            "town": QUASI,
            "illness": "SENSITIVE_ATTRIBUTE",
        }
    )
    rows: list[tuple[str, ...]] = dataclasses.field(default_factory=lambda: list(ROWS))
    hierarchies: dict[str, list[tuple[str, ...]]] = dataclasses.field(
        default_factory=lambda: {"age": AGES, "town": TOWNS}
    )
    said: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    criteria: list[Obj] = dataclasses.field(default_factory=lambda: [criterion("KAnonymity", k=5)])
    metric: Obj = dataclasses.field(default_factory=lambda: metric("MetricMDNMLoss"))
    weights: dict[str, float] = dataclasses.field(default_factory=lambda: {"age": 0.5, "town": 0.5})
    limit: str = "0.1"
    subset: Obj | None = None
    builders: dict[str, Obj] | None = None
    vocabulary: str = "2.0"
    separator: str = ";"
    members: dict[str, bytes] = dataclasses.field(default_factory=dict)
    """Members that replace or add to those of a whole project; b'' takes one away."""

    def write(self, path: Path) -> Path:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in {**self.contents(), **self.members}.items():
                if content:
                    archive.writestr(name, content)
        return path

    def contents(self) -> dict[str, bytes]:
        files = {
            "metadata.xml": _xml("metadata", {"version": "3.9.1", "vocabulary": self.vocabulary}),
            "project.xml": _xml("project", {"name": "Ward", "separator": self.separator}),
            "data/input.csv": self.table([tuple(self.roles), *self.rows]),
            "input/config.dat": java_stream(self.configuration()),
            "input/config.xml": self.settings(),
            "input/definition.xml": self.definition(),
        }
        for column, rows in self.hierarchies.items():
            files[f"input/hierarchies/{column}.csv"] = self.table(rows)
        return files

    def table(self, rows: list[tuple[str, ...]]) -> bytes:
        return "".join(self.separator.join(row) + "\n" for row in rows).encode()

    def configuration(self) -> Obj:
        config = Obj(f"{ARX}.ARXConfiguration", {"criteria": hash_set(*self.criteria), "metric": self.metric})
        builders = None if self.builders is None else hash_map(self.builders)
        fields = {"config": config, "researchSubset": self.subset, "hierarchyBuilders": builders}
        return Obj(f"{ARX}.gui.model.ModelConfiguration", fields)

    def settings(self) -> bytes:
        weights = "".join(
            f"<attributeWeight><attribute>{escape(name)}</attribute><weight>{weight}</weight></attributeWeight>"
            for name, weight in self.weights.items()
        )
        limit = f"<relativeMaxOutliers>{self.limit}</relativeMaxOutliers>"
        return f"<config>{limit}<attributeWeights>{weights}</attributeWeights></config>".encode()

    def definition(self) -> bytes:
        text = ""
        for name, role in self.roles.items():
            said = {"name": name, "type": role, "datatype": "String"}
            if name in self.hierarchies:
                said |= {"ref": f"hierarchies/{name}.csv", "min": "All", "max": "All"}
            text += _xml("assigment", said | self.said.get(name, {})).decode()
        return f"<definition>{text}</definition>".encode()


def _xml(tag: str, children: dict[str, str]) -> bytes:
    inner = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in children.items())
    return f"<{tag}>{inner}</{tag}>".encode()
