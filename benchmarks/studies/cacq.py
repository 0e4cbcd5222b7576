"""CACQ's figures 4, 6, 8, 9 and 11: what a row's lineage costs, sharing of filters and over sources, the order of dear
tests, and the two plans of NiagaraCQ, which are options of the planner here.

Rows are those of CACQ 3.2.5: a number and five fields uniform in [0, 100). The fields have fractions, so that a
function is called for nearly every row: what is known of an argument is not called again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

import numpy as np
import pyarrow as pa

from benchmarks.processes import processor_seconds_of_all
from workbench.engine.reports import BatchReport, ticket_shares
from workbench.engine.spark.in_process import InProcess
from workbench.experiments.report import text_table
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.options import Options
from workbench.session.session import Session

FIELDS = "abcde"
UNREACHED = 1_000
"""No field is as large: a query that asks for more selects no row, and costs its bit of lineage alone."""

ROUTED: Mapping[str, int] = {"a": 90, "b": 70, "c": 50, "d": 30, "e": 10}
"""The constants of Table 3: its query *n* has the first *n* of them."""
WORKLOADS: Mapping[str, Sequence[str]] = {
    "9a": ("a > 30", "b > 50", "c > 10", "d > 40", "e > 90"),
    "9b": tuple(" AND ".join(f"{field} > 10" for field in FIELDS[:number]) for number in range(1, 6)),
    "9c": tuple(
        " AND ".join(f"{field} > {limit}" for field, limit in list(zip(FIELDS, (10, 30, 50, 70, 90), strict=True))[:n])
        for n in range(1, 6)
    ),
}
"""The workloads of Table 4."""
BETWEEN = 5
"""Batches between two queries that come: seconds in the paper."""

PLANS: Mapping[str, Options] = {
    "ours": Options(),
    "PushDown": Options(materialize_below=1.0, join_sharing=False, restructure=False),
    "PullUp": Options(materialize_below=0.0),
}
"""Ours; each selection below a join of its own; one join, and the selections after it (NiagaraCQ)."""


def sources(rows: int, seed: int = 1) -> pa.Table:
    """Rows of CACQ's stream S."""
    rng = np.random.default_rng(seed)
    fields = {name: pa.array(rng.uniform(0, 100, rows)) for name in FIELDS}
    return pa.table({"id": pa.array(np.arange(rows)), **fields})


@dataclass(frozen=True)
class TupleState(Study):
    """Figure 4: rows a second by the bits of lineage that a row has."""

    name, needs = "cacq-state", ()
    summary = "rows a second by the bits of a row's lineage (CACQ Figure 4)"

    queries: tuple[int, ...] = option((5, 50, 500, 3_000), "how many there are, of which five select rows")
    batch: int = option(20_000, "rows of a batch")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        real = {f"q{field}": f"SELECT id FROM S WHERE {field} > 50" for field in FIELDS}
        rates: dict[int, float] = {}
        bits: dict[int, int] = {}
        for number in self.queries:
            idle = {f"n{i}": f"SELECT id FROM S WHERE a > {UNREACHED + i}" for i in range(number - len(real))}
            with Session(InProcess()) as session:
                session.add_stream("S", sources(6 * self.batch), history=0, batch=self.batch)
                session.register_many(real | idle)
                rates[number] = self.batch / _batches(session, 4)
                bits[number] = len(session.network.nodes) - 1
            progress(f"{number} queries: {rates[number]:,.0f} rows a second")
        rows = [[bits[number], number, rate] for number, rate in rates.items()]
        figures = {"rate": {bits[number]: rate for number, rate in rates.items()}}
        return text_table(["bits", "queries", "rows a second"], rows), figures, ()


@dataclass(frozen=True)
class Scale(Study):
    """Figures 6a and 6b: rows out a second by the number of queries, rows in by that of sources."""

    name, needs = "cacq-scale", ()
    summary = "rows out a second by the number of queries and of sources (CACQ Figure 6)"

    queries: tuple[int, ...] = option((1, 5, 10, 20, 30, 40, 50), "numbers of queries over one source")
    sources: tuple[int, ...] = option((1, 2, 5, 10, 20), "numbers of sources of twenty queries")
    batch: int = option(40_000, "rows of a batch, of all sources together")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        by_queries: dict[str, dict[int, float]] = {"shared": {}, "unshared": {}}
        for number in self.queries:
            texts = _random_queries(number)
            for called, options in (("shared", Options()), ("unshared", Options(sharing=False))):
                by_queries[called][number] = self._rate(texts, 1, options)[0]
            progress(f"{number} queries: {by_queries['shared'][number]:,.0f} rows out a second")
        by_sources: dict[int, float] = {}
        operators: dict[int, int] = {}
        for number in self.sources:
            chosen = random.Random(3)
            texts = {
                f"q{i}": f"SELECT id FROM S{chosen.randrange(number)} WHERE {_predicate(chosen, 'a')}"
                for i in range(20)
            }
            _, by_sources[number], operators[number] = self._rate(texts, number, Options())
            progress(f"{number} sources: {by_sources[number]:,.0f} rows in a second")
        figures = {"queries": by_queries, "sources": by_sources, "operators": operators}
        rows = [[number, by_queries["shared"][number], by_queries["unshared"][number]] for number in self.queries]
        return text_table(["queries", "shared", "unshared"], rows), figures, ()

    def _rate(self, texts: Mapping[str, str], sources_: int, options: Options) -> tuple[float, float, int]:
        """Rows out, and rows in, in a second of a processor, and operators with work."""
        with Session(InProcess(), options=options) as session:
            for number in range(sources_):
                rows = self.batch // sources_
                session.add_stream(f"S{number}", sources(6 * rows, seed=number), history=0, batch=rows)
            session.register_many(texts)
            session.run(2)
            before = processor_seconds_of_all()
            reports = session.run(4)
            seconds = processor_seconds_of_all() - before
        out = sum(sum(report.changes.values()) for report in reports)
        return out / seconds, sum(report.rows for report in reports) / seconds, len(reports[-1].operators)


