"""Every argument of every public method, given wrongly: refused in words of the workbench, with what to try."""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workbench import Options, Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import ArgumentsError, InputError, UnexpectedError, WorkbenchError

WRONG = (
    -7, 2.5, "", "nothing there", b"x", [], [1], {"a": 1}, {"b": "c"}, object(), float("nan"), 10**30, "a\0b",
    dt.timedelta(days=-1),
)  # fmt: skip
"""Values of which most parameters take none."""
SQL = {"sql": "SELECT farm FROM Milk", "name": "other"}
OF_SESSION: Mapping[str, Mapping[str, Any]] = {
    "add_column": {"stream": "Milk", "column": "new"},
    "add_function": {"name": "f", "function": abs},
    "add_aggregate": {"name": "g", "parameters": ("x",), "statistics": {"n": "COUNT(x)"}, "rule": "n"},
    "add_sink": {"query": "best", "target": "out"},
    "add_stream": {"name": "New", "source": "milk.csv"},
    "add_table": {"name": "New", "source": "milk.csv"},
    "as_of": {"query": "best"},
    "ask": {"sql": "SELECT farm FROM Milk"},
    "attach": {"name": "Milk", "source": "milk.csv"},
    "back_in": {"batch": 1},
    "compare": SQL | {"name": "best"},
    "dismiss_errors": {},
    "drop": {"name": "best"},
    "drop_sink": {"name": "out"},
    "drop_stream": {"name": "New"},
    "live": {},
    "memory": {"query": "best"},
    "preview": SQL,
    "prioritize": {"name": "best", "priority": 1},
    "query": {"name": "best"},
    "register": SQL,
    "register_many": {"queries": {"a": "SELECT farm FROM Milk"}},
    "reoptimize": {},
    "results": {"names": ["best"]},
    "retry": {"name": "best"},
    "run": {},
    "seek": {"batch": 1},
    "set_batch": {"stream": "Milk", "batch": 5},
    "set_timezone": {"zone": "UTC"},
    "subscribe": {"query": "best"},
    "suspend": {"name": "best"},
    "update_table": {"name": "Farms", "rows": [{"farm": "f1", "cows": 3}]},
    "verify": {"name": "best"},
    "widen_column": {"stream": "Milk", "column": "id"},
}
OF_QUERY: Mapping[str, Mapping[str, Any]] = {
    "arrow_result": {}, "changes": {}, "count": {}, "diff": {"first": 1}, "estimate": {}, "head": {}, "result": {},
    "save": {"path": "answer.csv"}, "why": {}, "why_not": {"expected": "farm = 'x'"},
}  # fmt: skip
"""Arguments with which each method can be called."""


def made() -> Session:
    session = Session(InProcess())
    times = pd.date_range("2026-01-01", periods=60, freq="6h")
    rows = pd.DataFrame({"id": range(60), "farm": [f"f{n % 7}" for n in range(60)], "ts": times, "kg": 1.5})
    session.add_stream("Milk", rows, history=30, batch=5, time="ts")
    session.add_table("Farms", pd.DataFrame({"farm": [f"f{n}" for n in range(7)], "cows": range(7)}), key=["farm"])
    session.register("SELECT farm, SUM(kg) AS kg FROM Milk GROUP BY farm", "best")
    session.run(2)
    return session


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "milk.csv").write_text("farm,kg\nf1,1.5\nf2,2.5\n")
    with made() as session:
        yield session


def refused(call: Callable[[], object], what: str) -> str | None:
    """What is wrong with how a call is refused; ``None`` where nothing is, or where it is taken."""
    try:
        call()
    except UnexpectedError as error:
        return f"{what}: {error}"
    except WorkbenchError as error:
        return None if error.hint and error.message else f"{what} without a hint: {error}"
    except Exception as error:
        return f"{what}: {type(error).__name__} {error}"
    return None


def parameters(method: Callable[..., object]) -> list[inspect.Parameter]:
    return [p for p in inspect.signature(inspect.unwrap(method)).parameters.values() if p.name != "self"]


