"""What a session stores in its catalog: exact there and back, also from catalogs of older versions."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sql.bind_schema import SCHEMA

from workbench.catalog.catalog import Catalog
from workbench.catalog.codec import decode, encode, present_json
from workbench.catalog.schema import VERSION
from workbench.engine.reports import BatchReport, OperatorReport
from workbench.session.directory import stored_session
from workbench.session.directory.directory import CATALOG, SessionDirectory
from workbench.session.directory.stored_session import StoredSession, StoredStream
from workbench.session.state import QueryRecord, State
from workbench.sharing.decisions import Explanation
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import LogicalQuery


def test_a_file_of_an_older_version_is_brought_to_the_present_one(tmp_path: Path) -> None:
    Catalog(tmp_path / "c.db").close()
    connection = sqlite3.connect(tmp_path / "c.db")
    connection.execute("ALTER TABLE batches DROP COLUMN late_rows")
    connection.execute("ALTER TABLE operator_timings DROP COLUMN alone")
    connection.execute("ALTER TABLE operator_timings DROP COLUMN together")
    connection.execute("ALTER TABLE operator_timings DROP COLUMN tests")
    connection.execute("ALTER TABLE operator_timings RENAME COLUMN name TO operator")
    connection.execute("ALTER TABLE registrations DROP COLUMN id")
    connection.execute("DROP TABLE retained")
    connection.execute("DROP TABLE source_constraints")
    connection.execute("DROP TABLE event_times")
    connection.execute("ALTER TABLE streams DROP COLUMN checksum")
    for column in ("span", "shed", "gaps", "added", "widened", "constraints"):
        connection.execute(f"ALTER TABLE streams DROP COLUMN {column}")
    connection.execute("ALTER TABLE batches DROP COLUMN cuts")
    for column in ("priority", "suspended", "by_load", "timezone"):
        connection.execute(f"ALTER TABLE registrations DROP COLUMN {column}")
    for column in ("seconds", "memory", "least", "most", "signature"):
        connection.execute(f"ALTER TABLE user_functions DROP COLUMN {column}")
    for column in ("buckets", "hashing"):
        connection.execute(f"ALTER TABLE segments DROP COLUMN {column}")
    connection.execute("INSERT INTO streams VALUES ('F', 1, '0-F', 0, NULL, 5, 1, 5)")
    connection.execute("INSERT INTO user_functions VALUES ('f', 1, 'double', '3.11', x'00')")
    connection.execute("INSERT INTO batches VALUES (1, 5, 0.5, '{\"f\": 5}', '{}')")
    connection.execute("INSERT INTO operator_timings VALUES (1, 0, 'F1', 5, 5, 0.25, '{\"F1\": 5}')")
    connection.execute("PRAGMA user_version = 2")
    connection.commit()
    connection.close()
    for copied in (True, False):  # by who only reads, and by who writes
        catalog = Catalog(tmp_path / "c.db", copied=copied)
        stored = StoredSession(SessionDirectory(tmp_path), catalog)
        (batch,) = stored.reports()
        assert (batch.arrived, batch.late_rows) == ({"f": 5}, {})
        assert batch.operators == (OperatorReport("F1", ("F1",), 5, 5, 0.25, {"F1": 5}, {}, 0.0),)
        stream = next(stored.streams.all())
        assert (stream.checksum, stream.constraints) == (None, ())
        (function,) = stored.functions.all()
        assert (function.function.takes, function.seconds, function.memory) == ((0, None), 10, 1024)
        assert function.signature is None
        catalog.close()


ADDED = (
    (17, "registrations", "timezone"),
    (19, "operator_timings", "tests"),
    (20, "streams", "widened"),
    (23, "streams", "constraints"),
    (25, "segments", "buckets"),
    (25, "segments", "hashing"),
)
"""The columns that later versions have, with the last version that has them not."""


@pytest.mark.parametrize("version", range(17, VERSION))
def test_what_was_stored_by_a_later_version_comes_back(tmp_path: Path, version: int) -> None:
    catalog = Catalog(tmp_path / CATALOG)
    stored = StoredSession(SessionDirectory(tmp_path), catalog)
    operator = OperatorReport("F1", ("F1",), 5, 3, 0.5, {"F1": 5})
    state = State(
        queries={"a": record("a", "SELECT a FROM T", "1")},
        reports=(BatchReport(1, 5, 0.5, (operator,), {"a": 1}, {"t": 5}, {}),),
    )
    stored.write(State(), state)
    stream = StoredStream("T", "0-T", False, None, 0, 5, 5, None, None, None, (), (), (), ())
    stored.streams.put(stream)
    catalog.close()
    connection = sqlite3.connect(tmp_path / CATALOG)
    for last, relation, column in ADDED:
        if last >= version:
            connection.execute(f"ALTER TABLE {relation} DROP COLUMN {column}")
    for last, relation in ((23, "source_constraints"), (26, "event_times")):
        if last >= version:
            connection.execute(f"DROP TABLE {relation}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()
    for copied in (True, False):
        catalog = Catalog(tmp_path / CATALOG, copied=copied)
        later = StoredSession(SessionDirectory(tmp_path), catalog)
        assert (later.queries(), later.reports(), [*later.streams.all()]) == (state.queries, state.reports, [stream])
        catalog.close()


OLD = (
    '{"is":"logical.Block","inputs":[{"is":"logical.StreamInput","stream":"t"}],"where":{"is":"predicates.PredSet",'
    '"or_preds":[{"is":"predicates.ORPred","literals":[{"is":"predicates.Literal","left":{"is":"expressions.Column",'
    '"name":"a","type":{"is":"types.DataType","kind":{"is":"types.Kind","value":"decimal"},"precision":9,"scale":2},'
    '"source":0},"operator":{"is":"predicates.Operator","value":">"},"right":{"is":"expressions.Constant","value":'
    '{"decimal":"2.50"},"type":{"is":"types.DataType","kind":{"is":"types.Kind","value":"decimal"},"precision":9,'
    '"scale":2}}}]}]},"outputs":[]}'
)


def test_a_logical_query_of_an_older_version_is_read() -> None:
    query = decode(present_json(OLD), LogicalQuery)
    assert str(query.where) == "a > 2.5" and query.where.or_preds[0].literals[0].left.type.scale == 2
    assert present_json(encode(query, LogicalQuery)) == encode(query, LogicalQuery)


def record(name: str, sql: str, id_: str, **changed: object) -> QueryRecord:
    logical = bind(sql, "spark", SCHEMA).query
    assert logical is not None
    return QueryRecord(name, sql, "spark", 0, "active", logical, "lazy", (), id_, Explanation(name, ()))


@pytest.fixture
def stored(tmp_path: Path) -> StoredSession:
    return StoredSession(SessionDirectory(tmp_path), Catalog(tmp_path / CATALOG))


def test_queries_come_back_in_the_order_of_registration(stored: StoredSession) -> None:
    first, second = record("a", "SELECT a FROM T", "1"), record("b", "SELECT b FROM T WHERE m > 1.50", "2")
    again = record("a", "SELECT b FROM T", "3")
    both = State(queries={"a": first, "b": second}, views={"a": first.logical})
    stored.write(State(), both)
    assert stored.queries() == both.queries and stored.views() == both.views
    disabled = both.disabled({"a": "it failed"})
    stored.write(both, disabled)
    assert list(stored.queries().items()) == list(disabled.queries.items())
    replaced = State(queries={"b": second, "a": again})
    stored.write(disabled, replaced)
    assert list(stored.queries().items()) == list(replaced.queries.items()) and stored.views() == {}


def test_reports_come_back_and_are_replaced_when_a_session_has_gone_back(stored: StoredSession) -> None:
    operator = OperatorReport("F1", ("F1", "S1"), 5, 3, 0.5, {"F1": 5, "S1": 3}, {"S1": 0.1}, 0.2)
    reports = tuple(BatchReport(n, 5, 0.5, (operator,), {"q": n}, {"t": 5}, {}) for n in (1, 2, 3))
    stored.write(State(), State(reports=reports[:2]))
    stored.write(State(reports=reports[:2]), State(reports=reports))
    assert stored.reports() == reports
    stored.write(State(reports=reports), State(reports=reports[:1]))
    assert stored.reports() == reports[:1]


def test_operators_of_older_batches_are_in_the_catalog_alone(
    stored: StoredSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_session, "RECENT", 2)
    operator = OperatorReport("F1", ("F1",), 5, 3, 0.5, {"F1": 5})
    everything = tuple(BatchReport(n, 5, 0.5, (operator,) * n, {"q": n}, {"t": 5}, {}) for n in (1, 2, 3, 4))
    in_memory = tuple[BatchReport, ...]()
    for report in everything:
        stored.write(State(reports=in_memory), State(reports=(*in_memory, report)))
        in_memory = stored.without_older_operators((*in_memory, report))
    for reports in (in_memory, stored.reports()):
        assert [isinstance(report.operators, tuple) for report in reports] == [False, False, True, True]
        assert reports == everything
        assert reports[1].operators[0] == operator and len(reports[1].operators) == 2
        assert reports[1].operator_of("F1") == operator
    stored.write(State(reports=in_memory), State(reports=everything[:1]))
    assert stored.reports() == everything[:1]
