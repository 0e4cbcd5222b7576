"""A canonical condition lets the rows through that DuckDB lets, of numbers at the ends of their ranges."""

from __future__ import annotations

import math
import os
import sys
from itertools import product
from random import Random

import duckdb
import pyarrow as pa
import pytest

from workbench.engine.physical.stored.kernels.table import evaluate, has_kernels
from workbench.sql.algebra.expressions import Call, Expression
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.canonical import canonical
from workbench.sql.predicates.cnf import Literal, Operator
from workbench.sql.schema import Schema

SEED = int(os.environ["ARGUS_SEED"])
SCHEMA = Schema({"t": (("x", DOUBLE), ("a", INTEGER))})
LARGEST = sys.float_info.max
BESIDE_50 = (math.nextafter(50.0, 0.0), 50.0, math.nextafter(50.0, 99.0))
DOUBLES = (None, 0.0, 5e-324, -5e-324, 1e-300, 0.1, 0.3, -0.3, 1.0, -1.0, 2.5, 3.0, -3.0, *BESIDE_50,
           2.0**53, -(2.0**53), 1e300, -1e300, LARGEST, -LARGEST, math.inf, -math.inf, math.nan)  # fmt: skip
INTEGERS = (None, 0, 1, -1, 2, -3, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), -(2**63) + 1)
ROWS = [*product(DOUBLES, (None, 1)), *product((0.5,), INTEGERS)]
NUMBERS = ("0.0::double", "1.0::double", "0.1::double", "-2.5::double", "50.0::double", "1e300::double",
           "1e-300::double", "-1e308::double", "'Infinity'::double", "0", "3", "-7", "9007199254740993")  # fmt: skip
AROUND = ("{}", "{}", "NOT ({})", "({}) IS TRUE", "COALESCE({}, false)", "(CASE WHEN {} THEN 1 ELSE 0 END) = 0")


def expression(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.1:
        return random.choice(("x", "x", "x", "a"))
    form = random.choice(("({} * {n})", "({} + {n})", "({} - {n})", "({} / {n})", "({n} - {})", "abs({})", "(-{})"))
    return form.format(expression(random, depth - 1), n=random.choice(NUMBERS))


def condition(random: Random) -> str:
    operator = random.choice(("<", "<=", ">", ">=", "=", "<>"))
    compared = f"{expression(random, random.randrange(4))} {operator} {random.choice(NUMBERS)}"
    return random.choice(AROUND).format(compared)


def as_expression(literal: Literal) -> Expression:
    match literal.operator:
        case Operator.HOLDS:
            return literal.left
        case Operator.IS_NULL:
            return Call("is_null", (literal.left,), BOOLEAN)
        case Operator.IS_NOT_NULL:
            return Call("not", (Call("is_null", (literal.left,), BOOLEAN),), BOOLEAN)
    assert literal.right is not None
    return Call(str(literal.operator), (literal.left, literal.right), BOOLEAN)


@pytest.mark.parametrize("part", range(4))
def test_the_same_rows_are_let_through(part: int) -> None:
    random, wrong = Random(f"{SEED} {part}"), list[str]()
    x, a = zip(*ROWS, strict=True)
    batch = pa.RecordBatch.from_pydict({"x": pa.array(x, pa.float64()), "a": pa.array(a, pa.int64())})
    numbered = pa.table(batch).append_column("i", pa.array(range(len(ROWS))))
    with duckdb.connect() as database:
        database.register("t", numbered)
        for text in (condition(random) for _ in range(100)):
            try:
                expected = {i for (i,) in database.execute(f"SELECT i FROM t WHERE {text}").fetchall()}
            except duckdb.Error:  # it stops where a number overflows, which is NULL here
                continue
            query = bind(f"SELECT a FROM t WHERE {text}", "duckdb", SCHEMA).query
            assert isinstance(query, Block)
            clauses = [list(map(as_expression, p.literals)) for p in canonical(query.where)]
            if all(has_kernels(literal) for clause in clauses for literal in clause):
                through = set(range(len(ROWS)))
                for clause in clauses:
                    values = [evaluate(literal, batch).to_pylist() for literal in clause]
                    through &= {i for i in through if any(column[i] is True for column in values)}
                if through != expected:
                    wrong.append(f"{text}: {[ROWS[i] for i in through ^ expected][:3]}")
    assert not wrong, "\n".join(wrong)
