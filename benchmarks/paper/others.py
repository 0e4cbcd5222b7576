"""The experiments of PSoup, CACQ and TelegraphCQ: what they print or say, and the rule of each verdict."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from benchmarks.paper.exhibits import (
    Figures,
    Judgement,
    Verdict,
    by_factor,
    last,
    lines,
    numbered,
    worst,
)
from workbench.experiments.report import Chart

TABLE_2 = {1: (0.3940, 0.0465, 0.0565), 2: (0.4905, 0.0240, 0.0210), 4: (0.8255, 0.0130, 0.0035)}
"""Milliseconds of NoMat, PSoup-P and PSoup-C by number of interval predicates."""
ASKING = "seconds of a processor to ask"


def response(figures: Figures, kind: str, paper: float) -> Judgement:
    """Time to ask for an answer by the rows of the window."""
    asking, keeping, rows_ = (lines(figures[kind][what]) for what in ("asking", "keeping up", "rows"))
    ratio = last(asking["NoMat"]) / last(asking["PSoup-P"])
    first, largest = min(asking["NoMat"]), max(asking["NoMat"])
    growth = asking["NoMat"][largest] / asking["NoMat"][first]
    lead = last(asking["PSoup-P"]) / last(asking["PSoup-C"])
    columns = [
        "rows of the window",
        *(f"{who} ms" for who in asking),
        *(f"{who}, keeping up ms" for who in asking),
        "rows of an answer",
    ]
    rows = [
        [
            n,
            *(1e3 * of[n] for of in asking.values()),
            *(1e3 * of[n] for of in keeping.values()),
            rows_["PSoup-C"][n],
        ]
        for n in asking["NoMat"]
    ]
    return Judgement(
        by_factor(ratio, paper),
        f"Without kept answers asking takes {ratio:.1f} times as long as PSoup-P at {largest:,} rows, and grows"
        f" {growth:.1f}"
        f" times from {first:,}; PSoup-P / PSoup-C is {lead:.2f}.",
        columns,
        rows,
        [
            Chart("asking", "rows of the window", ASKING, asking, log_x=True),
            Chart(
                "keeping up",
                "rows of the window",
                "seconds of a processor for a batch and query",
                keeping,
                log_x=True,
            ),
        ],
    )


def table_2(figures: Figures) -> Judgement:
    """Time to ask by number of intervals."""
    asking = lines(figures["predicates"]["asking"])
    ratios = {n: asking["NoMat"][n] / asking["PSoup-P"][n] for n in asking["NoMat"]}
    paper = {n: values[0] / values[1] for n, values in TABLE_2.items()}
    grows = asking["NoMat"][4] > asking["NoMat"][1]
    falls = asking["PSoup-C"][4] < asking["PSoup-C"][1]
    rows = [[n, *TABLE_2[n], paper[n], *(1e3 * of[n] for of in asking.values()), ratios[n]] for n in ratios]
    return Judgement(
        worst(
            [
                by_factor(mean(ratios.values()), mean(paper.values())),
                Verdict.HOLDS if grows and falls else Verdict.WEAKER,
            ]
        ),
        f"NoMat / PSoup-P: {', '.join(f'{ratio:.1f} with {n}' for n, ratio in ratios.items())}; in the paper"
        f" {', '.join(f'{ratio:.0f}' for ratio in paper.values())}. From one interval to four NoMat"
        f" {'grows' if grows else 'does not grow'}, PSoup-C {'falls' if falls else 'does not fall'}.",
        [
            "intervals",
            "P NoMat ms",
            "P PSoup-P ms",
            "P PSoup-C ms",
            "P ratio",
            *(f"{who} ms" for who in asking),
            "ratio",
        ],
        rows,
    )


def figure_9(figures: Figures) -> Judgement:
    """Rows that can arrive, by system and number of queries."""
    rates = lines(figures["rates"])
    most = max(rates["PSoup-P"])
    shared = rates["PSoup-P"][most] / rates["PSoup-P unshared"][most]
    lazy = rates["PSoup-P"][most] / rates["PSoup-C"][most]
    few = min(rates["PSoup-P"])
    grows = shared > rates["PSoup-P"][few] / rates["PSoup-P unshared"][few]
    return Judgement(
        worst([by_factor(shared, 10), by_factor(lazy, 100), Verdict.HOLDS if grows else Verdict.WEAKER]),
        f"At {most} queries sharing gives PSoup-P {shared:.1f} times the rate, {'more' if grows else 'less'} than"
        f" at {few};"
        f" PSoup-P is {lazy:.1f} times as fast as PSoup-C.",
        ["queries", *rates],
        [[n, *(of.get(n) for of in rates.values())] for n in rates["PSoup-P"]],
        [Chart("rows that can arrive", "queries", "rows in a second of a processor", rates, log_x=True)],
    )


def psoup_11(figures: Figures) -> Judgement:
    """A new join over old rows, the condition that all pairs share applied once or to each."""
    rows = [
        [name, of["composite"], of["separate"], of["separate"] / of["composite"]]
        for name, of in figures["redundant"].items()
    ]
    ratios = {str(row[0]): float(str(row[3])) for row in rows}
    series = {
        how: {str(row[0]): float(str(row[at])) for row in rows} for how, at in (("composite", 1), ("separate", 2))
    }
    return Judgement(
        worst([by_factor(ratios["Eq/Ineq"], 2.0), by_factor(ratios["Ineq/Eq"], 1.5)]),
        f"Separate / composite: {', '.join(f'{name} {ratio:.1f}' for name, ratio in ratios.items())}.",
        ["workload", "composite s", "separate s", "ratio"],
        rows,
        [Chart("a new join", "workload", "seconds of a processor", series)],
    )


def figure_4(figures: Figures) -> Judgement:
    """Rows a second by bits of lineage."""
    rate = numbered(figures["rate"])
    fall = rate[min(rate)] / rate[max(rate)]
    return Judgement(
        by_factor(fall, 5.0),
        f"From {min(rate):,} bits to {max(rate):,} the rate falls {fall:.1f} times; in the paper more than five"
        f" times from 15 to"
        " 3,000.",
        ["bits a row", "rows in a second of a processor"],
        [[n, value] for n, value in rate.items()],
        [Chart("lineage", "bits a row", "rows in a second of a processor", {"here": rate}, log_x=True)],
    )


def figure_6a(figures: Figures) -> Judgement:
    """Rows out a second by number of queries, shared or not."""
    series = lines(figures["queries"])
    most = max(series["shared"])
    ratio = series["shared"][most] / series["unshared"][most]
    return Judgement(
        by_factor(ratio, 2.0),
        f"At {most} queries the shared filters give {ratio:.1f} times the rows out a second; in the paper about twice.",
        ["queries", "shared", "unshared"],
        [[n, series["shared"][n], series["unshared"][n]] for n in series["shared"]],
        [Chart("one source", "queries", "rows out in a second of a processor", series)],
    )


def figure_6b(figures: Figures) -> Judgement:
    """Rows a second by number of sources."""
    rate, operators = numbered(figures["sources"]), numbered(figures["operators"])
    fall = rate[min(rate)] / rate[max(rate)]
    return Judgement(
        by_factor(fall, 1.5),
        f"From one source to {max(rate)} the rate falls {fall:.1f} times: {operators[max(rate)]:.0f} operators"
        f" have work, for one.",
        ["sources", "rows in a second of a processor", "operators with work"],
        [[n, value, operators[n]] for n, value in rate.items()],
        [Chart("twenty queries", "sources", "rows in a second of a processor", {"here": rate})],
    )


def figure_8(figures: Figures) -> Judgement:
    """Filters a row by policy."""
    paper = {"random": 3.2, "learnt": 1.3, "optimal": None, "worst": 5.0}
    found = figures["filters"]
    near = found["learnt"] <= 1.1 * found["optimal"]
    batches = dict(enumerate(figures["by batch"], start=1))
    drawn = {
        "paper": {name: filters for name, filters in paper.items() if filters},
        "here": {name: found[name] for name in paper},
    }
    return Judgement(
        worst([by_factor(found["random"] / found["learnt"], 3.2 / 1.3), Verdict.HOLDS if near else Verdict.WEAKER]),
        f"The learnt order asks {found['learnt']:.2f} filters a row, {found['first batch']:.2f} in the first"
        f" batch; the best"
        f" possible is {found['optimal']:.2f}, random {found['random']:.2f}.",
        ["policy", "P filters a row", "filters a row"],
        [[policy, paper.get(policy), value] for policy, value in found.items()],
        [
            Chart("policies", "policy", "filters a row", drawn, log_y=False),
            Chart("learnt, over batches", "batch", "filters a row", {"here": batches}, log_y=False),
        ],
    )  # fmt: skip


def tickets(figures: Figures, workload: str, first: Sequence[str], words: str) -> Judgement:
    """Which tests have most tickets once all queries are there, and how soon a new one has its share."""
    shares = figures["tickets"][workload]
    settled = {test: mean(of[-5:]) for test, of in shares.items()}
    order = sorted(settled, key=lambda test: -settled[test])
    series = {test: dict(enumerate(of, start=1)) for test, of in shares.items()}
    soon = sum(abs(of[-9] - settled[test]) <= 0.1 for test, of in shares.items())
    expected = [next(test for test in shares if test.startswith(field)) for field in first]
    leading = set(order[: len(expected)]) & set(expected)
    verdict = Verdict.HOLDS if len(leading) == len(expected) else Verdict.WEAKER if leading else Verdict.REVERSED
    return Judgement(
        verdict,
        f"{words} At the end: {', '.join(f'{test} {settled[test]:.2f}' for test in order)}; two batches after the"
        f" last query"
        f" came {soon} of {len(order)} have their share.",
        ["test", "share of the tickets at the end"],
        [[test, settled[test]] for test in order],
        [Chart(f"workload {workload[1]}", "batch", "share of the tickets", series, log_y=False)],
    )


def figure_11a(figures: Figures) -> Judgement:
    """Pairs of joins by plan and number of queries."""
    plans = figures["normal"]
    pairs = {plan: {int(n): of["pairs"] for n, of in each.items()} for plan, each in plans.items()}
    seconds = {plan: {int(n): of["seconds"] for n, of in each.items()} for plan, each in plans.items()}
    most = max(pairs["ours"])
    push, pull = (pairs[plan][most] / pairs["ours"][most] for plan in ("PushDown", "PullUp"))
    slower = seconds["PushDown"][most] / seconds["ours"][most]
    columns = ["queries", *(f"pairs, {plan}" for plan in plans), *(f"{plan} s" for plan in plans)]
    return Judgement(
        worst([by_factor(push, 10.0), Verdict.HOLDS if 0.8 <= pull <= 1.3 else Verdict.WEAKER]),
        f"At {most} queries PushDown makes {push:.0f} times the pairs and costs {slower:.1f} times as much,"
        f" PullUp makes"
        f" {pull:.1f} times the pairs.",
        columns,
        [[n, *(of[n] for of in pairs.values()), *(of[n] for of in seconds.values())] for n in pairs["ours"]],
        [
            Chart("pairs of a batch", "queries", "pairs", pairs),
            Chart("time", "queries", "seconds of a processor for a batch", seconds),
        ],
    )


def figure_11b(figures: Figures) -> Judgement:
    """Calls of functions by the articles of a stock."""
    calls, asking = numbered(figures["functions"]["calls"]), numbered(figures["functions"]["rows that ask"])
    most = max(calls)
    ratio, grown = asking[most] / calls[most], calls[most] / calls[min(calls)]
    return Judgement(
        worst([by_factor(ratio, most), Verdict.HOLDS if grown < 1.1 else Verdict.WEAKER]),
        f"With {most} articles of a stock functions are called {grown:.1f} times as often as with {min(calls)};"
        f" after the join, as"
        f" PullUp has to, they would be called {ratio:.0f} times as often.",
        ["articles of a stock", "calls", "calls after the join (PullUp)"],
        [[n, calls[n], asking[n]] for n in calls],
        [Chart("functions", "articles of a stock", "calls", {"here": calls, "PullUp": asking}, log_x=True)],
    )


def texts(figures: Figures) -> Judgement:
    """Instants whose set is what the window says."""
    equal, all_ = sum(of["equal"] for of in figures.values()), sum(of["instants"] for of in figures.values())
    return Judgement(
        Verdict.HOLDS if equal == all_ else Verdict.REVERSED,
        f"{equal} of {all_} instants have the set that the window says.",
        ["example", "instants", "equal"],
        [[name, of["instants"], of["equal"]] for name, of in figures.items()],
    )
