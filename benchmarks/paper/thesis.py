"""The experiments of the ARGUS thesis, chapter 10 and Appendix C: what it prints, and the rule of each verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import correlation

from benchmarks.paper.exhibits import (
    Figures,
    Judgement,
    Verdict,
    by_factor,
    by_ratios,
    by_share,
    last,
    lines,
    numbered,
    worst,
)
from workbench.experiments.report import Chart
from workbench.experiments.studies.aggregates import THESIS_C4_C5
from workbench.experiments.studies.network_size import THESIS_SIZES
from workbench.experiments.studies.sharing import PRINTED, THESIS

PANELS: Mapping[str, str] = {
    "fed-manual": "(a) Manual", "fed-uniform": "(b) Uniform", "fed-normal": "(c) Normal",
    "fed-gaussian": "(d) Mixture", "med": "(e) MED",
}  # fmt: skip
"""The query sets of T10.4, and the panels of Figures 10.13 to 10.16 that show them."""
BATCH_SECONDS = "seconds of a processor for a batch"

C1: Mapping[str, Mapping[str, Sequence[int]]] = {
    "Data1": {"Rete": (3, 1, 1, 16, 14, 1, 1), "SQL": (45, 14, 20, 20, 14, 6, 6)},
    "Data2": {"Rete": (3, 1, 1, 16, 15, 1, 1), "SQL": (31, 12, 19, 19, 17, 7, 6)},
}
C2: Mapping[tuple[str, str], Sequence[int | None]] = {
    ("Q1", "Data1"): (3, 44, 45, 20), ("Q1", "Data2"): (3, 27, 31, 12),
    ("Q3", "Data1"): (1, 18, 20, None), ("Q3", "Data2"): (1, 17, 19, None),
}  # fmt: skip
"""Rete with and without inference, SQL as it is, and SQL with the hidden conditions added by hand."""
THESIS_10_4: Mapping[str, tuple[int, int]] = {"aggregate-fed": (662, 6236), "aggregate-med": (316, 938)}
"""Table 10.4: seconds of all queries alone, aggregates kept up (IA) and computed anew (NIA)."""
C3: Mapping[str, Sequence[int]] = {"Data1": (38, 44, 45), "Data2": (17, 27, 31)}
"""Conditional, not conditional, SQL."""


def figure_10_1(figures: Figures) -> Judgement:
    """Q1 to Q7: faster than computing anew, as often as in the thesis."""
    rows: list[list[object]] = []
    holding = 0
    for data, printed in C1.items():
        for i in range(7):
            ours = figures["seconds"][data][f"Q{i + 1}"]
            rete, sql = printed["Rete"][i], printed["SQL"][i]
            factor = ours["anew"] / ours["kept up"]
            holding += factor > 1
            rows.append(
                [f"{data} Q{i + 1}", rete, sql, sql / rete, ours["kept up"], ours["anew"], factor, ours["DuckDB"]]
            )
    names = [f"Q{i}" for i in range(1, 8)]
    seconds = figures["seconds"]["Data1"]
    printed_ = {who: dict(zip(names, map(float, of), strict=True)) for who, of in C1["Data1"].items()}
    here = {how: {name: seconds[name][how] for name in names} for how in ("kept up", "anew", "DuckDB")}
    charts = [Chart("Data1: thesis", "query", "seconds", printed_), Chart("Data1: here", "query", BATCH_SECONDS, here)]
    beside = sum(of["kept up"] < of["DuckDB"] for each in figures["seconds"].values() for of in each.values())
    return Judgement(
        by_share(holding, 14),
        f"Kept up is faster than computed anew by this engine for {holding} of 14; DuckDB running the query again"
        f" is slower"
        f" than kept up for {beside} of 14.",
        ["", "T Rete s", "T SQL s", "T ratio", "kept up s", "anew s", "ratio", "DuckDB s"],
        rows,
        charts,
    )


def figure_10_2(figures: Figures) -> Judgement:
    """Kept up grows with the batch, from below what computing anew takes."""
    sizes = lines(
        {who: {n: of[who] for n, of in figures["by size"].items() if who in of} for who in ("kept up", "DuckDB")}
    )
    kept, anew = sizes["kept up"], min(figures["by size"].items(), key=lambda each: int(each[0]))[1]["anew"]
    small, large = min(kept), max(kept)
    growth, rows_ = kept[large] / kept[small], large / small
    verdict = worst([by_factor(anew / kept[small], 2.0), Verdict.HOLDS if growth < rows_ else Verdict.WEAKER])
    return Judgement(
        verdict,
        f"Over {figures['queries']} queries, a batch of {small:,} rows costs {kept[small] * 1e3:.0f} ms and one"
        f" of {large:,}"
        f" {kept[large] * 1e3:.0f} ms, {growth:.1f} times as much for {rows_:.0f} times the rows; anew"
        f" {anew * 1e3:.0f} ms.",
        ["rows of a batch", "kept up s", "DuckDB again s"],
        [[size, kept[size], sizes["DuckDB"][size]] for size in sorted(kept)],
        [
            Chart(
                "QIEFed-Uniform",
                "rows of a batch",
                BATCH_SECONDS,
                {**sizes, "anew": dict.fromkeys(kept, anew)},
                log_x=True,
            )
        ],
    )


def figure_10_3(figures: Figures) -> Judgement:
    """Q1 and Q3 with inference and without."""
    rows: list[list[object]] = []
    factors: list[float] = []
    for (query, data), printed in C2.items():
        ours = figures["seconds"][data][query]
        factors.append(ours["without inference"] / ours["kept up"])
        assert printed[0] is not None and printed[1] is not None
        rows.append(
            [f"{query} {data}", *printed, printed[1] / printed[0], ours["kept up"], ours["without inference"],
             ours["DuckDB"], ours.get("DuckDB, told"), factors[-1]]
        )  # fmt: skip
    columns = [
        "",
        "T TI s",
        "T none s",
        "T SQL s",
        "T SQL told s",
        "T ratio",
        "TI s",
        "none s",
        "DuckDB s",
        "told s",
        "ratio",
    ]
    series = {
        how: {str(row[0]): float(str(row[at])) for row in rows} for how, at in (("with inference", 6), ("without", 7))
    }
    trend = f"Without inference a batch costs {min(factors):.1f} to {max(factors):.1f} times as much; thesis: 9 to 18."
    verdict = worst([by_factor(sum(factors) / len(factors), 14.7)])
    return Judgement(verdict, trend, columns, rows, [Chart("here", "query", BATCH_SECONDS, series)])


def variants(figures: Figures, how: str, other: str, paper: float, words: str) -> Judgement:
    """Two configurations of the four chains of QIEFed-Uniform, by seconds of a batch and rows looked at."""
    rows: list[list[object]] = []
    factors, hydration = [], []
    for variant, of in figures["chains"].items():
        factors.append(of[other]["seconds"] / of[how]["seconds"])
        hydration.append(of[other]["hydration"] / of[how]["hydration"])
        rows.append(
            [variant, of[how]["seconds"], of[other]["seconds"], factors[-1], of[how]["rows"], of[other]["rows"],
             hydration[-1], of["DuckDB"]["seconds"]]
        )  # fmt: skip
    mean = sum(factors) / len(factors)
    series = {who: {str(row[0]): float(str(row[at])) for row in rows} for who, at in ((how, 1), (other, 2))}
    return Judgement(
        by_factor(mean, paper),
        f"{words} {mean:.2f} times as much a batch in the mean, and {sum(hydration) / len(hydration):.2f} times as much"
        " to compute over the history.",
        ["", f"{how} s", f"{other} s", "ratio", f"rows, {how}", f"rows, {other}", "hydration ratio", "DuckDB s"],
        rows,
        [Chart("QIEFed-Uniform, batches of 1,000", "variant", BATCH_SECONDS, series)],
    )


def figure_10_5(figures: Figures) -> Judgement:
    """Q1 without inference: conditional materialization, none, and again."""
    rows: list[list[object]] = []
    factors = []
    for data, printed in C3.items():
        ours = figures["seconds"][data]["Q1"]
        factors.append(ours["not conditional"] / ours["conditional"])
        rows.append([data, *printed, ours["conditional"], ours["not conditional"], ours["anew"], factors[-1]])
    return Judgement(
        by_factor(sum(factors) / len(factors), 1.4),
        f"Not conditional costs {factors[0]:.2f} and {factors[1]:.2f} times as much; the thesis has 1.16 and 1.59.",
        ["", "T conditional s", "T not s", "T SQL s", "conditional s", "not s", "anew s", "ratio"],
        rows,
    )


def single_aggregates(figures: Figures) -> Judgement:
    """Each aggregate alone, by what it takes anew."""
    each = figures["each"]
    large = each[len(each) // 2 :]
    better = sum(of["anew"] > of["kept up"] for of in large)
    series = {
        how: {i: of[how] for i, of in enumerate(each, start=1)} for how in ("kept up", "groups anew", "anew", "DuckDB")
    }
    top = each[-max(1, len(each) // 10) :]
    ratio = sum(of["anew"] for of in top) / sum(of["kept up"] for of in top)
    rows = [
        [f"{at + 1} of {len(each)}", *(each[at][what] for what in ("rows", "kept up", "groups anew", "anew", "DuckDB"))]
        for at in sorted({0, len(each) // 4, len(each) // 2, 3 * len(each) // 4, len(each) - 1})
    ]
    return Judgement(
        by_share(better, len(large)),
        f"Of the dearer half kept up is better for {better} of {len(large)}; for the dearest tenth by {ratio:.1f}"
        f" times.",
        ["query, by cost anew", "rows looked at", "kept up s", "groups anew s", "anew s", "DuckDB s"],
        rows,
        [Chart(str(figures["set"]), "queries, cheapest first", BATCH_SECONDS, series)],
    )


def table_10_4(fed: Figures, med: Figures) -> Judgement:
    """All aggregates alone."""
    rows: list[list[object]] = []
    verdicts = []
    said = []
    for figures in (fed, med):
        kept, anew = THESIS_10_4[figures["set"]]
        whole = figures["whole"]
        ratio = whole["anew"] / whole["kept up"]
        verdicts.append(by_factor(ratio, anew / kept))
        said.append(f"{figures['set']} {ratio:.1f} (thesis {anew / kept:.1f})")
        rows.append([f"{figures['set']}, {figures['queries']}", kept, anew, anew / kept, *whole.values(), ratio])
    return Judgement(
        worst(verdicts),
        f"Anew / kept up: {', '.join(said)}.",
        ["queries", "T IA s", "T NIA s", "T ratio", "kept up s", "groups anew s", "anew s", "DuckDB s", "ratio"],
        rows,
    )


def shared_aggregates(figures: Figures, name: str) -> Judgement:
    """A batch by number of aggregates, shared and not."""
    series = lines(figures["seconds"])
    shared, unshared = series["Restructuring"], series["unshared"]
    printed = THESIS_C4_C5[name]
    ratios = [last(unshared) / last(shared), printed[max(printed)][1] / printed[max(printed)][0]]
    rows = [[n, *printed.get(n, (None, None)), shared[n], unshared.get(n)] for n in shared]
    charts = [
        Chart(f"{name}: thesis", "queries", "seconds", _columns(printed, ("SIA", "NS-IA"))),
        Chart(f"{name}: here", "queries", BATCH_SECONDS, {"shared": shared, "unshared": unshared}),
    ]  # fmt: skip
    return Judgement(
        by_factor(ratios[0], ratios[1]),
        f"Unshared / shared at {max(shared)} queries: {ratios[0]:.1f}; the thesis has {ratios[1]:.1f} at"
        f" {max(printed)}.",
        ["queries", "T SIA s", "T NS-IA s", "shared s", "unshared s"],
        rows,
        charts,
    )


def expansion(figures: Figures, pair: str) -> Judgement:
    """Groups from finer groups, by the rows of a batch."""
    of = figures[pair]
    series = lines(of["seconds"])
    ratios = {size: series["NonVE"][size] / series["VE"][size] for size in series["VE"]}
    said = ", ".join(f"{ratio:.2f} at {size:,}" for size, ratio in ratios.items())
    columns = ["rows of a batch", "VE IBT s", "NonVE IBT s", "VE ITT ms", "NonVE ITT ms", "ratio"]
    rows = [
        [n, ve, series["NonVE"][n], 1e3 * ve / n, 1e3 * series["NonVE"][n] / n, ratios[n]]
        for n, ve in series["VE"].items()
    ]
    groups = " and ".join(f"{number:,}" for number in of["groups"].values())
    return Judgement(
        by_ratios(list(ratios.values())),
        f"NonVE / VE: {said}; {groups} groups (thesis: some 95,000 and 10,000).",
        columns,
        rows,
        [Chart(pair, "rows of a batch", BATCH_SECONDS, series, log_x=True)],
    )


def compared(*every: Figures, base: str, others: Sequence[str], paper: float, words: str) -> Judgement:
    """Configurations on all five sets, at as many queries as all went to; by size where one of them needed Spark."""
    rows: list[list[object]] = []
    verdicts, said, charts = [], [], []
    for (name, panel), figures in zip(PANELS.items(), every, strict=True):
        seconds, sizes = lines(figures["seconds"]), lines(figures["sizes"])
        number = min(max(seconds[who]) for who in (base, *others))
        ratios = [seconds[who][number] / seconds[base][number] for who in others]
        weights = [sizes[who][number] / sizes[base][number] for who in others]
        fair = weights[-1] if {base, others[-1]} & set(figures["spark"]) else ratios[-1]
        verdicts.append(by_factor(fair, paper))
        said.append(f"{panel} {ratios[-1]:.1f} ({weights[-1]:.1f} by size)")
        printed = _printed(name, base, others)
        rows.append([panel, number, *printed, seconds[base][number], *ratios, *weights])
        taken = {who: seconds[who] for who in (base, *others)}
        charts.append(Chart(f"{panel}: here", "queries", BATCH_SECONDS, taken))
    columns = [
        "set", "queries", *(f"T {who} / {base}" for who in others), f"{base} s",
        *(f"{who} / {base}" for who in others), *(f"size of {who} / {base}" for who in others),
    ]  # fmt: skip
    holding = sum(verdict is not Verdict.REVERSED for verdict in verdicts)
    strong = sum(verdict is Verdict.HOLDS for verdict in verdicts)
    verdict = Verdict.HOLDS if strong >= 3 and holding == 5 else Verdict.WEAKER if holding >= 3 else Verdict.REVERSED
    return Judgement(verdict, f"{words}: {', '.join(said)}.", columns, rows, charts)


def _printed(name: str, base: str, others: Sequence[str]) -> list[float | None]:
    """The thesis's ratios at the last number of queries, where it prints them."""
    if name not in THESIS:
        return [None for _ in others]
    values = dict(zip(PRINTED, THESIS[name][max(THESIS[name])], strict=True))
    return [values[who] / values[base] for who in others]