@pytest.mark.parametrize(("of", "name"), [("session", n) for n in OF_SESSION] + [("query", n) for n in OF_QUERY])
def test_each_argument_given_wrongly(of: str, name: str, session: Session) -> None:
    good = (OF_SESSION if of == "session" else OF_QUERY)[name]
    unclear = []
    for parameter in [p.name for p in parameters(getattr(session if of == "session" else session.query("best"), name))]:
        for value in WRONG:
            target = session if of == "session" else session.query("best")
            call = partial(getattr(target, name), **{**good, parameter: value})
            told = refused(call, f"{name}({parameter}={value!r})")
            unclear += [told] if told else []
            if session.streams.keys() != {"Milk", "Farms"} or session.queries.keys() != {"best"} or session.sinks:
                session.close()
                session = made()
    session.close()
    assert not unclear, "\n".join(unclear)


@pytest.mark.parametrize("name", [*OF_SESSION, *OF_QUERY])
def test_an_argument_missing_misspelt_or_too_many(name: str, session: Session) -> None:
    method = getattr(session if name in OF_SESSION else session.query("best"), name)
    good, known = (OF_SESSION | OF_QUERY)[name], [p.name for p in parameters(method)]
    for misspelt in known:
        with pytest.raises(ArgumentsError) as told:
            method(**{k: v for k, v in good.items() if k != misspelt}, **{misspelt[:-2] + misspelt[-1]: 5})
        assert f"did you mean {misspelt}?" in str(told.value.hint) or len(misspelt) < 4
    for needed in [p.name for p in parameters(method) if p.default is p.empty]:
        with pytest.raises(ArgumentsError, match=needed):
            method(**{k: v for k, v in good.items() if k != needed})
    with pytest.raises(ArgumentsError, match=rf"takes .* arguments? by place, and {len(known) + 1} w"):
        method(*range(len(known) + 1))


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda s, q: q.changes(since=-1), "there is no batch -1 of best", "the batches so far are 0"),
        (lambda s, q: q.changes(since=99), "there is no batch 99 of best", "to 2"),
        (lambda s, q: q.columns["fram"], "there is no column fram", "did you mean farm?"),
        (lambda s, q: q.why(farm="f1"), "'farm'", "why({'farm': 'f1'})"),
        (lambda s, q: q.why_not(farm="f1", kg=3), "'farm'", "why_not({'farm': 'f1', 'kg': 3})"),
        (lambda s, q: q.why(limit=-1), "limit is -1", "0 or more"),
        (lambda s, q: q.result(10), "10 is no instant of best", "result(batch=10)"),
        (lambda s, q: q.head(n=5), "'n'", "did you mean limit?"),
        (lambda s, q: q.head(descending=True), "descending is of no column", "sort='amount'"),
        (lambda s, q: q.count("kg > 5"), "count() takes no arguments by place, and 1 was given", "count(*, at"),
        (lambda s, q: setattr(q, "sql", "SELECT 1"), "sql of a Query cannot be set", "help(query)"),
        (lambda s, q: s.subscribe("bset"), "there is no query bset", "did you mean best?"),
        (lambda s, q: s.dismiss_errors("bset"), "there is no sink or stream bset", "there are Milk, Farms"),
        (lambda s, q: s.register(SQL["sql"], dialect=""), "dialect is empty", "it is a name"),
        (lambda s, q: s.add_stream("X", "milk.csv", types={"kg": "int"}), "'types'", "did you mean columns?"),
        (lambda s, q: s.add_stream("X", "milk.csv", columns={"kg": "number"}), "number does not say", "double and"),
        (lambda s, q: s.add_stream("X", "milk.csv", sep="5"), "separates no values", "one character"),
        (lambda s, q: s.add_aggregate("two words", ("x",), {"n": "COUNT(x)"}, "n"), "each is a word", "as in"),
        (lambda s, q: s.add_aggregate("g", ("x",), {"n": "COUNT(x)"}, "m"), "rule is 'm'", "it reads the statistics"),
        (lambda s, q: Session(1, 2, 3, 4, 5, 6, 7, 8), "Session() takes 7 arguments", "limits=…)"),
    ],
)
def test_what_is_said(call: Callable[[Session, Any], object], message: str, hint: str, session: Session) -> None:
    with pytest.raises(WorkbenchError) as told:
        call(session, session.query("best"))
    assert message in told.value.message and hint in str(told.value.hint)


