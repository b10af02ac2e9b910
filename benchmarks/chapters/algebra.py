"""Anonymization inside queries: what rewriting saves, what partitions do to levels."""

from __future__ import annotations

from benchmarks.bars import draw_bars
from benchmarks.chapter import Chapter, Experiment, Figures, Grid, Size, Story
from benchmarks.texts import number, ratio, seconds, share
from tarnkappe.table.encoding import Progress
from tarnkappe_bench import algebra, algebra_price
from tarnkappe_bench.chart import draw_curves


def _measure(size: Size, progress: Progress | None) -> Figures:
    measured = algebra.run(progress, rows=size.pick(20_000, 2_000_000), spark_rows=size.pick(0, 1_000_000))
    del measured["partitions_and_levels"]  # the experiment below
    return measured


def _tell(figures: Figures) -> Story:
    queries = figures["queries"]
    by_query = tuple(
        (
            x["query"],
            x["mode"],
            ", ".join(x["rules"]),
            seconds(x["seconds_as_written"]),
            seconds(x["seconds_optimized"]),
            ratio(x["speed_up"]),
            seconds(x["rewrite_seconds"]),
        )
        for x in queries
    )
    by_rule = tuple(
        (x["rule"], x["kind"], x["query"], seconds(max(x["seconds_saved"], 0)), share(x["share_saved"]))
        for x in figures["what_each_rule_saves"]
    )
    answers = tuple(
        (x["query"], number(x["classes_as_written"]), number(x["classes_optimized"]))
        for x in queries
        if "classes_as_written" in x
    )
    overhead = tuple(
        (x["operator"], ratio(x["ratio"]), "the same rows" if x["same_rows"] else "other rows")
        for x in figures["overhead"]
    )
    spark = figures["spark"]
    tables = [
        Grid(
            f"{number(figures['rows'])} donors in Parquet files, DuckDB",
            ("query", "mode", "rules", "as written", "optimized", "speed-up", "rewriting"),
            by_query,
        ),
        Grid("What each rule saves", ("rule", "kind", "query", "saved", "of the time before"), by_rule),
        Grid("How fine the answers are", ("query", "classes as written", "classes optimized"), answers),
        Grid("Against statements written by hand", ("operator", "time to theirs", ""), overhead),
    ]
    if "partitioned_seconds_local_1" in spark:
        tables.append(
            Grid(
                f"Spark, {number(spark['rows'])} rows",
                ("plan", "one core", "two cores", "speed-up"),
                tuple(
                    (
                        plan,
                        seconds(spark[f"{plan}_seconds_local_1"]),
                        seconds(spark[f"{plan}_seconds_local_2"]),
                        ratio(spark[f"{plan}_speed_up"]),
                    )
                    for plan in ("partitioned", "whole")
                ),
            )
        )
    return Story(
        tuple(tables),
        f"Rewriting makes {figures['faster']} of {len(queries)} queries faster, "
        f"{ratio(figures['speed_up_geometric_mean'])} on average, and takes at most "
        f"{seconds(figures['rewrite_seconds_most'])}.",
        ("The literature has no measurement to compare with; it names one as the first thing to do.",),
        draw_bars(
            "Speed-up by rewriting",
            {x["query"][:30]: {"": x["speed_up"]} for x in queries},
            "times as fast",
            shown=ratio,
        ),
    )


def _measure_levels(size: Size, progress: Progress | None) -> Figures:
    del progress
    import tempfile
    from pathlib import Path

    from tarnkappe_bench.algebra_data import write_donors
    from tarnkappe_bench.algebra_partitions import SAMPLE, measure_levels

    with tempfile.TemporaryDirectory(prefix="tarnkappe-book-") as name:
        files = write_donors(Path(name), size.pick(SAMPLE, 4 * SAMPLE))
        return {"sample": SAMPLE, "lines": measure_levels(files["spender"])}


