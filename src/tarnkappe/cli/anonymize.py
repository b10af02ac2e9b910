"""`tarn anonymize`: the main job, from a job file or from flags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tarnkappe.cli.arguments import parse_parameters
from tarnkappe.cli.column_flags import (
    accept_too,
    accepted_plans,
    plan_from_flags,
    roles_from_flags,
    types_from_flags,
)
from tarnkappe.cli.console import output, print_json, progress_bar, say, show_in_one_line
from tarnkappe.cli.language import told
from tarnkappe.cli.proposing import content_of, is_job_file, proposal_from_flags, settle
from tarnkappe.cli.reading_flags import Options, say_reading, with_reading_flags
from tarnkappe.cli.remote_option import RemoteOption
from tarnkappe.errors import GuaranteeError, JobError
from tarnkappe.job import Job, Result, read_job_file, run
from tarnkappe.job.alternatives import alternatives_job, chosen_job
from tarnkappe.job.column_outcomes import unprotected_plans
from tarnkappe.job.column_plan import LEVEL_KEYS
from tarnkappe.job.default_coding import DEFAULT_LOSS, DefaultCoding, default_coding
from tarnkappe.job.paths import default_outputs
from tarnkappe.job.proposal_text import remaining_text
from tarnkappe.job.sections import create_loss, create_models
from tarnkappe.job.weight_presets import presets_of_job, with_preset
from tarnkappe.lattice.alternatives import MOST
from tarnkappe.native import is_interruption
from tarnkappe.process.signals import StoppedError, interrupted, too_late
from tarnkappe.recoding import Regions
from tarnkappe.schema import values_of
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import STDIN

Words = list[str]


@with_reading_flags
def anonymize(
    data: Annotated[
        str | None, typer.Argument(help="A table, for which a job is proposed, or a job file (TOML).")
    ] = None,
    source: Annotated[str | None, typer.Option("--input", help="A file or a database URL.")] = None,
    table: Annotated[str | None, typer.Option(help="The table of a database.")] = None,
    query: Annotated[str | None, typer.Option(help="The query to a database.")] = None,
    engine: Annotated[str | None, typer.Option(help="Who works: memory|duckdb|postgresql|spark.")] = None,
    memory_limit: Annotated[str | None, typer.Option(help="For the engine duckdb, as 2GB.")] = None,
    population: Annotated[str | None, typer.Option(help="Everybody who could be in the input.")] = None,
    identifier: Annotated[Words | None, typer.Option(help="A column that names a person.")] = None,
    qi: Annotated[Words | None, typer.Option(help="A quasi-identifier: COLUMN[=HIERARCHY.csv].")] = None,
    sensitive: Annotated[Words | None, typer.Option(help="A sensitive column, as --qi.")] = None,
    publish: Annotated[Words | None, typer.Option(help="A column to release as it is.")] = None,
    accept: Annotated[Words | None, typer.Option(help="What names nobody: COLUMN=DETECTOR.")] = None,
    model: Annotated[Words | None, typer.Option(help="A model: NAME:parameter=value,...")] = None,
    k: Annotated[int | None, typer.Option("--k", help="Short for --model k-anonymity:k=K.")] = None,
    audience: Annotated[
        str | None, typer.Option("--for", help="Of a table: internal|partner|public.")
    ] = None,
    uniform: Annotated[bool, typer.Option("--uniform", help="One level for a column, in all rows.")] = False,
    loss: Annotated[str | None, typer.Option(help="What to minimize: NAME[:parameter=value,...]")] = None,
    algorithm: Annotated[str | None, typer.Option(help="Search or method: NAME[:parameter=value]")] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop then, with the best found so far.")] = None,
    suppression_limit: Annotated[float | None, typer.Option(help="Share of rows to suppress.")] = None,
    suppression: Annotated[str | None, typer.Option(help="Of rows: record (left out) or cell ('*').")] = None,
    suppress: Annotated[Words | None, typer.Option(help="A quasi-identifier to suppress.")] = None,
    level: Annotated[Words | None, typer.Option(help="Limits: COLUMN=LEVEL or COLUMN=LEAST..MOST.")] = None,
    weight: Annotated[Words | None, typer.Option(help="What its loss counts: COLUMN=NUMBER.")] = None,
    aggregate: Annotated[Words | None, typer.Option(help="COLUMN=mean|median|mode|interval|...")] = None,
    alternatives: Annotated[int | None, typer.Option(help="List so many good releases.", min=1)] = None,
    choose: Annotated[int | None, typer.Option(help="Release this one of --alternatives.", min=1)] = None,
    local_recoding: Annotated[bool | None, typer.Option(help="Search suppressed rows again.")] = None,
    leave: Annotated[float | None, typer.Option(help="Share of rows that a pass may leave.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the release.", writable=True)] = None,
    out_table: Annotated[str | None, typer.Option(help="The table to write, in the same database.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Where to write the HTML report.", writable=True)
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="For the house and its auditors, see `tarn verify`.", writable=True)
    ] = None,
    job_out: Annotated[
        Path | None, typer.Option("--job", help="Where to write the proposed job file.", writable=True)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing, only tell.")] = False,
    shuffle: Annotated[bool | None, typer.Option(help="Random order of rows (the default).")] = None,
    excel: Annotated[bool, typer.Option("--excel", help="Write CSV so that Excel opens it.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse what would only be warned of.")] = False,
    remote: RemoteOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    *,
    reading: Options,
) -> None:
    """Publish a table with the promised guarantees and the least loss.

    Of a table that nobody has described, the columns are looked at, and roles, hierarchies and a promise are
    proposed; what is only a guess is said on stderr. Flags state it otherwise; --job writes the proposal as a
    job file. `tarn look` shows a proposal and releases nothing, `tarn start` asks.

    Without --out, people.csv gives people.release.csv, its manifest and people.report.html beside it. A file
    that is there and shows that it is such an output is replaced, any other only with --replace.

    Ctrl-C during the search ends it with the best solution found so far, which is verified and written like
    any other and marked as not proven optimal. A second Ctrl-C stops everything.
    """
    job = Path(data) if data is not None and is_job_file(data) else None
    proposal = None
    if data is not None and job is None:
        if source is not None:
            raise JobError(
                "cli.input-say-once-what-anonymize",
                "{data} and --input {source}: say once what to anonymize",
                data=data,
                source=source,
            )
        proposal = proposal_from_flags(
            data, audience, k, identifier, qi, sensitive, publish, accept, uniform=uniform, reading=reading
        )
        content = content_of(proposal, data)
        identifier = qi = sensitive = publish = accept = k = None  # the proposal has them
    else:
        content = read_job_file(job) if job is not None else {}
        _refuse_without_proposal({"--for": audience, "--job": job_out})
    if source is not None:
        content["input"] = {"database": source} if "://" in source else {"path": _absolute(source)}
    _put(content, "input", table=table, query=query)
    types_from_flags(content, reading.pop("types", {}))
    _put(content, "input", **reading)
    _put(content, "input", engine=engine, memory_limit=memory_limit)
    if population is not None:
        content["population"] = {"path": _absolute(population)}
    roles = {
        Role.IDENTIFIER: identifier or (),
        Role.QUASI_IDENTIFIER: qi or (),
        Role.SENSITIVE: sensitive or (),
        Role.INSENSITIVE: publish or (),
    }
    roles_from_flags(content, roles)
    accept_too(content, accepted_plans(accept or ()))
    plan_from_flags(content, level or (), weight or (), aggregate or (), suppress or ())
    for text in [*([f"k-anonymity:k={k}"] if k is not None else []), *(model or ())]:
        name, parameters = parse_parameters(text)
        content.setdefault("privacy", []).append({"model": name, **parameters})
    if loss is not None:
        name, parameters = parse_parameters(loss)
        _put(content, "search", loss={"name": name, **parameters})
    if algorithm is not None:
        name, parameters = parse_parameters(algorithm)
        _put(content, "search", algorithm=name, **parameters)
    _put(content, "search", seconds=seconds, suppression_limit=suppression_limit, uniform=uniform or None)
    _put(
        content, "search", suppression=suppression, local_recoding=local_recoding if leave is None else leave
    )
    _put(content, "output", path=_absolute(out), table=out_table)
    _put(content, "output", report=_absolute(report), certificate=_absolute(certificate), shuffle=shuffle)
    _put(content, "output", excel=excel or None)
    if "input" not in content:
        raise JobError(
            "cli.say-what-anonymize-table",
            "say what to anonymize: a table, a job file, or --input FILE with --qi and --k",
        )
    dry_run = dry_run or alternatives is not None
    coding = None
    if job is None and proposal is None and algorithm is None:
        coding = _choose_coding(content)
    if remote is not None and (alternatives is not None or choose is not None):
        raise JobError(
            "cli.alternatives-listed-here-not-service",
            "alternatives are listed here, not at a service: leave --remote out",
        )
    _place_outputs(content, job, dry_run)
    if remote is not None:
        from tarnkappe.cli.remote_anonymize import anonymize_remotely

        if not dry_run:
            _refuse_nowhere(content["output"], job)
        anonymize_remotely(remote, content, job.parent if job else Path(), as_json)
        return
    plan_of_work = Job.from_dict(content, job.parent if job else Path(), name=str(job) if job else None)
    if not dry_run:
        _refuse_nowhere(values_of(plan_of_work.output), job)
    if strict:
        _refuse_unprotected(plan_of_work)
    if proposal is not None and data is not None:
        settle(proposal, data, job_out, strict=strict)
    if alternatives is not None or choose is not None:
        chosen = _alternatives(plan_of_work, alternatives, choose, as_json=as_json)
        if chosen is None:
            return
        plan_of_work = chosen
    with progress_bar() as progress:
        result = run_or_stop(plan_of_work, None if proposal is None else proposal.table, progress)
    show_in_one_line(result.input.column_names)
    if as_json:
        print_json(result.to_dict())
    else:
        output.print(told(str(result)), markup=False, highlight=False, soft_wrap=True)
        if proposal is not None and (stays := remaining_text(result.release)):
            output.print(told(stays), markup=False, highlight=False, soft_wrap=True)
        for each in result.perturbed:
            output.print(told(f"perturbed {each}"), markup=False, highlight=False, soft_wrap=True)
        for path in result.outputs:
            output.print(told(f"written to {path}"), markup=False, highlight=False, soft_wrap=True)
    say_reading(result.input)
    if coding is not None and coding.reason:
        say(told(coding.reason))
    warn(result, plan_of_work)


def _alternatives(job: Job, listed: int | None, choose: int | None, *, as_json: bool) -> Job | None:
    """List what could be released, or say what the chosen one is; None if nothing is to be released."""
    presets = isinstance(job.search, Regions)
    with progress_bar() as progress:
        if presets:
            found: Any = presets_of_job(job, progress)
        else:
            most = max(listed or MOST, choose or 1)
            found = alternatives_job(job, most=most, progress=progress)
    if choose is not None:
        choosing = with_preset if presets else chosen_job
        return choosing(job, found, choose - 1)
    if as_json:
        print_json({"alternatives": [each.to_dict() for each in found]})
        return None
    lines = [f"{n}  {each}" for n, each in enumerate(found, 1)] if presets else [str(found)]
    output.print(told("\n".join(lines)), markup=False, highlight=False, soft_wrap=True)
    return None


def _choose_coding(content: dict[str, Any]) -> DefaultCoding:
    """Say how the table is coded if the flags do not: what is minimized, and whether rows may be left out."""
    search = content.setdefault("search", {})
    plans = {name: plan for name, plan in content.get("columns", {}).items() if isinstance(plan, Mapping)}
    treatments = {
        "aggregate": any("aggregate" in plan for plan in plans.values()),
        "suppressed columns": any(plan.get("suppressed") for plan in plans.values()),
        'suppression = "cell"': search.get("suppression", "record") != "record",
        "local recoding": bool(search.get("local_recoding", False)),
    }
    coding = default_coding(
        create_models(content.get("privacy", [])),
        create_loss(search["loss"]) if "loss" in search else None,
        uniform=bool(search.get("uniform")),
        levels=[name for name, plan in plans.items() if {*plan} & {*LEVEL_KEYS}],
        treatments=[what for what, is_asked in treatments.items() if is_asked],
        engine=content["input"].get("engine", "memory"),
    )
    content["search"] = {
        "algorithm": coding.algorithm,
        "loss": DEFAULT_LOSS,
        "suppression_limit": coding.suppression_limit,
        **search,
    }
    return coding


def _place_outputs(content: dict[str, Any], job: Path | None, dry_run: bool) -> None:
    """Decide where the release goes if flags do not say it; a job file has to."""
    said, source = content.setdefault("output", {}), content["input"]
    if not isinstance(said, dict) or not isinstance(source, dict):
        return  # the job is refused, with the reason
    if dry_run:
        if "history" in content:
            raise JobError(
                "cli.history-remembers-every-release",
                "[history] remembers every release, and --dry-run makes none: leave one out",
            )
        content["output"] = {key: value for key, value in said.items() if key == "shuffle"}
    elif job is None and isinstance(source.get("path"), str) and not {"path", "table"} & said.keys():
        if source["path"] in STDIN:
            raise JobError(
                "cli.what-piped-no-name",
                "what is piped in has no name: say with --out where the release goes",
            )
        release, report = default_outputs(source["path"])
        content["output"] = {"path": str(release), "report": str(report), **said}


def _refuse_without_proposal(given: Mapping[str, Any]) -> None:
    for flag, value in given.items():
        if value is not None:
            raise JobError(
                "cli.about-proposal-name-table",
                "{flag} is about a proposal: name the table alone, as in tarn anonymize people.csv",
                flag=flag,
            )


def _refuse_nowhere(output: Mapping[str, Any], job: Path | None) -> None:
    if output.get("path") is None and output.get("table") is None:
        raise JobError(
            "cli.nobody-says-where-release",
            '{what}nobody says where the release goes: write path = "release.csv" into [output], or give '
            "--out FILE; --dry-run writes nothing",
            what=f"{job}: " if job else "",
        )


def warn(result: Result, job: Job) -> None:
    """Say on stderr what a reader must not overlook, the most important last."""
    if job.output.path is None and job.output.table is None:
        say(told("nothing was written: this was a dry run"))
    if result.columns.advice:
        say(told(result.columns.advice))
    if result.columns.warning:
        say(told(result.columns.warning))


def _refuse_unprotected(job: Job) -> None:
    roles = [(name, plan.role) for name, plan in job.columns.items()]
    further = () if job.further_sensitive is None else job.further_sensitive.columns
    found = unprotected_plans(roles, job.privacy, further)
    if found:
        raise GuaranteeError(
            "cli.not-protected-sensitive-no-promise",
            "NOT PROTECTED: {found} (sensitive, no promise): name each in a model, as --model "
            "distinct-diversity:column={found_2},l=2",
            found=", ".join(found),
            found_2=found[0],
        )


def run_or_stop(job: Job, table: Table | None, progress: Progress) -> Result:
    """Run a job; Ctrl-C before its end leaves nothing."""
    try:
        result = run(job, table=table, progress=progress)
        too_late()
    except (KeyboardInterrupt, Exception) as error:
        if is_interruption(error) or interrupted():
            raise StoppedError("nothing was written") from None
        raise
    return result


def _put(content: dict[str, Any], section: str, **values: Any) -> None:
    for key, value in values.items():
        if value is not None:
            content.setdefault(section, {})[key] = value


def _absolute(path: str | Path | None) -> str | None:
    # Paths in a job file start there, paths in flags at the working folder; what is piped in has none.
    return None if path is None else str(path) if str(path) in STDIN else str(Path(path).absolute())
