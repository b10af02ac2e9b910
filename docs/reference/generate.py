"""Writes the reference pages of all families from their registries: `make docs`."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tarnkappe.algebra.facts import DeclaredFacts
from tarnkappe.algebra.proof import starts
from tarnkappe.algebra.rules import BETWEEN, CLASSICAL, RENAMING, RULES, RewriteRule
from tarnkappe.algebra.table import Spectrum, as_markdown
from tarnkappe.algebra.tree import plan_tree
from tarnkappe.cli.schema import DOCUMENTS, document_kind
from tarnkappe.gate import STRATEGIES
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.lattice import SEARCHES, Search
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, Model
from tarnkappe.recoding import BUCKETIZATIONS, METHODS
from tarnkappe.recoding.perturbation import PERTURBATIONS
from tarnkappe.risk import ATTACKS, MEASURES, Attack
from tarnkappe.risk.identifiers import DETECTORS, Detector
from tarnkappe.schema import Field, fields_of
from tarnkappe.schema.described import bounds_of, described
from tarnkappe.schema.documents import sections_in
from tarnkappe.service.app import rest_api
from tarnkappe.service.people import Right, ServiceRole
from tarnkappe.service.people.roles import RIGHTS
from tarnkappe.service.routes.examples import JOB_EXAMPLES
from tarnkappe.service.routes.rights import needs
from tarnkappe.service.work import KINDS
from tarnkappe.web import views
from tarnkappe.web.addresses import ADDRESSES

FOLDER = Path(__file__).parent


def pages() -> dict[str, str]:
    """The text of every generated page."""
    return {
        "models.md": _page("Privacy models", MODELS_INTRODUCTION, [_model(kind) for kind in MODELS]),
        "losses.md": _page("Information losses", LOSSES_INTRODUCTION, [_loss(kind) for kind in LOSSES]),
        "searches.md": _page("Searches", SEARCHES_INTRODUCTION, [_search(kind) for kind in SEARCHES]),
        "methods.md": _page(
            "Publishing methods",
            METHODS_INTRODUCTION,
            [_method(kind) for kind in (*METHODS, *BUCKETIZATIONS)],
        ),
        "perturbations.md": _page(
            "Perturbations", PERTURBATIONS_INTRODUCTION, [_plain(kind) for kind in PERTURBATIONS]
        ),
        "builders.md": _page(
            "Hierarchy builders", BUILDERS_INTRODUCTION, [_plain(kind) for kind in BUILDERS]
        ),
        "strategies.md": _page(
            "Strategies of the gate", STRATEGIES_INTRODUCTION, [_plain(kind) for kind in STRATEGIES]
        ),
        "attacks.md": _page("Attacks", ATTACKS_INTRODUCTION, [_attack(kind) for kind in ATTACKS]),
        "measures.md": _page("Risk measures", MEASURES_INTRODUCTION, [_measure(kind) for kind in MEASURES]),
        "identifiers.md": _page(
            "Identifiers", IDENTIFIERS_INTRODUCTION, [IDENTIFIERS_HEAD, *map(_detector, DETECTORS)]
        ),
        "files.md": _page("Files", FILES_INTRODUCTION, [_file(name) for name in DOCUMENTS]),
        "rest.md": _page("REST API", REST_INTRODUCTION, [*_operations(), *_kinds_of_jobs()]),
        "rights.md": _page("Rights", RIGHTS_INTRODUCTION, _rights()),
        "rewrite-rules.md": _page(
            "Rewrite rules",
            RULES_INTRODUCTION,
            [
                *(f"## Exchange: {spectrum}\n\n{as_markdown(spectrum)}\n" for spectrum in CORRECTED),
                *map(_rule, RULES),
                *map(_rule, BETWEEN),
                *map(_rule, CLASSICAL),
                *map(_rule, RENAMING),
            ],
        ),
    }


MODELS_INTRODUCTION = """\
A model is named in a job file by `[[privacy]]` with `model = "NAME"` and its parameters, on the command
line by `--model NAME:parameter=value,...`. A class of the release must meet every model or is suppressed
as a whole. *Monotone* says whether every further generalization of a satisfying release satisfies the
model too, without and with suppression; searches skip work only where this is proven. Models on one
sensitive column also take `given = [...]`: other sensitive columns that the attacker may know."""

LOSSES_INTRODUCTION = """\
A loss is named in a job file by `loss = "NAME"` in `[search]`, or `loss = {name = "NAME", parameter =
value}`. Lower is better. *Monotone* says when no further generalization can have a smaller loss."""

SEARCHES_INTRODUCTION = """\
A search is named in a job file by `algorithm = "NAME"` in `[search]`, with its parameters beside it, and on
the command line by `--algorithm NAME:parameter=value,...`. All searches take

