"""Python as people guess it of the objects that they were given: what it has not says what does that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import WorkbenchError

TICKETS = pd.DataFrame(
    {"film": ["Up", "Heat"], "price": [7.5, 9.0], "sold_at": pd.to_datetime(["2026-03-01", "2026-03-02"])}
)
WRONG: dict[str, tuple[Callable[[Session], Any], str, str]] = {
    "a query called": (lambda s: s.query("takings")("film = 'Up'"), "a Query is no function", "WHERE film = 'Up'"),
    "a query called with nothing": (lambda s: s.query("takings")(), "a Query is no function", "result()"),
    "a query registered again": (lambda s: s.register(s.query("takings")), "sql is Query", "'SELECT … FROM takings'"),
    "a query's sink": (lambda s: s.query("takings").to_sink("out"), "no to_sink", "session.add_sink('takings')"),
    "a frame's method": (lambda s: s.query("takings").groupby("film"), "no groupby", "result().groupby"),
    "two queries in a text": (lambda s: s.query("takings, other"), "no query takings, other", "takings other"),
    "parameters": (lambda s: s.register("SELECT 1", params={"a": 1}), "params", "values stand in the text"),
    "a list for a name": (lambda s: s.add_stream("X", TICKETS, time=["sold_at"]), "time is", "'sold_at'"),
    "a row by its number": (lambda s: s.query("takings").why(0), "where is 0", "a dictionary of values"),
    "a batch not yet run": (lambda s: s.query("takings").result(batch=9), "there is no batch 9", "%argus run"),
    "a condition without a column": (lambda s: s.query("takings").head(where="> 3"), "nothing is compared", "> 3"),
    "a row in words": (lambda s: s.query("takings").why("row 1"), "a row has no number", "as in film = …"),
    "a session called": (lambda s: s("SELECT film FROM Tickets"), "a Session is no function", "session.ask('SELECT"),
    "a stream called": (lambda s: s.streams["Tickets"](), "a Stream is no function", "SELECT * FROM Tickets LIMIT 5"),
    "streams called": (lambda s: s.streams(), "this is no function", "leave () out"),
    "columns called": (lambda s: s.query("takings").columns(), "columns are no function", "leave () out"),
    "a column as an attribute": (lambda s: s.query("takings").columns.film, "no attribute film", "columns['film']"),
    "a list of names": (lambda s: s.query("takings").columns.tolist(), "no attribute tolist", "for name, _ in columns"),
    "a node of a name": (lambda s: s.network.nodes["Ticket"], "there is no node Ticket", "did you mean Tickets?"),
    "the node of a query": (lambda s: s.network.nodes["takings"], "no node takings", "results['takings']"),
    "a column of a stream": (lambda s: s.streams["Tickets"]["film"], "no items", "SELECT film FROM Tickets"),
    "an address of Spark": (lambda s: Session("spark://h:7077"), "spark is", "SparkSession.builder.master('spark://"),
    "an address of Connect": (lambda s: Session("sc://h"), "spark is", "SparkSession.builder.remote('sc://h')"),
    "options as a dictionary": (lambda s: Session(options={"sharing": False}), "options is", "Options(sharing=False)"),
    "options of a dialect": (lambda s: Session(options={"dialect": "duckdb"}), "options is", "dialect='duckdb'"),
    "a column for its name": (
        lambda s: s.add_stream("V", TICKETS, time=TICKETS["sold_at"]), "time is", "the name of the column: 'sold_at'",
    ),
    "a column for an instant": (lambda s: s.query("takings").result("film"), "no instant", "result()['film']"),
    "names and rows in the other order": (lambda s: s.add_stream(TICKETS, "V"), "name is", "a name stands first"),
    "a query of the network": (lambda s: s.network.takings, "no takings", "network.results['takings']"),
    "a loop over a query": (lambda s: list(s.query("takings")), "no items", "result().itertuples()"),
    "a sink with one slash": (lambda s: s.add_sink("takings", "s3:/out"), "nor an address", "did you mean s3://out?"),
    "a query for its name": (lambda s: s.query(s.query("takings")), "name is", "give its name: 'takings'"),
    "a query for a sink": (lambda s: s.add_sink(s.query("takings"), "out"), "query is", "give its name: 'takings'"),
    "several names": (lambda s: s.drop(["takings", "x"]), "name is", "one at a time: 'takings'"),
    "an argument of another method": (lambda s: s.query("takings").result(limit=5), "'limit'", "head(limit=…)"),
    "a format of a file": (lambda s: s.query("takings").save("x.csv", format="csv"), "'format'", "the ending of"),
    "a condition by place": (lambda s: s.query("takings").head("total > 1"), "limit is", "where='total > 1'"),
    "a minus for the direction": (lambda s: s.query("takings").head(sort="-total"), "no column", "descending=True"),
    "a setting": (lambda s: s.config(timezone="UTC"), "no config", "%argus config in a cell"),
    "a record that is none": (lambda s: s.add_stream("V", [{"a": 1}, None]), "record 2 of the list is None", "leave"),
    "a variable in quotes": (lambda s: s.add_table("V", "tickets"), "no file tickets", "without quotes"),
    "a clause as an argument": (lambda s: s.register("SELECT film FROM Tickets", limit=3), "limit", "LIMIT …"),
    "batches ago": (lambda s: s.query("takings").result(at=-2), "no instant", "batch=0"),
}  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(InProcess()) as made:
        made.add_stream("Tickets", TICKETS, history=2, time="sold_at")
        made.register("SELECT film, SUM(price) AS total FROM Tickets GROUP BY film", "takings")
        yield made


@pytest.mark.parametrize("case", WRONG)
def test_what_there_is_not(case: str, session: Session) -> None:
    act, message, hint = WRONG[case]
    with pytest.raises(WorkbenchError) as refused:
        act(session)
    assert message in refused.value.message and hint in str(refused.value.hint), str(refused.value)


def test_what_explains_no_row_says_so(session: Session) -> None:
    assert repr(session.query("takings").why("film = 'Alien'")).startswith("takings has no such row; why_not(…) says")


def test_a_source_of_the_network_stands_by_its_stream(session: Session) -> None:
    nodes = session.network.nodes
    assert nodes["tickets"].kind == "source" and nodes[nodes[0].id] is nodes[0] and nodes[:1] == (nodes[0],)


def test_what_refuses_to_be_called_is_no_function(session: Session) -> None:
    with pytest.raises(WorkbenchError, match="is no sink"):
        session.add_sink("takings", session.query("takings"))  # type: ignore[arg-type]


def test_quarantined_rows_show_where_a_stream_is_shown(session: Session, tmp_path: Any) -> None:
    (tmp_path / "cut.json").write_text('[{"a": 1}, {"a": 2')
    assert repr(session.add_stream("Cut", tmp_path / "cut.json")) == (
        "Stream('Cut', 1 row, 0 of them arrived, 1 quarantined)"
    )
