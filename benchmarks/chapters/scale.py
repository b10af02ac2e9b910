"""Large tables, large lattices, and the optima of another implementation."""

from __future__ import annotations

from typing import Any

from benchmarks import engines, foundation, large
from benchmarks.bars import draw_bars
from benchmarks.chapter import Chapter, Experiment, Figures, Grid, Size, Story
from benchmarks.texts import number, ratio, seconds, share
from tarnkappe.table.encoding import Progress
from tarnkappe_bench import lattice, scale


def _rows(figures: Figures, names: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((text, shown(figures[key])) for key, (text, shown) in names.items() if key in figures)


# -------------------------------------------------------------------------------- optima of ARX


def _measure_optima(size: Size, progress: Progress | None) -> Figures:
    return lattice.run(progress, repeats=size.pick(1, 2), every=size.pick(12, 1), starts=size is Size.FULL)


def _tell_optima(figures: Figures) -> Story:
    names = {
        "different": ("optima that differ", number),
        "not_proven_optimal": ("not proven optimal", number),
        "ratio_geometric_mean": ("our time to its time, geometric mean", ratio),
        "ratio_worst": ("our time to its time, worst", ratio),
        "slower": ("configurations in which we are slower", number),
        "exhaustive_yardsticks": ("all 12,960 nodes tested, in yardsticks", number),
        "classify_yardsticks": ("all 12,960 nodes classified, in yardsticks", number),
        "yardstick_seconds": ("a yardstick: one GROUP BY in DuckDB on one core", seconds),
        "cold_start_processor_seconds": ("`tarn anonymize` from the shell, processor time", seconds),
        "first_run_processor_seconds": ("the first run ever, which compiles", seconds),
    }
    table = Grid("Against ARX 3.9.2 on one core", ("", "measured"), _rows(figures, names))
    number_of = len(figures["configurations"])
    if not figures["reference"]:
        return Story((table,), "The reference data are absent: nothing is compared.")
    slow = sorted(figures["configurations"], key=lambda x: -x["ratio"])[:12]
    picture = draw_bars(
        "Our time as a share of ARX's, the twelve worst",
        {
            f"{x['model'][:24]}, {x['loss'][:8]} {share(x['suppression_limit'])}": {"": x["ratio"]}
            for x in slow
        },
        "times",
        shown=ratio,
    )
    return Story(
        (table,),
        f"{number_of - figures['different']} of {number_of} optima are those of ARX, found in "
        f"{ratio(figures['ratio_geometric_mean'])} its time on average.",
        (),
        picture,
    )


# -------------------------------------------------------------------------------- rows


def _measure_rows(size: Size, progress: Progress | None) -> Figures:
    return scale.run(
        progress,
        rows=size.pick(50_000, None),
        curve=size.pick((10_000, 20_000), (100_000, 400_000, 1_600_000, 3_200_000)),
    )


def _tell_rows(figures: Figures) -> Story:
    names = {
        "rows": ("rows", number),
        "nodes": ("nodes of the lattice", number),
        "seconds_2_percent": ("2 % suppression", seconds),
        "seconds_5_percent": ("5 % suppression", seconds),
        "yardsticks_5_percent": ("5 % suppression, in yardsticks", number),
        "megabytes_beyond_the_table": ("megabytes beyond the table", number),
    }
    return Story(
        (Grid("5-anonymity with least entropy", ("", "measured"), _rows(figures, names)),),
        f"The optimum of {number(figures['rows'])} rows among {number(figures['nodes'])} nodes is proven in "
        f"{seconds(figures['seconds_5_percent'])}, encoding included.",
        ("Reported times are of the original IHIS; ours is a made-up table of its shape and size.",),
        scale.draw(figures),
    )


# -------------------------------------------------------------------------------- lattices


def _measure_lattices(size: Size, progress: Progress | None) -> Figures:
    del progress
    return large.run(seconds=size.pick(1.0, 10.0), seeds=size.pick(1, 5), rows=size.pick(5000, 30_162))


def _tell_lattices(figures: Figures) -> Story:
    rows = tuple(
        (
            each["loss"],
            share(each["suppression_limit"]),
            name,
            number(each[name]["loss"]),
            share(each[name]["gap"]),
            number(each[name]["checked"]),
        )
        for each in figures["wide"]
        for name in each
        if isinstance(each[name], dict)
    )
    return Story(
        (
            Grid(
                f"24 columns, {number(figures['seconds'])} seconds each",
                ("loss", "suppression", "search", "found", "above the bound at most", "tests"),
                rows,
            ),
        ),
        "On lattices that nobody can search to the end a result comes with a proven bound; on lattices that one "
        f"can, it was at most {share(figures['adult_shaped_worst'])} above the optimum after a quarter of the tests.",
    )


# -------------------------------------------------------------------------------- foundations and engines


def _measure_foundation(size: Size, progress: Progress | None) -> Figures:
    del progress
    return foundation.run(large_rows=size.pick(200_000, 10_000_000))


def _tell_foundation(figures: Figures) -> Story:
    names = {
        "check_seconds": ("check of 30,162 rows", seconds),
        "check_yardsticks": ("check, in yardsticks", number),
        "encode_yardsticks": ("encoding, in yardsticks", number),
        "distinct_yardsticks": ("distinct tuples, in yardsticks", number),
        "encode_10m_rows_seconds": ("encoding of ten million rows", seconds),
        "encode_10m_rows_of_text_seconds": ("encoding of ten million rows of text", seconds),
    }
    return Story(
        (Grid("Tables", ("", "measured"), _rows(figures, names)),),
        f"All guarantees of Adult are measured in {seconds(figures['check_seconds'])}.",
    )


def _measure_engines(size: Size, progress: Progress | None) -> Figures:
    del progress
    return engines.run(rows=size.pick(100_000, 5_000_000))


def _tell_engines(figures: Figures) -> Story:
    names = {
        "rows": ("rows", number),
        "file_megabytes": ("file, megabytes", number),
        "total_seconds": ("read, search, release, verify", seconds),
        "yardsticks": ("in yardsticks (counting the distinct rows in DuckDB)", number),
        "peak_gigabytes": ("memory at most, gigabytes", number),
        "checked": ("nodes tested", number),
    }
    return Story(
        (Grid("A Parquet file, DuckDB with 2 GB", ("", "measured"), _rows(figures, names)),),
        f"{number(figures['rows'])} rows are anonymized with {number(figures['peak_gigabytes'])} GB of memory, "
        f"in {ratio(figures['yardsticks'])} the time that DuckDB needs to count its distinct rows.",
    )


CHAPTER = Chapter(
    "scale",
    "Large tables and large lattices",
    "What the search that users get does with tables and lattices that the literature found hard. A yardstick is one "
    "`GROUP BY` over all columns in DuckDB on one core, measured in the same run.",
    (
        Experiment(
            "optima",
            "The optima of ARX, in what share of its time",
            "Every configuration that was solved with ARX on Adult: models, losses and limits; from the table in "
            "memory to the proven optimum, encoding included.",
            "ARX needs 0.04 to 9.6 s of one core for nine quasi-identifiers at k = 5, by loss and limit.",
            _measure_optima,
            _tell_optima,
            lattice.LIMITS,
        ),
        Experiment(
            "rows",
            "1.2 million rows",
            "A made-up table in the shape of IHIS; 5-anonymity, entropy.",
            "Flash with 3 % suppression: 92 s (2012). ARX 3.9.2: 188 to 219 s at 2 %.",
            _measure_rows,
            _tell_rows,
            scale.LIMITS,
        ),
        Experiment(
            "lattices",
            "Lattices of any size",
            "24 columns: more nodes than can be visited. Best-first and genetic search with a time limit.",
            "Nothing: optimal searches stop at some 100,000 nodes.",
            _measure_lattices,
            _tell_lattices,
            large.LIMITS,
        ),
        Experiment(
            "tables",
            "Encoding and checking",
            "The Adult-shaped table, and ten million rows of it.",
            "A check of 100,000 records in under a second is the target of the release-check literature.",
            _measure_foundation,
            _tell_foundation,
            foundation.LIMITS,
        ),
        Experiment(
            "engines",
            "A file larger than memory",
            "A Parquet file in the shape of IHIS, anonymized by a process whose DuckDB may use 2 GB.",
            "Nothing.",
            _measure_engines,
            _tell_engines,
            engines.LIMITS,
        ),
    ),
)