- `seconds`: when to stop with the best node found so far, marked as not proven optimal;
- `implied_criteria`: whether simpler monotone criteria that the models imply exclude nodes (`true`);
- `lower_bounds`: whether nodes are skipped that provably cannot beat the best found;
- `roll_up`, `snapshots`, `snapshot_share`, `megabytes`: what tests start from, and how much memory that may
  take. The outcome is the same whatever is chosen.

[Searches](../explanation/searches.md) tells how they go about it and what practical monotonicity is."""

STRATEGIES_INTRODUCTION = """\
A strategy decides what the [gate](../explanation/gate.md) may answer. All of them leave k possible values to
everybody who was ever returned, as far as the answers alone tell; they differ in time and in how many
artificial values they need. What they turn down depends on true values, which tells something: they are for
gates that accept a leak by name, and for comparisons, in Python and in `tarn bench gate`. A policy that
accepts no leak names `witness-pool` or `exact` and gets the public pool, without and with an exact solver, or
`veil`, which answers with sets of labels."""

METHODS_INTRODUCTION = """\
A method is named as a search is: in a job file by `algorithm = "NAME"` in `[search]`, with its parameters
beside it, and on the command line by `--algorithm NAME:parameter=value,...`.
[How to publish a table another way](../how-to/methods.md) tells when each is the right one."""

PERTURBATIONS_INTRODUCTION = """\
A perturbation is named in a job file by a section `[[perturb]]` with `method = "NAME"`, `columns = [...]` and
its parameters. It changes values before anything else is done, so what a job promises holds of the values
that it publishes; by itself it promises nothing. `tarn anonymize` prints how far the values are off and how
many rows are still found by them; the manifest names the method and its parameters alone."""

BUILDERS_INTRODUCTION = """\
A builder makes the hierarchy of a column from its values. In a job file: `hierarchy = {builder = "NAME",
...}`; on the command line: `tarn hierarchy build DATA --column COLUMN --builder NAME --option
parameter=value`."""

ATTACKS_INTRODUCTION = """\
Every release is attacked before it is handed over; the report says what came of it. `tarn attack NAME`
replays one attack, `--option parameter=value` sets a parameter. [Attacks](../explanation/attacks.md) tells
what they rest on."""


MEASURES_INTRODUCTION = """\
A measure is asked for on the command line by `--measure NAME:parameter=value,...` (`--measure all` for all
of them), in Python by `check(..., measures=[...])`. The usual ones are taken by every check.
[Risk measures](../explanation/risk.md) explains the numbers."""

IDENTIFIERS_INTRODUCTION = """\
What detectors look for in every column: the 18 identifiers of HIPAA's safe harbor rule, by their place
in it, and free text, which is none of them but is not released as it is either. *Headers* are words
that decide where cells of several kinds look the same; the lists are in `risk/identifiers/lists/`, in
many languages.

The role that is proposed for a column (`tarn check DATA`, `tarnkappe.risk.identifiers.propose_roles`)
follows ordered rules, of which the first that holds decides: bytes; nothing or the same of everybody;
headers of clinical studies; contacts and numbers with a fixed form or check digit; marks that only some
rows have; sexes; dates and times; coordinates; countries and states; ranges; diagnoses; names;
organisations; streets and free text; postcodes, towns and ages; codes of people; numbers of groups;
what the header speaks of; decimals; and else a quasi-identifier. The rules use the header, shares of
cells, and the share of different values among a hundred cells, none of which changes with the number of
rows; a name beside a column may tell what it is. Each proposal says whether it is *sure*, *likely* or a
*guess*, and why."""

SHOWN_HEADERS = 12

IDENTIFIERS_HEAD = "| detector | kind | finds | headers | proposed role |\n|---|---|---|---|---|"


RULES_INTRODUCTION = """\
Which anonymization operator may be moved over which operator of a query, merged or removed, and what that
is worth. Gen[X,a] generalizes the columns X until every combination occurs a times (αG), Slice[V] permutes
the correlation sets V inside buckets (αS), Noise[P] randomizes cells with the probabilities P (αD).

*Equal* (⇔) means that every possible result is equally likely before and after. *Partially equal* (⇔⊆)
means: as many rows, and all columns outside X agree (generalization), or every correlation set by itself
agrees (slicing). It says nothing of the degree of anonymity, and operators above must not look at what
differs. *Not equal* (⇎) means that no exchange holds in general; these are listed because a reason is a
better answer than silence.

