"""Of a large partition only the rows that a batch touches are read, and the change is what all rows of it would give.

The change is evaluated by DuckDB, so that thousands of batches take seconds; ``oracle/test_analytic`` has Spark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from long import one_in, some

from workbench.arrow.types import to_arrow
from workbench.engine.operators.analytic.first_rows import FirstRows
from workbench.engine.operators.analytic.frame_values import NUMBERS, frame_value
from workbench.engine.operators.analytic.job import OrderStep, reading_of
from workbench.engine.operators.analytic.numbered import evaluated_change
from workbench.engine.operators.analytic.ordered_rows import OrderedRows, prefix_columns
from workbench.engine.operators.analytic.partitions import PartitionLookup
from workbench.engine.operators.analytic.ranges import Around
from workbench.engine.physical.analytic.reach import all_along, in_range, known_along, of_all, reach, running
from workbench.engine.storage.comparable import Direction
from workbench.engine.storage.exact_sums import ExactSums
from workbench.engine.storage.indexes import order_index
from workbench.engine.storage.indexes.order_index import RowOrder
from workbench.engine.storage.indexes.prefix_index import Along
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, write_segments
from workbench.limits import Limits
from workbench.sql.algebra.analytic import AnalyticCall, Frame, FrameEnd, Over, rank
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal

DUCK = duckdb.connect(config={"threads": 1})
SCHEMA = pa.schema(
    [
        ("g", pa.string()),
        ("n", pa.int64()),
        ("x", pa.float64()),
        ("s", pa.string()),
        ("m", pa.decimal128(15, 2)),
        ("w", pa.decimal128(38, 30)),
    ]
)
TYPES = {"g": STRING, "n": INTEGER, "x": DOUBLE, "s": STRING, "m": decimal(15, 2), "w": decimal(38, 30)}
DRAWS: dict[str, Sequence[Any]] = {
    "n": [None, -(2**40), -1, *range(40), 2**40],
    "x": [None, float("nan"), -0.0, 0.0, float("inf"), -2.5, *(i / 4 for i in range(30))],
    "s": [None, "", "a", "a\x00", "b" * 20 + "1", "b" * 20 + "2", "é", *map(str, range(20))],
    "m": [None, Decimal("-0.01"), *(Decimal(i) / 100 for i in range(30))],
    "w": [None, Decimal(1), Decimal("-0.5"), Decimal("1e7"), *(Decimal(i) / 8 for i in range(20))],
}
DIRECTIONS: list[Direction] = [(down, first) for down in (False, True) for first in (False, True)]
TO_HERE = FrameEnd("0")


ENDING = [("sum", decimal(38, 0)), ("count", INTEGER), ("max", INTEGER)]
BY_DUCKDB = ("lag", "lead", "frame", "ranks", "sums", "counts", "running", "with lead", "dense")
"""Lists of functions that DuckDB evaluates over ordered rows, too; so are those that are carried."""


def functions(over: Over) -> dict[str, list[AnalyticCall]]:
    """Lists of functions that are one operator, by what of a partition they need."""

    def call(name: str, column: str | None, type_: DataType, frame: Frame | None, *more: int) -> AnalyticCall:
        arguments = () if column is None else (Column(column, TYPES[column]),)
        return AnalyticCall(name, (*arguments, *(Constant(m, INTEGER) for m in more)), type_, over, frame)

    rows, peers = (Frame(unit, None, TO_HERE) for unit in ("rows", "range"))
    from_here, all_rows = Frame("rows", TO_HERE, None), Frame("rows", None, None)
    lag, lead = call("lag", "n", INTEGER, None, 2), call("lead", "s", STRING, None, 1)
    around = Frame("rows", FrameEnd("-2"), FrameEnd("1"))
    sums = [call("sum", "m", decimal(25, 2), rows), call("sum", "n", decimal(38, 0), peers)]
    counts = [
        call("count", None, INTEGER, peers),
        call("count", "n", INTEGER, rows),
        call("count", "s", INTEGER, peers),
    ]
    ranks = [rank("row_number", over), rank("rank", over)]

    def carried(name: str, column: str, frame: Frame | None, *by: int) -> AnalyticCall:
        return replace(call(name, column, TYPES[column], frame, *by), ignore_nulls=True)

    def share(name: str, compared: float) -> AnalyticCall:
        return AnalyticCall(name, (Constant(compared, DOUBLE),), INTEGER, over)

    onwards = [carried("last_value", "w", rows), carried("lag", "w", None, 1)]
    backwards = [carried("first_value", "w", Frame("range", TO_HERE, None)), carried("lead", "w", None, 1)]
    lists = {
        "lag": [lag],
        "lead": [lead, lag],
        "frame": [call("sum", "n", decimal(38, 0), around), call("max", "x", DOUBLE, around)],
        "ranks": ranks,
        "sums": sums,
        "counts": counts,
        "running": [*sums, *counts, *ranks, lag],
        "with lead": [sums[0], lead],
        "dense": [rank("dense_rank", over), lag],
        "distinct": [replace(call("count", "n", INTEGER, rows), distinct=True)],
        "least": [call("min", "n", INTEGER, rows), call("max", "x", DOUBLE, peers)],
        "greatest": [call("max", "s", STRING, peers), call("min", "m", TYPES["m"], rows), lag],
        "of double": [
            call("sum", "x", DOUBLE, rows),
            call("var_samp", "x", DOUBLE, peers),
            call("sum", "w", decimal(38, 30), rows),
        ],
        "ending before": [call(f, "n", t, Frame("rows", None, FrameEnd("-3"))) for f, t in ENDING],
        "ending behind": [call(f, "n", t, Frame("rows", None, FrameEnd("2"))) for f, t in ENDING],
        "ends": [
            call("last_value", "n", INTEGER, rows),
            call("first_value", "x", DOUBLE, from_here),
        ],
        "ends of peers": [call("last_value", "n", INTEGER, peers)],
        "carried": onwards,
        "carried to peers": [carried("last_value", "s", peers)],
        "carried back": backwards,
        "carried both ways": [*onwards, *backwards],
        "carried beside others": [*onwards, lag],
        "first": [call("first_value", "n", INTEGER, peers), call("nth_value", "x", DOUBLE, rows, 3)],
        "first beside others": [call("first_value", "s", STRING, rows), lead, *sums],
        "first of frames before": [
            call("nth_value", "n", INTEGER, Frame("rows", None, FrameEnd("-2")), 2),
            call("first_value", "n", INTEGER, Frame("groups", None, FrameEnd("-1"))),
        ],
        "first of all": [call("first_value", "x", DOUBLE, None), call("last_value", "n", INTEGER, all_rows)],
        "last": [
            call("last_value", "n", INTEGER, Frame("rows", FrameEnd("-1"), None)),
            call("last_value", "x", DOUBLE, Frame("groups", TO_HERE, None)),
        ],
        "groups": [
            call("sum", "n", decimal(38, 0), Frame("groups", FrameEnd("-2"), TO_HERE)),
            call("max", "x", DOUBLE, Frame("groups", FrameEnd("-1"), FrameEnd("1"), "ties")),
            call("count", None, INTEGER, Frame("groups", FrameEnd("1"), FrameEnd("2"))),
        ],
        "groups beside others": [call("last_value", "n", INTEGER, Frame("groups", FrameEnd("-1"), TO_HERE)), lag, lead],
        "ending groups away": [
            call(f, "n", t, Frame("groups", None, FrameEnd(by))) for f, t in ENDING for by in ["-1", "1"]
        ],
        "tiles": [call("ntile", None, INTEGER, None, 3)],
        "tiles beside others": [
            call("ntile", None, INTEGER, None, 4),
            lag,
            lead,
            call("ntile", None, INTEGER, None, 40),
        ],
        "tiles and sums": [call("ntile", None, INTEGER, None, 2), *sums, call("first_value", "n", INTEGER, rows)],
        "tiles and frames": [
            call("ntile", None, INTEGER, None, 5),
            call("count", None, INTEGER, Frame("groups", FrameEnd("-1"), TO_HERE)),
            call("last_value", "n", INTEGER, all_rows),
        ],
        "shares": [share("percent_rank", 0.7)],
        "shares beside others": [share("cume_dist", 0.5), share("percent_rank", 0.1), lag, *sums[:1]],
        "shares and tiles": [
            share("cume_dist", 1.0),
            share("percent_rank", 0.0),
            call("ntile", None, INTEGER, None, 3),
        ],
        "ends of groups": [
            call("last_value", "n", INTEGER, Frame("groups", None, FrameEnd("-2"))),
            call("first_value", "n", INTEGER, Frame("groups", FrameEnd("1"), None)),
        ],
    }
    if len(over.order) == 1 and over.order[0].expression.type is not STRING:
        lists |= {f"range {name}": calls for name, calls in of_distances(call, lag, lead, sums).items()}
    return lists


def of_distances(
    call: Callable[..., AnalyticCall], lag: AnalyticCall, lead: AnalyticCall, sums: list[AnalyticCall]
) -> dict[str, list[AnalyticCall]]:
    """Lists of functions over frames that end at values of what rows are ordered by."""

    def within(start: str | None, end: str | None, exclude: str = "") -> Frame:
        return Frame("range", *(None if by is None else FrameEnd(by) for by in (start, end)), exclude)

    before = [call(f, "n", t, within(None, "-2")) for f, t in ENDING]
    return {
        "back": [call("sum", "n", decimal(38, 0), within("-2", "0")), call("max", "x", DOUBLE, within("-3", "0"))],
        "both": [call("count", None, INTEGER, within("-1", "2", "group")), call("sum", "x", DOUBLE, within("-1", "1"))],
        "apart": [call("first_value", "s", STRING, within("-3", "-2")), call("count", "x", INTEGER, within("1", "4"))],
        "beside rows": [call("nth_value", "n", INTEGER, within("-1", "1"), 2), lag, lead],
        "beside groups": [
            call("min", "s", STRING, within("-1", "0")),
            call("count", None, INTEGER, Frame("groups", FrameEnd("-1"), FrameEnd("1"))),
        ],
        "until": before,
        "until behind": [call(f, "n", t, within(None, "2")) for f, t in ENDING],
        "running": [*before, *sums, lead, call("first_value", "n", INTEGER, within(None, "-1"))],
        "ends": [
            call("first_value", "n", INTEGER, within("-2", None)),
            call("last_value", "x", DOUBLE, within(None, "1")),
        ],
        "first": [
            call("nth_value", "n", INTEGER, within(None, "1"), 2),
            call("last_value", "n", INTEGER, within("-1", None)),
        ],
    }


@dataclass
class Stored:
    """The rows of a node among others', stored in several runs, some of them taken back."""

    folder: Path
    random: Random
    groups: Sequence[str | None] = ("a", "b", None)
    segments: Run = ()
    there: tuple[tuple[Any, ...], ...] = ()

    def drawn(self, count: int, taken: float) -> pa.Table:
        """Rows that come, and rows of the node that go: once as often as they are there."""
        left, rows = list(self.there), list[tuple[Any, ...]]()
        for _ in range(count):
            if left and self.random.random() < taken:
                rows.append((*left.pop(self.random.randrange(len(left))), -1, 1))
                continue
            again = left and self.random.random() < 0.1
            draws = DRAWS | {"g": self.groups}
            row = self.random.choice(left) if again else tuple(self.random.choice(draws[name]) for name in SCHEMA.names)
            node = self.random.random() < 0.8
            rows.append((*row, 1, 1 if node else 2))
            left += [row] * node
        self.left = tuple(left)
        columns = list(zip(*rows, strict=True))
        fields = [*SCHEMA, pa.field("_weight", pa.int64()), pa.field("_bits0", pa.int64())]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
        return table.append_column("_batch", pa.array([1] * count, pa.int32()))

    def written(self, table: pa.Table) -> Run:
        return write_segments(table.combine_chunks(), self.folder)

    def keep(self, run: Run) -> None:
        self.segments, self.there = (*self.segments, *run), self.left


