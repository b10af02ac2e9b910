"""`tarn check`: which guarantees a table has, and what an attacker can do with it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from tarnkappe.cli.arguments import hierarchy_files, parse_parameters
from tarnkappe.cli.background import BackgroundFlags, judge_history
from tarnkappe.cli.check_measures import choose_measures, create_measures, scan_only
from tarnkappe.cli.column_flags import accept_too, accepted_plans
from tarnkappe.cli.console import output, print_json, progress_bar, show_in_one_line
from tarnkappe.cli.reading_flags import Options, say_reading, with_reading_flags
from tarnkappe.cli.remote_option import RemoteOption
from tarnkappe.errors import ColumnError, HierarchyError, ParameterError, TarnkappeError
from tarnkappe.hierarchy import Hierarchy, read_hierarchy
from tarnkappe.job import Audience, Job, read_job_file
from tarnkappe.job.identifier_guard import untouched
from tarnkappe.job.sections import create_model
from tarnkappe.privacy import MODELS, KAnonymity, Model, needed_distributions
from tarnkappe.report import write_html
from tarnkappe.report.check_text import render, unfit, verdict_text
from tarnkappe.risk import check as check_table
from tarnkappe.risk.attacks import NOTHING, columns_from_people
from tarnkappe.risk.identifiers import Alarm, Certainty, ColumnScan, find_alarms, with_proposed_roles
from tarnkappe.schema import fields_of
from tarnkappe.table import Role, Table, encode, read
from tarnkappe.table.encoding import Progress

Words = list[str]


@dataclasses.dataclass(frozen=True)
class CheckRequest:
    """What is to be checked: a table with roles, and what it should promise."""

    table: Table
    population: Table | None
    hierarchies: Mapping[str, Hierarchy]
    models: Sequence[Model]
    alarms: tuple[Alarm, ...]
    proposed: tuple[ColumnScan, ...] = ()


@with_reading_flags
def check(
    data: Annotated[str, typer.Argument(help="The table (CSV, Parquet, ...) or a job file (TOML).")],
    qi: Annotated[Words | None, typer.Option(help="The columns that an attacker may know.")] = None,
    sensitive: Annotated[
        Words | None, typer.Option(help="The columns that an attacker wants to learn.")
    ] = None,
    population: Annotated[str | None, typer.Option(help="Everybody who could be in the table.")] = None,
    hierarchy: Annotated[
        Words | None, typer.Option(help="The categories of a sensitive column: COLUMN=FILE.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="Short for --model k-anonymity:k=K.")] = None,
    audience: Annotated[
        str | None, typer.Option("--for", help="Without --qi, who gets it: internal|partner|public.")
    ] = None,
    model: Annotated[
        Words | None, typer.Option(help="A model to be met: NAME:parameter=value,parameter=value.")
    ] = None,
    sampling_fraction: Annotated[
        str | None, typer.Option(help="The share of the population in the table, if no population is given.")
    ] = None,
    threshold: Annotated[
        str | None, typer.Option(help="From which risk on a person counts as at risk.")
    ] = None,
    suda_size: Annotated[
        int | None, typer.Option(help="Find people whom so many columns single out, or fewer (SUDA2).")
    ] = None,
    measure: Annotated[
        Words | None, typer.Option(help="A further risk measure: NAME:parameter=value, or all.")
    ] = None,
    safe_harbor: Annotated[
        bool, typer.Option("--safe-harbor", help="Look for HIPAA's 18 identifiers; propose roles of columns.")
    ] = False,
    against: Annotated[str | None, typer.Option(help="People with what an attacker knows of them.")] = None,
    identifier: Annotated[Words | None, typer.Option("--name", help="The column that names them.")] = None,
    history: Annotated[
        str | None, typer.Option(help="Earlier releases: a folder of files, or a store (.db, URL).")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The key of the store; made if there is none.")] = None,
    of: Annotated[str, typer.Option(help="The population whose releases the store keeps.")] = "default",
    record: Annotated[
        str | None, typer.Option(help="Record the release in the store, if it is safe.")
    ] = None,
    rules: Annotated[Path | None, typer.Option(help="Rules: who does not have which value (TOML).")] = None,
    accept: Annotated[Words | None, typer.Option(help="What names nobody: COLUMN=DETECTOR.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the report as an HTML page, too.", writable=True)
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst classes to name.")] = 5,
    remote: RemoteOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    *,
    reading: Options,
) -> None:
    """Tell which guarantees a table has: k, l, t, delta, risks, and the attacks that work.

    Ends with exit code 1 if a column names people, or if the table does not meet a model that was asked for,
    alone or, for k-anonymity and distinct diversity, together with earlier releases. Without --qi, an
    attacker knows the columns that the table shares with the people of --against, and wants to learn the
    others; without these people, roles are proposed from headers and values, and shown with their reasons:
    the verdict comes first, no cell is shown, and the table is fit if it also has the k of --for.
    """
    start = time.perf_counter()
    files = hierarchy_files(hierarchy or ())
    passed = accepted_plans(accept or ())
    chosen = choose_measures(measure or (), sampling_fraction, threshold, suda_size)
    measures = create_measures(chosen)
    asked_models = _models(k, model or (), sensitive or ())
    knowledge = BackgroundFlags(against, identifier or (), history, key, of, rules)
    if remote is not None:
        from tarnkappe.cli.remote_check import check_remotely

        beside = {"safe_harbor": safe_harbor, "worst": worst, "measures": chosen}
        check_remotely(
            remote, data, qi or (), sensitive or (), population, files, asked_models, knowledge, passed,
            beside, reading, html, as_json,
        )  # fmt: skip
        return
    for_whom = Audience.parse(audience or Audience.PARTNER)
    if audience is not None and (qi or against or safe_harbor or data.lower().endswith(".toml")):
        raise ParameterError(
            "cli.about-table-nobody-described",
            "--for is about a table that nobody has described: leave it or the columns out",
        )
    if safe_harbor and not qi and not data.lower().endswith(".toml"):
        scan_only(data, reading, html, as_json)
        return
    with progress_bar() as progress:

        def read_file(path: str, columns: Sequence[str] | None = None) -> Table:
            table = read(path, columns=columns, **reading, progress=progress)
            show_in_one_line(table.column_names)
            return table

        if data.lower().endswith(".toml"):
            question = ask_job(data, passed, progress)
        else:
            if against is not None and not qi:
                shared = columns_from_people(read_file(data), read_file(against), (), sensitive or ())
                qi, sensitive = list(shared.quasi_identifiers), list(shared.sensitive)
            promised = [create_model(entry) for entry in _models(k, model or (), sensitive or ())]
            question = _ask(
                read_file,
                data,
                qi or (),
                sensitive or (),
                population,
                files,
                promised,
                {name: plan["accept"] for name, plan in passed.items()},
                [name for each in measures for names in each.distributions for name in names],
                every_column=safe_harbor,
            )
        people = knowledge.people(read_file, question.table.column_names)
        background = knowledge.background(read_file, question.table, people, question.hierarchies)
        asked = time.perf_counter()
        with _naming(data, files):
            report = check_table(
                question.table,
                population=question.population,
                hierarchies=question.hierarchies,
                models=question.models,
                measures=measures,
                safe_harbor=safe_harbor,
                background=background if knowledge.given else NOTHING,
                worst=0 if question.proposed else worst,  # who asks about any file is shown no cell
                progress=progress,
            )
            report = dataclasses.replace(report, alarms=question.alarms, proposed=question.proposed)
            after = judge_history(knowledge, question.table, background, question.models, record)
    reasons = unfit(report, for_whom.k) if question.proposed else []
    say_reading(question.table)
    if html is not None:
        write_html(report, html, data)
    if as_json:
        seconds = {"read": round(asked - start, 6), "check": round(time.perf_counter() - asked, 6)}
        told = {} if after is None else {"history": after.to_dict()}
        verdict = {"fit": not reasons, "reasons": reasons} if question.proposed else {}
        print_json({"input": data, **verdict, **report.to_dict(), **told, "seconds": seconds})
    else:
        if question.proposed:
            output.print(verdict_text(reasons, data), markup=False, highlight=False, soft_wrap=True)
        output.print(render(report, data, after))
    if reasons or not report.holds or (after is not None and not after.safe):
        raise typer.Exit(1)


def ask_job(path: str, passed: Mapping[str, Any], progress: Progress) -> CheckRequest:
    """The question that a job file asks: does its input, untouched, meet the models that it promises?"""
    content = read_job_file(path)
    accept_too(content, passed)
    job = Job.from_dict(content, Path(path).parent, name=path)
    table = job.read_input(progress)
    show_in_one_line(table.column_names)
    columns = encode(table, table.sensitive)
    hierarchies = {name: job.columns[name].hierarchy_for(column) for name, column in columns.items()}
    return CheckRequest(
        table,
        None if job.population is None else job.population.read(progress),
        {name: hierarchy for name, hierarchy in hierarchies.items() if hierarchy is not None},
        job.privacy,
        find_alarms(table, untouched(table, job.columns), job.accepted, progress),
    )


def _ask(
    reading: Callable[..., Table],
    data: str,
    qi: Sequence[str],
    sensitive: Sequence[str],
    population: str | None,
    hierarchies: Mapping[str, Path],
    models: Sequence[Model],
    accepted: Mapping[str, Mapping[str, str]],
    counted: Sequence[str],
    *,
    every_column: bool,
) -> CheckRequest:
    """The question that flags ask; in all columns of the file it is looked for what names people."""
    judged = [name for names in needed_distributions(models) for name in names]
    whole = reading(data)
    proposed: tuple[ColumnScan, ...] = ()
    with _naming(data):
        if not qi:
            stated = dict.fromkeys((whole.require(name) for name in (*sensitive, *judged)), Role.SENSITIVE)
            whole, proposed = with_proposed_roles(whole, stated)
            if not whole.quasi_identifiers:
                whole, proposed = _known_to_others(whole, proposed, stated)
            qi, sensitive = whole.quasi_identifiers, whole.sensitive
            if not qi:
                raise ColumnError(
                    "cli.no-column-looks-like",
                    "no column looks like what others may know: name some: --qi COLUMN ...",
                )
        else:
            whole = whole.with_roles(quasi_identifiers=qi, sensitive=sensitive)
        columns = list(dict.fromkeys([*qi, *sensitive, *judged, *hierarchies, *counted]))
        named = [whole.require(name) for name in columns]
        for name in accepted:
            whole.require(name)
    table = whole
    if not every_column:
        table = Table(whole.data.select(named), {name: whole.roles[name] for name in named})
    return CheckRequest(
        table,
        None if population is None else reading(population, columns=list(dict.fromkeys(qi))),
        {name: read_hierarchy(file) for name, file in hierarchies.items()},
        models,
        find_alarms(whole, whole.column_names, accepted),
        proposed,
    )


def _known_to_others(
    table: Table, proposed: tuple[ColumnScan, ...], stated: Mapping[str, Role]
) -> tuple[Table, tuple[ColumnScan, ...]]:
    """What is left is taken for known where nothing else is, as it is for a release: equal rows, or one."""
    taken = tuple(
        each
        if each.role is Role.IDENTIFIER or each.column in stated
        else dataclasses.replace(
            each,
            role=Role.QUASI_IDENTIFIER,
            reason="nothing else was found that others may know",
            certainty=Certainty.GUESS,
        )
        for each in proposed
    )
    return table.with_roles({each.column: each.role for each in taken} | dict(stated)), taken


def _models(k: int | None, models: Sequence[str], sensitive: Sequence[str]) -> list[dict[str, Any]]:
    """The models that flags ask for, as a job file would say it."""
    asked: list[dict[str, Any]] = [] if k is None else [{"model": KAnonymity.name, "k": k}]
    return [*asked, *(_model(*parse_parameters(text), sensitive) for text in models)]


def _model(name: str, parameters: dict[str, Any], sensitive: Sequence[str]) -> dict[str, Any]:
    """A model; if it names no column, it is about the only sensitive one."""
    takes_column = any(field.name == "column" for field in fields_of(MODELS[name]))
    if takes_column and "column" not in parameters and len(sensitive) == 1:
        parameters = {"column": sensitive[0], **parameters}
    return {"model": name, **parameters}


@contextmanager
def _naming(data: str, hierarchies: Mapping[str, Path] | None = None) -> Iterator[None]:
    """Let an error name the file that it is about: a hierarchy, or else the table."""
    try:
        yield
    except TarnkappeError as error:
        about = [str(file) for name, file in (hierarchies or {}).items() if f"'{name}'" in str(error)]
        file = about[0] if about and isinstance(error, HierarchyError) else data
        raise error.within(file) from None