def _tell_levels(figures: Figures) -> Story:
    lines = figures["lines"]
    rows = tuple(
        (
            ", ".join(x["columns"]),
            x["split"],
            number(x["parts"]),
            share(x["finer_parts"]),
            share(x["equal_parts"]),
            share(x["coarser_parts"]),
            number(x["height_of_the_whole"]),
            number(x["mean_height_of_parts"]),
        )
        for x in lines
    )
    all_finer = [x for x in lines if x["finer_parts"] == 1.0]
    alone = [x for x in all_finer if len(x["columns"]) == 1]
    enough = all(x["highest_is_enough_for_the_whole"] for x in lines)
    heights = {(tuple(x["columns"]), x["parts"], x["split"]): x["mean_height_of_parts"] for x in lines}
    settings = [key[:2] for key in heights if key[2] == "at random"]
    pairs = len(settings)
    lower = sum(heights[*key, "neighbours together"] < heights[*key, "at random"] for key in settings)
    curves: dict[str, list[tuple[float, float]]] = {}
    for x in lines:
        curves.setdefault(f"{'+'.join(x['columns'])}, {x['split']}", []).append(
            (x["parts"], x["mean_height_of_parts"])
        )
    return Story(
        (
            Grid(
                f"{number(figures['sample'])} donors, k = 8; height 0 is exact, 1 is everything hidden",
                ("columns", "split", "parts", "finer", "equal", "coarser", "whole", "mean of parts"),
                rows,
            ),
        ),
        f"For one column {'no' if not alone else 'a'} split had all parts finer than the whole, as the literature "
        f"proves; the highest level of the parts was {'always' if enough else 'not always'} enough for the whole; "
        f"parts with neighbours together were lower than random ones on average in {lower} of {pairs} settings.",
        (
            "The literature says that never are all parts finer than the whole. That holds for one column; for two or "
            "more it does not, since levels are then only partly ordered"
            + (f" ({len(all_finer)} of the splits above show it)." if all_finer else " (no split above shows it)."),
        ),
        draw_curves("Mean height of the parts", curves, ("parts", "height")),
    )  # fmt: skip


def _measure_price(size: Size, progress: Progress | None) -> Figures:
    return algebra_price.measure_price(progress, rows=size.pick(50_000, algebra_price.ROWS))


def _tell_price(figures: Figures) -> Story:
    names = {
        "in_memory": "generalized, in memory",
        "to_a_file": "generalized, to a Parquet file",
        "without_an_operator": "no operator",
    }
    starts = {
        "start_seconds": "`tarn sql` without an operator",
        "start_seconds_with_a_search": "`tarn sql` with a generalization",
        "start_seconds_of_libraries": "importing DuckDB, Arrow, sqlglot, typer and rich alone",
    }
    return Story(
        (
            Grid(
                f"{number(figures['rows'])} rows, k = 5 in three columns: processor time to that of DuckDB alone",
                ("query", "ratio", "at most"),
                tuple(
                    (told, ratio(figures[key]), ratio(algebra_price.LIMITS[key]))
                    for key, told in names.items()
                ),
            ),
            Grid(
                "A command on four rows",
                ("command", "processor time"),
                tuple((told, seconds(figures[key])) for key, told in starts.items()),
            ),
        ),
        "Alone, DuckDB counts the classes and joins the labels of levels that somebody knows already: it neither "
        "searches, nor shuffles, nor verifies.",
        () if figures["same_rows"] else ("The rows are not the same.",),
    )


CHAPTER = Chapter(
    "algebra",
    "Anonymization inside queries",
    "Generalization, slicing and noise as operators of queries, moved by rules to where they cost least.",
    (
        Experiment(
            "rewriting",
            "What each rule saves",
            "Ten queries over made-up blood donors in Parquet files: the plan as written against the plan that the "
            "optimizer chose, and every plan between; the same rows by statements written by hand; partitions "
            "on Spark.",
            "45 rules, of which 4 were implemented and none was measured.",
            _measure,
            _tell,
            algebra.LIMITS,
        ),
        Experiment(
            "price",
            "What protection costs beside the query itself",
            "Made-up people in a Parquet file (2,000 postal codes, 70 ages, two sexes, 50 diagnoses), generalized and "
            "as they are; DuckDB alone in turn, in the same process; the least processor time of five runs.",
            "Nothing: the literature has no measurement.",
            _measure_price,
            _tell_price,
            algebra_price.LIMITS,
        ),
        Experiment(
            "levels",
            "What partitioning does to levels",
            "Donors split at random and with neighbours together, into 2 to 64 parts, each generalized by itself.",
            "Six cases by hand; neither the parts nor the whole are finer in general; how often was not studied.",
            _measure_levels,
            _tell_levels,
        ),
    ),
)