def step_of(over: Over, calls: Sequence[AnalyticCall], first: FirstRows | None, large: int) -> OrderStep:
    order = RowOrder(
        tuple(str(c.name) for c in over.partition if isinstance(c, Column)),
        tuple(
            (k.expression.name, (k.descending, k.nulls_first)) for k in over.order if isinstance(k.expression, Column)
        ),
        tuple(c.name for c in over.ties if isinstance(c, Column)),
    )
    reading = reading_of(calls) if first is None else first.reading
    types = tuple((name, TYPES[name].spark) for name in SCHEMA.names)
    scan = Scan(SCHEMA, types, tuple(SCHEMA.field(n) for n in order.partition), 0)
    along = all_along(calls) if isinstance(reading, Around) else ()
    lookup = PartitionLookup(scan, order, reading, along, Limits(rows_of_large_partition=large))
    return OrderStep(lookup, None, order, of_all(list(map(reach, calls))), first)


def in_duckdb(call: AnalyticCall, along: Sequence[Along]) -> str:
    """A function over rows with their marks, and with the sums over the rows before, for DuckDB."""
    name, frame = call.function, call.frame
    if name in NUMBERS:
        return NUMBERS[name]
    arguments = [f'"{a.name}"' if isinstance(a, Column) else str(a.value) for a in call.arguments[:2]]  # type: ignore[attr-defined]
    order = "_place" if frame is None or frame.unit == "rows" else "_group"
    of_frame = frame.text if frame else ""
    if call.ignore_nulls and order == "_group":
        # Which one it is of peers depends on their order.
        order, of_frame = "_place", "ROWS " + of_frame.removeprefix("RANGE ")
        of_frame = of_frame.replace("AND CURRENT ROW", "AND (_last - _place) FOLLOWING")
        of_frame = of_frame.replace("BETWEEN CURRENT ROW", "BETWEEN (_place - _rank) PRECEDING")
    over = f"OVER (PARTITION BY _part ORDER BY {order} {of_frame})"
    value = f"{name}({', '.join(arguments)}{' IGNORE NULLS' * call.ignore_nulls}) {over}"
    if name == "count" and not arguments:
        value = f"max(_place) {over}"  # the rows before have numbers, too
    elif along and running(call) and (before := known_along(call)):
        count, total = prefix_columns(before[0], along.index(before[0]))
        counted = f"(coalesce({count}, 0) + count({arguments[0]}) {over})"
        value = counted if name == "count" else f"if({counted} = 0, NULL, {total} + coalesce({value}, 0))"
    return f"cast({value} AS {call.type.stored})"


