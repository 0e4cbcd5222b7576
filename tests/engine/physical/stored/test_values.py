"""What is computed from stored values has Spark's bits: casts, ratios, averages, CASE, products, starts of windows."""

from __future__ import annotations

import itertools
import struct
from datetime import date, datetime
from decimal import Context, Decimal
from functools import reduce
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from without_kernel import evaluated_by_spark

from workbench.engine.physical.row_inputs import over_rows
from workbench.engine.physical.stored.values import computed_value
from workbench.engine.spark.local_session import engine_session
from workbench.engine.storage.layout import Layout
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, array_of, decimal
from workbench.sql.functions.calls import call, cast

pytestmark = pytest.mark.usefixtures("spark_soundex")

MONEY, NARROW, WIDE, WHOLE = decimal(15, 2), decimal(17, 4), decimal(38, 2), decimal(38, 0)
K, J, F, G = Column("k", INTEGER), Column("j", INTEGER), Column("f", DOUBLE), Column("g", DOUBLE)
M, N, W, H = Column("m", MONEY), Column("n", NARROW), Column("w", WIDE), Column("h", WHOLE)
S, D, T, B = Column("s", STRING), Column("d", DATE), Column("t", TIMESTAMP), Column("b", BOOLEAN)
W2 = Column("w2", WIDE)
TENTHS = Constant(Decimal("1.5"), decimal(2, 1))
COLUMNS = (K, J, F, G, M, N, W, H, S, D, T, B)


def digits(scale: int, *numbers: int) -> list[Decimal]:
    """Decimals of these digits, ``scale`` behind the point."""
    return [Decimal(f"{number}e-{scale}") for number in numbers]


VALUES: dict[str, list[Any]] = {
    "k": [0, 1, -1, 3, 2**53 + 1, -(2**53) - 3, 2**63 - 1, -(2**63)],
    "j": [0, 1, 7, 3, 10**12 + 1, 2, 9, 11],
    "f": [0.0, -0.0, 1.0, 0.1, float("nan"), float("inf"), -1e308, 5e-324],
    "g": [0.0, -0.0, 3.0, 0.7, 1.0, float("-inf"), 1e-308, 2.0],
    "m": digits(2, 0, 1, -1, 150, -150, 10**15 - 1, 1 - 10**15, 5),
    "n": digits(4, 0, 1, -1, 2**53 + 1, 10**17 - 1, 1 - 10**17, 90071992547409931, 3),
    "w": digits(2, 0, 7, -7, 2**53 + 1, 10**38 - 1, 1 - 10**38, 10**20 + 1, 3),
    "h": [Decimal(n) for n in (0, 7, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**38 - 1, 2**53 + 1)],
    "s": ["", "a", "b", "é", "B", "ab", "b\x00", "😀"],
    "d": [date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31), date(2026, 2, 28)] * 2,
    "t": [datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2026, 3, 29, 2, 30, 1)] * 3,
    "b": [True, False] * 4,
}


def integer(number: int) -> Constant:
    return Constant(number, INTEGER)


def case(*arguments: Expression) -> Call:
    return Call("case", arguments, arguments[1].type)


def holds(function: str, *arguments: Expression) -> Call:
    return Call(function, arguments, BOOLEAN)


def as_(type_: DataType, number: Expression) -> Call:
    return Call("cast", (number,), type_)


