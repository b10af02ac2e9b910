"""The utility report of a result, and of any release beside its original."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.engines.stored import StoredTable
from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError, Reason
from tarnkappe.hierarchy import Hierarchy, read_hierarchy
from tarnkappe.job.bucketized import Bucketized
from tarnkappe.job.column_plan import ColumnPlan
from tarnkappe.job.job import Job
from tarnkappe.job.pipeline import protect_table
from tarnkappe.job.result import ProtectionRequest, Result
from tarnkappe.table import SUPPRESSED, Role, Table
from tarnkappe.table.encoding import Progress, encode, encode_column
from tarnkappe.utility import (
    ColumnDomain,
    ReleaseReader,
    UtilityOptions,
    UtilityReport,
    bucketized_view,
    exact_view,
    written_view,
)
from tarnkappe.utility.all_losses import all_losses
from tarnkappe.utility.columns import ColumnOutcome, details_of, read_words
from tarnkappe.utility.plain_words import Detail
from tarnkappe.utility.prediction import (
    CLASSIFIERS,
    EvaluationProtocol,
    Fold,
    Prediction,
    predict,
    stratified_folds,
    taken,
)
from tarnkappe.utility.report import internal_part, public_part, shared_part

Rows = npt.NDArray[np.int64]


def result_utility(
    result: Result, options: UtilityOptions | None = None, progress: Progress | None = None
) -> UtilityReport:
    """What the release of a result is still good for."""
    options = options or UtilityOptions()
    if isinstance(result.release, StoredTable):
        raise ParameterError(
            "job.engine-keeps-rows-read",
            "an engine keeps the rows: read release and original, and use measure_utility",
        )
    bucketized = isinstance(result, Bucketized)
    tables = dict(result.tables) if isinstance(result, Bucketized) else {"release": result.release.data}
    domains = _domains(result.input, result.hierarchies)
    view = _view(result, domains)
    original = exact_view(domains, result.input.data)
    plans = {} if result.request is None else result.request.plans
    grouping = (
        [next(iter(tables.values())).column_names[-1]] if bucketized else result.input.quasi_identifiers
    )
    losses = {}
    if not bucketized:
        one_node = result.recoding is None or result.recoding.levels is not None
        losses = all_losses(result.problem, result.state, one_node=one_node and len(result.passes) < 2)
    return _report(
        tables,
        grouping,
        _code_lists(plans),
        _about(result),
        original,
        view,
        result.input,
        options,
        result.request,
        losses=losses,
        source_rows=None if bucketized else result.source_rows,
        hierarchies=result.hierarchies,
        labels=_labels(result),
        progress=progress,
    )


def public_utility(result: Result) -> dict[str, Any]:
    """The public part alone, for reports and manifests: it is not computed from the original."""
    tables = dict(result.tables) if isinstance(result, Bucketized) else {"release": result.release.data}
    plans = {} if result.request is None else result.request.plans
    last = next(iter(tables.values())).column_names[-1]
    grouping = [last] if isinstance(result, Bucketized) else list(result.input.quasi_identifiers)
    return public_part(tables, grouping, _code_lists(plans), _about(result), _labels(result))


def measure_utility(
    release: Table,
    *,
    original: Table | None = None,
    job: Job | None = None,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    options: UtilityOptions | None = None,
    progress: Progress | None = None,
) -> UtilityReport:
    """What any release is still good for, whoever made it.

    Args:
        release: the release, as a table.
        original: what it was made from; without it there is the public part alone.
        job: tells roles, hierarchies and promise, and how training parts are anonymized.
        quasi_identifiers: the columns that form classes; without a job and without this, those in which some
            cell of the release is coarse or hidden by its form.
        sensitive: the columns that pairs are looked at first.
        hierarchies: code lists of columns.
        options: queries, classifiers, what is shared.
        progress: told about the progress of long work.

    >>> import pyarrow as pa
    >>> ages = Table(pa.table({"age": ["30-39", "30-39", "*", "*"]}))
    >>> measure_utility(ages).public["columns"]["age"]["words"]
    'coarser in 50% (within 9 on average), hidden in 50%'
    """
    options = options or UtilityOptions()
    plans = dict(job.columns) if job is not None else {}
    lists = {**_code_lists(plans), **(hierarchies or {})}
    names = [name for name in release.column_names if original is None or name in original.column_names]
    known = [n for n in (quasi_identifiers or (job.quasi_identifiers if job else ())) if n in names]
    known = known or _generalized(release.data)
    about = {
        "promise": [model.promise for model in job.privacy] if job is not None else [],
        "method": job.search.name if job is not None else "not told",
    }
    if original is None:
        if options.targets or options.share_errors:
            raise ParameterError(
                "job.errors-classifiers-measured-against",
                "errors and classifiers are measured against the original: name it, too",
            )
        return UtilityReport(public_part({"release": release.data}, known, lists, about))
    missing = [name for name in known if name not in original.column_names]
    if missing or not names:
        raise ColumnError(
            "job.original-no-column-name",
            "the original has no column {missing}: name the table that the release was made from",
            missing=", ".join(missing) or Reason("job.release", "of the release"),
        )
    hidden = [n for n in (sensitive or _with_role(plans, Role.SENSITIVE)) if n in names]
    kept = original.with_roles(
        quasi_identifiers=known,
        sensitive=[n for n in hidden if n not in known],
        insensitive=[n for n in names if n not in known and n not in hidden],
    )
    encoded = encode(kept, kept.published)
    found = {n: own for n, plan in plans.items() if n in encoded and (own := plan.hierarchy_for(encoded[n]))}
    found |= lists
    domains = {name: ColumnDomain.of(column, found.get(name)) for name, column in encoded.items()}
    request = None
    if job is not None:
        settings = {"suppression_limit": job.suppression_limit, "suppression": job.suppression}
        settings |= {"local_recoding": job.local_recoding}
        settings |= {"several_rows_per_person": True}
        request = ProtectionRequest(job.columns, job.privacy, job.loss, job.search, settings)
    data = release.data.select(list(kept.published))
    return _report(
        {"release": data},
        known,
        lists,
        about,
        exact_view(domains, kept.data),
        written_view(domains, data),
        kept,
        options,
        request,
        hierarchies=found,
        progress=progress,
    )


def _report(
    tables: Mapping[str, pa.Table],
    grouping: Sequence[str],
    code_lists: Mapping[str, Hierarchy],
    about: Mapping[str, Any],
    original: ReleaseReader,
    release: ReleaseReader,
    table: Table,
    options: UtilityOptions,
    request: ProtectionRequest | None,
    *,
    hierarchies: Mapping[str, Hierarchy],
    labels: Mapping[str, Mapping[str, Detail]] | None = None,
    losses: Mapping[str, Any] | None = None,
    source_rows: npt.NDArray[np.integer[Any]] | None = None,
    progress: Progress | None = None,
) -> UtilityReport:
    predictions: list[Prediction] = []
    for number, target in enumerate(options.targets):
        if progress:
            progress("learning", number, len(options.targets), target)
        predictions += _predictions(original, release, table, target, options, request, hierarchies, progress)
    if progress:
        progress("comparing with the original", 0, 1)
    internal = internal_part(
        original,
        release,
        tables,
        table.quasi_identifiers,
        table.sensitive,
        workload=options.workload,
        predictions=predictions,
        losses=losses,
        source_rows=source_rows,
    )
    shared = shared_part(internal, predictions) if options.share_errors else None
    return UtilityReport(public_part(tables, grouping, code_lists, about, labels), shared, internal)


def _predictions(
    original: ReleaseReader,
    release: ReleaseReader,
    table: Table,
    target: str,
    options: UtilityOptions,
    request: ProtectionRequest | None,
    hierarchies: Mapping[str, Hierarchy],
    progress: Progress | None,
) -> list[Prediction]:
    if target not in original.domains:
        raise ColumnError(
            "job.release-no-column-predicted",
            "the release has no column '{target}' to be predicted",
            target=target,
        )
    protocol = EvaluationProtocol(options.protocol)
    features = [name for name in table.published if name != target]
    truth = original.cells[target].words
    made: list[Callable[[], Fold]] = []
    if protocol is EvaluationProtocol.RELEASE_TO_RELEASE:
        own = stratified_folds(truth, options.folds, options.seed)
        words = release.cells[target].words
        theirs = stratified_folds(words, options.folds, options.seed)
        for (train, test), (learned, asked) in zip(own, theirs, strict=True):
            made.append(
                lambda a=train, b=test, c=learned, d=asked: Fold(  # type: ignore[misc]
                    taken(original, a), taken(release, c), taken(original, b), taken(release, d)
                )
            )
    else:
        if request is None:
            raise ParameterError(
                "job.release-people-anonymizes-training",
                "release-to-people anonymizes training parts anew, which needs the job: name it, or take "
                "the protocol release-to-release",
            )
        for train, test in stratified_folds(truth, options.folds, options.seed):
            made.append(
                lambda a=train, b=test: _trained_on(  # type: ignore[misc]
                    original, table, request, hierarchies, a, b, progress
                )
            )
    return predict(
        original, target, features, protocol, made, options.classifiers or CLASSIFIERS, seed=options.seed
    )


def _trained_on(
    original: ReleaseReader,
    table: Table,
    request: ProtectionRequest,
    hierarchies: Mapping[str, Hierarchy],
    train: Rows,
    test: Rows,
    progress: Progress | None,
) -> Fold:
    """A release of the training rows alone, and the original rows that were held out."""
    part = protect_rows(table, request, hierarchies, train, progress)
    learned = _view(part, original.domains)
    asked = taken(original, test)
    return Fold(taken(original, train), learned, asked, asked, part.suppressed)


def protect_rows(
    table: Table,
    request: ProtectionRequest,
    hierarchies: Mapping[str, Hierarchy],
    rows: Rows,
    progress: Progress | None = None,
) -> Result:
    """Some rows of a table, protected as the whole was, with the same hierarchies."""
    plans = {
        name: dataclasses.replace(
            request.plans.get(name, ColumnPlan(table.roles[name])), hierarchy=hierarchies.get(name)
        )
        for name in table.column_names
        if name in request.plans or name in hierarchies
    }
    part = table.with_data(table.data.take(pa.array(np.sort(rows))))
    try:
        return protect_table(
            part, plans, request.models, request.loss, request.search, progress=progress, **request.settings
        )
    except NoSolutionError:
        raise NoSolutionError(
            "job.training-part-fold-no-release",
            "the training part of a fold has no release that keeps the promises: take more folds, or the "
            "protocol release-to-release",
        ) from None


def cell_outcomes(result: Result) -> dict[str, ColumnOutcome]:
    """What is left of each quasi-identifier of a release of one table, as its reader sees it."""
    plans = {} if result.request is None else result.request.plans
    names = [name for name in result.input.quasi_identifiers if name in result.release.column_names]
    words = read_words(result.release.data.select(names), _code_lists(plans), _labels(result))
    return {name: own.outcome for name, own in words.items()}


def _labels(result: Result) -> dict[str, dict[str, Detail]]:
    """How much the words of the method tell: labels, and aggregates, which are nobody's value."""
    found = {name: details_of(hierarchy) for name, hierarchy in result.hierarchies.items()}
    for name in result.aggregates:
        words = encode_column(name, result.release.data.column(name)).labels
        found[name] = {word: Detail.HIDDEN if word == SUPPRESSED else Detail.COARSE for word in words}
    return found