def change(step: OrderStep, calls: Sequence[AnalyticCall], parent: InputRows) -> Counter[tuple[Any, ...]]:
    """The change of the operator's rows."""
    batches = list(step.change(TaskInput(1, (parent, InputRows()))))
    if not any(batch.num_rows for batch in batches):
        return Counter()
    ordered = pa.Table.from_batches([batch for batch in batches if batch.num_rows])
    if not any(
        calls == some for name, some in functions(calls[0].over).items() if "carried" in name or name in BY_DUCKDB
    ):
        return evaluated(ordered, calls, step.rows.along)
    names = ", ".join(f'"{name}"' for name in SCHEMA.names)
    values = "".join(f", {in_duckdb(c, step.rows.along)} AS v{i}" for i, c in enumerate(calls))
    DUCK.register("ordered", with_numbers(ordered, step.rows.along))
    found = DUCK.execute(f"SELECT {names}{values}, _sign, _keep FROM ordered").fetchall()
    total: Counter[tuple[Any, ...]] = Counter()
    for *row, sign, keep in found:
        total[tuple("NaN" if value != value else value for value in row)] += sign * keep
    by_duckdb = Counter({row: weight for row, weight in total.items() if weight})
    assert by_duckdb == evaluated(ordered, calls, step.rows.along)
    return by_duckdb