NULL = Constant(None, INTEGER)
SQUARE = Call("*", (as_(decimal(19, 0), K), as_(decimal(19, 0), J)), WHOLE)
CONDITIONS = [
    *(holds(operator, K, integer(1)) for operator in ("=", "<>", "<", "<=", ">", ">=")),
    *(holds(operator, M, TENTHS) for operator in ("=", "<", ">=")),
    holds("<", W, W2),
    *(holds(operator, *sides) for operator in ("=", "<") for sides in ((M, N), (K, M), (W, N), (H, M), (J, W))),
    holds("<", Call("*", (W, Constant(Decimal("0.0001"), decimal(4, 4))), decimal(38, 6)), W2),
    holds("<", Call("*", (W, Constant(Decimal("-1.5"), decimal(2, 1))), decimal(38, 3)), W2),
    *(holds(operator, M, Constant(Decimal("0.001"), decimal(4, 3))) for operator in ("=", ">")),
    holds("=", W, Constant(Decimal("0.0049"), decimal(5, 4))),
    *(holds("<", column, Constant(10**18, INTEGER)) for column in (W, N)),
    *(holds(operator, S, Constant("b", STRING)) for operator in ("=", "<", ">=")),
    holds(">", D, Constant(date(1970, 1, 1), DATE)),
    holds("<", T, Constant(datetime(1970, 1, 1), TIMESTAMP)),
    holds("is_null", K),
    holds("is_null", holds("<", K, J)),
    holds("is_null", F),
    holds("not", holds(">", K, J)),
    holds("and", holds(">", K, J), holds("is_null", S)),
    holds("or", holds(">", K, J), holds("is_null", S), holds("=", S, Constant("a", STRING))),
    holds("not", holds("and", holds(">", K, integer(0)), B)),
    holds("in", S, Constant("a", STRING), Constant("é", STRING)),
    holds("not", holds("in", K, integer(1), NULL)),
    holds("like", S, Constant("%b", STRING)),
    B,
    holds("not", B),
    Constant(True, BOOLEAN),
]
NUMBERS = [
    *(as_(DOUBLE, column) for column in (K, M, N, W, H)),
    as_(INTEGER, H),
    Call("/", (as_(DOUBLE, W), as_(DOUBLE, K)), DOUBLE),
    Call("/", (F, G), DOUBLE),
    Call("average", (W, K), DOUBLE),
    Call("average", (H, K), DOUBLE),
    Call("average", (W, J), decimal(19, 6)),
    Call("average", (W, J), decimal(38, 6)),
    *(Call("average", (M, J), decimal(precision, 6)) for precision in (7, 19)),
    SQUARE,
    Call("*", (W, Constant(100, decimal(3, 0))), WIDE),
    Call("*", (W, M), decimal(38, 4)),
    Call("-", (Call("*", (W, M), decimal(38, 4)), N), decimal(38, 4)),
    Call("*", (Call("+", (W, M), decimal(38, 2)), J), decimal(38, 2)),
    *(as_(decimal(*to), number) for to in ((38, 4), (17, 1), (5, 2), (38, 38), (3, 0)) for number in (M, N, W, H, K)),
    Call("-", (W, W2), WIDE),
    Call("*", (Call("*", (M, M), decimal(31, 4)), M), decimal(38, 6)),
    as_(DOUBLE, Call("*", (W, Constant(Decimal("100.00"), decimal(5, 2))), decimal(38, 4))),
    *(Call(operator, (F, G), DOUBLE) for operator in "+-*"),
    reduce(lambda total, term: Call("+", (total, term), DOUBLE), [F] * 101),
    as_(DOUBLE, Call("-", (M, M), decimal(16, 2))),
    Call("window_start", (T, integer(86_400)), TIMESTAMP),
    Call("window_start", (T, integer(7)), TIMESTAMP),
]
AVERAGES = [Call("average", (W, J), decimal(precision, 6)) for precision in (7, 19, 38)]
DEVIATIONS = [
    Call(name, (Column("n0", INTEGER), total, squares), DOUBLE)
    for name in ("variance_samp", "variance_pop", "stddev_samp", "stddev_pop")
    for total, squares in (
        (Column("s0", WHOLE), Column("q0", WHOLE)),
        (Column("s2", WIDE), Column("q4", decimal(38, 4))),
    )
]
CASES = [
    *CONDITIONS[:-3],
    *(case(condition, integer(1), NULL) for condition in CONDITIONS),
    case(holds("<", K, integer(0)), M, holds("<", J, integer(5)), Constant(Decimal("0.00"), MONEY), M),
    case(holds("<", K, integer(0)), F, Call("/", (F, G), DOUBLE)),
    *(
        case(holds(sign, F, other), K, NULL)
        for sign in ("=", "<", ">=")
        for other in (G, integer(1), Constant(Decimal("0.1"), decimal(2, 1)))
    ),
    case(B, S, Constant("else", STRING)),
    *(call("coalesce", *both) for both in ((K, J), (F, G), (D, D), (M, M), (B, B), (K, integer(7)), (F, F, G))),
    call("coalesce", S, Constant("none", STRING)),
    *(call("nullif", S, other) for other in (S, Constant("a", STRING), Constant(None, STRING))),
    *(call(of, *both) for of in ("nullif", "<=>") for both in ((M, integer(0)), (M, TENTHS), (K, M), (M, N), (M, K))),
    case(holds("is_null", S), D, Constant(None, DATE)),
    case(holds("=", K, K), case(B, integer(2), J), Call("month", (D,), INTEGER)),
]