def test_columns_by_name(session: Session) -> None:
    columns = session.query("best").columns
    assert columns["FARM"] == columns[0][1] and columns[-1][0] == "kg" and len(columns[:1]) == 1
    with pytest.raises(InputError):
        session.query("best").columns["Farms"]


@pytest.mark.parametrize(
    ("use", "message", "hint"),
    [
        (lambda s, q: len(q), "a Query has no length", "count()"),
        (lambda s, q: len(s), "a Session has no length", "session.queries"),
        (lambda s, q: q + 1, "a Query is no number", "result()"),
        (lambda s, q: 3 * q, "a Query is no number", "result()"),
        (lambda s, q: q > 3, "a Query is no number", "result()"),
        (lambda s, q: "f1" in q, "a Query has no items", "result()"),
        (lambda s, q: s.best, "a Session has no best", "session.query('best')"),
        (lambda s, q: s.milk, "a Session has no milk", "session.streams['Milk']"),
        (lambda s, q: q.show(), "a Query has no show", "did you mean result?"),
        (lambda s, q: s.streams["Milk"].head(), "a Stream has no head", "session.ask('SELECT * FROM Milk LIMIT 5')"),
        (lambda s, q: s.streams["Milk"].columns["kilo"], "there is no column kilo", "there are id, farm, ts, kg"),
        (lambda s, q: s.add_function("upper", str.upper), "there is a function upper", "my_upper"),
        (lambda s, q: s.add_function("median", max), "there is a function median", "my_median"),
        (lambda s, q: s.add_aggregate("Sum", ("x",), {"n": "COUNT(x)"}, "n"), "there is a function Sum", "my_Sum"),
        (lambda s, q: s.add_function("f", abs, returns="number"), "number does not say", "double and"),
        (lambda s, q: s.add_sink("best", lambda: 1), "takes no arguments", "lambda batch, changes: …"),
        (lambda s, q: s.add_sink("best", lambda batch, *, mode: 1), "takes", "lambda batch, changes: …"),
        (lambda s, q: Options(shareing=True), "'shareing'", "did you mean sharing?"),
        (lambda s, q: setattr(s.options, "sharing", False), "sharing of Options cannot be set", "Session(options="),
        (lambda s, q: setattr(s.options, "shareing", False), "Options have no shareing", "did you mean sharing?"),
        (lambda s, q: Options(strategy="best"), "there is no strategy 'best'", "sharing-selection, match-plan"),
        (lambda s, q: s.add_stream("X", pd.DataFrame({"a": [object()]})), "column a of the DataFrame", "one type"),
        (lambda s, q: s.add_stream("X", pd.DataFrame({"a": [1 + 2j]})), "column a of the DataFrame", ".real"),
    ],
)  # fmt: skip
def test_an_object_that_is_used_as_something_else(
    use: Callable[[Session, Any], object], message: str, hint: str, session: Session
) -> None:
    with pytest.raises(WorkbenchError) as told:
        use(session, session.query("best"))
    assert message in told.value.message and hint in str(told.value.hint)
    assert "object at 0x" not in str(told.value) and "numpy type" not in str(told.value)


def test_objects_are_true_and_show_shortly_what_they_are(session: Session) -> None:
    assert session and session.query("best") and session.streams["Milk"]
    assert repr(session.streams["Milk"]) == "Stream('Milk', 60 rows, 40 of them arrived, time='ts')"
    assert session.streams["Milk"].columns["KG"] == session.streams["Milk"].columns[3][1]
    assert session.streams["Milk"].columns[-1][0] == "kg"


def test_a_function_that_takes_batch_and_changes_is_a_sink(session: Session) -> None:
    for number, takes in enumerate((print, lambda *given: 1, lambda batch, changes, more=1: 1)):
        session.add_sink("best", takes, name=f"s{number}")
