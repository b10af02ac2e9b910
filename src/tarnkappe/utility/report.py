"""The utility report of a release, in three parts that may be shown to different people.

| part | computed from | for whom |
|---|---|---|
| `public` | the release, the promise, the method and code lists fixed beforehand | everybody |
| `shared` | errors alone, rounded to two digits | whom the release is handed to, if asked for |
| `internal` | the original, too | those who may publish the data |

An exact mean with the number of rows is a sum, and two reports around one change give one person's value
away; the error of a named query with the answer of the release is the true count. So what is computed from
the original stays inside. `public_part` is not given the original: what it says cannot depend on it. `shared`
is a precaution and no proven promise.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.utility.class_figures import class_figures
from tarnkappe.utility.columns import ColumnWords, read_with_domains, read_words
from tarnkappe.utility.contingency import contingency, pairs_of
from tarnkappe.utility.dependence import Dependence, cell_distance, dependences, eigenvalue_difference
from tarnkappe.utility.plain_words import Detail
from tarnkappe.utility.prediction import CLASSIFIERS, FOLDS, EvaluationProtocol, Prediction
from tarnkappe.utility.query_error import AnsweredWorkload, error_of
from tarnkappe.utility.summaries import scale_of, summary
from tarnkappe.utility.view import ReleaseReader
from tarnkappe.utility.workload import Workload

RARE = 10
"""Values that fewer people have are not named, and nothing is shared about a target with such a value."""
SHARED_QUERIES = 100
"""The errors of fewer queries are not shared."""
SHARED_ROWS = 1000
"""Nothing is shared about tables of fewer rows."""
PRECAUTION = (
    "Errors rounded to two digits: a precaution, no proven promise. Publish them once for a release, not "
    "again after every change of the data."
)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class UtilityReport:
    """What a release is still good for.

    Attributes:
        public: what may be sent with the release.
        shared: errors that may be sent with it, too; None unless they were asked for.
        internal: what is computed from the original; None if there was none. It stays with those who may
            publish the data, and is neither shown nor printed unless it is asked for by name.
    """

    public: Mapping[str, Any]
    shared: Mapping[str, Any] | None = None
    internal: Mapping[str, Any] | None = None

    def to_dict(self, *, internal: bool = False) -> dict[str, Any]:
        """The parts, for JSON; the internal one only if it is asked for."""
        return {
            "public": dict(self.public),
            "shared": None if self.shared is None else dict(self.shared),
            "internal": dict(self.internal) if internal and self.internal is not None else None,
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """The public part in words."""
        rows, classes = self.public["rows"]["value"], self.public["classes"]["number"]["value"]
        width = max(map(len, self.public["columns"]), default=0)
        return "\n".join(
            [
                f"{rows:,} rows in {classes:,} classes",
                *(f"{name:<{width}}  {told['words']}" for name, told in self.public["columns"].items()),
            ]
        )


@dataclasses.dataclass(frozen=True)
class UtilityOptions:
    """What a utility report is asked for.

    Attributes:
        targets: columns that classifiers predict.
        classifiers: which classifiers; all if none is named.
        folds: into how many parts the rows are divided.
        protocol: what they learn from, and what they predict.
        workload: the queries to ask.
        share_errors: whether rounded errors may leave with the release.
        seed: of folds and forests.
    """

    targets: tuple[str, ...] = ()
    classifiers: tuple[str, ...] = ()
    folds: int = FOLDS
    protocol: str = EvaluationProtocol.RELEASE_TO_PEOPLE
    workload: Workload | None = None
    share_errors: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.protocol not in tuple(EvaluationProtocol):
            raise ParameterError(
                "utility.protocol-not",
                "a protocol is one of {evaluationprotocol}, not {protocol!r}",
                evaluationprotocol=", ".join(EvaluationProtocol),
                protocol=self.protocol,
            )
        if not 2 <= self.folds <= 20:
            raise ParameterError(
                "utility.2-20-folds", "there are 2 to 20 folds, not {folds}", folds=self.folds
            )
        for name in self.classifiers:
            if name not in CLASSIFIERS:
                raise ParameterError(
                    "utility.unknown-classifier",
                    "unknown classifier {name!r}: there are {classifiers}",
                    name=name,
                    classifiers=", ".join(CLASSIFIERS),
                )


def public_part(
    release: Mapping[str, pa.Table],
    quasi_identifiers: Sequence[str],
    code_lists: Mapping[str, Hierarchy],
    about: Mapping[str, Any],
    labels: Mapping[str, Mapping[str, Detail]] | None = None,
) -> dict[str, Any]:
    """What anybody can compute who has the release and knows how it was made.

    Args:
        release: its tables; most releases have one.
        quasi_identifiers: the columns that form classes.
        code_lists: the hierarchies that were given as files or lists, not those made from the data.
        about: promise and method, in words.
        labels: how much the labels of the method tell, in columns without a code list.
    """
    words: dict[str, ColumnWords] = {}
    for table in release.values():
        words = read_words(table, code_lists, labels) | words
    known = [words[name] for name in quasi_identifiers if name in words]
    losses = [own.outcome.loss for own in known]
    loss = None if not known or None in losses else math.fsum(x for x in losses if x is not None) / len(known)
    return {
        **about,
        "rows": {"value": next(iter(release.values())).num_rows},
        "columns": _columns(words),
        "loss_of_released_rows": {"value": loss},
        "classes": class_figures(words, quasi_identifiers).to_dict(),
    }


def _columns(words: Mapping[str, ColumnWords]) -> dict[str, Any]:
    return {name: {"words": str(own.outcome), **own.outcome.to_dict()} for name, own in words.items()}


def internal_part(
    original: ReleaseReader,
    release: ReleaseReader,
    written: Mapping[str, pa.Table],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    workload: Workload | None = None,
    predictions: Sequence[Prediction] = (),
    losses: Mapping[str, Any] | None = None,
    source_rows: npt.NDArray[np.integer[Any]] | None = None,
) -> dict[str, Any]:
    """What is known to whoever has the original.

    Args:
        original: the original as its reader takes it.
        release: the release as its reader takes it.
        written: its tables.
        quasi_identifiers: the columns that form classes.
        sensitive: the columns that pairs are looked at first.
        workload: the queries to ask.
        predictions: what classifiers learned.
        losses: what was lost, by the name of the loss.
        source_rows: the row of the original that each row of the release was made from, if known.
    """
    names = list(original.domains)
    one_table = len(written) == 1
    words = read_with_domains(next(iter(written.values())), original.domains) if one_table else {}
    found = dependences(original, release, names, sensitive)
    tables = [contingency(original, release, *pair).to_dict() for pair in pairs_of(names, sensitive)]
    suppressed = original.num_rows - release.num_rows
    own = [words[name].outcome.loss or 0.0 for name in quasi_identifiers if name in words]
    if own:
        kept = math.fsum(own) / len(own) * release.num_rows
        loss = (kept + max(suppressed, 0)) / max(original.num_rows, 1)
        losses = {"loss": {"value": loss}, **(losses or {})}
    aligned = source_rows is not None and len(source_rows) == release.num_rows
    return {
        "rows": {"release": release.num_rows, "original": original.num_rows},
        "suppressed": {"value": max(suppressed, 0)},
        "columns": _columns(words),
        "summaries": {name: _summaries(original, release, name) for name in names},
        "tables": tables,
        "dependence": _dependence(original, release, names, found)
        | {
            "cell_distance": {
                "value": cell_distance(original, release, names, source_rows)
                if aligned and source_rows is not None
                else None
            }
        },
        "losses": dict(losses or {}),
        "queries": _queries(original, release, quasi_identifiers, sensitive, workload or Workload()),
        "classifiers": [each.to_dict() for each in predictions],
        "classes": class_figures(words, quasi_identifiers).to_dict(),
    }


def _summaries(original: ReleaseReader, release: ReleaseReader, name: str) -> dict[str, Any]:
    ours, theirs = summary(original, name), summary(release, name)
    domain, counts = original.domains[name], original.marginal(name)
    found: dict[str, Any] = {
        "scale": str(scale_of(domain)),
        "mode": {
            who: domain.column.labels[place] if counts[place] >= RARE else None
            for who, place in (("release", theirs.mode), ("original", ours.mode))
        },
    }
    for field in dataclasses.fields(ours):
        before, after = getattr(ours, field.name), getattr(theirs, field.name)
        if field.name != "mode" and (before is not None or after is not None):
            found[field.name] = {"release": after, "original": before}
    return found


def _dependence(
    original: ReleaseReader, release: ReleaseReader, names: Sequence[str], found: Sequence[Dependence]
) -> dict[str, Any]:
    known = [each.difference for each in found if each.difference is not None]
    return {
        "pairs": [each.to_dict() for each in found],
        "greatest_difference": {"value": max(known, default=None)},
        "mean_difference": {"value": float(np.mean(known)) if known else None},
        "eigenvalues": {"value": eigenvalue_difference(original, release, names)},
    }


def _queries(
    original: ReleaseReader,
    release: ReleaseReader,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    drawn: Workload,
) -> dict[str, Any]:
    counts = {name: original.marginal(name) for name in original.domains}
    queries = drawn.draw(original.domains, counts, quasi_identifiers, sensitive)
    errors = AnsweredWorkload.of(original, queries).errors(release)
    conditions = np.array([len(query.conditions) for query in queries])
    return {
        **_error(errors),
        "by_conditions": {
            int(number): _error(errors[conditions == number]) for number in np.unique(conditions)
        },
    }


def _error(errors: npt.NDArray[np.float64]) -> dict[str, Any]:
    found = error_of(errors)
    return {
        "queries": {"value": found.queries},
        "median": {"value": found.median},
        "worst_tenth": {"value": found.worst_tenth},
    }


def shared_part(internal: Mapping[str, Any], predictions: Sequence[Prediction] = ()) -> dict[str, Any]:
    """The errors that may leave: medians over many queries, differences and losses, rounded to two digits.

    Nothing of a table of few rows is shared, and nothing of a target with a value that few people have.
    """
    if min(internal["rows"].values()) < SHARED_ROWS:
        return {"note": f"left out: the table has fewer than {SHARED_ROWS:,} rows"}
    queries, dependence = internal["queries"], internal["dependence"]
    found: dict[str, Any] = {"note": PRECAUTION}
    if queries["queries"]["value"] >= SHARED_QUERIES:
        found["queries"] = {
            name: {"value": two_digits(queries[name]["value"])} for name in ("median", "worst_tenth")
        }
    found["dependence"] = {
        name: {"value": two_digits(dependence[name]["value"])}
        for name in ("greatest_difference", "mean_difference")
    }
    found["losses"] = {
        name: {"value": two_digits(told["value"])} for name, told in internal["losses"].items()
    }
    found["classifiers"] = [
        {
            "target": each.target,
            "classifier": each.classifier,
            "protocol": str(each.protocol),
            "auc_difference": {"value": two_digits(each.original.auc - each.release.auc)},
        }
        for each in predictions
        if each.rarest >= RARE and each.original.auc is not None and each.release.auc is not None
    ]
    return found


def two_digits(number: float | None) -> float | None:
    """A number rounded to two significant digits.

    >>> two_digits(0.0123456), two_digits(1987.0), two_digits(None)
    (0.012, 2000.0, None)
    """
    return None if number is None or not math.isfinite(number) else float(f"{number:.1e}")