def _about(result: Result) -> dict[str, Any]:
    return {
        "promise": [model.promise for model in result.problem.models],
        "method": result.solution.algorithm,
        "levels": result.levels or None,
    }


def _code_lists(plans: Mapping[str, ColumnPlan]) -> dict[str, Hierarchy]:
    """The hierarchies that were given, not made from the data."""
    found = {}
    for name, plan in plans.items():
        if plan.aggregate is not None:
            continue  # its words are no labels
        if isinstance(plan.hierarchy, Hierarchy):
            found[name] = plan.hierarchy
        elif isinstance(plan.hierarchy, str):
            found[name] = read_hierarchy(plan.hierarchy)
    return found


def _domains(table: Table, hierarchies: Mapping[str, Hierarchy]) -> dict[str, ColumnDomain]:
    return {
        name: ColumnDomain.of(column, hierarchies.get(name))
        for name, column in encode(table, table.published).items()
    }


def _view(result: Result, domains: Mapping[str, ColumnDomain]) -> ReleaseReader:
    if isinstance(result, Bucketized):
        return bucketized_view(domains, result.method, result.tables)
    return written_view(domains, result.release.data)


def _generalized(release: pa.Table) -> list[str]:
    """The columns in which some cell is coarse or hidden, as far as the release itself shows it."""
    words = read_words(release, {})
    return [name for name, own in words.items() if any(d is not Detail.EXACT for d in own.details)]


def _with_role(plans: Mapping[str, ColumnPlan], role: Role) -> list[str]:
    return [name for name, plan in plans.items() if plan.role is role]