def with_numbers(ordered: pa.Table, along: Sequence[Along]) -> pa.Table:
    """Rows with the sums of whole numbers as numbers, which come as the texts of their digits."""
    for at, of in enumerate(along):
        name, scale = prefix_columns(of, at)[-1], 2 if of.columns == ("m",) else 0
        sums = ExactSums.of_texts(ordered.column(name).combine_chunks())
        whole = (int(total) << sums.exponent for total in sums.integers)
        numbers = pa.array([Decimal(total).scaleb(-scale) for total in whole], pa.decimal128(30, scale))
        ordered = ordered.set_column(ordered.schema.get_field_index(name), name, numbers)
    return ordered


def evaluated(ordered: pa.Table, calls: Sequence[AnalyticCall], along: tuple[Along, ...]) -> Counter[tuple[Any, ...]]:
    """The same, as it is evaluated where rows are put in order."""
    values = {f"v{at}": frame_value(call, along) for at, call in enumerate(calls)}
    types = [pa.field(f"v{at}", to_arrow(call.type)) for at, call in enumerate(calls)]
    schema = pa.schema([*SCHEMA, *types, pa.field("_weight", pa.int64())])
    columns = dict.fromkeys(SCHEMA.names) | values
    change_of = evaluated_change(ordered.to_batches(), columns, schema, {}, Limits())
    rows = zip(*(column.to_pylist() for column in change_of.columns), strict=True)
    return Counter({tuple("NaN" if value != value else value for value in row): weight for *row, weight in rows})