def times(figures: Figures, name: str) -> Judgement:
    """Table C.6 or C.8."""
    series = lines(figures["seconds"])
    printed = THESIS[name]
    rows = [
        [n, *printed.get(n, [None] * len(PRINTED)), *(of.get(n) for of in series.values())]
        for n in series["AllSharing"]
    ]
    number = min(max(of) for of in series.values())
    order = sorted(series, key=lambda who: series[who][number])
    best = printed[max(printed)]
    ratio, thesis = series["NonJoinS"][number] / series["AllSharing"][number], best[0] / best[-1]
    charts = [
        Chart(f"{name}: thesis", "queries", "seconds", _columns(printed, PRINTED)),
        Chart(f"{name}: here", "queries", BATCH_SECONDS, series),
    ]  # fmt: skip
    return Judgement(
        by_factor(ratio, thesis),
        f"At {number} queries, cheapest first: {', '.join(order)}. NonJoinS / AllSharing {ratio:.1f}; the thesis has"
        f" {thesis:.1f} at {max(printed)}.",
        ["queries", *(f"T {who}" for who in PRINTED), *series],
        rows,
        charts,
    )


def sizes(figures: Figures, name: str) -> Judgement:
    """Table C.7 or C.9."""
    series = {who: numbered(of["sizes"]) for who, of in figures[name].items()}
    printed, names = THESIS_SIZES[name], ("NonJoinS", "NonCanon", "MatchPlan", "AllSharing")
    number = max(n for n in series["AllSharing"] if n in printed)
    ratio = series["NonJoinS"][number] / series["AllSharing"][number]
    thesis = printed[number][0] / printed[number][-1]
    ordered = [series[who][number] for who in names]
    verdict = worst(
        [by_factor(ratio, thesis), Verdict.HOLDS if ordered == sorted(ordered, reverse=True) else Verdict.WEAKER]
    )
    charts = [
        Chart(f"{name}: thesis", "queries", "weighted size", _columns(printed, names)),
        Chart(f"{name}: here", "queries", "weighted size", series),
    ]  # fmt: skip
    return Judgement(
        verdict,
        f"NonJoinS / AllSharing at {number} queries: {ratio:.1f}; the thesis has {thesis:.1f}. Sizes at {number}:"
        f" {', '.join(f'{who} {series[who][number]:,}' for who in series)}.",
        ["queries", *(f"T {who}" for who in names), *series],
        [[n, *printed.get(n, [None] * 4), *(of.get(n) for of in series.values())] for n in series["AllSharing"]],
        charts,
    )


