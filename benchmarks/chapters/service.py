"""The service: how soon a page comes while it works."""

from __future__ import annotations

from benchmarks.bars import draw_bars
from benchmarks.chapter import Chapter, Experiment, Figures, Grid, Size, Story
from benchmarks.texts import number, ratio, seconds
from tarnkappe.table.encoding import Progress
from tarnkappe_bench import service


def _measure(size: Size, progress: Progress | None) -> Figures:
    return service.run(progress, rows=size.pick(5000, 200_000), seconds=size.pick(10.0, service.SECONDS))


def _tell(figures: Figures) -> Story:
    rows = (
        ("pages asked for", number(figures["pages"])),
        ("half of them within", seconds(figures["page_seconds_p50"])),
        ("95 % within", seconds(figures["page_seconds_p95"])),
        ("the slowest", seconds(figures["page_seconds_worst"])),
        ("95 % within, nobody else there", seconds(figures["idle_page_seconds_p95"])),
        ("small jobs done", number(figures["small_jobs_done"])),
        ("small jobs that failed", number(figures["small_jobs_failed"])),
    )
    return Story(
        (Grid(f"{figures['clients']} clients, {figures['long_jobs']} long jobs", ("", "measured"), rows),),
        f"Under load 95 % of the pages come within {seconds(figures['page_seconds_p95'])}, "
        f"{ratio(figures['page_p95_ratio'])} what they take when nobody else is there.",
        (),
        draw_bars(
            "Pages",
            {
                "idle, 95 %": {"": figures["idle_page_seconds_p95"]},
                "busy, half": {"": figures["page_seconds_p50"]},
                "busy, 95 %": {"": figures["page_seconds_p95"]},
                "busy, slowest": {"": figures["page_seconds_worst"]},
            },
            "seconds",
            shown=seconds,
        ),
    )


CHAPTER = Chapter(
    "service",
    "The service under load",
    "REST and web application in one process of their own, asked over the network of this machine.",
    (
        Experiment(
            "pages",
            "Pages while jobs run",
            "A browser asks for pages while 100 clients ask for small checks, each again and again, and two long jobs "
            "explore whole lattices.",
            "Nothing.",
            _measure,
            _tell,
            service.LIMITS,
        ),
    ),
)
