"""What people type becomes what a job file would say, for every builder and every model there is."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import JobError, ParameterError
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.job.job import Job
from tarnkappe.job.sections import create_model
from tarnkappe.privacy import MODELS
from tarnkappe.report.column_pictures import draw_story
from tarnkappe.schema import fields_of
from tarnkappe.web.builder_forms import FORMS, groups, names, number, numbers, said, start, write_groups
from tarnkappe.web.draft import Draft
from tarnkappe.web.guarantees import QUESTIONS, begin, parameters_of, shown
from tarnkappe.web.texts import says
from tarnkappe.web.visit import local_path

TABLES = {"templates": {"flu": 0.5}, "nodes": {"any": "*"}, "bounds": {"flu": [0.1, 0.5]}}


def test_every_builder_has_a_form_of_its_own_parameters() -> None:
    assert set(FORMS) == set(BUILDERS.names)
    for name, form in FORMS.items():
        known = {field.name for field in fields_of(BUILDERS[name])}
        assert {entry.parameter for entry in form} <= known, name


@pytest.mark.parametrize("name", [name for name in FORMS if name != "groups"])
def test_a_form_begins_with_what_its_builder_takes(name: str) -> None:
    plan = start(name)
    BUILDERS.create(plan.pop("builder"), plan)


@pytest.mark.parametrize("name", sorted(FORMS))
def test_what_a_form_shows_is_read_back(name: str) -> None:
    plan = start(name)
    for entry in FORMS[name]:
        if plan.get(entry.parameter):
            assert said(plan, entry, entry.write(plan[entry.parameter])) == plan


def test_an_emptied_field_leaves_its_parameter_out() -> None:
    [width, *_] = FORMS["intervals"]
    assert said({"builder": "intervals", "width": [5]}, width, "  ") == {"builder": "intervals"}


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=5))
def test_numbers_are_read_with_any_separator(values: list[int]) -> None:
    for separator in (", ", " ", "; "):
        assert numbers(separator.join(map(str, values))) == values


@pytest.mark.parametrize("typed", ["five", "5 and 10", "1.2.3"])
def test_what_is_no_number_is_refused_with_the_word(typed: str) -> None:
    with pytest.raises(ParameterError, match="no number"):
        numbers(typed)


words = st.text("abcäöü -", min_size=1, max_size=6).map(str.strip).filter(bool)


@given(st.dictionaries(words, st.lists(words, min_size=1, max_size=4), min_size=1, max_size=4))
def test_groups_are_read_as_they_are_written(value: dict[str, list[str]]) -> None:
    assert groups(write_groups(value)) == value


@pytest.mark.parametrize("line", ["north Kiel", ": Kiel", "north:"])
def test_a_line_that_is_no_group_is_refused(line: str) -> None:
    with pytest.raises(ParameterError, match="on each line"):
        groups(line)


def test_names_and_numbers() -> None:
    assert names("a, b\nc") == ["a", "b", "c"]
    assert (number("2,5"), number("7")) == (2.5, 7)


def test_every_model_answers_one_question() -> None:
    asked = [name for models in QUESTIONS.values() for name in models]
    assert sorted(asked) == sorted(MODELS.names)


@pytest.mark.parametrize("name", MODELS.names)
def test_a_guarantee_begins_with_values_that_its_model_takes(name: str) -> None:
    entry = begin(name, ["illness"], ["age"])
    for parameter in parameters_of(name):
        if parameter.kind == "table":
            entry[parameter.name] = TABLES[parameter.name]
        elif parameter.name == "guard":
            entry[parameter.name] = "wish"
        elif parameter.name == "insider":
            entry[parameter.name] = "hospital"
        elif parameter.name == "must_not_be_excluded":  # only who knows the values can say which
            entry[parameter.name] = ["flu"]
    create_model(entry)


@pytest.mark.parametrize("name", MODELS.names)
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_guarantee_is_said_in_words_and_as_a_formula(name: str, language: str) -> None:
    entry = begin(name, ["illness"], ["age"])
    for key in ("says", "formula"):
        text = says(language, f"models.{name}.{key}", **shown(entry))
        assert "{" not in text or "|{" in text


@pytest.mark.parametrize("name", MODELS.names)
def test_what_a_parameter_shows_is_read_back(name: str) -> None:
    entry = begin(name, ["illness"], ["age"])
    for parameter in parameters_of(name):
        value = entry.get(parameter.name)
        if value and parameter.kind in ("number", "names", "column"):
            assert parameter.read(parameter.write(value)) == value


def test_a_draft_becomes_a_job() -> None:
    draft = Draft("f1", {"id": "identifier", "age": "quasi-identifier", "illness": "sensitive"})
    draft.privacy.append(begin("k-anonymity", ["illness"], ["age"]))
    draft.hierarchies["age"] = {"builder": "intervals", "width": [5, 10]}
    document = draft.document()
    job = Job.from_dict({**document, "input": {"path": "x.csv"}})
    assert job.quasi_identifiers == ("age",)
    assert job.privacy[0].parameters["k"] == 5
    assert job.suppression_limit == 0.05


def test_a_sensitive_column_is_called_protected_only_where_a_promise_names_it() -> None:
    draft = Draft("f1", {"age": "quasi-identifier", "income": "sensitive", "illness": "sensitive"})
    assert draft.promises() == {"income": [], "illness": []}
    draft.privacy += [
        {"model": "k-anonymity", "k": 2},
        {"model": "distinct-diversity", "column": "income", "l": 2},
    ]
    assert draft.promises() == {"income": ["distinct-diversity"], "illness": []}


@pytest.mark.parametrize(
    ("draft", "missing"),
    [
        (
            Draft("f1", {"a": "sensitive"}, privacy=[{"model": "k-anonymity", "k": 2}]),
            "no column is a quasi-identifier",
        ),
        (Draft("f1", {"a": "quasi-identifier"}), "no guarantee is chosen"),
    ],
)
def test_a_draft_says_what_it_still_needs(draft: Draft, missing: str) -> None:
    with pytest.raises(JobError, match=missing):
        draft.document()


@given(st.text())
def test_nobody_is_led_away_after_logging_in(path: str) -> None:
    led = local_path(path)
    assert led.startswith("/")
    assert not led.startswith(("//", "/\\"))
    assert "\n" not in led


def test_a_picture_escapes_what_it_shows() -> None:
    story = {
        "bars": [
            {"label": "<script>", "before": 20.0, "after": 10.0},
            {"label": "b", "before": 2.0, "after": 4.0},
        ]
    }
    drawn = draw_story(story, "<age>", "{value}: {before}, {after}", "rare: fewer than {rare}")
    assert "<script>" not in drawn
    assert "&lt;script&gt;: 20, 10" in drawn
    assert "rare: fewer than 10" in drawn