def orders(random: Random) -> Over:
    columns = random.sample(["n", "x", "s", "m", "w"], random.choice([0, 1, 1, 2]))
    keys = [SortKey(Column(c, TYPES[c]), *random.choice(DIRECTIONS)) for c in columns]
    ties = [Column(c, TYPES[c]) for c in random.sample(SCHEMA.names, 5)]
    partition = [Column("g", STRING)] if random.random() < 0.5 else []
    return Over(tuple(partition), tuple(keys), tuple(ties))


MANY = [*map(str, range(25)), None]


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "most"), [(Stored.groups, 4), (MANY, 40)])
@pytest.mark.parametrize("seed", one_in(20, range(20)))
def test_the_touched_rows_give_the_change_that_all_rows_give(
    tmp_path: Path, seed: int, groups: Sequence[str | None], most: int
) -> None:
    random = Random(seed)
    over = orders(random)
    stored = Stored(tmp_path, random, groups)
    read = Counter[str]()
    for taken in (0.0, 0.0, 0.3, 0.1, 0.6):
        stored.keep(stored.written(stored.drawn(60, taken)))
    for _ in range(3):
        arriving = stored.written(stored.drawn(random.choice([1, most]), 0.4))
        parent = InputRows(arriving, stored.segments)
        for name, calls in functions(over).items():
            ranged, whole = (step_of(over, calls, None, large) for large in (5, 10**9))
            assert change(ranged, calls, parent) == change(whole, calls, parent), (name, over.text)
            changed = [
                batch for part in arriving for batch in ranged.rows.scan.select(order_index.open_segment(part.path))
            ]
            for how, step in (("range", ranged), ("whole", whole)):
                read[f"{how} {name}"] += sum(batch.num_rows for batch in step.rows.of(changed, stored.segments).rows)
        stored.keep(arriving)
    assert all(read[f"range {name}"] <= read[f"whole {name}"] for name in functions(over))
    assert read["range dense"] == read["whole dense"] and read["range distinct"] == read["whole distinct"]


