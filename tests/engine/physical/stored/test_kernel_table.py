"""Each kernel has the values, the NULLs and the bits of Spark, for every type that it accepts."""

from __future__ import annotations

import datetime as dt
import itertools
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from engine.physical.stored.kernel_calls import accepted_calls
from engine.physical.stored.kernel_values import (
    CAST_TO,
    COLUMNS,
    DAYS,
    EDGES,
    MOMENTS,
    MONEY,
    NUMBERS,
    PARTS,
    TEXTS,
)
from long import LONG
from pyspark.sql import SparkSession

from workbench.arrow.stored_values import to_texts
from workbench.arrow.types import to_arrow, to_shown
from workbench.engine.physical.row_inputs import over_rows
from workbench.engine.physical.stored.kernels.lambdas import LAMBDA_KERNELS
from workbench.engine.physical.stored.kernels.table import KERNELS, kernel_of
from workbench.engine.physical.stored.values import computed_value
from workbench.engine.spark.local_session import engine_session
from workbench.engine.storage.layout import Layout
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, columns
from workbench.sql.algebra.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    DataType,
    Kind,
    array_of,
    decimal,
    integer,
)
from workbench.sql.functions.arrays.arrays import variable
from workbench.sql.functions.calls import call, cast


def rows() -> pa.RecordBatch:
    """All pairs of values of each type, some by chance, each missing once in a while."""
    random = Random(7)
    arrays: dict[str, list[Any]] = {}
    count = max((len(values) + 1) ** 2 for values in EDGES.values())
    for type_, values in EDGES.items():
        pairs = list(itertools.product([None, *values], repeat=2))
        pairs += [(random.choice(values), random.choice(values)) for _ in range(count - len(pairs))]
        for column, drawn in zip(COLUMNS[type_], zip(*pairs, strict=True), strict=True):
            arrays[column.name] = list(drawn)
    schema = Layout({column.name: column.type for pair in COLUMNS.values() for column in pair}).arrow
    return pa.RecordBatch.from_pydict(arrays, pa.schema([schema.field(name) for name in arrays]))


