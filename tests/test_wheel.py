"""What is in the wheel: all that the package reads, and nothing that only measures."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest
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


@pytest.mark.parametrize("is_prebuilt", [False, True])
def test_a_wheel_with_prebuilt_kernels_is_one_for_its_platform(tmp_path: Path, is_prebuilt: bool) -> None:
    """Where nothing could be prebuilt, it is a wheel for every platform, in which kernels are compiled later."""
    source = tmp_path / "project"
    without = shutil.ignore_patterns("__pycache__", "prebuilt", "*.nbi", "*.nbc")
    shutil.copytree(ROOT / "src", source / "src", ignore=without)
    for name in ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py"):
        shutil.copy(ROOT / name, source / name)
    if is_prebuilt:
        made = source / "src" / "tarnkappe" / "native" / "prebuilt"
        made.mkdir()
        for name in ("kernels.json", "kernels.so"):
            (made / name).write_text("made before")
    environment = os.environ | {"TARN_NATIVE": "jit"}  # nothing is compiled for this test
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").iterdir()
    with zipfile.ZipFile(wheel) as file:
        inside = [name for name in file.namelist() if "/prebuilt/" in name]
    if is_prebuilt:
        assert wheel.stem.split("-")[-3:-1] == ["py3", "none"]
        assert not wheel.stem.endswith("-any")
        assert sorted(inside) == [f"tarnkappe/native/prebuilt/kernels.{end}" for end in ("json", "so")]
    else:
        assert wheel.stem.endswith("-py3-none-any")
        assert inside == []
