"""Adult with its hierarchies, and the optima that another implementation found on it."""

from __future__ import annotations

import csv
import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path

from tarnkappe.hierarchy import Hierarchy, read_hierarchy
from tarnkappe.job.column_plan import plan_columns
from tarnkappe.job.preparation import prepare
from tarnkappe.lattice import SearchProblem
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, Model
from tarnkappe.table import Table, read
from tarnkappe.table.examples import shaped

OCCUPATION = {"column": "occupation"}
MODELS_OF_THE_FILE: Mapping[str, tuple[str, Mapping[str, object]]] = {
    r"k-anonymity": ("k-anonymity", {}),
    r"k5": ("k-anonymity", {"k": 5}),
    r"distinct-3-diversity\(occupation\)": ("distinct-diversity", OCCUPATION | {"l": 3}),
    r"entropy-3-diversity\(occupation\)": ("entropy-diversity", OCCUPATION | {"l": 3}),
    r"recursive-\(4,3\)-diversity\(occupation\)": ("recursive-diversity", OCCUPATION | {"c": 4.0, "l": 3}),
    r"equal-EMD-0\.2-closeness\(occupation\)": ("equal-closeness", OCCUPATION | {"t": 0.2}),
    r"hier-EMD-0\.2-closeness\(occupation\)": ("hierarchical-closeness", OCCUPATION | {"t": 0.2}),
    r"\(0\.05,0\.15\)-presence": ("delta-presence", {"minimum": 0.05, "maximum": 0.15}),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Adult:
    """The table, its hierarchies and the research subset."""

    table: Table
    subset: Table
    hierarchies: Mapping[str, Hierarchy]

    def problem(self, models: tuple[Model, ...], loss: str, limit: float) -> SearchProblem:
        """What is to be solved, encoded anew from the table."""
        about_presence = any(model.name == "delta-presence" for model in models)
        sensitive = {name for model in models for names in model.distributions for name in names}
        table = self.subset if about_presence else self.table
        names = [name for name in table.column_names if name not in sensitive]
        table = table.with_roles(quasi_identifiers=names, sensitive=sorted(sensitive))
        return prepare(
            table,
            plan_columns(table, self.hierarchies, {}),
            models,
            LOSSES.create(loss, {}),
            suppression_limit=limit,
            population=self.table if about_presence else None,
        ).problem


@dataclasses.dataclass(frozen=True)
class Reference:
    """A configuration, the score of its optimum and what it cost the other implementation."""

    model: str
    models: tuple[Model, ...]
    loss: str
    limit: float
    score: float
    yardsticks: float


def reference_folder() -> Path:
    """Where the reference data are, if they are anywhere."""
    given = os.environ.get("TARN_REFERENCE_DATA")
    return (Path(given) if given else Path.cwd().parent / "shared" / "data") / "adult"


def read_adult(folder: Path) -> Adult:
    """The reference data, or a made-up table of the same shape where they are absent."""
    if (folder / "adult.csv").is_file():
        table, subset = read(folder / "adult.csv"), read(folder / "adult_subset.csv")
        files = {name: folder / f"adult_hierarchy_{name}.csv" for name in table.column_names}
        return Adult(table, subset, {name: read_hierarchy(file) for name, file in files.items()})
    example = shaped("ADULT")
    hierarchies = {name: Hierarchy.from_rows(rows) for name, rows in example.hierarchies.items()}
    table = Table(example.table.data)
    return Adult(table, Table(table.data.slice(0, table.num_rows // 10)), hierarchies)


def read_reference(folder: Path) -> list[Reference]:
    """The configurations of the reference; none where the data are absent."""
    path = folder / "reference-optima.tsv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    return [
        Reference(
            line["model"] if line["k"] == "-" or "+" in line["model"] else f"{line['model']}(k={line['k']})",
            tuple(_model(part, line["k"]) for part in re.split(r"(?<=^k5)\+", line["model"])),
            line["loss"],
            float(line["suppression_limit"]),
            float(line["optimal_score"]),
            float(line["yardsticks"]),
        )
        for line in lines
    ]


def _model(text: str, k: str) -> Model:
    for pattern, (name, parameters) in MODELS_OF_THE_FILE.items():
        if re.fullmatch(pattern, text):
            return MODELS.create(name, dict(parameters) if name != "k-anonymity" else {"k": int(k)})
    raise ValueError(f"the reference has a model that is not known here: {text}")