@pytest.mark.parametrize("seed", some(range(8), 3))
def test_first_rows_that_come_after_those_that_left(tmp_path: Path, seed: int) -> None:
    """Where no kept row is left, those that follow are looked up, and no more."""
    random = Random(seed)
    over = orders(random)
    stored = Stored(tmp_path, random)
    for taken in (0.0, 0.3, 0.1):
        stored.keep(stored.written(stored.drawn(80, taken)))
    arriving = stored.written(stored.drawn(6, 0.6))
    changed = [b for part in arriving for b in Scan(SCHEMA, (), (), 0).select(order_index.open_segment(part.path))]
    for name in ("row_number", "rank"):
        first = FirstRows(name, 4)
        ranged, whole = (step_of(over, [rank(name, over)], first, large) for large in (5, 10**9))
        few, all_ = (step.rows.of(changed, stored.segments).rows for step in (ranged, whole))
        assert kept(first, few, changed, ranged.order) == kept(first, all_, changed, ranged.order)
        assert sum(b.num_rows for b in few) <= sum(b.num_rows for b in all_)


def kept(
    first: FirstRows, before: Sequence[pa.RecordBatch], changed: Sequence[pa.RecordBatch], order: RowOrder
) -> list[str]:
    """The first rows after a batch, with their numbers."""
    side = OrderedRows.of(before, changed, order).side(1)
    these = first.kept(side)
    return sorted(map(repr, side.batch(these, these).drop_columns(["_part", "_rows", "_last"]).to_pylist()))


BIG = 5_000


