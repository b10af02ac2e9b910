"""The lattice as a picture: every node of a small one, how many nodes do what in a large one."""

from __future__ import annotations

import struct
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tarnkappe.drawing import Drawing
from tarnkappe.lattice import LatticeView, explore, picture
from tarnkappe.lattice.picture import draw_lattice, lattice_html
from tests.lattice.test_explore import running_example


@pytest.fixture(scope="module")
def view() -> LatticeView:
    return explore(running_example())


def shapes(drawing: Drawing, kind: str) -> list[ElementTree.Element]:
    tree = ElementTree.fromstring(drawing.to_svg())
    return [element for element in tree.iter() if element.tag.endswith(f"}}{kind}")]


def tips(drawing: Drawing) -> list[str]:
    return [element.text or "" for element in shapes(drawing, "title")]


def test_a_small_lattice_shows_every_node_and_every_edge(view: LatticeView) -> None:
    drawing = draw_lattice(view)
    assert len(tips(drawing)) == 36
    assert sum("does not keep the promises" in tip for tip in tips(drawing)) == 24
    edges = sum(len(view.problem.lattice.successors(found.node)) for found in view)
    assert len(shapes(drawing, "polyline")) == edges
    ring = [c for c in shapes(drawing, "circle") if c.get("fill") == "none"]
    best = next(c for c in shapes(drawing, "circle") if "age 1, sex 0, zip 3:" in "".join(c.itertext()))
    assert (ring[0].get("cx"), ring[0].get("cy")) == (best.get("cx"), best.get("cy"))


def test_a_large_lattice_becomes_a_heat_map_that_counts_every_node(
    view: LatticeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "MAX_NODES", 10)
    counts = [tip.split(" nodes, ") for tip in tips(draw_lattice(view))]
    assert sum(int(nodes) for nodes, _ in counts) == 36
    assert sum(int(kept.split()[0]) for _, kept in counts) == 12


def test_the_cells_of_a_heat_map_do_not_overlap_and_the_fullest_fills_its_place(
    view: LatticeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "MAX_NODES", 10)
    cells = [cell for cell in shapes(draw_lattice(view), "rect") if "nodes" in "".join(cell.itertext())]
    place = (picture.WIDTH - picture.LEFT - picture.RIGHT) / picture.BINS
    wide = {int("".join(cell.itertext()).split()[0]): float(cell.get("width") or 0) for cell in cells}
    assert len(wide) > 1
    assert wide[max(wide)] == pytest.approx(place - 1.5, abs=0.1)
    assert [wide[nodes] for nodes in sorted(wide)] == sorted(wide.values()), "more nodes, a larger cell"


def test_every_level_is_one_row_and_no_row_is_left_empty(view: LatticeView) -> None:
    sums = view.levels.sum(axis=1)
    first = int(sums.min())
    heights = [
        draw_lattice(view.take(np.flatnonzero((sums >= first) & (sums < first + rows)))).height
        for rows in (1, 2, 3)
    ]
    assert heights[2] - heights[1] == pytest.approx(heights[1] - heights[0])
    assert heights[1] > heights[0]


def test_better_nodes_are_darker(view: LatticeView) -> None:
    fills = {
        "".join(circle.itertext()).split(":")[0]: circle.get("fill") or ""
        for circle in shapes(draw_lattice(view), "circle")
        if "keeps the promises" in "".join(circle.itertext())
    }
    brightness = {node: sum(int(fill[i : i + 2], 16) for i in (1, 3, 5)) for node, fill in fills.items()}
    assert min(brightness, key=brightness.__getitem__) == "age 1, sex 0, zip 3"
    assert max(brightness, key=brightness.__getitem__) in {"age 2, sex 1, zip 5", "age 2, sex 1, zip 4"}


def test_a_view_without_satisfying_or_without_any_nodes_is_drawn_too(view: LatticeView) -> None:
    assert "0 of 24 nodes keep the promises" in lattice_html(view.where(satisfied=False))
    assert "0 of 0 nodes keep the promises" in lattice_html(view.where(suppressed_at_most=-1))


def test_a_png_has_the_size_of_the_picture(view: LatticeView, tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    drawing = draw_lattice(view)
    data = drawing.to_png()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height) == (round(2 * drawing.width), round(2 * drawing.height))
    from PIL import Image

    (tmp_path / "l.png").write_bytes(data)
    with Image.open(tmp_path / "l.png") as image:
        colours = {colour for _, colour in image.getcolors(2**24)}
    assert (11, 110, 105) in colours, "the best node"
    assert (217, 95, 2) in colours, "the ring around it"
