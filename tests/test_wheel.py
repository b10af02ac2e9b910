"""What is in the wheel: all that the package reads, and nothing that only measures."""

from __future__ import annotations

from pathlib import PurePosixPath

from hatchling.builders.wheel import WheelBuilder

from tests.conftest import ROOT

FILES = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}


def test_every_file_of_the_package_is_in_the_wheel() -> None:
    source = ROOT / "src"
    there = {
        str(PurePosixPath(path.relative_to(source)))
        for path in source.rglob("*")
        if path.is_file() and not {"__pycache__", "prebuilt"} & set(path.parts)
        if path.suffix not in (".nbi", ".nbc")
    }
    assert {name for name in there if name.endswith((".csv", ".toml", ".j2", ".css"))}
    assert there - FILES == set()


def test_the_wheel_has_no_measurements() -> None:
    assert [name for name in FILES if "bench" in name] == []