Every rule is checked by exact enumeration of all small relations: the claim where its conditions are met,
and a counterexample for what is not claimed. G1-G19, S1-S11 and D1-D15 are published; GD1-GD6, GS1-GS4 and
SD1-SD4, about two different anonymizations, are ours, and so are the last eight, which pass groupings and
renamings (Group[Y,F] groups by Y with the aggregates F, Ren[N] gives columns new names); the rest is
classical.
[Rewriting](../explanation/rewriting.md) tells how the optimizer uses them."""

CORRECTED = (Spectrum.EQUAL, Spectrum.PARTIAL)

WAYS = {"lr": "left to right", "rl": "right to left", "both": "both ways", "none": "never"}


REST_INTRODUCTION = """`tarn serve` offers all of this under `/api/v1`; the OpenAPI document with all shapes
and examples is at `/api/v1/openapi.json`. Programs show a token as `Authorization: Bearer tarn_...`; the
session of a browser shows its CSRF token as `X-CSRF-Token` with every change. An error is a problem
(`application/problem+json`): `error` says what is wrong and what to do, in the language that
`Accept-Language` asks for (English or German); programs act on `kind`, `code` and `args`, such as
`"ColumnError"`, `"table.table-no-column"` and `{"name": "agee"}`. [How to start a service and use
it](../how-to/service.md)."""


RIGHTS_INTRODUCTION = """\
Who may use what at a service: `service/rights.toml` and the pages say what each needs, this page and the
tests are made from them. A file, a job and a result are for their owner alone, whoever has the right. A token
needs the role, too. *Tells* is the most that an answer shows of data: nothing, figures, what is released, or
rows as they are (raw)."""


FILES_INTRODUCTION = """\
Every key of the files that people write, from the declarations that check them; all that is wrong in a file
is told at once, with its place. `tarn schema NAME` prints the same as a JSON Schema, with which an editor
completes and checks a file while it is written. Files that a document names are relative to it. Where a
section names a member of a family, the parameters of the member stand beside the other keys:
[models](models.md), [losses](losses.md), [searches](searches.md), [methods](methods.md),
[builders](builders.md), [perturbations](perturbations.md). The [job file](job-file.md) and the
[gate file](gate-file.md) have pages that explain more."""


def _file(name: str) -> str:
    """The sections of one kind of file, and their keys."""
    kind = document_kind(name)
    sections = [f"## `{name}`\n\n{inspect.getdoc(kind)}\n"]
    for place, section in sections_in(kind):
        sections.append(f"### `{place}`\n\n{_parameters(section)}\n")
    return "\n".join(sections)


def _rights() -> list[str]:
    """Every operation, page and kind of job by role."""
    assert views.__all__, "importing the views has registered their addresses"
    operations = [
        [f"`{name}`", *_may(need.rights), "●" if "token" in need.ways else "–", need.shows]
        for name, need in needs().items()
    ]
    pages_and_forms = [[f"`{each.method} {each.path}`", *_may(each.rights)] for each in ADDRESSES]
    kinds = [[f"`{kind.name}`", *_may([kind.right])] for kind in KINDS]
    return [
        "## REST\n\n" + _table(["operation", *ServiceRole, "token", "tells"], operations),
        "## Pages and forms\n\n" + _table(["address", *ServiceRole], pages_and_forms),
        "## Kinds of jobs\n\n" + _table(["kind", *ServiceRole], kinds),
    ]


def _may(rights: Collection[Right]) -> list[str]:
    """For each role, whether it is enough; where no right is needed, all are."""
    return ["●" if not rights or RIGHTS[role] & {*rights} else "–" for role in ServiceRole]


def _table(header: Collection[str], rows: list[list[str]]) -> str:
    lines = [" | ".join(header), " | ".join("---" for _ in header), *(" | ".join(row) for row in rows)]
    return "".join(f"| {line} |\n" for line in lines)


def _operations() -> list[str]:
    """The operations of the REST API, by what they are about."""
    by_tag: dict[str, list[str]] = {}
    for path, operations in rest_api().openapi()["paths"].items():
        for method, said in operations.items():
            text = " ".join(said["description"].split())
            line = f"- `{method.upper()} {path.removeprefix('/api/v1')}`: {said['summary']}. {text}"
            by_tag.setdefault(said["tags"][0], []).append(line)
    return [f"## {tag}\n\n" + "\n".join(lines) + "\n" for tag, lines in by_tag.items()]


def _kinds_of_jobs() -> list[str]:
    """Each kind of job with the example of the OpenAPI document."""
    sections = []
    for kind in KINDS:
        example = json.dumps(JOB_EXAMPLES[kind.name]["value"], indent=2)
        sections.append(f"## Job `{kind.name}`\n\n{inspect.getdoc(kind)}\n\n```json\n{example}\n```\n")
    return sections


def _page(title: str, introduction: str, sections: list[str]) -> str:
    return f"# {title}\n\nThis page is written by `make docs`.\n\n{introduction}\n\n" + "\n".join(sections)


def _plain(kind: type[Any]) -> str:
    return f"## `{kind.name}`\n\n{_description(kind)}\n{_parameters(kind)}"


def _search(kind: type[Any]) -> str:
    common = {field.name for field in fields_of(Search)}
    return f"## `{kind.name}`\n\n{_description(kind)}\n{_parameters(kind, common)}\n"


def _method(kind: type[Any]) -> str:
    return f"{_plain(kind)}\n- in short: {kind.summary}\n"


def _measure(kind: type[Any]) -> str:
    return f"{_plain(kind)}\n- usual: {_yes(kind.usual)}\n"


def _detector(detector: Detector) -> str:
    kinds = ", ".join(str(int(kind)) for kind in detector.kinds)
    headers = ", ".join(
        (*detector.headers[:SHOWN_HEADERS], *(["..."] * (len(detector.headers) > SHOWN_HEADERS)))
    )
    return f"| `{detector.name}` | {kinds} | {detector.what} | {headers} | {detector.role} |"


def _rule(rule: RewriteRule) -> str:
    demands = {
        "condition": (*rule.conditions, *rule.shape, *rule.wellformed),
        "correction of the publication": rule.corrections,
        "assumes": rule.assumes,
    }
    lines = [f"- use: {WAYS[rule.direction]}"]
    lines += [f"- {what}: {'; '.join(f'`{d}`' for d in named)}" for what, named in demands.items() if named]
    return f"## {rule.name} ({rule.field})\n\n`{rule.statement}`\n\n{rule.reason}\n\n" + "\n".join(
        [*lines, "", "```text", *_before_and_after(rule), "```", ""]
    )


def _before_and_after(rule: RewriteRule) -> list[str]:
    way, before = next(iter(starts(rule)))
    after = next(iter(rule.considered(before, way, DeclaredFacts(static_noise=before.columns)))).plan
    arrow = "must not become" if rule.kind == "noneq" else "becomes"
    return [plan_tree(before), "", arrow, "", plan_tree(after) if after else ""]


def _attack(kind: type[Attack]) -> str:
    needs = ", ".join(need.description for need in kind.needs)
    repairs = ", ".join(kind.repaired_by) or "no change of the release alone"
    knows = f"- needs: {needs}\n- the attacker knows: {kind.knowledge}"
    return f"{_plain(kind)}\n{knows}\n- repaired by: {repairs}\n"


def _model(kind: type[Model]) -> str:
    example = kind.examples()[0]
    monotone = example.monotonicity
    return (
        f"{_plain(kind)}\n- promise, for example: {example.promise}\n"
        f"- monotone: {_yes(monotone.without_suppression)} without suppression, "
        f"{_yes(monotone.with_suppression)} with. {monotone.reason}\n"
    )


def _loss(kind: type[Any]) -> str:
    example = kind.examples()[0]
    plain = example.monotone(criterion_monotone=True, suppression=False)
    suppression = example.monotone(criterion_monotone=True, suppression=True)
    return (
        f"{_plain(kind)}\n- monotone: {_yes(plain)} without suppression, {_yes(suppression)} with\n"
        f"- charges for suppressed rows: {_yes(kind.considers_suppression)}\n"
        f"- known from the levels alone: {_yes(kind.data_independent)}\n"
    )


def _description(kind: type[Any]) -> str:
    text = inspect.getdoc(kind) or ""
    papers = references()
    return "\n\n".join([text.split("\n>>> ")[0].rstrip(), *(papers[key] for key in kind.cites)]) + "\n"


def references() -> dict[str, str]:
    """The papers of docs/references.bib as a page prints them, by their keys."""
    text = (FOLDER.parent / "references.bib").read_text(encoding="utf-8")
    found = {}
    for key, body in re.findall(r"^@article\{(\w+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        entry = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", body, re.MULTILINE))
        doi = f", [doi:{entry['doi']}](https://doi.org/{entry['doi']})" if "doi" in entry else ""
        found[key] = f"Paper: {entry['author']}, *{entry['title']}*, {entry['venue']}{doi}."
    return found


def _parameters(kind: type[Any], known: Collection[str] = ()) -> str:
    return "\n".join(_parameter(field) for field in fields_of(kind) if field.name not in known)


def _parameter(field: Field) -> str:
    """A parameter as it is declared: type, bounds, unit, default and the sentence about it."""
    said = [f"{described(field.info)}{bounds_of(field.info)}"]
    if field.unit:
        said.append(f"in {field.unit}")
    if not field.required:
        default = "optional" if field.default in (None, (), {}) else f"default {field.default}"
        said.append(default)
    return f"- `{field.name}` ({', '.join(said)}): {field.help}."


def _yes(claim: bool) -> str:
    return "yes" if claim else "no"


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
