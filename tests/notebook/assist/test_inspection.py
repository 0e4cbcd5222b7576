"""Hints in cells, as the kernel is asked for them."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.notebook.assist.inspection import answer_inspections
from workbench.notebook.context import NotebookContext
from workbench.sql.algebra.types import DOUBLE
from workbench.sql.schema import UserAggregate, UserFunction


class Kernel:
    """Answers as the kernel does to a word of Python."""

    def do_inspect(self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Any = ()) -> dict[str, Any]:
        return {"status": "ok", "found": True, "data": {"text/plain": "Python"}, "metadata": {}}


@pytest.fixture
def hint(session, run):
    session.add_stream("FedWireTrans", None, 10, 10, None)
    session.functions["risk"] = UserFunction("risk", DOUBLE, (1, 2))
    session.functions["rms"] = UserAggregate("rms", ("x",), {"q": "SUM(x * x)"}, "SQRT(q)")
    run("%%argus big_transfers\nSELECT big")
    kernel = Kernel()
    used = NotebookContext({}, lambda: session)
    used.use(session)
    answer_inspections(kernel, used)

    def shown(text: str) -> str:
        place = text.index("|")
        reply = kernel.do_inspect(text.replace("|", "", 1), place)
        assert reply["status"] == "ok" and reply["found"] == bool(reply["data"])
        return reply["data"].get("text/plain", "")

    return shown


AMOUNT = "amount: decimal(15,2), column of the stream FedWireTrans"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%%argus q\nSELECT rou|nd(amount)", "round(expr, d)"),
        ("%%argus q\nSELECT round(|", "round(expr, d)"),
        ("%%argus q\nSELECT round(abs(1), 2|", "round(expr, d)"),
        ("%%argus q\nSELECT round(abs(|", "abs(expr)"),
        (
            "%%argus q\nSELECT SUM(|amount) FROM FedWireTrans",
            "amount: decimal(15,2), column of the stream FedWireTrans",
        ),
        ("%%argus q\nSELECT SUM( | amount) FROM FedWireTrans", "sum(expr)"),
        ("%%argus q\nSELECT f.amount| FROM FedWireTrans f", AMOUNT),
        ("%%argus q\nSELECT f.tranid FROM FedWireTrans f|", "FedWireTrans: stream"),
        ("%%argus q\nSELECT * FROM fedwire|trans", "FedWireTrans: stream"),
        ("%%argus big_|transfers\nSELECT big", "big_transfers: query"),
        ("%%argus q\nSELECT ')' <> concat('(', |", "concat(col1, col2, ..., colN)"),
        ("%%argus q\nSELECT risk(|", "risk(x, [x])"),
        ("%%argus q\nSELECT rms(|", "rms(x)"),
        ("%%argus q --dialect presto\nSELECT strpos(|", "strpos(text, text)"),
    ],
)
def test_a_hint_says_what_stands_there(hint, cell, expected):
    assert hint(cell).splitlines()[0] == expected


def test_a_function_has_its_purpose_and_an_example(hint):
    assert hint("%%argus q\nSELECT round|(1)").splitlines()[1:] == [
        "Returns `expr` rounded to `d` decimal places using HALF_UP rounding mode.",
        "SELECT round(2.5, 0) → 3",
    ]
    assert hint("%%argus q\nSELECT avg|(1)").splitlines()[1] == "aggregate"
    assert hint("%%argus q\nSELECT lag|(1)").splitlines()[1] == "analytic function, with OVER (…)"


def test_a_stream_has_its_columns_and_a_query_its_text(hint):
    assert hint("%%argus q\nSELECT * FROM FedWireTrans|").splitlines()[1] == "  tranid     integer"
    query = hint("%%argus q\nSELECT * FROM big_transfers|").splitlines()
    assert query == ["big_transfers: query", "SELECT big", "", "  tranid  integer", "  city    string"]


@pytest.mark.parametrize(
    "cell", ["%%argus q\nSELECT no|thing", "%%argus q\nSELECT 'round|(2)'", "%%argus q --dia|lect"]
)
def test_nothing_is_said_of_what_nobody_knows(hint, cell):
    assert hint(cell) == ""


def test_strpos_is_no_function_of_spark(hint):
    assert hint("%%argus q\nSELECT strpos(|") == ""


def test_python_is_answered_as_before(hint):
    assert hint("rou|nd(1)") == "Python"


def test_a_hint_needs_no_session():
    def never():
        raise AssertionError("a hint made a session")

    kernel = Kernel()
    answer_inspections(kernel, NotebookContext({}, never))
    assert kernel.do_inspect("%%argus q\nSELECT round(", 23)["found"]
