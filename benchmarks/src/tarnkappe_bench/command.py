"""`tarn bench`: what is measured, how, and against what."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from tarnkappe.cli.console import output, print_json, progress_bar
from tarnkappe.cli.pictures import check_picture, write_picture
from tarnkappe.errors import ParameterError
from tarnkappe_bench import NAMES
from tarnkappe_bench import bench as find


def bench(
    name: Annotated[str, typer.Argument(help=f"What to measure: {', '.join(NAMES)}.")],
    picture: Annotated[
        Path | None, typer.Option(help="Where to draw it (.svg or .png): scale, gate.", writable=True)
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How often random data are drawn: gate only.")
    ] = None,
    setup: Annotated[
        list[str] | None,
        typer.Option(help="Only this setup, by number or name (4, 4-10000-100); may be repeated: gate only."),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(help="Keep figures here as they are measured, and go on from there: gate only."),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="On so many rows, where a measurement can be smaller.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure, and compare with something that is measured in the same run."""
    chosen = find(name)
    draw = getattr(chosen, "draw", None)
    if picture is not None:
        if draw is None:
            raise ParameterError(
                "bench.measurement-no-picture-leave",
                "the measurement '{name}' has no picture: leave --picture out",
                name=name,
            )
        check_picture(picture)
    given = {"seeds": seeds, "setups": setup or None, "keep": keep, "rows": rows}
    size: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    for key in size:
        if key not in inspect.signature(chosen.run).parameters:
            option = {"setups": "setup"}.get(key, key)
            raise ParameterError(
                "bench.measurement-no-choice-leave",
                "the measurement '{name}' has no choice of {key}: leave --{option} out",
                name=name,
                key=key,
                option=option,
            )
    with progress_bar() as progress:
        measured = chosen.run(progress, **size)
    if picture is not None and draw is not None:
        write_picture(draw(measured), picture)
    if as_json:
        print_json({"bench": name, **measured})
    else:
        output.print("\n".join(_lines(measured, chosen.LIMITS)), highlight=False)


def _lines(measured: dict[str, Any], limits: dict[str, float]) -> list[str]:
    lines = []
    for key, value in measured.items():
        if key == "curves":  # these are for the picture
            continue
        if isinstance(value, list):
            lines += [f"{key}: {len(value)}", *("  " + _line(each) for each in value)]
        else:
            limit = f"  (at most {limits[key]:.3g})" if key in limits else ""
            lines.append(f"{key.replace('_', ' ')}: {_text(value)}{limit}")
    return lines


def _line(entry: dict[str, Any]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {_text(value)}" for key, value in entry.items())


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(each)}" for key, each in value.items())
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
