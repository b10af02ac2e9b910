"""Forms, flags, reference pages, schemas and checks list the same parameters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tarnkappe.cli.arguments import parse_parameters
from tarnkappe.cli.schema import DOCUMENTS, document_kind
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.job.document import JobDocument
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.recoding.perturbation import PERTURBATIONS
from tarnkappe.schema import fields_of
from tarnkappe.schema.documents import sections_in
from tarnkappe.schema.family import problems_of
from tarnkappe.schema.json_schema import json_schema
from tarnkappe.web.builder_forms import FORMS
from tarnkappe.web.guarantees import parameters_of

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
MEMBERS = [
    pytest.param(page, member, id=member.name)
    for page, family in (
        ("models.md", MODELS),
        ("losses.md", LOSSES),
        ("builders.md", BUILDERS),
        ("perturbations.md", PERTURBATIONS),
    )
    for member in family
]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return json_schema(JobDocument)


def keys_of(page: str, heading: str) -> set[str]:
    """The keys that a section of a generated page lists."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    section = re.search(rf"^##+ `{re.escape(heading)}`\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert section is not None, heading
    return set(re.findall(r"^- `(\w+)` \(", section[1], re.MULTILINE))


@pytest.mark.parametrize(("page", "member"), MEMBERS)
def test_a_member_has_the_same_parameters_everywhere(page: str, member: Any, schema: dict[str, Any]) -> None:
    declared = {field.name for field in fields_of(member)}
    assert keys_of(page, member.name) == declared
    written = [each for each in schema["$defs"].values() if _names(each, member)]
    assert written
    for each in written:
        assert set(each["properties"]) - {member.__struct_config__.tag_field} == declared


def _names(schema: dict[str, Any], member: Any) -> bool:
    tag = schema["properties"].get(member.__struct_config__.tag_field, {})
    return bool(tag.get("const") == member.name)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_page_lists_every_key_of_a_file(name: str) -> None:
    text = (REFERENCE / "files.md").read_text(encoding="utf-8")
    part = text.split(f"\n## `{name}`\n")[1].split("\n## ")[0]
    for place, section in sections_in(document_kind(name)):
        listed = part.split(f"### `{place}`\n")[1].split("\n### ")[0]
        assert re.findall(r"^- `(\w+)` \(", listed, re.MULTILINE) == [f.name for f in fields_of(section)]


def test_the_page_of_the_gate_file_explains_every_key_and_no_other() -> None:
    text = (REFERENCE / "gate-file.md").read_text(encoding="utf-8")
    for place, section in sections_in(document_kind("gate")):
        heading = place.replace("sensitive.NAME", "sensitive.COLUMN")
        part = text.split(f"## `{heading}`\n")[1].split("\n## ")[0]
        cells = [row.split("|")[1] for row in part.splitlines() if row.startswith("| `")]
        assert {key for cell in cells for key in re.findall(r"`(\w+)`", cell)} == {
            field.name for field in fields_of(section)
        }, heading


def test_the_page_of_the_job_file_names_every_key() -> None:
    text = (REFERENCE / "job-file.md").read_text(encoding="utf-8")
    for place, section in sections_in(document_kind("job")):
        for field in fields_of(section):
            assert re.search(rf"\b{field.name}\b", text), f"{place} {field.name}"


@pytest.mark.parametrize("member", MODELS, ids=lambda member: member.name)
def test_the_form_of_a_model_has_its_parameters(member: Any) -> None:
    assert [each.name for each in parameters_of(member.name)] == [each.name for each in fields_of(member)]


@pytest.mark.parametrize("builder", FORMS)
def test_the_form_of_a_builder_asks_only_for_its_parameters(builder: str) -> None:
    assert {each.parameter for each in FORMS[builder]} <= {each.name for each in fields_of(BUILDERS[builder])}


@pytest.mark.parametrize("member", MODELS, ids=lambda member: member.name)
def test_a_flag_takes_every_parameter_of_a_model_and_no_other(member: Any) -> None:
    given = ",".join(f"{each.name}=[]" for each in fields_of(member))
    name, parameters = parse_parameters(f"{member.name}:{given},unheard=1")
    problems = list(problems_of(MODELS[name], parameters))
    assert [each.path for each in problems if each.code == "schema.unknown"] == [("unheard",)]