@dataclass(frozen=True)
class Routing(Study):
    """Figures 8 and 9: filters that a row passes by policy, and tickets over batches."""

    name, needs = "cacq-routing", ()
    summary = "filters a row by the order of dear tests, and how these share the tickets (CACQ Figures 8, 9)"

    batch: int = option(1_000, "rows of a batch")
    batches: int = option(12, "batches of Figure 8")
    ticket_batch: int = option(500, "rows of a batch of Figure 9")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        rows = sources(self.batch * self.batches)
        texts = {
            f"q{number}": " AND ".join(f"{field} > {ROUTED[field]}" for field in FIELDS[:number])
            for number in range(1, len(FIELDS) + 1)
        }
        with Session(InProcess()) as session:
            session.add_stream("S", rows, history=0, batch=self.batch)
            _dear(session, texts, everything=True)
            reports = session.run(self.batches)
        learnt = [_asked(report) / report.rows for report in reports]
        policies = {
            "random": _filters_random(rows), "learnt": mean(learnt[self.batches // 3 :]), "first batch": learnt[0],
            "optimal": _filters_optimal(rows), "worst": float(len(FIELDS)),
        }  # fmt: skip
        progress(f"filters a row: {policies}")
        shares = {called: self._tickets(texts) for called, texts in WORKLOADS.items()}
        rows_ = [[policy, filters] for policy, filters in policies.items()]
        figures = {"filters": policies, "by batch": learnt, "tickets": shares}
        return text_table(["policy", "filters a row"], rows_), figures, ()

    def _tickets(self, texts: Sequence[str]) -> dict[str, list[float]]:
        """Shares of the tickets by test, a query coming every few batches."""
        with Session(InProcess()) as session:
            rows = sources(self.ticket_batch * BETWEEN * (len(texts) + 2), seed=2)
            session.add_stream("S", rows, history=0, batch=self.ticket_batch)
            for number, text in enumerate(texts):
                _dear(session, {f"q{number}": text})
                session.run(BETWEEN)
            session.run(BETWEEN)
            return {test: [round(share, 4) for share in of] for test, of in ticket_shares(session.reports).items()}


@dataclass(frozen=True)
class Niagara(Study):
    """Figures 11a and 11b: a selection and a join of stocks and articles under the plans of NiagaraCQ."""

    name, needs = "cacq-niagara", ()
    summary = "selections below or above a shared join, and functions there (CACQ Figure 11)"

    queries: tuple[int, ...] = option((1, 20, 50, 100, 150, 200), "numbers of queries")
    stocks: int = option(2_250, "stocks of a batch")
    functions: int = option(100, "queries that call a function each")
    articles: tuple[int, ...] = option((1, 10, 100), "articles of a stock, where functions are called")
    quoted: int = option(2_250, "stocks of a batch, where functions are called")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        normal: dict[str, dict[int, dict[str, float]]] = {plan: {} for plan in PLANS}
        for number in self.queries:
            chosen = random.Random(5)
            prices = [0.0, *(chosen.uniform(0, 100) for _ in range(number - 1))]
            texts = {f"q{i}": _joined(f"s.price > {price:.4f}") for i, price in enumerate(prices)}
            for plan, options in PLANS.items():
                normal[plan][number] = self._normal(texts, options)
            progress(f"{number} queries: { {plan: of[number] for plan, of in normal.items()} }")
        calls: dict[str, dict[int, int]] = {"calls": {}, "rows that ask": {}}
        for number in self.articles:
            calls["calls"][number], calls["rows that ask"][number] = self._calls(number)
            progress(f"{number} articles of a stock: { {what: of[number] for what, of in calls.items()} }")
        rows = [
            [number, *(of[number][what] for what in ("pairs", "joins") for of in normal.values())]
            for number in self.queries
        ]
        columns = ["queries", *(f"{what}, {plan}" for what in ("pairs", "joins") for plan in PLANS)]
        return text_table(columns, rows), {"normal": normal, "functions": calls}, ()

    def _normal(self, texts: Mapping[str, str], options: Options) -> dict[str, float]:
        """Pairs that joins make in a batch, join nodes, and seconds of a processor."""
        with Session(InProcess(), options=options) as session:
            self._add(session, self.stocks, 1, 4)
            session.register_many(texts)
            session.run(1)
            before = processor_seconds_of_all()
            reports = session.run(2)
            seconds = (processor_seconds_of_all() - before) / 2
            joins = {node.id for node in session.network.nodes if node.kind == "join"}
        pairs = sum(each.rows_in for each in reports[-1].operators if each.root in joins)
        roots = {each.root for each in reports[-1].operators} & joins
        return {"pairs": pairs, "joins": len(roots), "seconds": seconds}

    def _calls(self, articles: int) -> tuple[int, int]:
        """Calls of the functions in a batch, and rows that ask for their values."""
        with Session(InProcess()) as session:
            self._add(session, self.quoted, articles, 2)
            chosen = random.Random(9)
            for number in range(self.functions):
                session.add_function(f"likes{number}", _liking(chosen.uniform(0, 100)), returns="boolean")
            session.register_many({f"q{i}": _joined(f"likes{i}(s.price)") for i in range(self.functions)})
            report = session.run(1)[0]
        calls = sum(test.calls for operator in report.operators for test in operator.tests.values())
        return calls, _asked(report)

    def _add(self, session: Session, stocks: int, articles: int, batches: int) -> None:
        """Streams of quotes, and of as many articles for each: a batch brings every stock once."""
        rng = np.random.default_rng(7)
        quotes = stocks * batches
        symbols = np.arange(quotes)
        session.add_stream(
            "stocks",
            pa.table({"symbol": symbols, "price": 100 - rng.uniform(0, 100, quotes)}),
            history=0,
            batch=stocks,
        )
        about = np.repeat(symbols, articles)
        texts = pa.table({"symbol": about, "article": np.arange(len(about))})
        session.add_stream("articles", texts, history=0, batch=stocks * articles)


def _joined(condition: str) -> str:
    return f"SELECT s.symbol, s.price, a.article FROM stocks s, articles a WHERE {condition} AND s.symbol = a.symbol"


def _liking(limit: float) -> Callable[[float], bool]:
    """A function of a user of her own."""

    def likes(price: float) -> bool:
        return price > limit

    return likes


def _batches(session: Session, number: int) -> float:
    """Seconds of a processor for the typical of some batches, after one that is not measured."""
    session.run(2)
    seconds = []
    for _ in range(number):
        before = processor_seconds_of_all()
        session.run(1)
        seconds.append(processor_seconds_of_all() - before)
    return median(seconds)


def _predicate(chosen: random.Random, field: str) -> str:
    return f"{field} {chosen.choice(('<', '<=', '>', '>='))} {chosen.randrange(100)}"


def _random_queries(number: int) -> dict[str, str]:
    """Queries of CACQ 3.2.8: each field has a predicate half of the time, and one at least."""
    chosen = random.Random(2)
    texts = {}
    for i in range(number):
        fields = [field for field in FIELDS if chosen.random() < 0.5] or ["a"]
        texts[f"q{i}"] = f"SELECT id FROM S0 WHERE {' AND '.join(_predicate(chosen, field) for field in fields)}"
    return texts


def _dear(session: Session, texts: Mapping[str, str], everything: bool = False) -> None:
    """Register conditions as calls of functions, ``a > 90`` as ``a_90(a)``, together or one by one."""
    written = {}
    for name, text in texts.items():
        calls = []
        for part in text.split(" AND "):
            field, limit = part.split(" > ")
            called = f"{field}_{limit}"
            if called not in session.functions:
                session.add_function(called, _liking(float(limit)), returns="boolean")
            calls.append(f"{called}({field})")
        written[name] = f"SELECT id FROM S WHERE {' AND '.join(calls)}"
    session.register_many(written)


def _asked(report: BatchReport) -> int:
    """Rows for which dear tests were made in a batch."""
    return sum(test.asked for operator in report.operators for test in operator.tests.values())


def _passes(rows: pa.Table) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which field of each row is above its limit."""
    return np.column_stack([rows.column(field).to_numpy() > limit for field, limit in ROUTED.items()])


def _filters_random(rows: pa.Table) -> float:
    """Filters that a row passes where each goes to any that it has not seen, until no query of Table 3 is open."""
    rng, counts = np.random.default_rng(4), []
    for passed in _passes(rows):
        failed, seen = len(FIELDS), 0
        for field in rng.permutation(len(FIELDS)):
            if field >= failed:
                continue  # the queries that ask for it have failed
            seen += 1
            if not passed[field]:
                failed = field
        counts.append(seen)
    return mean(counts)


def _filters_optimal(rows: pa.Table) -> float:
    """Filters that a row passes where the most selective one is first."""
    passes = _passes(rows)
    return 1.0 + sum(float(passes[:, :number].all(axis=1).mean()) for number in range(1, len(FIELDS)))