def figure_10_16(manual: Figures, med: Figures) -> Judgement:
    """Seconds follow sizes: their correlation over the thesis's configurations and all numbers of queries."""
    rows: list[list[object]] = []
    found = []
    for name, figures in (("fed-manual", manual), ("med", med)):
        pairs = [
            (float(figures["sizes"][who][n]), seconds)
            for who, of in figures["seconds"].items()
            if who in PRINTED
            for n, seconds in of.items()
        ]
        found.append(_correlation(pairs))
        rows += [
            [name, who, max(figures["sizes"][who].values()), last(numbered(of))]
            for who, of in figures["seconds"].items()
        ]
    verdict = worst([Verdict.HOLDS if r > 0.8 else Verdict.WEAKER if r > 0.4 else Verdict.REVERSED for r in found])
    return Judgement(
        verdict,
        f"The correlation of the size and the seconds of a batch is {found[0]:.2f} for fed-manual and"
        f" {found[1]:.2f} for med.",
        ["set", "configuration", "weighted size", "seconds"],
        rows,
    )


def _columns(printed: Mapping[int, Sequence[float]], names: Sequence[str]) -> dict[str, dict[int, float]]:
    """The columns of a printed table as series."""
    return {name: {number: values[i] for number, values in printed.items()} for i, name in enumerate(names)}


def _correlation(pairs: Sequence[tuple[float, float]]) -> float:
    return correlation([size for size, _ in pairs], [seconds for _, seconds in pairs])