def appended(folder: Path, orders_: Sequence[tuple[int, int]], groups: Sequence[str] = ("a",)) -> Run:
    """Rows of one node, by their order and weight, the same in each group."""
    in_groups, orders_ = [g for g in groups for _ in orders_], [*orders_] * len(groups)
    table = pa.table(
        {
            "g": pa.array(in_groups),
            "n": pa.array([n for n, _ in orders_], pa.int64()),
            "x": pa.array([0.5] * len(orders_)),
            "s": pa.array(["a long text that all rows have"] * len(orders_)),
            "w": pa.nulls(len(orders_), pa.decimal128(38, 30)),
            "m": pa.array([Decimal(1)] * len(orders_), pa.decimal128(15, 2)),
            "_weight": pa.array([w for _, w in orders_], pa.int64()),
            "_bits0": pa.array([1] * len(orders_), pa.int64()),
            "_batch": pa.array([1] * len(orders_), pa.int32()),
        }
    )
    return write_segments(table, folder)


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize(
    ("name", "change_of", "most"),
    [
        ("lag", [(BIG, 1)], 2),
        ("lead", [(BIG, 1)], 3),
        ("running", [(BIG, 1)], 3),
        ("sums", [(BIG, 1)], 1),
        ("ranks", [(BIG, 1)], 1),
        ("lag", [(BIG // 2, -1)], 8),
        ("frame", [(10, -1), (4_000, 1)], 16),
        ("running", [(BIG - 10, -1)], 14),
        ("dense", [(BIG, 1)], BIG),
        ("of double", [(BIG, 1)], 1),
        ("least", [(BIG, 1)], 1),
        ("greatest", [(BIG, 1)], 3),
        ("ending before", [(BIG, 1)], 3),
        ("ending behind", [(BIG, 1)], 3),
        ("ends", [(BIG, 1)], 1),
        ("ends of peers", [(BIG, 1)], 1),
        ("first", [(BIG, 1)], 4),
        ("first", [(BIG // 2, -1)], 5),
        ("first beside others", [(BIG, 1)], 4),
        ("groups", [(BIG, 1)], 6),
        ("groups beside others", [(BIG // 2, 1)], 32),
        ("ending groups away", [(BIG, 1)], 6),
        ("range back", [(BIG, 1)], 4),
        ("range apart", [(BIG // 2, 1)], 16),
        ("range beside rows", [(BIG // 2, 1)], 24),
        ("range running", [(BIG, 1)], 12),
        ("range first", [(BIG, 1)], BIG),
        ("tiles", [(BIG, 1)], 8),
        ("shares", [(BIG, 1)], 24),
    ],
)
def test_an_appended_row_reads_its_neighbours(
    tmp_path: Path, name: str, change_of: list[tuple[int, int]], most: int, partitioned: bool
) -> None:
    over = Over((Column("g", STRING),) if partitioned else (), (SortKey(Column("n", INTEGER)),), (Column("s", STRING),))
    stored = tuple(segment for at in range(5) for segment in appended(tmp_path, [(n, 1) for n in range(at, BIG, 5)]))
    calls = functions(over)[name]
    arriving = appended(tmp_path, change_of)
    step = step_of(over, calls, None, 512)
    changed = [batch for part in arriving for batch in step.rows.scan.select(order_index.open_segment(part.path))]
    assert sum(batch.num_rows for batch in step.rows.of(changed, stored).rows) <= most
    whole = replace(step, rows=replace(step.rows, limits=Limits(rows_of_large_partition=10**9)))
    parent = InputRows(arriving, stored)
    assert change(step, calls, parent) == change(whole, calls, parent)
    top = FirstRows("row_number", 10)
    of_first = step_of(over, calls, top, 4_096).rows.of(changed, stored)
    assert sum(batch.num_rows for batch in of_first.rows) <= 11


@pytest.mark.parametrize(
    ("name", "n", "weight", "most"),
    [("lag", 50, 1, 2), ("lead", 50, 1, 3), ("sums", 50, 1, 0), ("ranks", 50, 1, 0), ("lag", 25, -1, 8)],
)
def test_rows_of_many_small_partitions_read_their_neighbours(
    tmp_path: Path, name: str, n: int, weight: int, most: int
) -> None:
    """Also next to rows that were taken back, which have entries of the index and are none."""
    groups = [str(g) for g in range(100)]
    over = Over((Column("g", STRING),), (SortKey(Column("n", INTEGER)),), (Column("s", STRING),))
    taken_back = appended(tmp_path, [(49, 1), (49, -1)], groups[::2])
    parts = [appended(tmp_path, [(i, 1) for i in range(at, 49, 3)], groups) for at in range(3)]
    stored = (*(segment for part in parts for segment in part), *taken_back)
    calls = functions(over)[name]
    arriving = appended(tmp_path, [(n, weight)], groups)
    step = step_of(over, calls, None, Limits().rows_of_large_partition)
    changed = [batch for part in arriving for batch in step.rows.scan.select(order_index.open_segment(part.path))]
    read = sum(batch.num_rows for batch in step.rows.of(changed, stored).rows)
    assert read <= (most + 4) * len(groups[::2]) + most * len(groups[1::2])
    whole = replace(step, rows=replace(step.rows, limits=Limits(rows_of_large_partition=10**9)))
    parent = InputRows(arriving, stored)
    assert change(step, calls, parent) == change(whole, calls, parent)


@pytest.mark.parametrize("here", [FrameEnd("0"), FrameEnd("0", "DAY")])
@pytest.mark.parametrize(
    ("type_", "away"),
    [
        (INTEGER, FrameEnd("-2")),
        (DOUBLE, FrameEnd("-2.5")),
        (decimal(15, 2), FrameEnd("-0.5")),
        (DATE, FrameEnd("-7", "DAY")),
        (DATE, FrameEnd("-1", "MONTH")),
        (TIMESTAMP, FrameEnd("-7", "DAY")),
        (TIMESTAMP, FrameEnd("-60", "SECOND")),
    ],
    ids=str,
)
def test_a_frame_up_to_its_row_reaches_as_far_as_its_other_end(type_: DataType, away: FrameEnd, here: FrameEnd) -> None:
    """The row itself is at no distance, in whatever unit this is said."""
    over = Over((), (SortKey(Column("t", type_)),))
    for start, end in ((away, here), (here, FrameEnd(away.by[1:], away.unit))):
        assert in_range([AnalyticCall("sum", (Column("x", DOUBLE),), DOUBLE, over, Frame("range", start, end))])
