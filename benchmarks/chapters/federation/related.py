"""What a method of the literature would have to compute."""

from __future__ import annotations

from benchmarks import federated
from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.texts import number
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import Progress, encode_column


def _measure(size: Size, progress: Progress | None) -> Figures:
    """What DkA would have to do: Datafly, and after every step all secure intersections of classes."""
    del progress
    data = federated.adult_rows(size.pick(2000, None))
    rules = federated.rules()
    rows = Tuples.of_rows(
        [rules[name].attach(encode_column(name, data.column(name))) for name in data.column_names]
    )
    mine = [name for name in data.column_names if name in federated.OWNERS[2][0]]
    lines = []
    for k in (20, 50, 100):
        level = dict.fromkeys(data.column_names, 0)
        steps, operations = 0, 0.0
        while True:
            first = rows.classes(mine, [level[name] for name in mine])
            theirs = [name for name in data.column_names if name not in mine]
            second = rows.classes(theirs, [level[name] for name in theirs])
            # One encrypted mark for each person and class, added up by the other, one sum for each pair.
            operations += 2.0 * len(first.sizes) * data.num_rows + len(first.sizes) * len(second.sizes)
            steps += 1
            together = rows.classes(list(level), list(level.values()))
            can_rise = [name for name in level if level[name] < rules[name].height]
            if together.sizes.min() >= k or not can_rise:
                break
            most = max(can_rise, key=lambda name: len(rows.columns[name].levels.labels[level[name]]))  # type: ignore[union-attr]
            level[most] += 1
        lines.append({"k": k, "steps": steps, "operations": operations, "days": operations / 3000 / 86_400})
    return {"rows": data.num_rows, "lines": lines}


def _tell(figures: Figures) -> Story:
    reported = {20: "5 days", 50: "6 days", 100: "8 days"}
    rows = tuple(
        (str(x["k"]), number(x["steps"]), f"{x['operations']:.2g}", f"{x['days']:.2g} days", reported[x["k"]])
        for x in figures["lines"]
    )
    return Story(
        (
            Grid(
                f"Two parties, vertical, {number(figures['rows'])} rows, 3,000 operations a second",
                ("k", "tests", "operations", "estimated", "reported"),
                rows,
            ),
        ),
        f"Days of ciphers (about {max(x['days'] for x in figures['lines']):.2g}) against seconds of the protocols "
        "above, for the same guarantee.",
        (
            "The reported estimate does not say how its columns are split or its operations counted; ours counts one "
            "encrypted mark for each person and class of the first party, one addition for each, and one "
            "decryption for each pair of classes, after every step of Datafly.",
        ),
    )


EXPERIMENT = Experiment(
    "related",
    "The related method DkA",
    "Operations of secure intersections after every step of Datafly, at a generous 3,000 a second.",
    "5, 6 and 8 days for k = 20, 50 and 100.",
    _measure,
    _tell,
)