def plain(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Values of Python, which has no times beyond the year 9999: microseconds."""
    whole = {pa.timestamp("us"): pa.int64(), pa.date32(): pa.int32()}.get(values.type)
    return (values if whole is None else values.cast(whole)).to_pylist()


def bits(value: object) -> object:
    if not isinstance(value, float):
        return value
    return "NaN" if value != value else struct.pack("d", value)


def identical(found: pa.Array, expected: pa.ChunkedArray) -> bool:
    """Whether all bits are the same, by Arrow alone; values of Python take a hundred times as long to be compared."""
    other = expected.combine_chunks()
    if found.type == pa.float64() == other.type:
        found, other = found.view(pa.int64()), other.view(pa.int64())
    return bool("double" not in str(found.type) and found.type == other.type and found.equals(other))


MOST_OF_A_KERNEL = 6
"""Calls of a kernel that each run compares; of one with more than twice as many, half by the run's seed."""
AT_ONCE = 200
"""Columns of one plan of Spark, which takes longer for each the more there are."""


def compared(spark: SparkSession, batch: pa.RecordBatch, asked: list[Call]) -> list[str]:
    """What differs from Spark."""
    known = [*itertools.chain(*COLUMNS.values()), *(column for c in asked for column in columns(c))]
    ddl = Layout({column.name: column.type for column in known}).ddl(batch.schema.names)
    frame = engine_session(spark).createDataFrame(pa.Table.from_batches([batch]), ddl).coalesce(1)
    wrong, spark_values = [], list[pa.ChunkedArray]()
    for some in (asked[at : at + AT_ONCE] for at in range(0, len(asked), AT_ONCE)):
        spark_values += frame.selectExpr(*(f"{over_rows(c)} AS c{at}" for at, c in enumerate(some))).toArrow().columns
    for c, expected in zip(asked, spark_values, strict=True):
        value = computed_value(c)
        assert value is not None
        found = value.values(batch)
        assert found.type == Layout({"c": c.type}).arrow.field("c").type, c
        if identical(found, expected):
            continue
        for row, (one, other) in enumerate(zip(plain(found), plain(expected), strict=True)):
            if bits(one) != bits(other):
                read = [
                    batch.column(a.name)[row].as_py() if isinstance(a, Column) else getattr(a, "value", a)
                    for a in c.arguments
                ]
                wrong.append(f"{c.function}({', '.join(map(repr, read))}) is {one!r}, of Spark {other!r}")
    return wrong


def test_every_kernel_is_asked() -> None:
    assert {c.function for c in accepted_calls()} == set(KERNELS)


def test_no_rows_have_no_values_and_a_row_of_nulls_has_those_that_it_has_beside_others() -> None:
    """Batches may be empty, and a column may have NULLs alone."""
    batch = rows()
    nulls = pa.RecordBatch.from_arrays([pa.nulls(3, column.type) for column in batch.columns], batch.schema.names)
    both, failed = pa.Table.from_batches([nulls, batch]).combine_chunks().to_batches()[0], list[str]()
    for c in accepted_calls():
        value = computed_value(c)
        assert value is not None
        try:
            none, of_nulls = value.values(batch.slice(0, 0)), value.values(nulls)
            if len(none) or none.type != of_nulls.type or not of_nulls.equals(value.values(both).slice(0, 3)):
                failed.append(f"{c}: {none.type}, {of_nulls.to_pylist()}")
        except Exception as error:
            failed.append(f"{c}: {error!r}")
    assert not failed, "\n".join([f"{len(failed)} fail", *failed[:20]])


def test_seconds_of_instants_are_asked() -> None:
    """The time between two instants is counted by them; each batch of it was a job of Spark."""
    of_instants = {c.function for c in accepted_calls() if any(argument.type.zoned for argument in c.arguments)}
    assert of_instants >= {"unix_seconds", "unix_millis", "unix_micros", "seconds_between"}


def asked_of_spark() -> list[Call]:
    """All calls, or of kernels with many types and constants as many as each run tries by chance."""
    by_kernel: dict[str, list[Call]] = {}
    for c in accepted_calls():
        by_kernel.setdefault(c.function, []).append(c)
    random = Random(os.environ["ARGUS_SEED"])
    most = [max(MOST_OF_A_KERNEL, len(own) // 2) for own in by_kernel.values()]
    return [
        c
        for own, count in zip(by_kernel.values(), most, strict=True)
        for c in (own if LONG or len(own) <= count else random.sample(own, count))
    ]


def test_values_are_those_of_spark(spark: SparkSession) -> None:
    wrong = compared(spark, rows(), asked_of_spark())
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


def written_values(random: Random) -> list[str]:
    """Texts of numbers, days and truth values, well written and not, with signs around them."""
    numbers = [
        *(
            "0",
            "-0",
            "+7",
            "007",
            "1.",
            ".5",
            "-.5",
            ".",
            "+",
            "-",
            "",
            " ",
            "1e3",
            "1E-3",
            "1e400",
            "1e-400",
            "-1e400",
        ),
        *(
            "1.5d",
            "2F",
            "1e3f",
            "0x1p3",
            "0x1.8P-1",
            "0x1p9999",
            "NaN",
            "nan",
            "-NaN",
            "+NaN",
            "-nan",
            "Infinity",
            "inf",
        ),
        *("-Inf", "+infinity", "infin", "1_000", "1,000", "1 2", "--1", "0.5e", "127", "128", "-128", "-129", "32768"),
        *("2147483647", "2147483648", "-2147483648", "9223372036854775807", "9223372036854775808", "٥", "1٥", "５"),
        *(
            "9" * 38,
            "9" * 39,
            "-" + "0" * 5_000 + "7",
            "0." + "1" * 40,
            "1e37",
            "1e38",
            "1e39",
            "0e99999",
            "1e-99999",
            "4.9e-324",
            "2.5e-324",
        ),
        *("0.005", "0.015", "0.025", "-0.005", "999.995", "999.994999", "1e2147483648", "0.1234567890123456789012345"),
    ]
    days = [
        *(
            "2024-02-29",
            "2023-02-29",
            "2024-2-9",
            "2024-13-01",
            "2024-00-01",
            "2024-01-32",
            "2024",
            "2024-5",
            "202",
            "20240229",
        ),
        *(
            "0001-01-01",
            "0000-01-01",
            "-0001-03-01",
            "+2024-01-01",
            "12345-01-01",
            "9999999-12-31",
            "2024-01-01T",
            "2024-01-01 x",
        ),
        *(
            "2024-01 x",
            "2024T",
            "2024-01-01Z",
            "1582-10-10",
            "1900-02-29",
            "2000-02-29",
            "2024--01",
            "2024-01-",
            "99999999-01-01",
        ),
    ]
    truths = ["t", "TRUE", "Yes", "y", "1", "f", "False", "NO", "n", "0", "on", "2", "tr", "truE"]
    signs = ["", " ", "\t", "\n\r", "\x00", "\x1f", "\x7f", "\u00a0", "\u2003", "\u0085"]
    around = [f"{random.choice(signs)}{one}{random.choice(signs)}" for one in [*numbers, *days, *truths] * 3]
    plain = [f"{random.choice(['', '-'])}{random.randrange(10 ** random.randrange(1, 20))}" for _ in range(300)]
    fractions = [f"{one[: random.randrange(1, len(one) + 1)]}.{one[::-1]}".replace("-", "") for one in plain]
    return [*numbers, *days, *truths, *around, *plain, *fractions]


def test_casts_of_texts_and_numbers_are_those_of_spark(spark: SparkSession) -> None:
    random = Random(11)
    texts = written_values(random)
    count = len(texts)
    doubles = [random.choice([1.0, -1.0]) * random.random() * 10 ** random.randrange(-8, 25) for _ in range(count // 3)]
    doubles += [round(random.uniform(-1_000, 1_000), random.randrange(5)) for _ in range(count // 3)]
    doubles += [random.randrange(-99_999, 99_999) / 1_000 + random.choice([0.0, 5e-4]) for _ in range(count)]
    values: dict[DataType, list[Any]] = {
        STRING: texts,
        DOUBLE: doubles[:count],
        decimal(38, 10): [Decimal(random.randrange(-(10**random.randrange(1, 37)), 10**36)).scaleb(-10) for _ in texts],
        decimal(18, 6): [Decimal(random.randrange(-(10**random.randrange(1, 18)), 10**12)).scaleb(-6) for _ in texts],
        decimal(12, 8): [Decimal(random.randrange(-99, 99)).scaleb(-8) for _ in texts],
        integer(32): [random.randrange(-(2**31), 2**31) >> random.randrange(32) for _ in texts],
        TIMESTAMP: [
            dt.datetime(1, 1, 1) + dt.timedelta(random.randrange(3_000_000), 5, random.choice([0, 10**5, 10, 123_456]))
            for _ in texts
        ],
    }  # fmt: skip
    named = {type_: Column(f"v{at}", type_) for at, type_ in enumerate(values)}
    schema = Layout({column.name: column.type for column in named.values()}).arrow
    batch = pa.RecordBatch.from_pydict(
        {column.name: values[type_] for type_, column in named.items()},
        pa.schema([schema.field(column.name) for column in named.values()]),
    )
    to = [BOOLEAN, INTEGER, DOUBLE, STRING, DATE, *CAST_TO, decimal(38, 0), decimal(38, 37)]
    asked = [found for column in named.values() for type_ in to for found in casts_to(column, type_)]
    assert sum(c.arguments[0].type == STRING for c in asked) >= len(to) - 1
    wrong = compared(spark, batch, asked)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


def casts_to(column: Column, type_: DataType) -> Iterator[Call]:
    """The cast of a column, where it has a kernel."""
    with suppress(TypeClash):
        found = cast(column, type_)
        if isinstance(found, Call) and found.function == "cast" and kernel_of(found) is not None:
            yield found


def over_elements(function: str, array: Expression, body: Callable[[Call], Expression], number: int = 1) -> Call:
    """A function of an array and a lambda of its elements."""
    assert array.type.element is not None
    of = variable(number, array.type.element)
    value = body(of)
    found = call(function, array, Call("lambda", (of, value), value.type))
    assert isinstance(found, Call)
    return found


def aggregated(array: Expression, start: Expression, body: Callable[[Call, Call], Expression]) -> Call:
    """AGGREGATE of an array by a lambda of two variables."""
    assert array.type.element is not None
    total, of = variable(1, start.type), variable(2, array.type.element)
    value = body(total, of)
    found = call("aggregate", array, start, Call("lambda", (total, of, value), value.type))
    assert isinstance(found, Call)
    return found


def over_nested_sum(array: Expression, start: Expression) -> Expression:
    """A sum within the lambda of another one."""
    inner, of = variable(3, INTEGER), variable(4, INTEGER)
    value = call("+", inner, call("coalesce", of, Constant(7, INTEGER)))
    return call("coalesce", call("aggregate", array, start, Call("lambda", (inner, of, value), INTEGER)), start)


@pytest.mark.parametrize("type_", [INTEGER, DOUBLE, MONEY])
def test_sums_of_long_arrays_are_those_of_short_ones(type_: DataType) -> None:
    random = Random(3)
    numbers = {
        INTEGER: lambda: random.choice([random.randrange(-9, 9), 2**61, -(2**62)]),
        DOUBLE: lambda: random.uniform(-1, 1) * 10 ** random.randrange(9),
        MONEY: lambda: Decimal(random.randrange(-(10**15), 10**15)) / 100,
    }[type_]
    lists = [[numbers() for _ in range(length)] for length in (0, 1, 63, 65, 200, 1_000)] + [
        [numbers(), None] * 40,
        None,
    ]
    start = type_ if type_.kind is not Kind.DECIMAL else decimal(38, 2)
    array = Column("xs", array_of(type_))
    whole = aggregated(array, Column("n", start), lambda total, x: cast(call("+", total, x), start))
    turned = aggregated(array, Column("n", start), lambda total, x: cast(call("+", x, total), start))
    texts = to_texts(pa.array(lists, to_shown(array.type)), array.type)
    starts = pa.array([numbers() for _ in lists], to_shown(start))
    batch = pa.RecordBatch.from_arrays([texts, starts], ["xs", "n"])
    found, expected = (computed_value(each) for each in (whole, turned))
    assert found is not None and expected is not None
    assert found.values(batch).to_pylist() == expected.values(batch).to_pylist()


def zipped(left: Expression, right: Expression, body: Callable[[Call, Call], Expression]) -> Call:
    """ZIP_WITH of two arrays."""
    assert left.type.element is not None and right.type.element is not None
    one, other = variable(1, left.type.element), variable(2, right.type.element)
    value = body(one, other)
    found = call("zip_with", left, right, Call("lambda", (one, other, value), value.type))
    assert isinstance(found, Call)
    return found


def lambdas() -> Iterator[Call]:
    """Lambdas over columns of arrays, with columns and other lambdas in them."""
    n, text, zero = COLUMNS[INTEGER][0], COLUMNS[STRING][0], Constant(0, INTEGER)
    numbers, texts, many = (COLUMNS[type_][0] for type_ in (NUMBERS, TEXTS, array_of(NUMBERS)))
    points = next(COLUMNS[type_][0] for type_ in PARTS if type_.element is not None and type_.element.fields)
    yield over_elements("transform", texts, lambda x: call("upper", x))
    yield over_elements("transform", numbers, lambda x: call("coalesce", x, n))
    yield over_elements("transform", COLUMNS[MOMENTS][0], lambda x: call("year", x))
    yield over_elements("transform", points, lambda x: call("field", x, zero))
    yield over_elements("transform", points, lambda x: x)
    yield over_elements("transform", numbers, lambda x: COLUMNS[DATE][0])
    yield over_elements("transform", COLUMNS[DAYS][0], lambda x: call("year", x))
    yield over_elements("transform", COLUMNS[DAYS][0], lambda x: call("last_day", x))
    yield over_elements("transform", many, lambda x: call("array_size", x))
    yield over_elements(
        "transform", many, lambda x: over_elements("filter", x, lambda y: call(">", y, call("get", x, zero)), 2)
    )
    doubles = COLUMNS[array_of(DOUBLE)][0]
    yield aggregated(numbers, n, lambda total, x: call("+", total, x))
    yield aggregated(numbers, zero, lambda total, x: call("+", total, call("coalesce", x, n)))
    yield aggregated(doubles, COLUMNS[DOUBLE][0], lambda total, x: call("*", total, call("coalesce", x, total)))
    yield aggregated(texts, text, lambda total, x: call("||", total, call("coalesce", x, text)))
    yield aggregated(texts, texts, lambda total, x: call("array_append", total, x))
    yield aggregated(many, zero, lambda total, x: over_nested_sum(x, total))
    for left, right in itertools.product((numbers, texts, doubles, many, points), repeat=2):
        yield zipped(left, right, lambda x, y: call("struct", x, y))
    yield zipped(numbers, COLUMNS[NUMBERS][1], lambda x, y: call("+", x, call("coalesce", y, n)))
    for function in ("filter", "exists", "forall"):
        yield over_elements(function, numbers, lambda x: call(">", x, n))
        yield over_elements(function, texts, lambda x: call("=", x, text))
        yield over_elements(function, texts, lambda x: call("is_null", x))


def test_lambdas_have_the_values_of_spark(spark: SparkSession) -> None:
    asked = [*lambdas()]
    assert {c.function for c in asked} == set(LAMBDA_KERNELS)
    assert all(computed_value(c) is not None for c in asked)
    wrong = compared(spark, rows(), asked)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


def test_every_letter_has_the_case_that_spark_gives_it(spark: SparkSession) -> None:
    letters = [chr(code) for code in range(1, 0x1F000) if not 0xD800 <= code < 0xE000]
    text = Column("s", STRING)
    batch = pa.RecordBatch.from_pydict({"s": [*letters, "ΑΣ", "Straße", "\u01c6\u0149İ"]})
    names = (case + end for case in ("upper", "lower") for end in ("", "_in_duckdb", "_in_postgres"))
    wrong = compared(spark, batch, [Call(name, (text,), STRING) for name in names])
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


@pytest.mark.parametrize("seed", range(2))
def test_doubles_are_rounded_as_spark_rounds_them(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    near = [random.randrange(10**9) / 10 ** random.randrange(1, 9) for _ in range(3_000)]
    ties = [round(random.uniform(-1e4, 1e4), 3) // 0.01 * 0.01 + 0.005 for _ in range(3_000)]
    wild = [struct.unpack("d", random.randbytes(8))[0] for _ in range(3_000)]
    batch = pa.RecordBatch.from_pydict({"x": [*near, *ties, *wild]})
    asked = [Call("round", (Column("x", DOUBLE), Constant(n, INTEGER)), DOUBLE) for n in (0, 1, 2, 3, 8, 15)]
    wrong = compared(spark, batch, asked)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


def test_functions_of_doubles_have_the_bits_of_spark(spark: SparkSession) -> None:
    random = Random(5)
    drawn = [
        [random.uniform(-1, 1) for _ in range(2_000)],
        [random.uniform(-30, 30) for _ in range(2_000)],
        [random.gauss(0, 300) for _ in range(2_000)],
        [struct.unpack("d", random.randbytes(8))[0] for _ in range(2_000)],
        [1 + random.gauss(0, 1e-4) for _ in range(2_000)],
        [random.randrange(-200, 200) / 4 for _ in range(2_000)],
    ]
    batch = pa.RecordBatch.from_pydict({"x": [*itertools.chain(*drawn)], "y": [*itertools.chain(*reversed(drawn))]})
    x, y = (Column(name, DOUBLE) for name in "xy")
    names = [
        "exp",
        "expm1",
        "ln",
        "log10",
        "log1p",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "cbrt",
        "atan",
        "asin",
        "acos",
        "degrees",
        "radians",
        "sign",
    ]
    asked = [Call(name, (x,), DOUBLE) for name in names]
    asked += [Call(name, (x, y), DOUBLE) for name in ("power", "power_ieee", "atan2", "hypot", "%_ieee", "nanvl")]
    wrong = compared(spark, batch, asked)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


@pytest.mark.parametrize("seed", range(2))
def test_decimals_of_too_many_digits_are_rounded_as_spark_rounds_them(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    types = [decimal(38, 10), decimal(38, 4), decimal(38, 37), decimal(30, 20), decimal(38, 0), decimal(20, 19)]

    def value(type_: DataType) -> Decimal:
        digits = random.choice([1, 10, 19, type_.precision - 1, type_.precision])
        unscaled = random.choice([random.randrange(10**digits), 10**digits - 1, 5 * 10 ** max(digits - 20, 0)])
        return Decimal((random.randrange(2), tuple(map(int, str(unscaled))), -type_.scale))

    sides = [Column(f"d{place}", type_) for place, type_ in enumerate(types)] + [Column("i", INTEGER)]
    many = [[*(value(type_) for _ in range(2_000)), None] for type_ in types]
    whole = [*(random.choice([0, 1, -7, 2**63 - 1, -(2**63), random.randrange(10**6)]) for _ in range(2_000)), None]
    arrays = [*(pa.array(values, to_arrow(type_)) for values, type_ in zip(many, types, strict=True)), pa.array(whole)]
    batch = pa.RecordBatch.from_arrays(arrays, [side.name for side in sides])
    pairs = itertools.product(sides, sides)
    asked = [made for a, b in pairs for sign in "+-*" if isinstance(made := call(sign, a, b), Call)]
    wrong = compared(spark, batch, [made for made in asked if made.type.kind is Kind.DECIMAL])
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


def test_a_function_of_nothing_is_nothing() -> None:
    batch = pa.RecordBatch.from_pydict({"s": ["a", None]})
    text, nothing = Column("s", STRING), Constant(None, STRING)
    for made in (call("trim", text, nothing), call("replace", text, nothing, text), call("rlike", text, nothing)):
        assert isinstance(made, Call)
        value = computed_value(made)
        assert value is not None and value.values(batch).to_pylist() == [None, None]