def rows() -> pa.RecordBatch:
    """Values with each other, each missing once in a while."""
    columns: dict[str, list[Any]] = {"w2": [None, *reversed(VALUES["w"])] * 8}
    for at, column in enumerate(COLUMNS):
        values = [None, *VALUES[column.name][:8]]
        columns[column.name] = [values[(row + at * (row // 9)) % 9] for row in range(72)]
    types = {column.name: column.type for column in (*COLUMNS, W2)}
    schema = Layout(types).arrow
    return pa.RecordBatch.from_pydict(columns, pa.schema([schema.field(name) for name in columns]))


def bits(value: object) -> object:
    """A value that is equal to another one only where its bits are: NaN to itself, and 0.0 not to -0.0."""
    if not isinstance(value, float):
        return value
    return "NaN" if value != value else struct.pack("d", value)


def deviating() -> pa.RecordBatch:
    """Counts, sums and sums of squares: of numbers near each other, far apart, and with nearly no room for them."""
    random = Random(3)
    lists = [[5], [5, 5, 5], [1, 2, 4], [10**17 + i for i in (0, 1, 5)], [10**18 - 1, -(10**18)], [-3, 3]]
    lists += [
        [random.randrange(-(10**d), 10**d) + shift for _ in range(40)] for d in (2, 9, 17) for shift in (0, 10**17)
    ]
    counted = [(len(numbers), sum(numbers), sum(n * n for n in numbers)) for numbers in lists]
    counted += [(0, 0, 0), (1, 0, 0), (10**11, 10**12, 10**13), (3, 10**37, 10**37), (2, 10**33, 10**38 - 1)]
    counted += [(2, 1 - 10**38, 10**38 - 1), (7, 10**19, 10**37), (10**12 + 1, 10**30 + 7, 10**38 - 3)]
    n, s, q = (list(column) for column in zip(*counted, strict=True))
    columns = {
        "n0": [*n, None, 3],
        "s0": [*map(Decimal, s), None, Decimal(1)],
        "q0": [*map(Decimal, q), Decimal(1), None],
    }
    columns |= {"s2": [*digits(2, *s), None, Decimal(1)], "q4": [*digits(4, *q), Decimal(1), None]}
    types = {"n0": INTEGER, "s0": WHOLE, "q0": WHOLE, "s2": WIDE, "q4": decimal(38, 4)}
    return pa.RecordBatch.from_pydict(columns, pa.schema([Layout(types).arrow.field(name) for name in columns]))


def averaged() -> pa.RecordBatch:
    """Sums of a few digits, with ties at the last digit of their averages."""
    numbers = [0, 1, -1, 5, -5, 25, -25, 10**9 + 1, -(10**9) - 1, None]
    counts = [0, 1, 2, 3, 7, 16, 160_000, None]
    pairs = list(itertools.product(numbers, counts))
    totals = [None if number is None else Decimal(f"{number}e-2") for number, _ in pairs]
    schema = Layout({"w": WIDE, "j": INTEGER}).arrow
    columns = {"w": totals, "j": [count for _, count in pairs]}
    return pa.RecordBatch.from_pydict(columns, pa.schema([schema.field(name) for name in columns]))


DIVIDED = {
    "a": decimal(7, 2), "b": decimal(17, 2), "c": decimal(38, 2), "d": decimal(38, 10), "e": decimal(31, 0),
    "f": decimal(5, 5), "g": INTEGER, "h": decimal(38, 37),
}  # fmt: skip
QUOTIENTS = [
    call("/", Column(above, DIVIDED[above]), Column(below, DIVIDED[below])) for above in DIVIDED for below in DIVIDED
]


def divided() -> pa.RecordBatch:
    """Numbers of all sizes that decimals of some digits have, small ones, ties, zero and NULL."""
    chosen = Random(5)
    columns = dict[str, list[object]]()
    for name, type_ in DIVIDED.items():
        most = 2**63 if type_ == INTEGER else 10**type_.precision
        sizes = (10 ** chosen.randrange(len(str(most))) for _ in range(300))
        whole = [chosen.choice((0, 1, -1, 2, 5, 7, 50_000, most - 1, 1 - most)) for _ in range(100)]
        whole += [chosen.randrange(1 - size, size) for size in sizes]
        chosen.shuffle(whole)
        values = whole if type_ == INTEGER else [Decimal(n).scaleb(-type_.scale, Context(prec=60)) for n in whole]
        columns[name] = [None if chosen.random() < 0.05 else value for value in values]
    schema = Layout(DIVIDED).arrow
    return pa.RecordBatch.from_pydict(columns, pa.schema([schema.field(name) for name in DIVIDED]))


@pytest.mark.parametrize(
    "batch, expressions",
    [
        (rows(), [*NUMBERS, *CASES]),
        (averaged(), AVERAGES),
        (deviating(), DEVIATIONS),
        (divided(), QUOTIENTS),
    ],
    ids=["rows", "averages", "deviations", "quotients"],
)
def test_values_are_those_of_spark(spark: SparkSession, batch: pa.RecordBatch, expressions: list[Expression]) -> None:
    frame = engine_session(spark).createDataFrame(pa.Table.from_batches([batch]))
    table = frame.coalesce(1).selectExpr(*(f"{over_rows(e)} AS c{at}" for at, e in enumerate(expressions))).toArrow()
    for at, expression in enumerate(expressions):
        value = computed_value(expression)
        assert value is not None, expression
        found, expected = value.values(batch), table.column(at)
        assert found.type == Layout({"c": expression.type}).arrow.field("c").type, expression
        assert [*map(bits, found.to_pylist())] == [*map(bits, expected.to_pylist())], str(expression)
        assert expression in CASES or found.null_count < len(found)


@pytest.mark.parametrize(("above", "below"), list(itertools.permutations(DIVIDED, 2)))
def test_a_quotient_of_zeros_alone(above: str, below: str) -> None:
    """The numbers fit 64 bits, and what they are multiplied by may not."""
    value = computed_value(call("/", Column(above, DIVIDED[above]), Column(below, DIVIDED[below])))
    columns = {above: [0], below: [Decimal(7).scaleb(-DIVIDED[below].scale) if below != "g" else 7]}
    schema = pa.schema([Layout(DIVIDED).arrow.field(name) for name in columns])
    assert value is not None and value.values(pa.RecordBatch.from_pydict(columns, schema)).to_pylist() == [0]


@pytest.mark.parametrize("digits", [1, 5, 18, 38])
def test_decimals_of_a_fraction_alone_have_no_whole_part(digits: int) -> None:
    type_ = decimal(digits, digits)
    value = computed_value(cast(Column("x", type_), INTEGER))
    nines = "0." + "9" * digits
    numbers = pa.array([nines, f"-{nines}", None]).cast(Layout({"x": type_}).arrow.field("x").type)
    assert value is not None and value.values(pa.record_batch({"x": numbers})).to_pylist() == [0, 0, None]


@pytest.mark.parametrize(
    "expression",
    [
        case(holds("=", K, J), Call("half@1", (K,), INTEGER), NULL),
        case(holds("=", evaluated_by_spark(S), S), integer(1), NULL),
        case(holds("like", S, Constant("a\\%", STRING)), integer(1), NULL),
        holds("in", K, *map(integer, range(51))),
        case(B, Call("array_union", (Column("a", array_of(DOUBLE)),) * 2, array_of(DOUBLE)), NULL),
        reduce(lambda total, term: Call("+", (total, term), DOUBLE), [F] * 102),
        Call("window_start", (T, J), TIMESTAMP),
        Call("*", (N, N), decimal(35, 6)),
    ],
    ids=lambda expression: str(expression)[:60],
)
def test_what_is_not_computed_so_is_left_to_spark(expression: Expression) -> None:
    assert computed_value(expression) is None


def test_pairs_of_rows_are_many() -> None:
    assert len({*zip(*(rows().column(name).to_pylist() for name in ("k", "j")), strict=True)}) > 50
    assert any(all(pair) for pair in itertools.pairwise(rows().column("k").is_valid().to_pylist()))
