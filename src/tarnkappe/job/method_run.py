"""A publishing method in a job: its rows are judged, measured, released and verified as those of a search."""

from __future__ import annotations

from tarnkappe.errors import NoSolutionError, ParameterError, Reason
from tarnkappe.job.preparation import Preparation
from tarnkappe.job.result import Result
from tarnkappe.job.timings import Stopwatch
from tarnkappe.lattice import Evaluation, Solution
from tarnkappe.privacy import satisfied
from tarnkappe.recoding import Method, Recoded, Recoding, Suppression, recoded
from tarnkappe.table.encoding import Progress


def recode_and_release(
    prepared: Preparation,
    method: Method,
    watch: Stopwatch | None = None,
    progress: Progress | None = None,
    *,
    local_recoding: bool = False,
) -> Result:
    """Let a method recode the rows of a table, and release the outcome verified.

    Raises:
        NoSolutionError: if what the method wrote does not keep the promises within the suppression limit.
        ParameterError: if the job asks for something that the method is not made for.
    """
    watch = watch or Stopwatch(prepared.seconds)
    problem = prepared.problem
    method.check(problem)
    _refuse_treatments(prepared, method, local_recoding=local_recoding)
    with watch.stage("search"):
        recoding = method.recode(prepared.rows, problem, progress)
    if recoding.levels is not None:
        node = tuple(recoding.levels[name] for name in problem.quasi_identifiers)
        best = problem.evaluate(node)
        return prepared.release(_solution(method, recoding, best), watch, recoding)
    with watch.stage("transform"):
        found = recoded(prepared.rows, recoding, problem.models, prepared.counted)
        if not satisfied(found.state, problem.models, problem.limit):
            raise NoSolutionError.because(_spoiled(method, found, prepared))
        loss = problem.loss(found.state)
    best = Evaluation((), True, loss, found.state.suppressed_rows, found.state.num_kept)
    return prepared.hand_over(found, _solution(method, recoding, best), watch, recoding=recoding)


def _solution(method: Method, recoding: Recoding, best: Evaluation) -> Solution:
    bound = best.loss if recoding.optimal else recoding.bound
    return Solution(best, recoding.optimal, 0, method.name, bound=bound, stopped=recoding.stopped)


def _refuse_treatments(prepared: Preparation, method: Method, *, local_recoding: bool) -> None:
    treatment = prepared.treatment
    asked = {
        "aggregates": bool(treatment.aggregations),
        "suppressed columns": bool(treatment.suppressed),
        'suppression = "cell"': treatment.suppression is not Suppression.RECORD,
        "local_recoding": local_recoding,
    }
    for what, is_asked in asked.items():
        if is_asked:
            raise ParameterError(
                "job.not-go-together-since-decides",
                "{what} and {method} do not go together, since it decides itself how each row is written: "
                "leave it out, or use a search",
                what=what,
                method=method.name,
            )


def _spoiled(method: Method, found: Recoded, prepared: Preparation) -> Reason:
    problem = prepared.problem
    promised = ", ".join(map(str, problem.models))
    return Reason(
        "job.found-no-release-meets",
        "{method} found no release that meets {promised} with at most {limit} of {num_rows} rows suppressed"
        " ({suppressed_rows} would have to be): raise the suppression limit, ask for less, or use a search",
        method=method.name,
        promised=promised,
        limit=problem.limit,
        num_rows=problem.tuples.num_rows,
        suppressed_rows=found.state.suppressed_rows,
    )
